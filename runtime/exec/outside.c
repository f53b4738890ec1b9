/* outside.c: what a run finds outside of itself when it starts: the time, and the environment.
 *
 * What always holds: the time is that of the run's start, so that every `now()` of a run is the same. */
#include "exec/exec_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t fl_run_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

FlRuntimeOp fl_rt_now, fl_rt_env;

FlStatus fl_rt_now(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)desc;
  (void)args;
  results[0].i = ctx->run->start;
  return 0;
}

/* The value of a variable; its length below 0: not set. A name with a NUL or = names none. */
static FlText variable(FlCtx *ctx, FlText name) {
  char *z = strndup(name.ptr ? name.ptr : "", (size_t)name.len);
  const char *value = z && strlen(z) == (size_t)name.len ? getenv(z) : NULL;
  free(z);
  if (!value) return (FlText){NULL, -1};
  return fl_heap_text(fl_ctx_heap(ctx), value, (int64_t)strlen(value));
}

FlStatus fl_rt_env(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlStatus ask = fl_ctx_ask(ctx);
  if (ask) return ask;
  FlText name = args[0].t, value = variable(ctx, name);
  if (value.len < 0 && desc->n_args == 1) {
    FlStatus s = fl_fail_op(ctx, desc, FL_CODE(281), "the environment variable `%.*s` is not set",
                            (int)(name.len < 200 ? name.len : 200), name.ptr ? name.ptr : "");
    fl_fail_help(ctx, "set it, or say what stands for it: env(\"%.*s\", default = \"...\")",
                 (int)(name.len < 60 ? name.len : 60), name.ptr ? name.ptr : "");
    return s;
  }
  if (value.len > 0 && fl_utf8_check(value.ptr, value.len) != value.len)
    return fl_fail_op(ctx, desc, FL_CODE(281), "the environment variable `%.*s` is not UTF-8 text",
                      (int)(name.len < 200 ? name.len : 200), name.ptr ? name.ptr : "");
  results[0].t = value.len < 0 ? args[1].t : value;
  return 0;
}
