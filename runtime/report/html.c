/* html.c: a page about a run: when workers did what, what the run waited for, its stages and operators with
 * their times, what was remembered and why not, notes over runs, its plots and its plan.
 *
 * In: the recorded events, and the record of the runs before. Out: one HTML file that needs nothing else, in
 * light and in dark, on narrow screens, without a mouse. Every text of the user is escaped; pictures are
 * pictures, and no part of the page. */
#include "report/html_internal.h"
#include "report/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1c1e21;--dim:#57606a;--line:#d0d7de;--soft:#f5f7f9;"
    "--link:#0550ae;--run:#2563b8;--cached:#4f9d69;--failed:#c0392b;--read:#b7791f;--join:#8b5cb8;"
    "--group:#0f8f8f;--sort:#c2557a;--op:#8a949e}"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e3e6e9;--dim:#a3adb7;--line:#3a424a;"
    "--soft:#1d2227;--link:#83b7ff;--run:#5c9df0;--cached:#6cc088;--failed:#ee7a6d;--read:#e0a84e;"
    "--join:#b995e0;--group:#4cc4c4;--sort:#e58aab;--op:#7d8893}}"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--bg);"
    "color:var(--fg);font:1rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}a{color:var(--link)}"
    "a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid var(--link);"
    "outline-offset:2px}h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.2rem;margin-top:2.5rem;"
    "border-bottom:1px solid var(--line)}nav ul{padding:0;list-style:none;display:flex;flex-wrap:wrap;gap:0 "
    "1.2rem}code,pre{font:.9rem/1.5 ui-monospace,monospace}"
    ".scroll{overflow-x:auto}.block{content-visibility:auto;contain-intrinsic-size:auto 400rem}"
    "table{border-collapse:collapse;font-size:.9rem}"
    "th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line);overflow-wrap:normal}"
    "thead th{background:var(--soft);white-space:nowrap}th[scope=row]{font-weight:400}"
    ".n{text-align:right;white-space:nowrap}summary{cursor:pointer;padding:.4rem 0}"
    ".lanes>div{display:flex;gap:.6rem;align-items:center;margin:.3rem 0}.lanes span{flex:0 0 "
    "5.5rem;font-size:.85rem;color:var(--dim)}.lanes svg{flex:1;height:2rem;background:var(--soft);"
    "min-width:0}"
    ".axis{display:flex;justify-content:space-between;margin:.2rem 0 0 6.1rem;font-size:.85rem;"
    "color:var(--dim);gap:.6rem;white-space:nowrap}@media(max-width:36rem){pre{font-size:.75rem}.axis "
    "span:nth-child(even){display:none}}.legend span{white-space:nowrap;margin-right:.8rem;"
    "font-size:.85rem}.legend "
    "i{display:inline-block;width:.9rem;height:.9rem;margin-right:.35rem;vertical-align:-.1rem}"
    ".run{fill:var(--run);background:var(--run)}.cached{fill:var(--cached);background:var(--cached)}"
    ".failed{fill:var(--failed);background:var(--failed)}.read{fill:var(--read);background:var(--read)}"
    ".join{fill:var(--join);background:var(--join)}.group{fill:var(--group);background:var(--group)}"
    ".sort{fill:var(--sort);background:var(--sort)}.op{fill:var(--op);background:var(--op)}"
    "figure{margin:1rem 0}figure svg{width:100%;max-width:30rem;height:4rem;background:var(--soft)}"
    ".line{fill:none;stroke:var(--run);stroke-width:2;vector-effect:non-scaling-stroke}"
    "figure img{max-width:100%;background:#fff}pre{margin:0;overflow-wrap:normal;width:max-content;"
    "min-width:100%;background:var(--soft);border:1px solid "
    "var(--line);border-radius:.4rem;padding:.6rem .8rem}";

