/* sink.c: collects what is wrong, and knows the table of messages.
 *
 * In: reports from every phase, in any order. Out: FlDiag in the sink's arena. Two errors of one code at one
 * span are one; past the limit errors are counted and not kept. */
#include "diag/diag.h"

#include "data/name_text.h"

#include <stdarg.h>
#include <string.h>

typedef struct Row {
  const char *name, *title;
  FlSeverity severity;
} Row;

enum { SEVERITY_ERROR = FL_ERROR, SEVERITY_WARNING = FL_WARNING };

static const Row rows[FL_N_DIAGS] = {
#define FL_DIAG(code, severity, title) [FL_##code] = {#code, title, (FlSeverity)SEVERITY_##severity},
#include "diag/diag.def"
#undef FL_DIAG
};

static const char *format_text(FlArena *a, const char *fmt, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  size_t size = n < 0 ? 1 : (size_t)n + 1;
  char *s = FL_NEW_ARRAY(a, char, size);
  if (n > 0) vsnprintf(s, size, fmt, again);
  va_end(again);
  return s;
}

static bool same_span(FlSpan a, FlSpan b) { return a.file == b.file && a.start == b.start && a.len == b.len; }

FlSink *fl_sink_make(FlArena *a, FlSources *s) {
  FlSink *sink = FL_NEW(a, FlSink);
  sink->arena = a;
  sink->sources = s;
  return sink;
}

FlDiag *fl_report(FlSink *sink, FlDiagCode code, FlSpan span, const char *fmt, ...) {
  FlDiag *d = FL_NEW(sink->arena, FlDiag);
  d->code = code;
  d->span = span;
  va_list args;
  va_start(args, fmt);
  d->message = format_text(sink->arena, fmt, args);
  va_end(args);
  if (rows[code].severity == FL_ERROR) sink->n_raised++;
  for (int i = 0; i < sink->diags.n; i++) {
    FlDiag *old = sink->diags.at[i];
    if (old->code == code && same_span(old->span, span)) return d; /* kept by nobody */
  }
  int limit = sink->limit ? sink->limit : 50;
  if (rows[code].severity == FL_ERROR) sink->n_errors++;
  if (sink->diags.n < limit) fl_vec_push(sink->arena, &sink->diags, d);
  return d;
}

void fl_diag_note(FlSink *sink, FlDiag *d, FlSpan span, const char *fmt, ...) {
  int room = (int)(sizeof d->notes / sizeof d->notes[0]);
  if (d->n_notes == room) return;
  va_list args;
  va_start(args, fmt);
  d->notes[d->n_notes].span = span;
  d->notes[d->n_notes++].text = format_text(sink->arena, fmt, args);
  va_end(args);
}

void fl_diag_help(FlSink *sink, FlDiag *d, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  d->help = format_text(sink->arena, fmt, args);
  va_end(args);
}

void fl_diag_meant(FlSink *sink, FlDiag *d, FlSpan at, const char *before, const char *name) {
  FlBytes written = fl_piece_bytes();
  fl_name_write(&written, name);
  fl_diag_help(sink, d, "did you mean `%s%s`?", before, name);
  d->edit.span = at;
  d->edit.text = fl_arena_strndup(sink->arena, written.at, written.len);
  fl_bytes_reset(&written);
}

void fl_diag_meant_text(FlSink *sink, FlDiag *d, FlSpan at, const char *text) {
  FlText1 written = {0};
  fl_text_addc(&written, '"');
  for (const char *c = text; *c; c++) {
    if (strchr("\"\\{", *c)) fl_text_addc(&written, '\\');
    if (*c == '\n') fl_text_addz(&written, "\\n");
    else fl_text_addc(&written, *c);
  }
  fl_text_addc(&written, '"');
  fl_diag_help(sink, d, "did you mean \"%s\"?", text);
  d->edit.span = at;
  d->edit.text = fl_arena_strndup(sink->arena, written.s, written.len);
  fl_text_reset(&written);
}

const char *fl_diag_name(FlDiagCode code) { return rows[code].name; }
const char *fl_diag_title(FlDiagCode code) { return rows[code].title; }
FlSeverity fl_diag_severity(FlDiagCode code) { return rows[code].severity; }

bool fl_diag_find(const char *name, FlDiagCode *out) {
  for (int i = 0; i < FL_N_DIAGS; i++) {
    const char *p = rows[i].name, *q = name;
    while (*p && (*p == *q || *p + ('a' - 'A') == *q)) p++, q++; /* e0312 is E0312 */
    if (*p || *q) continue;
    *out = (FlDiagCode)i;
    return true;
  }
  return false;
}
