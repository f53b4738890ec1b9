/* exec.c: tests of runs: kernels and their first fault, host-level loops, stages remembered and shared,
 * command lines. */
#include "check.h"
#include "exec/exec_internal.h"
#include "data/data.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const FlSite sites[] = {
    {.file = "t.flow", .line = 3, .column = 5, .length = 2, .line_text = "let y = x"},
    {.file = "t.flow", .line = 4, .column = 1, .length = 1, .line_text = "boom"},
};

/* ---- kernels ------------------------------------------------------------------------------------------- */

typedef struct Env {
  const int64_t *in;
  int64_t *out;
} Env;

/* Two operations: 100 / x at rank 0, and at rank 1 a fault where the quotient is 10. */
static int32_t fast(FlCtx *ctx, const void *p, int64_t begin, int64_t end) {
  (void)ctx;
  const Env *e = p;
  int32_t faults = 0;
  for (int64_t i = begin; i < end; i++) {
    if (e->in[i] == 0) faults |= FL_FAULT_DIV_ZERO;
    e->out[i] = e->in[i] ? 100 / e->in[i] : 0;
    if (e->out[i] == 10) faults |= FL_FAULT_OVERFLOW;
  }
  return faults;
}
static int32_t precise(FlCtx *ctx, const void *p, int64_t begin, int64_t end) {
  const Env *e = p;
  for (int64_t i = begin; i < end; i++) {
    FlSlot a = {.i = 100}, b = {.i = e->in[i]};
    if (e->in[i] == 10) fl_kernel_fault(ctx, FL_FAULT_OVERFLOW, 0, 1, i, &i, 1, FL_I64, a, b);
    if (e->in[i] == 0) fl_kernel_fault(ctx, FL_FAULT_DIV_ZERO, 1, 0, i, &i, 1, FL_I64, a, b);
  }
  return 0;
}

static void test_kernels(FlRun *run) {
  enum { N = 300000 };
  int64_t *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);
  for (int64_t i = 0; i < N; i++) in[i] = 7;
  Env env = {in, out};
  FlKernel k = {.fast = fast, .precise = precise, .name = "divide", .site = 0, .unit = 1};
  FlCtx *ctx = fl_run_ctx(run);
  check(fl_run_kernel(ctx, &k, &env, N, 2.0) == 0, "a kernel without faults succeeds");
  bool all = true;
  for (int64_t i = 0; i < N; i++) all &= out[i] == 14;
  check(all, "a kernel computes every element");
  in[5] = 10;
  in[200000] = 0;
  in[250000] = 0;
  check(fl_run_kernel(ctx, &k, &env, N, 2.0) == 1, "a fault is a failure");
  check(fl_ctx_code(ctx) == 702, "the operation that is first in program order is reported");
  check(fl_ctx_message(ctx) && !strcmp(fl_ctx_message(ctx), "integer division by zero: 100 by 0"),
        "with its operands");
  free(in);
  free(out);
}

/* ---- host-level loops ---------------------------------------------------------------------------------- */

static FlStatus square(FlCtx *ctx, const FlSlot *args, FlSlot *results) {
  if (args[0].i == args[1].i || args[0].i == args[1].i + 100)
    return fl_fail_text(ctx, 1, FL_FAULT_ERROR, "element %lld", (long long)args[0].i);
  results[0].i = args[0].i * args[0].i;
  return 0;
}

static void test_tasks(FlRun *run) {
  enum { N = 1000 };
  FlSlot results[N], env = {.i = -1000};
  const FlType1 type = {.dtype = FL_I64};
  FlCtx *ctx = fl_run_ctx(run);
  check(fl_run_tasks(ctx, square, &env, 1, 0, N, results, 1, &type, NULL, 0, NULL) == 0,
        "a host-level loop succeeds");
  bool all = true;
  for (int64_t i = 0; i < N; i++) all &= results[i].i == i * i;
  check(all, "results lie in order");
  env.i = 300;
  check(fl_run_tasks(ctx, square, &env, 1, 0, N, results, 1, &type, NULL, 0, NULL) == 1,
        "a failing element fails the loop");
  check(fl_ctx_message(ctx) && !strcmp(fl_ctx_message(ctx), "element 300"),
        "the first failing element is reported");
}

