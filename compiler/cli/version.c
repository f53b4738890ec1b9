/* version.c: flowc version FILE: which flow made a binary, of which source.
 *
 * In: a file. Out: the lines that the program holds about itself: a text in it that begins with a mark. The
 * mark is put together here, so that flowc itself does not hold it. */
#include "cli/version.h"

#include "base/base.h"

#include <errno.h>

enum { LARGEST_BINARY = 1 << 30 };

void fl_version_print(const char *path, const char *about) {
  printf("%s\n", path);
  for (about += strcspn(about, "\n"); *about;) { /* behind the mark */
    about++;
    size_t n = strcspn(about, "\n");
    if (n) printf("  %.*s\n", (int)n, about);
    about += n;
  }
}

int fl_tool_version(const char *path) {
  FlText1 all = {0}, mark = {0};
  fl_text_addf(&mark, "%s program 1\n", "flow");
  int status = 1;
  if (!fl_read_file(path, LARGEST_BINARY, &all)) {
    fprintf(stderr, "flowc version: cannot read `%s`: %s\n", path, strerror(errno));
  } else {
    const char *about = memmem(all.s, all.len, mark.s, mark.len);
    const char *end = all.s + all.len;
    if (about && memchr(about, 0, (size_t)(end - about))) {
      fl_version_print(path, about);
      status = 0;
    } else {
      fprintf(stderr, "flowc version: `%s` is no binary that flowc built\n", path);
    }
  }
  fl_text_reset(&all);
  fl_text_reset(&mark);
  return status;
}
