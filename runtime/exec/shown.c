/* shown.c: what a run shows, kept for its record; see exec/shown.h.
 *
 * In: tables and texts as they are shown, by the script's own context. Out: lines and bytes of the record.
 * What always holds: they are bounded, and what does not fit is there without its rows; a run that leaves no
 * record keeps nothing. Values are copied as they lie: who compares them makes text of them. */
#include "exec/shown.h"
#include "exec/exec_internal.h"
#include "data/value_type.h"
#include "report/record.h"

#include <string.h>

static bool keeps(const FlCtx *ctx) {
  const FlRun *run = ctx ? ctx->run : NULL;
  return run && run->recorded && run->shown.n < FL_SHOWN_MOST;
}

/* What is in the lines now is complete. */
static void leave(FlShownSoFar *so_far) {
  so_far->whole = so_far->lines.failed ? 0 : so_far->lines.len;
  pthread_mutex_unlock(&so_far->lock);
}

void fl_shown_record(FlShownSoFar *so_far, FILE *f) {
  pthread_mutex_lock(&so_far->lock);
  if (so_far->whole) fwrite(so_far->lines.at, 1, so_far->whole, f);
  pthread_mutex_unlock(&so_far->lock);
}

/* ---- words ---- */

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

enum { NUMBER = 24 }; /* bytes that a number takes at most, with a space before it */

/* Writes it from `to` on; behind it. */
static char *put_number(char *to, uint64_t n, unsigned base) {
  char digits[NUMBER], *at = digits + sizeof digits;
  do *--at = "0123456789abcdef"[n % base];
  while (n /= base);
  *--at = ' ';
  size_t len = (size_t)(digits + sizeof digits - at);
  memcpy(to, at, len);
  return to + len;
}

static void add_number(FlBytes *out, uint64_t n, unsigned base) {
  char digits[NUMBER];
  fl_bytes_add(out, digits, (size_t)(put_number(digits, n, base) - digits));
}

/* Where a site is in the user's script; NULL: nowhere. */
static const FlSite *site_of(const FlProgram *p, int32_t site) {
  while (p && site >= 0 && site < p->n_sites) {
    if (!p->sites[site].library) return &p->sites[site];
    site = p->sites[site].caller;
  }
  return NULL;
}

static void look_at_place(FlShownSoFar *so_far, const FlProgram *p, int32_t site) {
  const FlSite *s = site_of(p, site);
  char *at = put_number(so_far->place, s ? (uint64_t)s->line : 0, 10);
  at = put_number(at, s ? fl_record_line(s->line_text, strlen(s->line_text)) : 0, 16);
  so_far->n_place = (int32_t)(at - so_far->place);
  so_far->place_of = site + 1;
}

static void add_place(FlShownSoFar *so_far, const FlProgram *p, int32_t site) {
  if (so_far->place_of != site + 1 || !so_far->n_place) look_at_place(so_far, p, site);
  fl_bytes_add(&so_far->lines, so_far->place, (size_t)so_far->n_place);
}

/* ---- plots, for the page of a run ---- */

bool fl_ctx_wants_plots(const FlCtx *ctx) {
  return ctx && ctx->run && fl_report_wants_plots(ctx->run->report);
}

void fl_ctx_keep_plot(FlCtx *ctx, int32_t site, const char *svg, size_t len) {
  const FlSite *s = site_of(ctx->run->program, site);
  fl_report_plot(ctx->run->report, s ? s->line : 0, svg, len);
}

/* ---- tables ---- */

bool fl_ctx_keep_table(FlCtx *ctx, int32_t site, int64_t rows, int32_t columns, int64_t each) {
  if (!keeps(ctx)) return false;
  FlShownSoFar *so_far = &ctx->run->shown;
  pthread_mutex_lock(&so_far->lock);
  int64_t cells = rows > FL_SHOWN_TABLE_CELLS || each > FL_SHOWN_TABLE_CELLS ? INT64_MAX / 2 : rows * each;
  so_far->rows_kept = cells <= FL_SHOWN_TABLE_CELLS && so_far->cells + cells <= FL_SHOWN_CELLS &&
                      so_far->lines.len < FL_SHOWN_BYTES;
  if (so_far->rows_kept) so_far->cells += cells;
  so_far->n++;
  fl_bytes_addz(&so_far->lines, "table");
  add_place(so_far, ctx->run->program, site);
  add_number(&so_far->lines, (uint64_t)rows, 10);
  add_number(&so_far->lines, so_far->rows_kept, 10);
  add_number(&so_far->lines, (uint64_t)columns, 10);
  pthread_mutex_unlock(&so_far->lock);
  return true;
}

void fl_ctx_keep_column(FlCtx *ctx, const char *name, const char *type, size_t len) {
  FlShownSoFar *so_far = &ctx->run->shown;
  pthread_mutex_lock(&so_far->lock);
  add_word(&so_far->lines, name, strlen(name));
  add_word(&so_far->lines, type, len);
  pthread_mutex_unlock(&so_far->lock);
}

