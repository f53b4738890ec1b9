/* plot_open.c: from the parts of a plot's value to what is drawn: common axes, common colours, points that
 * can be placed. In and out: as plot.h says. A value that was made by hand or comes from a file may have
 * parts that do not fit each other: that is an error, never a read out of bounds. */
#include "io/plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LARGEST_NUMBER = 1e300, LARGEST_DAY = 1e9, LARGEST_SECOND = 1e14;

void *fl_plot_new(size_t n, size_t size, FlIoError *e) {
  void *out = calloc(n ? n : 1, size);
  if (!out) fl_io_error(e, FL_E_MEMORY, "out of memory while drawing a plot");
  return out;
}

/* ---- parts -------------------------------------------------------------------------------------------- */

static FlPlotSource source_of(const FlSlot *parts) {
  FlPlotSource s = {.n_layers = parts[4].i, .levels = parts[13].a, .n_points = parts[14].i};
  for (int k = 0; k < FL_PLOT_LAYER_COLUMNS; k++) s.layer[k] = parts[5 + k].a;
  for (int k = 0; k < 3; k++) s.point[k] = parts[15 + k].a->data;
  s.whole = s.n_layers >= 1 && s.n_layers <= INT32_MAX && s.n_points >= 0;
  for (int k = 0; k < FL_PLOT_LAYER_COLUMNS; k++) s.whole = s.whole && s.layer[k]->dims[0] == s.n_layers;
  for (int k = 0; k < 3; k++) s.whole = s.whole && parts[15 + k].a->dims[0] == s.n_points;
  return s;
}

static int64_t integer(const FlPlotSource *s, FlPlotColumn c, int64_t layer) {
  return ((const int64_t *)s->layer[c]->data)[layer];
}

static bool is_text(const FlPlotSource *s, FlPlotColumn c, int64_t layer, const char *word) {
  FlText t = ((const FlText *)s->layer[c]->data)[layer];
  return (size_t)t.len == strlen(word) && memcmp(t.ptr, word, strlen(word)) == 0;
}

static bool scale_of(const FlPlotSource *s, FlPlotColumn c, int64_t layer, FlPlotScale *out) {
  static const char *const names[] = {"none", "number", "date", "datetime", "text"};
  for (int k = 0; k <= FL_PLOT_TEXT; k++)
    if (is_text(s, c, layer, names[k])) {
      *out = (FlPlotScale)k;
      return true;
    }
  return false;
}

static bool mark_of(const FlPlotSource *s, int64_t layer, FlPlotMark *out) {
  static const char *const names[] = {"scatter", "line", "bar", "hist"};
  for (int k = 0; k <= FL_PLOT_HIST; k++)
    if (is_text(s, FL_PLOT_KIND, layer, names[k])) {
      *out = (FlPlotMark)k;
      return true;
    }
  return false;
}

/* What each layer takes of the points and of the texts. */
static bool cut(FlPlotSource *s, FlPlotCut *cuts) {
  int64_t point = 0, level = 0, n_levels = s->levels->dims[0];
  for (int64_t k = 0; k < s->n_layers; k++) {
    FlPlotCut *c = &cuts[k];
    int64_t n = integer(s, FL_PLOT_POINT_COUNT, k), x = integer(s, FL_PLOT_X_LEVELS, k),
            color = integer(s, FL_PLOT_COLOR_LEVELS, k);
    if (n < 0 || n > s->n_points - point || x < 0 || x > n_levels - level || color < 0 ||
        color > n_levels - level - x)
      return false;
    const FlText *texts = (const FlText *)s->levels->data + level;
    *c = (FlPlotCut){.n = n, .bins = integer(s, FL_PLOT_BINS, k), .n_x = x, .n_color = color};
    c->x_levels = texts;
    c->color_levels = texts + x;
    for (int p = 0; p < 3; p++) c->at[p] = s->point[p] + point;
    point += n;
    level += x + color;
    if (!mark_of(s, k, &c->mark) || !scale_of(s, FL_PLOT_X, k, &c->x) || !scale_of(s, FL_PLOT_Y, k, &c->y) ||
        !scale_of(s, FL_PLOT_COLOR, k, &c->color))
      return false;
    if (c->x == FL_PLOT_NONE || c->y == FL_PLOT_NONE || c->y == FL_PLOT_TEXT || c->bins < 0 ||
        c->bins > FL_PLOT_MOST_BINS)
      return false;
    if (c->mark == FL_PLOT_BAR && c->y != FL_PLOT_NUMBER) return false;
    if (c->mark == FL_PLOT_HIST && c->x == FL_PLOT_TEXT) return false;
    if (c->mark != FL_PLOT_SCATTER && c->color != FL_PLOT_NONE && c->color != FL_PLOT_TEXT) return false;
  }
  return point == s->n_points && level == n_levels;
}

