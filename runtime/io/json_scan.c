/* json_scan.c: JSON (RFC 8259) value by value, where it lies.
 *
 * In: the text of one object. Out: its keys and values, as they are written. What always holds: what was
 * passed over is JSON, to the letter: no leading zeros, no control characters, no half of a surrogate pair,
 * no bytes that are not UTF-8; nothing behind `end` is read, and no depth of brackets uses the stack. */
#include "io/json_internal.h"

#include <string.h>

enum { FL_JSON_DEPTH = 4096 }; /* of brackets within each other */

static bool wrong(FlJsonScan *s, const char *at, const char *why) {
  s->bad = at;
  s->why = why;
  return false;
}

static void skip_blanks(FlJsonScan *s) {
  while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')) s->at++;
}

static bool is_digit(const FlJsonScan *s) { return s->at < s->end && (unsigned char)(*s->at - '0') < 10; }

/* ---- texts -------------------------------------------------------------------------------------------- */

/* Four hexadecimal digits; -1: they are not. */
static int32_t hex4(const char *s) {
  int32_t x = 0;
  for (int k = 0; k < 4; k++) {
    char c = (char)(s[k] | 0x20);
    int digit = s[k] >= '0' && s[k] <= '9' ? s[k] - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return -1;
    x = x << 4 | digit;
  }
  return x;
}

/* Behind the \ at s->at. */
static bool pass_escape(FlJsonScan *s) {
  const char *from = s->at++;
  if (s->at == s->end) return wrong(s, from, "this text is never closed");
  char c = *s->at++;
  if (c != 'u')
    return (c && strchr("\"\\/bfnrt", c)) || wrong(s, from, "after \\ comes one of \" \\ / b f n r t u");
  int32_t unit = s->end - s->at >= 4 ? hex4(s->at) : -1;
  if (unit < 0) return wrong(s, from, "after \\u come four hexadecimal digits");
  s->at += 4;
  if (unit < 0xd800 || unit > 0xdfff) return true;
  bool pair = unit < 0xdc00 && s->end - s->at >= 6 && s->at[0] == '\\' && s->at[1] == 'u';
  int32_t second = pair ? hex4(s->at + 2) : -1;
  if (second < 0xdc00 || second > 0xdfff) return wrong(s, from, "half of a surrogate pair is no character");
  s->at += 6;
  return true;
}

/* Behind the quote at s->at. */
static bool pass_text(FlJsonScan *s, FlJsonValue *v) {
  const char *open = s->at++;
  *v = (FlJsonValue){.kind = FL_JSON_TEXT, .at = s->at, .plain = true};
  for (;;) {
    while (s->at < s->end && (unsigned char)*s->at >= 0x20 && *s->at != '"' && *s->at != '\\') s->at++;
    if (s->at == s->end) return wrong(s, open, "this text is never closed");
    if (*s->at == '"') break;
    if (*s->at != '\\')
      return wrong(s, s->at, "a control character in a text is written as \\n, \\t or \\u001f");
    v->plain = false;
    if (!pass_escape(s)) return false;
  }
  v->len = s->at++ - v->at;
  int64_t good = fl_utf8_check(v->at, v->len);
  return good == v->len || wrong(s, v->at + good, "this byte is not part of a character in UTF-8");
}

int64_t fl_json_unescape(FlJsonValue v, char *to) {
  char *begin = to;
  for (const char *s = v.at, *end = v.at + v.len; s < end;) {
    if (*s != '\\') {
      *to++ = *s++;
      continue;
    }
    char c = s[1];
    s += 2;
    if (c != 'u') {
      static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
      const char *at = strchr(from, c);
      *to++ = at ? into[at - from] : c;
      continue;
    }
    uint32_t unit = (uint32_t)hex4(s);
    s += 4;
    if (unit >= 0xd800 && unit < 0xdc00) {
      unit = 0x10000 + ((unit - 0xd800) << 10) + ((uint32_t)hex4(s + 2) - 0xdc00);
      s += 6;
    }
    to = fl_utf8_put(to, unit); /* no longer than what stands for it */
  }
  return to - begin;
}

