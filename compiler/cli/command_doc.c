/* command_doc.c: flowc doc: what modules say of themselves. In: modules of the library by their names, files,
 * folders. Out: text on standard output, or pages of HTML in a folder. */
#include "cli/commands.h"

#include "base/whole_file.h"
#include "cli/doc.h"
#include "cli/scripts.h"
#include "cli/words.h"
#include "codegen/codegen.h"

#include <errno.h>

typedef struct Wanted {
  FlArena *arena;
  FlDocModules modules;
  const char *name;     /* of one thing, in the only module; NULL: all */
  FlScriptList library; /* paths of its modules */
  int status;
} Wanted;

/* "stdlib/linear.flow" is linear. */
static const char *module_name(const Wanted *w, const char *path) {
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
  size_t n = strlen(file);
  return fl_arena_strndup(w->arena, file, n > 5 && strcmp(file + n - 5, ".flow") == 0 ? n - 5 : n);
}

static void find_library(Wanted *w) {
  char path[4096];
  if (!fl_codegen_find("stdlib/linear.flow", path, sizeof path)) return;
  *strrchr(path, '/') = '\0';
  const char *folder = fl_arena_strndup(w->arena, path, strlen(path));
  (void)fl_scripts_find(w->arena, "doc", 1, (char *[]){(char *)(uintptr_t)folder}, &w->library);
}

static const char *library_path(const Wanted *w, const char *name, size_t len) {
  for (int i = 0; i < w->library.n; i++) {
    const char *its = module_name(w, w->library.at[i]);
    if (strlen(its) == len && strncmp(its, name, len) == 0) return w->library.at[i];
  }
  return NULL;
}

static void add(Wanted *w, const char *path, const char *name) {
  FlDocModule m;
  int status = fl_doc_read(w->arena, path, name, &m);
  if (!status) fl_vec_push(w->arena, &w->modules, m);
  else if (status > w->status) w->status = status;
}

static void add_builtins(Wanted *w) {
  FlDocModule m;
  fl_doc_builtins(w->arena, &m);
  fl_vec_push(w->arena, &w->modules, m);
}

static void add_library(Wanted *w) {
  for (int i = 0; i < w->library.n; i++) add(w, w->library.at[i], module_name(w, w->library.at[i]));
  add_builtins(w);
}

/* The name of a file's page: its path, as far as the words say it. */
static const char *name_of_file(const Wanted *w, const char *path) {
  if (strcmp(path, "-") == 0) return "script";
  while (strncmp(path, "./", 2) == 0 || strncmp(path, "../", 3) == 0) path = strchr(path, '/') + 1;
  while (*path == '/') path++;
  size_t n = strlen(path);
  char *name = fl_arena_strndup(w->arena, path, n > 5 && strcmp(path + n - 5, ".flow") == 0 ? n - 5 : n);
  for (char *c = name; *c; c++)
    if (*c == '/') *c = '.';
  return name;
}

/* A module, or something in one, `linear.ridge`. false: it is no name of the library. */
static bool add_named(Wanted *w, const char *word) {
  size_t n = strcspn(word, ".");
  const char *path = library_path(w, word, n);
  bool own = n == strlen(FL_DOC_BUILTINS) && strncmp(word, FL_DOC_BUILTINS, n) == 0;
  if (strchr(word, '/') || (!path && !own) || strcmp(word + n, ".flow") == 0) return false;
  if (own) add_builtins(w);
  else add(w, path, fl_arena_strndup(w->arena, word, n));
  if (word[n]) w->name = word + n + 1;
  return true;
}

static void say_near(const Wanted *w, const char *word) {
  FlVec(const char *) names = {0};
  for (int i = 0; i < w->library.n; i++) fl_vec_push(w->arena, &names, module_name(w, w->library.at[i]));
  const char *near = strchr(word, '/') ? NULL : fl_closest(word, names.at, names.n);
  if (near) fprintf(stderr, "  help: the library has a module `%s`\n", near);
}

