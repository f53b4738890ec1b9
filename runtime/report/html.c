/* html.c: a page about a run: its stages and operators with their times, what was remembered, notes.
 *
 * In: the recorded events. Out: one HTML file that needs nothing else. Every text of the user is escaped. */
#include "report/report_internal.h"

#include <stdio.h>
#include <stdlib.h>

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
    "h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:.25em .6em;border-bottom:1px solid "
    "#ddd}td.n{text-align:right;white-space:nowrap}"
    ".bar{position:relative;height:1em;background:#f3f3f3;min-width:16em}.bar "
    "i{position:absolute;top:0;height:1em;"
    "min-width:1px;background:#3b76c4}.cached .bar i{background:#9bbf85}.failed .bar i{background:#c0392b}";

static void put_text(FILE *f, const char *s) {
  for (; *s; s++) {
    switch (*s) {
    case '<': fputs("&lt;", f); break;
    case '>': fputs("&gt;", f); break;
    case '&': fputs("&amp;", f); break;
    case '"': fputs("&quot;", f); break;
    default: fputc(*s, f);
    }
  }
}

static void put_stages(FILE *f, const FlReport *r, int64_t total) {
  fputs("<h2>Stages</h2><table><tr><th>stage<th>how<th>time<th>worker<th>timeline</tr>\n", f);
  for (int32_t i = 0; i < r->n_stages; i++) {
    const FlStageEvent *e = &r->stages[i];
    int64_t end = e->end >= 0 ? e->end : total;
    char took[32];
    fl_report_duration(took, end - e->begin);
    fprintf(f, "<tr class=\"%s\"><td>", fl_report_how(e->as.how));
    put_text(f, e->stage->name);
    fprintf(f,
            "<td>%s<td class=n>%s<td class=n>%d<td><div class=bar><i "
            "style=\"left:%.2f%%;width:%.2f%%\"></i></div>"
            "</tr>\n",
            fl_report_how(e->as.how), took, e->worker, 100.0 * (double)e->begin / (double)total,
            100.0 * (double)(end - e->begin) / (double)total);
  }
  fputs("</table>\n", f);
}

static void put_notes(FILE *f, const FlReport *r) {
  fputs("<h2>Notes</h2><table><tr><th>at<th>stage<th>note</tr>\n", f);
  for (int32_t i = 0; i < r->n_notes; i++) {
    const FlNoteEvent *e = &r->notes[i];
    char at[32];
    fl_report_duration(at, e->at);
    fprintf(f, "<tr><td class=n>%s<td>", at);
    put_text(f, e->stage >= 0 ? r->stages[e->stage].stage->name : "script");
    fputs("<td>", f);
    put_text(f, e->line);
    fputs("</tr>\n", f);
  }
  fputs("</table>\n", f);
}

static int by_time(const void *a, const void *b) {
  const FlPlaceSum *x = a, *y = b;
  return (x->ns < y->ns) - (x->ns > y->ns);
}

/* Operators and loops by line, the longest first; nothing without memory. */
static void put_operators(FILE *f, const FlReport *r) {
  enum { MOST = 200, LEAST = 10000 }; /* lines; nanoseconds of one that is shown */
  int32_t n;
  FlPlaceSum *sums = fl_report_places(r, &n);
  if (sums) qsort(sums, (size_t)n, sizeof *sums, by_time);
  while (n && sums[n - 1].ns < LEAST) n--;
  if (n)
    fputs("<h2>Operators</h2><table><tr><th>line<th>operator<th>times<th>rows in<th>rows out<th>time, of all "
          "workers</tr>\n",
          f);
  for (int32_t i = 0; i < n && i < MOST; i++) {
    char took[32];
    fl_report_duration(took, sums[i].ns);
    int32_t site = fl_report_site(r, sums[i].site);
    fprintf(f, "<tr><td class=n>%d<td>", site < 0 ? 0 : r->options.program->sites[site].line);
    put_text(f, sums[i].name);
    fprintf(f, "<td class=n>%lld<td class=n>%lld<td class=n>", (long long)sums[i].calls,
            (long long)sums[i].rows_in);
    if (sums[i].counted) fprintf(f, "%lld", (long long)sums[i].rows_out);
    fprintf(f, "<td class=n>%s</tr>\n", took);
  }
  if (n) fputs("</table>\n", f);
  free(sums);
}

bool fl_report_write_html(const FlReport *r, FILE *f, int exit_status) {
  int64_t total = fl_report_now(r);
  if (total < 1) total = 1;
  char took[32];
  fl_report_duration(took, total);
  const char *title = r->options.script ? r->options.script : "flow";
  fputs("<!doctype html><html lang=en><meta charset=utf-8><title>", f);
  put_text(f, title);
  fprintf(f, "</title><style>%s</style>\n<h1>", style);
  put_text(f, title);
  fprintf(f, "</h1>\n<p>%s in %s on %d worker%s. %d stages: %d run, %d cached%s.</p>\n",
          exit_status == 0 ? "Done" : "Failed", took, r->options.workers, r->options.workers == 1 ? "" : "s",
          r->n_run + r->n_cached + r->n_failed, r->n_run, r->n_cached, r->n_failed ? ", some failed" : "");
  if (r->n_stages) put_stages(f, r, total);
  put_operators(f, r);
  if (r->n_notes) put_notes(f, r);
  fputs("</html>\n", f);
  return !ferror(f);
}
