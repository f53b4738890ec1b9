/* regex.c: regular expressions: matches beside each other on several threads, many patterns, limits, texts
 * that are not UTF-8, replacements. */
#include "check.h"
#include "io/io.h"
#include "kern/kern.h"
#include "kern/regex.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define S(literal) (literal), (int64_t)sizeof(literal) - 1

static bool is(FlText t, const char *s) {
  return t.len == (int64_t)strlen(s) && (t.len == 0 || memcmp(t.ptr, s, (size_t)t.len) == 0);
}

static void matching(void) {
  int32_t fault = 0;
  uint8_t valid;
  CHECK(fl_s_matches(S("a\xc3\xa4"), S("^..$"), &fault) && !fl_s_matches(S("ab"), S("^.$"), &fault));
  CHECK(fl_s_matches(NULL, 0, S("^$"), &fault) && fl_s_count_matches(NULL, 0, S("x*"), &fault) == 1);
  CHECK(fl_s_count_matches(S("\xc3\xa4\xc3\xb6"), S(""), &fault) == 3); /* between code points */
  CHECK(is(fl_s_extract(S("k=v"), S("(\\w)=(\\w)"), 2, &valid, &fault), "v") && valid);
  CHECK(is(fl_s_extract(S("k=v"), S("\\w"), FL_REGEX_FIRST, &valid, &fault), "k") && valid);
  fl_s_extract(S("b"), S("(a)?b"), 1, &valid, &fault);
  CHECK(!valid && fault == 0);
  fl_s_extract(S("b"), S("(a)?b"), 2, &valid, &fault);
  CHECK(fault == FL_FAULT_DOMAIN);
}

static void faults(void) {
  int32_t fault = 0;
  CHECK(!fl_s_matches(S("a"), S("("), &fault) && fault == FL_FAULT_PATTERN);
  char text[64];
  memset(text, 'a', sizeof text);
  text[sizeof text - 1] = '!';
  fault = 0;
  CHECK(!fl_s_matches(text, sizeof text, S("^(a+)+$"), &fault) && fault == FL_FAULT_LIMIT);
  /* With that fault set nothing is searched any more. */
  CHECK(!fl_s_matches(S("a"), S("a"), &fault) && fault == FL_FAULT_LIMIT);
  fault = 0;
  CHECK(fl_s_matches(S("a"), S("a"), &fault) && fault == 0);
}

static void not_utf8(void) {
  char text[1000];
  int32_t fault = 0;
  memset(text, 0x80, sizeof text); /* of any length: no match, no harm */
  for (int64_t n = 1; n < (int64_t)sizeof text; n += 37) CHECK(!fl_s_matches(text, n, S("x|\\w+$"), &fault));
  CHECK(fault == 0);
}

/* All runs of four of the bytes at which ranges begin and end, behind some plain ones, as the readers' check
 * has them. */
static void utf8(void) {
  static const unsigned char at[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                     0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
                                     0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
  enum { N = sizeof at, BEHIND = 7 };
  char text[BEHIND + 4 + 9];
  long wrong = 0, good = 0;
  memset(text, 'x', sizeof text);
  for (int k = 0; k < N * N * N * N; k++) {
    for (int j = 0, rest = k; j < 4; j++, rest /= N) text[BEHIND + j] = (char)at[rest % N];
    for (int64_t n = BEHIND + 1; n <= (int64_t)sizeof text; n += n < BEHIND + 4 ? 1 : 9) {
      bool is = fl_utf8_check(text, n) == n;
      wrong += fl_kern_is_utf8(text, n) != is;
      good += is;
    }
  }
  CHECK(wrong == 0 && good > 10000 && fl_kern_is_utf8("", 0) && fl_kern_is_utf8(NULL, 0));
}

static void checking(void) {
  FlRegexError e;
  CHECK(fl_regex_check(S("a(b)"), &e) && fl_regex_groups(S("a(b)(?:c)")) == 1);
  CHECK(!fl_regex_check(S("ab*+?"), &e) && e.at > 0 && e.why[0] != 0);
  CHECK(fl_regex_group_named(S("(?<year>a)"), "year") == 1 && fl_regex_group_named(S("(a)"), "year") == -1);
  CHECK(fl_regex_check_replacement(S("(a)"), S("$$ $0 $1 ${1}"), &e));
  CHECK(!fl_regex_check_replacement(S("(a)"), S("ok $2"), &e) && e.at == 3);
  CHECK(!fl_regex_check_replacement(S("(a)"), S("5 $"), &e) && e.at == 2);
  CHECK(!fl_regex_check_replacement(S("(a)"), S("${1"), &e) && e.at == 0);
}

/* More patterns than a thread keeps, each used again and again. */
static void *many(void *arg) {
  long wrong = 0;
  int32_t fault = 0;
  for (int round = 0; round < 200; round++)
    for (int k = 0; k < 40; k++) {
      char pattern[32], text[32];
      int n = snprintf(pattern, sizeof pattern, "^x%d(\\d)$", k);
      int m = snprintf(text, sizeof text, "x%d%d", k, round % 10);
      uint8_t valid;
      FlText found = fl_s_extract(text, m, pattern, n, 1, &valid, &fault);
      wrong += !valid || found.len != 1 || found.ptr[0] != '0' + round % 10;
    }
  *(long *)arg = wrong + fault;
  return NULL;
}

static void threads(void) {
  pthread_t thread[4];
  long wrong[4];
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, many, &wrong[i]);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < 4; i++) CHECK(wrong[i] == 0);
}

int main(void) {
  matching();
  faults();
  not_utf8();
  utf8();
  checking();
  threads();
  return finish();
}
