/* paths.c: which files a run reads and writes.
 *
 * In: paths that readers and writers are about to use. Out: an error when one file is written twice, or both
 * read and written. What always holds: files are compared by their resolved folder and name, so links and ./
 * do not hide that two paths are one file. */
#include "exec/exec_internal.h"
#include "report/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* The first `len` bytes of a path as a folder or file that exists, resolved; NULL: there is none. */
static char *resolve_first(const char *path, size_t len) {
  char *part = len ? strndup(path, len) : strdup(path[0] == '/' ? "/" : ".");
  char *out = part ? realpath(part, NULL) : NULL;
  free(part);
  return out;
}

/* The file itself when it exists, else its name after what exists of the folders above it: the same before
 * and after missing folders are made. */
static char *resolve(const char *path) {
  size_t len = strlen(path);
  char *there = resolve_first(path, len);
  if (there) return there;
  while (!there && len) {
    while (len && path[len - 1] != '/') len--; /* behind a slash, or at the beginning */
    while (len && path[len - 1] == '/') len--;
    there = resolve_first(path, len);
  }
  char *out = malloc(strlen(there ? there : "") + strlen(path) + 2), *to = out;
  if (!out) {
    free(there);
    return NULL;
  }
  if (there) to = stpcpy(to, strcmp(there, "/") == 0 ? "" : there);
  for (const char *at = path + len; *at;) { /* what is missing, without empty parts and "." */
    while (*at == '/') at++;
    size_t n = strcspn(at, "/");
    if (n && !(n == 1 && *at == '.')) {
      *to++ = '/';
      memcpy(to, at, n);
      to += n;
    }
    at += n;
  }
  *to = '\0';
  free(there);
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
  if (clash && !is_output) fl_fail_help(ctx, "use the value that was written, or write to another path");
  else if (clash || twice) fl_fail_help(ctx, "write to another path");
  if (!kept) free(resolved);
  free(given);
  return s;
}

FlStatus fl_ctx_claim_input(FlCtx *ctx, int32_t site, const char *path, int64_t len) {
  FlStatus tried = fl_tried_read(ctx, path, len);
  if (tried) return tried;
  fl_file_named(ctx, path, len);
  return claim(ctx, site, path, len, false);
}
FlStatus fl_ctx_claim_output(FlCtx *ctx, int32_t site, const char *path, int64_t len) {
  return claim(ctx, site, path, len, true);
}

void fl_paths_record(FlPaths *p, FILE *f) {
  int n = 0;
  pthread_mutex_lock(&p->lock);
  for (int i = 0; i < p->n && n < FL_RECORD_FILES; i++) {
    struct stat st;
    if (p->at[i].is_output || stat(p->at[i].path, &st) != 0) continue;
    fprintf(f, "read %lld %lld ", (long long)st.st_size,
            (long long)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
    fl_record_word(f, p->at[i].path);
    fputc('\n', f);
    n++;
  }
  pthread_mutex_unlock(&p->lock);
}
