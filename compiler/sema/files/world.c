/* world.c: the world of this machine's files; see world.h. No other file of sema opens any. */
#include "sema/world.h"

#include "base/library.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static bool read_here(void *env, const char *path, size_t most, FlText1 *out) {
  (void)env;
  return fl_read_file(path, most, out);
}

static char *real_here(void *env, const char *path) {
  (void)env;
  return realpath(path, NULL);
}

static char *first_here(void *env, const char *pattern) {
  (void)env;
  FlIoGlob g;
  FlIoError e = {0};
  if (!fl_io_glob(pattern, &g, &e)) return NULL;
  char *first = strdup(g.paths[0]);
  fl_io_glob_reset(&g);
  if (!first) fl_no_memory();
  return first;
}

static bool comes_once_here(void *env, const char *path) {
  (void)env;
  return fl_io_comes_once(path);
}

static FlDigest digest_here(void *env, const char *path, FlSemaInputKind kind) {
  if (kind != FL_INPUT_PATTERN) return fl_file_sample(path);
  char *first = first_here(env, path);
  if (!first) return (FlDigest){0, 0};
  XXH128_hash_t h = XXH3_128bits(first, strlen(first));
  free(first);
  return (FlDigest){h.low64, h.high64};
}

static bool schema_here(void *env, const char *reader, const char *path, FlOptions options, FlIoSchema *out,
                        FlIoError *e) {
  (void)env;
  return fl_io_schema_of(reader)(path, options, out, e);
}

static bool texts_here(void *env, const char *reader, const char *path, FlOptions options,
                       const FlColumnAttr *column, int32_t most, FlIoTexts *out) {
  (void)env;
  return fl_io_column_texts(reader, path, options, column, most, out);
}

static bool array_here(void *env, const char *path, FlIoArray *out, FlIoError *e) {
  (void)env;
  return fl_io_npy_type(path, out, e);
}

static bool arrays_here(void *env, const char *reader, const char *path, FlIoArrays *out, FlIoError *e) {
  (void)env;
  return fl_io_arrays_of(reader)(path, out, e);
}

static char *saved_here(void *env, const char *path, FlIoError *e) {
  (void)env;
  return fl_io_saved_type(path, e);
}

static bool query_here(void *env, const char *query, const FlColumnAttr *inputs, int32_t n,
                       const char *const *paths, FlIoSchema *out, FlIoError *e) {
  (void)env;
  return fl_io_sql_schema(query, inputs, n, paths, out, e);
}

static bool library_here(void *env, const char *path, FlDigest *content) {
  (void)env;
  return fl_library_digest(path, content);
}

static FlLibraryFound function_here(void *env, const char *library, const char *name, char *why) {
  (void)env;
  void *opened = fl_library_open(library, why);
  return !opened ? FL_LIBRARY_NONE : fl_library_symbol(opened, name) ? FL_LIBRARY_HAS : FL_LIBRARY_LACKS;
}

const FlWorld fl_world_here = {.read = read_here,
                               .real = real_here,
                               .first = first_here,
                               .comes_once = comes_once_here,
                               .digest = digest_here,
                               .schema = schema_here,
                               .texts = texts_here,
                               .array = array_here,
                               .arrays = arrays_here,
                               .saved = saved_here,
                               .query = query_here,
                               .library = library_here,
                               .function = function_here};
