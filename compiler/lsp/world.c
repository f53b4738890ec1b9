/* world.c: the world of a check (sema/world.h): the files here, and the texts that are open; see document.h.
 *
 * What always holds: paths that scripts name are looked for beside the script, then in the folder that is
 * open; what a file holds is asked again only when its size or its times are other ones. */
#include "lsp/document.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

char *fl_lsp_found(const FlLspWorld *w, const char *path) {
  const char *folders[] = {w->script, w->all->root};
  FlText1 at = {0};
  for (int k = 0; *path && *path != '/' && k < 2; k++) {
    const char *end = folders[k] && k == 0 ? strrchr(folders[k], '/') : NULL;
    if (!folders[k] || (k == 0 && !end)) continue;
    at.len = 0;
    fl_text_add(&at, folders[k], end ? (size_t)(end - folders[k]) : strlen(folders[k]));
    fl_text_addf(&at, "/%s", path);
    if (access(at.s, F_OK) == 0) return at.s;
    char *first = strpbrk(path, "*?[") ? fl_world_here.first(fl_world_here.env, at.s) : NULL;
    bool matches = first != NULL;
    free(first);
    if (matches) return at.s;
  }
  at.len = 0;
  fl_text_addz(&at, path);
  return at.s;
}

static bool world_read(void *env, const char *path, size_t most, FlText1 *out) {
  const FlLspWorld *w = env;
  const FlLspDocument *d = fl_lsp_of_path(w->all, path);
  if (!d) return fl_world_here.read(fl_world_here.env, path, most, out);
  fl_text_add(out, d->text.s ? d->text.s : "", d->text.len < most ? d->text.len : most + 1);
  return true;
}

static char *world_real(void *env, const char *path) {
  (void)env;
  return fl_world_here.real(fl_world_here.env, path);
}

static char *world_first(void *env, const char *pattern) {
  char *at = fl_lsp_found(env, pattern), *first = fl_world_here.first(fl_world_here.env, at);
  fl_piece_free(at);
  return first;
}

static bool world_comes_once(void *env, const char *path) {
  char *at = fl_lsp_found(env, path);
  bool once = fl_world_here.comes_once(fl_world_here.env, at);
  fl_piece_free(at);
  return once;
}

/* Nobody keeps what is known of a file: there is no store. */
static FlDigest world_digest(void *env, const char *path, FlSemaInputKind kind) {
  (void)env, (void)path, (void)kind;
  return (FlDigest){0, 0};
}

/* ---- what files hold, kept: memory that outlives a check, of which there may be none ---- */

enum {
  MOST_FILES = 64,
  SETTLED =
      100000000 /* nanoseconds: a file that was written more lately may change without its times telling */
};

struct FlLspFile {
  char *key; /* what was asked: the reader, the path, the options, the column */
  struct stat is;
  FlIoSchema schema; /* own: NULL: it was asked for texts */
  FlIoTexts texts;
  bool known; /* of texts: they are all */
  FlLspFile *next;
};

static void forget(FlLspFile *f) {
  fl_io_schema_reset(&f->schema);
  fl_io_texts_reset(&f->texts);
  free(f->key);
  free(f);
}

void fl_lsp_files_forget(FlLspDocuments *all) {
  for (FlLspFile *f = all->files, *next; f; f = next) {
    next = f->next;
    forget(f);
  }
  all->files = NULL;
}

/* What is asked of a file. */
typedef struct Question {
  char *path, *key; /* key: NULL: the answer is not kept */
  struct stat is;
} Question;

static bool settled(struct timespec changed) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)(now.tv_sec - changed.tv_sec) * 1000000000 + now.tv_nsec - changed.tv_nsec > SETTLED;
}

/* Kept are answers that come from the file of this name alone: not what libraries say. */
static bool is_kept(Question *q, const char *reader) {
  const FlFormatInfo *format = fl_format_find(reader);
  return format && !(format->flags & FL_FORMAT_LIBRARY) && stat(q->path, &q->is) == 0 &&
         S_ISREG(q->is.st_mode) && settled(q->is.st_ctim);
}

static Question ask(const FlLspWorld *w, const char *reader, const char *path, FlOptions options,
                    const FlColumnAttr *column) {
  Question q = {.path = fl_lsp_found(w, path)};
  FlText1 key = {0};
  if (!is_kept(&q, reader)) return q;
  fl_text_addf(&key, "%s\n%s\n", reader, q.path);
  for (int32_t k = 0; k < options.n; k++)
    fl_text_addf(&key, "%s=%s:%lld\n", options.at[k].name, options.at[k].text ? options.at[k].text : "",
                 (long long)options.at[k].number);
  if (column) fl_text_addf(&key, "%d %d %s", (int)column->dtype, (int)column->flags, column->name);
  q.key = key.s;
  return q;
}

static void end(Question *q) {
  fl_piece_free(q->path);
  fl_piece_free(q->key);
}

