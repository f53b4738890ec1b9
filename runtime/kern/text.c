/* text.c: the operators on texts.
 *
 * What comes in: UTF-8, as every text of a program is (sources and readers check it). What goes out: views
 * into an argument where a piece of it is the answer, else bytes in the given heap. Positions count code
 * points. */
#include "kern/kern.h"

#include "data/number.h"
#include "kern/text_points.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ---- code points ------------------------------------------------------------------------------------- */

/* The byte offset of code point `index` (>= 0), or n when the text is shorter. */
static int64_t offset_of(const char *s, int64_t n, int64_t index) {
  int64_t at = 0;
  for (; at < n && index > 0; index--) {
    at++;
    while (at < n && !fl_text_is_lead(s[at])) at++;
  }
  return at;
}

/* The external definitions of what scalar_text.h has inline. */
extern inline uint8_t fl_s_eq_text(const char *a, int64_t an, const char *b, int64_t bn);
extern inline uint8_t fl_s_ne_text(const char *a, int64_t an, const char *b, int64_t bn);
extern inline uint8_t fl_s_starts_with(const char *s, int64_t n, const char *part, int64_t part_n);
extern inline uint8_t fl_s_ends_with(const char *s, int64_t n, const char *part, int64_t part_n);

/* ---- order ------------------------------------------------------------------------------------------- */

static int compare(const char *a, int64_t an, const char *b, int64_t bn) {
  int64_t n = an < bn ? an : bn;
  int c = n == 0 ? 0 : memcmp(a, b, (size_t)n);
  return c != 0 ? c : (an > bn) - (an < bn);
}
uint8_t fl_s_lt_text(const char *a, int64_t an, const char *b, int64_t bn) {
  return compare(a, an, b, bn) < 0;
}
uint8_t fl_s_le_text(const char *a, int64_t an, const char *b, int64_t bn) {
  return compare(a, an, b, bn) <= 0;
}
uint8_t fl_s_gt_text(const char *a, int64_t an, const char *b, int64_t bn) {
  return compare(a, an, b, bn) > 0;
}
uint8_t fl_s_ge_text(const char *a, int64_t an, const char *b, int64_t bn) {
  return compare(a, an, b, bn) >= 0;
}

/* ---- asking ------------------------------------------------------------------------------------------ */

/* Of 8 bytes those that go on with a character, as ones: their two highest bits are 10. */
static inline uint64_t continuing(uint64_t bytes) { return bytes >> 7 & ~(bytes >> 6) & 0x0101010101010101u; }
static inline int64_t sum_of_bytes(uint64_t counts) {
  return (int64_t)((counts * 0x0101010101010101u) >> 56);
} /* at most 255 */

int64_t fl_s_n_chars(const char *s, int64_t n) {
  enum { AT_ONCE = 31 * 8 }; /* bytes whose sum is at most 255 */
  int64_t continued = 0, i = 0;
  uint64_t bytes;
  while (i + 8 <= n) {
    int64_t end = n - i < AT_ONCE ? n - 7 : i + AT_ONCE;
    uint64_t counts = 0;
    for (; i < end; i += 8) {
      memcpy(&bytes, s + i, 8);
      counts += continuing(bytes);
    }
    continued += sum_of_bytes(counts);
  }
  if (i < n && n > 8) { /* the rest, with bytes that were counted shifted out */
    memcpy(&bytes, s + n - 8, 8);
    continued += sum_of_bytes(continuing(bytes >> (8 * (8 - (n - i)))));
  } else {
    for (; i < n; i++) continued += !fl_text_is_lead(s[i]);
  }
  return n - continued;
}
#if defined(__SSE2__)
/* Sixteen places at a time: those where the first and the last byte of the part stand are compared. The part
 * has 2 to SHORT_PART bytes, and there are sixteen places at least. */
enum { SHORT_PART = 32, PLACES = 16 };
static const char *find_short(const char *s, int64_t n, const char *part, int64_t part_n) {
  int64_t last = part_n - 1, places = n - last;
  __m128i begins = _mm_set1_epi8(part[0]), ends = _mm_set1_epi8(part[last]);
  for (int64_t i = 0; i < places; i += PLACES) {
    if (i > places - PLACES) i = places - PLACES; /* the last ones, some of them again */
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(s + i)),
            b = _mm_loadu_si128((const __m128i *)(const void *)(s + i + last));
    int there = _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(a, begins), _mm_cmpeq_epi8(b, ends)));
    for (; there != 0; there &= there - 1) {
      const char *at = s + i + __builtin_ctz((unsigned)there);
      if (memcmp(at + 1, part + 1, (size_t)(part_n - 2)) == 0) return at;
    }
  }
  return NULL;
}
#endif
static const char *find(const char *s, int64_t n, const char *part, int64_t part_n) {
  if (part_n == 0) return s;
  if (n < part_n) return NULL;
  if (part_n == 1) return memchr(s, part[0], (size_t)n);
#if defined(__SSE2__)
  if (part_n <= SHORT_PART && n - part_n >= PLACES - 1) return find_short(s, n, part, part_n);
#endif
  return memmem(s, (size_t)n, part, (size_t)part_n);
}
uint8_t fl_s_contains(const char *s, int64_t n, const char *part, int64_t part_n) {
  return part_n == 0 || find(s, n, part, part_n) != NULL;
}

