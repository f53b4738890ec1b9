/* html_stages.c: stages by name and each of their calls, as tables; see html_internal.h. */
#include "report/html_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 10000 };

/* All calls of one stage. */
typedef struct Sum {
  const FlStage *stage;
  int32_t how[FL_STAGE_TOGETHER + 1], kept[FL_KEPT_YES + 1];
  int64_t ns, longest, rows_in, rows_out, bytes, held;
} Sum;

/* Why a result is not in the store. */
static const char *why(FlStageKept kept) {
  switch (kept) {
  case FL_KEPT_NO: return "there is no store";
  case FL_KEPT_NEVER: return "declared as never kept";
  case FL_KEPT_FAILED: return "failed";
  case FL_KEPT_CHEAP: return "too cheap to keep";
  case FL_KEPT_CHANGED: return "a file changed meanwhile";
  case FL_KEPT_LOST: return "the store did not take it";
  case FL_KEPT_YES: return "kept";
  }
  return "";
}

static void add(Sum *s, const FlStageEvent *e, int64_t total) {
  int64_t ns = (e->end < 0 ? total : e->end) - e->begin;
  s->stage = e->stage;
  s->how[e->end < 0 ? FL_STAGE_FAILED : e->as.how]++;
  if (e->end >= 0) s->kept[e->as.kept]++;
  s->ns += ns;
  if (ns > s->longest) s->longest = ns;
  if (e->end < 0) return;
  if (e->as.rows_in > 0) s->rows_in += e->as.rows_in;
  if (e->as.rows_out > 0) s->rows_out += e->as.rows_out;
  s->bytes += e->as.bytes;
  if (e->held > s->held) s->held = e->held;
}

static int by_time(const void *a, const void *b) {
  const Sum *x = a, *y = b;
  return (x->ns < y->ns) - (x->ns > y->ns);
}

static void put_sum(FILE *f, const Sum *s) {
  char took[32], longest[32];
  fl_report_duration(took, s->ns);
  fl_report_duration(longest, s->longest);
  int32_t n = 0;
  for (int k = 0; k <= FL_STAGE_TOGETHER; k++) n += s->how[k];
  fputs("<tr><th scope=\"row\"><code>", f);
  fl_html_text(f, s->stage->name);
  const int32_t counts[] = {n, s->how[FL_STAGE_CACHED], s->how[FL_STAGE_FAILED]};
  fputs("</code>", f);
  for (int k = 0; k < 3; k++) {
    fputs("<td class=n>", f);
    fl_html_count(f, counts[k]);
  }
  fprintf(f, "<td class=n>%s<td class=n>%s<td class=n>", took, longest);
  fl_html_count(f, s->rows_in);
  fputs("<td class=n>", f);
  fl_html_count(f, s->rows_out);
  fputs("<td class=n>", f);
  fl_html_bytes(f, s->bytes);
  fputs("<td class=n>", f);
  if (s->held) fl_html_bytes(f, s->held);
  fputs("<td>", f);
  const char *joint = "";
  for (int k = FL_KEPT_YES; k >= 0; k--) {
    if (!s->kept[k]) continue;
    fputs(joint, f);
    fl_html_count(f, s->kept[k]);
    fprintf(f, " %s", why((FlStageKept)k));
    joint = ", ";
  }
  fputs("\n", f);
}

static void put_call(FILE *f, const FlStageEvent *e, int64_t total) {
  char took[32], at[32];
  bool over = e->end >= 0;
  fl_report_duration(at, e->begin);
  fl_report_duration(took, (over ? e->end : total) - e->begin);
  fputs("<tr><td>", f);
  fl_html_text(f, e->stage->name);
  fputs("<td>", f);
  if (e->args) fl_html_text(f, e->args);
  fprintf(f, "<td>%s<td>%s<td>%d<td>", at, took, e->worker);
  if (over && e->as.rows_in >= 0) fl_html_count(f, e->as.rows_in);
  fputs("<td>", f);
  if (over && e->as.rows_out >= 0) fl_html_count(f, e->as.rows_out);
  fputs("<td>", f);
  if (over && e->as.bytes) fl_html_bytes(f, e->as.bytes);
  fprintf(f, "<td>%s",
          !over                          ? "not ended"
          : e->as.how == FL_STAGE_CACHED ? "remembered"
                                         : fl_report_how(e->as.how));
  if (over && e->as.how == FL_STAGE_RUN) fprintf(f, ", %s", why(e->as.kept));
  fputc('\n', f);
}

/* A table for each BLOCK of them, which a browser lays out when it comes into view: all rows in one would
 * take seconds. */
static void put_calls(FILE *f, const FlReport *r, int64_t total) {
  enum { BLOCK = 200 };
  int32_t n = r->n_stages < MOST_CALLS ? r->n_stages : MOST_CALLS;
  fprintf(f, "<details><summary>%s ", n == r->n_stages ? "All" : "The first");
  fl_html_count(f, n);
  fprintf(f, " call%s, in the order in which they began</summary>\n", n == 1 ? "" : "s");
  for (int32_t i = 0; i < n; i++) {
    int32_t last = i + BLOCK < n ? i + BLOCK : n;
    if (i % BLOCK == 0)
      fprintf(f,
              "<div class=\"scroll block\" tabindex=\"0\" role=\"region\" aria-label=\"Calls %d to "
              "%d\"><table><thead><tr><th scope=\"col\">stage<th scope=\"col\">arguments<th "
              "scope=\"col\">began<th scope=\"col\">took<th scope=\"col\">worker<th scope=\"col\">rows "
              "in<th scope=\"col\">rows out<th scope=\"col\">bytes<th scope=\"col\">how<tbody>\n",
              i + 1, last);
    put_call(f, &r->stages[i], total);
    if (i % BLOCK == BLOCK - 1 || i == n - 1) fputs("</table></div>\n", f);
  }
  fputs("</details>\n", f);
}

void fl_html_stages(FILE *f, const FlReport *r, int64_t total) {
  const FlProgram *p = r->options.program;
  int32_t n = p ? p->n_stages : 0, used = 0;
  Sum *sums = calloc((size_t)n + 1, sizeof *sums);
  if (!r->n_stages || !sums) {
    free(sums);
    return;
  }
  for (int32_t i = 0; i < r->n_stages; i++) {
    ptrdiff_t at = p ? r->stages[i].stage - p->stages : 0;
    if (at >= 0 && at < n) add(&sums[at], &r->stages[i], total);
  }
  for (int32_t i = 0; i < n; i++)
    if (sums[i].stage) sums[used++] = sums[i];
  qsort(sums, (size_t)used, sizeof *sums, by_time);
  fputs("<h2 id=\"stages\">Stages</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Stages\"><table><thead><tr><th scope=\"col\">stage<th scope=\"col\">calls<th "
        "scope=\"col\">remembered<th scope=\"col\">failed<th scope=\"col\">time<th scope=\"col\">longest<th "
        "scope=\"col\">rows in<th scope=\"col\">rows out<th scope=\"col\">bytes<th "
        "scope=\"col\">held at most<th scope=\"col\">results<tbody>\n",
        f);
  for (int32_t i = 0; i < used; i++) put_sum(f, &sums[i]);
  fputs("</table></div>\n", f);
  put_calls(f, r, total);
  free(sums);
}
