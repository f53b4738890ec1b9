/* formats.c: which file format a path says, and who knows the types in its files. */
#include "io/io_internal.h"

#include <string.h>
#include <strings.h>

typedef struct FlFormatRow {
  const char *name, *extensions; /* each extension with its point, blanks between */
  FlIoSchemaFn *schema;
  FlIoArraysFn *arrays;
} FlFormatRow;

static const FlFormatRow formats[] = {
#define FL_FORMAT(NAME, name, extensions, schema, arrays) {#name, extensions, schema, arrays},
#include "io/formats.def"
#undef FL_FORMAT
};

FlIoSchemaFn *fl_io_schema_of(const char *format) {
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
    if (strcmp(formats[k].name, format) == 0) return formats[k].schema;
  return NULL;
}

FlIoArraysFn *fl_io_arrays_of(const char *format) {
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
    if (strcmp(formats[k].name, format) == 0) return formats[k].arrays;
  return NULL;
}

const char *fl_io_format_of(const char *path) {
  const char *slash = strrchr(path, '/'), *point = strrchr(slash ? slash : path, '.');
  for (size_t k = 0; point && k < sizeof formats / sizeof *formats; k++) {
    for (const char *at = formats[k].extensions; *at;) {
      size_t n = strcspn(at, " ");
      if (n == strlen(point) && strncasecmp(at, point, n) == 0) return formats[k].name;
      at += n + (at[n] == ' ');
    }
  }
  return NULL;
}