int64_t fl_s_text_find(const char *s, int64_t n, const char *part, int64_t part_n, uint8_t *valid) {
  const char *at = find(s, n, part, part_n);
  *valid = part_n == 0 || at != NULL;
  return at == NULL ? 0 : fl_s_n_chars(s, at - s);
}

/* ---- pieces ------------------------------------------------------------------------------------------ */

/* Is it to be trimmed: one of these characters, or white space where none are said? */
static bool is_trimmed(const char *point, int size, uint32_t c, const char *chars, int64_t chars_n) {
  return chars_n == 0 ? fl_text_is_space(c) : find(chars, chars_n, point, size) != NULL;
}
FlText fl_s_trim_start(const char *s, int64_t n, const char *chars, int64_t chars_n) {
  uint32_t c;
  while (n > 0) {
    int size = fl_text_point(s, n, &c);
    if (!is_trimmed(s, size, c, chars, chars_n)) break;
    s += size;
    n -= size;
  }
  return (FlText){s, n};
}
FlText fl_s_trim_end(const char *s, int64_t n, const char *chars, int64_t chars_n) {
  uint32_t c;
  while (n > 0) {
    int64_t last = n - 1;
    while (last > 0 && !fl_text_is_lead(s[last])) last--;
    int size = fl_text_point(s + last, n - last, &c);
    if (!is_trimmed(s + last, size, c, chars, chars_n)) break;
    n = last;
  }
  return (FlText){s, n};
}
FlText fl_s_trim(const char *s, int64_t n, const char *chars, int64_t chars_n) {
  FlText t = fl_s_trim_start(s, n, chars, chars_n);
  return fl_s_trim_end(t.ptr, t.len, chars, chars_n);
}
int64_t fl_s_count_pieces(const char *s, int64_t n, const char *sep, int64_t sep_n) {
  int64_t count = 1;
  const char *end = s + n;
  if (sep_n == 1) {
    for (int64_t i = 0; i < n; i++) count += s[i] == sep[0];
  } else if (sep_n > 0) {
    for (const char *p = s; (p = find(p, end - p, sep, sep_n)) != NULL; p += sep_n) count++;
  }
  return count;
}
static FlText last_part(const char *s, int64_t n, const char *sep, int64_t sep_n, int64_t back) {
  int64_t count = fl_s_count_pieces(s, n, sep, sep_n);
  return back > count ? (FlText){NULL, 0} : fl_s_split_part(s, n, sep, sep_n, count - back);
}
FlText fl_s_split_part(const char *s, int64_t n, const char *sep, int64_t sep_n, int64_t i) {
  const char *end = s + n;
  if (i < 0) return i == INT64_MIN ? (FlText){NULL, 0} : last_part(s, n, sep, sep_n, -i);
  while (i >= 0) {
    const char *cut = sep_n == 0 ? NULL : find(s, end - s, sep, sep_n);
    if (i == 0) return (FlText){s, (cut != NULL ? cut : end) - s};
    if (cut == NULL) break;
    s = cut + sep_n;
    i--;
  }
  return (FlText){NULL, 0};
}
FlText fl_s_text_slice(const char *s, int64_t n, int64_t from, int64_t to) {
  if (from < 0 || to < 0) {
    int64_t chars = fl_s_n_chars(s, n);
    if (from < 0) from = from < -chars ? 0 : chars + from;
    if (to < 0) to = to < -chars ? 0 : chars + to;
  }
  if (to <= from) return (FlText){NULL, 0};
  int64_t start = offset_of(s, n, from);
  return (FlText){s + start, offset_of(s + start, n - start, to - from)};
}

/* ---- making ------------------------------------------------------------------------------------------ */

static void copy(char *to, const char *from, int64_t n) {
  if (n > 0) memcpy(to, from, (size_t)n);
}
FlText fl_s_text_concat(FlHeap *heap, const char *a, int64_t an, const char *b, int64_t bn) {
  if (an == 0) return (FlText){b, bn};
  if (bn == 0) return (FlText){a, an};
  char *out = fl_heap_append(heap, a, an, bn);
  if (out == NULL) return (FlText){NULL, 0}; /* the run is stopped */
  if (out != a) copy(out, a, an);
  copy(out + an, b, bn);
  return (FlText){out, an + bn};
}

FlText fl_s_reverse_text(FlHeap *heap, const char *s, int64_t n) {
  if (n == 0) return (FlText){s, n};
  char *out = fl_heap_alloc(heap, n);
  if (out == NULL) return (FlText){NULL, 0}; /* the run is stopped */
  for (int64_t i = 0; i < n;) {
    uint32_t c;
    int size = fl_text_point(s + i, n - i, &c);
    memcpy(out + n - i - size, s + i, (size_t)size);
    i += size;
  }
  return (FlText){out, n};
}
FlText fl_s_repeat_text(FlHeap *heap, const char *s, int64_t n, int64_t times, int32_t *fault) {
  int64_t total;
  bool far = __builtin_mul_overflow(n, times, &total) || total > INT32_MAX;
  fl_fault_if(fault, times < 0 || far, FL_FAULT_DOMAIN);
  if (times <= 0 || far || total == 0) return (FlText){NULL, 0};
  char *out = fl_heap_alloc(heap, total);
  if (out == NULL) return (FlText){NULL, 0}; /* the run is stopped */
  for (int64_t i = 0; i < times; i++) memcpy(out + i * n, s, (size_t)n);
  return (FlText){out, total};
}

