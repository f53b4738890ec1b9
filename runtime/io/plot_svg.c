/* plot_svg.c: a plot as an SVG picture: frame, axes, legend, marks.
 *
 * What always holds: the bytes follow from the plot alone; coordinates are whole hundredths of a pixel; all
 * texts are escaped, so what a text holds is never markup. Colours of groups are those of M. Okabe and K.
 * Ito, "Color Universal Design" (2008), which people with any kind of colour vision tell apart; numbers go
 * along nine stops of viridis (S. van der Walt and N. Smith, 2015), between which it is linear here. */
#include "io/plot_svg.h"
#include "io/show_internal.h"
#include "base/width.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FL_WIDTH = 720, FL_HEIGHT = 480, FL_LEGEND_LINE = 18, FL_MOST_LABEL = 24, FL_MOST_X_TEXTS = 60 };
static const double LETTER = 6.7; /* about what a character of 12 pixels takes */

static const char *const palette[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#F0E442", "#000000"};
enum { FL_COLORS = sizeof palette / sizeof *palette };
static const char *const no_color = "#999999";

static const uint8_t viridis[][3] = {{68, 1, 84},    {71, 45, 123},  {59, 82, 139},
                                     {44, 114, 142}, {33, 145, 140}, {40, 174, 128},
                                     {94, 201, 98},  {173, 220, 48}, {253, 231, 37}};
enum { FL_STOPS = sizeof viridis / sizeof *viridis };

/* Where the marks are: pixels. */
typedef struct FlPicture {
  FlBytes *out;
  const FlPlot *plot;
  double left, right, top, bottom;
  FlPlotTick x_ticks[FL_PLOT_MOST_TICKS], y_ticks[FL_PLOT_MOST_TICKS];
  int n_x, n_y;
  bool turned; /* the texts along x */
} FlPicture;

/* ---- pieces ------------------------------------------------------------------------------------------- */

static void put(FlBytes *b, const char *s) { fl_bytes_addz(b, s); }

static void put_pixels(FlBytes *b, double v) {
  long long n = (long long)floor(v * 100 + 0.5), whole = n < 0 ? -n : n;
  fl_bytes_addf(b, "%s%lld", n < 0 ? "-" : "", whole / 100);
  if (whole % 100)
    fl_bytes_addf(b, whole % 10 ? ".%02lld" : ".%lld", whole % 10 ? whole % 100 : whole % 100 / 10);
}

/* ` name="v"` */
static void put_at(FlBytes *b, const char *name, double v) {
  fl_bytes_addf(b, " %s=\"", name);
  put_pixels(b, v);
  put(b, "\"");
}

static int shown_chars(FlText t) {
  int n = fl_width_text(t.ptr, (size_t)t.len);
  return n < FL_MOST_LABEL ? n : FL_MOST_LABEL;
}

/* At most as wide as `most` letters (0: all), as text of XML 1.0, which has no control characters and no
 * U+FFFE, U+FFFF. */
static void put_text(FlBytes *b, FlText t, int most) {
  bool cut = most && fl_width_text(t.ptr, (size_t)t.len) > most;
  int64_t end = cut ? (int64_t)fl_width_fit(t.ptr, (size_t)t.len, most - 1) : t.len;
  for (int64_t k = 0; k < end; k++) {
    unsigned char c = (unsigned char)t.ptr[k];
    bool none = c == 0xef && k + 2 < t.len && (unsigned char)t.ptr[k + 1] == 0xbf &&
                (unsigned char)t.ptr[k + 2] >= 0xbe;
    if (none) {
      put(b, "\xef\xbf\xbd");
      k += 2;
    } else if (c == '&') {
      put(b, "&amp;");
    } else if (c == '<') {
      put(b, "&lt;");
    } else if (c == '>') {
      put(b, "&gt;");
    } else if (c < ' ' || c == 127) {
      put(b, " ");
    } else {
      fl_bytes_add(b, &t.ptr[k], 1);
    }
  }
  if (cut) put(b, "…");
}

static void put_label(FlBytes *b, double x, double y, const char *more, FlText t, int most) {
  put(b, "<text");
  put_at(b, "x", x);
  put_at(b, "y", y);
  fl_bytes_addf(b, "%s>", more);
  put_text(b, t, most);
  put(b, "</text>\n");
}

static FlText text_of(const char *s) { return (FlText){s, (int64_t)strlen(s)}; }

static void put_line(FlBytes *b, double x1, double y1, double x2, double y2) {
  put(b, "<line");
  put_at(b, "x1", x1);
  put_at(b, "y1", y1);
  put_at(b, "x2", x2);
  put_at(b, "y2", y2);
  put(b, "/>\n");
}

static double across(const FlPicture *p, double v) {
  const FlPlotAxis *a = &p->plot->x;
  return p->left + (v - a->lo) / (a->hi - a->lo) * (p->right - p->left);
}

static double up(const FlPicture *p, double v) {
  const FlPlotAxis *a = &p->plot->y;
  return p->bottom - (v - a->lo) / (a->hi - a->lo) * (p->bottom - p->top);
}

static const char *color_of(const FlPlot *p, int32_t series) {
  return p->series[series].null ? no_color : palette[series % FL_COLORS];
}

static void put_shade(FlBytes *b, const FlPlotAxis *a, double v) {
  if (isnan(v)) {
    put(b, no_color);
    return;
  }
  double at = (v - a->lo) / (a->hi - a->lo) * (FL_STOPS - 1);
  int k = at < FL_STOPS - 2 ? (int)at : FL_STOPS - 2;
  put(b, "#");
  for (int c = 0; c < 3; c++)
    fl_bytes_addf(b, "%02x",
                  (unsigned)floor(viridis[k][c] + (at - k) * (viridis[k + 1][c] - viridis[k][c]) + 0.5));
}

/* ---- the frame ---------------------------------------------------------------------------------------- */

static bool has_legend(const FlPlot *p) {
  bool any = p->shade.scale != FL_PLOT_NONE;
  for (int32_t k = 0; k < p->n_series; k++) any = any || p->series[k].named;
  return any;
}

static double legend_width(const FlPlot *p) {
  int most = shown_chars(p->shade.label);
  FlPlotTick ticks[FL_PLOT_MOST_TICKS];
  int n = fl_plot_ticks(&p->shade, 5, ticks);
  for (int k = 0; k < n; k++)
    if ((int)strlen(ticks[k].label) > most) most = (int)strlen(ticks[k].label);
  for (int32_t k = 0; k < p->n_series; k++)
    if (p->series[k].named && shown_chars(p->series[k].name) > most) most = shown_chars(p->series[k].name);
  return 48 + most * LETTER;
}

/* Margins follow from what stands in them. */
static void lay_out(FlPicture *p) {
  const FlPlot *plot = p->plot;
  int widest = 1, longest = 0;
  p->top = plot->title.len ? 40 : 16;
  p->bottom = FL_HEIGHT - 28 - (plot->x.label.len ? 20 : 0) - (plot->missing ? 16 : 0);
  p->right = has_legend(plot) ? FL_WIDTH - legend_width(plot) : FL_WIDTH - 16;
  p->n_y = fl_plot_ticks(&plot->y, 7, p->y_ticks);
  for (int k = 0; k < p->n_y; k++)
    if ((int)strlen(p->y_ticks[k].label) > widest) widest = (int)strlen(p->y_ticks[k].label);
  p->left = 18 + widest * LETTER + (plot->y.label.len ? 20 : 0);
  p->n_x = fl_plot_ticks(&plot->x, plot->x.scale == FL_PLOT_NUMBER ? 8 : 6, p->x_ticks);
  double half =
      p->n_x ? (double)strlen(p->x_ticks[p->n_x - 1].label) * LETTER / 2 + 4 : 0; /* of the last label */
  if (p->right > FL_WIDTH - half) p->right = FL_WIDTH - half;
  for (int32_t k = 0; plot->x.scale == FL_PLOT_TEXT && k < plot->x.texts.n; k++)
    if (shown_chars(plot->x.texts.at[k]) > longest) longest = shown_chars(plot->x.texts.at[k]);
  p->turned = longest * LETTER + 8 > (p->right - p->left) / (plot->x.texts.n ? plot->x.texts.n : 1);
  if (longest && p->turned) p->bottom -= longest * LETTER * 0.7 - 4;
}

static void draw_axes(FlPicture *p) {
  FlBytes *b = p->out;
  put(b, "<g stroke=\"#e5e5e5\">\n");
  for (int k = 0; k < p->n_x; k++)
    put_line(b, across(p, p->x_ticks[k].at), p->top, across(p, p->x_ticks[k].at), p->bottom);
  for (int k = 0; k < p->n_y; k++)
    put_line(b, p->left, up(p, p->y_ticks[k].at), p->right, up(p, p->y_ticks[k].at));
  put(b, "</g>\n<g text-anchor=\"middle\">\n");
  for (int k = 0; k < p->n_x; k++)
    put_label(b, across(p, p->x_ticks[k].at), p->bottom + 18, "", text_of(p->x_ticks[k].label), 0);
  const FlPlotTexts *texts = &p->plot->x.texts;
  int32_t step = 1 + (texts->n - 1) / FL_MOST_X_TEXTS;
  for (int32_t k = 0; k < texts->n; k += step) {
    char turn[96];
    long long x = (long long)floor(across(p, k) * 100 + 0.5),
              y = (long long)floor(p->bottom * 100 + 0.5) + 1400;
    snprintf(turn, sizeof turn, " text-anchor=\"end\" transform=\"rotate(-45 %lld.%02lld %lld.%02lld)\"",
             x / 100, x % 100, y / 100, y % 100);
    put_label(b, across(p, k), p->bottom + (p->turned ? 14 : 18), p->turned ? turn : "", texts->at[k],
              FL_MOST_LABEL);
  }
  double middle = (p->left + p->right) / 2, height = (p->top + p->bottom) / 2;
  double below = FL_HEIGHT - 10 - (p->plot->missing ? 16 : 0);
  if (p->plot->x.label.len) put_label(b, middle, below, "", p->plot->x.label, 80);
  if (p->plot->y.label.len) {
    fl_bytes_addf(b, "<text transform=\"translate(16 %d) rotate(-90)\">", (int)height);
    put_text(b, p->plot->y.label, 56);
    put(b, "</text>\n");
  }
  if (p->plot->title.len) put_label(b, middle, 25, " font-size=\"16\"", p->plot->title, 72);
  put(b, "</g>\n<g text-anchor=\"end\">\n");
  for (int k = 0; k < p->n_y; k++)
    put_label(b, p->left - 8, up(p, p->y_ticks[k].at) + 4, "", text_of(p->y_ticks[k].label), 0);
  put(b, "</g>\n");
}

static void draw_border(FlPicture *p) {
  put(p->out, "<g stroke=\"#333333\">\n");
  put_line(p->out, p->left, p->bottom, p->right, p->bottom);
  put_line(p->out, p->left, p->top, p->left, p->bottom);
  const FlPlotAxis *y = &p->plot->y;
  bool rects = false;
  for (int32_t k = 0; k < p->plot->n_layers; k++) rects = rects || p->plot->layers[k].shape == FL_PLOT_RECTS;
  if (rects && y->lo < 0 && y->hi > 0) put_line(p->out, p->left, up(p, 0), p->right, up(p, 0));
  put(p->out, "</g>\n");
  if (!p->plot->missing) return;
  char note[96];
  snprintf(note, sizeof note, "%lld row%s left out: null, nan or infinite", (long long)p->plot->missing,
           p->plot->missing == 1 ? "" : "s");
  put_label(p->out, p->left, FL_HEIGHT - 8, " font-size=\"10\" fill=\"#777777\"", text_of(note), 0);
}

/* ---- marks -------------------------------------------------------------------------------------------- */

/* One point: groups beyond the colours get other forms. */
static void put_point(FlBytes *b, int32_t series, double x, double y, double r, const char *more) {
  switch (series / FL_COLORS % 4) {
  case 0:
    put(b, "<circle");
    put_at(b, "cx", x);
    put_at(b, "cy", y);
    put_at(b, "r", r);
    break;
  case 1:
    put(b, "<rect");
    put_at(b, "x", x - r);
    put_at(b, "y", y - r);
    put_at(b, "width", 2 * r);
    put_at(b, "height", 2 * r);
    break;
  default: {
    bool triangle = series / FL_COLORS % 4 == 2;
    double px[4] = {x, x + 1.3 * r, x, x - 1.3 * r}, py[4] = {y - 1.3 * r, y, y + 1.3 * r, y};
    if (triangle) py[1] = py[3] = y + r;
    put(b, "<polygon points=\"");
    for (int k = 0; k < 4; k++) {
      if (triangle && k == 2) continue;
      if (k) put(b, " ");
      put_pixels(b, px[k]);
      put(b, ",");
      put_pixels(b, py[k]);
    }
    put(b, "\"");
    break;
  }
  }
  fl_bytes_addf(b, "%s/>\n", more);
}

static double point_size(int64_t n) { return n <= 1000 ? 3 : n <= 10000 ? 2 : 1.2; }

static const char *dashes(int32_t series) {
  static const char *const all[] = {"", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 2\"",
                                    " stroke-dasharray=\"8 3 2 3\""};
  return all[series / FL_COLORS % 4];
}

static void draw_points(FlPicture *p, const FlPlotLayer *l) {
  FlBytes *b = p->out;
  double r = point_size(l->n);
  for (int64_t k = 0; k < l->n; k++) {
    if (l->shade) {
      FlBytes fill = {0};
      put(&fill, " fill=\"");
      put_shade(&fill, &p->plot->shade, l->shade[k]);
      fl_bytes_add(&fill, "\"", 2); /* and its end */
      put_point(b, 0, across(p, l->x[k]), up(p, l->y[k]), r, fill.at && !fill.failed ? fill.at : "");
      b->failed = b->failed || fill.failed;
      fl_bytes_reset(&fill);
      continue;
    }
    bool first = k == 0 || l->series[k - 1] != l->series[k],
         last = k + 1 == l->n || l->series[k + 1] != l->series[k];
    if (first) fl_bytes_addf(b, "<g fill=\"%s\" fill-opacity=\"0.8\">\n", color_of(p->plot, l->series[k]));
    put_point(b, l->series[k], across(p, l->x[k]), up(p, l->y[k]), r, "");
    if (last) put(b, "</g>\n");
  }
}

/* Each run of points of one group without a gap is a polyline, a point alone is a point. */
static void draw_line(FlPicture *p, const FlPlotLayer *l) {
  FlBytes *b = p->out;
  for (int64_t k = 0, end; k < l->n; k = end) {
    for (end = k + 1; end < l->n && !isnan(l->x[end]) && l->series[end] == l->series[k];) end++;
    if (isnan(l->x[k])) {
      end = k + 1;
      continue;
    }
    const char *color = color_of(p->plot, l->series[k]);
    if (end == k + 1) {
      char fill[32];
      snprintf(fill, sizeof fill, " fill=\"%s\"", color);
      put_point(b, 0, across(p, l->x[k]), up(p, l->y[k]), 2, fill);
      continue;
    }
    fl_bytes_addf(b, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s points=\"", color,
                  dashes(l->series[k]));
    for (int64_t i = k; i < end; i++) {
      if (i > k) put(b, " ");
      put_pixels(b, across(p, l->x[i]));
      put(b, ",");
      put_pixels(b, up(p, l->y[i]));
    }
    put(b, "\"/>\n");
  }
}

static void draw_rects(FlPicture *p, const FlPlotLayer *l) {
  FlBytes *b = p->out;
  for (int64_t k = 0; k < l->n; k++) {
    double x = across(p, l->x[k]), x1 = across(p, l->x1[k]), y = up(p, fmax(l->y[k], l->y1[k])),
           y1 = up(p, fmin(l->y[k], l->y1[k]));
    bool first = k == 0 || l->series[k - 1] != l->series[k],
         last = k + 1 == l->n || l->series[k + 1] != l->series[k];
    if (first)
      fl_bytes_addf(b, "<g fill=\"%s\" stroke=\"#ffffff\" stroke-width=\"0.5\">\n",
                    color_of(p->plot, l->series[k]));
    put(b, "<rect");
    put_at(b, "x", x);
    put_at(b, "y", y);
    put_at(b, "width", x1 - x);
    put_at(b, "height", y1 - y);
    put(b, "/>\n");
    if (last) put(b, "</g>\n");
  }
}

/* ---- the legend --------------------------------------------------------------------------------------- */

static void put_key(FlBytes *b, const FlPlot *p, int32_t series, double x, double y) {
  char more[96];
  const char *color = color_of(p, series);
  switch (p->series[series].shape) {
  case FL_PLOT_POINTS:
    snprintf(more, sizeof more, " fill=\"%s\"", color);
    put_point(b, series, x + 8, y, 4, more);
    break;
  case FL_PLOT_LINE:
    fl_bytes_addf(b, "<g stroke=\"%s\" stroke-width=\"1.8\"%s>", color, dashes(series));
    put_line(b, x, y, x + 16, y);
    put(b, "</g>\n");
    break;
  case FL_PLOT_RECTS:
    fl_bytes_addf(b, "<rect fill=\"%s\"", color);
    put_at(b, "x", x + 2);
    put_at(b, "y", y - 6);
    put(b, " width=\"12\" height=\"12\"/>\n");
    break;
  }
}

static void draw_scale(FlPicture *p, double x, double y) {
  FlBytes *b = p->out;
  FlPlotTick ticks[FL_PLOT_MOST_TICKS];
  const FlPlotAxis *a = &p->plot->shade;
  const double height = 120;
  put(b, "<defs><linearGradient id=\"shade\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">\n");
  for (int k = 0; k < FL_STOPS; k++)
    fl_bytes_addf(b, "<stop offset=\"%g\" stop-color=\"#%02x%02x%02x\"/>\n", (double)k / (FL_STOPS - 1),
                  viridis[k][0], viridis[k][1], viridis[k][2]);
  put(b, "</linearGradient></defs>\n<rect fill=\"url(#shade)\"");
  put_at(b, "x", x);
  put_at(b, "y", y);
  fl_bytes_addf(b, " width=\"14\" height=\"%d\"/>\n", (int)height);
  int n = fl_plot_ticks(a, 5, ticks);
  for (int k = 0; k < n; k++)
    put_label(b, x + 20, y + height - (ticks[k].at - a->lo) / (a->hi - a->lo) * height + 4, "",
              text_of(ticks[k].label), 0);
}

static void draw_legend(FlPicture *p) {
  const FlPlot *plot = p->plot;
  double x = p->right + 14, y = p->top + 10;
  if (!has_legend(plot)) return;
  if (plot->shade.label.len) {
    put_label(p->out, x, y, "", plot->shade.label, FL_MOST_LABEL);
    y += FL_LEGEND_LINE;
  }
  if (plot->shade.scale != FL_PLOT_NONE) {
    draw_scale(p, x, y - 4);
    y += 140;
  }
  int left = 0, room = (int)((FL_HEIGHT - 20 - y) / FL_LEGEND_LINE);
  for (int32_t k = 0; k < plot->n_series; k++) left += plot->series[k].named;
  for (int32_t k = 0; k < plot->n_series; k++) {
    if (!plot->series[k].named) continue;
    if (room <= 1 && left > 1) {
      char more[48];
      snprintf(more, sizeof more, "and %d more", left);
      put_label(p->out, x, y, "", text_of(more), 0);
      return;
    }
    put_key(p->out, plot, k, x, y - 4);
    put_label(p->out, x + 22, y, "", plot->series[k].name, FL_MOST_LABEL);
    y += FL_LEGEND_LINE;
    room--;
    left--;
  }
}

void fl_plot_svg(FlBytes *out, const FlPlot *plot) {
  FlPicture p = {.out = out, .plot = plot};
  lay_out(&p);
  fl_bytes_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                "font-family=\"sans-serif\" font-size=\"12\" fill=\"#333333\">\n",
                FL_WIDTH, FL_HEIGHT, FL_WIDTH, FL_HEIGHT);
  if (plot->title.len) {
    put(out, "<title>");
    put_text(out, plot->title, 0);
    put(out, "</title>\n");
  }
  fl_bytes_addf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", FL_WIDTH, FL_HEIGHT);
  draw_axes(&p);
  for (int32_t k = 0; k < plot->n_layers; k++) {
    const FlPlotLayer *l = &plot->layers[k];
    switch (l->shape) {
    case FL_PLOT_POINTS: draw_points(&p, l); break;
    case FL_PLOT_LINE: draw_line(&p, l); break;
    case FL_PLOT_RECTS: draw_rects(&p, l); break;
    }
  }
  draw_border(&p);
  draw_legend(&p);
  put(out, "</svg>\n");
}
