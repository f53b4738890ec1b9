/* shown.c: what a run shows, kept for its record; see report/shown.h.
 *
 * In: tables and texts as they are shown, by the script's own context. Out: lines of the record. What always
 * holds: they are bounded, and what does not fit is there without its rows; a run that leaves no record keeps
 * nothing. */
#include "exec/exec_internal.h"
#include "report/record.h"
#include "report/shown.h"

#include <string.h>

static bool keeps(const FlCtx *ctx) {
  const FlRun *run = ctx ? ctx->run : NULL;
  return run && fl_last_run_wanted(&run->options) && run->shown.n < FL_SHOWN_MOST;
}

/* As fl_record_word writes it; most words have nothing to escape. */
static void add_word(FlBytes *out, const char *s, size_t n) {
  fl_bytes_add(out, " ", 1);
  if (!n) fl_bytes_add(out, "%00", 3);
  size_t from = 0;
  for (size_t at = 0; at < n; at++) {
    unsigned char c = (unsigned char)s[at];
    if (c > ' ' && c != 0x7f && c != '%' && c != '=' && c != ':') continue;
    fl_bytes_add(out, s + from, at - from);
    fl_bytes_addf(out, "%%%02x", c);
    from = at + 1;
  }
  fl_bytes_add(out, s + from, n - from);
}

/* Where a site is in the user's script; NULL: nowhere. */
static const FlSite *site_of(const FlProgram *p, int32_t site) {
  while (p && site >= 0 && site < p->n_sites) {
    if (!p->sites[site].library) return &p->sites[site];
    site = p->sites[site].caller;
  }
  return NULL;
}

static void add_place(FlBytes *out, const FlProgram *p, int32_t site) {
  const FlSite *s = site_of(p, site);
  fl_bytes_addf(out, " %d %llx", s ? s->line : 0,
                s ? (unsigned long long)fl_record_line(s->line_text, strlen(s->line_text)) : 0);
}

bool fl_ctx_wants_plots(const FlCtx *ctx) {
  return ctx && ctx->run && fl_report_wants_plots(ctx->run->report);
}

void fl_ctx_keep_plot(FlCtx *ctx, int32_t site, const char *svg, size_t len) {
  const FlSite *s = site_of(ctx->run->program, site);
  fl_report_plot(ctx->run->report, s ? s->line : 0, svg, len);
}

bool fl_ctx_keep_table(FlCtx *ctx, int32_t site, int64_t rows, int32_t columns, int64_t each) {
  if (!keeps(ctx)) return false;
  FlShownSoFar *so_far = &ctx->run->shown;
  int64_t cells = rows > FL_SHOWN_TABLE_CELLS || each > FL_SHOWN_TABLE_CELLS ? INT64_MAX / 2 : rows * each;
  so_far->rows_kept = cells <= FL_SHOWN_TABLE_CELLS && so_far->cells + cells <= FL_SHOWN_CELLS &&
                      so_far->lines.len < FL_SHOWN_BYTES;
  if (so_far->rows_kept) so_far->cells += cells;
  so_far->n++;
  fl_bytes_addz(&so_far->lines, "table");
  add_place(&so_far->lines, ctx->run->program, site);
  fl_bytes_addf(&so_far->lines, " %lld %d %d", (long long)rows, so_far->rows_kept, columns);
  return true;
}

void fl_ctx_keep_column(FlCtx *ctx, const char *name, const char *type, size_t len) {
  add_word(&ctx->run->shown.lines, name, strlen(name));
  add_word(&ctx->run->shown.lines, type, len);
}

bool fl_ctx_keep_row(FlCtx *ctx) {
  FlShownSoFar *so_far = &ctx->run->shown;
  so_far->rows_kept = so_far->rows_kept && so_far->lines.len < FL_SHOWN_BYTES;
  if (so_far->rows_kept) fl_bytes_addz(&so_far->lines, "\nrow");
  return so_far->rows_kept;
}

void fl_ctx_keep_cell(FlCtx *ctx, const char *value, size_t len) {
  FlShownSoFar *so_far = &ctx->run->shown;
  so_far->rows_kept = so_far->rows_kept && len <= FL_SHOWN_TEXT;
  if (!so_far->rows_kept) return; /* a row without all its cells says so of its table */
  if (value) add_word(&so_far->lines, value, len);
  else fl_bytes_addz(&so_far->lines, " %-");
}

void fl_ctx_keep_end(FlCtx *ctx) { fl_bytes_addz(&ctx->run->shown.lines, "\n"); }

void fl_ctx_keep_text(FlCtx *ctx, int32_t site, const char *bytes, size_t len) {
  if (!keeps(ctx)) return;
  FlShownSoFar *so_far = &ctx->run->shown;
  bool kept = len <= FL_SHOWN_TEXT && so_far->lines.len < FL_SHOWN_BYTES;
  so_far->n++;
  fl_bytes_addz(&so_far->lines, "text");
  add_place(&so_far->lines, ctx->run->program, site);
  fl_bytes_addf(&so_far->lines, " %d", kept);
  add_word(&so_far->lines, bytes, kept ? len : 0);
  fl_bytes_addz(&so_far->lines, "\n");
}
