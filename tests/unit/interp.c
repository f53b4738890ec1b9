/* interp.c: the reference interpreter on small functions written as IR text: what each structural operator
 * means, the order of float reductions, which of several errors is reported, and that texts and arrays live
 * as long as they must (the sanitizer build watches for what is lost). */
#include "check.h"
#include "interp/interp.h"

#include "exec/exec.h"

#include <math.h>
#include <stdlib.h>

/* Runs function @f of the module; `error` gets the message of a failure, else is empty. */
typedef struct Outcome {
  FlSlot r[4];
  FlType1 types[4];
  int n;
  char error[200];
  FlArena *arena;
  FlRun *run;
} Outcome;

static Outcome run(const char *what, const char *text, const FlSlot *args) {
  Outcome o = {.arena = fl_arena_new()};
  FlSink *sink = fl_sink_make(o.arena, fl_sources_make(o.arena));
  char *whole = fl_arena_printf(o.arena, "module \"t\"\n%s", text);
  FlModule *m = fl_ir_read(o.arena, whole, sink);
  if (m == NULL) {
    FlText1 out = {0};
    fl_sink_print(sink, &out, false);
    printf("%s: %s\n", what, out.s);
    fl_text_reset(&out);
    check(false, "%s", what);
    snprintf(o.error, sizeof o.error, "does not read");
    return o;
  }
  FlInterp *in = fl_interp_make(o.arena, fl_plan_make(o.arena, m, 0), NULL);
  const FlFunc *f = m->first;
  while (strcmp(f->name, "f") != 0) f = f->next;
  FlRunOptions options = {.workers = 1, .quiet = true};
  o.run = fl_run_new(fl_interp_program(in, f), &options);
  FlCtx *ctx = fl_run_ctx(o.run);
  if (fl_interp_call(in, ctx, f, args, o.r) != 0) {
    const char *message = fl_ctx_message(ctx);
    snprintf(o.error, sizeof o.error, "%s", message != NULL ? message : "no message");
  } else {
    o.n = f->body->n_yields;
    for (int i = 0; i < o.n; i++) o.types[i] = f->body->yields[i]->type;
  }
  return o;
}

static void done(Outcome *o) {
  for (int i = 0; i < o->n; i++)
    if (o->types[i].rank > 0 || o->types[i].depth > 0) fl_array_unref(o->r[i].a);
  fl_run_free(o->run);
  fl_arena_free(o->arena);
}

static void expect_i(const char *what, const char *text, int64_t want) {
  Outcome o = run(what, text, NULL);
  if (o.error[0] != 0 || o.r[0].i != want)
    printf("%s: %lld, not %lld %s\n", what, (long long)o.r[0].i, (long long)want, o.error);
  check(o.error[0] == 0 && o.r[0].i == want, "%s", what);
  done(&o);
}
static void expect_text(const char *what, const char *text, const char *want) {
  Outcome o = run(what, text, NULL);
  bool same = o.error[0] == 0 && o.r[0].t.len == (int64_t)strlen(want) &&
              memcmp(o.r[0].t.ptr, want, strlen(want)) == 0;
  if (!same) printf("%s: '%.*s' %s\n", what, (int)o.r[0].t.len, o.r[0].t.ptr, o.error);
  check(same, "%s", what);
  done(&o);
}
static void expect_error(const char *what, const char *text, const char *part) {
  Outcome o = run(what, text, NULL);
  if (strstr(o.error, part) == NULL) printf("%s: '%s' has no '%s'\n", what, o.error, part);
  check(strstr(o.error, part) != NULL, "%s", what);
  done(&o);
}

/* ---- float order, written once more and independently ------------------------------------------------ */

enum { MOST_BLOCKS = 32 };

static double value_at(int64_t i) { return sin((double)i * 1.7) * pow(10, (double)(i % 9) - 4); }

