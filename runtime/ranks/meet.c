/* meet.c: meetings of ranks. In: what this rank says. Out: what all of them say, judged alike by all. What always holds: as
 * all see the same slots, all come to the same end of it. */
#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

bool fl_ranks_init(FlRanks *r, const FlRankEngine *engine, void *arg, int32_t n, int32_t here) {
  *r = (FlRanks){.engine = engine, .arg = arg, .n = n, .here = here};
  r->slots = calloc((size_t)n, sizeof *r->slots);
  return r->slots != NULL;
}

void fl_ranks_reset(FlRanks *r) {
  free(r->slots);
  *r = (FlRanks){0};
}

static FlMeeting lose(FlRanks *r, int lost) {
  r->lost = lost;
  r->over = true;
  return FL_MET_OVER;
}

FlMeeting fl_ranks_meet(FlRanks *r, const FlRankSlot *mine) {
  if (r->lost || (r->over && mine->step != FL_RANKS_END)) return FL_MET_OVER;
  FlRankSlot *own = &r->slots[r->here];
  *own = *mine;
  own->number = ++r->number;
  int lost = r->engine->exchange(r->arg, r->slots);
  if (lost) return lose(r, lost);
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
  int lost = r->engine->send(r->arg, from, bytes, n);
  if (lost) lose(r, lost);
  else if (from == r->here) r->sent += n;
  return !lost;
}
