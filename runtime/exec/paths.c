/* paths.c: which files a run reads and writes.
 *
 * In: paths that readers and writers are about to use. Out: an error when one file is written twice, or both
 * read and written. What always holds: files are compared by their resolved folder and name, so links and ./
 * do not hide that two paths are one file. */
#include "exec/exec_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct FlPathUse {
  char *path; /* resolved */
  bool is_output;
} FlPathUse;

struct FlPaths {
  pthread_mutex_t lock;
  FlPathUse *at;
  int n, cap;
};

FlPaths *fl_paths_new(void) {
  FlPaths *p = calloc(1, sizeof *p);
  if (p) pthread_mutex_init(&p->lock, NULL);
  return p;
}

void fl_paths_free(FlPaths *p) {
  if (!p) return;
  for (int i = 0; i < p->n; i++) free(p->at[i].path);
  free(p->at);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

/* The file itself when it exists, else its name in its resolved folder, else the path as it is. */
static char *resolve(const char *path) {
  char *whole = realpath(path, NULL);
  if (whole) return whole;
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  char *resolved = folder ? realpath(folder, NULL) : NULL, *out = NULL;
  if (!resolved || asprintf(&out, "%s/%s", resolved, name) < 0) out = strdup(path);
  free(folder);
  free(resolved);
  return out;
}

static FlStatus claim(FlCtx *ctx, int32_t site, const char *path, int64_t len, bool is_output) {
  if (!ctx || !ctx->run) return 0;
  FlPaths *p = ctx->run->paths;
  char *given = strndup(path, (size_t)len), *resolved = given ? resolve(given) : NULL;
  FlStatus s = 0;
  bool kept = false;
  pthread_mutex_lock(&p->lock);
  bool known = false, clash = false, twice = false;
  for (int i = 0; resolved && i < p->n; i++) {
    if (strcmp(p->at[i].path, resolved)) continue;
    known = true;
    clash |= p->at[i].is_output != is_output;
    twice |= p->at[i].is_output && is_output;
  }
  if (resolved && !known && p->n == p->cap) {
    int cap = p->cap ? p->cap * 2 : 16;
    FlPathUse *at = realloc(p->at, (size_t)cap * sizeof *at);
    if (at) {
      p->at = at;
      p->cap = cap;
    }
  }
  if (resolved && !known && p->n < p->cap) {
    p->at[p->n++] = (FlPathUse){resolved, is_output};
    kept = true;
  }
  pthread_mutex_unlock(&p->lock);
  if (!resolved || (!known && !kept)) s = fl_fail_text(ctx, site, FL_FAULT_MEMORY, "out of memory");
  else if (clash)
    s = fl_fail_text(ctx, site, FL_CODE(921), "`%s` is both read and written by this script", given);
  else if (twice) s = fl_fail_text(ctx, site, FL_CODE(922), "`%s` is written twice by this script", given);
  if (clash || twice) fl_fail_help(ctx, "write to another path");
  if (!kept) free(resolved);
  free(given);
  return s;
}

FlStatus fl_ctx_claim_input(FlCtx *ctx, int32_t site, const char *path, int64_t len) {
  return claim(ctx, site, path, len, false);
}
FlStatus fl_ctx_claim_output(FlCtx *ctx, int32_t site, const char *path, int64_t len) {
  return claim(ctx, site, path, len, true);
}
