/* library.c: opening shared libraries; see library.h. In: names. Out: addresses. */
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void *open_file(const char *file, char why[FL_LIBRARY_WHY]) {
  void *opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    const char *said = dlerror();
    (void)snprintf(why, FL_LIBRARY_WHY, "%s", said ? said : "it cannot be opened");
  }
  return opened;
}

/* Compares what stands after ".so.": numbers by their value. */
static int compare_versions(const char *a, const char *b) {
  while (*a && *b) {
    char *end_a, *end_b;
    long x = strtol(a, &end_a, 10), y = strtol(b, &end_b, 10);
    if (end_a == a || end_b == b) return strcmp(a, b);
    if (x != y) return x < y ? -1 : 1;
    a = *end_a ? end_a + 1 : end_a;
    b = *end_b ? end_b + 1 : end_b;
  }
  return *a ? 1 : *b ? -1 : 0;
}

/* The file name of the highest version of lib<name>.so in the system's folders; false: there is none. */
static bool newest_version(const char *name, char *out, size_t size) {
  static const char *const folders[] = {
      "/usr/local/lib", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib",
      "/usr/lib"};
  bool found = false;
  for (size_t f = 0; f < sizeof folders / sizeof *folders && !found; f++) {
    char pattern[PATH_MAX];
    int n = snprintf(pattern, sizeof pattern, "%s/lib%s.so.[0-9]*", folders[f], name);
    glob_t g;
    if (n <= 0 || (size_t)n >= sizeof pattern) continue;
    size_t version = (size_t)n - strlen("[0-9]*");
    if (glob(pattern, 0, NULL, &g) == 0) {
      const char *best = g.gl_pathv[0];
      for (size_t k = 1; k < g.gl_pathc; k++)
        if (compare_versions(g.gl_pathv[k] + version, best + version) > 0) best = g.gl_pathv[k];
      n = snprintf(out, size, "%s", best);
      found = n > 0 && (size_t)n < size;
    }
    globfree(&g);
  }
  return found;
}

void *fl_library_open(const char *library, char why[FL_LIBRARY_WHY]) {
  char file[PATH_MAX];
  if (strchr(library, '/') || strstr(library, ".so")) return open_file(library, why);
  if (strpbrk(library, "*?[\\") || strlen(library) > NAME_MAX - 16) {
    (void)snprintf(why, FL_LIBRARY_WHY, "this is no name of a library");
    return NULL;
  }
  (void)snprintf(file, sizeof file, "lib%s.so", library);
  void *opened = open_file(file, why);
  if (opened || !newest_version(library, file, sizeof file)) return opened;
  return open_file(file, why);
}

void *fl_library_symbol(void *opened, const char *symbol) { return dlsym(opened, symbol); }

bool fl_library_digest(const char *path, FlDigest *out) {
  FILE *f = fopen(path, "re");
  XXH3_state_t *state = f ? XXH3_createState() : NULL;
  bool ok = state != NULL;
  char part[1 << 14];
  if (ok) XXH3_128bits_reset(state);
  for (size_t n; ok && (n = fread(part, 1, sizeof part, f)) > 0;) XXH3_128bits_update(state, part, n);
  ok = ok && !ferror(f);
  if (ok) {
    XXH128_hash_t h = XXH3_128bits_digest(state);
    *out = (FlDigest){h.low64, h.high64};
  }
  XXH3_freeState(state);
  if (f) fclose(f);
  return ok;
}
