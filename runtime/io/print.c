/* print.c: a line on standard output. */
#include "io/io_internal.h"
#include "exec/exec.h"

FlStatus fl_rt_print(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  FlBytes line = {0};
  fl_bytes_add(&line, args[0].t.ptr, (size_t)args[0].t.len);
  fl_bytes_add(&line, "\n", 1);
  fl_ctx_keep_text(ctx, desc->site, args[0].t.ptr, (size_t)args[0].t.len);
  FlStatus status = line.failed ? fl_fail_text(ctx, desc->site, FL_FAULT_MEMORY, "out of memory")
                                : fl_ctx_print(ctx, desc->site, line.at, (int64_t)line.len);
  fl_bytes_reset(&line);
  return status;
}