/* Element i is args[1].a, once more, but the one at args[2] fails. */
static FlStatus share(FlCtx *ctx, const FlSlot *args, FlSlot *results) {
  results[0].a = args[1].a; /* not owned when the element fails */
  if (args[0].i == args[2].i) return fl_fail_text(ctx, 1, FL_FAULT_ERROR, "no");
  fl_array_ref(args[1].a);
  return 0;
}

static void test_tasks_release(FlRun *run) {
  enum { N = 500 };
  FlSlot results[N], env[2] = {0};
  const FlType1 type = {.dtype = FL_I64, .rank = 1};
  const int64_t three = 3;
  FlCtx *ctx = fl_run_ctx(run);
  env[0].a = fl_array_new(ctx, FL_I64, 1, &three);
  env[1].i = 400;
  check(fl_run_tasks(ctx, share, env, 2, 0, N, results, 1, &type, NULL, 0, NULL) == 1,
        "an element in the middle fails");
  check(atomic_load(&env[0].a->refs) == 1, "the arrays of the elements that succeeded are released");
  fl_array_unref(env[0].a);
}

/* ---- stages -------------------------------------------------------------------------------------------- */

static _Atomic int n_computed; /* how often `inner` ran: what the tests ask about */

static FlStatus inner(FlCtx *ctx, const FlSlot *args, FlSlot *results) {
  atomic_fetch_add(&n_computed, 1);
  int64_t n = args[0].i;
  if (n < 0) return fl_fail_text(ctx, 1, FL_FAULT_ERROR, "negative: %lld", (long long)n);
  results[0].a = fl_array_new(ctx, FL_I64, 1, &n);
  if (!results[0].a) return 4;
  for (int64_t i = 0; i < n; i++) ((int64_t *)results[0].a->data)[i] = i;
  results[1].t = (FlText){"three", 5};
  return 0;
}

/* Calls inner(n) and inner(n + 1) at the same time; gives the sum of their lengths. */
static FlStatus outer(FlCtx *ctx, const FlSlot *args, FlSlot *results) {
  FlSlot next = {.i = args[0].i + 1}, a[2], b[2];
  FlFuture *f = fl_stage_start(ctx, 0, args, 0), *g = fl_stage_start(ctx, 0, &next, 0);
  FlStatus s = fl_stage_wait(ctx, g, b);
  if (s) return s;
  s = fl_stage_wait(ctx, f, a);
  if (s) {
    fl_array_unref(b[0].a);
    return s;
  }
  bool right = a[1].t.len == 5 && !memcmp(a[1].t.ptr, "three", 5);
  results[0].i = right ? a[0].a->dims[0] + b[0].a->dims[0] : -1;
  fl_array_unref(a[0].a);
  fl_array_unref(b[0].a);
  return 0;
}

static const FlType1 i64_type[] = {{.dtype = FL_I64}},
                     array_and_text[] = {{.dtype = FL_I64, .rank = 1}, {.dtype = FL_TEXT}};
static const FlStage stages[] = {
    {"inner", inner, {1, 1}, NULL, 1, 2, i64_type, array_and_text, "(i64[_], text)", 0, 0, NULL, NULL, NULL},
    {"outer", outer, {2, 2}, NULL, 1, 1, i64_type, i64_type, "i64", 0, 0, NULL, NULL, NULL},
};

static FlStatus no_main(FlCtx *ctx, const FlSlot *args, FlSlot *results) {
  (void)ctx, (void)args, (void)results;
  return 0;
}

static const FlProgram program = {.version = FL_PROGRAM_VERSION,
                                  .name = "t.flow",
                                  .doc = "",
                                  .main = no_main,
                                  .stages = stages,
                                  .n_stages = 2,
                                  .sites = sites,
                                  .n_sites = 2};

