/* error_print.c: shows a run-time error as the compiler shows its own:
 *
 *   trip.flow:4:12: error E0704: index 7 is out of bounds for a dimension of size 3
 *     4 | let y = second(x)
 *       |         ^^^^^^^^^
 *     calls:
 *       trip.flow:4: in second(..)
 *       linear.flow:12: return_second(x, 7)
 *     note: in stage `features`
 *     help: ...
 *
 * The place is the last one on the way that the user wrote; the calls are those around it, and those from
 * there to where it failed. In: an error with its sites. Out: text in a stream. */
#include "exec/exec_internal.h"
#include "base/width.h"

#include <stdio.h>
#include <string.h>

static void print_indented(FILE *to, const char *text) {
  for (; *text; text++) {
    fputc(*text, to);
    if (*text == '\n') fputs("    ", to);
  }
  fputc('\n', to);
}

static void print_excerpt(FILE *to, const FlSite *site, const char *bold, const char *red, const char *off) {
  enum { WINDOW = 100, LEAD = 40 };
  const char *s = site->line_text, *end = s + strcspn(s, "\n");
  int column = 1, from = site->column > WINDOW - LEAD / 2 ? site->column - LEAD : 1;
  int before = from > 1 ? 3 : 0, marks = 0; /* columns of the terminal */
  size_t size;
  for (; s < end && column < from; column++, s += size) (void)fl_width_next(s, (size_t)(end - s), &size);
  fprintf(to, "%s%5d |%s %s", bold, site->line, off, from > 1 ? "..." : "");
  for (; s < end && column < from + WINDOW; column++, s += size) {
    int wide = fl_width_next(s, (size_t)(end - s), &size);
    if (wide < 0) fputc(' ', to);
    else fwrite(s, 1, size, to);
    if (column < site->column) before += wide < 0 ? 1 : wide;
    else if (column < site->column + site->length) marks += wide < 0 ? 1 : wide;
  }
  fprintf(to, "\n%s      |%s %*s%s", bold, off, before, "", red);
  for (int i = 0; i < marks || i < 1; i++) fputc('^', to);
  fprintf(to, "%s\n", off);
}

/* The source of a place, as far as it stands on its first line. */
static void print_source(FILE *to, const FlSite *site) {
  enum { MOST = 60 };
  const char *s = site->line_text, *end = s + strcspn(s, "\n");
  int shown = 0;
  size_t size;
  for (int column = 1; s < end && column < site->column + site->length && shown < MOST; column++, s += size) {
    int wide = fl_width_next(s, (size_t)(end - s), &size);
    if (column < site->column) continue;
    if (wide < 0) fputc(' ', to);
    else fwrite(s, 1, size, to);
    shown += wide < 0 ? 1 : wide;
  }
  if (shown >= MOST) fputs("...", to);
}

/* One line a call, the outermost first; then where it failed, unless that is what was shown already. */
static void print_calls(FILE *to, const FlErrorWay *way, const char *note, const char *off) {
  if (way->n < 2) return;
  fprintf(to, "  %scalls:%s\n", note, off);
  for (int i = 0; i < way->n; i++) {
    const FlSite *s = way->at[i];
    bool failed = i == way->n - 1;
    if (i == way->cut && way->more)
      fprintf(to, "    ... %lld more call%s\n", (long long)way->more, way->more == 1 ? "" : "s");
    if (failed && way->shown == i) break;
    fprintf(to, "    %s:%d: ", s->file, s->line);
    if (failed) print_source(to, s);
    else if (s->callee && *s->callee) fprintf(to, "in %s(..)", s->callee);
    else fputs("in a lambda", to);
    fputc('\n', to);
  }
}

void fl_error_print(FILE *to, const FlProgram *program, const FlError *e, bool color) {
  const char *bold = color ? "\033[1m" : "", *red = color ? "\033[1;31m" : "",
             *note = color ? "\033[36m" : "";
  const char *help = color ? "\033[32m" : "", *off = color ? "\033[0m" : "";
  FlErrorWay way = fl_error_way(program, e);
  const FlSite *site = way.n ? way.at[way.shown] : NULL;
  if (site) fprintf(to, "%s%s:%d:%d: %s", bold, site->file, site->line, site->column, off);
  if (e->number) fprintf(to, "%serror E%04d:%s ", red, e->number, off);
  else fprintf(to, "%serror:%s ", red, off);
  print_indented(to, e->message);
  if (site && site->line_text) print_excerpt(to, site, bold, red, off);
  print_calls(to, &way, note, off);
  for (int i = 0; i < e->n_notes; i++) {
    fprintf(to, "  %snote:%s ", note, off);
    print_indented(to, e->notes[i]);
  }
  if (e->help) {
    fprintf(to, "  %shelp:%s ", help, off);
    print_indented(to, e->help);
  }
}
