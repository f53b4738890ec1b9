/* format.c: values as text, plain and by what stands after ':' in "{x:...}".
 *
 * Grammar, a subset of Python's format specification mini-language:
 *   number, bool, text   [[fill] align] [sign] ["0"] [width] [","] ["." precision] [type]
 *     fill any character; align < > ^ or = (after the sign); sign + - or space; width, precision up to 1000;
 *     0: fill with zeros after the sign, where nothing else is said, in thousands as the digits are
 *     type of integers d x X o b and those of floats; of floats e E f F g G %; of text and bool s
 *   date, datetime       the date format of date_format.h, when there is a % in it
 * Numbers stand on the right of their width, all else on the left. Without precision and type a float is its
 * shortest text; with a precision alone it is as with g. A text is cut to its precision.
 *
 * What always holds: fl_format_check accepts exactly the formats that the printers below understand. Printing
 * uses snprintf, which is exact, in the C locale. */
#include "kern/date_format.h"

#include "data/number.h"
#include "flow/dtypes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1000, ROOM = 1400 };

typedef struct Spec {
  char fill[4];
  int fill_n;
  char align, sign, type;   /* 0: not given */
  bool filled, zero, comma; /* filled: a fill is given */
  int width, precision;     /* precision -1: not given */
} Spec;

/* ---- reading a format -------------------------------------------------------------------------------- */

static int point_size(const char *s) {
  unsigned char c = (unsigned char)*s;
  int size = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
  for (int i = 1; i < size; i++)
    if (s[i] == 0) return 1;
  return size;
}
static bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static const char *read_size(const char *s, int *out) {
  int v = 0;
  for (; is_digit(*s); s++)
    if (v <= LARGEST) v = v * 10 + (*s - '0');
  *out = v;
  return s;
}

/* Reads all of s; on failure the result is a sentence, else NULL. */
static const char *read_spec(const char *s, Spec *f) {
  *f = (Spec){.fill = " ", .fill_n = 1, .precision = -1};
  if (*s != 0 && is_align(s[point_size(s)])) {
    f->fill_n = point_size(s);
    memcpy(f->fill, s, (size_t)f->fill_n);
    s += f->fill_n;
    f->filled = true;
    f->align = *s++;
  } else if (is_align(*s)) {
    f->align = *s++;
  }
  if (*s == '+' || *s == '-' || *s == ' ') f->sign = *s++;
  if (*s == '0') {
    f->zero = true;
    s++;
  }
  s = read_size(s, &f->width);
  if (*s == ',') {
    f->comma = true;
    s++;
  }
  if (*s == '.') {
    if (!is_digit(s[1])) return "after the point of a format comes the number of digits";
    s = read_size(s + 1, &f->precision);
  }
  if (*s != 0) f->type = *s++;
  if (f->width > LARGEST || f->precision > LARGEST) return "a width or precision in a format is at most 1000";
  return *s == 0 ? NULL : "a format is [fill and align][sign][0][width][,][.precision][type]";
}

typedef enum Family { INTEGER, FLOAT, DECIMAL, TEXT, DATE, DURATION, NO_FAMILY } Family;
static Family family_of(FlDtype dtype) {
  switch (dtype) {
  case FL_I8:
  case FL_I16:
  case FL_I32:
  case FL_I64:
  case FL_U8:
  case FL_U16:
  case FL_U32:
  case FL_U64: return INTEGER;
  case FL_F32:
  case FL_F64: return FLOAT;
  case FL_BOOL:
  case FL_TEXT: return TEXT;
  case FL_DATE:
  case FL_DATETIME: return DATE;
  case FL_DURATION: return DURATION;
  case FL_ANY_DECIMAL: return DECIMAL;
  case FL_FILE:
  case FL_CATEGORY:
  case FL_LIST:
  case FL_N_DTYPES: return NO_FAMILY;
  }
  return NO_FAMILY;
}