/* Many calls of outer at once, which share inner calls; returns how often inner ran. */
static int run_stages(FlRun *run, int64_t calls) {
  FlCtx *ctx = fl_run_ctx(run);
  FlFuture *f[64];
  atomic_store(&n_computed, 0);
  bool right = true;
  for (int64_t i = 0; i < calls; i++) f[i] = fl_stage_start(ctx, 1, &(FlSlot){.i = 1000 + i / 2}, 0);
  for (int64_t i = 0; i < calls; i++) {
    FlSlot sum;
    right &= fl_stage_wait(ctx, f[i], &sum) == 0 && sum.i == 2 * (1000 + i / 2) + 1;
  }
  check(right, "stages give their results");
  return atomic_load(&n_computed);
}

static void test_stages(const char *dir, int workers) {
  FlRun *run = fl_run_new(&program, &(FlRunOptions){.workers = workers, .cache_dir = dir, .quiet = true});
  check(run_stages(run, 40) == 21, "each key is computed once, however many want it at once");
  check(run_stages(run, 40) == 0, "then all are remembered");
  fl_run_free(run);
  run = fl_run_new(&program, &(FlRunOptions){.workers = workers, .cache_dir = dir, .quiet = true});
  check(run_stages(run, 40) == 0, "also by the next run");
  FlCtx *ctx = fl_run_ctx(run);
  FlSlot out;
  FlFuture *f = fl_stage_start(ctx, 1, &(FlSlot){.i = -2}, 0);
  check(fl_stage_wait(ctx, f, &out) == 1, "a failing stage fails its caller");
  check(fl_ctx_message(ctx) && !strcmp(fl_ctx_message(ctx), "negative: -2"),
        "with the call that comes first in the program, not the one that was waited for first");
  fl_run_free(run);
  run = fl_run_new(&program, &(FlRunOptions){.workers = workers, .cache_dir = dir, .quiet = true});
  atomic_store(&n_computed, 0);
  f = fl_stage_start(fl_run_ctx(run), 0, &(FlSlot){.i = -2}, 0);
  FlSlot two[2];
  check(fl_stage_wait(fl_run_ctx(run), f, two) == 1 && atomic_load(&n_computed) == 1,
        "errors are not remembered");
  fl_run_free(run);
}

static void test_paths(void) {
  FlRun *run = fl_run_new(&program, &(FlRunOptions){.workers = 1, .quiet = true});
  FlCtx *ctx = fl_run_ctx(run);
  check(!fl_ctx_claim_input(ctx, 0, "a.csv", 5) && !fl_ctx_claim_input(ctx, 0, "./a.csv", 7),
        "reading twice is fine");
  check(!fl_ctx_claim_output(ctx, 0, "b.csv", 5), "writing is fine");
  check(fl_ctx_claim_output(ctx, 0, "./b.csv", 7) == 1 && fl_ctx_code(ctx) == 922,
        "writing twice is an error");
  fl_run_free(run);
  run = fl_run_new(&program, &(FlRunOptions){.workers = 1, .quiet = true});
  ctx = fl_run_ctx(run);
  fl_ctx_claim_input(ctx, 0, "a.csv", 5);
  check(fl_ctx_claim_output(ctx, 0, "./a.csv", 7) == 1 && fl_ctx_code(ctx) == 921,
        "writing an input is an error");
  fl_run_free(run);
}

/* ---- command lines ------------------------------------------------------------------------------------- */

static FlSlot seen[8]; /* what the program below was given */

static FlStatus params_main(FlCtx *ctx, const FlSlot *args, FlSlot *results) {
  (void)ctx, (void)results;
  memcpy(seen, args, sizeof seen[0] * 6);
  return 0;
}

