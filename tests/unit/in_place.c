/* in_place: which stores write where the array lies, and how loops hold the arrays that they carry. A case is
 * the body of a function, and what is found in it, in the order of the text: of a loop's carried arrays `s`
 * (the same object throughout, as it was given), `m` (made unique before the loop) or `a` (any other); of a
 * store `1` or `0`. */
#include "check.h"
#include "plan/in_place.h"

#include <string.h>

typedef struct Case {
  const char *name, *body, *found;
} Case;

static void find(FlInPlace *p, const FlRegion *r, char *out) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_STORE) strcat(out, fl_in_place_store(p, op) ? "1" : "0");
    if (op->code == FL_OP_FOR || op->code == FL_OP_WHILE)
      for (int i = 0; i < op->n_results; i++)
        if (!fl_t_is_scalar(op->results[i]->type))
          strcat(out, (const char *[]){"a", "m", "s"}[fl_in_place_carry(p, op, i)]);
    for (int i = 0; i < op->n_regions; i++) find(p, op->regions[i], out);
  }
}

static const char HEAD[] = "module \"m\"\n\n"
                           "fn @f(%0: i64, %1: i64[]) -> (i64[]) {\n"
                           "  %2 = const 0 : i64\n"
                           "  %3 = const 3 : i64\n"
                           "  %4 = map %0 : i64[] {\n    (%5: i64)\n    yield %5\n  }\n";
static const char TAIL[] = "}\n\n"
                           "main @main() -> () {\n  yield\n}\n";

static const Case cases[] = {
    {"a store in each round into a fresh array",
     "  %6 = for %2, %0, %4 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = store %8, %7, %3 : i64[]\n    "
     "yield %9\n  }\n"
     "  yield %6\n",
     "s1"},
    {"a store in one branch",
     "  %6 = for %2, %0, %4 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = gt %7, %3 : bool\n"
     "    %10 = if %9 : i64[] {\n      %11 = store %8, %7, %3 : i64[]\n      yield %11\n    } {\n      yield "
     "%8\n    }\n"
     "    yield %10\n  }\n  yield %6\n",
     "s1"},
    {"another array from the other branch",
     "  %6 = for %2, %0, %4 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = gt %7, %3 : bool\n"
     "    %10 = if %9 : i64[] {\n      %11 = store %8, %7, %3 : i64[]\n      yield %11\n    } {\n"
     "      %12 = map %0 : i64[] {\n        (%13: i64)\n        yield %7\n      }\n      yield %12\n    }\n"
     "    yield %10\n  }\n  yield %6\n",
     "a0"},
    {"the array is the caller's: it is copied before the loop that stores in each round",
     "  %6 = for %2, %0, %1 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = store %8, %7, %3 : i64[]\n    "
     "yield %9\n  }\n"
     "  yield %6\n",
     "m1"},
    {"the array is the caller's, and may never be stored into",
     "  %6 = for %2, %0, %1 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = gt %7, %3 : bool\n"
     "    %10 = if %9 : i64[] {\n      %11 = store %8, %7, %3 : i64[]\n      yield %11\n    } {\n      yield "
     "%8\n    }\n"
     "    yield %10\n  }\n  yield %6\n",
     "a0"},
    {"the array is used after the loop",
     "  %6 = for %2, %0, %4 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = store %8, %7, %3 : i64[]\n    "
     "yield %9\n  }\n"
     "  %10 = load %4, %2 : i64\n  %11 = store %6, %2, %10 : i64[]\n  yield %11\n",
     "m10"},
    {"an earlier state is kept by another carried value",
     "  %6, %7 = for %2, %0, %4, %4 : i64[], i64[] {\n    (%8: i64, %9: i64[], %10: i64[])\n"
     "    %11 = store %9, %8, %3 : i64[]\n    yield %11, %9\n  }\n  yield %7\n",
     "aa0"},
    {"two arrays change places",
     "  %6 = map %0 : i64[] {\n    (%7: i64)\n    yield %3\n  }\n"
     "  %8, %9 = for %2, %0, %4, %6 : i64[], i64[] {\n    (%10: i64, %11: i64[], %12: i64[])\n"
     "    %13 = store %11, %10, %3 : i64[]\n    yield %12, %13\n  }\n  yield %8\n",
     "aa0"},
    {"loops in loops",
     "  %6 = for %2, %0, %4 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = for %2, %3, %8 : i64[] {\n"
     "      (%10: i64, %11: i64[])\n      %12 = load %11, %7 : i64\n      %13 = store %11, %10, %12 : i64[]\n"
     "      yield %13\n    }\n    yield %9\n  }\n  yield %6\n",
     "ss1"},
    {"a task gives the array back in a list",
     "  %6 = for %2, %0, %4 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = map %3 : list i64[] {\n      (%10: "
     "i64)\n"
     "      yield %8\n    }\n    %11 = load %9, %2 : i64[]\n    %12 = load %11, %2 : i64\n"
     "    %13 = store %8, %7, %12 : i64[]\n    yield %13\n  }\n  yield %6\n",
     "a0"},
    {"a kernel reads the array",
     "  %6 = for %2, %0, %4 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = reduce<kinds=[sum]> %3 : i64 {\n   "
     "  "
     " (%10: i64)\n"
     "      %11 = load %8, %10 : i64\n      yield %11\n    }\n    %12 = store %8, %7, %9 : i64[]\n    yield "
     "%12\n  }\n"
     "  yield %6\n",
     "s1"},
    {"rows of the array are a view of it",
     "  %6 = for %2, %0, %4 : i64[] {\n    (%7: i64, %8: i64[])\n    %9 = rows %8, %2, %3 : i64[]\n"
     "    %10 = load %9, %2 : i64\n    %11 = store %8, %7, %10 : i64[]\n    yield %11\n  }\n  yield %6\n",
     "a0"},
    {"a while whose body stands under a test",
     "  %6 = while %1 : i64[] {\n    (%7: i64[])\n    %8 = load %7, %2 : i64\n    %9 = gt %8, %3 : bool\n"
     "    %10 = if %9 : i64[] {\n      %11 = store %7, %2, %3 : i64[]\n      yield %11\n    } {\n      yield "
     "%7\n    }\n"
     "    yield %9, %10\n  }\n  %12 = store %6, %2, %3 : i64[]\n  yield %12\n",
     "m11"},
};

static void run(const Case *c) {
  FlArena *arena = fl_arena_new();
  FlSink *sink = fl_sink_make(arena, fl_sources_make(arena));
  char text[4096], found[64] = "";
  snprintf(text, sizeof text, "%s%s%s", HEAD, c->body, TAIL);
  FlModule *m = fl_ir_read(arena, text, sink);
  if (m) find(fl_in_place_make(arena, fl_lifetime_make(arena, m->first), m->first), m->first->body, found);
  check(m && strcmp(found, c->found) == 0, "%s: %s, expected %s", c->name, found, c->found);
  if (!m) {
    FlText1 out = {0};
    fl_sink_print(sink, &out, false);
    printf("%s\n", out.s);
    fl_text_reset(&out);
  }
  fl_arena_free(arena);
}

int main(void) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) run(&cases[i]);
  return finish();
}