/* ---- values ------------------------------------------------------------------------------------------- */

static bool pass_digits(FlJsonScan *s) {
  if (!is_digit(s)) return wrong(s, s->at, "a digit is missing in a number");
  while (is_digit(s)) s->at++;
  return true;
}

static bool pass_number(FlJsonScan *s, FlJsonValue *v) {
  *v = (FlJsonValue){.kind = FL_JSON_NUMBER, .at = s->at, .plain = true};
  if (*s->at == '-') s->at++;
  const char *first = s->at;
  if (!pass_digits(s)) return false;
  if (*first == '0' && s->at > first + 1) return wrong(s, v->at, "a number has no zeros before it");
  if (s->at < s->end && *s->at == '.') {
    v->plain = false;
    s->at++;
    if (!pass_digits(s)) return false;
  }
  if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
    v->plain = false;
    s->at++;
    if (s->at < s->end && (*s->at == '+' || *s->at == '-')) s->at++;
    if (!pass_digits(s)) return false;
  }
  v->len = s->at - v->at;
  return true;
}

static bool is_word(const FlJsonScan *s, const char *word) {
  size_t n = strlen(word);
  return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

static bool pass_word(FlJsonScan *s, FlJsonValue *v) {
  static const struct {
    const char *word;
    FlJsonKind kind;
  } words[] = {{"null", FL_JSON_NULL}, {"true", FL_JSON_TRUE}, {"false", FL_JSON_FALSE}};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    if (!is_word(s, words[k].word)) continue;
    *v = (FlJsonValue){.kind = words[k].kind, .at = s->at, .len = (int64_t)strlen(words[k].word)};
    s->at += v->len;
    return true;
  }
  if (is_word(s, "NaN") || is_word(s, "nan") || is_word(s, "Infinity") || is_word(s, "-Infinity"))
    return wrong(s, s->at, FL_JSON_NO_NAN);
  return wrong(s, s->at, "a value is expected: a number, a text in quotes, true, false, null, [ or {");
}

/* What is no bracket. */
static bool pass_scalar(FlJsonScan *s, FlJsonValue *v) {
  if (s->at == s->end) return wrong(s, s->at, "a value is missing");
  if (*s->at == '"') return pass_text(s, v);
  if (is_digit(s) || (*s->at == '-' && !is_word(s, "-I"))) return pass_number(s, v);
  return pass_word(s, v);
}

static bool pass_key(FlJsonScan *s, FlJsonValue *key) {
  skip_blanks(s);
  if (s->at == s->end || *s->at != '"') return wrong(s, s->at, "a key in double quotes is expected");
  if (!pass_text(s, key)) return false;
  skip_blanks(s);
  if (s->at == s->end || *s->at != ':') return wrong(s, s->at, "a colon behind a key is missing");
  s->at++;
  return true;
}

/* An array or an object, with all that is in it. */
static bool pass_nested(FlJsonScan *s, FlJsonValue *v) {
  uint8_t objects[FL_JSON_DEPTH / 8]; /* a bit for each open bracket: it is { */
  int32_t depth = 0;
  FlJsonValue inner;
  *v = (FlJsonValue){.kind = FL_JSON_NESTED, .at = s->at};
  bool opens = true; /* else a value ended just now */
  do {
    if (opens) {
      bool object = *s->at == '{';
      if (depth == FL_JSON_DEPTH) return wrong(s, s->at, "brackets are nested too deeply");
      uint8_t bit = (uint8_t)(1u << depth % 8), *byte = &objects[depth / 8];
      *byte = object ? *byte | bit : *byte & (uint8_t)~bit;
      depth++;
      s->at++;
      skip_blanks(s);
      if (s->at < s->end && *s->at == (object ? '}' : ']')) {
        s->at++;
        depth--;
        opens = false;
        continue;
      }
      if (object && !pass_key(s, &inner)) return false;
    } else {
      bool object = objects[(depth - 1) / 8] >> (depth - 1) % 8 & 1;
      skip_blanks(s);
      if (s->at == s->end) return wrong(s, v->at, "this bracket is never closed");
      if (*s->at == (object ? '}' : ']')) {
        s->at++;
        depth--;
        continue;
      }
      if (*s->at != ',') return wrong(s, s->at, object ? "`,` or `}` is expected" : "`,` or `]` is expected");
      s->at++;
      if (object && !pass_key(s, &inner)) return false;
    }
    skip_blanks(s);
    opens = s->at < s->end && (*s->at == '{' || *s->at == '[');
    if (!opens && !pass_scalar(s, &inner)) return false;
  } while (depth);
  v->len = s->at - v->at;
  return true;
}

