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

enum { EIGHT = 8 };
static const uint64_t EACH = UINT64_C(0x0101010101010101), HIGH = UINT64_C(0x8080808080808080);

/* Eight bytes of ASCII in upper or lower case: of a letter of the other one 0x20 is turned over. */
static inline uint64_t map_eight(uint64_t bytes, Case to) {
  uint64_t first = to == LOWER ? 'A' : 'a', behind = first + 26;
  uint64_t letter = (bytes + EACH * (0x80 - first)) & ~(bytes + EACH * (0x80 - behind)) & HIGH;
  return bytes ^ letter >> 2;
}

/* The point at s[*i], which it passes, in another case: how many points it becomes. first: a word begins. */
static int map_point(const char *s, int64_t n, int64_t *i, Case to, bool *first, uint32_t points[3]) {
  int64_t here = *i;
  uint32_t c;
  *i += fl_text_point(s + here, n - here, &c);
  Case now = to != TITLE ? to : *first ? TITLE : LOWER;
  int k = change(c, now, points);
  if (c == SIGMA && now == LOWER && meets_cased(s, n, here, true) && !meets_cased(s, n, *i, false))
    points[0] = FINAL_SIGMA;
  *first = fl_text_is_space(c);
  return k;
}

/* s in another case, in title case the first point of each word: how many bytes that is. What has room goes
 * into `out`: a text of a mapped file may have changed since it was measured. */
static int64_t map_text(const char *s, int64_t n, Case to, char *out, int64_t room) {
  int64_t len = 0;
  bool first = true;
  for (int64_t i = 0; i < n;) {
    uint64_t bytes = HIGH;
    if (to != TITLE && n - i >= EIGHT && room - len >= EIGHT) memcpy(&bytes, s + i, EIGHT);
    if ((bytes & HIGH) == 0) {
      bytes = map_eight(bytes, to);
      memcpy(out + len, &bytes, EIGHT);
      len += EIGHT;
      i += EIGHT;
      continue;
    }
    if (to != TITLE && (unsigned char)s[i] < 0x80) {
      char letter = (char)(s[i] ^ ((unsigned char)(s[i] - (to == LOWER ? 'A' : 'a')) < 26 ? 0x20 : 0));
      if (len < room) out[len] = letter;
      len++;
      i++;
      continue;
    }
    uint32_t points[3];
    int k = map_point(s, n, &i, to, &first, points);
    for (int p = 0; p < k; p++) {
      char some[4];
      int size = fl_text_put_point(some, points[p]);
      if (size <= room - len) memcpy(out + len, some, (size_t)size);
      else if (room > len) room = len; /* nothing stands behind what had no room */
      len += size;
    }
  }
  return len;
}

/* The text in another case in the heap. Most texts take as many bytes as before. */
static FlText mapped(FlHeap *heap, const char *s, int64_t n, Case to) {
  for (int64_t room = n;;) {
    char *out = fl_heap_alloc(heap, room);
    if (out == NULL) return (FlText){NULL, 0}; /* the run is stopped */
    int64_t len = map_text(s, n, to, out, room);
    if (len <= room) return (FlText){out, len};
    room = len;
  }
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
  return mapped(heap, s, n, to);
}

FlText fl_s_lower(FlHeap *heap, const char *s, int64_t n) { return map_case(heap, s, n, LOWER); }
FlText fl_s_upper(FlHeap *heap, const char *s, int64_t n) { return map_case(heap, s, n, UPPER); }
FlText fl_s_title(FlHeap *heap, const char *s, int64_t n) {
  return n == 0 ? (FlText){s, n} : mapped(heap, s, n, TITLE);
}
