/* file_watch.c: mapped files whose bytes are still in use: texts of a table are views of the file they came
 * from, and some columns and arrays are bytes of it.
 *
 * In: inputs that were mapped. Out: whether one of them was written to meanwhile. Method: the mapping's
 * buffer keeps a small buffer whose release ends the watch, so that a file is watched exactly as long as
 * somebody may look at it. What always holds: a file that was replaced by another of the same name has not
 * changed: the mapping is of the old one. */
#include "data/data.h"
#include "exec/exec.h"
#include "io/io_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct FlWatch {
  FlBuffer base;  /* first: fl_buffer_unref frees it */
  FlFiles *files; /* NULL: the run is over */
  struct stat found;
  char *path;
  int64_t maps; /* of its pages, besides the first one */
  FlWatch *prev, *next;
};

/* Written to in place: the same file with another size or time. */
static bool is_changed(const FlWatch *w) {
  struct stat now;
  return stat(w->path, &now) == 0 && now.st_dev == w->found.st_dev && now.st_ino == w->found.st_ino &&
         !fl_input_same(&now, &w->found);
}

static void end_watch(FlBuffer *b) {
  FlWatch *w = (FlWatch *)b;
  if (w->files) {
    pthread_mutex_lock(&w->files->lock);
    if (w->prev) w->prev->next = w->next;
    else w->files->watched = w->next;
    if (w->next) w->next->prev = w->prev;
    w->files->maps -= w->maps;
    if (!w->files->changed && is_changed(w)) {
      w->files->changed = w->path;
      w->path = NULL;
    }
    pthread_mutex_unlock(&w->files->lock);
  }
  free(w->path);
}

void fl_file_watch(FlCtx *ctx, const FlInput *in, const char *path) {
  FlFiles *files = ctx ? fl_ctx_files(ctx) : NULL;
  FlWatch *w = files ? calloc(1, sizeof *w) : NULL;
  char *copy = w ? strdup(path) : NULL;
  if (!copy) {
    free(w);
    return; /* without memory nothing is watched; the reader itself has compared */
  }
  w->base.kind = FL_BUFFER_LENT;
  w->base.release = end_watch;
  atomic_init(&w->base.refs, 1);
  w->files = files;
  w->found = in->found;
  w->path = copy;
  pthread_mutex_lock(&files->lock);
  w->next = files->watched;
  if (w->next) w->next->prev = w;
  files->watched = w;
  pthread_mutex_unlock(&files->lock);
  fl_buffer_keep(in->buffer, &w->base);
  fl_buffer_unref(&w->base);
}

bool fl_file_watch_maps(const FlInput *in, int32_t n) {
  enum { MOST = 1 << 14 };
  FlWatch *w = NULL;
  for (int32_t k = 0; k < in->buffer->n_keeps && !w; k++)
    if (in->buffer->keeps[k]->release == end_watch) w = (FlWatch *)in->buffer->keeps[k];
  if (!w || !w->files) return false;
  pthread_mutex_lock(&w->files->lock);
  bool ok = w->files->maps + n <= MOST;
  if (ok) {
    w->files->maps += n;
    w->maps += n;
  }
  pthread_mutex_unlock(&w->files->lock);
  return ok;
}

void fl_file_watch_end(FlFiles *files) {
  for (FlWatch *w = files->watched; w; w = w->next) w->files = NULL;
  free(files->changed);
}

enum { LOOK_AFTER = 10 * 1000 * 1000 }; /* nanoseconds */

static bool stay(FlFiles *files, int64_t after, FlIoError *e) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
  pthread_mutex_lock(&files->lock);
  if (files->looked && now - files->looked < after && !files->changed) {
    pthread_mutex_unlock(&files->lock);
    return true;
  }
  files->looked = now;
  const char *changed = files->changed;
  for (const FlWatch *w = files->watched; w && !changed; w = w->next)
    if (is_changed(w)) changed = w->path;
  if (changed) {
    fl_io_error(e, FL_E_CHANGED, "`%s` was written to while it was in use", changed);
    fl_io_help(e, "write files under another name and rename them; who reads the old one then still has it");
  }
  pthread_mutex_unlock(&files->lock);
  return !changed;
}

bool fl_files_stay(FlCtx *ctx, FlIoError *e) {
  FlFiles *files = ctx ? fl_ctx_files(ctx) : NULL;
  return !files || stay(files, 0, e);
}

bool fl_files_stayed(FlCtx *ctx, FlIoError *e) {
  FlFiles *files = ctx ? fl_ctx_files(ctx) : NULL;
  return !files || stay(files, LOOK_AFTER, e);
}
