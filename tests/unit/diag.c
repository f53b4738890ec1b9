/* Unit test of diag/: positions, rendering, windows of long lines, duplicates, limits, pages. */
#include "check.h"
#include "diag/diag.h"

#include <stdlib.h>

static void check_text(FlSink *sink, const char *expected, const char *what) {
  FlText1 out = {0};
  fl_sink_print(sink, &out, false);
  bool ok = out.s ? !strcmp(out.s, expected) : !*expected;
  check(ok, "%s", what);
  if (!ok) printf("--- expected\n%s--- got\n%s---\n", expected, out.s ? out.s : "");
  fl_text_reset(&out);
}

static void test_positions(FlArena *a) {
  FlSources *s = fl_sources_make(a);
  FlSource *f = fl_sources_add(s, "a.flow", "ab\n\xC3\xA9x\n", 7);
  int line, column;
  fl_source_position(f, 0, &line, &column);
  check(line == 1 && column == 1, "first byte");
  fl_source_position(f, 5, &line, &column);
  check(line == 2 && column == 2, "columns count code points");
  fl_source_position(f, 99, &line, &column);
  check(line == 3 && column == 1, "past the end is the end");
  check(f->n_lines == 3 && f->id == 1 && fl_sources_get(s, 1) == f && !fl_sources_get(s, 2), "ids");
  FlSpan j = fl_span_join((FlSpan){1, 4, 2, 0}, (FlSpan){1, 1, 1, 0});
  check(j.start == 1 && j.len == 5, "joined span");
}

static void test_rendering(FlArena *a) {
  FlSources *s = fl_sources_make(a);
  const char *text = "let a = 1\nlet b\t= a / 0\n";
  fl_sources_add(s, "a.flow", text, strlen(text));
  FlSink *sink = fl_sink_make(a, s);
  FlDiag *d = fl_report(sink, FL_E0702, (FlSpan){1, 18, 5, 0}, "division of %s by zero", "a");
  fl_diag_note(sink, d, (FlSpan){1, 4, 1, 0}, "`a` comes from here");
  fl_diag_help(sink, d, "divide by something else");
  fl_report(sink, FL_E0702, (FlSpan){1, 18, 5, 0}, "the same again");
  fl_report(sink, FL_E0001, (FlSpan){1, 0, 3, 0}, "first in the text");
  fl_report(sink, FL_E0712, (FlSpan){0, 0, 0, 0}, "without a place");
  check(sink->n_errors == 3, "a repeated error counts once");
  check_text(sink,
             "a.flow:1:1: error E0001: first in the text\n"
             "    1 | let a = 1\n"
             "      | ^^^\n"
             "a.flow:2:9: error E0702: division of a by zero\n"
             "    2 | let b = a / 0\n"
             "      |         ^^^^^\n"
             "  note: `a` comes from here (a.flow:1:5)\n"
             "    1 | let a = 1\n"
             "      |     ^\n"
             "  help: divide by something else\n"
             "error E0712: without a place\n",
             "rendering");
}

static void test_long_line(FlArena *a) {
  FlSources *s = fl_sources_make(a);
  size_t n = 1000000;
  char *text = malloc(n);
  memset(text, 'a', n);
  text[500000] = '!';
  fl_sources_add(s, "long.flow", text, n);
  FlSink *sink = fl_sink_make(a, s);
  fl_report(sink, FL_E0701, (FlSpan){1, 500000, 1, 0}, "here");
  FlText1 out = {0};
  fl_sink_print(sink, &out, false);
  check(out.len < 400 && strstr(out.s, "long.flow:1:500001:") && strstr(out.s, "a!a"), "a long line is cut");
  fl_text_reset(&out);
  free(text);
}

static void test_limit(FlArena *a) {
  FlSources *s = fl_sources_make(a);
  fl_sources_add(s, "a.flow", "x", 1);
  FlSink *sink = fl_sink_make(a, s);
  sink->limit = 1;
  for (uint32_t i = 0; i < 3; i++) fl_report(sink, FL_E0701, (FlSpan){1, 0, i, 0}, "wrong");
  check_text(sink, "a.flow:1:1: error E0701: wrong\n    1 | x\n      | ^\nand 2 more errors\n", "the limit");
}

int main(void) {
  FlArena *a = fl_arena_new();
  test_positions(a);
  test_rendering(a);
  test_long_line(a);
  test_limit(a);
  FlDiagCode code;
  check(fl_diag_find("e0001", &code) && code == FL_E0001 && fl_diag_page(code),
        "a code is found, with its page");
  check(!fl_diag_find("E9999", &code) && !fl_diag_find("E00", &code), "an unknown code is not");
  fl_arena_free(a);
  return finish();
}
