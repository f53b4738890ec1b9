/* html_timeline.c: what the workers did when, as bars; see html_internal.h. What always holds: how large a
 * lane becomes depends on its width, not on how many events there are. */
#include "report/html_internal.h"

#include <stdlib.h>
#include <string.h>

/* What is drawn of its own: stages by how they ended, in the upper half of a lane; operators in the lower. */
typedef enum Kind { RUN, CACHED, FAILED, READING, JOINS, GROUPS, SORTS, OTHERS, N_KINDS } Kind;
static const char *const classes[N_KINDS] = {"run",  "cached", "failed", "read",
                                             "join", "group",  "sort",   "op"};
static const char *const titles[N_KINDS] = {
    "stage, run", "stage, remembered", "stage, failed",  "reading", "joins",
    "groups",     "sorting",           "other operators"};

static Kind kind_of_stage(const FlStageEvent *e) {
  if (e->end < 0) return FAILED;
  return e->as.how == FL_STAGE_CACHED ? CACHED : e->as.how == FL_STAGE_FAILED ? FAILED : RUN;
}

static Kind kind_of_operator(const char *name) {
  if (strncmp(name, "read", 4) == 0 || strncmp(name, "table_part", 10) == 0 || strncmp(name, "sql", 3) == 0)
    return READING;
  if (strncmp(name, "join", 4) == 0) return JOINS;
  if (strncmp(name, "group", 5) == 0 || strncmp(name, "aggreg", 6) == 0 || strncmp(name, "distinct", 8) == 0)
    return GROUPS;
  return strncmp(name, "sort", 4) == 0 ? SORTS : OTHERS;
}

/* Bars of one kind in one lane. */
typedef struct Bars {
  FILE *f;
  Kind kind;
  int units, end; /* of a lane; behind the last bar */
  bool any;
} Bars;

static void put_bar(Bars *b, int64_t begin, int64_t end, int64_t total) {
  int from = (int)((double)begin / (double)total * b->units);
  int to = (int)((double)end / (double)total * b->units) + 1;
  if (to > b->units) to = b->units;
  if (from < b->end) from = b->end; /* what is there already */
  if (to <= from) return;
  if (!b->any) fprintf(b->f, "<path class=\"%s\" d=\"", classes[b->kind]);
  fprintf(b->f, "M%d %dh%dv9h-%dz", from, b->kind < READING ? 0 : 10, to - from, to - from);
  b->any = true;
  b->end = to;
}

static void put_kind(FILE *f, const FlReport *r, int lane, Kind kind, int units, int64_t total) {
  Bars b = {.f = f, .kind = kind, .units = units};
  int n = r->options.workers;
  for (int32_t i = 0; kind < READING && i < r->n_stages; i++) {
    const FlStageEvent *e = &r->stages[i];
    int worker = e->worker >= 0 && e->worker < n ? e->worker : n;
    if (worker == lane && kind_of_stage(e) == kind) put_bar(&b, e->begin, e->end < 0 ? total : e->end, total);
  }
  for (int32_t i = 0; kind >= READING && i < r->n_operators; i++) {
    const FlOperatorEvent *e = &r->operators[i];
    int worker = e->worker >= 0 && e->worker < n ? e->worker : n;
    if (worker == lane && kind_of_operator(e->name) == kind) put_bar(&b, e->begin, e->end, total);
  }
  if (b.any) fputs("\"/>", f);
}

static int stages_of(const FlReport *r, int lane) {
  int n = 0;
  for (int32_t i = 0; i < r->n_stages; i++)
    n += r->stages[i].worker == lane ||
         (lane == r->options.workers && (r->stages[i].worker < 0 || r->stages[i].worker > lane));
  return n;
}

static bool has_any(const FlReport *r, int lane) {
  bool any = stages_of(r, lane) > 0;
  for (int32_t i = 0; i < r->n_operators && !any; i++) {
    int worker = r->operators[i].worker;
    any = worker == lane || (lane == r->options.workers && (worker < 0 || worker > lane));
  }
  return any;
}

