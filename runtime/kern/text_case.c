/* text_case.c: upper, lower and title case by Unicode's full mappings (Unicode Standard 3.13; SpecialCasing
 * but for what depends on a language).
 *
 * In: UTF-8. Out: the text itself where nothing changes, else bytes in the given heap, which may be more or
 * fewer. */
#include "kern/kern.h"

#include "kern/case_table.h"
#include "kern/text_points.h"

#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* ---- the tables --------------------------------------------------------------------------------------- */

/* What a point becomes by a table of one for one; false: it is not there. */
static bool one_of(const FlCaseRange *t, int n, uint32_t c, uint32_t *to) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (t[middle].last < c) low = middle + 1;
    else high = middle;
  }
  if (low == n || c < t[low].first || (c - t[low].first) % t[low].step) return false;
  *to = (uint32_t)((int64_t)c + t[low].delta);
  return true;
}

static const uint32_t *several_of(const FlCaseSeveral *t, int n, uint32_t c) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (t[middle].point < c) low = middle + 1;
    else high = middle;
  }
  return low < n && t[low].point == c ? t[low].to : NULL;
}

static bool is_in(const FlCaseSpan *t, int n, uint32_t c) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (t[middle].last < c) low = middle + 1;
    else high = middle;
  }
  return low < n && c >= t[low].first;
}

static bool is_ignorable(uint32_t c) { return is_in(fl_case_ignorable, COUNT(fl_case_ignorable), c); }
static bool is_cased(uint32_t c) {
  return c < 0x80 ? (c | 0x20) - 'a' < 26u : is_in(fl_case_cased, COUNT(fl_case_cased), c);
}

/* Scripts of East Asia, without case: no point between these changes (make_case_table.py checks it). */
enum { FIRST_PLAIN = 0x3000, LAST_PLAIN = 0xa640 };

typedef enum Case { UPPER, LOWER, TITLE } Case;

/* The one to three points that c becomes; how many. */
static int change(uint32_t c, Case to, uint32_t out[3]) {
  out[0] = c;
  if (c < 0x80) {
    if (c - (to == LOWER ? 'A' : 'a') < 26u) out[0] = c ^ 0x20;
    return 1;
  }
  if (c - FIRST_PLAIN < LAST_PLAIN - FIRST_PLAIN) return 1;
  const uint32_t *several =
      to == UPPER   ? several_of(fl_case_to_upper_several, COUNT(fl_case_to_upper_several), c)
      : to == LOWER ? several_of(fl_case_to_lower_several, COUNT(fl_case_to_lower_several), c)
                    : several_of(fl_case_to_title_several, COUNT(fl_case_to_title_several), c);
  if (several) {
    int n = 0;
    for (; n < 3 && several[n]; n++) out[n] = several[n];
    return n;
  }
  if (to == LOWER) (void)one_of(fl_case_to_lower, COUNT(fl_case_to_lower), c, out);
  else if (to == UPPER || !one_of(fl_case_to_title, COUNT(fl_case_to_title), c, out))
    (void)one_of(fl_case_to_upper, COUNT(fl_case_to_upper), c, out);
  return 1;
}

/* ---- sigma at the end of a word ------------------------------------------------------------------------ */

enum { SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2 };

/* Whether the first point that is not ignorable is cased, going forth from `at` or back from before it. */
static bool meets_cased(const char *s, int64_t n, int64_t at, bool back) {
  uint32_t c;
  while (back ? at > 0 : at < n) {
    if (back) do
        at--;
      while (at > 0 && !fl_text_is_lead(s[at]));
    int size = fl_text_point(s + at, n - at, &c);
    if (!back) at += size;
    if (!is_ignorable(c)) return is_cased(c);
  }
  return false;
}

/* ---- texts -------------------------------------------------------------------------------------------- */

/* s in another case, in title case the first point of each word; into `out` unless it is NULL, as far as
 * there is room: a text of a mapped file may have changed since it was measured. Its length. */
static int64_t map_text(const char *s, int64_t n, Case to, char *out, int64_t room) {
  int64_t len = 0;
  bool first = true;
  for (int64_t i = 0; i < n;) {
    char some[4];
    uint32_t c, points[3];
    if (to != TITLE && (unsigned char)s[i] < 0x80) {
      char letter = (char)(s[i] ^ ((unsigned char)(s[i] - (to == LOWER ? 'A' : 'a')) < 26 ? 0x20 : 0));
      if (out && len == room) return len;
      if (out) out[len] = letter;
      len++;
      i++;
      continue;
    }
    int64_t here = i;
    i += fl_text_point(s + i, n - i, &c);
    Case now = to != TITLE ? to : first ? TITLE : LOWER;
    int k = change(c, now, points);
    if (c == SIGMA && now == LOWER && meets_cased(s, n, here, true) && !meets_cased(s, n, i, false))
      points[0] = FINAL_SIGMA;
    for (int p = 0; p < k; p++) {
      int size = fl_text_put_point(some, points[p]);
      if (out && size > room - len) return len;
      if (out) memcpy(out + len, some, (size_t)size);
      len += size;
    }
    first = fl_text_is_space(c);
  }
  return len;
}

/* Bytes at the beginning that are ASCII and stay as they are. */
static int64_t same_start(const char *s, int64_t n, char first) {
  int64_t k = 0;
  while (k < n && (unsigned char)s[k] < 0x80 && (unsigned char)(s[k] - first) >= 26) k++;
  return k;
}

static bool is_ascii(const char *s, int64_t n) {
  unsigned char all = 0;
  for (int64_t k = 0; k < n; k++) all |= (unsigned char)s[k];
  return all < 0x80;
}

static FlText map_case(FlHeap *heap, const char *s, int64_t n, Case to) {
  char first = to == UPPER ? 'a' : 'A';
  if (same_start(s, n, first) == n) return (FlText){s, n};
  if (is_ascii(s, n)) {
    char *out = fl_heap_alloc(heap, n);
    if (out == NULL) return (FlText){NULL, 0}; /* the run is stopped */
    for (int64_t k = 0; k < n; k++) {
      bool changes = (unsigned char)(s[k] - first) < 26;
      out[k] = (char)(s[k] ^ (changes ? 0x20 : 0));
    }
    return (FlText){out, n};
  }
  int64_t len = map_text(s, n, to, NULL, 0);
  char *out = fl_heap_alloc(heap, len);
  if (out == NULL) return (FlText){NULL, 0}; /* the run is stopped */
  return (FlText){out, map_text(s, n, to, out, len)};
}

FlText fl_s_lower(FlHeap *heap, const char *s, int64_t n) { return map_case(heap, s, n, LOWER); }
FlText fl_s_upper(FlHeap *heap, const char *s, int64_t n) { return map_case(heap, s, n, UPPER); }
FlText fl_s_title(FlHeap *heap, const char *s, int64_t n) {
  if (n == 0) return (FlText){s, n};
  int64_t len = map_text(s, n, TITLE, NULL, 0);
  char *out = fl_heap_alloc(heap, len);
  if (out == NULL) return (FlText){NULL, 0}; /* the run is stopped */
  return (FlText){out, map_text(s, n, TITLE, out, len)};
}
