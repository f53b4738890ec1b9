/* plot_write.c: a plot in a file: the operator write_plot. In: a path and the parts of a Plot. Out: an SVG
 * file that appears whole or not at all. */
#include "io/plot_svg.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool write_svg(const char *path, const FlSlot *parts, FlIoError *e) {
  size_t n = strlen(path);
  if (n <= 4 || strcasecmp(path + n - 4, ".svg") != 0) {
    fl_io_error(e, FL_E_PLOT_FORMAT, "`write_plot` writes SVG, and `%s` does not end in `.svg`", path);
    fl_io_help(e, "SVG is the only format there is; other programs make PNG or PDF of it");
    return false;
  }
  FlPlot plot;
  FlOutput out;
  FlBytes svg = {0};
  if (!fl_plot_open(&plot, parts, e)) return false;
  fl_plot_svg(&svg, &plot);
  fl_plot_close(&plot);
  bool ok = !svg.failed || fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", path);
  ok = ok && fl_output_open(path, &out, e);
  if (ok && !fl_output_write(&out, svg.at, svg.len, e)) {
    fl_output_abandon(&out);
    ok = false;
  } else if (ok) {
    ok = fl_output_commit(&out, e);
  }
  fl_bytes_reset(&svg);
  return ok;
}

FlStatus fl_rt_write_plot(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  FlIoError e = {0};
  FlText to = args[0].t;
  char *path = fl_input_path(to, &e);
  bool ok = path != NULL;
  FlStatus status = ok ? fl_ctx_claim_output(ctx, desc->site, to.ptr, to.len) : 0;
  if (ok && !status) ok = write_svg(path, args + 1, &e);
  if (!ok && !status) status = fl_io_fail(ctx, desc->site, &e, to.ptr, to.len);
  free(path);
  return status;
}
