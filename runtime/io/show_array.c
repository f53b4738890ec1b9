/* show_array.c: arrays in brackets, a row a line, long ones with their middle left out. */
#include "io/show_internal.h"
#include "base/width.h"
#include "data/data.h"

#include <string.h>

enum { FL_ALL = 1000, FL_EDGE = 3, FL_CELL = 32 };

typedef struct FlShowing {
  FlCells cells;
  FlFloatStyle style;
  int width; /* of the widest element shown */
  int line;
  bool cut, right;
} FlShowing;

/* The elements of a dimension that are shown: all, or the first and last FL_EDGE. Returns the next after k.
 */
static int64_t next_shown(const FlShowing *s, int64_t k, int64_t n) {
  return s->cut && n > 2 * FL_EDGE && k + 1 == FL_EDGE ? n - FL_EDGE : k + 1;
}

static void measure(FlShowing *s, int32_t axis, int64_t base, bool widths, FlBytes *room) {
  const FlArray *a = s->cells.values;
  for (int64_t k = 0; k < a->dims[axis]; k = next_shown(s, k, a->dims[axis])) {
    int64_t at = base * a->dims[axis] + k;
    if (axis + 1 < a->rank) {
      measure(s, axis + 1, at, widths, room);
    } else if (!widths) {
      fl_cell_fit(&s->style, s->cells, at);
    } else {
      room->len = 0;
      fl_cell_print(room, s->cells, at, s->style, FL_CELL);
      int w = fl_width_text(room->at, room->len);
      if (w > s->width) s->width = w;
    }
  }
}

static void put_element(FlBytes *out, const FlShowing *s, int64_t at) {
  FlBytes cell = {0};
  fl_cell_print(&cell, s->cells, at, s->style, FL_CELL);
  int pad = s->width - fl_width_text(cell.at, cell.len);
  if (s->right && pad > 0) fl_bytes_fill(out, ' ', (size_t)pad);
  fl_bytes_join(out, &cell);
  fl_bytes_reset(&cell);
}

static void put_vector(FlBytes *out, const FlShowing *s, int64_t base, int64_t n, int indent) {
  int column = indent + 1;
  fl_bytes_addz(out, "[");
  for (int64_t k = 0; k < n;) {
    put_element(out, s, base + k);
    int64_t next = next_shown(s, k, n);
    column += s->width + 2;
    if (next < n) fl_bytes_addz(out, ",");
    if (next < n && next != k + 1) {
      fl_bytes_addz(out, " ...,");
      column += 5;
    }
    if (next < n && column + s->width > s->line) {
      fl_bytes_addz(out, "\n");
      fl_bytes_fill(out, ' ', (size_t)indent + 1);
      column = indent + 1;
    } else if (next < n) {
      fl_bytes_addz(out, " ");
    }
    k = next;
  }
  fl_bytes_addz(out, "]");
}

static void put_axis(FlBytes *out, const FlShowing *s, int32_t axis, int64_t base, int indent) {
  const FlArray *a = s->cells.values;
  int64_t n = a->dims[axis];
  if (axis + 1 == a->rank) {
    put_vector(out, s, base * n, n, indent);
    return;
  }
  fl_bytes_addz(out, "[");
  for (int64_t k = 0; k < n;) {
    put_axis(out, s, axis + 1, base * n + k, indent + 1);
    int64_t next = next_shown(s, k, n);
    if (next < n) {
      fl_bytes_addz(out, ",\n");
      fl_bytes_fill(out, ' ', (size_t)indent + 1);
      if (next != k + 1) {
        fl_bytes_addz(out, "...,\n");
        fl_bytes_fill(out, ' ', (size_t)indent + 1);
      }
    }
    k = next;
  }
  fl_bytes_addz(out, "]");
}

/* More than is shown in full: elements, or rows without any. */
static bool is_long(const FlArray *a) {
  int64_t rows = 1;
  for (int32_t k = 0; k < a->rank && a->dims[k] && rows <= FL_ALL; k++)
    rows = a->dims[k] > FL_ALL ? FL_ALL + 1 : rows * a->dims[k];
  return rows > FL_ALL || fl_array_count(a) > FL_ALL;
}

void fl_show_array(FlBytes *out, FlCells cells, int indent, int line) {
  FlBytes room = {0};
  FlShowing s = {cells, {1}, 0, line, is_long(cells.values), fl_cell_is_right(cells)};
  measure(&s, 0, 0, false, &room);
  measure(&s, 0, 0, true, &room);
  put_axis(out, &s, 0, 0, indent);
  out->failed |= room.failed;
  fl_bytes_reset(&room);
}

void fl_show_brief(FlBytes *out, FlCells cells, int64_t row, FlFloatStyle style) {
  int64_t n = fl_array_row_count(cells.values);
  fl_bytes_addz(out, "[");
  for (int64_t k = 0; k < n; k++) {
    if (n > 4 && k == 2) {
      fl_bytes_addz(out, ", ...");
      k = n - 1;
    }
    if (k) fl_bytes_addz(out, ", ");
    fl_cell_print(out, cells, row * n + k, style, FL_CELL / 2);
  }
  fl_bytes_addz(out, "]");
}
