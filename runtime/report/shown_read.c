/* shown_read.c: the reader of what a record says was shown; see shown.h. What always holds: nothing in a
 * record is believed: of a table whose rows are not all there the rows are not kept. */
#include "report/shown.h"

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

/* %20 as the byte it stands for, in place; NULL for null. */
static const char *plain(char *word) {
  if (strcmp(word, "%-") == 0) return NULL;
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

static bool read_text(FlShownList *out, char *rest) {
  int64_t kept;
  FlShown *s = more(out);
  if (!s) return out->n == FL_SHOWN_MOST;
  char *value = place_of(&rest, s) && number_of(&rest, 0, 1, &kept) ? word_of(&rest) : NULL;
  if (!value) return true;
  s->kept = kept != 0;
  s->text = plain(value);
  if (s->text) out->n++;
  return true;
}

/* The row behind `have` others of the last table. */
static void read_row(FlShown *s, int64_t have, char *rest) {
  for (int k = 0; k < s->n_columns; k++) {
    char *cell = word_of(&rest);
    if (!cell) {
      s->kept = false;
      return;
    }
    s->cells[have * s->n_columns + k] = plain(cell);
  }
}

/* Ends the table that is being read. */
static void end_table(FlShownList *out, int64_t have) {
  FlShown *s = out->n ? &out->at[out->n - 1] : NULL;
  if (s && s->is_table && s->n_columns && have != s->rows) s->kept = false;
}

bool fl_shown_read(const char *record, size_t len, FlShownList *out) {
  *out = (FlShownList){0};
  const char *mark = len ? memmem(record, len, "\n" FL_RECORD_SHOWN, strlen("\n" FL_RECORD_SHOWN)) : NULL;
  if (!mark) return true;
  mark += strlen("\n" FL_RECORD_SHOWN);
  size_t n = len - (size_t)(mark - record);
  char *text = block(out, n + 1);
  if (!text) return false;
  memcpy(text, mark, n);
  int64_t have = 0;
  for (char *line; (line = strsep(&text, "\n"));) {
    char *rest = line, *word = word_of(&rest);
    if (!word) continue;
    bool is_row = strcmp(word, "row") == 0;
    FlShown *last = out->n ? &out->at[out->n - 1] : NULL;
    if (is_row && last && last->is_table && last->kept && have < last->rows) read_row(last, have++, rest);
    if (is_row) continue;
    end_table(out, have);
    have = 0;
    if (strcmp(word, "table") == 0 && !read_table(out, rest)) return false;
    if (strcmp(word, "text") == 0 && !read_text(out, rest)) return false;
  }
  end_table(out, have);
  return true;
}
