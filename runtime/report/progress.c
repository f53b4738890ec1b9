/* progress.c: what the live line says: how many stages are done of how many, which run, about how much is
 * left. In: the events of a run, and the record of the run before. What always holds: what is left is only
 * said where the last run came to its end, and rounded so that it does not flicker. */
#include "report/record.h"
#include "report/report_internal.h"

#include <stdio.h>
#include <string.h>

const char *fl_report_called(char out[FL_LIVE_CALL], const FlStageEvent *e) {
  bool args = e->args && *e->args;
  int n = snprintf(out, FL_LIVE_CALL, "%s%s%s%s", e->stage->name, args ? "(" : "", args ? e->args : "",
                   args ? ")" : "");
  if (n >= FL_LIVE_CALL) {
    size_t at = FL_LIVE_CALL - 4;
    while (at > 0 && ((unsigned char)out[at] & 0xc0) == 0x80) at--; /* whole characters */
    memcpy(out + at, "...", 4);
  }
  return out;
}

/* How many calls the last run made, and nanoseconds of those that ran, which this one has not ended yet. */
static int32_t expected(const FlReport *r, int64_t *left) {
  enum { MOST = 500, NAMES = 32 }; /* calls, and different stages, that are looked at each time */
  const FlRecord *b = r->before;
  const char *names[NAMES];
  int32_t done[NAMES] = {0}, n_names = 0, n = b ? b->now.n_stages : 0;
  int64_t all = 0;
  *left = 0;
  if (!b || !b->n_runs || strcmp(b->runs[0].state, "ended") != 0 || n > MOST) return 0;
  for (int32_t i = 0; i < n; i++) {
    const FlRecordStage *last = &b->now.stages[i];
    int32_t k = 0;
    while (k < n_names && strcmp(names[k], last->name) != 0) k++;
    if (k == NAMES) return 0;
    if (k == n_names) {
      names[n_names++] = last->name;
      for (int32_t j = 0; j < r->n_stages; j++)
        done[k] += r->stages[j].end >= 0 && strcmp(r->stages[j].stage->name, last->name) == 0;
    }
    if (--done[k] < 0 && strcmp(last->how, "run") == 0) *left += last->ns;
    all += last->ns;
  }
  double at_once = b->runs[0].ns > 0 ? (double)all / (double)b->runs[0].ns : 1;
  if (at_once > 1) *left = (int64_t)((double)*left / at_once);
  return n;
}

static int put_left(char *to, size_t room, int64_t left) {
  int64_t seconds = left / 1000000000;
  if (seconds < 1) return 0;
  if (seconds < 10) return snprintf(to, room, ", about %lld s left", (long long)seconds);
  if (seconds < 90) return snprintf(to, room, ", about %lld s left", (long long)(seconds + 2) / 5 * 5);
  return snprintf(to, room, ", about %lld min left", (long long)(seconds + 30) / 60);
}

size_t fl_report_live(const FlReport *r, char line[FL_LIVE_LINE]) {
  int32_t running = 0, done = 0;
  const FlStageEvent *first = NULL;
  for (int32_t i = 0; i < r->n_stages; i++) {
    done += r->stages[i].end >= 0;
    running += r->stages[i].end < 0;
    if (!first && r->stages[i].end < 0) first = &r->stages[i];
  }
  if (!running) return 0;
  char called[FL_LIVE_CALL], tail[FL_LIVE_LINE] = "";
  int64_t left;
  int32_t all = expected(r, &left);
  if (running > 1) snprintf(tail, sizeof tail, " and %d more", running - 1);
  put_left(tail + strlen(tail), sizeof tail - strlen(tail), left);
  int n = all > done ? snprintf(line, FL_LIVE_LINE, "%d of about %d: ", done, all)
                     : snprintf(line, FL_LIVE_LINE, "%d done: ", done);
  n += snprintf(line + n, FL_LIVE_LINE - (size_t)n, "%s%s", fl_report_called(called, first), tail);
  return n < FL_LIVE_LINE ? (size_t)n : FL_LIVE_LINE - 1;
}