static const char *check_spec(const char *format, Family family) {
  if (*format == 0) return NULL;
  if (family == NO_FAMILY) return "a value of this type has no formats";
  if (family == DATE && strchr(format, '%') != NULL) {
    const char *why = NULL;
    return fl_date_format_check(format, (int64_t)strlen(format), false, &why) ? NULL : why;
  }
  Spec f;
  const char *wrong = read_spec(format, &f);
  if (wrong != NULL) return wrong;
  bool number = family == INTEGER || family == FLOAT || family == DECIMAL;
  if (family == INTEGER && f.type != 0 && strchr("dxXobeEfFgG%", f.type) == NULL)
    return "the type of an integer's format is one of d x X o b e f g %";
  if (family == FLOAT && f.type != 0 && strchr("eEfFgG%", f.type) == NULL)
    return "the type of a float's format is one of e f g %";
  if (family == DECIMAL && f.type != 0 && f.type != 'f')
    return "the type of a decimal's format is f; for another, make a float of it: f64(...)";
  if (!number && f.type != 0 && f.type != 's') return "this format is for numbers";
  if (!number && (f.sign != 0 || f.comma || f.zero || f.align == '='))
    return "a sign, a comma or zeros in a format are for numbers";
  if (family == INTEGER && f.precision >= 0 && (f.type == 0 || strchr("dxXob", f.type) != NULL))
    return "an integer has no digits after the point; write a type such as f";
  if (f.comma && f.type != 0 && strchr("xXobeE", f.type) != NULL)
    return "a comma separates decimal thousands only";
  if ((family == DATE || family == DURATION) && f.precision >= 0)
    return "a precision is for floats and texts";
  return NULL;
}
bool fl_format_check(const char *format, FlDtype dtype, const char **why) {
  const char *wrong = check_spec(format, family_of(dtype));
  if (wrong != NULL && why != NULL) *why = wrong;
  return wrong == NULL;
}

/* ---- laying out -------------------------------------------------------------------------------------- */

static FlText plain(FlHeap *heap, const char *s, int64_t n) { return fl_heap_text(heap, s, n); }

/* `head` (a sign) and `body` in the width; `side` is where the value stands when no alignment is given. */
static FlText lay_out(FlHeap *heap, const Spec *f, const char *head, int64_t head_n, const char *body,
                      int64_t body_n, char side) {
  char align = f->align != 0 ? f->align : f->zero ? '=' : side;
  bool zeros = f->zero && !f->filled;
  const char *fill = zeros ? "0" : f->fill;
  int fill_n = zeros ? 1 : f->fill_n;
  int64_t missing = f->width - head_n - fl_s_n_chars(body, body_n);
  if (missing < 0) missing = 0;
  int64_t before = align == '>'   ? missing
                   : align == '^' ? missing / 2
                                  : 0,
          within = align == '=' ? missing : 0;
  int64_t after = missing - before - within, total = missing * fill_n + head_n + body_n;
  if (total == 0) return (FlText){NULL, 0};
  char *out = fl_heap_alloc(heap, total), *at = out;
  if (out == NULL) return (FlText){NULL, 0}; /* the run is stopped */
  for (int64_t i = 0; i < before; i++, at += fill_n) memcpy(at, fill, (size_t)fill_n);
  if (head_n > 0) memcpy(at, head, (size_t)head_n);
  at += head_n;
  for (int64_t i = 0; i < within; i++, at += fill_n) memcpy(at, fill, (size_t)fill_n);
  if (body_n > 0) memcpy(at, body, (size_t)body_n);
  at += body_n;
  for (int64_t i = 0; i < after; i++, at += fill_n) memcpy(at, fill, (size_t)fill_n);
  return (FlText){out, total};
}

/* Sign, thousands and width around the text of an absolute value. */
static FlText lay_out_number(FlHeap *heap, const Spec *f, bool negative, const char *digits, int64_t n) {
  char grouped[ROOM + ROOM / 3];
  const char *sign = negative ? "-" : f->sign == '+' ? "+" : f->sign == ' ' ? " " : "";
  if (f->comma) {
    int64_t whole = 0, at = 0, zeros = 0, room = f->width - (int64_t)strlen(sign);
    while (whole < n && is_digit(digits[whole])) whole++;
    bool zeros_within = f->filled ? f->align == '=' && f->fill_n == 1 && f->fill[0] == '0'
                                  : f->zero && (f->align == 0 || f->align == '=');
    if (zeros_within && whole > 0)
      while (zeros + n + (zeros + whole - 1) / 3 < room) zeros++;
    for (int64_t i = -zeros; i < n; i++) {
      if (i > -zeros && i < whole && (whole - i) % 3 == 0) grouped[at++] = ',';
      grouped[at++] = i < 0 ? '0' : digits[i];
    }
    digits = grouped;
    n = at;
  }
  return lay_out(heap, f, sign, (int64_t)strlen(sign), digits, n, '>');
}