static const FlParam params[] = {
    {"batch_size", "i64", "rows at a time", "1_000", {.dtype = FL_I64}, 0},
    {"share", "f64?", "", "null", {.dtype = FL_F64}, 1},
    {"day", "date", "", "2026-01-31", {.dtype = FL_DATE}, 0},
    {"small", "u8", "", "7", {.dtype = FL_U8}, 0},
    {"loud", "bool", "", "false", {.dtype = FL_BOOL}, 0},
};
static const FlProgram with_params = {.version = FL_PROGRAM_VERSION,
                                      .name = "t.flow",
                                      .doc = "",
                                      .main = params_main,
                                      .params = params,
                                      .n_params = 5};

static int run_line(const char *a, const char *b, const char *c) {
  char *argv[6] = {(char *)"t", (char *)"--no-cache", NULL};
  int argc = 2;
  if (a) argv[argc++] = (char *)a;
  if (b) argv[argc++] = (char *)b;
  if (c) argv[argc++] = (char *)c;
  return fl_main(&with_params, argc, argv);
}

static void test_command_lines(void) {
  int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
  dup2(null, STDERR_FILENO);
  check(run_line(NULL, NULL, NULL) == 0 && seen[0].i == 1000 && seen[2].i == 0 && seen[3].i == 20484,
        "defaults");
  check(run_line("--batch-size", "5", "--loud") == 0 && seen[0].i == 5 && seen[5].i == 1,
        "a dash for an underscore");
  check(run_line("--share=0.25", "--small", "255") == 0 && seen[1].f == 0.25 && seen[2].i == 1 &&
            seen[4].i == 255,
        "values after = and after a space");
  check(run_line("--share", "null", NULL) == 0 && seen[2].i == 0, "null for T?");
  check(run_line("--small", "256", NULL) == 2, "a value that does not fit");
  check(run_line("--batch-size", "abc", NULL) == 2, "a value that is no number");
  check(run_line("--bacth_size", "5", NULL) == 2, "an unknown option");
  check(run_line("stray", NULL, NULL) == 2, "a stray word");
  check(run_line("--share", NULL, NULL) == 2, "a missing value");
  check(run_line("--workers", "0", NULL) == 2, "no workers");
  check(run_line("--loud", "--loud", NULL) == 2, "an option twice");
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(null);
}

static void remove_tree(const char *dir) {
  char command[256];
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  if (system(command)) printf("could not remove %s\n", dir);
}

/* ---- digests ------------------------------------------------------------------------------------------- */

/* A view of all rows: the same values, of which nobody knows the digest. */
static FlArray *view_of(FlCtx *ctx, FlArray *a) { return fl_array_view_rows(ctx, a, 0, a->dims[0]); }

static bool same_digest(FlCtx *ctx, FlArray *a) {
  FlArray *alone = view_of(ctx, a), *shared = view_of(ctx, a);
  FlDigest x = fl_array_digest(alone), y = fl_ctx_array_digest(ctx, shared), z = fl_array_digest(shared);
  fl_array_unref(alone);
  fl_array_unref(shared);
  return x.lo == y.lo && x.hi == y.hi && y.lo == z.lo && y.hi == z.hi;
}

/* By any number of workers the digest of one. */
static void test_digests(FlRun *run) {
  static const int64_t sizes[][2] = {{0, 7},     {5, 0},      {1, 300000}, {4096, 40},
                                     {4097, 40}, {100000, 2}, {400001, 1}};
  static const FlDtype types[] = {FL_F64, FL_F32, FL_I64, FL_U8, FL_BOOL, FL_DATE};
  FlCtx *ctx = fl_run_ctx(run);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
      FlArray *a = fl_array_new(ctx, types[t], 2, sizes[k]);
      unsigned char *bytes = a->data;
      for (int64_t i = 0; i < fl_array_bytes(a); i++)
        bytes[i] = (unsigned char)(types[t] == FL_BOOL ? i % 3 == 0 : i * i >> 3);
      check(same_digest(ctx, a), "digest of %lld x %lld", (long long)sizes[k][0], (long long)sizes[k][1]);
      fl_array_unref(a);
    }
  }
  int64_t n = 150000;
  FlArray *texts = fl_array_new(ctx, FL_TEXT, 1, &n), *list = fl_array_new(ctx, FL_LIST, 1, &n),
          *row = fl_array_zeros(ctx, FL_I64, 1, &(int64_t){3});
  for (int64_t i = 0; i < n; i++) {
    ((FlText *)texts->data)[i] = (FlText){"some text that is long enough", i % 29};
    ((FlArray **)list->data)[i] =
        i % 5 ? fl_array_ref(row) : fl_array_zeros(ctx, FL_I64, 1, &(int64_t){i % 7});
  }
  check(same_digest(ctx, texts), "digest of texts");
  check(same_digest(ctx, list), "digest of a list");
  fl_array_unref(texts);
  fl_array_unref(list);
  fl_array_unref(row);
}

