/* plot_parts.c: plots from any parts: whole ones are drawn with finite coordinates, others are errors. In:
 * random layers, levels and points, many of which do not fit each other. */
#include "check.h"
#include "io/plot_svg.h"
#include "splitmix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed, drawn;

static uint64_t state = 7;
static int below(int n) { return (int)(splitmix(&state) % (uint64_t)n); }

enum { LAYERS = 4, POINTS = 40, LEVELS = 24 };

static FlText text(const char *s) { return (FlText){s, (int64_t)strlen(s)}; }

static double number(void) {
  static const double odd[] = {NAN,    INFINITY, -INFINITY, 0,   -1,   1e300,  -1e300, 1.7e308,
                               5e-324, 1e14,     -1e14,     1e9, 1e15, 1e-300, 3,      2};
  return below(4) == 0 ? odd[below(16)] : below(2) ? below(6) : (below(20001) - 10000) * 0.01;
}

/* All a plot is made of, and the slots that point to it. */
typedef struct Parts {
  FlText kind[LAYERS], x_kind[LAYERS], y_kind[LAYERS], color_kind[LAYERS], levels[LEVELS];
  int64_t points[LAYERS], x_levels[LAYERS], color_levels[LAYERS], bins[LAYERS];
  double x[POINTS], y[POINTS], color[POINTS];
  FlArray arrays[12];
  FlSlot slots[FL_PLOT_PARTS];
} Parts;

static void make(Parts *p) {
  static const char *const kinds[] = {"scatter", "line", "bar", "hist", "pie"};
  static const char *const scales[] = {"number", "date", "datetime", "text", "none", "place"};
  static const char *const words[] = {"", "a", "b <&> \"c\"", "\x01\xef\xbf\xbf",
                                      "a rather long text, longer than a label"};
  memset(p, 0, sizeof *p);
  int n_layers = below(8) ? 1 + below(LAYERS) : 0, point = 0, level = 0;
  const char *x = scales[below(4)];
  for (int k = 0; k < n_layers; k++) {
    p->kind[k] = text(kinds[below(20) ? below(4) : 4]);
    p->x_kind[k] = text(below(8) ? x : scales[below(6)]);
    p->y_kind[k] = text(below(8) ? "number" : scales[below(6)]);
    p->color_kind[k] = text(scales[below(3) ? 3 + below(2) : below(6)]);
    p->points[k] = below(POINTS / LAYERS + 1);
    p->x_levels[k] = below(LEVELS / LAYERS / 2 + 1);
    p->color_levels[k] = below(LEVELS / LAYERS / 2 + 1);
    p->bins[k] = below(12) ? below(5) : below(3) - 1 + 10000;
    point += (int)p->points[k];
    level += (int)(p->x_levels[k] + p->color_levels[k]);
  }
  if (n_layers && below(12) == 0) p->points[below(n_layers)] += below(3) - 1;
  if (n_layers && below(12) == 0) p->x_levels[below(n_layers)] = below(2) ? -1 : INT64_MAX;
  for (int k = 0; k < level; k++) p->levels[k] = text(words[below(5)]);
  for (int k = 0; k < point; k++) {
    p->x[k] = number();
    p->y[k] = number();
    p->color[k] = number();
  }
  void *data[12] = {p->kind,         p->points, p->x_kind, p->y_kind, p->color_kind, p->x_levels,
                    p->color_levels, p->bins,   p->levels, p->x,      p->y,          p->color};
  for (int k = 0; k < 12; k++) {
    int n = k < 8 ? n_layers : k == 8 ? level : point;
    p->arrays[k] = (FlArray){.data = data[k], .dims = {n}, .rank = 1};
    p->slots[k < 8 ? 5 + k : k == 8 ? 13 : 15 + k - 9].a = &p->arrays[k];
  }
  for (int k = 0; k < 4; k++) p->slots[k].t = text(words[below(5)]);
  p->slots[4].i = n_layers;
  p->slots[14].i = point;
}

static void draw(Parts *parts, int round) {
  FlPlot plot;
  FlIoError e = {0};
  FlBytes svg = {0}, again = {0};
  if (!fl_plot_open(&plot, parts->slots, &e)) {
    check(e.code == 288 || e.code == 292, "an error says what does not fit (%d)", round);
    return;
  }
  drawn++;
  fl_plot_svg(&svg, &plot);
  fl_plot_svg(&again, &plot);
  fl_plot_close(&plot);
  bool ended = svg.len > 10 && memcmp(svg.at + svg.len - 7, "</svg>\n", 7) == 0;
  check(ended && again.len == svg.len && memcmp(svg.at, again.at, svg.len) == 0, "a whole picture (%d)",
        round);
  fl_bytes_add(&svg, "", 1);
  /* What is not finite becomes the smallest integer, in hundredths. */
  check(!strstr(svg.at, "92233720368547758"), "coordinates are finite (%d)", round);
  check(!strchr(svg.at, 1) && !strstr(svg.at, "b <"), "texts are escaped (%d)", round);
  fl_bytes_reset(&svg);
  fl_bytes_reset(&again);
}

int main(void) {
  Parts *parts = malloc(sizeof *parts);
  for (int round = 0; parts && round < 4000; round++) {
    make(parts);
    draw(parts, round);
  }
  free(parts);
  check(drawn > 500, "many are whole (%d)", drawn);
  return finish();
}
