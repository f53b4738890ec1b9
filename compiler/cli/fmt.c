/* fmt.c: flowc fmt. In: names of files and folders, `-` for standard input. Out: the files in the one layout.
 *
 * A file with errors is left as it is, and so is one whose formatted text would not mean the same (checked by
 * parsing it again). A file is replaced whole or not at all. */
#include "cli/front_tools.h"
#include "base/whole_file.h"
#include "syntax/ast.h"
#include "cli/scripts.h"
#include "cli/verdicts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Fmt {
  FlArena *arena;
  bool check, print, json; /* change nothing; print instead of writing; what is found is said as JSON alone */
} Fmt;

/* Parses; NULL: the text has errors, which are in the verdict, and shown on standard error but with --json.
 */
static FlAst *parse(const Fmt *x, FlArena *a, const char *path, const FlText1 *text, FlVerdict *v) {
  FlSources *sources = fl_sources_make(a);
  FlSink *sink = fl_sink_make(a, sources);
  FlAst *ast =
      fl_syntax_parse(a, fl_interner_make(a), fl_sources_add(sources, path, text->s, text->len), sink);
  if (!sink->n_errors) return ast;
  FlText1 shown = {0};
  v->messages = fl_verdict_messages(sink);
  fl_sink_print(sink, &shown, false);
  v->said = fl_arena_strndup(x->arena, shown.s, shown.len);
  fl_text_reset(&shown);
  if (!x->json) {
    fl_sink_print(sink, &shown, isatty(2) && !getenv("NO_COLOR"));
    fwrite(shown.s, 1, shown.len, stderr);
    fl_text_reset(&shown);
  }
  return NULL;
}

/* A message, in the verdict and on standard error. */
static void fail(const Fmt *x, FlVerdict *v, int status, const char *message) {
  v->status = status;
  v->said = fl_arena_strndup(x->arena, message, strlen(message));
  if (!x->json) fprintf(stderr, "error: %s\n", message);
}

/* The formatted text; false: it has errors, or formatting would change its meaning (both were said). */
static bool format(const Fmt *x, const char *path, const FlText1 *text, FlText1 *layout, FlVerdict *v) {
  FlArena *a = fl_arena_new();
  FlAst *ast = parse(x, a, path, text, v);
  bool good = ast != NULL;
  v->status = good ? 0 : 3;
  if (good) {
    fl_text_addz(layout, "");
    fl_fmt_print(layout, ast);
    FlAst *again = parse(x, a, path, layout, v);
    good = again && fl_syntax_same(ast, again);
    if (!good)
      fail(x, v, 70,
           fl_arena_printf(
               a, "%s is not formatted: the result would not mean the same; please report this file", path));
  }
  fl_arena_free(a);
  return good;
}

static void fmt_text(const Fmt *x, const char *path, const FlText1 *text, bool is_file, FlVerdict *v) {
  FlText1 layout = {0};
  if (!format(x, path, text, &layout, v)) {
    fl_text_reset(&layout);
    return;
  }
  bool same = layout.len == text->len && memcmp(layout.s, text->s, text->len) == 0;
  if (x->check && !same) {
    v->status = 1;
    v->said = "it is not formatted";
    if (!x->json) printf("%s\n", path);
  } else if (!x->check && (x->print || !is_file)) {
    fwrite(layout.s, 1, layout.len, stdout);
  } else if (!same) {
    if (!fl_whole_put(path, layout.s, layout.len)) {
      fail(x, v, errno == ENOSPC ? 4 : 1,
           fl_arena_printf(x->arena, "cannot write %s: %s", path, strerror(errno)));
    } else {
      v->said = "it was formatted";
      if (!x->json) printf("%s\n", path);
    }
  }
  fl_text_reset(&layout);
}

static FlVerdict fmt_file(const Fmt *x, const char *path) {
  FlVerdict v = {.file = path, .said = ""};
  FlText1 text = {0}, why = {0};
  bool is_file = strcmp(path, "-") != 0;
  int status = fl_script_read(path, &text, &why);
  if (status) fail(x, &v, status, why.s);
  else fmt_text(x, is_file ? path : FL_STANDARD_INPUT, &text, is_file, &v);
  fl_text_reset(&text);
  fl_text_reset(&why);
  return v;
}

int fl_tool_fmt(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_FMT, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  FlVerdicts v = {.arena = fl_arena_new(), .command = FL_COMMAND_FMT};
  Fmt x = {v.arena, w.flags[FL_FLAG_CHECK] != NULL, w.flags[FL_FLAG_STDOUT] != NULL,
           w.flags[FL_FLAG_JSON] != NULL};
  FlScriptList files = {0};
  int worst = fl_scripts_find(v.arena, "fmt", w.n_operands, w.operands, &files);
  bool prints = x.print;
  for (int i = 0; i < files.n; i++) prints |= strcmp(files.at[i], "-") == 0;
  if (prints && x.json && !x.check) {
    fputs("flowc fmt: standard output is for the text or for `--json`, not for both\n", stderr);
    worst = 2;
    files.n = 0;
  }
  for (int i = 0; i < files.n; i++) {
    FlVerdict one = fmt_file(&x, files.at[i]);
    if (one.status > worst) worst = one.status;
    fl_vec_push(v.arena, &v.at, one);
  }
  status = worst == 2 && !files.n ? 0 : fl_verdicts_write(&v, &w);
  fl_arena_free(v.arena);
  return status ? status : worst;
}
