/* ranks_pays.c: which loops of tasks are shared by the ranks, and which each of them runs whole.
 *
 * In: a loop that all ranks are about to run. Out: the same answer at all of them, by what they told each
 * other the last time that it was shared (how long its elements took, how much was sent), and what meetings
 * cost here. What always holds: no rank's own clock decides; who is to run a loop whole in which an element
 * needs other ranks (it asks what lies outside, or calls a stage) finds that out at the same element, and
 * shares it from then on. */
#include "exec/ranks.h"
#include "exec/tasks.h"

/* A loop that ran whole is measured again after so many times the work that a meeting is: the more often it
 * did not pay, the more. */
enum { SOON = 25, SELDOM = 800 };

static FlRankLoop *loop_at(const FlRanks *r, int32_t site) {
  return site >= 0 && site < r->n_loops ? &r->loops[site] : NULL;
}

/* The meeting, and a message of each rank; two more where sums are made of what it gives, and these. */
static double costs(const FlRanks *r, const FlRankLoop *loop, int64_t n) {
  double sums = loop->waited_ns > 0 ? 2 * r->meeting_ns + loop->waited_ns : 0;
  return r->meeting_ns * (1 + r->n) + loop->bytes * (double)n * r->byte_ns + sums;
}

static bool is_worth_it(const FlRanks *r, const FlRankLoop *loop, int64_t n) {
  double parts = (double)(n < r->n ? n : r->n), saves = loop->ns * (double)n * (1 - 1 / parts);
  return saves > costs(r, loop, n) || loop->whole_ns > loop->patience * costs(r, loop, n);
}

static bool is_shared(FlRanks *r, FlRankLoop *loop, int64_t n) {
  if (!loop || loop->meets || r->shares == FL_RANKS_SHARE_ALL) return true;
  if (r->shares == FL_RANKS_SHARE_BY_TURNS) return r->turn++ & 1;
  if (n == 1) return false;
  return !loop->known || is_worth_it(r, loop, n);
}

bool fl_ranks_alike_begin(FlCtx *ctx, int32_t site, int64_t n) {
  FlRankLoop *loop = loop_at(ctx->ranks, site);
  if (is_shared(ctx->ranks, loop, n)) return false;
  loop->whole_ns += loop->ns * (double)n;
  ctx->alike = true;
  return true;
}

bool fl_ranks_alike_end(FlCtx *ctx, int32_t site) {
  ctx->alike = false;
  if (!fl_ctx_asks_elsewhere(ctx)) return true;
  fl_fail_forget(ctx);
  loop_at(ctx->ranks, site)->meets = true;
  return false;
}

void fl_ranks_learn(FlRanks *r, int32_t site, int64_t n) {
  FlRankLoop *loop = loop_at(r, site);
  if (!loop) return;
  double ns = 0, bytes = 0, waited = (double)r->slots[0].values[1];
  for (int32_t k = 0; k < r->n; k++) {
    if ((double)r->slots[k].values[1] < waited) waited = (double)r->slots[k].values[1];
    ns += (double)r->slots[k].values[0];
    bytes += (double)r->slots[k].bytes;
  }
  double patience = loop->whole_ns > 0 ? 2 * loop->patience : SOON;
  *loop = (FlRankLoop){.known = true,
                       .meets = loop->meets,
                       .ns = ns / (double)n,
                       .bytes = bytes / (double)n,
                       .waited_ns = waited,
                       .patience = patience < SELDOM ? patience : SELDOM};
}
