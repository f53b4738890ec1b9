/* interp_meaning.c: the bits of every SCALAR operator on fixed arguments, one digest for each operator and
 * type.
 *
 * With `--print`: a line "operator.type version digest" each, which tests/scenario/meaning.py compares with
 * tests/meaning/bits.txt. Alone: that there is a line for every SCALAR row of ir/ops.def, of more than one
 * result. Arguments follow from the operator's signature: edges of each type, all pairs of them, and numbers
 * by splitmix64, so a new operator is covered as soon as it has a row. */
#include "interp/interp_internal.h"
#include "ir/ir_internal.h"
#include "splitmix.h"

#include "kern/kern.h"
#include "kern/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MIXED = 600, MOST_ARGS = 5, MOST_EDGES = 64 };

static bool print;
static int passed, failed;
static uint64_t state;

static uint64_t next_word(void) { return splitmix(&state); }

/* ---- arguments ---------------------------------------------------------------------------------------- */

static const double doubles[] = {0,
                                 -0.0,
                                 1,
                                 -1,
                                 2,
                                 -2,
                                 0.5,
                                 -0.5,
                                 1.5,
                                 2.5,
                                 0.1,
                                 3,
                                 -3,
                                 10,
                                 171.6,
                                 27,
                                 710,
                                 -745,
                                 1e10,
                                 1e22,
                                 0x1p-1074,
                                 0x1p-1022,
                                 0x1.fffffffffffffp1023,
                                 0x1p53,
                                 -0x1p63,
                                 0x1p63,
                                 0x1p-126,
                                 3.4e38,
                                 __builtin_inf(),
                                 -__builtin_inf(),
                                 __builtin_nan("")};
static const int64_t integers[] = {0,         1,         -1,           2,          -2,
                                   3,         7,         -7,           10,         100,
                                   127,       -128,      255,          32767,      -32768,
                                   65535,     INT32_MAX, INT32_MIN,    UINT32_MAX, INT64_C(1) << 53,
                                   INT64_MAX, INT64_MIN, INT64_MAX - 1};
static const int64_t small[] = {0, 1, 2, 3, 5, 8, 12, 31, -1, -2, -7, 40};
static const int64_t orders[] = {0, 1, 2, 3, 7, 12};
static const int64_t scales[] = {0, 1, 2, 5, 9, 18};
static const int64_t digits_more[] = {0, 1, 2, 9, 18, -1, -2, -9, -18};
static const int64_t groups[] = {FL_REGEX_FIRST, 0, 1};
static const int64_t days[] = {0,     1,     -1,     59,      365,     11016, 19782,
                               20088, 20453, -25567, -719162, 2932896, 18321};
static const char *const texts[] = {"",
                                    " ",
                                    "a",
                                    "b",
                                    "ab",
                                    "abc",
                                    "Abc",
                                    "aabab",
                                    "a b  c",
                                    "  x\t",
                                    "Straße",
                                    "ÄÖÜ äöü",
                                    "İı",
                                    "ǆ Ǆ",
                                    "é",
                                    "日本語",
                                    "ﬁn",
                                    ".",
                                    ",",
                                    "a,b,,c",
                                    "x.y.z",
                                    "-",
                                    "0",
                                    "1",
                                    "-1",
                                    "+7",
                                    "123",
                                    "1_000",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "1.5",
                                    "-2.25e3",
                                    "1e400",
                                    ".5",
                                    "5.",
                                    "nan",
                                    "inf",
                                    "0x1p3",
                                    "1,234.50",
                                    "1.234,50",
                                    "$ 12",
                                    "2020-02-29",
                                    "2021-02-29",
                                    "1999-12-31",
                                    "2024-06-01T12:30:45",
                                    "2024-06-01 12:30:45.123456",
                                    "05.03.2026",
                                    "%Y-%m-%d",
                                    "%d.%m.%Y",
                                    "%Y-%m-%dT%H:%M:%S",
                                    "a+",
                                    "(a)(b)?",
                                    "[a-c]",
                                    "^.",
                                    "\\d+",
                                    "(",
                                    "year",
                                    "quarter",
                                    "month",
                                    "week",
                                    "day",
                                    "hour",
                                    "minute",
                                    "$1-"};
