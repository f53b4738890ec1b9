/* scripts.c: see scripts.h. What always holds: the order of what is found depends on names alone, not on the
 * folder's; a link that leads back up is not followed twice. */
#include "cli/scripts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Seen {
  dev_t dev;
  ino_t ino;
} Seen;

typedef struct Search {
  FlArena *arena;
  const char *command;
  FlScriptList *out;
  FlVec(Seen) seen; /* files and folders */
  int n_scripts;    /* met in folders, also those that are in the list already */
  int status;
} Search;

static bool is_new(Search *x, const struct stat *st) {
  for (int i = 0; i < x->seen.n; i++)
    if (x->seen.at[i].dev == st->st_dev && x->seen.at[i].ino == st->st_ino) return false;
  fl_vec_push(x->arena, &x->seen, ((Seen){st->st_dev, st->st_ino}));
  return true;
}

static bool is_named_script(const char *path) {
  size_t n = strlen(path);
  return n > 5 && strcmp(path + n - 5, ".flow") == 0;
}

static int visible(const struct dirent *d) { return d->d_name[0] != '.'; }

static int by_bytes(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static void search_folder(Search *x, const char *folder) {
  struct dirent **found;
  int n = scandir(folder, &found, visible, by_bytes);
  if (n < 0) {
    fprintf(stderr, "flowc %s: cannot read the folder `%s`: %s\n", x->command, folder, strerror(errno));
    x->status = 2;
    return;
  }
  const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
  for (int i = 0; i < n; i++) {
    struct stat st;
    const char *below = strcmp(folder, ".") == 0
                            ? fl_arena_printf(x->arena, "%s", found[i]->d_name)
                            : fl_arena_printf(x->arena, "%s%s%s", folder, slash, found[i]->d_name);
    if (stat(below, &st) == 0) {
      if (S_ISDIR(st.st_mode) && is_new(x, &st)) search_folder(x, below);
      if (S_ISREG(st.st_mode) && is_named_script(below)) {
        x->n_scripts++;
        if (is_new(x, &st)) fl_vec_push(x->arena, x->out, below);
      }
    }
    free(found[i]);
  }
  free(found);
}

static void search(Search *x, const char *word) {
  if (strcmp(word, "-") == 0) {
    for (int i = 0; i < x->out->n; i++)
      if (strcmp(x->out->at[i], "-") == 0) return;
    fl_vec_push(x->arena, x->out, "-");
    return;
  }
  struct stat st;
  const char *path = word;
  if (stat(word, &st) != 0) {
    int why = errno;
    path = fl_arena_printf(x->arena, "%s.flow", word); /* as an import calls it */
    if (stat(path, &st) != 0) {
      fprintf(stderr, "flowc %s: cannot read `%s`: %s\n", x->command, word, strerror(why));
      x->status = 2;
      return;
    }
  }
  bool first = is_new(x, &st);
  if (!S_ISDIR(st.st_mode)) {
    if (first) fl_vec_push(x->arena, x->out, path);
    return;
  }
  int before = x->n_scripts;
  if (first) search_folder(x, path);
  const char *slash = strrchr(path, '/');
  bool is_store = strcmp(slash ? slash + 1 : path, ".flow") == 0; /* a pattern of the shell takes it along */
  if (!first || x->n_scripts > before || x->status || is_store) return;
  fprintf(stderr, "flowc %s: there is no script (FILE.flow) in the folder `%s`\n", x->command, word);
  x->status = 2;
}

int fl_scripts_find(FlArena *a, const char *command, int n, char *const *words, FlScriptList *out) {
  Search x = {.arena = a, .command = command, .out = out};
  for (int i = 0; i < n; i++) search(&x, words[i]);
  return x.status;
}

int fl_script_read(const char *path, FlText1 *out, FlText1 *why) {
  bool standard = strcmp(path, "-") == 0;
  const char *called = standard ? FL_STANDARD_INPUT : path;
  if (!(standard ? fl_read_stream(stdin, FL_LARGEST_SCRIPT, out)
                 : fl_read_file(path, FL_LARGEST_SCRIPT, out))) {
    fl_text_addf(why, "cannot read %s: %s", called, strerror(errno));
    return 2;
  }
  if (out->len <= FL_LARGEST_SCRIPT) return 0;
  fl_text_addf(why, "%s is larger than 64 MB: is it a script?", called);
  return 2;
}

const char *fl_script_path(const char *called) {
  bool file =
      strcmp(called, FL_STANDARD_INPUT) && strcmp(called, FL_COMMAND_LINE) && strcmp(called, FL_SESSION_TEXT);
  return file ? called : "-";
}
