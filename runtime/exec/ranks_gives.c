/* ranks_gives.c: each rank gives each other one some of what it has, and gets as much, or answers.
 *
 * In: how many things are for whom. Out: those that came, in the order of the ranks that gave them. What
 * always holds: what a rank gives to itself stands among them, too. */
#include "exec/ranks_gives.h"

#include <stdlib.h>
#include <string.h>

bool fl_gives_init(FlGives *g, FlRanks *ranks) {
  size_t n = (size_t)ranks->n;
  *g = (FlGives){.ranks = ranks,
                 .gives = calloc(n, sizeof *g->gives),
                 .takes = calloc(n, sizeof *g->takes),
                 .bytes = calloc(2 * n, sizeof *g->bytes),
                 .out = calloc(n, sizeof *g->out),
                 .in = calloc(n, sizeof *g->in)};
  return g->gives && g->takes && g->bytes && g->out && g->in;
}

void fl_gives_reset(FlGives *g) {
  void *tables[] = {g->gives, g->takes, g->bytes, g->out, g->in};
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) free(tables[k]);
  *g = (FlGives){0};
}

static bool trade(const FlGives *g) {
  int32_t here = g->ranks->here;
  if (g->bytes[here]) memcpy(g->in[here], g->out[here], (size_t)g->bytes[here]);
  const FlRankTrade all = {(const void *const *)g->out, g->bytes, (void *const *)g->in, g->bytes + g->ranks->n};
  return fl_ranks_trade(g->ranks, &all);
}

bool fl_gives_tell(FlGives *g) {
  for (int32_t k = 0; k < g->ranks->n; k++) {
    g->out[k] = (char *)&g->gives[k];
    g->in[k] = (char *)&g->takes[k];
    g->bytes[k] = g->bytes[g->ranks->n + k] = sizeof *g->gives;
  }
  return trade(g);
}

int64_t fl_gives_taken(const FlGives *g) {
  int64_t n = 0;
  for (int32_t k = 0; k < g->ranks->n; k++) n += g->takes[k];
  return n;
}

static bool move(FlGives *g, const int64_t *gives, const void *from, const int64_t *takes, void *to, int64_t size) {
  char *out = (char *)(uintptr_t)from, *in = to;
  for (int32_t k = 0; k < g->ranks->n; k++) {
    g->out[k] = out;
    g->in[k] = in;
    out += g->bytes[k] = gives[k] * size;
    in += g->bytes[g->ranks->n + k] = takes[k] * size;
  }
  return trade(g);
}

bool fl_gives_trade(FlGives *g, const void *from, void *to, int64_t size) {
  return move(g, g->gives, from, g->takes, to, size);
}

bool fl_gives_return(FlGives *g, const void *from, void *to, int64_t size) {
  return move(g, g->takes, from, g->gives, to, size);
}
