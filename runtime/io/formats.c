/* formats.c: which file format a path says. */
#include "io/io_internal.h"

#include <string.h>
#include <strings.h>

typedef struct FlFormatRow {
  const char *name, *extensions; /* each extension with its point, blanks between */
} FlFormatRow;

static const FlFormatRow formats[] = {
#define FL_FORMAT(NAME, name, extensions, kind) {#name, extensions},
#include "io/formats.def"
#undef FL_FORMAT
};

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
