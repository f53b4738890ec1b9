/* files.c: the operators files and file_path: files by a pattern, and the path that a file was made from.
 *
 * What always holds: files come in the order of their paths' bytes, whatever the locale; folders are none. */
#include "io/io_internal.h"
#include "data/data.h"
#include "exec/exec.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

/* Whether a path leads through a folder of flow's own, of remembered results, that the pattern does not name.
 */
static bool is_store(const char *path, const char *pattern) {
  for (const char *at = path; (at = strstr(at, ".flow")); at += 5)
    if ((at == path || at[-1] == '/') && at[5] == '/') return !strstr(pattern, ".flow");
  return false;
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

bool fl_io_glob(const char *pattern, FlIoGlob *out, FlIoError *e) {
  glob_t *g = calloc(1, sizeof *g);
  memset(out, 0, sizeof *out);
  int failed = g ? glob(pattern, GLOB_NOSORT | GLOB_MARK, NULL, g) : GLOB_NOSPACE;
  out->own = g;
  if (!failed) {
    out->paths = g->gl_pathv;
    for (size_t k = 0; k < g->gl_pathc; k++) { /* GLOB_MARK: folders end with a slash */
      char *path = g->gl_pathv[k];
      if (path[strlen(path) - 1] == '/' || is_store(path, pattern)) continue;
      g->gl_pathv[k] = g->gl_pathv[out->n];
      g->gl_pathv[out->n++] = path;
    }
    qsort(out->paths, (size_t)out->n, sizeof *out->paths, by_bytes);
  }
  if (out->n) return true;
  fl_io_glob_reset(out);
  if (failed == GLOB_NOSPACE) return fl_io_error(e, FL_E_MEMORY, "out of memory");
  fl_io_error(e, FL_E_NO_MATCH, "no file matches `%s`", pattern);
  if (pattern[0] != '/') fl_io_help(e, "paths are relative to the folder where the program is started");
  return false;
}

void fl_io_glob_reset(FlIoGlob *g) {
  if (g->own) globfree(g->own);
  free(g->own);
  memset(g, 0, sizeof *g);
}

FlArray *fl_io_paths(FlCtx *ctx, const FlIoGlob *g, int32_t dtype) {
  FlArray *out = fl_array_new(ctx, dtype, 1, &g->n);
  FlHeap *heap = fl_heap_new(ctx);
  bool ok = out && fl_array_keep(ctx, out, heap, NULL, 0) == 0;
  for (int64_t k = 0; ok && k < g->n; k++) {
    ((FlText *)out->data)[k] = fl_heap_text(heap, g->paths[k], (int64_t)strlen(g->paths[k]));
  }
  fl_heap_unref(heap);
  if (ok) return out;
  fl_array_unref(out);
  return NULL;
}

FlStatus fl_rt_files(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlStatus ask = fl_ctx_ask(ctx);
  if (ask) return ask;
  FlIoError e = {0};
  FlIoGlob g = {0};
  FlText text = args[0].t;
  char *pattern = fl_input_path(text, &e);
  bool ok = pattern && fl_io_glob(pattern, &g, &e);
  for (int64_t k = 0; ok && k < g.n; k++) {
    int64_t len = (int64_t)strlen(g.paths[k]);
    if (fl_utf8_check(g.paths[k], len) != len)
      ok = fl_io_error(&e, FL_E_OPEN, "the name of a file that matches `%s` is not UTF-8 text", pattern);
  }
  free(pattern);
  FlStatus status = ok ? 0 : fl_io_fail(ctx, desc->site, &e, text.ptr, text.len);
  if (!status) {
    results[0].i = g.n;
    results[1].a = fl_io_paths(ctx, &g, FL_TEXT);
    results[2].a = results[1].a ? fl_io_paths(ctx, &g, FL_FILE) : NULL;
    if (!results[2].a) {
      fl_array_unref(results[1].a);
      status = fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
    }
  }
  fl_io_glob_reset(&g);
  return status;
}

FlStatus fl_rt_file_path(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  if (desc->arg_types[0].rank == 0) {
    results[0].t = args[0].t;
    return 0;
  }
  FlArray *from = args[0].a, *out = fl_array_new(ctx, FL_TEXT, from->rank, from->dims);
  if (!out) return fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  if (fl_array_count(from)) memcpy(out->data, from->data, (size_t)fl_array_bytes(from));
  FlStatus status = fl_array_keep(ctx, out, NULL, &from, 1);
  if (status) fl_array_unref(out);
  else results[0].a = out;
  return status;
}