/* ---- numbers ----------------------------------------------------------------------------------------- */

static FlText put_float(FlHeap *heap, double v, const Spec *f, char *shortest, int shortest_n) {
  char digits[ROOM];
  bool negative = fl_bits_f64(v) >> 63 != 0 && v == v;
  double a = v < 0 ? -v : v == 0 ? 0 : v;
  int n;
  if (v - v != 0) {
    bool capitals = f->type == 'E' || f->type == 'F' || f->type == 'G';
    memcpy(digits, capitals ? v != v ? "NAN" : "INF" : v != v ? "nan" : "inf", 3);
    n = 3;
    if (f->type == '%') digits[n++] = '%';
  } else if (f->type == 0 && f->precision < 0) {
    n = shortest_n - (shortest[0] == '-');
    memcpy(digits, shortest + (shortest[0] == '-'), (size_t)n);
  } else {
    int precision = f->precision < 0 ? 6 : f->precision;
    char type = f->type == 0 ? 'g' : f->type == '%' ? 'f' : f->type;
    char how[8] = {'%', '.', '*', type, 0};
    n = snprintf(digits, sizeof digits, how, precision, f->type == '%' ? a * 100 : a);
    if (f->type == '%') digits[n++] = '%';
  }
  return lay_out_number(heap, f, negative, digits, n);
}

FlText fl_s_to_text_f64(FlHeap *heap, double v, const char *format) {
  char shortest[FL_NUMBER_ROOM];
  int n = fl_print_f64(shortest, v);
  if (*format == 0) return plain(heap, shortest, n);
  Spec f;
  read_spec(format, &f);
  return put_float(heap, v, &f, shortest, n);
}
FlText fl_s_to_text_f32(FlHeap *heap, float v, const char *format) {
  char shortest[FL_NUMBER_ROOM];
  int n = fl_print_f32(shortest, v);
  if (*format == 0) return plain(heap, shortest, n);
  Spec f;
  read_spec(format, &f);
  return put_float(heap, (double)v, &f, shortest, n);
}

static FlText put_integer(FlHeap *heap, bool negative, uint64_t a, const char *format) {
  char digits[72];
  Spec f;
  read_spec(format, &f);
  if (f.type != 0 && strchr("eEfFgG%", f.type) != NULL)
    return put_float(heap, negative ? -(double)a : (double)a, &f, NULL, 0);
  unsigned base = f.type == 'x' || f.type == 'X' ? 16 : f.type == 'o' ? 8 : f.type == 'b' ? 2 : 10;
  const char *alphabet = f.type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  int at = (int)sizeof digits;
  do digits[--at] = alphabet[a % base];
  while ((a /= base) != 0);
  return lay_out_number(heap, &f, negative, digits + at, (int64_t)sizeof digits - at);
}
static FlText put_signed(FlHeap *heap, int64_t v, const char *format) {
  return put_integer(heap, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, format);
}
FlText fl_s_to_text_i8(FlHeap *heap, int8_t v, const char *format) { return put_signed(heap, v, format); }
FlText fl_s_to_text_i16(FlHeap *heap, int16_t v, const char *format) { return put_signed(heap, v, format); }
FlText fl_s_to_text_i32(FlHeap *heap, int32_t v, const char *format) { return put_signed(heap, v, format); }
FlText fl_s_to_text_i64(FlHeap *heap, int64_t v, const char *format) { return put_signed(heap, v, format); }
FlText fl_s_to_text_u8(FlHeap *heap, uint8_t v, const char *format) {
  return put_integer(heap, false, v, format);
}
FlText fl_s_to_text_u16(FlHeap *heap, uint16_t v, const char *format) {
  return put_integer(heap, false, v, format);
}
FlText fl_s_to_text_u32(FlHeap *heap, uint32_t v, const char *format) {
  return put_integer(heap, false, v, format);
}
FlText fl_s_to_text_u64(FlHeap *heap, uint64_t v, const char *format) {
  return put_integer(heap, false, v, format);
}