/* The tree over blocks, by the definition. */
static double tree(const double *blocks, int64_t n) {
  int64_t p = 1;
  if (n == 1) return blocks[0];
  while (2 * p < n) p *= 2;
  return tree(blocks, p) + tree(blocks + p, n - p);
}

static double reference_sum(int64_t n, bool filtered) {
  double blocks[MOST_BLOCKS] = {0};
  for (int64_t block = 0; block * 4096 < n; block++) {
    double lane[32] = {0};
    for (int64_t p = block * 4096; p < n && p < (block + 1) * 4096; p++)
      if (!filtered || p % 3 != 0) lane[p % 32] += value_at(p);
    for (int step = 16; step > 0; step /= 2)
      for (int i = 0; i < step; i++) lane[i] = lane[i] + lane[i + step];
    blocks[block] = lane[0];
  }
  return tree(blocks, n ? (n + 4095) / 4096 : 1);
}

static void float_order(void) {
  const char *text =
      "fn @f(%0: f64[]) -> (f64, f64) {\n"
      "  %1 = dim %0 : i64\n"
      "  %2 = reduce<kinds=[sum]> %1 : f64 {\n    (%3: i64)\n    %4 = load %0, %3 : f64\n    yield %4\n  }\n"
      "  %5 = const 3 : i64\n  %6 = const 0 : i64\n"
      "  %7 = reduce<kinds=[sum filtered]> %1 : f64 {\n    (%8: i64)\n    %9 = load %0, %8 : f64\n"
      "    %10 = mod %8, %5 : i64\n    %11 = ne %10, %6 : bool\n    yield %9, %11\n  }\n"
      "  yield %2, %7\n}\n";
  static const int64_t sizes[] = {0,    1,     31,    32,    33,    4095,  4096,
                                  4097, 10000, 16384, 20000, 28673, 50000, 120000};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    int64_t n = sizes[k];
    FlArray *a = fl_array_new(NULL, FL_F64, 1, &n);
    for (int64_t i = 0; i < n; i++) ((double *)a->data)[i] = value_at(i);
    Outcome o = run("float order", text, &(FlSlot){.a = a});
    check(o.error[0] == 0 && o.r[0].f == reference_sum(n, false) && o.r[1].f == reference_sum(n, true),
          "float order");
    done(&o);
    fl_array_unref(a);
  }
}

/* ---- operators --------------------------------------------------------------------------------------- */

#define F(results, body) "fn @f() -> (" results ") {\n" body "}\n"
#define N5 "  %0 = const 5 : i64\n  %1 = const 1 : i64\n  %2 = const 0 : i64\n"
/* i * i for i in 0..5 */
#define SQUARES "  %3 = map %0 : i64[] {\n    (%4: i64)\n    %5 = mul %4, %4 : i64\n    yield %5\n  }\n"

