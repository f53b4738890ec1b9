/* ranks_watch.c: what a run of several ranks says of itself: how much they sent, what share of the time
 * messages took, and a lane of each in the timeline.
 *
 * In: counts of each rank (ranks/meet.c), events that its report has. Out: both, in the report of rank 0.
 * What always holds: nothing of it changes what the program does; counts travel in the slots of the last
 * meeting, lanes behind it, and those of all ranks together are at most LANES bytes. */
#include "exec/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LANES = 64 << 20, LANE = 4 << 20 };

/* Where the slot of the last meeting has what. */
enum { SIGNAL = 3, TAKEN, MESSAGES, TIME };

/* Rank 0's timeline, so that others can say when something was by its clock. */
typedef struct Timeline {
  int64_t start, since; /* CLOCK_MONOTONIC of its machine, ns: of its report, and of the program */
  uint64_t machine;
  int64_t wanted;
} Timeline;
_Static_assert(sizeof(Timeline) <= sizeof((FlRankSlot){0}.rest),
               "what rank 0 says of its timeline fits a slot");

static const char *name_of(const FlRankMessage *m, int32_t here) {
  if (m->from >= 0) return m->from == here ? "send" : "receive";
  if (m->from == FL_RANKS_TRADED) return "exchange";
  switch (m->step) {
  case FL_RANKS_BEGIN: return "meet: begin";
  case FL_RANKS_ACT: return "meet: act";
  case FL_RANKS_SHARE: return "meet: what rank 0 was told";
  case FL_RANKS_INPUT: return "meet: standard input";
  case FL_RANKS_AGREE: return "meet: agree";
  case FL_RANKS_LOOK: return "meet: look into the store";
  case FL_RANKS_STAGE: return "meet: end of a stage";
  case FL_RANKS_TASKS: return "meet: elements";
  case FL_RANKS_KERNEL: return "meet: loop";
  case FL_RANKS_REST: return "meet: elements of rank 0";
  case FL_RANKS_ROWS: return "meet: rows";
  case FL_RANKS_GATHER: return "meet: gather rows";
  case FL_RANKS_END: return "meet: end";
  }
  return "meet";
}

static int32_t line_of(const FlRun *run, int32_t site) {
  const FlProgram *p = run->program;
  return p && site >= 0 && site < p->n_sites ? p->sites[site].line : 0;
}

static void record(void *arg, const FlRankMessage *m) {
  const FlRun *run = arg;
  int64_t begin = m->begin - fl_report_start(run->report);
  fl_report_message(run->report, &(FlMessageEvent){.name = name_of(m, run->options.ranks->here),
                                                   .line = line_of(run, m->site),
                                                   .from = m->from,
                                                   .worker = fl_sched_worker(run->sched),
                                                   .begin = begin,
                                                   .end = begin + m->ns,
                                                   .bytes = m->bytes});
}

void fl_ranks_watch(FlRun *run) {
  FlRanks *r = run->options.ranks;
  if (!fl_report_wants_kernels(run->report)) return;
  r->told = record;
  r->told_arg = run;
}

void fl_ranks_watched(const FlRun *run, FlRankSlot *slot) {
  const FlRanks *r = run->options.ranks;
  int64_t start = fl_report_start(run->report);
  slot->values[TAKEN] = fl_ranks_taken(r);
  slot->values[MESSAGES] = r->messages_ns;
  slot->values[TIME] = r->since ? fl_report_now(run->report) + start - r->since : 0;
  Timeline t = {start, r->since, fl_ranks_machine(), fl_report_wants_kernels(run->report)};
  memcpy(slot->rest, &t, sizeof t);
}

/* ---- lanes --------------------------------------------------------------------------------------------- */

/* What is to be added to times of this rank's report, so that they are rank 0's. Machines have clocks of
 * their own: there the end of the beginning, which all leave together, is the same moment. */
static int64_t shift_of(const FlRun *run, const Timeline *zero) {
  int64_t start = fl_report_start(run->report), since = run->options.ranks->since;
  if (zero->machine == fl_ranks_machine()) return start - zero->start;
  return (start - since) - (zero->start - zero->since);
}

static char *make_lane(const FlRun *run, const Timeline *zero, int64_t *bytes) {
  const FlRanks *r = run->options.ranks;
  int64_t most = LANES / r->n;
  char host[64] = "", name[128];
  gethostname(host, sizeof host - 1);
  snprintf(name, sizeof name, "rank %d, process %ld on %s", r->here, (long)getpid(), host);
  FlLane lane = {
      .rank = r->here, .name = name, .shift = shift_of(run, zero), .most = most < LANE ? most : LANE};
  return fl_report_lane(run->report, &lane, bytes);
}

/* All ranks send theirs, of which rank 0 keeps those that it has memory for. */
static void pass_lanes(FlRun *run, const Timeline *zero) {
  FlRanks *r = run->options.ranks;
  FlRankSlot mine = {.step = FL_RANKS_END, .site = -1};
  char *own = r->here ? make_lane(run, zero, &mine.bytes) : NULL;
  fl_ranks_meet(r, &mine);
  for (int32_t k = 1; k < r->n && !r->lost; k++) {
    int64_t n = r->slots[k].bytes;
    char *at = k == r->here ? own : r->here ? NULL : malloc((size_t)n + 1);
    bool came = fl_ranks_send(r, k, at, n);
    if (r->here) continue;
    if (came && at && n) fl_report_add_lane(run->report, at, n);
    else free(at);
  }
  free(own);
}

void fl_ranks_watch_end(FlRun *run) {
  FlRanks *r = run->options.ranks;
  FlReportRank *each = r->here ? NULL : calloc((size_t)r->n, sizeof *each);
  Timeline zero;
  bool hurries = false; /* a signal ends the run: who started it waits for little more */
  memcpy(&zero, r->slots[0].rest, sizeof zero);
  for (int32_t k = 0; k < r->n; k++) {
    const int64_t *v = r->slots[k].values;
    if (each) each[k] = (FlReportRank){v[TAKEN], v[MESSAGES], v[TIME]};
    hurries |= v[SIGNAL] > 0;
  }
  if (each) fl_report_ranks(run->report, each, r->n);
  if (zero.wanted && zero.since && !hurries) pass_lanes(run, &zero);
}
