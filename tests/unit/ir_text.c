/* ir_text: the text form of the IR. Every tests/ir/<name>.ir prints back as itself; damaged texts are refused
 * with a place and without a crash; the verifier finds broken rules; the canonical encoding knows meaning,
 * not names. */
#include "check.h"
#include "ir/ir.h"

#include <dirent.h>
#include <stdlib.h>

static char *read_whole(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = calloc(1, 1 << 20);
  size_t n = fread(text, 1, (1 << 20) - 1, f);
  text[n] = '\0';
  fclose(f);
  return text;
}

static FlModule *parse(FlArena *arena, const char *text, FlSink **sink) {
  *sink = fl_sink_make(arena, fl_sources_make(arena));
  return fl_ir_read(arena, text, *sink);
}

static void round_trip(const char *name, const char *text) {
  FlArena *arena = fl_arena_new();
  FlSink *sink;
  FlModule *m = parse(arena, text, &sink);
  FlText1 out = {0};
  if (m) fl_ir_print(&out, m);
  else fl_sink_print(sink, &out, false);
  check(m && strcmp(out.s, text) == 0, "%s", name);
  if (!m || strcmp(out.s, text) != 0) printf("%s\n", out.s);
  fl_text_reset(&out);
  fl_arena_free(arena);
}

/* Cutting a text anywhere or losing one byte of it must never crash, and a text that still reads must verify.
 */
static void damage(const char *text) {
  size_t len = strlen(text);
  int survived = 0;
  char *copy = malloc(len + 1);
  for (size_t at = 0; at < len; at += 1 + at % 3) {
    FlArena *arena = fl_arena_new();
    FlSink *sink;
    memcpy(copy, text, at);
    strcpy(copy + at, text + at + 1);
    FlModule *m = parse(arena, copy, &sink);
    survived += (m != NULL) == (sink->n_errors == 0);
    copy[at] = '\0';
    m = parse(arena, copy, &sink);
    survived += (m != NULL) == (sink->n_errors == 0);
    fl_arena_free(arena);
    survived -= 2;
  }
  free(copy);
  check(survived == 0, "a damaged text is read or reported, never both");
}

static void refused(const char *body, FlDiagCode code, const char *what) {
  FlArena *arena = fl_arena_new();
  FlSink *sink;
  const char *text =
      fl_arena_printf(arena, "module \"m\"\nfn @f(%%0: i64, %%1: f64[]) -> () {\n%s  yield\n}\n", body);
  FlModule *m = parse(arena, text, &sink);
  check(!m && sink->n_errors == 1 && sink->diags.at[0]->code == code, "%s", what);
  fl_arena_free(arena);
}

/* `word` many times between two texts. */
static void refused_many(const char *before, const char *word, int times, const char *after,
                         const char *what) {
  FlText1 body = {0};
  fl_text_addz(&body, before);
  for (int i = 0; i < times; i++) fl_text_addz(&body, word);
  fl_text_addz(&body, after);
  refused(body.s, FL_E0190, what);
  fl_text_reset(&body);
}

static void encode(const char *text, FlText1 *out) {
  FlArena *arena = fl_arena_new();
  FlSink *sink;
  FlModule *m = parse(arena, text, &sink);
  check(m != NULL, "text for encoding reads");
  if (m) fl_ir_encode_func(out, m->first);
  fl_arena_free(arena);
}

static bool same_encoding(const char *a, const char *b) {
  FlText1 x = {0}, y = {0};
  encode(a, &x);
  encode(b, &y);
  bool same = x.len == y.len && memcmp(x.s, y.s, x.len) == 0;
  fl_text_reset(&x);
  fl_text_reset(&y);
  return same;
}