/* ---- axes --------------------------------------------------------------------------------------------- */

static const char *const scale_words[] = {"nothing", "numbers", "dates", "datetimes", "texts"};

/* The scale of both; dates and datetimes are datetimes. */
static bool join_scales(FlPlotScale *all, FlPlotScale one, const char *what, int64_t layer, FlIoError *e) {
  bool times =
      (*all == FL_PLOT_DATE || *all == FL_PLOT_DATETIME) && (one == FL_PLOT_DATE || one == FL_PLOT_DATETIME);
  if (one == FL_PLOT_NONE || one == *all) return true;
  if (*all == FL_PLOT_NONE || times) {
    *all = times ? FL_PLOT_DATETIME : one;
    return true;
  }
  return fl_io_error(
      e, FL_E_PLOT_AXES,
      "the layers of a plot share their axes, and %s is %s in layer %lld but %s in those before it", what,
      scale_words[one], (long long)layer + 1, scale_words[*all]);
}

/* Where each of `from` is among `all`, to which it is added when it is new. */
static bool merge(FlPlotTexts *all, const FlText *from, int64_t n, int32_t *map, FlIoError *e) {
  int32_t before = all->n;
  for (int64_t k = 0; k < n; k++) {
    int32_t at = 0; /* the texts of one layer differ */
    while (at < before &&
           !(all->at[at].len == from[k].len &&
             (from[k].len == 0 || memcmp(all->at[at].ptr, from[k].ptr, (size_t)from[k].len) == 0)))
      at++;
    if (at == before) at = all->n;
    if (at == FL_PLOT_MOST_TEXTS)
      return fl_io_error(e, FL_E_PLOT_TEXTS, "a plot tells at most %d texts apart along an axis or by colour",
                         FL_PLOT_MOST_TEXTS);
    if (at == all->n) all->at[all->n++] = from[k];
    map[k] = at;
  }
  return true;
}

/* A coordinate on an axis; nan: it cannot be placed. */
static double place(double v, FlPlotScale scale, const int32_t *map, int64_t n_levels) {
  double most = LARGEST_NUMBER;
  if (scale == FL_PLOT_TEXT) return v >= 0 && v < (double)n_levels ? (double)map[(int64_t)v] : (double)NAN;
  if (scale == FL_PLOT_DATE) most = LARGEST_DAY;
  if (scale == FL_PLOT_DATETIME) most = LARGEST_SECOND;
  if (!(fabs(v) <= most)) return (double)NAN;
  return scale == FL_PLOT_DATE ? v * 86400 : v;
}

typedef struct FlExtent {
  double lo, hi;
  bool found;
} FlExtent;

static void widen(FlExtent *x, double v) {
  if (!x->found || v < x->lo) x->lo = v;
  if (!x->found || v > x->hi) x->hi = v;
  x->found = true;
}

static void settle(FlPlotAxis *a, FlExtent x, bool rooted, double margin) {
  if (a->scale == FL_PLOT_TEXT) {
    a->lo = -0.5;
    a->hi = (a->texts.n ? a->texts.n : 1) - 0.5;
    return;
  }
  if (!x.found && a->scale != FL_PLOT_NUMBER) a->scale = FL_PLOT_NONE;
  if (!x.found) x = (FlExtent){0, 1, true};
  if (rooted) widen(&x, 0);
  double least = a->scale == FL_PLOT_DATE ? 4 * 86400.0 : a->scale == FL_PLOT_DATETIME ? 4 : 0;
  double most = fmax(fabs(x.lo), fabs(x.hi)), width = x.hi - x.lo;
  if (width <= most * 1e-9 && least < 1) least = most * 1e-9 > 1 ? most * 1e-9 : 1;
  if (width < least) {
    x.lo -= (least - width) / 2;
    x.hi += (least - width) / 2;
    width = x.hi - x.lo;
  }
  bool ends_low = rooted && x.hi <= 0, ends_high = rooted && x.lo >= 0;
  a->lo = ends_high ? x.lo : x.lo - margin * width;
  a->hi = ends_low ? x.hi : x.hi + margin * width;
}

/* ---- layers ------------------------------------------------------------------------------------------- */

typedef struct FlOpening {
  FlPlot *p;
  FlPlotTexts colors;
  int32_t *x_map, *color_map; /* of the layer at hand */
  int32_t *of_color;          /* the series of each text of `colors`; -1: none yet */
  int32_t of_null;            /* the series of points without a colour; -1: none yet */
  FlIoError *e;
} FlOpening;

static int32_t add_series(FlOpening *o, FlText name, bool named, FlPlotMark mark) {
  static const FlPlotShape shapes[] = {FL_PLOT_POINTS, FL_PLOT_LINE, FL_PLOT_RECTS, FL_PLOT_RECTS};
  o->p->series[o->p->n_series] = (FlPlotSeries){name, named, false, shapes[mark]};
  return o->p->n_series++;
}

