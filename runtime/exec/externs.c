/* externs.c: the C functions of a program, found when it starts: its `bind`.
 *
 * In: libraries and symbols. Out: addresses, or an error at the place of the declaration. What always holds:
 * a library that was given by path has the content that the program was compiled with, so that remembered
 * results and the code agree. Only programs that look for libraries hold this file. */
#include "base/library.h"
#include "exec/exec.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CODE_LIBRARY = FL_CODE(240), CODE_SYMBOL = FL_CODE(241) };

static bool has_content(const char *path, FlDigest content, bool *there) {
  FlDigest now;
  bool read = fl_library_digest(path, &now);
  *there = *there || read;
  return read && now.lo == content.lo && now.hi == content.hi;
}

/* The file of a library given by path: beside the executable, or where it was; the one with the right
 * content. */
static FlStatus place_of(FlCtx *ctx, const FlExtern *e, char out[PATH_MAX]) {
  const char *base = strrchr(e->library, '/');
  bool there = false;
  ssize_t len = readlink("/proc/self/exe", out, PATH_MAX - 1);
  out[len > 0 ? len : 0] = '\0';
  char *slash = strrchr(out, '/');
  if (slash && strlen(base) < (size_t)(out + PATH_MAX - slash)) {
    memcpy(slash, base, strlen(base) + 1);
    if (has_content(out, e->content, &there)) return 0;
  }
  (void)snprintf(out, PATH_MAX, "%s", e->library);
  if (has_content(out, e->content, &there)) return 0;
  if (!there) return fl_fail_text(ctx, e->site, CODE_LIBRARY, "the library %s cannot be read", e->library);
  FlStatus s = fl_fail_text(ctx, e->site, CODE_LIBRARY,
                            "the library %s is not the one that the program was compiled with", e->library);
  fl_fail_help(ctx, "compile the program again, or put the right %s beside it", base + 1);
  return s;
}

FlStatus fl_externs_bind(FlCtx *ctx, FlExtern *const *externs, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    FlExtern *e = externs[i];
    char why[FL_LIBRARY_WHY] = "", path[PATH_MAX];
    const char *library = e->library;
    if (e->content.lo || e->content.hi) {
      FlStatus s = place_of(ctx, e, path);
      if (s) return s;
      library = path;
    }
    void *opened = fl_library_open(library, why);
    if (!opened)
      return fl_fail_text(ctx, e->site, CODE_LIBRARY, "the library `%s` cannot be opened: %s", e->library,
                          why);
    e->address = fl_library_symbol(opened, e->symbol);
    if (!e->address)
      return fl_fail_text(ctx, e->site, CODE_SYMBOL, "the library `%s` has no function `%s`", e->library,
                          e->symbol);
  }
  return 0;
}
