/* render.c: shows what the sink collected.
 *
 * In: a sink. Out: text, in source order (messages without a place last):
 *
 *   trip.flow:4:12: error E0201: no column `dep_dealy` in `flights`
 *     4 |   |> where(dep_dealy > 500)
 *       |            ^^^^^^^^^
 *     note: `flights` comes from here (trip.flow:1:5)
 *     1 | let flights = read_csv("flights.csv")
 *       |     ^^^^^^^
 *     help: did you mean `dep_delay`?
 *
 * What the message's edit writes is shown behind its help, where that does not quote it, as the lines that it
 * makes:
 *
 *     help: a filter of rows is `where`
 *     4 +   |> where(delay > 500)
 *
 * Never shows raw control bytes; a long line is cut to a window around the place. */
#include "diag/diag.h"
#include "base/width.h"

#include <stdlib.h>

enum {
  WINDOW = 100,  /* columns of source shown of a long line */
  LEAD = 40,     /* those before the place */
  MOST_LINES = 8 /* shown of what an edit writes */
};

typedef struct Paint {
  const char *error, *warning, *note, *help, *bold, *off;
} Paint;

static const Paint plain = {"", "", "", "", "", ""};
static const Paint colored = {"\033[1;31m", "\033[1;33m", "\033[36m", "\033[32m", "\033[1m", "\033[0m"};

/* Adds the code point at s as it can be shown; returns its columns. */
static int add_point(FlText1 *out, const char *s, size_t n, size_t *size) {
  int columns = fl_width_next(s, n, size);
  if (columns >= 0) fl_text_add(out, s, *size);
  else fl_text_addz(out, *s == '\t' ? " " : "\xEF\xBF\xBD");
  return columns < 0 ? 1 : columns;
}

/* The start of what is shown of a line: its start, or some columns before the place on a long line. */
static uint32_t window_start(const FlSource *f, uint32_t line_start, uint32_t line_end, uint32_t place) {
  if (line_end - line_start <= WINDOW || place - line_start <= WINDOW - LEAD / 2) return line_start;
  uint32_t at = place;
  for (int n = 0; n < LEAD && at > line_start; n++) do
      at--;
    while (at > line_start && ((unsigned char)f->text[at] & 0xC0) == 0x80);
  return at;
}

static void add_excerpt(FlText1 *out, const FlSource *f, FlSpan span, const char *mark_color,
                        const Paint *paint) {
  int line, column;
  uint32_t place = span.start < f->len ? span.start : f->len;
  fl_source_position(f, place, &line, &column);
  uint32_t start, end;
  fl_source_line(f, line, &start, &end);
  uint32_t from = window_start(f, start, end, place);
  FlText1 marks = {0};
  fl_text_addf(out, "%s%5d |%s ", paint->bold, line, paint->off);
  if (from > start) fl_text_addz(out, "..."), fl_text_addz(&marks, "   ");
  uint32_t at = from, stop = span.start + span.len;
  int shown = 0;
  bool marked = false;
  while (at < end && shown < WINDOW) {
    size_t size;
    int wide = add_point(out, f->text + at, end - at, &size);
    for (int i = 0; i < wide && at < stop; i++) {
      fl_text_addc(&marks, at < place ? ' ' : '^');
      marked |= at >= place;
    }
    shown += wide;
    at += (uint32_t)size;
  }
  if (at < end) fl_text_addz(out, "...");
  if (!marked) fl_text_addc(&marks, '^');
  fl_text_addf(out, "\n%s      |%s %s%.*s%s\n", paint->bold, paint->off, mark_color, (int)marks.len, marks.s,
               paint->off);
  fl_text_reset(&marks);
}

/* Text of several lines, the later ones indented. */
static void add_lines(FlText1 *out, const char *text) {
  size_t left = strlen(text), size = 1;
  for (; left; text += size, left -= size) {
    size = 1;
    if (*text == '\n') fl_text_addz(out, "\n    ");
    else add_point(out, text, left, &size);
  }
}

static void add_indented(FlText1 *out, const char *text) {
  add_lines(out, text);
  fl_text_addc(out, '\n');
}

/* Does the message's help say all that its edit writes? What is only taken away it says. */
static bool edit_said(const FlDiag *d) {
  const char *text = d->edit.text + strspn(d->edit.text, " \n");
  size_t n = strlen(text);
  while (n && strchr(" \n", text[n - 1])) n--;
  for (const char *at = d->help; at && (at = strchr(at, text[0])) != NULL; at++)
    if (strncmp(at, text, n) == 0) return true;
  return n == 0;
}

