/* plot_write.c: a plot in a file: the operator write_plot. In: a path and the parts of a Plot. Out: an SVG
 * file that appears whole or not at all. */
#include "io/plot_svg.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An FlPutFn of the parts of a Plot. */
static bool put_svg(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  (void)ctx;
  size_t n = strlen(out->path);
  if (n <= 4 || strcasecmp(out->path + n - 4, ".svg") != 0) {
    fl_io_error(e, FL_E_PLOT_FORMAT, "`write_plot` writes SVG, and `%s` does not end in `.svg`", out->path);
    fl_io_help(e, "SVG is the only format there is; other programs make PNG or PDF of it");
    return false;
  }
  FlPlot plot;
  FlBytes svg = fl_output_bytes(out);
  if (!fl_plot_open(&plot, what, e)) return false;
  fl_plot_svg(&svg, &plot);
  fl_plot_close(&plot);
  bool ok = !svg.failed || fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out->path);
  ok = ok && fl_output_write(out, svg.at, svg.len, e);
  fl_bytes_reset(&svg);
  return ok;
}

void fl_plot_keep(FlCtx *ctx, int32_t site, const FlSlot *parts) {
  FlIoError e = {0};
  FlPlot plot;
  FlBytes svg = {0};
  if (!fl_ctx_wants_plots(ctx) || !fl_plot_open(&plot, parts, &e)) return;
  fl_plot_svg(&svg, &plot);
  fl_plot_close(&plot);
  if (!svg.failed) fl_ctx_keep_plot(ctx, site, svg.at, svg.len);
  fl_bytes_reset(&svg);
}

FlStatus fl_rt_write_plot(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  FlStatus status = fl_io_write_file(ctx, desc, args[0].t, put_svg, (void *)(uintptr_t)(args + 1));
  if (!status) fl_plot_keep(ctx, desc->site, args + 1);
  return status;
}