static void find(Wanted *w, int n, char **words) {
  find_library(w);
  if (!n) add_library(w);
  for (int i = 0; i < n; i++) {
    FlScriptList files = {0};
    if (add_named(w, words[i])) continue;
    int status = fl_scripts_find(w->arena, "doc", 1, &words[i], &files);
    if (status) say_near(w, words[i]);
    if (status > w->status) w->status = status;
    for (int k = 0; k < files.n; k++) add(w, files.at[k], name_of_file(w, files.at[k]));
  }
}

/* ---- what is found ---- */

static int print(const Wanted *w, bool list) {
  FlText1 out = {0};
  fl_text_addz(&out, "");
  for (int i = 0; list && i < w->modules.n; i++)
    fl_text_addf(&out, "  %-16s %s\n", w->modules.at[i].name,
                 fl_doc_first_sentence(w->arena, &w->modules.at[i]));
  if (list)
    fl_text_addz(&out, "\n`flowc doc MODULE` says all of one, `flowc doc MODULE.NAME` of something in it, "
                       "`--html FOLDER` makes pages.\n");
  for (int i = 0; !list && i < w->modules.n; i++) {
    if (i) fl_text_addc(&out, '\n');
    const FlDocModule *m = &w->modules.at[i];
    FlText1 one = {0};
    fl_doc_print(&one, m, w->name);
    fl_text_add(&out, one.s + (w->name != NULL && one.len), one.len - (w->name != NULL && one.len));
    fl_text_reset(&one);
  }
  fputs(out.s, stdout);
  fl_text_reset(&out);
  return w->status;
}

/* Of a name that its module does not have. */
static int no_such(const Wanted *w) {
  const FlDocModule *m = &w->modules.at[0];
  const char **names = FL_NEW_ARRAY(w->arena, const char *, m->items.n + 1);
  for (int i = 0; i < m->items.n; i++) names[i] = m->items.at[i].name;
  const char *near = fl_closest(w->name, names, m->items.n);
  fprintf(stderr, "flowc doc: `%s` has nothing for others that is called `%s`%s%s%s\n", m->name, w->name,
          near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  return 2;
}

static bool put(const Wanted *w, const char *folder, const char *name, FlText1 *page) {
  const char *path = fl_arena_printf(w->arena, "%s/%s.html", folder, name);
  bool ok = fl_whole_put(path, page->s, page->len);
  if (!ok) fprintf(stderr, "flowc doc: cannot write `%s`: %s\n", path, strerror(errno));
  fl_text_reset(page);
  return ok;
}

static int write_pages(const Wanted *w, const char *folder) {
  for (int i = 0; i < w->modules.n; i++) {
    const char *name = w->modules.at[i].name;
    if (strcmp(name, "index") != 0 && fl_doc_module(&w->modules, name, strlen(name)) == &w->modules.at[i])
      continue;
    fprintf(stderr, "flowc doc: two pages would be `%s.html`: write them into folders of their own\n", name);
    return 2;
  }
  for (int i = 0; i < w->modules.n; i++) {
    FlText1 page = {0};
    fl_doc_page(&page, &w->modules, i);
    if (!put(w, folder, w->modules.at[i].name, &page)) return 4;
  }
  FlText1 page = {0};
  fl_doc_index(&page, w->arena, &w->modules);
  return put(w, folder, "index", &page) ? w->status : 4;
}

int fl_command_doc(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_DOC, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  Wanted wanted = {.arena = fl_arena_new()};
  find(&wanted, w.n_operands, w.operands);
  const char *folder = w.flags[FL_FLAG_HTML];
  if (wanted.name && (w.n_operands > 1 || folder)) {
    fprintf(stderr, "flowc doc: `MODULE.NAME` stands alone, and is shown as text\n");
    status = 2;
  } else if (wanted.name && wanted.modules.n &&
             !fl_doc_find(&wanted.modules.at[0], wanted.name, strlen(wanted.name))) {
    status = no_such(&wanted);
  } else {
    status = folder && wanted.modules.n ? write_pages(&wanted, folder) : print(&wanted, !w.n_operands);
  }
  fl_arena_free(wanted.arena);
  return status;
}
