/* codegen_host.c: host code: arrays and lists through control flow, calls, stages, tasks and failures. Built
 * with -fsanitize=address it also shows that every reference is released once. */
#include "codegen_kit.h"

typedef struct Case {
  const char *name, *ir, *want;
} Case;

#define PRINT_I(at, v) "  %" at " = to_text<s=\"\"> %" v " : text\n  print %" at "\n"

static const Case cases[] = {
    {"carried array written in place",
     "main @main() -> () {\n"
     "  %0 = const 20 : i64\n  %1 = const 0 : i64\n  %2 = const 1.5 : f64\n  %3 = const 3 : i64\n"
     "  %4 = array %2, %2, %2 : f64[]\n"
     "  %5 = for %1, %0, %4 : f64[] {\n    (%6: i64, %7: f64[])\n    %8 = mod %6, %3 : i64\n"
     "    %9 = load %7, %8 : f64\n    %10 = add %9, %2 : f64\n    %11 = store %7, %8, %10 : f64[]\n"
     "    yield %11\n  }\n"
     "  %12 = load %5, %1 : f64\n" PRINT_I("13", "12") "  %14 = load %4, %1 : f64\n" PRINT_I(
         "15", "14") "  yield\n}\n",
     "12.0\n1.5\n"},
    {"array that loops swap",
     "main @main() -> () {\n"
     "  %0 = const 7 : i64\n  %1 = const 0 : i64\n  %2 = const 1 : i64\n  %3 = const 2 : i64\n"
     "  %4 = array %1, %2 : i64[]\n  %5 = array %2, %3 : i64[]\n"
     "  %6, %7, %8 = for %1, %0, %4, %5, %4 : i64[], i64[], i64[] {\n"
     "    (%9: i64, %10: i64[], %11: i64[], %12: i64[])\n    %13 = store %10, %1, %9 : i64[]\n"
     "    yield %11, %13, %11\n  }\n"
     "  %14 = load %6, %1 : i64\n" PRINT_I("15", "14") "  %16 = load %7, %1 : i64\n" PRINT_I(
         "17",
         "16") "  %18 = load %8, %1 : i64\n" PRINT_I("19",
                                                     "18") "  %20 = load %4, %1 : i64\n" PRINT_I("21",
                                                                                                 "20") "  "
                                                                                                       "yield"
                                                                                                       "\n"
                                                                                                       "}\n",
     "5\n6\n5\n0\n"},
    {"if and while with arrays",
     "fn @same(%0: f64[], %1: bool) -> (f64[], f64[]) {\n"
     "  %2 = if %1 : f64[] {\n    yield %0\n  } {\n    %3 = const 2.0 : f64\n    %4 = array %3 : f64[]\n"
     "    yield %4\n  }\n  yield %2, %2\n}\n"
     "main @main() -> () {\n"
     "  %0 = const 0 : i64\n  %1 = const 1 : i64\n  %2 = const 3 : i64\n  %3 = const 0.5 : f64\n"
     "  %4 = array %3, %3 : f64[]\n"
     "  %5, %6 = while %0, %4 : i64, f64[] {\n    (%7: i64, %8: f64[])\n    %9 = add %7, %1 : i64\n"
     "    %10 = lt %9, %2 : bool\n    %11, %12 = call<@same> %8, %10 : f64[], f64[]\n"
     "    %13 = dim %12 : i64\n    %14 = gt %13, %0 : bool\n    %15 = and %14, %10 : bool\n"
     "    yield %15, %9, %11\n  }\n"
     "  %16 = dim %6 : i64\n" PRINT_I("17", "16") "  %18 = load %6, %0 : f64\n" PRINT_I("19", "18")
         PRINT_I("20", "5") "  yield\n}\n",
     "1\n2.0\n3\n"},
    {"lists from tasks, stored and loaded",
     "main @main() -> () {\n"
     "  %0 = const 0 : i64\n  %1 = const 1 : i64\n  %2 = const 5 : i64\n  %3 = const 2 : i64\n"
     "  %4, %5 = map %2 : list f64[], i64[] {\n    (%6: i64)\n    %7 = map %6 : f64[] {\n      (%8: i64)\n"
     "      %9 = add %8, %6 : i64\n      %10 = convert %9 : f64\n      yield %10\n    }\n"
     "    %11 = dim %7 : i64\n    %12 = mul %11, %3 : i64\n    yield %7, %12\n  }\n"
     "  %13 = load %4, %3 : f64[]\n  %14 = store %4, %1, %13 : list f64[]\n"
     "  %15 = load %14, %1 : f64[]\n  %16 = dim %15 : i64\n" PRINT_I(
         "17",
         "16") "  %18 = load %4, %1 : f64[]\n  %19 = dim %18 : i64\n" PRINT_I("20",
                                                                              "19") "  %21 = "
                                                                                    "reduce<kinds=[sum]> %2 "
                                                                                    ": i64 {\n"
                                                                                    "    (%22: i64)\n"
                                                                                    "    %23 = load %5, %22 "
                                                                                    ": i64\n"
                                                                                    "    yield %23\n"
                                                                                    "  }\n" PRINT_I(
                                                                                        "24",
                                                                                        "21") "  %25 = "
                                                                                              "reduce<kinds=["
                                                                                              "sum]> %2 : "
                                                                                              "f64 {\n"
                                                                                              "    (%26: "
                                                                                              "i64)\n"
                                                                                              "    %27 = "
                                                                                              "load %14, %26 "
                                                                                              ": f64[]\n"
                                                                                              "    %28 = dim "
                                                                                              "%27 : i64\n"
                                                                                              "    %29 = "
                                                                                              "reduce<kinds=["
                                                                                              "sum]> %28 : "
                                                                                              "f64 {\n"
                                                                                              "      (%30: "
                                                                                              "i64)\n"
                                                                                              "      %31 = "
                                                                                              "load %27, %30 "
                                                                                              ": f64\n"
                                                                                              "      yield "
                                                                                              "%31\n"
                                                                                              "    }\n"
                                                                                              "    yield "
                                                                                              "%29\n"
                                                                                              "  }\n" PRINT_I(
                                                                                                  "32",
                                                                                                  "25") "  "
                                                                                                        "yiel"
                                                                                                        "d\n"
                                                                                                        "}\n",
     "2\n1\n20\n44.0\n"},
    {"texts outlive their arrays",
     "main @main() -> () {\n"
     "  %0 = const 0 : i64\n  %1 = const 1 : i64\n  %2 = const 4 : i64\n  %3 = const \"x\" : text\n"
     "  %4, %5 = for %0, %2, %3, %0 : text, i64 {\n    (%6: i64, %7: text, %8: i64)\n"
     "    %9 = map %2 : text[] {\n      (%10: i64)\n      %11 = to_text<s=\"\"> %10 : text\n"
     "      %12 = text_concat %7, %11 : text\n      yield %12\n    }\n    %13 = store %9, %0, %7 : text[]\n"
     "    %14 = load %13, %6 : text\n"
     "    %15 = reduce<kinds=[argmax]> %2 : i64 {\n      (%16: i64)\n      %17 = load %13, %16 : text\n"
     "      yield %17\n    }\n    yield %14, %15\n  }\n"
     "  print %4\n" PRINT_I("18", "5") "  %19, %20 = collect %2 : i64, text[] {\n    (%21: i64)\n    %22 = "
                                       "to_text<s=\"\"> %21 : text\n"
                                       "    %23 = ne %21, %1 : bool\n    yield %23, %22\n  }\n  %24 = load "
                                       "%20, %1 : text\n  print %24\n"
                                       "  yield\n}\n",
     "x123\n3\n2\n"},
    {"a result over the array that dies",
     "main @main() -> () {\n"
     "  %0 = const 0 : i64\n  %1 = const 5000 : i64\n  %2 = const 2.0 : f64\n"
     "  %3 = map %1 : f64[] {\n    (%4: i64)\n    %5 = convert %4 : f64\n    yield %5\n  }\n"
     "  %6 = map %1 : f64[] {\n    (%7: i64)\n    %8 = load<i=1> %3, %7 : f64\n    %9 = mul %8, %2 : f64\n"
     "    yield %9\n  }\n"
     "  %10 = map %1 : f64[] {\n    (%11: i64)\n    %12 = load<i=1> %3, %11 : f64\n"
     "    %13 = load<i=1> %6, %11 : f64\n    %14 = add %12, %13 : f64\n    yield %14\n  }\n"
     "  %15 = reduce<kinds=[sum]> %1 : f64 {\n    (%16: i64)\n    %17 = load<i=1> %10, %16 : f64\n    yield "
     "%17\n  }\n" PRINT_I("18", "15") "  yield\n}\n",
     "37492500.0\n"},
    {"stages, the first failure of two",
     "stage @bad(%0: i64[], %1: i64) -> (i64[]) memo -1 key 00000000000000010000000000000002 {\n"
     "  %2 = load %0, %1 : i64\n  %3 = array %2 : i64[]\n  yield %3\n}\n"
     "main @main() -> () {\n"
     "  %0 = const 1 : i64\n  %1 = const 9 : i64\n  %2 = const 8 : i64\n  %3 = array %0, %1 : i64[]\n"
     "  %4 = stage<@bad> %3, %0 : i64[]\n  %5 = stage<@bad> %3, %1 : i64[]\n"
     "  %6 = stage<@bad> %3, %2 : i64[]\n  %7 = dim %4 : i64\n" PRINT_I(
         "8",
         "7") "  %9 = load %6, %0 : i64\n" PRINT_I("10",
                                                   "9") "  %11 = load %5, %0 : i64\n" PRINT_I("12",
                                                                                              "11") "  "
                                                                                                    "yield\n"
                                                                                                    "}\n",
     NULL},
    {"a stage's failure before that of what follows it",
     "stage @bad(%0: i64[], %1: i64) -> (i64[]) memo -1 key 00000000000000010000000000000002 {\n"
     "  %2 = load %0, %1 : i64\n  %3 = array %2 : i64[]\n  yield %3\n}\n"
     "main @main() -> () {\n"
     "  %0 = const 1 : i64\n  %1 = const 9 : i64\n  %2 = const 8 : i64\n  %3 = array %0, %1 : i64[]\n"
     "  %4 = stage<@bad> %3, %0 : i64[]\n  %5 = stage<@bad> %3, %1 : i64[]\n"
     "  %6 = load %3, %2 : i64\n" PRINT_I("7", "6") "  %8 = dim %5 : i64\n" PRINT_I(
         "9", "8") "  %10 = dim %4 : i64\n" PRINT_I("11", "10") "  yield\n}\n",
     "error: index 9 is out of bounds for a dimension of size 2\n"},
    {"failure in the middle of loops, calls and tasks",
     "fn @deep(%0: i64, %1: f64[]) -> (f64[]) {\n"
     "  %2 = const 0 : i64\n  %3 = const 1 : i64\n  %4 = gt %0, %2 : bool\n"
     "  %5 = map %3 : f64[] {\n    (%6: i64)\n    %7 = load %1, %6 : f64\n    yield %7\n  }\n"
     "  %8 = if %4 : f64[] {\n    %9 = sub %0, %3 : i64\n    %10 = call<@deep> %9, %5 : f64[]\n    yield "
     "%10\n"
     "  } {\n    %11 = load %5, %3 : f64\n    %12 = array %11 : f64[]\n    yield %12\n  }\n  yield %8\n}\n"
     "main @main() -> () {\n"
     "  %0 = const 0 : i64\n  %1 = const 3 : i64\n  %2 = const 2.0 : f64\n  %3 = array %2 : f64[]\n"
     "  %4 = map %1 : list f64[] {\n    (%5: i64)\n"
     "    %6 = for %0, %1, %3 : f64[] {\n      (%7: i64, %8: f64[])\n      %9 = store %8, %0, %2 : f64[]\n"
     "      %10 = eq %5, %7 : bool\n      %11 = if %10 : f64[] {\n        %12 = call<@deep> %1, %9 : f64[]\n"
     "        yield %12\n      } {\n        yield %9\n      }\n      yield %11\n    }\n    yield %6\n  }\n"
     "  %13 = load %4, %0 : f64[]\n  %14 = dim %13 : i64\n" PRINT_I("15", "14") "  yield\n}\n",
     NULL},
    {"check, fail and exact integer sums",
     "main @main() -> () {\n"
     "  %0 = const 2 : i64\n  %1 = const 9223372036854775807 : i64\n  %2 = const 5000 : i64\n  %3 = const 1 "
     ": i64\n"
     "  %4 = reduce<kinds=[sum]> %2 : i64 {\n    (%5: i64)\n    %6 = mod %5, %0 : i64\n    %7 = eq %6, %3 : "
     "bool\n"
     "    %8 = sub %5, %1 : i64\n    %9 = sub %8, %5 : i64\n    %10 = select %7, %1, %9 : i64\n    yield "
     "%10\n  }\n" PRINT_I(
         "11",
         "4") "  %12 = eq %4, %3 : bool\n  check<i=512, s=\"{a} is not {b}\"> %12, %4, %3\n  yield\n}\n",
     NULL},
};

int main(void) {
  FlCodegenFn *codegen = kit_codegen();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FlArena *arena = fl_arena_new();
    FlSources *sources = fl_sources_make(arena);
    FlSink *sink = fl_sink_make(arena, sources);
    FlText1 text = {0};
    fl_text_addf(&text, "module \"case\"\n%s", cases[i].ir);
    FlSource *source = fl_sources_add(sources, "case.flow", text.s, text.len);
    FlModule *m = fl_ir_read(arena, source->text, sink);
    if (m) {
      kit_check(codegen, arena, m, sources, cases[i].name, cases[i].want);
    } else {
      FlText1 said = {0};
      fl_sink_print(sink, &said, false);
      printf("%s:\n%s\n", cases[i].name, said.s);
      fl_text_reset(&said);
      failed++;
    }
    fl_text_reset(&text);
    fl_arena_free(arena);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
