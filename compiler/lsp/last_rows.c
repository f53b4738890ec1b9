/* last_rows.c: the first rows of a table in the record of the last run, as Markdown; see answers.h.
 *
 * In: rows as the record has them (report/record.h). Out: a table of columns side by side, as many as are
 * seen at once, and under it how many rows it had and where that was. */
#include "lsp/answers.h"

#include "base/width.h"
#include "exec/last_run.h"

#include <stdlib.h>

enum { SHOWN_ROWS = 10, SHOWN_WIDTH = 100, SHOWN_CELL = 32, SHOWN_CALL = 60 };

void fl_lsp_add_number(FlText1 *out, int64_t n) {
  char digits[32];
  int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
  for (int i = 0; i < len; i++) fl_text_addf(out, "%s%c", i && (len - i) % 3 == 0 ? "," : "", digits[i]);
}

/* On one line, cut where it is long; null and what nobody knows in words. */
static void add_cell(FlText1 *out, const FlRecordColumn *c, int row) {
  const FlRecordCell *cell = &c->cells[row];
  const char *s = cell->text ? cell->text : cell->null ? "null" : "?";
  size_t n = strlen(s), fits = fl_width_fit(s, n, SHOWN_CELL);
  bool cut = fits < n || cell->cut;
  if (cut && fl_width_text(s, fits) == SHOWN_CELL) fits = fl_width_fit(s, n, SHOWN_CELL - 1);
  for (size_t k = 0; k < fits; k++) {
    char byte = (unsigned char)s[k] < ' ' || s[k] == 0x7f ? ' ' : s[k];
    fl_text_add(out, &byte, 1);
  }
  if (cut) fl_text_addz(out, "\u2026");
}

/* A column as cells of one width, the first its name and its type. */
typedef struct Block {
  FlText1 cells[SHOWN_ROWS + 2];
  int width;
  bool right;
} Block;

static void make_block(Block *b, const FlRecordColumn *c) {
  *b = (Block){.right = true};
  fl_text_addz(&b->cells[0], c->name);
  fl_text_addz(&b->cells[1], c->type);
  for (int i = 0; i < c->n && i < SHOWN_ROWS; i++) add_cell(&b->cells[i + 2], c, i);
  for (int i = 0; i < SHOWN_ROWS + 2; i++) {
    int width = b->cells[i].s ? fl_width_text(b->cells[i].s, b->cells[i].len) : 0;
    if (width > b->width) b->width = width;
  }
  static const char *const left[] = {"text", "bool", "date", "category", "file"};
  for (size_t k = 0; k < sizeof left / sizeof *left; k++)
    b->right = b->right && strncmp(c->type, left[k], strlen(left[k])) != 0;
}

static void add_blanks(FlText1 *out, int n) {
  for (int k = 0; k < n; k++) fl_text_addc(out, ' ');
}

static void add_lines(FlText1 *out, const Block *blocks, int n, int rows) {
  for (int i = 0; i < rows + 3; i++) {
    size_t from = out->len;
    for (int k = 0; k < n; k++) {
      const Block *b = &blocks[k];
      const FlText1 *cell = i == 2 ? NULL : &b->cells[i < 2 ? i : i - 1];
      int width = cell && cell->s ? fl_width_text(cell->s, cell->len) : 0;
      if (k) fl_text_addz(out, "  ");
      for (int line = 0; !cell && line < b->width; line++) fl_text_addz(out, "\u2500");
      if (cell && b->right) add_blanks(out, b->width - width);
      if (cell && cell->s) fl_text_add(out, cell->s, cell->len);
      if (cell && !b->right) add_blanks(out, b->width - width);
    }
    while (out->len > from && out->s[out->len - 1] == ' ') out->len--;
    fl_text_addc(out, '\n');
  }
}

/* A size stands before the array that has it, by the array's name. */
static bool is_size(const FlRecordStage *s, int k) {
  const FlRecordArg *next = k + 1 < s->n_args ? &s->args[k + 1] : NULL;
  return next && next->name && strcmp(s->args[k].name, next->name) == 0;
}

/* "above(least = 1)" */
static void add_call(const FlRecord *record, int stage, FlText1 *out) {
  const FlRecordStage *s = stage < record->now.n_stages ? &record->now.stages[stage] : NULL;
  FlText1 call = {0};
  for (int k = 0; s && k < s->n_args; k++)
    if (s->args[k].value && !is_size(s, k))
      fl_text_addf(&call, "%s%s = %s", call.len ? ", " : "", s->args[k].name, s->args[k].value);
  size_t fits = call.s ? fl_width_fit(call.s, call.len, SHOWN_CALL) : 0;
  if (!s) fl_text_addz(out, ", in a call of the stage");
  else if (!call.s) fl_text_addf(out, ", in `%s`", s->name);
  else fl_text_addf(out, ", in `%s(%.*s%s)`", s->name, (int)fits, call.s, fits < call.len ? "\u2026" : "");
  fl_text_reset(&call);
}

void fl_lsp_say_rows(FlRecord *record, const FlRecordRows *r, bool several, FlText1 *out) {
  Block *blocks = calloc((size_t)r->n_columns, sizeof *blocks);
  int n = 0, width = 0, rows = r->n < SHOWN_ROWS ? (int)r->n : SHOWN_ROWS;
  if (!blocks) return;
  for (; n < r->n_columns && (n == 0 || width < SHOWN_WIDTH); n++) {
    if (!fl_last_run_cells(record, &r->columns[n])) break;
    make_block(&blocks[n], &r->columns[n]);
    width += blocks[n].width + 2;
  }
  fl_text_addz(out, "```text\n");
  add_lines(out, blocks, n, rows);
  fl_text_addz(out, "```\n\n");
  if (rows < r->n) fl_text_addf(out, "the first %d of ", rows);
  fl_lsp_add_number(out, r->n);
  fl_text_addf(out, " row%s", r->n == 1 ? "" : "s");
  if (n < r->of) fl_text_addf(out, ", %d of %d columns,", n, r->of);
  fl_text_addz(out, " of the last run");
  if (several && strcmp(r->callers, "-") != 0)
    fl_text_addf(out, ", by the call in line %d", atoi(r->callers));
  if (r->stage >= 0) add_call(record, r->stage, out);
  if (r->looped) fl_text_addz(out, ", in the first round");
  for (int k = 0; k < n; k++)
    for (int i = 0; i < SHOWN_ROWS + 2; i++) fl_text_reset(&blocks[k].cells[i]);
  free(blocks);
}
