/* show_table.c: a table laid out in columns: names, types under them, rows; the middle of a long one is left
 * out. */
#include "io/show_internal.h"
#include "base/width.h"
#include "data/data.h"

#include <stdlib.h>
#include <string.h>

enum { FL_TEXT_CELL = 32, FL_MOST_NAMED = 24 };

/* The rows that are shown: `head` from 0, and then `tail`. */
typedef struct FlSome {
  int64_t n, head, tail;
} FlSome;

/* One column laid out: its cells as texts, one behind the other. */
typedef struct FlLaid {
  FlBytes name, type, cells;
  size_t *ends; /* of each shown row */
  int width;
  bool right;
} FlLaid;

static bool is_brief(const FlShowColumn *c) { return c->cells.values->rank > 1; }

static FlSome some_of(int64_t n, FlPage page) {
  if (n <= page.most) return (FlSome){n, n, 0};
  return (FlSome){n, page.rows - page.rows / 3, page.rows / 3};
}
static int64_t shown_rows(FlSome r) { return r.head + r.tail; }
static int64_t row_at(FlSome r, int64_t k) { return k < r.head ? k : r.n - r.head - r.tail + k; }

static int at_least(int a, int b) { return a > b ? a : b; }

static void lay_out(FlLaid *l, const FlShowColumn *c, FlSome rows) {
  FlFloatStyle style = {1};
  int64_t each = fl_array_row_count(c->cells.values);
  bool list = c->cells.values->dtype == FL_LIST;
  fl_show_name(&l->name, c->name);
  fl_show_type_print(&l->type, c->type);
  for (int64_t k = 0; !list && k < shown_rows(rows); k++) {
    for (int64_t j = 0; j < each && j < 64; j++) fl_cell_fit(&style, c->cells, row_at(rows, k) * each + j);
  }
  l->width = at_least(fl_width_text(l->name.at, l->name.len), fl_width_text(l->type.at, l->type.len));
  l->right = fl_cell_is_right(c->cells) && !is_brief(c);
  for (int64_t k = 0; k < shown_rows(rows); k++) {
    size_t begin = l->cells.len;
    int64_t row = row_at(rows, k);
    if (list) {
      const FlArray *inner = ((FlArray *const *)c->cells.values->data)[row];
      fl_bytes_addf(&l->cells, "[%lld]", inner ? (long long)inner->dims[0] : 0);
    } else if (is_brief(c)) {
      fl_show_brief(&l->cells, c->cells, row, style);
    } else {
      fl_cell_print(&l->cells, c->cells, row, style, FL_TEXT_CELL);
    }
    l->ends[k] = l->cells.len;
    l->width = at_least(l->width, fl_width_text(l->cells.at + begin, l->cells.len - begin));
  }
}

static void put(FlBytes *line, const FlLaid *l, const char *s, size_t len) {
  int pad = l->width - fl_width_text(s, len);
  if (line->len) fl_bytes_addz(line, "  ");
  if (l->right) fl_bytes_fill(line, ' ', (size_t)pad);
  fl_bytes_add(line, s, len);
  if (!l->right) fl_bytes_fill(line, ' ', (size_t)pad);
}

static void end_line(FlBytes *out, FlBytes *line) {
  while (line->len && line->at[line->len - 1] == ' ') line->len--;
  fl_bytes_join(out, line);
  fl_bytes_addz(out, "\n");
  line->len = 0;
}

/* How many columns fit beside each other; at least one. */
static int32_t columns_that_fit(const FlLaid *l, int32_t n, int line) {
  int width = -2;
  for (int32_t k = 0; k < n; k++) {
    width += l[k].width + 2;
    if (k && width > line) return k;
  }
  return n;
}

static void put_rule(FlBytes *line, int width) {
  if (line->len) fl_bytes_addz(line, "  ");
  for (int k = 0; k < width; k++) fl_bytes_addz(line, "─");
}

static void put_count(FlBytes *out, FlSome rows, const FlShowColumn *columns, int32_t fit, int32_t n) {
  if (shown_rows(rows) < rows.n || rows.n == 0) fl_bytes_addf(out, "%lld rows\n", (long long)rows.n);
  if (fit == n) return;
  fl_bytes_addf(out, "%d more column%s:", n - fit, n - fit == 1 ? "" : "s");
  int32_t last = n - fit > FL_MOST_NAMED ? fit + FL_MOST_NAMED : n;
  for (int32_t k = fit; k < last; k++) {
    fl_bytes_addz(out, k > fit ? ", " : " ");
    fl_show_name(out, columns[k].name);
    fl_bytes_addz(out, ": ");
    fl_show_type_print(out, columns[k].type);
  }
  fl_bytes_addz(out, last < n ? ", …\n" : "\n");
}

void fl_show_table(FlBytes *out, const FlShowColumn *columns, int32_t n, int64_t n_rows, FlPage page) {
  FlBytes line = {0};
  FlSome rows = some_of(n_rows, page);
  FlLaid *l = calloc((size_t)n + 1, sizeof *l);
  size_t *ends = calloc((size_t)(n * shown_rows(rows)) + 1, sizeof *ends);
  if (!l || !ends) {
    free(l);
    free(ends);
    out->failed = true;
    return;
  }
  for (int32_t c = 0; c < n; c++) {
    l[c].ends = ends + c * shown_rows(rows);
    lay_out(&l[c], &columns[c], rows);
  }
  int32_t fit = columns_that_fit(l, n, page.line);
  for (int32_t c = 0; c < fit; c++) put(&line, &l[c], l[c].name.at, l[c].name.len);
  end_line(out, &line);
  for (int32_t c = 0; c < fit; c++) put(&line, &l[c], l[c].type.at, l[c].type.len);
  end_line(out, &line);
  for (int32_t c = 0; c < fit; c++) put_rule(&line, l[c].width);
  end_line(out, &line);
  for (int64_t k = 0; k < shown_rows(rows); k++) {
    for (int32_t c = 0; rows.tail && k == rows.head && c < fit; c++) put(&line, &l[c], "…", strlen("…"));
    if (line.len) end_line(out, &line);
    for (int32_t c = 0; c < fit; c++) {
      size_t begin = k ? l[c].ends[k - 1] : 0;
      put(&line, &l[c], l[c].cells.at + begin, l[c].ends[k] - begin);
    }
    end_line(out, &line);
  }
  put_count(out, rows, columns, fit, n);
  for (int32_t c = 0; c < n; c++) {
    out->failed |= l[c].cells.failed || l[c].name.failed || l[c].type.failed;
    fl_bytes_reset(&l[c].name);
    fl_bytes_reset(&l[c].type);
    fl_bytes_reset(&l[c].cells);
  }
  free(l);
  free(ends);
  fl_bytes_reset(&line);
}
