/* show_cell.c: single elements as people read them.
 *
 * What always holds: integers, times and texts are exact; floats have at least six significant digits, and
 * all of a column or array the same number of decimals, unless some are so large or small that all get
 * exponents. */
#include "io/show_internal.h"
#include "base/width.h"
#include "data/data.h"
#include "data/number.h"
#include "data/value_type.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FL_SHOW_DIGITS = 6, FL_MOST_DECIMALS = 8 };

bool fl_cell_is_right(FlCells cells) {
  FlKind k = fl_dtype_info[cells.values->dtype].kind;
  return !cells.levels &&
         (k == FL_KIND_SIGNED || k == FL_KIND_UNSIGNED || k == FL_KIND_FLOAT || k == FL_KIND_DECIMAL);
}

static bool is_valid(FlCells c, int64_t at) { return !c.valid || ((const uint8_t *)c.valid->data)[at]; }

static double float_at(FlCells c, int64_t at) {
  return c.values->dtype == FL_F64 ? ((const double *)c.values->data)[at]
                                   : (double)((const float *)c.values->data)[at];
}

void fl_cell_fit(FlFloatStyle *style, FlCells cells, int64_t at) {
  if (!fl_dtype_is_float(cells.values->dtype) || style->decimals < 0 || !is_valid(cells, at)) return;
  double x = fabs(float_at(cells, at));
  if (!isfinite(x) || x == 0) return;
  if (x >= 1e15) {
    style->decimals = -1;
    return;
  }
  char text[32];
  snprintf(text, sizeof text, "%.*e", FL_SHOW_DIGITS - 1, x);
  char *e = strchr(text, 'e'), *last = e - 1;
  while (*last == '0') last--;
  int significant = *last == '.' ? 1 : (int)(last - text); /* the point is not a digit */
  int decimals = significant - 1 - atoi(e + 1);
  if (decimals > FL_MOST_DECIMALS) {
    style->decimals = -1;
  } else if (decimals > style->decimals) {
    style->decimals = decimals;
  }
}

static void print_float(FlBytes *out, double x, FlFloatStyle style) {
  char text[64];
  if (!isfinite(x) || (x == 0 && style.decimals < 0)) {
    fl_bytes_add(out, text, (size_t)fl_print_f64(text, x));
  } else if (style.decimals >= 0) {
    fl_bytes_addf(out, "%.*f", style.decimals, x);
  } else { /* the shortest text of six digits */
    snprintf(text, sizeof text, "%.*e", FL_SHOW_DIGITS - 1, x);
    double rounded = strtod(text, NULL);
    fl_bytes_add(out, text, (size_t)fl_print_f64(text, rounded));
  }
}

static void print_text(FlBytes *out, FlText t, int most) {
  size_t n = (size_t)t.len, end = n, size;
  if (most && fl_width_text(t.ptr, n) > most) end = fl_width_fit(t.ptr, n, most - 1);
  for (size_t at = 0; at < end; at += size) {
    const char *s = t.ptr + at;
    if (fl_width_next(s, n - at, &size) >= 0) fl_bytes_add(out, s, size);
    else if (*s == '\n') fl_bytes_addz(out, "\\n");
    else if (*s == '\t') fl_bytes_addz(out, "\\t");
    else fl_bytes_addf(out, "\\u{%X}", (unsigned char)s[size - 1]); /* all of them are below U+00A0 */
  }
  if (end < n) fl_bytes_addz(out, "…");
}

void fl_show_name(FlBytes *out, const char *name) {
  print_text(out, (FlText){name, (int64_t)strlen(name)}, 0);
}

void fl_cell_print(FlBytes *out, FlCells cells, int64_t at, FlFloatStyle style, int most) {
  const void *p = cells.values->data;
  if (!is_valid(cells, at)) {
    fl_bytes_addz(out, "null");
    return;
  }
  if (cells.levels) {
    print_text(out, ((const FlText *)cells.levels->data)[((const int32_t *)p)[at]], most);
    return;
  }
  char *to = fl_bytes_room(out, FL_NUMBER_ROOM);
  if (!to) return;
  FlDtype d = (FlDtype)cells.values->dtype;
  if (d == FL_F32 || d == FL_F64) print_float(out, float_at(cells, at), style);
  else if (fl_dtype_is_text(d)) print_text(out, ((const FlText *)p)[at], most);
  else out->len += (size_t)fl_print_scalar(to, d, fl_array_slot(cells.values, at));
}

void fl_io_cell(FlBytes *out, int32_t dtype, FlSlot v, bool valid) {
  char text[FL_NUMBER_ROOM];
  if (!valid) {
    fl_bytes_addz(out, "null");
    return;
  }
  if (fl_dtype_is_text(dtype)) fl_bytes_add(out, v.t.ptr, (size_t)v.t.len);
  else fl_bytes_add(out, text, (size_t)fl_print_scalar(text, dtype, v));
}