/* Of a decimal as many digits behind the point as it has, or rounded to those that the format says. */
static FlText put_decimal(FlHeap *heap, int64_t v, int scale, const char *format) {
  char text[FL_NUMBER_ROOM], digits[ROOM];
  Spec f;
  if (*format == 0) return plain(heap, text, fl_print_decimal(text, v, scale));
  read_spec(format, &f);
  int kept = f.precision >= 0 && f.precision < scale ? f.precision : scale;
  int64_t rounded = fl_s_decimal_round(v, scale - kept, FL_DECIMAL_NEAREST);
  int n = fl_print_decimal(text, rounded, kept), sign = rounded < 0, more = f.precision - kept;
  memcpy(digits, text + sign, (size_t)(n - sign));
  n -= sign;
  if (more > 0 && !kept) digits[n++] = '.';
  for (; more > 0; more--) digits[n++] = '0';
  return lay_out_number(heap, &f, sign, digits, n);
}
#define FL_DEFINE(K)                                                                                         \
  FlText fl_s_to_text_decimal##K(FlHeap *heap, int64_t v, const char *format) {                              \
    return put_decimal(heap, v, K, format);                                                                  \
  }
FL_DEFINE(0)
FL_DEFINE(1)
FL_DEFINE(2)
FL_DEFINE(3)
FL_DEFINE(4)
FL_DEFINE(5)
FL_DEFINE(6)
FL_DEFINE(7)
FL_DEFINE(8)
FL_DEFINE(9)
FL_DEFINE(10)
FL_DEFINE(11)
FL_DEFINE(12)
FL_DEFINE(13)
FL_DEFINE(14)
FL_DEFINE(15)
FL_DEFINE(16)
FL_DEFINE(17)
FL_DEFINE(18)
#undef FL_DEFINE

/* ---- texts, times ------------------------------------------------------------------------------------ */

static FlText put_text(FlHeap *heap, const char *s, int64_t n, const char *format) {
  Spec f;
  read_spec(format, &f);
  if (f.precision >= 0) n = fl_s_text_slice(s, n, 0, f.precision).len;
  return lay_out(heap, &f, "", 0, s, n, '<');
}
FlText fl_s_to_text_text(FlHeap *heap, const char *s, int64_t n, const char *format) {
  return *format == 0 ? (FlText){s, n} : put_text(heap, s, n, format);
}
FlText fl_s_to_text_bool(FlHeap *heap, uint8_t v, const char *format) {
  return fl_s_to_text_text(heap, v ? "true" : "false", v ? 4 : 5, format);
}
/* A printed time: by the date format, or the usual text, laid out. */
static FlText put_time(FlHeap *heap, const char *usual, int n, const char *format) {
  return *format == 0 ? plain(heap, usual, n) : put_text(heap, usual, n, format);
}
static FlText put_by_date_format(FlHeap *heap, int64_t days, int64_t micros, const char *format) {
  char near[64]; /* enough for all but odd formats */
  int64_t n = fl_date_format(near, sizeof near, format, days, micros);
  if (!n) return (FlText){NULL, 0};
  char *out = fl_heap_alloc(heap, n);
  if (out == NULL) return (FlText){NULL, 0}; /* the run is stopped */
  if (n <= (int64_t)sizeof near) memcpy(out, near, (size_t)n);
  else (void)fl_date_format(out, n, format, days, micros);
  return (FlText){out, n};
}
FlText fl_s_to_text_date(FlHeap *heap, int32_t v, const char *format) {
  char buf[FL_NUMBER_ROOM];
  if (strchr(format, '%') != NULL) return put_by_date_format(heap, v, 0, format);
  return put_time(heap, buf, fl_print_date(buf, v), format);
}
FlText fl_s_to_text_datetime(FlHeap *heap, int64_t v, const char *format) {
  char buf[FL_NUMBER_ROOM];
  int64_t days = fl_floor_div(v, FL_DAY_MICROS);
  if (strchr(format, '%') != NULL) return put_by_date_format(heap, days, v - days * FL_DAY_MICROS, format);
  return put_time(heap, buf, fl_print_datetime(buf, v), format);
}
FlText fl_s_to_text_duration(FlHeap *heap, int64_t v, const char *format) {
  char buf[FL_NUMBER_ROOM];
  return put_time(heap, buf, fl_print_duration(buf, v), format);
}
