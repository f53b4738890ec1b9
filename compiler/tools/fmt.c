/* fmt.c: flowc fmt. In: names of files and folders. Out: the files in the one layout.
 *
 * A file with errors is left as it is, and so is one whose formatted text would not mean the same (checked by
 * parsing it again). A file is replaced whole or not at all. */
#include "tools/front_tools.h"
#include "base/whole_file.h"
#include "syntax/ast.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Fmt {
  bool check, print; /* change nothing; print instead of writing */
  int status;
} Fmt;

static void worse(Fmt *x, int status) {
  if (status > x->status) x->status = status;
}

/* Parses; NULL: the text has errors, shown on standard error. */
static FlAst *parse(FlArena *a, const char *path, const FlText1 *text) {
  FlSources *sources = fl_sources_make(a);
  FlSink *sink = fl_sink_make(a, sources);
  FlAst *ast =
      fl_syntax_parse(a, fl_interner_make(a), fl_sources_add(sources, path, text->s, text->len), sink);
  if (!sink->n_errors) return ast;
  FlText1 shown = {0};
  fl_sink_print(sink, &shown, isatty(2));
  fwrite(shown.s, 1, shown.len, stderr);
  fl_text_reset(&shown);
  return NULL;
}

/* The formatted text; false: it has errors, or formatting would change its meaning (both were said). */
static bool format(const char *path, const FlText1 *text, FlText1 *layout) {
  FlArena *a = fl_arena_new();
  FlAst *ast = parse(a, path, text);
  bool good = ast != NULL;
  if (good) {
    fl_text_addz(layout, "");
    fl_fmt_print(layout, ast);
    FlAst *again = parse(a, path, layout);
    good = again && fl_syntax_same(ast, again);
    if (!good)
      fprintf(stderr, "%s: not formatted: the result would not mean the same; please report this file\n",
              path);
  }
  fl_arena_free(a);
  return good;
}

static void fmt_text(Fmt *x, const char *path, const FlText1 *text, bool is_file) {
  FlText1 layout = {0};
  if (!format(path, text, &layout)) {
    worse(x, 3);
  } else if (x->print || !is_file) {
    fwrite(layout.s, 1, layout.len, stdout);
  } else if (layout.len != text->len || memcmp(layout.s, text->s, text->len)) {
    printf("%s\n", path);
    if (x->check) {
      worse(x, 1);
    } else if (!fl_whole_put(path, layout.s, layout.len)) {
      fprintf(stderr, "error: cannot write %s: %s\n", path, strerror(errno));
      worse(x, 1);
    }
  }
  fl_text_reset(&layout);
}

static void fmt_file(Fmt *x, const char *path) {
  bool is_file = strcmp(path, "-") != 0;
  FILE *in = is_file ? fopen(path, "rb") : stdin;
  FlText1 text = {0};
  bool good = in && fl_read_stream(in, SIZE_MAX - 1, &text);
  if (!good) {
    fprintf(stderr, "error: cannot read %s: %s\n", path, strerror(errno));
    worse(x, 1);
  }
  if (in && is_file) fclose(in);
  if (good) fmt_text(x, is_file ? path : "(standard input)", &text, is_file);
  fl_text_reset(&text);
}

static int visible(const struct dirent *d) { return d->d_name[0] != '.'; }

static void fmt_path(Fmt *x, const char *path, bool named) {
  struct stat st;
  size_t n = strlen(path);
  if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
    if (named || (n > 5 && !strcmp(path + n - 5, ".flow"))) fmt_file(x, path);
    return;
  }
  struct dirent **found;
  int count = scandir(path, &found, visible, alphasort);
  for (int i = 0; i < count; i++) {
    FlText1 below = {0};
    fl_text_addf(&below, "%s/%s", path, found[i]->d_name);
    fmt_path(x, below.s, false);
    fl_text_reset(&below);
    free(found[i]);
  }
  if (count >= 0) free(found);
}

int fl_tool_fmt(int n_words, char **words) {
  Fmt x = {0};
  int n_paths = 0;
  for (int i = 0; i < n_words; i++) {
    if (!strcmp(words[i], "--check")) x.check = true;
    else if (!strcmp(words[i], "--stdout")) x.print = true;
    else if (words[i][0] == '-' && words[i][1])
      return fprintf(stderr, "error: flowc fmt has no option %s\n", words[i]), 2;
    else n_paths++;
  }
  if (!n_paths) return fprintf(stderr, "usage: flowc fmt [--check] [--stdout] FILE.flow|FOLDER|- ...\n"), 2;
  for (int i = 0; i < n_words; i++)
    if (words[i][0] != '-' || !words[i][1]) fmt_path(&x, words[i], true);
  return x.status;
}
