/* meet.c: meetings of ranks. In: what this rank says. Out: what all of them say, judged alike by all. What
 * always holds: as all see the same slots, all come to the same end of it. */
#include "ranks/behind.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

bool fl_ranks_init(FlRanks *r, const FlRankEngine *engine, void *arg, int32_t n, int32_t here) {
  *r = (FlRanks){.engine = engine, .arg = arg, .n = n, .here = here, .parts_from = FL_RANKS_PARTS_FROM};
  r->slots = calloc((size_t)n, sizeof *r->slots);
  return r->slots != NULL;
}

void fl_ranks_reset(FlRanks *r) {
  fl_ranks_behind_free(r);
  free(r->slots);
  free(r->loops);
  *r = (FlRanks){0};
}

static FlMeeting lose(FlRanks *r, int lost) {
  r->lost = lost;
  r->over = true;
  return FL_MET_OVER;
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* It has been since `begin`: of the program, as `since` has it. */
static void count(FlRanks *r, int32_t from, int64_t bytes, int64_t begin) {
  const FlRankSlot *own = &r->slots[r->here];
  FlRankMessage m = {(FlRankStep)own->step, own->site, from, bytes, begin, now_ns() - begin};
  if (!r->since || m.step == FL_RANKS_END) return;
  r->messages_ns += m.ns;
  if (from == FL_RANKS_MET) r->meetings++;
  else if (from == FL_RANKS_TRADED) r->given += bytes;
  else if (from == r->here) r->sent += bytes;
  if (r->told) r->told(r->told_arg, &m);
}

int64_t fl_ranks_taken(const FlRanks *r) {
  return (r->sent + r->meetings * FL_RANK_SLOT) * (r->n - 1) + r->given;
}

FlMeeting fl_ranks_meet(FlRanks *r, const FlRankSlot *mine) {
  if (r->lost || (r->over && mine->step != FL_RANKS_END)) return FL_MET_OVER;
  FlRankSlot *own = &r->slots[r->here];
  *own = *mine;
  own->number = ++r->number;
  int64_t begin = now_ns();
  int lost = r->engine->exchange(r->arg, r->slots);
  if (lost) return lose(r, lost);
  count(r, FL_RANKS_MET, FL_RANK_SLOT, begin);
  int32_t failed = 0;
  bool same = true;
  for (int32_t k = 0; k < r->n; k++) {
    failed += r->slots[k].failed != 0;
    same &= r->slots[k].step == r->slots[0].step && r->slots[k].number == r->slots[0].number;
  }
  if (same && (!failed || failed == r->n)) return failed ? FL_MET_FAILED : FL_MET;
  r->over = true;
  return failed ? FL_MET_OVER : FL_MET_ELSEWHERE;
}

bool fl_ranks_send(FlRanks *r, int32_t from, void *bytes, int64_t n) {
  if (r->lost || n == 0) return !r->lost;
  int64_t begin = now_ns();
  int lost = r->engine->send(r->arg, from, bytes, n);
  if (lost) lose(r, lost);
  else count(r, from, n, begin);
  return !lost;
}

bool fl_ranks_trade(FlRanks *r, const FlRankTrade *with, int32_t n) {
  int64_t begin = now_ns(), bytes = 0;
  if (r->lost) return false;
  for (int32_t i = 0; i < n; i++) {
    const FlRankTrade *all = with + i * r->n, *own = &all[r->here];
    if (own->gives && own->out != own->in) memcpy(own->in, own->out, (size_t)own->gives);
    for (int32_t k = 0; k < r->n; k++) bytes += k == r->here ? 0 : all[k].gives;
  }
  int lost = r->engine->trade(r->arg, with, n);
  if (lost) lose(r, lost);
  else count(r, FL_RANKS_TRADED, bytes, begin);
  return !lost;
}

/* ---- what meetings cost ---------------------------------------------------------------------------------
 */

/* Of the rounds every other one sends: what else a machine does makes any of them slow. */
enum { ROUNDS = 9, SAMPLE = 256 << 10 };

/* The largest of what the ranks said as values k. */
static double largest(const FlRanks *r, int k) {
  int64_t most = 0;
  for (int32_t i = 0; i < r->n; i++)
    if (r->slots[i].values[k] > most) most = r->slots[i].values[k];
  return (double)most;
}

FlMeeting fl_ranks_measure(FlRanks *r, int32_t n_loops) {
  FlRankSlot mine = {.step = FL_RANKS_BEGIN, .site = -1};
  char *sample = calloc(1, SAMPLE);
  free(r->loops);
  r->loops = calloc((size_t)n_loops + 1, sizeof *r->loops);
  r->n_loops = n_loops;
  if (!sample || !r->loops) mine.failed = 4;
  double meeting = 1e12, sent = 1e12;
  FlMeeting met = FL_MET;
  for (int k = 0; k < ROUNDS && met == FL_MET; k++) { /* the last tells what the others took */
    bool sends = k % 2;
    int64_t begin = now_ns();
    mine.bytes = sends ? SAMPLE : 0;
    met = fl_ranks_meet(r, &mine);
    if (met == FL_MET && sends && !fl_ranks_send(r, 0, sample, SAMPLE)) met = FL_MET_OVER;
    double took = (double)(now_ns() - begin);
    if (sends && took < sent) sent = took;
    else if (!sends && took < meeting) meeting = took;
    mine.values[0] = (int64_t)meeting;
    mine.values[1] = sent > meeting ? (int64_t)(sent - meeting) : 0;
  }
  free(sample);
  if (met != FL_MET) return met;
  r->meeting_ns = largest(r, 0);
  r->byte_ns = largest(r, 1) / SAMPLE;
  r->since = now_ns(); /* from here on it is the program's */
  return met;
}