/* The series of a layer's colours, in the order of its texts. */
static bool find_series(FlOpening *o, const FlPlotCut *c, int32_t *own) {
  *own = c->color == FL_PLOT_TEXT ? -1 : 0;
  if (c->color == FL_PLOT_NONE) {
    *own = add_series(o, (FlText){NULL, 0}, false, c->mark);
    return true;
  }
  if (c->color == FL_PLOT_TEXT && !merge(&o->colors, c->color_levels, c->n_color, o->color_map, o->e))
    return false;
  for (int64_t k = 0; c->color == FL_PLOT_TEXT && k < c->n_color; k++) {
    int32_t *at = &o->of_color[o->color_map[k]];
    if (*at < 0) *at = add_series(o, c->color_levels[k], true, c->mark);
  }
  return true;
}

static int32_t series_of(FlOpening *o, const FlPlotCut *c, double color) {
  if (color >= 0 && color < (double)c->n_color) return o->of_color[o->color_map[(int64_t)color]];
  if (o->of_null < 0) {
    o->of_null = add_series(o, (FlText){"null", 4}, true, c->mark);
    o->p->series[o->of_null].null = true;
  }
  return o->of_null;
}

/* a[k] for each k of `order`; a is freed. NULL: out of memory, or there was none. */
static double *permute(double *a, const int64_t *order, int64_t n, FlIoError *e) {
  double *out = a ? fl_plot_new((size_t)n, sizeof *out, e) : NULL;
  for (int64_t k = 0; out && k < n; k++) out[k] = a[order[k]];
  free(a);
  return out;
}

/* What is of one series together, otherwise in its order. */
static bool sort_by_series(FlPlotLayer *l, int32_t n_series, FlIoError *e) {
  int64_t *next = fl_plot_new((size_t)n_series + 1, sizeof *next, e);
  int64_t *order = fl_plot_new((size_t)l->n, sizeof *order, e);
  bool ok = next && order;
  for (int64_t k = 0; ok && k < l->n; k++) next[l->series[k] + 1]++;
  for (int32_t k = 0; ok && k < n_series; k++) next[k + 1] += next[k];
  for (int64_t k = 0; ok && k < l->n; k++) order[next[l->series[k]]++] = k;
  if (ok) { /* now next[k] is where series k ends */
    l->x = permute(l->x, order, l->n, e);
    l->y = permute(l->y, order, l->n, e);
    bool rects = l->shape == FL_PLOT_RECTS;
    if (rects) l->x1 = permute(l->x1, order, l->n, e);
    if (rects) l->y1 = permute(l->y1, order, l->n, e);
    ok = l->x && l->y && (!rects || (l->x1 && l->y1));
    for (int64_t k = 0, s = 0; ok && k < l->n; k++) {
      while (next[s] == k) s++;
      l->series[k] = (int32_t)s;
    }
  }
  free(next);
  free(order);
  return ok;
}