void fl_html_text(FILE *f, const char *s) {
  for (; *s; s++) {
    switch (*s) {
    case '<': fputs("&lt;", f); break;
    case '>': fputs("&gt;", f); break;
    case '&': fputs("&amp;", f); break;
    case '"': fputs("&quot;", f); break;
    default:
      if ((unsigned char)*s >= ' ' || strchr("\n\t", *s)) fputc(*s, f);
      else fputs("\ufffd", f); /* no character of a page */
    }
  }
}

void fl_html_count(FILE *f, int64_t n) {
  char digits[32];
  int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
  for (int i = 0; i < len; i++) {
    if (i && digits[i - 1] != '-' && (len - i) % 3 == 0) fputc(',', f);
    fputc(digits[i], f);
  }
}

void fl_html_bytes(FILE *f, int64_t bytes) {
  char text[32];
  fl_report_bytes(text, bytes);
  fputs(text, f);
}

static int by_time(const void *a, const void *b) {
  const FlPlaceSum *x = a, *y = b;
  return (x->ns < y->ns) - (x->ns > y->ns);
}

static void put_place(FILE *f, const FlReport *r, const FlPlaceSum *sum) {
  char took[32];
  fl_report_duration(took, sum->ns);
  int32_t at = fl_report_site(r, sum->site);
  const FlSite *site = at < 0 ? NULL : &r->options.program->sites[at];
  fprintf(f, "<tr><td class=n>%d<td>", site ? site->line : 0);
  fl_html_text(f, sum->name);
  fputs("<td class=n>", f);
  fl_html_count(f, sum->calls);
  fputs("<td class=n>", f);
  fl_html_count(f, sum->rows_in);
  fputs("<td class=n>", f);
  if (sum->counted) fl_html_count(f, sum->rows_out);
  fputs("<td class=n>", f);
  fl_html_bytes(f, sum->bytes);
  fputs("<td class=n>", f);
  if (sum->held) fl_html_bytes(f, sum->held);
  fprintf(f, "<td class=n>%s<td><code>", took);
  if (site) fl_html_text(f, site->line_text + strspn(site->line_text, " \t"));
  fputs("</code>\n", f);
}

/* Operators and loops by line, the longest first; nothing without memory. */
static void put_operators(FILE *f, const FlReport *r) {
  enum { MOST = 200, LEAST = 10000 }; /* lines; nanoseconds of one that is shown */
  int32_t n;
  FlPlaceSum *sums = fl_report_places(r, &n);
  if (sums) qsort(sums, (size_t)n, sizeof *sums, by_time);
  while (n && sums[n - 1].ns < LEAST) n--;
  if (n)
    fputs("<h2 id=\"operators\">Operators, by line</h2>\n<div class=\"scroll\" tabindex=\"0\" "
          "role=\"region\" aria-label=\"Operators\"><table><thead><tr><th scope=\"col\">line<th "
          "scope=\"col\">operator<th scope=\"col\">times<th scope=\"col\">rows in<th scope=\"col\">rows "
          "out<th scope=\"col\">bytes<th scope=\"col\">held at most<th scope=\"col\">time, of all workers<th "
          "scope=\"col\">what stands there<tbody>\n",
          f);
  for (int32_t i = 0; i < n && i < MOST; i++) put_place(f, r, &sums[i]);
  if (n) fputs("</table></div>\n", f);
  free(sums);
}

static void put_base64(FILE *f, const char *bytes, size_t n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    unsigned v = 0;
    for (size_t k = 0; k < 3; k++) v = v << 8 | (i + k < n ? (unsigned char)bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; k++) fputc(i + k <= n ? digits[v >> (18 - 6 * k) & 63] : '=', f);
  }
}

static void put_plots(FILE *f, const FlReport *r) {
  if (r->n_plots) fputs("<h2 id=\"plots\">Plots</h2>\n", f);
  for (int32_t i = 0; i < r->n_plots; i++) {
    const FlPlotEvent *p = &r->plots[i];
    fprintf(f, "<figure><img alt=\"the plot of line %d\" src=\"data:image/svg+xml;base64,", p->line);
    put_base64(f, p->svg, p->len);
    fprintf(f, "\"><figcaption>line %d</figcaption></figure>\n", p->line);
  }
}