/* The lines that an edit of `f` makes. */
static void add_edit(FlText1 *out, const FlSource *f, FlSpan span, const char *text, const Paint *paint) {
  FlText1 made = {0};
  uint32_t begin = span.start, end = span.start + span.len;
  while (begin > 0 && f->text[begin - 1] != '\n') begin--;
  while (end < f->len && f->text[end] != '\n') end++;
  fl_text_add(&made, f->text + begin, span.start - begin);
  fl_text_addz(&made, text);
  fl_text_add(&made, f->text + span.start + span.len, end - span.start - span.len);
  int line = fl_source_line_at(f, begin), shown = 0;
  for (const char *at = made.s, *stop = made.s + made.len; at < stop && shown < MOST_LINES; shown++) {
    const char *to = memchr(at, '\n', (size_t)(stop - at));
    size_t size = 1;
    int columns = 0;
    fl_text_addf(out, "%s%5d +%s %s", paint->bold, line + shown, paint->off, paint->help);
    for (to = to ? to : stop; at < to && columns < 2 * WINDOW; at += size)
      columns += add_point(out, at, (size_t)(to - at), &size);
    fl_text_addf(out, "%s%s\n", at < to ? "..." : "", paint->off);
    at = to + 1;
    if (shown + 1 == MOST_LINES && at < stop) fl_text_addf(out, "%s      +%s ...\n", paint->bold, paint->off);
  }
  fl_text_reset(&made);
}

static void add_diag(FlText1 *out, const FlSink *sink, const FlDiag *d, const Paint *paint) {
  const FlSource *f = fl_sources_get(sink->sources, d->span.file);
  bool warning = fl_diag_severity(d->code) == FL_WARNING;
  const char *color = warning ? paint->warning : paint->error;
  int line, column;
  fl_text_addz(out, paint->bold);
  if (f) {
    fl_source_position(f, d->span.start, &line, &column);
    fl_text_addf(out, "%s:%d:%d: ", f->path, line, column);
  }
  fl_text_addf(out, "%s%s%s %s:%s ", paint->off, color, warning ? "warning" : "error", fl_diag_name(d->code),
               paint->off);
  add_indented(out, d->message);
  if (f) add_excerpt(out, f, d->span, color, paint);
  for (int i = 0; i < d->n_notes; i++) {
    const FlSource *g = fl_sources_get(sink->sources, d->notes[i].span.file);
    fl_text_addf(out, "  %snote:%s ", paint->note, paint->off);
    if (!g) {
      add_indented(out, d->notes[i].text);
      continue;
    }
    fl_source_position(g, d->notes[i].span.start, &line, &column);
    add_lines(out, d->notes[i].text);
    fl_text_addf(out, " (%s:%d:%d)\n", g->path, line, column);
    add_excerpt(out, g, d->notes[i].span, paint->note, paint);
  }
  const FlSource *edited = d->edit.text ? fl_sources_get(sink->sources, d->edit.span.file) : NULL;
  bool shown = edited && !edited->is_library && !edit_said(d);
  if (d->help || shown) {
    fl_text_addf(out, "  %shelp:%s ", paint->help, paint->off);
    add_indented(out, d->help ? d->help : "written so:");
  }
  if (shown) add_edit(out, edited, d->edit.span, d->edit.text, paint);
}

typedef struct Ranked {
  FlDiag *diag;
  int file, order;
} Ranked;

/* The script first, then what it imports, in the order in which that was read; messages without a place last.
 */
static int file_rank(const FlSources *s, uint16_t file) {
  if (!file) return UINT16_MAX + 1;
  return s->own && s->own->id == file ? 0 : file;
}

static int by_place(const void *pa, const void *pb) {
  const Ranked *ra = pa, *rb = pb;
  const FlSpan a = ra->diag->span, b = rb->diag->span;
  if (ra->file != rb->file) return ra->file < rb->file ? -1 : 1;
  if (a.start != b.start) return a.start < b.start ? -1 : 1;
  return ra->order - rb->order;
}

void fl_sink_sort(FlSink *sink) {
  int n = sink->diags.n;
  Ranked *ranked = FL_NEW_ARRAY(sink->arena, Ranked, n ? n : 1);
  for (int i = 0; i < n; i++) {
    FlDiag *d = sink->diags.at[i];
    ranked[i] = (Ranked){d, file_rank(sink->sources, d->span.file), i};
  }
  qsort(ranked, (size_t)n, sizeof *ranked, by_place);
  for (int i = 0; i < n; i++) sink->diags.at[i] = ranked[i].diag;
}

void fl_sink_print(FlSink *sink, FlText1 *out, bool color) {
  const Paint *paint = color ? &colored : &plain;
  int shown_errors = 0;
  fl_sink_sort(sink);
  for (int i = 0; i < sink->diags.n; i++) {
    add_diag(out, sink, sink->diags.at[i], paint);
    shown_errors += fl_diag_severity(sink->diags.at[i]->code) == FL_ERROR;
  }
  int more = sink->n_errors - shown_errors;
  if (more > 0) fl_text_addf(out, "and %d more error%s\n", more, more == 1 ? "" : "s");
}