void fl_html_timeline(FILE *f, const FlReport *r, int64_t total) {
  if (!r->n_stages && !r->n_operators) return;
  int n = r->options.workers, units = n <= 16 ? 1000 : 16000 / n;
  fputs("<h2 id=\"timeline\">Timeline</h2>\n<p class=\"legend\">", f);
  for (int k = 0; k < N_KINDS; k++) fprintf(f, "<span><i class=\"%s\"></i>%s</span> ", classes[k], titles[k]);
  fputs("</p>\n<div class=\"lanes\">\n", f);
  for (int lane = 0; lane <= n; lane++) {
    if (lane == n && !has_any(r, lane)) continue;
    char who[32];
    if (lane < n) snprintf(who, sizeof who, "worker %d", lane);
    else snprintf(who, sizeof who, "others");
    fprintf(f,
            "<div><span>%s</span><svg role=\"img\" aria-label=\"%s: %d stage calls began here\" viewBox=\"0 "
            "0 %d 20\" preserveAspectRatio=\"none\">",
            who, who, stages_of(r, lane), units);
    for (int kind = 0; kind < N_KINDS; kind++) put_kind(f, r, lane, (Kind)kind, units, total);
    fputs("</svg></div>\n", f);
  }
  fputs("</div>\n<p class=\"axis\">", f);
  for (int k = 0; k <= 4; k++) {
    char at[32];
    fl_report_duration(at, total / 4 * k);
    fprintf(f, "<span>%s</span>", k ? at : "0");
  }
  fputs("</p>\n", f);
}

/* ---- what the run waited for ---- */

static int by_end(const void *a, const void *b) {
  const FlStageEvent *x = *(const FlStageEvent *const *)a, *y = *(const FlStageEvent *const *)b;
  return (x->end > y->end) - (x->end < y->end);
}

/* Stages of one name that followed each other in the chain. */
typedef struct Link {
  const FlStageEvent *first, *longest;
  int64_t ns;
  int32_t n;
} Link;

static int64_t took(const FlStageEvent *e) { return e->end - e->begin; }

void fl_html_called(FILE *f, const FlStageEvent *e) {
  fputs("<code>", f);
  fl_html_text(f, e->stage->name);
  if (e->args && *e->args) {
    fputs("(", f);
    fl_html_text(f, e->args);
    fputs(")", f);
  }
  fputs("</code>", f);
}

static void put_link(FILE *f, const Link *l, int64_t total) {
  char time[32], at[32];
  fl_report_duration(time, l->ns);
  fl_report_duration(at, l->first->begin);
  fputs("<li>", f);
  if (l->n == 1) {
    fl_html_called(f, l->first);
    fprintf(f, ": %s, %.0f%%, from %s</li>\n", time, 100 * (double)l->ns / (double)total, at);
    return;
  }
  fputs("<code>", f);
  fl_html_text(f, l->first->stage->name);
  fputs("</code>, ", f);
  fl_html_count(f, l->n);
  fprintf(f, " calls one after the other: %s, %.0f%%, from %s; the longest is ", time,
          100 * (double)l->ns / (double)total, at);
  fl_html_called(f, l->longest);
  fl_report_duration(time, took(l->longest));
  fprintf(f, ", %s</li>\n", time);
}

/* From the last stage back: each link is before the one before it. How many; `links` has room for `most`,
 * and *sum is of them. */
static int find_chain(const FlStageEvent *const *sorted, int32_t n, int64_t total, Link *links, int most,
                      int64_t *sum) {
  enum { SLACK = 1000000 }; /* nanoseconds that a stage may overlap the next */
  int k = 0;
  int64_t limit = total;
  for (int32_t i = n - 1; i >= 0; i--) {
    const FlStageEvent *e = sorted[i];
    if (e->end > limit) continue;
    limit = took(e) > SLACK ? e->begin + SLACK : e->begin;
    Link *l = k ? &links[k - 1] : NULL;
    if (!l || l->first->stage != e->stage) {
      if (k == most) break;
      l = &links[k++];
      *l = (Link){e, e, 0, 0};
    }
    l->first = e;
    if (took(e) > took(l->longest)) l->longest = e;
    l->ns += took(e);
    l->n++;
    *sum += took(e);
  }
  return k;
}

void fl_html_critical(FILE *f, const FlReport *r, int64_t total) {
  enum { MOST = 50 };
  const FlStageEvent **all = calloc((size_t)r->n_stages + 1, sizeof *all);
  Link links[MOST];
  int32_t n = 0;
  int64_t sum = 0;
  for (int32_t i = 0; all && i < r->n_stages; i++)
    if (r->stages[i].end >= 0) all[n++] = &r->stages[i];
  if (n) qsort(all, (size_t)n, sizeof *all, by_end);
  int k = find_chain(all, n, total, links, MOST, &sum);
  if (k) {
    char time[32];
    fl_report_duration(time, sum);
    fprintf(f,
            "<h2 id=\"chain\">What the run waited for</h2>\n<p>The chain of stages of which each began when "
            "the one before it ended, back from the last%s: %s, %.0f%% of the run. What makes it shorter "
            "makes the run shorter.</p>\n<ol>\n",
            k == MOST ? ", its end" : "", time, 100 * (double)sum / (double)total);
    while (k--) put_link(f, &links[k], total);
    fputs("</ol>\n", f);
  }
  free(all);
}
