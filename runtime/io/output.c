/* output.c: the files that scripts write: base/whole_file.h, with the errors that scripts see.
 *
 * In: paths as a script gives them. What always holds: a file appears whole or not at all, also when the run
 * is interrupted: then nothing is put in its place any more. The run knows which files are being written, so
 * that they are removed when it cannot wait for those who write them; leftovers of runs that were killed are
 * removed once for each folder that it writes to. */
#include "data/data.h"
#include "exec/exec.h"
#include "io/io_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool cannot(FlIoError *e, const char *path) {
  int why = errno;
  if (why == ENOMEM) return fl_io_error(e, FL_E_MEMORY, "cannot write `%s`: out of memory", path);
  bool full = why == ENOSPC || why == EDQUOT || why == EFBIG || why == EMFILE || why == ENFILE;
  if (why == EISDIR) return fl_io_error(e, FL_E_WRITE, "cannot write `%s`: it is a folder", path);
  fl_io_error(e, full ? FL_E_RESOURCE : FL_E_WRITE, "cannot write `%s`: %s", path, strerror(why));
  if (why == EBUSY) fl_io_help(e, "is the file itself mounted into a container? mount its folder");
  if (why == EACCES || why == EPERM || why == EROFS)
    fl_io_help(
        e,
        "an output replaces the file that is there: this needs the right to write the file and its folder");
  return false;
}

/* ---- what a run knows of its outputs ------------------------------------------------------------------- */

/* Whether this is the first output in this folder. */
static bool is_first_in(FlFiles *files, const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
  struct stat st;
  bool first = folder && stat(folder, &st) == 0;
  free(folder);
  pthread_mutex_lock(&files->lock);
  for (size_t k = 0; first && k < files->n_cleaned; k++)
    first = files->cleaned[k].device != st.st_dev || files->cleaned[k].inode != st.st_ino;
  FlFolder *grown = first ? realloc(files->cleaned, (files->n_cleaned + 1) * sizeof *files->cleaned) : NULL;
  if (grown) {
    files->cleaned = grown;
    files->cleaned[files->n_cleaned++] = (FlFolder){st.st_dev, st.st_ino};
  }
  pthread_mutex_unlock(&files->lock);
  return first;
}

/* From here to leave() the run may remove the temporary file: it has a name of its own for that, as the
 * file's is freed while it is put in its place. false, and errno. */
static bool enter(FlFiles *files, FlOutput *out) {
  if (out->file.temporary && !(out->temporary = strdup(out->file.temporary))) return false;
  pthread_mutex_lock(&files->lock);
  out->next = files->outputs;
  files->outputs = out;
  pthread_mutex_unlock(&files->lock);
  return true;
}

static void leave(FlFiles *files, FlOutput *out) {
  pthread_mutex_lock(&files->lock);
  FlOutput **at = &files->outputs;
  while (*at && *at != out) at = &(*at)->next;
  if (*at) *at = out->next;
  pthread_mutex_unlock(&files->lock);
  free(out->temporary);
}

void fl_files_give_up(FlFiles *files) {
  pthread_mutex_lock(&files->lock);
  for (FlOutput *out = files->outputs; out; out = out->next)
    if (out->temporary) unlink(out->temporary);
}

/* ---- one output ---------------------------------------------------------------------------------------- */

static bool is_stopped(const FlOutput *out, FlIoError *e) {
  return fl_ctx_is_stopped(out->ctx) && !fl_io_error(e, FL_E_STOPPED, "interrupted");
}

static bool open_output(FlCtx *ctx, const char *path, FlOutput *out, FlIoError *e) {
  *out = (FlOutput){.ctx = ctx, .path = path};
  FlFiles *files = fl_ctx_files(ctx);
  if (!fl_whole_open(path, 0666, &out->file)) return cannot(e, path);
  if (files && !enter(files, out)) {
    fl_whole_abandon(&out->file);
    return cannot(e, path);
  }
  if (files && out->file.temporary && is_first_in(files, out->file.target)) fl_whole_clean(out->file.target);
  return true;
}

/* ok: all of it was written. */
static bool close_output(FlOutput *out, bool ok, FlIoError *e) {
  FlFiles *files = fl_ctx_files(out->ctx);
  const char *path = out->path;
  ok = ok && !is_stopped(out, e);
  if (!ok) fl_whole_abandon(&out->file);
  else if (!fl_whole_commit(&out->file)) ok = cannot(e, path);
  if (files) leave(files, out);
  return ok;
}

FlBytes fl_output_bytes(const FlOutput *out) {
  return fl_counted_bytes(out->ctx ? fl_ctx_pool(out->ctx) : NULL);
}

bool fl_output_write(FlOutput *out, const void *bytes, size_t n, FlIoError *e) {
  if (out->memory) {
    fl_bytes_add(out->memory, bytes, n);
    return !out->memory->failed || fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path);
  }
  enum { PIECE = 2 << 20 }; /* between pieces one looks whether to stop, and makes room in memory */
  for (const char *at = bytes; n;) {
    size_t now = n < PIECE ? n : PIECE;
    if (is_stopped(out, e)) return false;
    if (out->ctx) fl_pool_breathe(fl_ctx_pool(out->ctx));
    if (!fl_whole_write(out->file.fd, at, now)) {
      if (errno != EPIPE) return cannot(e, out->path);
      fl_ctx_stop(out->ctx, SIGPIPE); /* as with what is printed, that nobody reads it is no error */
      return fl_io_error(e, FL_E_STOPPED, "interrupted");
    }
    at += now;
    n -= now;
  }
  return true;
}

FlStatus fl_io_write_file(FlCtx *ctx, const FlOpDesc *desc, FlText to, FlPutFn *put, void *what) {
  FlIoError e = {0};
  FlOutput out;
  char *path = fl_input_path(to, &e);
  FlStatus status = fl_ctx_act(ctx);
  if (path && !status) status = fl_ctx_claim_output(ctx, desc->site, to.ptr, to.len);
  bool ok = path && !status && open_output(ctx, path, &out, &e);
  if (ok) ok = close_output(&out, put(ctx, &out, what, &e) && fl_files_stay(ctx, &e), &e);
  if (!ok && !status) status = fl_io_fail(ctx, desc->site, &e, to.ptr, to.len);
  free(path);
  return status;
}