static bool same_time(struct timespec a, struct timespec b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* The answer that there was before of the file as it is now; NULL: none. */
static const FlLspFile *kept(const FlLspDocuments *all, const Question *q) {
  const FlLspFile *f = q->key ? all->files : NULL;
  while (f && strcmp(f->key, q->key) != 0) f = f->next;
  bool same = f && f->is.st_dev == q->is.st_dev && f->is.st_ino == q->is.st_ino &&
              f->is.st_size == q->is.st_size && same_time(f->is.st_mtim, q->is.st_mtim) &&
              same_time(f->is.st_ctim, q->is.st_ctim);
  return same ? f : NULL;
}

/* Keeps an answer, which becomes its own, in place of the one before it, and of the oldest. */
static void keep(FlLspDocuments *all, const Question *q, FlLspFile answer) {
  int n = 1;
  for (FlLspFile **at = &all->files; *at;) {
    FlLspFile *f = *at;
    if (strcmp(f->key, q->key) == 0 || ++n > MOST_FILES) {
      *at = f->next;
      forget(f);
    } else {
      at = &f->next;
    }
  }
  FlLspFile *f = malloc(sizeof *f);
  answer.key = f ? strdup(q->key) : NULL;
  answer.is = q->is;
  answer.next = all->files;
  if (answer.key) {
    *f = answer;
    all->files = f;
  } else {
    fl_io_schema_reset(&answer.schema);
    fl_io_texts_reset(&answer.texts);
    free(f);
  }
}

static bool world_schema(void *env, const char *reader, const char *path, FlOptions options, FlIoSchema *out,
                         FlIoError *e) {
  const FlLspWorld *w = env;
  Question q = ask(w, reader, path, options, NULL);
  const FlLspFile *before = kept(w->all, &q);
  bool good = before && fl_io_schema_copy(&before->schema, out);
  if (!good) {
    good = fl_world_here.schema(fl_world_here.env, reader, q.path, options, out, e);
    FlIoSchema copy;
    if (good && q.key && fl_io_schema_copy(out, &copy)) keep(w->all, &q, (FlLspFile){.schema = copy});
  }
  end(&q);
  return good;
}

static bool world_texts(void *env, const char *reader, const char *path, FlOptions options,
                        const FlColumnAttr *column, int32_t most, FlIoTexts *out) {
  const FlLspWorld *w = env;
  Question q = ask(w, reader, path, options, column);
  const FlLspFile *before = kept(w->all, &q);
  bool good = before ? before->known && fl_io_texts_copy(&before->texts, out)
                     : fl_world_here.texts(fl_world_here.env, reader, q.path, options, column, most, out);
  FlIoTexts copy = {0};
  if (!before && q.key && (!good || fl_io_texts_copy(out, &copy)))
    keep(w->all, &q, (FlLspFile){.texts = copy, .known = good});
  end(&q);
  return good;
}

static bool world_array(void *env, const char *path, FlIoArray *out, FlIoError *e) {
  char *at = fl_lsp_found(env, path);
  bool good = fl_world_here.array(fl_world_here.env, at, out, e);
  fl_piece_free(at);
  return good;
}

static bool world_arrays(void *env, const char *reader, const char *path, FlIoArrays *out, FlIoError *e) {
  char *at = fl_lsp_found(env, path);
  bool good = fl_world_here.arrays(fl_world_here.env, reader, at, out, e);
  fl_piece_free(at);
  return good;
}

static char *world_saved(void *env, const char *path, FlIoError *e) {
  char *at = fl_lsp_found(env, path), *type = fl_world_here.saved(fl_world_here.env, at, e);
  fl_piece_free(at);
  return type;
}

static bool world_query(void *env, const char *query, const FlColumnAttr *inputs, int32_t n,
                        const char *const *paths, FlIoSchema *out, FlIoError *e) {
  char **at = fl_piece_new((size_t)n + 1, sizeof *at);
  for (int32_t k = 0; k < n; k++) at[k] = paths[k] ? fl_lsp_found(env, paths[k]) : NULL;
  bool good = fl_world_here.query(fl_world_here.env, query, inputs, n, (const char *const *)at, out, e);
  for (int32_t k = 0; k < n; k++) fl_piece_free(at[k]);
  fl_piece_free(at);
  return good;
}

/* A library that is opened runs code of its own; what is in it is found out where the script runs. */
static bool world_library(void *env, const char *path, FlDigest *content) {
  (void)env, (void)path;
  *content = (FlDigest){0, 0};
  return true;
}
static FlLibraryFound world_function(void *env, const char *library, const char *name, char *why) {
  (void)env, (void)library, (void)name, (void)why;
  return FL_LIBRARY_HAS;
}

FlWorld fl_lsp_world(FlLspWorld *w) {
  return (FlWorld){.env = w,
                   .read = world_read,
                   .real = world_real,
                   .first = world_first,
                   .comes_once = world_comes_once,
                   .digest = world_digest,
                   .schema = world_schema,
                   .texts = world_texts,
                   .array = world_array,
                   .arrays = world_arrays,
                   .saved = world_saved,
                   .query = world_query,
                   .library = world_library,
                   .function = world_function};
}
