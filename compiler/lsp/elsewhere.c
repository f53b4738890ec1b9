/* elsewhere.c: where a name is used beside the script: in what it imports, of whose functions its check has
 * seen those that it calls, and in files of the folder that is open, which nobody has opened or imported. See
 * answers.h.
 *
 * How: scripts in which the name is written are checked, each by itself, and what the check says of their own
 * names is looked through. What always holds: a bounded number of files is looked at; links are not followed.
 */
#include "lsp/answers.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_ENTRIES = 20000, DEEPEST = 16, LARGEST = 1 << 20 };

typedef struct Elsewhere {
  FlLspDocuments *all;
  const FlLspDocument *d;
  struct stat is;   /* the file that declares the name */
  uint32_t start;   /* where it does */
  const char *name; /* as it is written */
  size_t n_name;
  int entries;
  void *env;
  void (*tell)(void *env, const FlSource *f, FlSpan at);
} Elsewhere;

static bool same_file(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the check of the document has read the file. */
static bool is_known(const Elsewhere *e, const struct stat *is) {
  const FlSources *s = e->d->c.sources;
  for (int i = 0; i < s->files.n; i++) {
    struct stat its;
    if (stat(s->files.at[i]->path, &its) == 0 && same_file(&its, is)) return true;
  }
  return false;
}

static void look_through(Elsewhere *e, const FlCompilation *c, const FlLspFacts *facts) {
  for (int i = 0; i < c->sources->files.n; i++) {
    const FlSource *f = c->sources->files.at[i];
    struct stat its;
    if (stat(f->path, &its) != 0 || !same_file(&its, &e->is)) continue;
    for (int k = 0; k < facts->names.n; k++) {
      const FlLspName *x = &facts->names.at[k];
      if (x->at.file == c->script->id && x->what.declared.file == f->id && x->what.declared.start == e->start)
        e->tell(e->env, c->script, x->at);
    }
  }
}

static bool has(const FlText1 *text, const char *word, size_t n) {
  return text->len && memmem(text->s, text->len, word, n);
}

/* imports: whether it has to import something to be looked at. */
static void look_at_file(Elsewhere *e, char *path, bool imports) {
  FlLspWorld here = {e->all, path};
  FlWorld world = fl_lsp_world(&here);
  FlText1 text = {0};
  FlArena *arena = fl_arena_new();
  FlCompilation c;
  FlLspFacts facts;
  bool may = world.read(world.env, path, LARGEST, &text) && text.len <= LARGEST &&
             has(&text, e->name, e->n_name) && (!imports || has(&text, "import", 6));
  if (may && fl_lsp_try(e->all, arena, &(FlLspDocument){.path = path}, &text, &c, &facts))
    look_through(e, &c, &facts);
  fl_text_reset(&text);
  fl_arena_free(arena);
}

static void look_in(Elsewhere *e, const char *folder, int depth) {
  DIR *dir = depth < DEEPEST ? opendir(folder) : NULL;
  const struct dirent *x;
  while (dir && (x = readdir(dir)) && e->entries++ < MOST_ENTRIES) {
    size_t n = strlen(x->d_name);
    struct stat is;
    FlText1 path = {0};
    if (*x->d_name == '.') continue;
    fl_text_addf(&path, "%s/%s", folder, x->d_name);
    if (lstat(path.s, &is) != 0) is.st_mode = 0;
    if (S_ISDIR(is.st_mode)) look_in(e, path.s, depth + 1);
    else if (S_ISREG(is.st_mode) && n > 5 && strcmp(x->d_name + n - 5, ".flow") == 0 && !is_known(e, &is))
      look_at_file(e, path.s, true);
    fl_text_reset(&path);
  }
  if (dir) closedir(dir);
}

void fl_lsp_elsewhere(FlLspDocuments *all, const FlLspDocument *d, FlSpan declared, void *env,
                      void (*tell)(void *env, const FlSource *f, FlSpan at)) {
  const FlSource *f = fl_sources_get(d->c.sources, declared.file);
  bool quoted = declared.len > 2 && f->text[declared.start] == '`';
  Elsewhere e = {.all = all,
                 .d = d,
                 .start = declared.start,
                 .name = f->text + declared.start + quoted,
                 .n_name = declared.len - 2 * quoted,
                 .env = env,
                 .tell = tell};
  FlArena *arena = fl_arena_new();
  FlLspDeclaredList tops = {0};
  bool top = false;
  fl_lsp_declared_in(arena, f, &tops);
  for (int i = 0; i < tops.n; i++) top = top || tops.at[i].at.start == declared.start;
  fl_arena_free(arena);
  if (!top || f->is_library || stat(f->path, &e.is) != 0) return;
  for (int i = 0; i < d->c.sources->files.n; i++) {
    const FlSource *its = d->c.sources->files.at[i];
    char *path = its == d->c.script || its->is_library ? NULL : strdup(its->path);
    if (path) look_at_file(&e, path, false);
    free(path);
  }
  if (all->root && *e.name != '_') look_in(&e, all->root, 0); /* what begins with _ is for its own file */
}
