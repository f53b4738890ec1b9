/* html_runs.c: what a script noted, in this run and over the last ones; see html_internal.h. */
#include "report/html_internal.h"
#include "report/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_NAMES = 16, MOST_POINTS = 500, MOST_NOTES = 500 };

/* ---- lines ---- */

/* Values in their order, those that are no numbers left out. */
typedef struct Line {
  double at[MOST_POINTS];
  int n;
} Line;

static bool add(Line *l, const char *text) {
  char *end;
  double v = strtod(text, &end);
  if (end == text || *end || !isfinite(v)) return false;
  if (l->n == MOST_POINTS) { /* every second one stays */
    for (int i = 0; i < MOST_POINTS / 2; i++) l->at[i] = l->at[2 * i + 1];
    l->n = MOST_POINTS / 2;
  }
  l->at[l->n++] = v;
  return true;
}

static void put_line(FILE *f, const Line *l, const char *name, const char *over) {
  if (l->n < 2) return;
  double lo = l->at[0], hi = l->at[0];
  for (int i = 1; i < l->n; i++) {
    if (l->at[i] < lo) lo = l->at[i];
    if (l->at[i] > hi) hi = l->at[i];
  }
  double height = hi > lo ? hi - lo : 1;
  fputs("<figure><figcaption><code>", f);
  fl_html_text(f, name);
  fprintf(f,
          "</code> %s: first %.6g, last %.6g, least %.6g, greatest %.6g</figcaption><svg role=\"img\" "
          "aria-label=\"line of ",
          over, l->at[0], l->at[l->n - 1], lo, hi);
  fl_html_text(f, name);
  fputs("\" viewBox=\"-2 -2 304 64\" preserveAspectRatio=\"none\"><polyline class=\"line\" points=\"", f);
  for (int i = 0; i < l->n; i++)
    fprintf(f, "%.1f,%.1f ", 300.0 * i / (l->n - 1), 60 - 60 * ((l->at[i] - lo) / height));
  fputs("\"/></svg></figure>\n", f);
}

/* ---- this run ---- */

static const char *value_of(const FlNoteEvent *e) { return e->line + strlen(e->name) + strlen(" = "); }

void fl_html_notes(FILE *f, const FlReport *r) {
  if (!r->n_notes) return;
  const char *names[MOST_NAMES];
  int n = 0;
  fputs("<h2 id=\"notes\">Notes</h2>\n", f);
  for (int32_t i = 0; i < r->n_notes && n < MOST_NAMES; i++) {
    int k = 0;
    while (k < n && strcmp(names[k], r->notes[i].name) != 0) k++;
    if (k < n) continue;
    names[n++] = r->notes[i].name;
    Line *line = calloc(1, sizeof *line);
    for (int32_t j = i; line && j < r->n_notes; j++)
      if (strcmp(r->notes[j].name, names[n - 1]) == 0) add(line, value_of(&r->notes[j]));
    if (line) put_line(f, line, names[n - 1], "in this run");
    free(line);
  }
  int32_t first = r->n_notes > MOST_NOTES ? r->n_notes - MOST_NOTES : 0;
  fprintf(f,
          "<details><summary>%s %d notes</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"Notes\"><table><thead><tr><th scope=\"col\">at<th scope=\"col\">stage<th "
          "scope=\"col\">note<tbody>\n",
          first ? "The last" : "All", r->n_notes - first);
  for (int32_t i = first; i < r->n_notes; i++) {
    const FlNoteEvent *e = &r->notes[i];
    char at[32];
    fl_report_duration(at, e->at);
    fprintf(f, "<tr><td class=n>%s<td>", at);
    fl_html_text(f, e->stage >= 0 ? r->stages[e->stage].stage->name : "script");
    fputs("<td>", f);
    fl_html_text(f, e->line);
    fputc('\n', f);
  }
  fputs("</table></div></details>\n", f);
}

/* ---- over runs ---- */

static const char *in_run(const FlRecordSum *s, const char *name) {
  for (int i = 0; i < s->n_notes; i++)
    if (strcmp(s->notes[i].name, name) == 0) return s->notes[i].value;
  return NULL;
}

static const char *in_this(const FlReport *r, const char *name) {
  for (int32_t i = r->n_notes - 1; i >= 0; i--)
    if (strcmp(r->notes[i].name, name) == 0) return value_of(&r->notes[i]);
  return NULL;
}

static int add_name(const char **names, int n, const char *name) {
  for (int k = 0; k < n; k++)
    if (strcmp(names[k], name) == 0) return n;
  if (n < MOST_NAMES) names[n++] = name;
  return n;
}

static void put_time(FILE *f, int64_t began) {
  char when[64];
  time_t seconds = (time_t)(began / 1000000);
  struct tm t;
  strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &t));
  fputs(when, f);
}

static void put_run(FILE *f, const FlRecordSum *s, const char *const *names, int n) {
  char took[32];
  fl_report_duration(took, s->ns);
  fputs("<tr><th scope=\"row\">", f);
  put_time(f, s->began);
  fputs("<td>", f);
  fl_html_text(f, s->state);
  fprintf(f, "<td class=n>%s<td class=n>%d<td class=n>%d", took, s->run, s->cached);
  for (int k = 0; k < n; k++) {
    const char *value = in_run(s, names[k]);
    fputs("<td class=n>", f);
    if (value) fl_html_text(f, value);
  }
  fputc('\n', f);
}

void fl_html_runs(FILE *f, const FlReport *r, int exit_status) {
  const FlRecord *b = r->before;
  if (!b || !b->n_runs) return;
  const char *names[MOST_NAMES];
  int n = 0;
  for (int32_t i = 0; i < r->n_notes; i++) n = add_name(names, n, r->notes[i].name);
  for (int i = 0; i < b->n_runs; i++)
    for (int k = 0; k < b->runs[i].n_notes; k++) n = add_name(names, n, b->runs[i].notes[k].name);
  fputs("<h2 id=\"runs\">Over runs</h2>\n", f);
  for (int k = 0; k < n; k++) {
    Line *line = calloc(1, sizeof *line);
    for (int i = b->n_runs - 1; line && i >= 0; i--) {
      const char *value = in_run(&b->runs[i], names[k]);
      if (value) add(line, value);
    }
    const char *now = in_this(r, names[k]);
    if (line && now) add(line, now);
    if (line) put_line(f, line, names[k], "over runs");
    free(line);
  }
  char took[32];
  fl_report_duration(took, fl_report_now(r));
  fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Runs\"><table><thead><tr><th "
        "scope=\"col\">began<th scope=\"col\">state<th scope=\"col\">time<th scope=\"col\">stages run<th "
        "scope=\"col\">remembered",
        f);
  for (int k = 0; k < n; k++) {
    fputs("<th scope=\"col\">", f);
    fl_html_text(f, names[k]);
  }
  fprintf(f, "<tbody>\n<tr><th scope=\"row\">this run<td>%s<td class=n>%s<td class=n>%d<td class=n>%d",
          exit_status ? "failed" : "ended", took, r->n_run, r->n_cached);
  for (int k = 0; k < n; k++) {
    const char *value = in_this(r, names[k]);
    fputs("<td class=n>", f);
    if (value) fl_html_text(f, value);
  }
  fputc('\n', f);
  for (int i = 0; i < b->n_runs; i++) put_run(f, &b->runs[i], names, n);
  fputs("</table></div>\n", f);
}
