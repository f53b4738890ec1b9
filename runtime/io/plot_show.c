/* plot_show.c: a plot for people at a terminal: the operator show_plot. In: the parts of a Plot. Out: about
 * 20 lines of 72 columns on standard output.
 *
 * The picture is a grid of dots, two by four a character (the braille patterns of Unicode). Where the plot
 * has one colour the dots are shown; where it has several, a character that holds a dot shows the mark of the
 * group that was drawn there last, and the marks are named below: 34 of them, all further groups are a
 * question mark. What always holds: the lines follow from the plot alone. */
#include "io/plot_internal.h"
#include "io/plot_svg.h"
#include "io/show_internal.h"
#include "base/width.h"
#include "exec/exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FL_COLUMNS = 72, FL_ROWS = 16, FL_NAME = 20, FL_MARKS = 34 };
static const char marks[FL_MARKS + 1] = "ox+*#@%&ABCDEFGHIJKLMNOPQRSTUVWXYZ";

typedef struct FlScreen {
  const FlPlot *plot;
  int columns; /* of the grid, in characters */
  uint8_t dots[FL_ROWS][FL_COLUMNS];
  int32_t series[FL_ROWS][FL_COLUMNS];
} FlScreen;

static char mark_of(int32_t series) { return series < FL_MARKS ? marks[series] : '?'; }

/* ---- dots --------------------------------------------------------------------------------------------- */

/* Which of n steps along the axis, from the low end. */
static int step_of(const FlPlotAxis *a, double v, int n) {
  int k = (int)floor((v - a->lo) / (a->hi - a->lo) * n);
  return k < 0 ? 0 : k >= n ? n - 1 : k;
}

static int dot_across(const FlScreen *s, double x) { return step_of(&s->plot->x, x, 2 * s->columns); }
static int dot_down(const FlScreen *s, double y) {
  return 4 * FL_ROWS - 1 - step_of(&s->plot->y, y, 4 * FL_ROWS);
}

static void set_dot(FlScreen *s, int x, int y, int32_t series) {
  static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  s->dots[y / 4][x / 2] |= bits[y % 4][x % 2];
  s->series[y / 4][x / 2] = series;
}

static void set_line(FlScreen *s, int x, int y, int x1, int y1, int32_t series) {
  int dx = x1 - x, dy = y1 - y, n = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
  for (int k = 0; k <= n; k++)
    set_dot(s, n ? x + (2 * dx * k + (dx < 0 ? -n : n)) / (2 * n) : x,
            n ? y + (2 * dy * k + (dy < 0 ? -n : n)) / (2 * n) : y, series);
}

/* A bar without height has no dots. */
static void set_rect(FlScreen *s, const FlPlotLayer *l, int64_t k) {
  if (l->y[k] == l->y1[k]) return;
  double top = fmax(l->y[k], l->y1[k]), bottom = fmin(l->y[k], l->y1[k]);
  int x = dot_across(s, l->x[k]), x1 = dot_across(s, l->x1[k]);
  for (int y = dot_down(s, top); y <= dot_down(s, bottom); y++)
    for (int at = x; at < x1 || at == x; at++) set_dot(s, at, y, l->series[k]);
}

static void draw(FlScreen *s, const FlPlotLayer *l) {
  for (int64_t k = 0; k < l->n; k++) {
    bool joined = k && l->series[k - 1] == l->series[k] && !isnan(l->x[k - 1]);
    if (isnan(l->x[k])) continue;
    int x = dot_across(s, l->x[k]), y = dot_down(s, l->y[k]);
    switch (l->shape) {
    case FL_PLOT_POINTS: set_dot(s, x, y, l->series[k]); break;
    case FL_PLOT_LINE:
      if (joined) set_line(s, dot_across(s, l->x[k - 1]), dot_down(s, l->y[k - 1]), x, y, l->series[k]);
      else set_dot(s, x, y, l->series[k]);
      break;
    case FL_PLOT_RECTS: set_rect(s, l, k); break;
    }
  }
}

/* ---- lines of text ------------------------------------------------------------------------------------ */

/* What fits in so many columns, without control characters; returns how many it takes. */
static int put_cut(FlBytes *out, const char *s, int64_t len, int most) {
  size_t end = fl_width_fit(s, (size_t)len, most), size;
  for (size_t at = 0; at < end; at += size) {
    if (fl_width_next(s + at, end - at, &size) < 0) fl_bytes_addz(out, " ");
    else fl_bytes_add(out, s + at, size);
  }
  return fl_width_text(s, end);
}

static int width_of(FlText t, int most) {
  return fl_width_text(t.ptr, fl_width_fit(t.ptr, (size_t)t.len, most));
}

static void put_middle(FlBytes *out, FlText t, int left, int columns) {
  int n = width_of(t, columns);
  fl_bytes_fill(out, ' ', (size_t)(left + (columns - n) / 2));
  put_cut(out, t.ptr, t.len, columns);
  fl_bytes_addz(out, "\n");
}

static void put_row(FlBytes *out, const FlScreen *s, int row, bool marked) {
  int last = s->columns;
  while (last && !s->dots[row][last - 1]) last--;
  for (int k = 0; k < last; k++) {
    uint8_t dots = s->dots[row][k];
    char braille[4] = {(char)0xe2, (char)(0xa0 | dots >> 6), (char)(0x80 | (dots & 0x3f)), 0};
    if (!dots) fl_bytes_addz(out, " ");
    else if (marked) fl_bytes_fill(out, mark_of(s->series[row][k]), 1);
    else fl_bytes_addz(out, braille);
  }
  fl_bytes_addz(out, "\n");
}

