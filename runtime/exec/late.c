/* late.c: optimised forms of kernels, made when they pay.
 *
 * In: a kernel that is about to run, and about how long. Out: the form to run. Making optimised code of a
 * kernel takes milliseconds, which most kernels of a script never run for; what pays is known only here. What
 * always holds: both forms give the same bits, so which of them runs, and when, shows nowhere; one thread
 * asks for a form, the others go on with what there is. */
#include "exec/exec_internal.h"

/* Nanoseconds of optimised code, in all runs of the kernel so far. Quick code takes some five times as long.
 */
enum {
  LEAST = 20,       /* of a run: it takes that in any case */
  ASK = 50000,      /* from then on a form that is remembered is used: loading it takes as long; */
  MAKE = 1000000,   /* and from then on one is made */
  LONG = 2000000000 /* more says nothing more */
};

FlKernelFn fl_kernel_late(FlRun *run, const FlKernel *kernel, double ns) {
  FlKernelLate *late = kernel->late;
  FlKernelFn fn = atomic_load_explicit(&late->fn, memory_order_acquire);
  const FlKernelMaker *maker = run->options.maker;
  if (fn || !maker) return fn ? fn : kernel->fast;
  int64_t more = ns > LEAST ? (ns < LONG ? (int64_t)ns : LONG) : LEAST;
  int64_t before = atomic_fetch_add_explicit(&late->ns, more, memory_order_relaxed), now = before + more;
  int64_t ask = maker->at_once ? 1 : ASK, make = maker->at_once ? 1 : MAKE;
  bool asks = before < ask && now >= ask, makes = before < make && now >= make;
  if (asks || makes) fn = maker->make(maker->arg, kernel->code, kernel->n_code, makes);
  if (!fn) return kernel->fast;
  atomic_store_explicit(&late->fn, fn, memory_order_release);
  return fn;
}

FlStatus fl_run_loop(FlCtx *ctx, const FlKernel *loop, void *env, double ns) {
  FlKernelFn fn = loop->late ? fl_kernel_late(ctx->run, loop, ns) : loop->fast;
  return fn(ctx, env, 0, 0);
}