static bool fill(FlOpening *o, const FlPlotCut *c, FlPlotLayer *l) {
  FlPlot *p = o->p;
  bool shaded = c->color != FL_PLOT_NONE && c->color != FL_PLOT_TEXT;
  int32_t own;
  l->shape = c->mark == FL_PLOT_LINE_MARK ? FL_PLOT_LINE : FL_PLOT_POINTS;
  l->x = fl_plot_new((size_t)c->n, sizeof *l->x, o->e);
  l->y = fl_plot_new((size_t)c->n, sizeof *l->y, o->e);
  l->series = fl_plot_new((size_t)c->n, sizeof *l->series, o->e);
  l->shade = shaded ? fl_plot_new((size_t)c->n, sizeof *l->shade, o->e) : NULL;
  if (!l->x || !l->y || !l->series || (shaded && !l->shade) || !find_series(o, c, &own)) return false;
  if (c->x == FL_PLOT_TEXT && !merge(&p->x.texts, c->x_levels, c->n_x, o->x_map, o->e)) return false;
  for (int64_t k = 0; k < c->n; k++) {
    double x = place(c->at[0][k], c->x, o->x_map, c->n_x);
    double y = c->mark == FL_PLOT_HIST ? 0 : place(c->at[1][k], c->y, NULL, 0);
    bool placed = !isnan(x) && !isnan(y);
    p->missing += !placed;
    if (!placed && l->shape != FL_PLOT_LINE) continue;
    l->x[l->n] = placed ? x : (double)NAN;
    l->y[l->n] = placed ? y : (double)NAN;
    l->series[l->n] = own >= 0 ? own : series_of(o, c, c->at[2][k]);
    if (shaded) l->shade[l->n] = place(c->at[2][k], c->color, NULL, 0);
    l->n++;
  }
  if (c->mark == FL_PLOT_BAR && !fl_plot_bars(l, c->x, p->n_series, o->e)) return false;
  if (c->mark == FL_PLOT_HIST && !fl_plot_histogram(l, c->bins, c->x, o->e)) return false;
  return shaded || sort_by_series(l, p->n_series, o->e);
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

static void find_extents(FlPlot *p) {
  FlExtent x = {0}, y = {0}, shade = {0};
  bool rects = false;
  for (int32_t k = 0; k < p->n_layers; k++) {
    const FlPlotLayer *l = &p->layers[k];
    rects = rects || l->shape == FL_PLOT_RECTS;
    for (int64_t i = 0; i < l->n; i++) {
      if (isnan(l->x[i])) continue;
      widen(&x, l->x[i]);
      widen(&y, l->y[i]);
      if (l->shape == FL_PLOT_RECTS) {
        widen(&x, l->x1[i]);
        widen(&y, l->y1[i]);
      }
      if (l->shade && !isnan(l->shade[i])) widen(&shade, l->shade[i]);
    }
  }
  settle(&p->x, x, false, 0.04);
  settle(&p->y, y, rects, 0.04);
  if (p->shade.scale != FL_PLOT_NONE) settle(&p->shade, shade, false, 0);
}

static bool open_layers(FlPlot *p, const FlPlotSource *s, const FlPlotCut *cuts, FlIoError *e) {
  FlOpening o = {.p = p, .of_null = -1, .e = e};
  int64_t n_x = 0, n_color = 0, most = 0;
  p->y.whole = true; /* where all count */
  for (int64_t k = 0; k < s->n_layers; k++) {
    p->y.whole = p->y.whole && cuts[k].mark == FL_PLOT_HIST;
    n_x += cuts[k].n_x;
    n_color += cuts[k].n_color;
    most = cuts[k].n_x > most ? cuts[k].n_x : most;
    most = cuts[k].n_color > most ? cuts[k].n_color : most;
    if (!join_scales(&p->x.scale, cuts[k].x, "x", k, e) || !join_scales(&p->y.scale, cuts[k].y, "y", k, e))
      return false;
    if (cuts[k].color != FL_PLOT_TEXT && !join_scales(&p->shade.scale, cuts[k].color, "color", k, e))
      return false;
  }
  p->x.texts.at = fl_plot_new((size_t)n_x, sizeof(FlText), e);
  o.colors.at = fl_plot_new((size_t)n_color, sizeof(FlText), e);
  o.of_color = fl_plot_new((size_t)n_color, sizeof *o.of_color, e);
  o.x_map = fl_plot_new((size_t)most, sizeof *o.x_map, e);
  o.color_map = fl_plot_new((size_t)most, sizeof *o.color_map, e);
  p->series = fl_plot_new((size_t)(n_color + s->n_layers + 1), sizeof *p->series, e);
  p->layers = fl_plot_new((size_t)s->n_layers, sizeof *p->layers, e);
  bool ok = p->x.texts.at && o.colors.at && o.of_color && o.x_map && o.color_map && p->series && p->layers;
  for (int64_t k = 0; ok && k < n_color; k++) o.of_color[k] = -1;
  for (int64_t k = 0; ok && k < s->n_layers; k++) {
    p->n_layers++;
    ok = fill(&o, &cuts[k], &p->layers[k]);
  }
  free(o.colors.at);
  free(o.of_color);
  free(o.x_map);
  free(o.color_map);
  return ok;
}

bool fl_plot_open(FlPlot *p, const FlSlot *parts, FlIoError *e) {
  *p = (FlPlot){.title = parts[0].t, .x.label = parts[1].t, .y.label = parts[2].t, .shade.label = parts[3].t};
  FlPlotSource s = source_of(parts);
  FlPlotCut *cuts = s.whole ? fl_plot_new((size_t)s.n_layers, sizeof *cuts, e) : NULL;
  bool ok = cuts != NULL;
  if (!s.whole || (cuts && !cut(&s, cuts))) {
    ok = fl_io_error(e, FL_E_PLOT_PARTS,
                     "this plot is not whole: its layers, levels and points do not fit each other");
    fl_io_help(e, "make plots with `plot.scatter`, `plot.line`, `plot.bar`, `plot.hist` and `plot.layers`");
  }
  ok = ok && open_layers(p, &s, cuts, e);
  free(cuts);
  if (ok) find_extents(p);
  else fl_plot_close(p);
  return ok;
}

void fl_plot_close(FlPlot *p) {
  for (int32_t k = 0; k < p->n_layers; k++) {
    FlPlotLayer *l = &p->layers[k];
    free(l->x);
    free(l->y);
    free(l->x1);
    free(l->y1);
    free(l->series);
    free(l->shade);
  }
  free(p->layers);
  free(p->series);
  free(p->x.texts.at);
  *p = (FlPlot){0};
}
