/* csv_conformance.c: the files of tests/csv, whatever the size of chunks and the way of scanning.
 *
 * Beside each file is a text NAME.says: its options on the first line, and what the file says on the others,
 * with line ends within values as \n and \r. usage: unit_csv_conformance [--bless] */
#include "check.h"
#include "csv_kit.h"

#include <glob.h>

static char *slurp(const char *path, size_t *n) {
  FILE *f = fopen(path, "r");
  FlBytes b = {0};
  if (f) {
    char piece[4096];
    for (size_t got; (got = fread(piece, 1, sizeof piece, f)) > 0;) fl_bytes_add(&b, piece, got);
    fclose(f);
  }
  *n = b.len;
  if (fl_bytes_room(&b, 1)) b.at[b.len] = 0;
  return f ? b.at : NULL;
}

/* What a file says, one column a line. */
static char *in_lines(const char *said, const char *folder) {
  FlBytes b = {0};
  size_t skip = strlen(folder) + 1;
  for (const char *s = said; *s; s++) {
    if (strncmp(s, folder, skip - 1) == 0) {
      s += skip - 1; /* the slash goes, too */
    } else if (strncmp(s, "; ", 2) == 0) {
      fl_bytes_addz(&b, "\n");
      s++;
    } else if (*s == '\n' || *s == '\r') {
      fl_bytes_addz(&b, *s == '\n' ? "\\n" : "\\r");
    } else {
      fl_bytes_add(&b, s, 1);
    }
  }
  fl_bytes_add(&b, "\n", 2);
  return b.at;
}

static void test_file(const char *path, const char *folder, bool bless) {
  char beside[512], *got, how[64];
  size_t n_want;
  snprintf(beside, sizeof beside, "%.*s.says", (int)(strchr(path + strlen(folder), '.') - path), path);
  char *golden = slurp(beside, &n_want);
  Options o = {0};
  char *line = golden ? strsep(&golden, "\n") : NULL, *options = strdup(line ? line : "options");
  char *rest = options;
  strsep(&rest, " ");
  for (char *word; rest && (word = strsep(&rest, " "));) o.at[o.n++] = word;
  char *said = kit_reads(path, &o, fl_csv_scan_best(), FL_CSV_CHUNK, NULL), *lines = in_lines(said, folder);
  check(kit_always(path, &o, NULL, said, how, &got), "%s: %s", path, how);
  if (bless) {
    FILE *f = fopen(beside, "w");
    fprintf(f, "%s\n%s", line ? line : "options", lines);
    fclose(f);
  } else {
    check(golden && strcmp(golden, lines) == 0, "%s says\n%s", path, lines);
  }
  free(got);
  free(said);
  free(lines);
  free(options);
  free(line);
}

int main(int argc, char **argv) {
  bool bless = argc > 1 && strcmp(argv[1], "--bless") == 0;
  static const char folder[] = FLOW_TESTS "/csv";
  glob_t g;
  check(glob(FLOW_TESTS "/csv/*.csv*", 0, NULL, &g) == 0, "files in %s", folder);
  for (size_t k = 0; k < g.gl_pathc; k++) test_file(g.gl_pathv[k], folder, bless);
  globfree(&g);
  return finish();
}
