/* json_scan.c: what is a JSON object and what is none, cut off anywhere too, and which numbers are whole. The
 * cases and what is expected come from Python: tests/unit/json/make_cases.py. */
#include "check.h"
#include "io/json_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct Text {
  const char *at;
  int64_t len;
  bool good;
} Text;
typedef struct Number {
  const char *text;
  bool whole, negative;
  uint64_t magnitude;
} Number;
#include "json/cases.inc"

/* Scans a copy without a byte behind it, so that a sanitizer sees what is read there. */
static bool is_object(const char *text, int64_t len) {
  char *copy = malloc((size_t)len + !len), *room = malloc((size_t)len + 1);
  FlJsonScan s;
  FlJsonValue key, v;
  memcpy(copy, text, (size_t)len);
  bool ok = fl_json_open(&s, copy, len);
  while (ok && fl_json_next(&s, &key, &v)) {
    check(fl_json_unescape(key, room) <= key.len, "a key is no longer than it is written");
    if (v.kind == FL_JSON_TEXT) {
      int64_t n = fl_json_unescape(v, room);
      check(n <= v.len && fl_utf8_check(room, n) == n, "a text is UTF-8");
    }
    if (v.kind == FL_JSON_NESTED) check(fl_json_compact(v, room) <= v.len, "blanks are left out");
  }
  ok = ok && !s.bad;
  check(ok || (s.why && s.bad >= copy && s.bad <= copy + len), "it says where and why");
  free(copy);
  free(room);
  return ok;
}

static void objects(void) {
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    check(is_object(texts[k].at, texts[k].len) == texts[k].good, "%s", texts[k].at);
    for (int64_t n = 0; texts[k].good && n < texts[k].len; n++)
      if (is_object(texts[k].at, n))
        check(strspn(texts[k].at + n, " \n") == (size_t)(texts[k].len - n), "cut off");
  }
}

static void depth(void) {
  enum { DEEP = 100000 };
  char *text = malloc(2 * DEEP + 6);
  memcpy(text, "{\"a\":", 5);
  memset(text + 5, '[', DEEP);
  memset(text + 5 + DEEP, ']', DEEP);
  text[5 + 2 * DEEP] = '}';
  check(!is_object(text, 2 * DEEP + 6), "too deep is said");
  free(text);
}

static void whole(void) {
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    const Number *n = &numbers[k];
    bool negative;
    uint64_t m;
    bool ok = fl_json_whole(
        (FlJsonValue){.kind = FL_JSON_NUMBER, .at = n->text, .len = (int64_t)strlen(n->text)}, &negative, &m);
    check(ok == n->whole && (!ok || (m == n->magnitude && negative == n->negative)), "%s", n->text);
  }
}

int main(void) {
  objects();
  depth();
  whole();
  return finish();
}