static void loops(void) {
  expect_i("map and load",
           F("i64", N5 SQUARES "  %6 = const 4 : i64\n  %7 = load %3, %6 : i64\n  yield %7\n"), 16);
  expect_i("store copies",
           F("i64", N5 SQUARES
             "  %6 = store %3, %1, %0 : i64[]\n  %7 = load %3, %1 : i64\n  %8 = load %6, %1 : i64\n"
             "  %9 = const 100 : i64\n  %10 = mul %8, %9 : i64\n  %11 = add %10, %7 : i64\n  yield %11\n"),
           501);
  expect_i(
      "collect",
      F("i64", N5
        "  %3 = const 2 : i64\n  %4, %5 = collect %0 : i64, i64[] {\n    (%6: i64)\n    %7 = mod %6, %3 : "
        "i64\n"
        "    %8 = eq %7, %2 : bool\n    yield %8, %6\n  }\n  %9 = load %5, %3 : i64\n  %10 = const 10 : i64\n"
        "  %11 = mul %10, %9 : i64\n  %12 = add %11, %4 : i64\n  yield %12\n"),
      43);
  expect_i(
      "scan",
      F("i64", N5
        "  %3 = scan %0, %2 : i64[] {\n    (%4: i64, %5: i64)\n    %6 = add %4, %5 : i64\n    yield %6\n  }\n"
        "  %7 = const 4 : i64\n  %8 = load %3, %7 : i64\n  yield %8\n"),
      10);
  expect_i("for carries arrays",
           F("i64", N5 SQUARES
             "  %6 = for %2, %0, %3 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = store %8, %7, %0 : i64[]\n"
             "    yield %9\n  }\n  %10 = reduce<kinds=[sum]> %0 : i64 {\n    (%11: i64)\n"
             "    %12 = load %6, %11 : i64\n    yield %12\n  }\n  yield %10\n"),
           25);
  expect_i("while runs once and then on",
           F("i64", N5
             "  %3 = while %0 : i64 {\n    (%4: i64)\n    %5 = mul %4, %0 : i64\n    %6 = const 1000 : i64\n"
             "    %7 = lt %5, %6 : bool\n    yield %7, %5\n  }\n  yield %3\n"),
           3125);
  expect_i("recursion",
           "fn @fact(%0: i64) -> (i64) {\n  %1 = const 1 : i64\n  %2 = le %0, %1 : bool\n  %3 = if %2 : i64 "
           "{\n    yield %1\n"
           "  } {\n    %4 = sub %0, %1 : i64\n    %5 = call<@fact> %4 : i64\n    %6 = mul %0, %5 : i64\n    "
           "yield %6\n  }\n"
           "  yield %3\n}\nfn @f() -> (i64) {\n  %0 = const 10 : i64\n  %1 = call<@fact> %0 : i64\n  yield "
           "%1\n}\n",
           3628800);
  expect_i(
      "rank 2, row-major",
      F("i64", N5
        "  %3 = const 3 : i64\n  %4 = map %0, %3 : i64[,] {\n    (%5: i64, %6: i64)\n    %7 = mul %5, %3 : "
        "i64\n"
        "    %8 = add %7, %6 : i64\n    yield %8\n  }\n  %9 = const 2 : i64\n  %10 = load %4, %9, %1 : i64\n"
        "  %11 = dim<i=1> %4 : i64\n  %12 = mul %11, %10 : i64\n  yield %12\n"),
      21);
  expect_i(
      "lists of arrays of several sizes",
      F("i64",
        N5 "  %3 = map %0 : list i64[] {\n    (%4: i64)\n    %5 = map %4 : i64[] {\n      (%6: i64)\n      "
           "yield %6\n"
           "    }\n    yield %5\n  }\n  %7 = dim %3 : i64\n  %8 = const 4 : i64\n  %9 = load %3, %8 : i64[]\n"
           "  %10 = dim %9 : i64\n  %11 = mul %7, %10 : i64\n  yield %11\n"),
      20);
}

static const char *reduce_with(char *text, size_t room, const char *kind, const char *type,
                               const char *result) {
  snprintf(
      text, room,
      "fn @f() -> (%s) {\n  %%0 = const 7 : i64\n  %%1 = const 3 : i64\n  %%2 = const 4 : i64\n"
      "  %%3 = reduce<kinds=[%s]> %%0 : %s {\n    (%%4: i64)\n    %%5 = sub %%4, %%1 : i64\n    %%6 = abs "
      "%%5 : i64\n"
      "    %%7 = lt %%6, %%1 : bool\n    %%8 = convert %%6 : f64\n    %%9 = add %%6, %%1 : i64\n    "
      "yield %s\n  }\n  yield %%3\n}\n",
      result, kind, result, type);
  return text;
}

