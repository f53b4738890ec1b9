/* width.c: columns of a terminal that texts take. */
#include "check.h"
#include "base/width.h"

#include <string.h>

static void takes(const char *text, int want) {
  int got = fl_width_text(text, strlen(text));
  check(got == want, "`%s` takes %d columns, not %d", text, want, got);
}

static void fits(const char *text, int columns, const char *want) {
  size_t got = fl_width_fit(text, strlen(text), columns);
  check(got == strlen(want) && memcmp(text, want, got) == 0, "of `%s` `%s` fits in %d columns, not `%.*s`",
        text, want, columns, (int)got, text);
}

static void test_text(void) {
  takes("", 0);
  takes("abc", 3);
  takes("Zürich", 6);
  takes("日本語", 6);
  takes("한국어", 6);
  takes("\u1112\u1161\u11ab", 2); /* a syllable in its parts */
  takes("ｱｲｳ", 3);
  takes("ＡＢ", 4);
  takes("e\u0301", 1);
  takes("🙂", 2);
  takes("a\u200bb\u200d", 2);
  takes("\u00ad", 1);
  takes("\U0003fffd\U0003fffe", 3); /* the last one that is wide, and behind it */
  takes("\u0600\u0301", 1);
  takes("\U000e0100\U0010fffd", 1); /* the last one without a column, and behind all */
  takes("a\tb\n\x7f", 5);
  takes("\xc2\x85", 1);
}

/* What is no UTF-8 counts one a byte, also at the end. */
static void test_damaged(void) {
  takes("\xff\xfe", 2);
  takes("\xe6\x97", 2);
  takes("\xe6\x97z", 3);
  takes("\xc0\x80", 2);
  size_t size;
  check(fl_width_next("\xe6\x97\xa5", 2, &size) == -1 && size == 1, "bytes behind the end are not read");
  check(fl_width_next("\x1b", 1, &size) == -1 && size == 1, "a control character");
  check(fl_width_next("\xc2\x9b", 2, &size) == -1 && size == 2, "a control character of two bytes");
}

static void test_fit(void) {
  fits("abc", 5, "abc");
  fits("abc", 2, "ab");
  fits("abc", 0, "");
  fits("日本語", 5, "日本");
  fits("日本語", 1, "");
  fits("e\u0301e\u0301", 1, "e\u0301");
}

int main(void) {
  test_text();
  test_damaged();
  test_fit();
  return finish();
}