/* ---- forms that are made when they pay ----------------------------------------------------------------- */

typedef struct Made {
  int asked, made; /* how often for a form that is remembered, and for one to be made */
  bool fails;
} Made;

static FlKernelFn make_form(void *arg, const char *code, int64_t n_code, bool make) {
  Made *m = arg;
  check(n_code == 4 && !memcmp(code, "code", 4), "a form is made of the kernel's code");
  if (make) m->made++;
  else m->asked++;
  return make && !m->fails ? precise : NULL;
}

/* Runs that take `ns` in all, `n` of them. */
static void run_kernel(FlRun *run, const FlKernel *k, int n, double ns) {
  int64_t in = 1, out = 0;
  for (int i = 0; i < n; i++) fl_run_kernel(fl_run_ctx(run), k, &(Env){&in, &out}, 1, ns / n);
}

static void test_late(int workers) {
  for (int fails = 0; fails < 2; fails++) {
    Made m = {.fails = fails};
    FlKernelMaker maker = {.make = make_form, .arg = &m};
    FlRun *run = fl_run_new(&program, &(FlRunOptions){.workers = workers, .quiet = true, .maker = &maker});
    FlKernelLate late = {.fn = NULL};
    FlKernel k = {.fast = fast, .name = "divide", .unit = 1, .late = &late, .code = "code", .n_code = 4};
    run_kernel(run, &k, 10, 1e4);
    check(m.asked == 0 && m.made == 0, "nothing is made for a kernel that hardly runs");
    run_kernel(run, &k, 10, 1e5);
    check(m.asked == 1 && m.made == 0, "a form that is remembered is asked for once");
    run_kernel(run, &k, 10, 1e8);
    check(m.asked == 1 && m.made == 1, "a form is made once, also where that fails");
    check((atomic_load(&late.fn) != NULL) == !fails, "what was made is there from then on");
    FlKernelLate other = {.fn = NULL};
    k.late = &other;
    run_kernel(run, &k, 1, 1e9);
    check(m.asked == 1 && m.made == 2, "for a long run it is made before that");
    maker.at_once = true;
    FlKernelLate third = {.fn = NULL};
    k.late = &third;
    run_kernel(run, &k, 2, 1.0);
    check(m.made == 3, "or when the kernel first runs");
    fl_run_free(run);
  }
}

int main(void) {
  static const int workers[] = {1, 2, 8};
  for (int k = 0; k < 3; k++) {
    FlRun *run = fl_run_new(&program, &(FlRunOptions){.workers = workers[k], .quiet = true});
    test_kernels(run);
    fl_run_free(run);
    run = fl_run_new(&program, &(FlRunOptions){.workers = workers[k], .quiet = true});
    test_tasks(run);
    test_tasks_release(run);
    test_digests(run);
    fl_run_free(run);
    test_late(workers[k]);
    char dir[] = "/tmp/flow-exec-XXXXXX";
    if (mkdtemp(dir)) test_stages(dir, workers[k]);
    remove_tree(dir);
  }
  test_paths();
  test_command_lines();
  char shown[FL_SHOWN];
  check(!strcmp(fl_show_scalar(shown, FL_F64, (FlSlot){.f = 2}), "2.0"), "floats are shown with a point");
  return finish();
}
