/* shown_read.c: the reader of what a record says was shown; see shown.h. What always holds: nothing in a
 * record is believed: of a table whose columns are not all there the rows are not kept. */
#include "exec/shown.h"

#include "data/data.h"
#include "data/value_type.h"
#include "io/io.h"
#include "report/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks that are freed with the list. */
typedef struct Block {
  struct Block *next;
} Block;

static void *block(FlShownList *out, size_t bytes) {
  Block *b = calloc(1, sizeof *b + bytes);
  if (!b) return NULL;
  b->next = out->memory;
  out->memory = b;
  return b + 1;
}

void fl_shown_reset(FlShownList *list) {
  for (Block *b = list->memory, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  free(list->at);
  *list = (FlShownList){0};
}

/* %20 as the byte it stands for, in place. */
static const char *plain(char *word) {
  char *to = word;
  for (const char *at = word; *at; at++) {
    unsigned byte;
    if (*at == '%' && at[1] && at[2] && sscanf(at + 1, "%2x", &byte) == 1) {
      *to++ = (char)byte;
      at += 2;
    } else {
      *to++ = *at;
    }
  }
  *to = '\0';
  return word;
}

static char *word_of(char **rest) {
  char *word = *rest ? strsep(rest, " ") : NULL;
  return word && *word ? word : NULL;
}

static bool number_of(char **rest, int64_t least, int64_t most, int64_t *out) {
  char *word = word_of(rest), *end = word;
  if (word) *out = strtoll(word, &end, 10);
  return word && end != word && !*end && *out >= least && *out <= most;
}

static bool place_of(char **rest, FlShown *s) {
  int64_t line;
  bool good = number_of(rest, 0, INT32_MAX, &line);
  char *of = good ? word_of(rest) : NULL;
  if (!of) return false;
  s->line = (int)line;
  s->of = strtoull(of, NULL, 16);
  return true;
}

static FlShown *more(FlShownList *out) {
  if (out->n == FL_SHOWN_MOST) return NULL;
  if ((out->n & (out->n - 1)) == 0) {
    FlShown *larger = realloc(out->at, (size_t)(out->n ? 2 * out->n : 1) * sizeof *larger);
    if (!larger) return NULL;
    out->at = larger;
  }
  out->at[out->n] = (FlShown){0};
  return &out->at[out->n];
}

/* false: no memory. A line that is none is left out. */
static bool read_table(FlShownList *out, char *rest) {
  int64_t kept, columns;
  FlShown *s = more(out);
  if (!s) return out->n == FL_SHOWN_MOST;
  if (!place_of(&rest, s) || !number_of(&rest, 0, INT64_MAX, &s->rows) || !number_of(&rest, 0, 1, &kept) ||
      !number_of(&rest, 0, FL_SHOWN_CELLS, &columns))
    return true;
  int64_t most = columns ? FL_SHOWN_TABLE_CELLS / columns : INT64_MAX;
  if (kept && s->rows > most) return true;
  if (!columns) kept = 0;
  s->is_table = true;
  s->kept = kept != 0;
  s->n_columns = (int)columns;
  s->names = block(out, (size_t)columns * sizeof *s->names);
  s->types = block(out, (size_t)columns * sizeof *s->types);
  s->cells = kept ? block(out, (size_t)(s->rows * columns) * sizeof *s->cells) : NULL;
  if (!s->names || !s->types || (kept && !s->cells)) return false;
  for (int k = 0; k < s->n_columns; k++) {
    char *name = word_of(&rest), *type = word_of(&rest);
    s->names[k] = name ? plain(name) : NULL;
    s->types[k] = type ? plain(type) : NULL;
    if (!s->names[k] || !s->types[k]) return true;
  }
  out->n++;
  return true;
}

/* ---- columns: bytes ---- */

/* What is left of the bytes of a column. */
typedef struct Raw {
  const char *at;
  size_t left;
} Raw;

static const char *take(Raw *raw, size_t n) {
  const char *at = raw->at;
  if (n > raw->left) return NULL;
  raw->at += n;
  raw->left -= n;
  return at;
}

/* Where the elements of a column are: their values, or of texts their lengths and bytes. */
typedef struct Elements {
  FlDtype dtype;
  bool array;
  int64_t each;
  const char *valid, *values; /* valid: or NULL */
  Raw texts;
} Elements;

static bool open_elements(Raw *raw, int64_t rows, Elements *e) {
  const char *head = take(raw, FL_CELL_HEAD);
  if (!head || (unsigned char)head[0] >= FL_N_DTYPES) return false;
  *e = (Elements){.dtype = (FlDtype)head[0], .array = head[1] & FL_CELL_ARRAY};
  memcpy(&e->each, head + 2, sizeof e->each);
  if (e->each < 0 || e->each > FL_SHOWN_TABLE_CELLS || (!e->array && e->each != 1)) return false;
  int64_t n = rows * e->each;
  if (n > FL_SHOWN_TABLE_CELLS) return false;
  if (head[1] & FL_CELL_VALID && !(e->valid = take(raw, (size_t)n))) return false;
  size_t bytes = fl_dtype_is_text(e->dtype) ? sizeof(uint32_t)
                 : e->dtype == FL_LIST      ? sizeof(int64_t)
                                            : (size_t)fl_dtype_info[e->dtype].bytes;
  e->values = take(raw, (size_t)n * bytes);
  e->texts = *raw;
  return e->values != NULL;
}

/* One element behind the others; false: its text is not there. */
static bool print_element(FlBytes *out, Elements *e, int64_t k) {
  FlSlot v = {.u = 0};
  bool valid = !e->valid || e->valid[k];
  if (e->dtype == FL_LIST) {
    int64_t len;
    memcpy(&len, e->values + k * (int64_t)sizeof len, sizeof len);
    fl_bytes_addf(out, "[%lld]", (long long)len);
    return true;
  }
  if (fl_dtype_is_text(e->dtype)) {
    uint32_t len;
    memcpy(&len, e->values + k * (int64_t)sizeof len, sizeof len);
    v.t = (FlText){take(&e->texts, len), len};
    if (!v.t.ptr) return false;
  } else {
    _Alignas(16) char value[16] = {0};
    size_t bytes = (size_t)fl_dtype_info[e->dtype].bytes;
    if (bytes > sizeof value) return false;
    memcpy(value, e->values + (size_t)k * bytes, bytes);
    v = fl_array_slot(&(FlArray){.data = value, .dims = {1}, .rank = 1, .dtype = (int32_t)e->dtype}, 0);
  }
  fl_io_cell(out, (int32_t)e->dtype, v, valid);
  return true;
}

/* Cells one behind the other, each with a zero behind it; of null nothing. false: they are not all there. */
static bool print_cells(FlBytes *out, Elements *e, int64_t rows) {
  for (int64_t row = 0; row < rows; row++) {
    if (e->array) fl_bytes_addz(out, "[");
    for (int64_t k = 0; k < e->each; k++) {
      if (k) fl_bytes_addz(out, ", ");
      if (!print_element(out, e, row * e->each + k)) return false;
    }
    if (e->array) fl_bytes_addz(out, "]");
    fl_bytes_add(out, "", 1);
  }
  return !out->failed;
}

/* false: no memory. */
static bool read_column(FlShownList *out, FlShown *s, int column, Raw raw) {
  Elements e;
  FlBytes text = {0};
  bool good = open_elements(&raw, s->rows, &e) && print_cells(&text, &e, s->rows);
  char *kept = good ? block(out, text.len + 1) : NULL;
  bool memory = !text.failed && (!good || kept);
  if (kept && text.len) memcpy(kept, text.at, text.len);
  for (int64_t row = 0; kept && row < s->rows; row++) {
    bool null = !e.array && e.valid && !e.valid[row];
    s->cells[row * s->n_columns + column] = null ? NULL : kept;
    kept += strlen(kept) + 1;
  }
  if (!good) s->kept = false;
  fl_bytes_reset(&text);
  return memory;
}

/* ---- all of it ---- */

static bool read_text(FlShownList *out, char *rest, Raw *behind) {
  int64_t kept, len;
  FlShown *s = more(out);
  if (!s) return out->n == FL_SHOWN_MOST;
  if (!place_of(&rest, s) || !number_of(&rest, 0, 1, &kept) || !number_of(&rest, 0, FL_SHOWN_TEXT, &len))
    return true;
  const char *bytes = take(behind, (size_t)len);
  char *copy = bytes ? block(out, (size_t)len + 1) : NULL;
  if (bytes && !copy) return false;
  if (!copy) return true;
  memcpy(copy, bytes, (size_t)len);
  s->kept = kept != 0;
  s->text = copy;
  out->n++;
  return true;
}

/* The column behind `have` others of the last table. */
static bool add_column(FlShownList *out, int have, char *rest, Raw *behind) {
  FlShown *s = out->n ? &out->at[out->n - 1] : NULL;
  int64_t len;
  const char *bytes = number_of(&rest, 0, INT32_MAX, &len) ? take(behind, (size_t)len) : NULL;
  if (!s || !s->is_table || !s->kept) return true;
  if (!bytes || have >= s->n_columns) s->kept = false;
  return !s->kept || read_column(out, s, have, (Raw){bytes, (size_t)len});
}

/* Ends the table that is being read. */
static void end_table(FlShownList *out, int have) {
  FlShown *s = out->n ? &out->at[out->n - 1] : NULL;
  if (s && s->is_table && have != s->n_columns) s->kept = false;
}

bool fl_shown_read(const char *record, size_t len, FlShownList *out) {
  *out = (FlShownList){0};
  const char *mark = len ? memmem(record, len, "\n" FL_RECORD_SHOWN, strlen("\n" FL_RECORD_SHOWN)) : NULL;
  if (!mark) return true;
  mark += strlen("\n" FL_RECORD_SHOWN);
  Raw raw = {mark, len - (size_t)(mark - record)};
  int have = 0;
  bool memory = true;
  for (const char *end; memory && raw.left && (end = memchr(raw.at, '\n', raw.left));) {
    size_t n = (size_t)(end - raw.at);
    char *line = block(out, n + 1), *rest = line;
    if (!line) return false;
    memcpy(line, take(&raw, n + 1), n);
    const char *word = word_of(&rest);
    if (!word) continue;
    if (strcmp(word, "column") == 0) {
      memory = add_column(out, have++, rest, &raw);
      continue;
    }
    end_table(out, have);
    have = 0;
    if (strcmp(word, "table") == 0) memory = read_table(out, rest);
    if (strcmp(word, "text") == 0) memory = read_text(out, rest, &raw);
  }
  end_table(out, have);
  return memory;
}
