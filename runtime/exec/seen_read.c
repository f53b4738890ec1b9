/* seen_read.c: the cells of tables in a record, as people read them. In: the words of a column's line
 * (report/record.h). Out: texts, which live as long as the record. What always holds: a word that is no
 * value of the column's type is not known. */
#include "data/data.h"
#include "data/value_type.h"
#include "exec/exec_internal.h"
#include "exec/last_run.h"

#include <string.h>

/* A number as put_bits of seen.c writes it; false: it is none, or too large for the type. */
static bool bits_of(const char *word, unsigned char *to, size_t bytes) {
  size_t n = strlen(word);
  memset(to, 0, bytes);
  if (!n || n > 2 * bytes || strspn(word, "0123456789abcdef") != n) return false;
  for (size_t i = 0; i < n; i++) {
    char c = word[n - 1 - i];
    unsigned digit = (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
    to[i / 2] = (unsigned char)(to[i / 2] | digit << (i % 2 ? 4 : 0));
  }
  return true;
}

static const char *shown_as(FlRecord *r, FlDtype d, const char *word) {
  _Alignas(16) unsigned char bits[16];
  if (!bits_of(word, bits, (size_t)fl_dtype_info[d].bytes) || (d == FL_BOOL && *bits > 1)) return NULL;
  const FlArray one = {.data = bits, .dims = {1}, .dtype = (int32_t)d, .rank = 1};
  char shown[FL_SHOWN];
  int n = fl_print_scalar(shown, (int32_t)d, fl_array_slot(&one, 0));
  char *text = fl_record_room(r, (size_t)n + 1);
  return text ? memcpy(text, shown, (size_t)n) : NULL;
}

bool fl_last_run_cells(FlRecord *r, FlRecordColumn *c) {
  if (c->cells) return true;
  FlDtype d;
  size_t len = strlen(c->type);
  len -= len && c->type[len - 1] == '?';
  if (!fl_dtype_named(c->type, len, &d)) return false;
  bool text = fl_dtype_is_text(d) || d == FL_CATEGORY;
  if (!text && fl_dtype_info[d].kind == FL_KIND_REF) return false;
  FlRecordCell *cells = fl_record_room(r, (size_t)(c->n + 1) * sizeof *cells);
  for (int i = 0; cells && i < c->n; i++) {
    char *word = c->words[i];
    size_t n = strlen(word);
    FlRecordCell *cell = &cells[i];
    cell->null = strcmp(word, "=") == 0;
    cell->cut = !cell->null && n > 0 && word[n - 1] == '=';
    if (cell->cut) word[n - 1] = '\0';
    if (cell->null || strcmp(word, ":") == 0) continue;
    cell->text = text ? fl_record_plain(word) : shown_as(r, d, word);
  }
  c->cells = cells;
  return cells;
}
