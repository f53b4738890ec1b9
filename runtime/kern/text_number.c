/* text_number.c: numbers as people write them: "$1,234.50", "(1 200)", "12.5 %", "1.234,50 EUR".
 *
 * In: a text and the decimal mark, "." or ",". Out: the number, correctly rounded. What always holds: what is
 * accepted has one meaning: digits may be grouped by one kind of mark, the last group has three digits and
 * all between the first and the last have the same two or three. */
#include "kern/kern.h"

#include "data/number.h"

#include <string.h>

enum { LONGEST = 400 }; /* bytes of a number; longer texts are none */

typedef struct Reader {
  const char *s, *end;
} Reader;

static bool eat(Reader *r, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(r->end - r->s) < n || memcmp(r->s, word, n) != 0) return false;
  r->s += n;
  return true;
}

static void skip_spaces(Reader *r) {
  static const char *const spaces[] = {" ", "\t", "\n", "\r", "\u00a0", "\u2009", "\u202f"};
  for (size_t k = 0; k < sizeof spaces / sizeof *spaces;) k = eat(r, spaces[k]) ? 0 : k + 1;
}

/* A currency: a sign of Unicode's block of them or $ £ ¥ ¢, or the three capitals of ISO 4217. */
static bool eat_currency(Reader *r) {
  if (eat(r, "$") || eat(r, "\u00a2") || eat(r, "\u00a3") || eat(r, "\u00a5")) return true;
  int64_t left = r->end - r->s;
  const unsigned char *u = (const unsigned char *)r->s;
  if (left >= 3 && u[0] == 0xe2 && ((u[1] == 0x82 && u[2] >= 0xa0) || (u[1] == 0x83 && u[2] <= 0x8f))) {
    r->s += 3; /* U+20A0 to U+20CF */
    return true;
  }
  for (int i = 0; i < 3; i++)
    if (left < 3 || u[i] < 'A' || u[i] > 'Z') return false;
  r->s += 3;
  return true;
}

static int eat_sign(Reader *r) {
  if (eat(r, "-") || eat(r, "\u2212")) return -1;
  return eat(r, "+") ? 1 : 0;
}

static int eat_digits(Reader *r, char *out, int *at) {
  int n = 0;
  for (; r->s < r->end && *r->s >= '0' && *r->s <= '9'; n++) out[(*at)++] = *r->s++;
  return n;
}

/* The mark that stands between groups here, NULL: none. */
static const char *group_mark(const Reader *r, bool comma) {
  static const char *const marks[] = {",", ".", "'", "\u2019", " ", "\u00a0", "\u2009", "\u202f", "_"};
  for (size_t k = comma ? 1 : 0; k < sizeof marks / sizeof *marks; k++) {
    Reader next = *r;
    if (!comma && k == 1) continue; /* the point is the decimal mark */
    if (eat(&next, marks[k]) && next.s < next.end && *next.s >= '0' && *next.s <= '9') return marks[k];
  }
  return NULL;
}

/* Digits before the decimal mark, grouped or not. */
static bool eat_whole(Reader *r, bool comma, char *out, int *at) {
  int first = eat_digits(r, out, at), between = 0;
  const char *mark = first > 0 ? group_mark(r, comma) : NULL;
  if (mark == NULL) return true;
  if (first > 3) return false;
  while (eat(r, mark)) {
    int n = eat_digits(r, out, at);
    const char *next = group_mark(r, comma);
    if (next == NULL) return n == 3;
    if (next != mark || (n != 2 && n != 3) || (between != 0 && n != between)) return false;
    between = n;
  }
  return false;
}

static bool read_amount(Reader *r, bool comma, char *out, int *at) {
  bool closed = eat(r, "(");
  skip_spaces(r);
  int sign = eat_sign(r);
  skip_spaces(r);
  bool currency = eat_currency(r);
  skip_spaces(r);
  if (sign == 0) sign = eat_sign(r);
  if (closed && sign != 0) return false;
  if (closed || sign < 0) out[(*at)++] = '-';
  int start = *at;
  if (!eat_whole(r, comma, out, at)) return false;
  if (eat(r, comma ? "," : ".")) {
    out[(*at)++] = '.';
    eat_digits(r, out, at);
  }
  if (*at == start || (*at == start + 1 && out[start] == '.')) return false;
  int exponent = 0;
  if (r->s < r->end && (*r->s | 0x20) == 'e') {
    char digits[8];
    int n = 0;
    r->s++;
    int exponent_sign = eat_sign(r);
    if (r->end - r->s > 0 && r->end - r->s < 6) eat_digits(r, digits, &n);
    if (n == 0) return false;
    for (int i = 0; i < n; i++) exponent = exponent * 10 + (digits[i] - '0');
    if (exponent_sign < 0) exponent = -exponent;
  }
  skip_spaces(r);
  if (eat(r, "%")) exponent -= 2;
  else if (!currency) eat_currency(r);
  skip_spaces(r);
  if (closed && !eat(r, ")")) return false;
  out[(*at)++] = 'e';
  *at += fl_print_i64(out + *at, exponent);
  return true;
}

double fl_s_try_parse_number(const char *s, int64_t n, const char *decimal, int64_t decimal_n,
                             uint8_t *valid) {
  char number[LONGEST + 32];
  int at = 0;
  double v = 0;
  FlText t = fl_s_trim(s, n, NULL, 0);
  Reader r = {t.ptr, t.ptr + t.len};
  bool comma = decimal_n == 1 && *decimal == ',', point = decimal_n == 1 && *decimal == '.';
  *valid = (comma || point) && t.len > 0 && t.len <= LONGEST && read_amount(&r, comma, number, &at) &&
           r.s == r.end && fl_parse_f64(number, at, &v);
  return *valid ? v : 0;
}

double fl_s_parse_number(const char *s, int64_t n, const char *decimal, int64_t decimal_n, int32_t *fault) {
  uint8_t valid;
  double v = fl_s_try_parse_number(s, n, decimal, decimal_n, &valid);
  fl_fault_if(fault, !valid, FL_FAULT_PARSE);
  return v;
}