/* Behind what `to` has, as far as there is room: a text of a mapped file may have changed since it was
 * measured. */
static void add(FlText *to, int64_t room, const char *from, int64_t n) {
  if (n > room - to->len) n = room - to->len;
  copy((char *)(uintptr_t)to->ptr + to->len, from, n);
  to->len += n;
}

FlText fl_s_replace(FlHeap *heap, const char *s, int64_t n, const char *old, int64_t old_n, const char *by,
                    int64_t by_n) {
  if (old_n == 0) return (FlText){s, n};
  int64_t count = 0;
  const char *end = s + n;
  for (const char *p = s; (p = find(p, end - p, old, old_n)) != NULL; p += old_n) count++;
  if (count == 0) return (FlText){s, n};
  int64_t total = n + count * (by_n - old_n);
  FlText out = {fl_heap_alloc(heap, total), 0};
  if (out.ptr == NULL) return (FlText){NULL, 0}; /* the run is stopped */
  const char *p = s;
  for (const char *hit; (hit = find(p, end - p, old, old_n)) != NULL; p = hit + old_n) {
    add(&out, total, p, hit - p);
    add(&out, total, by, by_n);
  }
  add(&out, total, p, end - p);
  return out;
}

FlText fl_s_pad(FlHeap *heap, const char *s, int64_t n, int64_t width, const char *fill, int64_t fill_n) {
  int64_t wanted = width < 0 ? -width : width, missing = wanted - fl_s_n_chars(s, n);
  if (missing <= 0) return (FlText){s, n};
  if (fill_n == 0) fill = " ", fill_n = 1;
  int64_t fill_chars = fl_s_n_chars(fill, fill_n);
  int64_t whole = missing / fill_chars, part = offset_of(fill, fill_n, missing % fill_chars);
  int64_t filled = whole * fill_n + part;
  char *out = fl_heap_alloc(heap, n + filled);
  if (out == NULL) return (FlText){NULL, 0}; /* the run is stopped */
  char *to = width < 0 ? out : out + n;
  copy(width < 0 ? out + filled : out, s, n);
  for (int64_t i = 0; i < whole; i++) copy(to + i * fill_n, fill, fill_n);
  copy(to + whole * fill_n, fill, part);
  return (FlText){out, n + filled};
}

/* ---- reading values ---------------------------------------------------------------------------------- */

double fl_s_try_parse_f64(const char *s, int64_t n, uint8_t *valid) {
  double v = 0;
  *valid = fl_parse_f64(s, n, &v);
  return *valid ? v : 0;
}
int64_t fl_s_try_parse_i64(const char *s, int64_t n, uint8_t *valid) {
  int64_t v = 0;
  *valid = fl_parse_i64(s, n, &v);
  return *valid ? v : 0;
}
int32_t fl_s_try_parse_date(const char *s, int64_t n, const char *format, int64_t format_n, uint8_t *valid) {
  int32_t v = 0;
  *valid = fl_parse_date_by(s, n, format, format_n, &v);
  return *valid ? v : 0;
}
int64_t fl_s_try_parse_datetime(const char *s, int64_t n, const char *format, int64_t format_n,
                                uint8_t *valid) {
  int64_t v = 0;
  *valid = fl_parse_datetime_by(s, n, format, format_n, &v);
  return *valid ? v : 0;
}
double fl_s_parse_f64(const char *s, int64_t n, int32_t *fault) {
  uint8_t valid;
  double v = fl_s_try_parse_f64(s, n, &valid);
  fl_fault_if(fault, !valid, FL_FAULT_PARSE);
  return v;
}
int64_t fl_s_parse_i64(const char *s, int64_t n, int32_t *fault) {
  uint8_t valid;
  int64_t v = fl_s_try_parse_i64(s, n, &valid);
  fl_fault_if(fault, !valid, FL_FAULT_PARSE);
  return v;
}
int32_t fl_s_parse_date(const char *s, int64_t n, const char *format, int64_t format_n, int32_t *fault) {
  uint8_t valid;
  int32_t v = fl_s_try_parse_date(s, n, format, format_n, &valid);
  fl_fault_if(fault, !valid, FL_FAULT_PARSE);
  return v;
}
int64_t fl_s_parse_datetime(const char *s, int64_t n, const char *format, int64_t format_n, int32_t *fault) {
  uint8_t valid;
  int64_t v = fl_s_try_parse_datetime(s, n, format, format_n, &valid);
  fl_fault_if(fault, !valid, FL_FAULT_PARSE);
  return v;
}