bool fl_json_open(FlJsonScan *s, const char *text, int64_t len) {
  *s = (FlJsonScan){.at = text, .end = text + len};
  skip_blanks(s);
  if (s->at == s->end || *s->at != '{') return wrong(s, s->at, "a row is an object, `{...}`");
  s->at++;
  return true;
}

bool fl_json_next(FlJsonScan *s, FlJsonValue *key, FlJsonValue *v) {
  skip_blanks(s);
  if (s->at < s->end && *s->at == '}') {
    s->at++;
    skip_blanks(s);
    if (s->at < s->end) wrong(s, s->at, "something follows the object");
    return false;
  }
  if (s->members++) {
    if (s->at == s->end || *s->at != ',') return wrong(s, s->at, "`,` or `}` is expected");
    s->at++;
  }
  if (!pass_key(s, key)) return false;
  skip_blanks(s);
  bool nested = s->at < s->end && (*s->at == '{' || *s->at == '[');
  return nested ? pass_nested(s, v) : pass_scalar(s, v);
}

/* ---- what numbers and nested values say ---------------------------------------------------------------- */

bool fl_json_whole(FlJsonValue v, bool *negative, uint64_t *magnitude) {
  const char *s = v.at, *end = v.at + v.len;
  uint64_t m = 0;
  int64_t zeros = 0, places = 0, exponent = 0; /* zeros: met behind the last digit that is in m */
  bool fraction = false, minus = false, fits = true;
  *negative = *s == '-';
  s += *negative;
  for (; s < end && (*s | 0x20) != 'e'; s++) {
    if (*s == '.') {
      fraction = true;
      continue;
    }
    places += fraction;
    zeros++;
    if (*s == '0') continue;
    for (; zeros && m && fits; zeros--) fits = !__builtin_mul_overflow(m, (uint64_t)10, &m);
    fits = fits && !__builtin_add_overflow(m, (uint64_t)(*s - '0'), &m);
    zeros = 0;
  }
  if (s < end && ++s < end && (*s == '+' || *s == '-')) minus = *s++ == '-';
  for (; s < end; s++)
    if (exponent < INT32_MAX) exponent = exponent * 10 + (*s - '0');
  zeros += (minus ? -exponent : exponent) - places;
  *magnitude = m;
  if (!m) return fits;
  if (zeros < 0 || zeros > 19) return false;
  for (; zeros && fits; zeros--) fits = !__builtin_mul_overflow(m, (uint64_t)10, &m);
  *magnitude = m;
  return fits;
}

int64_t fl_json_compact(FlJsonValue v, char *to) {
  char *begin = to;
  bool quoted = false;
  for (const char *s = v.at, *end = v.at + v.len; s < end; s++) {
    bool blank = *s == ' ' || *s == '\n' || *s == '\t' || *s == '\r';
    if (!blank || quoted) *to++ = *s;
    if (quoted && *s == '\\') *to++ = *++s;
    else if (*s == '"') quoted = !quoted;
  }
  return to - begin;
}
