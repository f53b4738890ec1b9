/* text_case.c: upper, lower and title case of every character, and of words in which what is around decides.
 * What is expected comes from Python: tests/unit/text/make_cases.py. */
#include "check.h"
#include "data/data.h"
#include "exec/exec.h"
#include "io/io_internal.h"
#include "kern/kern.h"

#include <string.h>

typedef struct Case {
  const char *text, *upper, *lower, *title;
} Case;
#include "text/cases.inc"

static bool same(FlText t, const char *want) {
  return t.len == (int64_t)strlen(want) && (!t.len || memcmp(t.ptr, want, (size_t)t.len) == 0);
}

static void expect(FlHeap *heap, const Case *c, bool titles) {
  int64_t n = (int64_t)strlen(c->text);
  check(same(fl_s_upper(heap, c->text, n), c->upper), "upper %s", c->text);
  check(same(fl_s_lower(heap, c->text, n), c->lower), "lower %s", c->text);
  if (titles) check(same(fl_s_title(heap, c->text, n), c->title), "title %s", c->text);
}

int main(void) {
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
  FlHeap *heap = fl_heap_new(fl_run_ctx(run));
  size_t next = 0;
  for (uint32_t c = 1; c < 0x110000; c++) {
    char text[8] = "";
    if (c >= 0xd800 && c < 0xe000) continue;
    *fl_utf8_put(text, c) = '\0';
    if (next < sizeof points / sizeof *points && strcmp(points[next].text, text) == 0)
      expect(heap, &points[next++], true);
    else expect(heap, &(Case){text, text, text, text}, true);
  }
  check(next == sizeof points / sizeof *points, "every character was met");
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) expect(heap, &words[k], true);
  for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) expect(heap, &marks[k], false);
  fl_heap_unref(heap);
  fl_run_free(run);
  return finish();
}