static const char *const formats[] = {"",   ".0f", ".3f",      "12.2f",          ".4e",     "5",   "<8",
                                      ">8", ",",   "%Y-%m-%d", "%d.%m.%y %H:%M", "012,.2f", "012,"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static FlSlot of_integer(FlDtype d, int64_t v) {
  switch (fl_dtype_info[d].bytes) {
  case 1:
    return fl_dtype_info[d].kind == FL_KIND_SIGNED ? (FlSlot){.i = (int8_t)v} : (FlSlot){.u = (uint8_t)v};
  case 2:
    return fl_dtype_info[d].kind == FL_KIND_SIGNED ? (FlSlot){.i = (int16_t)v} : (FlSlot){.u = (uint16_t)v};
  case 4:
    return fl_dtype_info[d].kind == FL_KIND_SIGNED ? (FlSlot){.i = (int32_t)v} : (FlSlot){.u = (uint32_t)v};
  default: return (FlSlot){.i = v};
  }
}

static FlSlot of_text(const char *s) { return (FlSlot){.t = {s[0] ? s : NULL, (int64_t)strlen(s)}}; }

/* The integers that an argument i64 takes: of any size only where they are numbers. */
static const int64_t *integers_of(FlOpcode op, size_t *n) {
  const int64_t *at = small;
  *n = COUNT(small);
  if (op == FL_OP_POLYGAMMA) at = orders, *n = COUNT(orders);
  else if (op == FL_OP_EXTRACT) at = groups, *n = COUNT(groups);
  else if (op == FL_OP_DECIMAL_SCALE) at = digits_more, *n = COUNT(digits_more);
  else if (op >= FL_OP_DECIMAL_ROUND && op <= FL_OP_PARSE_DECIMAL) at = scales, *n = COUNT(scales);
  return at;
}

/* Edges of an argument of that type, into `out`; how many. */
static size_t edges_of(FlOpcode op, FlDtype d, bool letter, FlSlot *out) {
  size_t n = 0;
  switch ((int)d) {
  case FL_BOOL:
    for (; n < 2; n++) out[n] = (FlSlot){.u = n};
    return n;
  case FL_F64:
    for (; n < COUNT(doubles); n++) out[n] = (FlSlot){.f = doubles[n]};
    return n;
  case FL_F32:
    for (; n < COUNT(doubles); n++) out[n] = (FlSlot){.f32 = (float)doubles[n]};
    return n;
  case FL_TEXT:
  case FL_FILE:
    for (; n < COUNT(texts); n++) out[n] = of_text(texts[n]);
    return n;
  case FL_DATE:
    for (; n < COUNT(days); n++) out[n] = (FlSlot){.i = days[n]};
    return n;
  case FL_DATETIME:
    for (; n < COUNT(days); n++) out[n] = (FlSlot){.i = days[n] * 86400000000 + days[n] * 977};
    return n;
  }
  size_t some;
  const int64_t *at = letter || op >= FL_OP_RANDOM ? integers : NULL;
  if (letter || d == FL_DURATION || op == FL_OP_RANDOM || op == FL_OP_RANDOM_NORMAL ||
      op == FL_OP_RANDOM_INT || op == FL_OP_SUBSEED || op == FL_OP_ROUND_DIGITS || op == FL_OP_DURATION_OF)
    at = integers, some = COUNT(integers);
  else at = integers_of(op, &some);
  for (; n < some; n++) out[n] = of_integer(d, at[n]);
  return n;
}

static FlSlot any_of(FlDtype d, const FlSlot *edges, size_t n, bool letter) {
  uint64_t v = next_word();
  if (v % 3 == 0 || !letter ||
      (d != FL_F64 && d != FL_F32 && !fl_dtype_is_int(d) && d != FL_DURATION && d != FL_DECIMAL2))
    return edges[v / 3 % n];
  uint64_t w = next_word();
  if (d == FL_F64) return (FlSlot){.f = v % 3 == 1 ? fl_f64_bits(w) : (double)(int64_t)w * 0x1p-58};
  if (d == FL_F32)
    return (FlSlot){.f32 = v % 3 == 1 ? fl_f32_bits((uint32_t)w) : (float)(int64_t)w * 0x1p-58f};
  return of_integer(d, (int64_t)w >> (v / 3 % 64));
}

/* ---- results ------------------------------------------------------------------------------------------ */

static void add_result(XXH3_state_t *to, FlDtype d, FlSlot v) {
  if (d == FL_F64) v.u = fl_bits_f64(fl_s_canon_f64(v.f));
  if (d == FL_F32) v.u = fl_bits_f32(fl_s_canon_f32(v.f32));
  if (d == FL_TEXT || d == FL_FILE) {
    XXH3_128bits_update(to, &v.t.len, sizeof v.t.len);
    if (v.t.len) XXH3_128bits_update(to, v.t.ptr, (size_t)v.t.len);
  } else {
    XXH3_128bits_update(to, &v.u, sizeof v.u);
  }
}

typedef struct Case {
  FlOp op;
  FlValue args[MOST_ARGS], results[2];
  FlValue *arg_at[MOST_ARGS], *result_at[2];
  XXH3_state_t *digest;
  Frame frame;
  int64_t n;
} Case;

static void run(Case *c, const FlSlot *a) {
  FlSlot r[2] = {{.u = 0}, {.u = 0}};
  int32_t fault = 0;
  run_scalar(&c->frame, &c->op, a, r, &fault);
  XXH3_128bits_update(c->digest, &fault, sizeof fault);
  for (int i = 0; !fault && i < c->op.n_results; i++)
    add_result(c->digest, (FlDtype)c->results[i].type.dtype, r[i]);
  c->n++;
}

static void run_all(Case *c, const bool *letter) {
  static FlSlot edges[MOST_ARGS][MOST_EDGES + 1];
  size_t n[MOST_ARGS] = {0};
  int n_args = c->op.n_args;
  FlSlot a[MOST_ARGS];
  for (int k = 0; k < n_args; k++)
    n[k] = edges_of(c->op.code, (FlDtype)c->args[k].type.dtype, letter[k], edges[k]);
  for (size_t i = 0; n_args <= 2 && i < n[0]; i++) {
    a[0] = edges[0][i];
    if (n_args == 1) run(c, a);
    for (size_t j = 0; n_args == 2 && j < n[1]; j++) {
      a[1] = edges[1][j];
      run(c, a);
    }
  }
  for (int i = 0; i < (n_args > 2 ? 4 * MIXED : MIXED); i++) {
    for (int k = 0; k < n_args; k++) a[k] = any_of((FlDtype)c->args[k].type.dtype, edges[k], n[k], letter[k]);
    run(c, a);
  }
}

/* ---- operators ---------------------------------------------------------------------------------------- */

static bool has_letter(const char *signature) { return strpbrk(signature, "TNFI") != NULL; }

static bool letter_takes(char letter, FlDtype d) {
  bool number = fl_dtype_is_int(d) || fl_dtype_is_float(d);
  if (fl_dtype_is_decimal(d)) return d == FL_DECIMAL2 && strchr("TN", letter); /* one stands for all scales */
  if (letter == 'T') return d != FL_LIST && d != FL_CATEGORY && d != FL_FILE;
  if (letter == 'N') return number || d == FL_DURATION;
  if (letter == 'F') return fl_dtype_is_float(d);
  return fl_dtype_is_int(d);
}

static FlDtype fixed_type(char letter) {
  switch (letter) {
  case 'b': return FL_BOOL;
  case 'u': return FL_U64;
  case 'f': return FL_F64;
  case 't': return FL_TEXT;
  case 'd': return FL_DATE;
  case 'D': return FL_DATETIME;
  case 'w': return FL_DURATION;
  case 'E': return FL_DECIMAL2;
  default: return FL_I64;
  }
}

static const char *name_of(FlDtype d) { return d == FL_DECIMAL2 ? "decimal2" : fl_dtype_info[d].name; }

static void one(FlOpcode code, FlDtype d, FlDtype to, const char *format) {
  const FlOpInfo *info = &fl_op_info[code];
  Case c = {.op = {.code = code}};
  bool letter[MOST_ARGS] = {false};
  const char *s = info->signature;
  for (; *s != ':'; s++) {
    bool bound = strchr("TNFI", *s) != NULL;
    letter[c.op.n_args] = bound || *s == 'E';
    c.args[c.op.n_args++].type = fl_t_scalar(bound ? d : fixed_type(*s));
  }
  for (s++; *s; s++)
    c.results[c.op.n_results++].type = fl_t_scalar(*s == '?' ? to : strchr("TNFI", *s) ? d : fixed_type(*s));
  for (int k = 0; k < MOST_ARGS; k++) c.arg_at[k] = &c.args[k];
  for (int k = 0; k < 2; k++) c.result_at[k] = &c.results[k];
  c.op.args = c.arg_at;
  c.op.results = c.result_at;
  c.op.attrs.s = format;
  c.frame.heap = fl_heap_new(NULL);
  c.digest = XXH3_createState();
  XXH3_128bits_reset(c.digest);
  state = 1;
  run_all(&c, letter);
  XXH128_hash_t h = XXH3_128bits_digest(c.digest);
  XXH3_freeState(c.digest);
  fl_heap_unref(c.frame.heap);
  if (c.n > 1) passed++;
  else failed++, printf("FAIL %s is not run\n", info->name);
  if (!print) return;
  printf("%s", info->name);
  if (has_letter(info->signature)) printf(".%s", name_of(d));
  if (code == FL_OP_CONVERT) printf(".%s", name_of(to));
  if (format && format[0]) {
    printf(".");
    for (const char *f = format; *f; f++) printf(*f == ' ' ? "_" : "%c", *f);
  }
  printf(" %d %016llx%016llx\n", info->version, (unsigned long long)h.high64, (unsigned long long)h.low64);
}

static bool converts(FlDtype from, FlDtype to) {
  bool number = fl_dtype_is_int(from) || fl_dtype_is_float(from) || from == FL_BOOL;
  if (fl_dtype_is_decimal(from) || fl_dtype_is_decimal(to))
    return (from == FL_DECIMAL2 && to == FL_I64) || (from == FL_I64 && to == FL_DECIMAL2);
  bool time = from == FL_DATE || from == FL_DATETIME || from == FL_DURATION;
  if (to == FL_I64 && time) return true;
  if (to == FL_DATE || to == FL_DATETIME || to == FL_DURATION) return from == FL_I64;
  return number && (fl_dtype_is_int(to) || fl_dtype_is_float(to)) && from != to;
}

static void all_of(FlOpcode code, FlDtype d) {
  const char *why;
  if (code == FL_OP_CONVERT) {
    for (int to = 0; to < FL_N_DTYPES; to++)
      if (converts(d, (FlDtype)to)) one(code, d, (FlDtype)to, NULL);
  } else if (code == FL_OP_TO_TEXT) {
    for (size_t k = 0; k < COUNT(formats); k++)
      if (!formats[k][0] || fl_format_check(formats[k], d, &why)) one(code, d, FL_TEXT, formats[k]);
  } else {
    bool decimal = code >= FL_OP_DECIMAL_SCALE && code <= FL_OP_PARSE_DECIMAL;
    one(code, d, decimal ? FL_DECIMAL2 : FL_F64, NULL);
  }
}

int main(int argc, char **argv) {
  print = argc > 1 && strcmp(argv[1], "--print") == 0;
  for (int code = 0; code < FL_N_OPS; code++) {
    const FlOpInfo *info = &fl_op_info[code];
    if (info->op_class != FL_CLASS_SCALAR) continue;
    const char *letter = strpbrk(info->signature, "TNFI");
    int before = passed;
    if (!letter) all_of((FlOpcode)code, FL_I64);
    for (int d = 0; letter && d < FL_N_DTYPES; d++)
      if (letter_takes(*letter, (FlDtype)d)) all_of((FlOpcode)code, (FlDtype)d);
    if (passed == before) failed++, printf("FAIL %s has no line\n", info->name);
  }
  if (!print) printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