/* On the heap; NULL: nobody can say it. */
static char *plan_of(const FlReport *r) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = r->options.plan ? open_memstream(&text, &size) : NULL;
  if (to) r->options.plan(r->options.plan_arg, to);
  if (to && fclose(to) == 0 && size) return text;
  free(text);
  return NULL;
}

static void put_plan(FILE *f, const char *plan) {
  if (!plan) return;
  fputs("<h2 id=\"plan\">The plan</h2>\n<details><summary>What is read, fused, kept and "
        "remembered</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"The plan\"><pre>",
        f);
  fl_html_text(f, plan);
  fputs("</pre></div></details>\n", f);
}

static void put_ways(FILE *f, const FlReport *r, bool has_plan) {
  static const char *const ways[][2] = {{"timeline", "Timeline"}, {"chain", "What the run waited for"},
                                        {"stages", "Stages"},     {"operators", "Operators"},
                                        {"tables", "Tables"},     {"notes", "Notes"},
                                        {"runs", "Over runs"},    {"plots", "Plots"},
                                        {"plan", "Plan"}};
  int32_t n;
  FlPlaceSum *sums = fl_report_places(r, &n);
  bool operators = false;
  for (int32_t i = 0; i < n; i++) operators |= sums[i].ns >= 10000;
  free(sums);
  bool there[] = {r->n_stages || r->n_operators,
                  r->n_run + r->n_cached + r->n_failed > 0,
                  r->n_stages > 0,
                  operators,
                  r->shown && r->shown->n_rows > 0,
                  r->n_notes > 0,
                  r->before != NULL,
                  r->n_plots > 0,
                  has_plan};
  fputs("<nav aria-label=\"On this page\"><ul>", f);
  for (size_t k = 0; k < sizeof there / sizeof *there; k++)
    if (there[k]) fprintf(f, "<li><a href=\"#%s\">%s</a></li>", ways[k][0], ways[k][1]);
  fputs("</ul></nav>\n", f);
}

/* "10,000 stages: 9,998 run, 2 remembered." */
static void put_counts(FILE *f, const FlReport *r) {
  int32_t n = r->n_run + r->n_cached + r->n_failed;
  fl_html_count(f, n);
  fprintf(f, " stage%s: ", n == 1 ? "" : "s");
  fl_html_count(f, r->n_run);
  fputs(" run, ", f);
  fl_html_count(f, r->n_cached);
  fprintf(f, " remembered%s.", r->n_failed ? ", some failed" : "");
}

bool fl_report_write_html(const FlReport *r, FILE *f, int exit_status) {
  int64_t total = fl_report_now(r);
  if (total < 1) total = 1;
  char took[32];
  fl_report_duration(took, total);
  const char *title = r->options.script ? r->options.script : "flow";
  fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"><title>",
        f);
  fl_html_text(f, title);
  fprintf(f, "</title><style>%s</style></head><body>\n<header><h1>", style);
  fl_html_text(f, title);
  fprintf(f, "</h1>\n<p>%s in %s on %d worker%s. ", exit_status == 0 ? "Done" : "Failed", took,
          r->options.workers, r->options.workers == 1 ? "" : "s");
  put_counts(f, r);
  char ranks[FL_RANKS_LINE];
  if (fl_report_ranks_line(r, ranks)) fprintf(f, " %s.", ranks);
  fputs("</p>\n", f);
  char *plan = plan_of(r);
  put_ways(f, r, plan != NULL);
  fputs("</header>\n<main>\n", f);
  fl_html_timeline(f, r, total);
  fl_html_critical(f, r, total);
  fl_html_stages(f, r, total);
  put_operators(f, r);
  fl_html_tables(f, r);
  fl_html_notes(f, r);
  fl_html_runs(f, r, exit_status);
  put_plots(f, r);
  put_plan(f, plan);
  free(plan);
  fputs("</main></body></html>\n", f);
  return !ferror(f);
}