int main(void) {
  const char *folder = FLOW_TESTS "/ir";
  DIR *dir = opendir(folder);
  check(dir != NULL, "%s", folder);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    if (!strstr(e->d_name, ".ir")) continue;
    char path[1300];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    char *text = read_whole(path);
    round_trip(e->d_name, text);
    damage(text);
    free(text);
  }
  if (dir) closedir(dir);

  refused("  %2 = plus %0, %0 : i64\n", FL_E0191, "unknown operator");
  refused("  %2 = add %0, %9 : i64\n", FL_E0192, "undefined value");
  refused("  %2 = call<@g> : i64\n", FL_E0192, "undefined function");
  refused("  %2 = add %0 %0 : i64\n", FL_E0190, "missing comma");
  refused("  %2 = const \"a : text\n", FL_E0190, "text that does not end");
  refused("  %2 = add %0, %1 : i64\n", FL_E0193, "array where a scalar is wanted");
  refused("  %2 = add %0, %0 : f64\n", FL_E0193, "result of another type");
  refused("  %2 = load %1, %0, %0 : f64\n", FL_E0193, "too many indices");
  refused("  %2 = const 300 : u8\n", FL_E0193, "constant that does not fit");
  refused("  %2 = const \"x\" : text\n  print %2\n", FL_E0193, "effect in pure code");
  refused("  %2 = map %0 : f64[] {\n    (%3: i64)\n    yield %3\n  }\n", FL_E0193, "yield of another type");
  refused("  %2 = map %0 : i64[] {\n    (%3: i64)\n    yield %3\n  }\n  %4 = add %3, %3 : i64\n", FL_E0193,
          "a region's value is not seen outside");
  refused("  %2 = reduce<kinds=[sun]> %0 : i64 {\n    (%3: i64)\n    yield %3\n  }\n", FL_E0192,
          "unknown reduction");

  refused_many("  %2 = const true : bool\n", "  if %2 {\n", 100000, "", "regions within regions without end");
  refused_many("  %2 = add %0, %0 : f64[", ",", 256, "]\n", "an axis count that wraps to none");
  refused_many("  %2 = add %0, %0 : ", "list ", 256, "f64[]\n", "lists of lists that wrap to none");

  refused("  %2 = extern<s=\"f\", i=1> %1 : f64\n", FL_E0193, "a C function without a library");
  refused("  %2 = extern<s=\"f\", i=1, library=\"m\"> %1 : f64[]\n", FL_E0193, "a size that is an array");
  const char *at_one = "module \"m\"\nfn @f(%0: f64) -> (f64) {\n"
                       "  %1 = extern<s=\"f\", library=\"/a\" content 00000000000000000000000000000001> %0 : "
                       "f64\n  yield %1\n}\n";
  const char *at_two = "module \"m\"\nfn @f(%0: f64) -> (f64) {\n"
                       "  %1 = extern<s=\"f\", library=\"/b\" content 00000000000000000000000000000001> %0 : "
                       "f64\n  yield %1\n}\n";
  const char *other = "module \"m\"\nfn @f(%0: f64) -> (f64) {\n"
                      "  %1 = extern<s=\"f\", library=\"/a\" content 00000000000000000000000000000002> %0 : "
                      "f64\n  yield %1\n}\n";
  check(same_encoding(at_one, at_two), "where a library lies is not in keys");
  check(!same_encoding(at_one, other), "its content is");

  const char *base = "module \"m\"\nfn @f(%0: i64) -> (i64) {\n  %1 = const 3 : i64\n  %2 = add %0, %1 : "
                     "i64\n  yield %2\n}\n";
  const char *renamed = "module \"other\"\nfn @g(%7: i64) -> (i64) {\n # c\n %9 = const 3 : i64\n %4 = add "
                        "%7, %9 : i64\n yield %4\n}\n";
  const char *changed = "module \"m\"\nfn @f(%0: i64) -> (i64) {\n  %1 = const 4 : i64\n  %2 = add %0, %1 : "
                        "i64\n  yield %2\n}\n";
  const char *swapped = "module \"m\"\nfn @f(%0: i64) -> (i64) {\n  %1 = const 3 : i64\n  %2 = add %1, %0 : "
                        "i64\n  yield %2\n}\n";
  check(same_encoding(base, renamed), "names, comments and numbers do not enter the encoding");
  check(!same_encoding(base, changed), "a constant enters the encoding");
  check(!same_encoding(base, swapped), "the order of operands enters the encoding");
  return finish();
}
