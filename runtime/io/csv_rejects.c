/* csv_rejects.c: the rows of a CSV file that were left out, as a table: line, column, reason, text.
 *
 * In: ranges that were parsed with the option on_error=collect. Out: one row a row of the file that was left
 * out, in the file's order, with its first problem. What always holds: the texts are UTF-8 (bytes that are
 * not appear as U+FFFD), and point into a heap that the arrays keep. */
#include "io/csv_internal.h"
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FlText keep(FlHeap *heap, const char *s, int64_t len) { return fl_heap_text(heap, s, len); }

static FlText keep_valid(FlHeap *heap, const char *s, int64_t len) {
  while (len && (s[len - 1] == '\r' || s[len - 1] == '\n')) len--;
  if (fl_utf8_check(s, len) == len) return keep(heap, s, len);
  FlBytes b = {0};
  while (len) {
    int64_t good = fl_utf8_check(s, len);
    fl_bytes_add(&b, s, (size_t)good);
    if (good < len) fl_bytes_addz(&b, "\xef\xbf\xbd");
    s += good + (good < len);
    len -= good + (good < len);
  }
  FlText out = b.failed ? (FlText){NULL, 0} : keep(heap, b.at, (int64_t)b.len);
  fl_bytes_reset(&b);
  return out;
}

static FlText reason(FlHeap *heap, const FlCsvFile *f, const FlCsvPlan *plan, const FlCsvReject *r) {
  const FlCsvStep *step = &plan->steps[r->column];
  const char *type = fl_dtype_info[step->dtype].name;
  char text[96] = "";
  switch (r->outcome) {
  case FL_CSV_BAD_VALUE: snprintf(text, sizeof text, "not %s", type); break;
  case FL_CSV_BAD_NULL: snprintf(text, sizeof text, "null where %s is wanted", type); break;
  case FL_CSV_STRAY_QUOTE: snprintf(text, sizeof text, "a quote within a field that is not quoted"); break;
  case FL_CSV_BAD_QUOTE: snprintf(text, sizeof text, "something stands behind a closing quote"); break;
  case FL_CSV_OPEN_QUOTE: snprintf(text, sizeof text, "a quote is never closed"); break;
  case FL_CSV_QUOTED_ROWS:
    snprintf(text, sizeof text, "a quoted field holds lines that look like rows");
    break;
  case FL_CSV_BAD_UTF8: snprintf(text, sizeof text, "not UTF-8 text"); break;
  case FL_CSV_MAYBE_COMMENT: snprintf(text, sizeof text, "a comment, or a row"); break;
  case FL_CSV_TOO_FEW:
  case FL_CSV_TOO_MANY:
    snprintf(text, sizeof text, "%d field%s where the header has %d", r->n_found, r->n_found == 1 ? "" : "s",
             f->n_columns);
    break;
  case FL_CSV_OK:
  case FL_CSV_NO_MEMORY:
  case FL_CSV_TOO_LONG:
  case FL_CSV_CHANGED: break;
  }
  return keep(heap, text, (int64_t)strlen(text));
}

static bool is_ragged(const FlCsvReject *r) {
  return r->outcome == FL_CSV_TOO_FEW || r->outcome == FL_CSV_TOO_MANY || r->outcome == FL_CSV_MAYBE_COMMENT;
}

bool fl_csv_rejected(FlCtx *ctx, const FlCsvFile *f, const FlCsvPlan *plan, const FlCsvRange *ranges,
                     int32_t n, FlRejected *out, FlIoError *e) {
  memset(out, 0, sizeof *out);
  for (int32_t k = 0; k < n; k++) out->n += ranges[k].n_rejects;
  out->line = fl_array_new(ctx, FL_I64, 1, &out->n);
  FlArray **texts[] = {&out->column, &out->reason, &out->text};
  FlHeap *heap = fl_heap_new(ctx);
  bool ok = out->line && heap;
  for (int k = 0; k < 3; k++) {
    *texts[k] = fl_array_new(ctx, FL_TEXT, 1, &out->n);
    ok = ok && *texts[k] && fl_array_keep(ctx, *texts[k], heap, NULL, 0) == 0;
  }
  int64_t row = 0, line = 1, seen = 0;
  for (int32_t k = 0; ok && k < n; k++) {
    for (int64_t i = 0; i < ranges[k].n_rejects; i++, row++) {
      const FlCsvReject *r = &ranges[k].rejects[i];
      for (const char *s; (s = memchr(f->text + seen, '\n', (size_t)(r->at - seen)));) {
        seen = s - f->text + 1;
        line++;
      }
      const char *name = is_ragged(r) ? "" : f->names[r->column];
      ((int64_t *)out->line->data)[row] = line;
      ((FlText *)out->column->data)[row] = keep(heap, name, (int64_t)strlen(name));
      ((FlText *)out->reason->data)[row] = reason(heap, f, plan, r);
      ((FlText *)out->text->data)[row] = keep_valid(heap, f->text + r->at, r->len);
    }
  }
  fl_heap_unref(heap);
  if (ok) return true;
  fl_rejected_reset(out);
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
}
