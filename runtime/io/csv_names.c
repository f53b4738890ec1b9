/* csv_names.c: which column of a CSV file has a name.
 *
 * In: the names of the header. Out: the column of a name; columns of one name are an error when that name is
 * asked for, or any, or are numbered. What always holds: files of very many columns take time in proportion.
 *
 * The table has open addresses: a slot is 0, or a column + 1, the first of its name. Names hash by XXH3
 * (github.com/Cyan4973/xxHash). */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io/csv_internal.h"
#include "base/spell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The slot of a name: that of its first column, or the empty one where it would go. */
static uint64_t find_slot(const FlCsvFile *f, const char *name, size_t len) {
  uint64_t at = XXH3_64bits(name, len) & f->index.mask;
  for (;; at = (at + 1) & f->index.mask) {
    int32_t k = f->index.slot[at] - 1;
    if (k < 0 || (strlen(f->names[k]) == len && memcmp(f->names[k], name, len) == 0)) return at;
  }
}

/* Another name for column k, which is called like column `first`: with _2 or, where that is taken, a larger
 * number. Its slot, or NULL: out of memory. */
static int32_t *number_name(FlCsvFile *f, int32_t k, int32_t first) {
  size_t len = strlen(f->names[k]);
  char *name = malloc(len + 16);
  if (!name) return NULL;
  int32_t *slot, number = f->index.again[first] ? f->index.again[first] : 1;
  do {
    snprintf(name, len + 16, "%s_%d", f->names[k], ++number);
    slot = &f->index.slot[find_slot(f, name, strlen(name))];
  } while (*slot);
  f->index.again[first] = number;
  free(f->names[k]);
  f->names[k] = name;
  return slot;
}

/* All that are called as a column before them. */
static bool number_names(FlCsvFile *f, FlIoError *e) {
  bool *same = calloc((size_t)f->n_columns + 1, sizeof *same), ok = same != NULL;
  for (int32_t k = 0; ok && k < f->n_columns; k++)
    same[k] = f->index.slot[find_slot(f, f->names[k], strlen(f->names[k]))] != k + 1;
  memset(f->index.again, 0, (size_t)f->n_columns * sizeof *f->index.again); /* now the number used last */
  for (int32_t k = 0; ok && k < f->n_columns; k++) {
    if (!same[k]) continue;
    int32_t *slot = number_name(f, k, f->index.slot[find_slot(f, f->names[k], strlen(f->names[k]))] - 1);
    ok = slot != NULL;
    if (ok) *slot = k + 1;
  }
  free(same);
  memset(f->index.again, 0, (size_t)f->n_columns * sizeof *f->index.again);
  f->index.twice = 0;
  return ok || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
}

bool fl_csv_index_names(FlCsvFile *f, FlIoError *e) {
  uint64_t room = 4;
  while (room < 2 * (uint64_t)f->n_columns) room *= 2;
  f->index.mask = room - 1;
  f->index.slot = calloc(room, sizeof *f->index.slot);
  f->index.again = calloc((size_t)f->n_columns + 1, sizeof *f->index.again);
  if (!f->index.slot || !f->index.again)
    return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
  for (int32_t k = 0; k < f->n_columns; k++) {
    int32_t *slot = &f->index.slot[find_slot(f, f->names[k], strlen(f->names[k]))], first = *slot - 1;
    if (first < 0) *slot = k + 1;
    else if (!f->index.again[first]) f->index.again[first] = k;
    if (first >= 0 && !f->index.twice) f->index.twice = k;
  }
  return !f->index.twice || !f->options.number_names || number_names(f, e);
}

static bool same_names(const FlCsvFile *f, int32_t j, int32_t k, FlIoError *e) {
  fl_io_error(e, FL_E_HEADER, "columns %d and %d of `%s` are both called `%s`", j + 1, k + 1, f->path,
              f->names[k]);
  fl_io_help(e, "number them: duplicates = \"number\"; or read it without names: header = false, skip = %lld",
             (long long)fl_csv_line_at(f, f->body) - 1);
  return false;
}

bool fl_csv_names_differ(const FlCsvFile *f, FlIoError *e) {
  int32_t k = f->index.twice;
  if (!k) return true;
  return same_names(f, f->index.slot[find_slot(f, f->names[k], strlen(f->names[k]))] - 1, k, e);
}

static bool no_column(const FlCsvFile *f, const FlTableWanted *w, FlIoError *e) {
  fl_io_error(e, FL_E_NO_COLUMN, "no column `%.*s` in `%s`", w->name_len, w->name, f->path);
  int32_t close = fl_spell_closest(w->name, (size_t)w->name_len, (const char *const *)f->names, f->n_columns);
  if (close >= 0) {
    fl_io_help(e, "did you mean `%s`?", f->names[close]);
    return false;
  }
  size_t at = 0;
  for (int32_t k = 0; k < f->n_columns && at < sizeof e->help - 60; k++)
    at += (size_t)snprintf(e->help + at, 60, "%s%.40s", k ? ", " : "its columns: ", f->names[k]);
  return false;
}

bool fl_csv_find_column(const FlCsvFile *f, const FlTableWanted *w, int32_t *out, FlIoError *e) {
  int32_t k = f->index.slot[find_slot(f, w->name, (size_t)w->name_len)] - 1;
  *out = k;
  if (k < 0) return no_column(f, w, e);
  return !f->index.again[k] || same_names(f, k, f->index.again[k], e);
}
