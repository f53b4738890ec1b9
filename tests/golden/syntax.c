/* Golden tests of the lexer, the parser and the formatter, and the formatter's properties.
 *
 * golden_syntax [--bless] ROOT: beside tests/lex/x.flow lies x.tokens, beside tests/parse/x.flow x.ast,
 * beside tests/fmt/x.flow x.fmt; what the program printed must be equal. Messages come after a line `---`.
 * --bless writes what there is now. Then for every .flow below tests, examples and stdlib that parses:
 * formatting the formatted text changes nothing, and the formatted text has the same tree. */
#include "syntax/ast.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

static int passed, failed;

static bool read_file(const char *path, FlText1 *out) {
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  char buffer[1 << 16];
  size_t n;
  fl_text_addz(out, "");
  while ((n = fread(buffer, 1, sizeof buffer, f)) > 0) fl_text_add(out, buffer, n);
  fclose(f);
  return true;
}

typedef enum Emit { EMIT_TOKENS, EMIT_AST, EMIT_FMT } Emit;

/* What the compiler prints for a text; the number of errors. */
static int emit(Emit what, const char *path, const char *text, size_t len, FlText1 *out, bool messages) {
  FlArena *a = fl_arena_new();
  FlSources *sources = fl_sources_make(a);
  FlSink *sink = fl_sink_make(a, sources);
  FlSource *source = fl_sources_add(sources, path, text, len);
  fl_text_addz(out, "");
  if (what == EMIT_TOKENS) {
    fl_syntax_print_tokens(out, source, sink);
  } else {
    FlAst *ast = fl_syntax_parse(a, fl_interner_make(a), source, sink);
    if (what == EMIT_AST) fl_syntax_print_ast(out, ast);
    else if (!sink->n_errors) fl_fmt_print(out, ast);
  }
  if (messages && sink->diags.n) {
    fl_text_addz(out, "---\n");
    fl_sink_print(sink, out, false);
  }
  int errors = sink->n_errors;
  fl_arena_free(a);
  return errors;
}

static void check(bool ok, const char *path, const char *what) {
  if (ok) passed++;
  else failed++, printf("FAILED: %s: %s\n", path, what);
}

static void check_golden(const char *path, const char *name, Emit what, const char *extension, bool bless) {
  FlText1 source = {0}, got = {0}, want = {0};
  char golden[4096];
  snprintf(golden, sizeof golden, "%.*s.%s", (int)(strlen(path) - strlen(".flow")), path, extension);
  read_file(path, &source);
  emit(what, name, source.s, source.len, &got, true);
  if (bless) {
    FILE *f = fopen(golden, "wb");
    if (f) {
      fwrite(got.s, 1, got.len, f);
      fclose(f);
    }
  }
  bool ok = read_file(golden, &want) && want.len == got.len && !memcmp(want.s, got.s, got.len);
  check(ok, path, "differs from its golden file");
  if (!ok) printf("--- expected\n%s--- got\n%s---\n", want.s ? want.s : "(no file)\n", got.s);
  fl_text_reset(&source);
  fl_text_reset(&got);
  fl_text_reset(&want);
}

static FlAst *parse(FlArena *a, const char *path, const FlText1 *text, bool *good) {
  FlSources *sources = fl_sources_make(a);
  FlSink *sink = fl_sink_make(a, sources);
  FlAst *ast =
      fl_syntax_parse(a, fl_interner_make(a), fl_sources_add(sources, path, text->s, text->len), sink);
  *good = !sink->n_errors;
  return ast;
}

static void check_properties(const char *path) {
  FlText1 source = {0}, once = {0}, twice = {0};
  if (!read_file(path, &source)) return;
  FlArena *a = fl_arena_new();
  bool good, good_again;
  const FlAst *first = parse(a, path, &source, &good);
  if (good) {
    fl_text_addz(&once, "");
    fl_text_addz(&twice, "");
    fl_fmt_print(&once, first);
    const FlAst *second = parse(a, path, &once, &good_again);
    check(good_again, path, "the formatted text does not parse");
    check(fl_syntax_same(first, second), path, "the formatted text has another tree");
    check(first->comments.n == second->comments.n, path, "the formatted text has not all the comments");
    if (good_again) fl_fmt_print(&twice, second);
    check(!strcmp(once.s, twice.s), path, "formatting is not idempotent");
  }
  fl_text_reset(&source);
  fl_text_reset(&once);
  fl_text_reset(&twice);
  fl_arena_free(a);
}

static bool ends_in(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && !strcmp(s + n - m, end);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Calls visit for every .flow file in a folder, in order of name; with below, in its folders too. */
static void each_flow(const char *folder, bool below,
                      void (*visit)(const char *path, const char *name, void *data), void *data) {
  DIR *dir = opendir(folder);
  if (!dir) return;
  char *names[4096];
  int n = 0;
  for (struct dirent *d; (d = readdir(dir)) && n < 4096;)
    if (d->d_name[0] != '.') names[n++] = strdup(d->d_name);
  closedir(dir);
  qsort(names, (size_t)n, sizeof *names, by_name);
  for (int i = 0; i < n; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    struct stat st;
    if (ends_in(names[i], ".flow")) visit(path, names[i], data);
    else if (below && !stat(path, &st) && S_ISDIR(st.st_mode)) each_flow(path, true, visit, data);
    free(names[i]);
  }
}

typedef struct Golden {
  Emit what;
  const char *extension;
  bool bless;
} Golden;

static void visit_golden(const char *path, const char *name, void *data) {
  const Golden *g = data;
  check_golden(path, name, g->what, g->extension, g->bless);
}

static void visit_properties(const char *path, const char *name, void *data) {
  (void)name, (void)data;
  check_properties(path);
}

int main(int argc, char **argv) {
  bool bless = argc > 1 && !strcmp(argv[1], "--bless");
  const char *root = argv[argc - 1];
  if (argc > 1 && !strcmp(argv[1], "--properties")) {
    each_flow(root, true, visit_properties, NULL);
    check(passed > 0, root, "has no script that parses");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
  }
  static const struct {
    const char *folder, *extension;
    Emit what;
  } kinds[] = {{"lex", "tokens", EMIT_TOKENS}, {"parse", "ast", EMIT_AST}, {"fmt", "fmt", EMIT_FMT}};
  char folder[4096];
  for (size_t i = 0; i < 3; i++) {
    Golden g = {kinds[i].what, kinds[i].extension, bless};
    int before = passed + failed;
    snprintf(folder, sizeof folder, "%s/tests/%s", root, kinds[i].folder);
    each_flow(folder, false, visit_golden, &g);
    check(passed + failed > before, folder, "has no tests");
  }
  static const char *const all[] = {"tests", "examples", "stdlib"};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    snprintf(folder, sizeof folder, "%s/%s", root, all[i]);
    each_flow(folder, true, visit_properties, NULL);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
