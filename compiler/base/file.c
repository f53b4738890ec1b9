/* file.c: a whole file as text; see base.h. */
#include "base/base.h"

bool fl_read_stream(FILE *in, size_t most, FlText1 *out) {
  char buffer[1 << 16];
  fl_text_add(out, "", 0);
  for (size_t n; out->len <= most && (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
    fl_text_add(out, buffer, n);
  return !ferror(in);
}

bool fl_read_file(const char *path, size_t most, FlText1 *out) {
  FILE *in = fopen(path, "re");
  if (!in) return false;
  bool fine = fl_read_stream(in, most, out);
  fclose(in);
  return fine;
}