bool fl_ctx_keep_rows(FlCtx *ctx) {
  FlShownSoFar *so_far = &ctx->run->shown;
  pthread_mutex_lock(&so_far->lock);
  fl_bytes_addz(&so_far->lines, "\n");
  leave(so_far);
  return so_far->rows_kept;
}

/* The texts at `n` places; false: they are more than a record has room for. */
static bool add_texts(FlBytes *out, const FlArray *values, const uint8_t *valid, const FlArray *levels,
                      int64_t n) {
  size_t bytes = 0, head = (size_t)n * sizeof(uint32_t);
  char *to = n ? fl_bytes_room(out, head) : NULL;
  const FlText *texts = levels ? levels->data : values->data;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t k = 0; to && k < n; k++) {
      FlText t = {NULL, 0};
      if (!valid || valid[k]) t = texts[levels ? fl_array_slot(values, k).i : k];
      if (pass && t.len) memcpy(to, t.ptr, (size_t)t.len);
      if (pass) to += t.len;
      else if (t.len > FL_SHOWN_TEXT) return false;
      else memcpy(to + (size_t)k * sizeof(uint32_t), &(uint32_t){(uint32_t)t.len}, sizeof(uint32_t));
      if (!pass) bytes += (size_t)t.len;
    }
    if (pass || bytes > FL_SHOWN_BYTES) break;
    out->len += head;
    to = fl_bytes_room(out, bytes);
  }
  if (bytes > FL_SHOWN_BYTES || !to) return !n;
  out->len += bytes;
  return true;
}

/* Of lists, whose elements are not kept, how many elements each has. */
static void add_lengths(FlBytes *out, const FlArray *lists, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    const FlArray *inner = ((FlArray *const *)lists->data)[k];
    int64_t len = inner ? inner->dims[0] : 0;
    fl_bytes_add(out, (const char *)&len, sizeof len);
  }
}

/* false: they are more than a record has room for. */
static bool add_cells(FlBytes *out, const FlArray *values, const FlArray *valid, const FlArray *levels) {
  bool list = values->dtype == FL_LIST;
  int64_t each = list ? 1 : fl_array_row_count(values), n = values->dims[0] * each;
  bool text = levels || fl_dtype_is_text(values->dtype);
  int flags = (valid ? FL_CELL_VALID : 0) | (values->rank > 1 && !list ? FL_CELL_ARRAY : 0);
  char head[FL_CELL_HEAD] = {(char)(levels ? FL_TEXT : values->dtype), (char)flags};
  memcpy(head + 2, &each, sizeof each);
  fl_bytes_add(out, head, sizeof head);
  if (valid) fl_bytes_add(out, valid->data, (size_t)n);
  if (text) return add_texts(out, values, valid ? valid->data : NULL, levels, n);
  if (list) add_lengths(out, values, n);
  else fl_bytes_add(out, values->data, (size_t)(n * fl_dtype_info[values->dtype].bytes));
  return true;
}

void fl_ctx_keep_cells(FlCtx *ctx, const FlArray *values, const FlArray *valid, const FlArray *levels) {
  enum { DIGITS = 8 }; /* of the length, which is known once they are there */
  FlShownSoFar *so_far = &ctx->run->shown;
  FlBytes *out = &so_far->lines;
  pthread_mutex_lock(&so_far->lock);
  size_t before = out->len;
  fl_bytes_addz(out, "column 00000000\n");
  size_t from = out->len;
  so_far->rows_kept = so_far->rows_kept && add_cells(out, values, valid, levels) &&
                      out->len <= FL_SHOWN_BYTES && !out->failed;
  if (!so_far->rows_kept) { /* a table without all its columns says so itself */
    out->len = before;
    leave(so_far);
    return;
  }
  size_t len = out->len - from;
  char *digits = out->at + before + strlen("column ");
  for (int k = DIGITS; k-- > 0; len /= 10) digits[k] = (char)('0' + len % 10);
  fl_bytes_addz(out, "\n");
  leave(so_far);
}

/* ---- texts ---- */

void fl_ctx_keep_text(FlCtx *ctx, int32_t site, const char *bytes, size_t len) {
  if (!keeps(ctx)) return;
  FlShownSoFar *so_far = &ctx->run->shown;
  pthread_mutex_lock(&so_far->lock);
  bool kept = len <= FL_SHOWN_TEXT && so_far->lines.len < FL_SHOWN_BYTES;
  so_far->n++;
  char counts[2 * NUMBER + 1], *at = put_number(put_number(counts, kept, 10), kept ? len : 0, 10);
  *at++ = '\n';
  fl_bytes_addz(&so_far->lines, "text");
  add_place(so_far, ctx->run->program, site);
  fl_bytes_add(&so_far->lines, counts, (size_t)(at - counts));
  fl_bytes_add(&so_far->lines, bytes, kept ? len : 0);
  fl_bytes_addz(&so_far->lines, "\n");
  leave(so_far);
}
