/* ranks_line.c: what several ranks did together, in words.
 *
 * In: what each sent and how long it took (exec/ranks_watch.c). Out: a part of the closing line and of the
 * page. What always holds: time in messages is that of all ranks, waiting for each other included; a rank is
 * called the slowest only where the others waited for it. */
#include "report/report_internal.h"

#include <stdlib.h>

void fl_report_ranks(FlReport *r, FlReportRank *each, int32_t n) {
  pthread_mutex_lock(&r->lock);
  free(r->ranks);
  r->ranks = each;
  r->n_ranks = n;
  pthread_mutex_unlock(&r->lock);
}

void fl_report_add_lane(FlReport *r, char *text, int64_t bytes) {
  pthread_mutex_lock(&r->lock);
  FlLaneText *larger = realloc(r->lanes, ((size_t)r->n_lanes + 1) * sizeof *larger);
  if (larger) {
    r->lanes = larger;
    r->lanes[r->n_lanes++] = (FlLaneText){text, bytes};
  } else {
    free(text);
  }
  pthread_mutex_unlock(&r->lock);
}

static double own_time(const FlReportRank *k) { return (double)(k->ns - k->messages_ns); }

/* The rank that was longest at work by itself, where that is more than the mean of the others by a twentieth
 * of the time; -1: none. */
static int32_t slowest(const FlReport *r) {
  int32_t most = 0;
  double sum = 0;
  for (int32_t k = 0; k < r->n_ranks; k++) {
    sum += own_time(&r->ranks[k]);
    if (own_time(&r->ranks[k]) > own_time(&r->ranks[most])) most = k;
  }
  double own = own_time(&r->ranks[most]), others = (sum - own) / (r->n_ranks - 1);
  return own - others > (double)r->ranks[most].ns / 20 ? most : -1;
}

bool fl_report_ranks_line(const FlReport *r, char line[FL_RANKS_LINE]) {
  int64_t taken = 0;
  double messages = 0, all = 0;
  char bytes[32], share[32] = "less than 1%", slow[48] = "";
  for (int32_t k = 0; k < r->n_ranks; k++) {
    if (r->ranks[k].ns <= 0) return false; /* it has not begun */
    taken += r->ranks[k].taken;
    messages += (double)r->ranks[k].messages_ns;
    all += (double)r->ranks[k].ns;
  }
  if (r->n_ranks < 2) return false;
  fl_report_bytes(bytes, taken);
  if (messages >= all / 100) snprintf(share, sizeof share, "%.0f%%", 100 * messages / all);
  int32_t k = slowest(r);
  if (k >= 0) snprintf(slow, sizeof slow, ", rank %d the slowest", k);
  snprintf(line, FL_RANKS_LINE, "%d ranks sent %s, %s of the time in messages%s", r->n_ranks, bytes, share,
           slow);
  return true;
}
