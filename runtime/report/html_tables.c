/* html_tables.c: the first rows of what steps of pipes and `let`s gave; see html_internal.h.
 *
 * In: the record of the run, whose cells have been read. What always holds: all of it takes a bounded part of
 * the page; a table that has no room in it is named with its numbers of rows and columns alone. */
#include "report/html_internal.h"
#include "report/record.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TABLES = 1000, MOST_BYTES = 300000 }; /* of all tables' rows */

/* Rows of a table, and where they are of. */
typedef struct Of {
  const FlRecordRows *rows;
  const FlSite *site;
} Of;

/* The place of the program; NULL: it is not the user's. */
static const FlSite *site_of(const FlReport *r, const FlRecordRows *rows) {
  const FlProgram *p = r->options.program;
  for (int32_t i = 0; p && i < p->n_sites; i++) {
    const FlSite *s = &p->sites[i];
    if (s->line != rows->line || s->column != rows->column || s->length != rows->length) continue;
    if (fl_record_line(s->line_text, strlen(s->line_text)) == rows->text) return s->library ? NULL : s;
  }
  return NULL;
}

static int by_place(const void *a, const void *b) {
  const FlRecordRows *x = ((const Of *)a)->rows, *y = ((const Of *)b)->rows;
  const int d[] = {x->file - y->file, x->line - y->line, x->column - y->column, x->stage - y->stage};
  for (int k = 0; k < 4; k++)
    if (d[k]) return d[k];
  return strcmp(x->callers, y->callers);
}

/* The bytes of the first n characters of a text. */
static size_t characters(const char *s, int32_t n) {
  size_t at = 0;
  for (; s[at] && n > 0; n--) do
      at++;
    while (((unsigned char)s[at] & 0xC0) == 0x80);
  return at;
}

/* What stands there, on its line. */
static void put_code(FILE *f, const FlSite *s) {
  size_t from = characters(s->line_text, s->column - 1), n = characters(s->line_text + from, s->length);
  char *code = strndup(s->line_text + from, n);
  fputs("<code>", f);
  if (code) fl_html_text(f, code);
  fputs("</code>", f);
  free(code);
}

static void put_name(FILE *f, const FlReport *r, const Of *t) {
  const FlRecordRows *x = t->rows;
  if (r->options.script && strcmp(t->site->file, r->options.script) != 0) {
    fl_html_text(f, t->site->file);
    fputs(", ", f);
  }
  fprintf(f, "line %d, ", x->line);
  put_code(f, t->site);
  if (strcmp(x->callers, "-") != 0) fprintf(f, ", by the call in line %d", atoi(x->callers));
  if (x->stage >= 0 && x->stage < r->n_stages) {
    fputs(", in ", f);
    fl_html_called(f, &r->stages[x->stage]);
  }
  if (x->looped) fputs(", in the first round", f);
  fputs(": ", f);
  fl_html_count(f, x->n);
  fprintf(f, " row%s, %d column%s", x->n == 1 ? "" : "s", x->of, x->of == 1 ? "" : "s");
}

static void put_cell(FILE *f, const FlRecordCell *c, bool text) {
  fputs(text ? "<td>" : "<td class=n>", f);
  if (!c->text) fprintf(f, "<i>%s</i>", c->null ? "null" : "not known");
  else fl_html_text(f, c->text);
  if (c->cut) fputs("\u2026", f);
}

static bool is_text(const FlRecordColumn *c) {
  return strncmp(c->type, "text", 4) == 0 || strncmp(c->type, "category", 8) == 0;
}

static void put_rows(FILE *f, const FlRecordRows *x, int number) {
  fprintf(f,
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Rows of table %d, line %d\">"
          "<table><thead><tr>",
          number, x->line);
  int n = 0;
  for (int k = 0; k < x->n_columns; k++) {
    const FlRecordColumn *c = &x->columns[k];
    fprintf(f, "<th scope=\"col\"%s>", is_text(c) ? "" : " class=n");
    fl_html_text(f, c->name);
    fputs(" <small>", f);
    fl_html_text(f, c->type);
    fputs("</small>", f);
    if (c->n > n) n = c->n;
  }
  fputs("<tbody>\n", f);
  for (int i = 0; i < n; i++) {
    fputs("<tr>", f);
    for (int k = 0; k < x->n_columns; k++)
      if (i < x->columns[k].n) put_cell(f, &x->columns[k].cells[i], is_text(&x->columns[k]));
    fputc('\n', f);
  }
  fputs("</table></div>\n", f);
}

/* A table that is opened; *left: what rows may take from then on. */
static void put_table(FILE *f, const FlReport *r, const Of *t, int number, size_t *left) {
  const FlRecordRows *x = t->rows;
  char *rows = NULL;
  size_t size = 0;
  FILE *to = x->n_columns ? open_memstream(&rows, &size) : NULL;
  if (to) put_rows(to, x, number);
  bool fits = to && fclose(to) == 0 && size <= *left;
  fputs(fits ? "<details><summary>" : "<p>", f);
  put_name(f, r, t);
  if (!fits) fputs("</p>\n", f);
  else {
    fputs("</summary>\n", f);
    if (x->n_columns < x->of) fprintf(f, "<p>%d of its columns:</p>\n", x->n_columns);
    fwrite(rows, 1, size, f);
    fputs("</details>\n", f);
    *left -= size;
  }
  free(rows);
}

void fl_html_tables(FILE *f, const FlReport *r) {
  const FlRecord *record = r->shown;
  Of *all = record ? calloc((size_t)record->n_rows + 1, sizeof *all) : NULL;
  int n = 0;
  for (int i = 0; all && i < record->n_rows; i++) {
    Of t = {&record->rows[i], site_of(r, &record->rows[i])};
    if (t.site) all[n++] = t;
  }
  if (n) {
    qsort(all, (size_t)n, sizeof *all, by_place);
    fprintf(f,
            "<h2 id=\"tables\">Tables, by line</h2>\n<p>What steps of pipes and <code>let</code>s gave, "
            "with the first %d rows.</p>\n",
            FL_RECORD_ROWS);
  }
  size_t left = MOST_BYTES;
  for (int i = 0; i < n && i < MOST_TABLES; i++) put_table(f, r, &all[i], i + 1, &left);
  if (n > MOST_TABLES) fprintf(f, "<p>and %d more</p>\n", n - MOST_TABLES);
  free(all);
}
