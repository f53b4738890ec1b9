/* plot_ticks.c: the ticks of axes: round, within the axis, evenly spaced, written without rounding. */
#include "check.h"
#include "io/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The labels, with blanks between. */
static void expect(FlPlotScale scale, double lo, double hi, int want, const char *labels) {
  FlPlotTick ticks[FL_PLOT_MOST_TICKS];
  FlPlotAxis axis = {.scale = scale, .lo = lo, .hi = hi};
  char all[FL_PLOT_MOST_TICKS * FL_PLOT_TICK_ROOM] = "";
  int n = fl_plot_ticks(&axis, want, ticks);
  for (int k = 0; k < n; k++) {
    if (k) strcat(all, " ");
    strcat(all, ticks[k].label);
  }
  check(strcmp(all, labels) == 0, "%s (%g to %g)", all, lo, hi);
}

/* Whatever the range: some ticks, all within, labels that read back as their places. */
static void sweep(void) {
  for (int e = -300; e < 300; e += 7)
    for (int k = 1; k < 60; k += 4) {
      double unit = pow(10, e), lo = -unit * k / 7, hi = lo + unit * (0.3 * k + 0.01);
      FlPlotTick ticks[FL_PLOT_MOST_TICKS];
      FlPlotAxis axis = {.scale = FL_PLOT_NUMBER, .lo = lo, .hi = hi};
      int n = fl_plot_ticks(&axis, 7, ticks);
      bool within = true, exact = true;
      for (int t = 0; t < n; t++) {
        double read = 0;
        within = within && ticks[t].at >= lo && ticks[t].at <= hi;
        exact = exact && sscanf(ticks[t].label, "%lf", &read) == 1 &&
                fabs(read - ticks[t].at) <= fabs(read) * 1e-14;
      }
      check(n >= 2 && n <= 8, "two to eight ticks (%g to %g)", lo, hi);
      check(within, "ticks lie on the axis (%g to %g)", lo, hi);
      check(exact, "labels say where the ticks are (%g to %g)", lo, hi);
    }
}

int main(void) {
  const double day = 86400;
  expect(FL_PLOT_NUMBER, 0, 10, 5, "0 2 4 6 8 10");
  expect(FL_PLOT_NUMBER, -1.2, 1.2, 5, "-1.0 -0.5 0 0.5 1.0");
  expect(FL_PLOT_NUMBER, 0.001, 0.0042, 4, "0.001 0.002 0.003 0.004");
  expect(FL_PLOT_NUMBER, 9.99e6, 1.003e7, 4, "9.99e6 1e7 1.001e7 1.002e7 1.003e7");
  expect(FL_PLOT_NUMBER, 1e-9, 3e-9, 2, "1e-9 2e-9 3e-9");
  expect(FL_PLOT_NUMBER, -30000, 30000, 3, "-20000 0 20000");
  expect(FL_PLOT_DATE, 0, 6 * day, 6,
         "1970-01-01 1970-01-02 1970-01-03 1970-01-04 1970-01-05 1970-01-06 1970-01-07");
  expect(FL_PLOT_DATE, 0, 28 * day, 5, "1970-01-05 1970-01-12 1970-01-19 1970-01-26"); /* Mondays */
  expect(FL_PLOT_DATE, -40 * day, 100 * day, 6, "1969-12 1970-01 1970-02 1970-03 1970-04");
  expect(FL_PLOT_DATE, -400 * day, 1200 * day, 6, "1969 1970 1971 1972 1973");
  expect(FL_PLOT_DATETIME, day - 7200, day + 7200, 4, "22:00 23:00 1970-01-02 01:00 02:00");
  expect(FL_PLOT_DATETIME, 58, 64, 6, "00:00:58 00:00:59 00:01 00:01:01 00:01:02 00:01:03 00:01:04");
  expect(FL_PLOT_DATE, -1e14, 1e14, 4, "-3000000 -2000000 -1000000 0 1000000 2000000 3000000");
  expect(FL_PLOT_TEXT, -0.5, 3.5, 6, "");
  expect(FL_PLOT_NONE, 0, 1, 6, "");
  sweep();
  return finish();
}
