/* plot_ticks.c: round values along an axis, and how they are written.
 *
 * What always holds: a tick is a whole multiple of a step, and its label is written from that multiple, so no
 * digit comes from rounding. */
#include "io/plot.h"
#include "data/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

/* x * 10^e. */
static double scaled(double x, int e) {
  for (; e >= 22; e -= 22) x *= 1e22;
  for (; e <= -22; e += 22) x /= 1e22;
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
                                  1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21};
  return e >= 0 ? x * powers[e] : x / powers[-e];
}

/* The smallest of 1, 2, 5 times a power of ten that is not below x > 0. */
static int nice_step(double x, int *exponent) {
  int e = 0;
  while (scaled(1, e) > x && e > -310) e--;
  while (scaled(1, e + 1) <= x && e < 305) e++;
  *exponent = e;
  if (scaled(1, e) >= x) return 1;
  if (scaled(2, e) >= x) return 2;
  if (scaled(5, e) >= x) return 5;
  *exponent = e + 1;
  return 1;
}

/* digits * 10^e, plainly where that is short, else as 1.5e9. */
static void print_number(char *out, int64_t digits, int e, bool plain) {
  bool minus = digits < 0;
  char text[FL_NUMBER_ROOM];
  if (!plain) {
    while (digits && digits % 10 == 0) {
      digits /= 10;
      e++;
    }
  }
  int n = fl_print_i64(text, minus ? -digits : digits);
  FlBytes b = {0};
  if (minus) fl_bytes_addz(&b, "-");
  if (digits == 0) {
    fl_bytes_addz(&b, "0");
  } else if (!plain) {
    fl_bytes_add(&b, text, 1);
    if (n > 1) fl_bytes_addz(&b, ".");
    fl_bytes_add(&b, text + 1, (size_t)n - 1);
    fl_bytes_addf(&b, "e%d", e + n - 1);
  } else if (e >= 0) {
    fl_bytes_add(&b, text, (size_t)n);
    fl_bytes_fill(&b, '0', (size_t)e);
  } else {
    int whole = n + e; /* digits before the point */
    if (whole > 0) fl_bytes_add(&b, text, (size_t)whole);
    else fl_bytes_addz(&b, "0");
    fl_bytes_addz(&b, ".");
    if (whole < 0) fl_bytes_fill(&b, '0', (size_t)-whole);
    fl_bytes_add(&b, text + (whole > 0 ? whole : 0), (size_t)(whole > 0 ? n - whole : n));
  }
  snprintf(out, FL_PLOT_TICK_ROOM, "%.*s", (int)b.len, b.at ? b.at : "");
  fl_bytes_reset(&b);
}

static int number_ticks(double lo, double hi, bool whole, int want, FlPlotTick *out) {
  int e, n = 0, m = nice_step((hi - lo) / want, &e);
  if (whole && e < 0) {
    m = 1;
    e = 0;
  }
  double step = scaled(m, e), most = fmax(fabs(lo), fabs(hi));
  bool plain = most < 1e7 && e >= -6;
  for (double k = ceil(lo / step); n < FL_PLOT_MOST_TICKS; k++) {
    double at = scaled(k * m, e);
    if (!(at <= hi)) break;
    if (at < lo) continue; /* by rounding */
    out[n].at = at;
    print_number(out[n++].label, (int64_t)k * m, e, plain);
  }
  return n;
}

/* ---- times ---- */

typedef struct FlTimeStep {
  int64_t seconds; /* 0: by months */
  int64_t months;
} FlTimeStep;

enum { FL_DAY = 86400 };
static const FlTimeStep steps[] = {
    {1, 0},       {5, 0},          {15, 0},         {30, 0},          {60, 0},       {300, 0},
    {900, 0},     {1800, 0},       {3600, 0},       {3 * 3600, 0},    {6 * 3600, 0}, {12 * 3600, 0},
    {FL_DAY, 0},  {2 * FL_DAY, 0}, {7 * FL_DAY, 0}, {14 * FL_DAY, 0}, {0, 1},        {0, 3},
    {0, 6},       {0, 12},         {0, 24},         {0, 60},          {0, 120},      {0, 240},
    {0, 600},     {0, 1200},       {0, 2400},       {0, 6000},        {0, 12000},    {0, 120000},
    {0, 1200000}, {0, 12000000}};

static double step_length(FlTimeStep s) {
  return s.months ? (double)s.months * 2629746.0 : (double)s.seconds;
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static void print_time(char *out, int64_t seconds, FlTimeStep step) {
  int64_t day = floor_div(seconds, FL_DAY), rest = seconds - day * FL_DAY, year;
  int month, of_month;
  fl_civil_of_date((int32_t)day, &year, &month, &of_month);
  size_t room = FL_PLOT_TICK_ROOM;
  if (step.months >= 12) {
    snprintf(out, room, "%lld", (long long)year);
  } else if (step.months) {
    snprintf(out, room, "%lld-%02d", (long long)year, month);
  } else if (rest == 0) {
    snprintf(out, room, "%lld-%02d-%02d", (long long)year, month, of_month);
  } else {
    int n = snprintf(out, room, "%02d:%02d", (int)(rest / 3600), (int)(rest / 60 % 60));
    if (rest % 60) snprintf(out + n, room - (size_t)n, ":%02d", (int)(rest % 60));
  }
}

/* The first second of month number `months` since year 0. */
static int64_t month_start(int64_t months) {
  int64_t year = floor_div(months, 12);
  return (int64_t)fl_date_of_civil(year, (int)(months - year * 12) + 1, 1) * FL_DAY;
}

static int time_ticks(double lo, double hi, bool days, int want, FlPlotTick *out) {
  size_t k = 0, last = sizeof steps / sizeof *steps - 1;
  while (k < last && (step_length(steps[k]) < (hi - lo) / want ||
                      (days && steps[k].seconds && steps[k].seconds < FL_DAY)))
    k++;
  FlTimeStep step = steps[k];
  int64_t year, at;
  int month, day, n = 0;
  fl_civil_of_date((int32_t)floor(lo / FL_DAY), &year, &month, &day);
  /* Weeks begin on Mondays: 1970-01-05 was one. */
  int64_t shift = !step.months && step.seconds % (7 * FL_DAY) == 0 ? 4 * FL_DAY : 0;
  int64_t index = step.months ? floor_div(year * 12 + month - 1, step.months)
                              : floor_div((int64_t)floor(lo) - shift, step.seconds);
  for (; n < FL_PLOT_MOST_TICKS; index++) {
    at = step.months ? month_start(index * step.months) : index * step.seconds + shift;
    if ((double)at > hi) break;
    if ((double)at < lo) continue;
    out[n].at = (double)at;
    print_time(out[n++].label, at, step);
  }
  return n;
}

int fl_plot_ticks(const FlPlotAxis *axis, int want, FlPlotTick *out) {
  switch (axis->scale) {
  case FL_PLOT_NUMBER: return number_ticks(axis->lo, axis->hi, axis->whole, want, out);
  case FL_PLOT_DATE: return time_ticks(axis->lo, axis->hi, true, want, out);
  case FL_PLOT_DATETIME: return time_ticks(axis->lo, axis->hi, false, want, out);
  case FL_PLOT_NONE:
  case FL_PLOT_TEXT: break;
  }
  return 0;
}
