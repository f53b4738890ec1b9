/* error.c: what is wrong with a file, as text, and from there into a context. */
#include "io/io_internal.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool fl_io_error(FlIoError *e, int code, const char *fmt, ...) {
  va_list args;
  memset(e, 0, sizeof *e);
  e->code = code;
  va_start(args, fmt);
  vsnprintf(e->message, sizeof e->message, fmt, args);
  va_end(args);
  return false;
}

void fl_io_help(FlIoError *e, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vsnprintf(e->help, sizeof e->help, fmt, args);
  va_end(args);
}

FlStatus fl_io_fail(FlCtx *ctx, int32_t site, const FlIoError *e, const char *path, int64_t path_len) {
  if (e->code == FL_E_MEMORY && fl_ctx_failed(ctx)) { /* what was missing is said: add what for */
    fl_fail_note(ctx, "%s", e->message);
    return fl_fail_text(ctx, site, FL_FAULT_MEMORY, "%s", e->message);
  }
  int fault = e->code == FL_E_MEMORY ? FL_FAULT_MEMORY : FL_CODE(e->code);
  FlStatus bad = fl_fail_text(ctx, site, fault, "%s", e->message);
  char help[sizeof e->help] = "";
  if (e->code == FL_E_MEMORY) fl_pool_help(fl_ctx_pool(ctx), help, sizeof help);
  if (e->help[0]) fl_fail_help(ctx, "%s", e->help);
  else if (help[0]) fl_fail_help(ctx, "%s", help);
  if (e->line) {
    char file[300];
    snprintf(file, sizeof file, "%.*s:%lld", (int)(path_len < 250 ? path_len : 250), path,
             (long long)e->line);
    fl_fail_datum(ctx, file, e->row, e->column[0] ? e->column : NULL, e->value[0] ? e->value : NULL,
                  (int64_t)strlen(e->value));
  }
  return bad;
}