/* Labels under the axis, each below its place, those left out for which there is no room. */
static void put_x_labels(FlBytes *out, const FlScreen *s, int left, const FlPlotTick *ticks, int n_ticks) {
  const FlPlot *p = s->plot;
  int at = 0, free_from = 0, n = p->x.scale == FL_PLOT_TEXT ? p->x.texts.n : n_ticks;
  for (int k = 0; k < n; k++) {
    FlText t = p->x.scale == FL_PLOT_TEXT ? p->x.texts.at[k]
                                          : (FlText){ticks[k].label, (int64_t)strlen(ticks[k].label)};
    int width = width_of(t, FL_NAME),
        middle = step_of(&p->x, p->x.scale == FL_PLOT_TEXT ? k : ticks[k].at, s->columns);
    int from = middle - width / 2 < 0 ? 0 : middle - width / 2;
    if (from + width > s->columns) from = s->columns - width;
    if (from < free_from) continue;
    fl_bytes_fill(out, ' ', (size_t)(from - at + (free_from ? 0 : left)));
    at = from + put_cut(out, t.ptr, t.len, FL_NAME);
    free_from = at + 1;
  }
  fl_bytes_addz(out, "\n");
}

static void put_legend(FlBytes *out, const FlPlot *p, int left) {
  int at = 0;
  for (int32_t k = 0; k < p->n_series && k <= FL_MARKS; k++) {
    if (!p->series[k].named) continue;
    int width = width_of(p->series[k].name, FL_NAME) + 4;
    if (at && at + width > FL_COLUMNS - left) {
      fl_bytes_addz(out, "\n");
      at = 0;
    }
    fl_bytes_fill(out, ' ', (size_t)(at ? 2 : left));
    if (k == FL_MARKS) { /* all others look the same */
      fl_bytes_addf(out, "? %d more", (int)(p->n_series - k));
      at += width;
      break;
    }
    fl_bytes_addf(out, "%c ", mark_of(k));
    put_cut(out, p->series[k].name.ptr, p->series[k].name.len, FL_NAME);
    at += width;
  }
  if (at) fl_bytes_addz(out, "\n");
}

static void print_plot(FlBytes *out, FlScreen *s) {
  const FlPlot *p = s->plot;
  FlPlotTick x[FL_PLOT_MOST_TICKS], y[FL_PLOT_MOST_TICKS];
  int n_y = fl_plot_ticks(&p->y, 5, y), n_x = fl_plot_ticks(&p->x, 6, x), widest = 1;
  for (int k = 0; k < n_y; k++)
    if ((int)strlen(y[k].label) > widest) widest = (int)strlen(y[k].label);
  int left = widest + 2;
  s->columns = FL_COLUMNS - left;
  for (int32_t k = 0; k < p->n_layers; k++) draw(s, &p->layers[k]);
  if (p->title.len) put_middle(out, p->title, left, s->columns);
  if (p->y.label.len) {
    put_cut(out, p->y.label.ptr, p->y.label.len, FL_COLUMNS);
    fl_bytes_addz(out, "\n");
  }
  for (int row = 0, k = n_y - 1; row < FL_ROWS; row++) {
    const char *label = "";
    while (k >= 0 && FL_ROWS - 1 - step_of(&p->y, y[k].at, FL_ROWS) < row) k--;
    bool tick = k >= 0 && FL_ROWS - 1 - step_of(&p->y, y[k].at, FL_ROWS) == row;
    if (tick) label = y[k--].label;
    fl_bytes_fill(out, ' ', (size_t)widest - strlen(label));
    fl_bytes_addf(out, "%s %s", label, tick ? "┤" : "│");
    put_row(out, s, row, p->n_series > 1);
  }
  fl_bytes_fill(out, ' ', (size_t)left - 1);
  fl_bytes_addz(out, "└");
  for (int k = 0; k < s->columns; k++) {
    bool tick = false;
    for (int t = 0; t < n_x; t++) tick = tick || step_of(&p->x, x[t].at, s->columns) == k;
    fl_bytes_addz(out, tick ? "┬" : "─");
  }
  fl_bytes_addz(out, "\n");
  put_x_labels(out, s, left, x, n_x);
  if (p->x.label.len) put_middle(out, p->x.label, left, s->columns);
  put_legend(out, p, left);
  if (p->missing)
    fl_bytes_addf(out, "%*s(%lld row%s left out: null, nan or infinite)\n", left, "", (long long)p->missing,
                  p->missing == 1 ? "" : "s");
}

FlStatus fl_rt_show_plot(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  FlIoError e = {0};
  FlPlot plot;
  FlBytes out = {0};
  if (!fl_plot_open(&plot, args, &e)) return fl_io_fail(ctx, desc->site, &e, "", 0);
  FlScreen *screen = fl_plot_new(1, sizeof *screen, &e);
  if (screen) {
    screen->plot = &plot;
    print_plot(&out, screen);
  }
  FlStatus status = !screen || out.failed ? fl_fail_text(ctx, desc->site, FL_FAULT_MEMORY, "out of memory")
                                          : fl_ctx_print(ctx, desc->site, out.at, (int64_t)out.len);
  free(screen);
  fl_bytes_reset(&out);
  fl_plot_close(&plot);
  if (!status) fl_plot_keep(ctx, desc->site, args);
  return status;
}