static void reductions(void) {
  char text[1000];
  struct {
    const char *kind, *yield, *result;
    int64_t want;
  } rows[] = {{"sum", "%6", "i64", 12},   {"product", "%9", "i64", 6 * 5 * 4 * 3 * 4 * 5 * 6},
              {"min", "%6", "i64", 0},    {"max", "%6", "i64", 3},
              {"any", "%7", "bool", 1},   {"all", "%7", "bool", 0},
              {"count", "%7", "i64", 5},  {"argmin", "%6", "i64", 3},
              {"argmax", "%6", "i64", 0}, {"sum_product", "%6, %9", "i64", 3 * 6 * 2 + 2 * 5 * 2 + 4 * 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect_i(rows[i].kind, reduce_with(text, sizeof text, rows[i].kind, rows[i].yield, rows[i].result),
             rows[i].want);
  expect_i("several kinds in one sweep",
           F("i64", N5 "  %3, %4 = reduce<kinds=[sum, argmax]> %0 : i64, i64 {\n    (%5: i64)\n    "
                       "yield %5, %5\n  }\n"
                       "  %6 = mul %3, %4 : i64\n  yield %6\n"),
           40);
  expect_error(
      "nothing to take the least of",
      F("i64", N5 "  %3 = reduce<kinds=[min]> %2 : i64 {\n    (%4: i64)\n    yield %4\n  }\n  yield %3\n"),
      "nothing to reduce");
  expect_error("a sum is checked at its end",
               F("i64", "  %0 = const 2 : i64\n  %1 = const 9223372036854775807 : i64\n  %2 = "
                        "reduce<kinds=[sum]> %0 : i64 {\n"
                        "    (%3: i64)\n    yield %1\n  }\n  yield %2\n"),
               "overflow");
  expect_i("and only there",
           F("i64", "  %0 = const 3 : i64\n  %1 = const 9223372036854775807 : i64\n  %9 = const 1 : i64\n  "
                    "%2 = reduce<kinds=[sum]> %0 : i64 {\n"
                    "    (%3: i64)\n    %4 = eq %3, %9 : bool\n    %5 = sub %3, %1 : i64\n    %6 = wrap_sub "
                    "%5, %9 : i64\n"
                    "    %7 = select %4, %6, %1 : i64\n    yield %7\n  }\n  yield %2\n"),
           INT64_MAX - 1 + 1 - 0 - INT64_MAX + INT64_MAX);
}

static void texts(void) {
#define WORDS                                                                                                \
  "  %0 = const \"pear\" : text\n  %1 = const \"fig\" : text\n  %2 = const \"apple\" : text\n"               \
  "  %3 = array %0, %1, %2 : text[]\n  %4 = dim %3 : i64\n  %5 = const 1 : i64\n"
  expect_text("texts of an array", F("text", WORDS "  %6 = load %3, %5 : text\n  yield %6\n"), "fig");
  expect_text(
      "texts made by a map outlive it",
      F("text", WORDS
        "  %6 = map %4 : text[] {\n    (%7: i64)\n    %8 = load %3, %7 : text\n    %9 = upper %8 : text\n"
        "    %10 = text_concat %9, %8 : text\n    yield %10\n  }\n  %11 = load %6, %5 : text\n  yield %11\n"),
      "FIGfig");
  expect_text("the least text",
              F("text",
                WORDS "  %6 = reduce<kinds=[min]> %4 : text {\n    (%7: i64)\n    %8 = load %3, %7 : text\n"
                      "    %9 = upper %8 : text\n    yield %9\n  }\n  yield %6\n"),
              "APPLE");
  expect_text(
      "a text leaves the region whose array it was in",
      F("text", WORDS
        "  %6 = const true : bool\n  %7 = if %6 : text {\n    %8 = map %4 : text[] {\n      (%9: i64)\n"
        "      %10 = load %3, %9 : text\n      %11 = to_text<s=\">6\"> %10 : text\n      yield %11\n    }\n"
        "    %12 = load %8, %5 : text\n    yield %12\n  } {\n    yield %0\n  }\n  yield %7\n"),
      "   fig");
  expect_text(
      "collect",
      F("text", WORDS
        "  %6 = const 4 : i64\n  %7, %8 = collect %4 : i64, text[] {\n    (%9: i64)\n"
        "    %10 = load %3, %9 : text\n    %11 = n_chars %10 : i64\n    %12 = ge %11, %6 : bool\n"
        "    %13 = upper %10 : text\n    yield %12, %13\n  }\n  %14 = load %8, %5 : text\n  yield %14\n"),
      "APPLE");
  expect_text("scan",
              F("text", WORDS
                "  %6 = const \"\" : text\n  %7 = scan %4, %6 : text[] {\n    (%8: i64, %9: text)\n"
                "    %10 = load %3, %8 : text\n    %11 = text_concat %9, %10 : text\n    yield %11\n  }\n"
                "  %12 = const 2 : i64\n  %13 = load %7, %12 : text\n  yield %13\n"),
              "pearfigapple");
  expect_text("store",
              F("text", WORDS "  %6 = store %3, %5, %2 : text[]\n  %7 = load %6, %5 : text\n  yield %7\n"),
              "apple");
}

/* i runs over 0..10: `first` fails at 7 (index), `second` at 2 (division), in program order. */
static void errors(void) {
  expect_error(
      "first in program order, then in position",
      F("i64[]",
        "  %0 = const 10 : i64\n  %1 = const 3 : i64\n  %2 = map %1 : i64[] {\n    (%3: i64)\n    yield %3\n "
        " }\n"
        "  %4 = const 4 : i64\n  %5 = const 2 : i64\n  %6 = map %0 : i64[] {\n    (%7: i64)\n"
        "    %8 = sub %7, %4 : i64\n    %15 = const 0 : i64\n    %16 = max %8, %15 : i64\n    %9 = load %2, "
        "%16 : i64\n"
        "    %10 = sub %7, %5 : i64\n    %11 = floordiv %7, %10 : i64\n    yield %11\n  }\n  yield %6\n"),
      "index 3 is out of bounds for a dimension of size 3");
  expect_error("position decides within one operation",
               F("i64[]", "  %0 = const 10 : i64\n  %1 = map %0 : i64[] {\n    (%2: i64)\n    %3 = const 3 : "
                          "i64\n    %4 = mod %2, %3 : i64\n"
                          "    %5 = const 2 : i64\n    %6 = sub %4, %5 : i64\n    %7 = floordiv %2, %6 : "
                          "i64\n    yield %7\n  }\n  yield %1\n"),
               "division by zero: 2 by 0");
  expect_error("host code stops at once",
               F("i64",
                 "  %0 = const 9223372036854775807 : i64\n  %1 = const 0 : i64\n  %2 = add %0, %0 : i64\n"
                 "  %3 = floordiv %0, %1 : i64\n  yield %3\n"),
               "integer overflow: 9223372036854775807");
  expect_error("check says sizes",
               F("", "  %0 = const 3 : i64\n  %1 = const 4 : i64\n  %2 = eq %0, %1 : bool\n"
                     "  check<i=128, s=\"x has {a} rows but y has {b}\"> %2, %0, %1\n  yield\n"),
               "x has 3 rows but y has 4");
  expect_error("error raised by the script",
               F("i64", "  %0 = const \"no price\" : text\n  %1 = fail %0 : i64\n  yield %1\n"), "no price");
  expect_error("an error inside a call inside a list",
               "fn @g(%0: i64) -> (i64[]) {\n  %1 = const 6 : i64\n  %2 = floordiv %1, %0 : i64\n  %3 = "
               "array %2 : i64[]\n  yield %3\n}\n"
               "fn @f() -> (list i64[]) {\n  %0 = const 3 : i64\n  %1 = map %0 : list i64[] {\n    (%2: "
               "i64)\n    %3 = const 1 : i64\n"
               "    %4 = sub %2, %3 : i64\n    %5 = call<@g> %4 : i64[]\n    yield %5\n  }\n  yield %1\n}\n",
               "6 by 0");
}

static void stages(void) {
  expect_i(
      "a stage through the runtime",
      "stage @s(%0: i64) -> (i64[], i64) memo -1 key 00000000000000010000000000000002 {\n  %1 = map %0 : "
      "i64[] {\n"
      "    (%2: i64)\n    yield %2\n  }\n  yield %1, %0\n}\nfn @f() -> (i64) {\n  %0 = const 6 : i64\n"
      "  %1, %2 = stage<@s> %0 : i64[], i64\n  %3 = dim %1 : i64\n  %4 = mul %3, %2 : i64\n  yield %4\n}\n",
      36);
}

static void one_nan(void) {
  Outcome o =
      run("nan",
          F("f64[]", "  %0 = const 2 : i64\n  %1 = const 0.0 : f64\n  %2 = map %0 : f64[] {\n    (%3: i64)\n"
                     "    %4 = div %1, %1 : f64\n    %5 = neg %4 : f64\n    yield %5\n  }\n  yield %2\n"),
          NULL);
  check(o.error[0] == 0 && ((const uint64_t *)o.r[0].a->data)[1] == 0x7ff8000000000000,
        "stored NaN is canonical");
  done(&o);
}

/* Corners of the loops: nothing at all, several results, filters, what is carried. */
static void corners(void) {
  expect_i(
      "an empty map and collect",
      F("i64", N5
        "  %3 = map %2 : f64[] {\n    (%4: i64)\n    %5 = convert %4 : f64\n    yield %5\n  }\n"
        "  %6, %7 = collect %0 : i64, i64[] {\n    (%8: i64)\n    %9 = lt %8, %2 : bool\n    yield %9, %8\n  "
        "}\n"
        "  %10 = dim %3 : i64\n  %11 = dim %7 : i64\n  %12 = add %10, %11 : i64\n  %13 = add %12, %6 : i64\n"
        "  yield %13\n"),
      0);
  expect_i(
      "two results of one map",
      F("i64", N5
        "  %3, %4 = map %0 : i64[], bool[] {\n    (%5: i64)\n    %6 = add %5, %5 : i64\n    %7 = gt %5, %1 : "
        "bool\n"
        "    yield %6, %7\n  }\n  %8 = const 3 : i64\n  %9 = load %3, %8 : i64\n  %10 = load %4, %8 : bool\n"
        "  %11 = convert %10 : i64\n  %12 = add %9, %11 : i64\n  yield %12\n"),
      7);
  expect_i("filtered positions keep their place",
           F("i64", N5
             "  %3 = reduce<kinds=[argmax filtered]> %0 : i64 {\n    (%4: i64)\n    %5 = lt %4, %0 : bool\n"
             "    %6 = const 3 : i64\n    %7 = ne %4, %6 : bool\n    %8 = mod %4, %6 : i64\n    yield %8, "
             "%7\n  }\n  yield %3\n"),
           2);
  expect_i("the first of several NaN, before any number",
           F("i64",
             N5 "  %3 = const 2.0 : f64\n  %4 = const nan : f64\n  %5 = reduce<kinds=[argmin]> %0 : i64 "
                "{\n    (%6: i64)\n"
                "    %7 = const 3 : i64\n    %8 = ge %6, %7 : bool\n    %9 = select %8, %4, %3 : "
                "f64\n    yield %9\n  }\n"
                "  yield %5\n"),
           3);
  expect_i(
      "arrays carried by while",
      F("i64", N5 SQUARES
        "  %6, %7 = while %3, %2 : i64[], i64 {\n    (%8: i64[], %9: i64)\n    %10 = store %8, %9, %1 : "
        "i64[]\n"
        "    %11 = add %9, %1 : i64\n    %12 = lt %11, %0 : bool\n    yield %12, %10, %11\n  }\n"
        "  %13 = reduce<kinds=[sum]> %0 : i64 {\n    (%14: i64)\n    %15 = load %6, %14 : i64\n    yield "
        "%15\n  }\n"
        "  yield %13\n"),
      5);
  expect_i("a long loop of stores does not copy each time",
           F("i64", "  %0 = const 300000 : i64\n  %1 = const 1 : i64\n  %2 = map %0 : i64[] {\n    (%3: "
                    "i64)\n    yield %1\n  }\n"
                    "  %4 = for %1, %0, %2 : i64[] {\n    (%5: i64, %6: i64[])\n    %7 = sub %5, %1 : i64\n"
                    "    %8 = load %6, %7 : i64\n    %9 = add %8, %1 : i64\n    %10 = store %6, %5, %9 : "
                    "i64[]\n    yield %10\n  }\n"
                    "  %11 = sub %0, %1 : i64\n  %12 = load %4, %11 : i64\n  %13 = load %2, %11 : i64\n  %14 "
                    "= mul %12, %13 : i64\n"
                    "  yield %14\n"),
           300000);
  expect_text("lists of text arrays",
              F("text",
                WORDS "  %6 = map %4 : list text[] {\n    (%7: i64)\n    %8 = load %3, %7 : text\n    %9 = "
                      "upper %8 : text\n"
                      "    %10 = array %8, %9 : text[]\n    yield %10\n  }\n  %11 = load %6, %5 : text[]\n"
                      "  %12 = load %11, %5 : text\n  yield %12\n"),
              "FIG");
  expect_text("a text result of a call",
              "fn @g(%0: text[], %1: i64) -> (text) {\n  %2 = load %0, %1 : text\n  %3 = upper %2 : text\n  "
              "%4 = array %3 : text[]\n"
              "  %5 = const 0 : i64\n  %6 = load %4, %5 : text\n  yield %6\n}\nfn @f() -> (text) {\n" WORDS
              "  %6 = call<@g> %3, %5 : text\n  yield %6\n}\n",
              "FIG");
}

static void more_errors(void) {
  expect_error(
      "the first axis of an index comes first, wherever it fails",
      F("i64[]",
        "  %0 = const 6 : i64\n  %1 = const 4 : i64\n  %2 = map %1, %1 : i64[,] {\n    (%3: i64, %4: i64)\n"
        "    yield %3\n  }\n  %5 = map %0 : i64[] {\n    (%6: i64)\n    %7 = const 2 : i64\n"
        "    %8 = add %6, %7 : i64\n    %9 = sub %0, %6 : i64\n    %10 = load %2, %8, %9 : i64\n    yield "
        "%10\n  }\n"
        "  yield %5\n"),
      "index 4 is out of bounds for a dimension of size 4");
  expect_error("an element of a kernel ends at its first fault",
               F("i64[]", "  %0 = const 4 : i64\n  %1 = map %0 : i64[] {\n    (%2: i64)\n    %3 = "
                          "reduce<kinds=[sum]> %0 : i64 {\n"
                          "      (%4: i64)\n      %5 = const 1 : i64\n      %6 = sub %4, %5 : i64\n      %7 "
                          "= floordiv %2, %6 : i64\n"
                          "      yield %7\n    }\n    yield %3\n  }\n  yield %1\n"),
               "division by zero: 0 by 0");
  expect_error("integer products are checked step by step",
               F("i64",
                 "  %0 = const 4 : i64\n  %1 = const 4000000000 : i64\n  %2 = const 2 : i64\n"
                 "  %3 = reduce<kinds=[product]> %0 : i64 {\n    (%4: i64)\n    %5 = le %4, %2 : bool\n"
                 "    %6 = const 0 : i64\n    %7 = select %5, %1, %6 : i64\n    yield %7\n  }\n  yield %3\n"),
               "overflow");
  expect_error("what a conversion was given",
               F("i64", "  %0 = const 2.5 : f64\n  %1 = convert %0 : i64\n  yield %1\n"), "2.5 does not fit");
  expect_error("a text that does not parse",
               F("f64", "  %0 = const \"12x\" : text\n  %1 = parse_f64 %0 : f64\n  yield %1\n"), "12x");
}

static void float32_order(void) {
  const char *text =
      "fn @f(%0: f32[]) -> (f32) {\n  %1 = dim %0 : i64\n  %2 = reduce<kinds=[sum_product]> %1 "
      ": f32 {\n    (%3: i64)\n"
      "    %4 = load %0, %3 : f32\n    yield %4, %4\n  }\n  yield %2\n}\n";
  int64_t n = 5000;
  FlArray *a = fl_array_new(NULL, FL_F32, 1, &n);
  float *x = a->data, total = 0;
  for (int64_t i = 0; i < n; i++) x[i] = (float)value_at(i);
  for (int64_t block = 0; block < n; block += 4096) {
    float lane[32] = {0};
    for (int64_t p = block; p < n && p < block + 4096; p++) lane[p % 32] = fmaf(x[p], x[p], lane[p % 32]);
    for (int step = 16; step > 0; step /= 2)
      for (int i = 0; i < step; i++) lane[i] += lane[i + step];
    total += lane[0];
  }
  Outcome o = run("f32 order", text, &(FlSlot){.a = a});
  check(o.error[0] == 0 && o.r[0].f32 == total, "f32 order");
  done(&o);
  fl_array_unref(a);
}

/* ---- whole programs ------------------------------------------------------------------------------------ */

static void collect_output(void *arg, const char *bytes, int64_t len) {
  fl_text_add(arg, bytes, (size_t)len);
}

/* main with a parameter, a loop of effects, a stage and a runtime operator; then an error with its place. */
static void programs(void) {
  const char *text =
      "module \"t\"\nparam \"n\" \"i64\" i64 default \"3\"\n"
      "stage @squares(%0: i64) -> (i64[]) memo -1 key 00000000000000010000000000000002 {\n"
      "  %1 = map %0 : i64[] {\n    (%2: i64)\n    %3 = mul %2, %2 : i64\n    yield %3\n  }\n  yield %1\n}\n"
      "main @main(%0: i64) -> () {\n  %1 = stage<@squares> %0 : i64[]\n  %2 = const 0 : i64\n  for %2, %0 "
      "{\n    (%3: i64)\n"
      "    %4 = load %1, %3 : i64\n    %5 = to_text<s=\"03\"> %4 : text\n    print %5\n    yield\n  }\n"
      "  %6 = load %1, %0 : i64\n  yield\n}\n";
  FlArena *arena = fl_arena_new();
  FlSources *sources = fl_sources_make(arena);
  FlModule *m = fl_ir_read(arena, text, fl_sink_make(arena, sources));
  check(m != NULL, "the program reads");
  if (m != NULL) {
    FlInterp *in = fl_interp_make(arena, fl_plan_make(arena, m, 0), sources);
    const FlProgram *program = fl_interp_program(in, NULL);
    check(program->n_params == 1 && program->n_stages == 1 && strcmp(program->params[0].name, "n") == 0,
          "its tables");
    FlText1 out = {0};
    FlRunOptions options = {.workers = 2, .quiet = true, .out = collect_output, .out_arg = &out};
    FlRun *r = fl_run_new(program, &options);
    FlStatus s = program->main(fl_run_ctx(r), &(FlSlot){.i = 3}, NULL);
    check(out.len == 12 && memcmp(out.s, "000\n001\n004\n", 12) == 0, "its output, in order");
    check(s != 0 && strstr(fl_ctx_message(fl_run_ctx(r)), "index 3 is out of bounds") != NULL, "its error");
    fl_run_free(r);
    fl_text_reset(&out);
  }
  fl_arena_free(arena);
}

int main(void) {
  programs();
  corners();
  more_errors();
  float32_order();
  loops();
  reductions();
  float_order();
  texts();
  errors();
  stages();
  one_nan();
  return finish();
}
