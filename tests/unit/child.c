/* child.c: work in a forked process: what it says and shares arrives, whatever ends it is an error, and it
 * neither has nor hurts what is not shared. */
#include "check.h"
#include "data/data.h"
#include "exec/exec.h"
#include "io/child.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { N = 3 << 20, CODE = 966 };

static FlCtx *ctx;

/* Runs it with a second of processor time; the code of the error, 0 for none. */
static int run(FlChildFn *fn, void *env, FlBytes *answer, FlIoError *e) {
  FlChild child = {fn, env, "data", "libx", 1 << 20, (int64_t)1 << 30, 1};
  memset(e, 0, sizeof *e);
  return fl_child_run(ctx, &child, CODE, answer, e) ? 0 : e->code;
}

static void say_hello(void *env, int to) { fl_child_say(to, env, strlen(env)); }

static void fill(void *env, int to) {
  (void)to;
  memset(env, 7, N);
}

static void raise_it(void *env, int to) {
  fl_child_say(to, "x", 1);
  raise(*(int *)env);
}

static void leave(void *env, int to) {
  (void)to;
  _exit(*(int *)env);
}

static void turn_round(void *env, int to) {
  (void)to;
  for (volatile int *at = env;; (*at)++) {}
}

static void say_much(void *env, int to) {
  for (;;) fl_child_say(to, env, 1 << 10);
}

static void test_results(void) {
  static const int64_t n = N;
  FlBytes answer;
  FlIoError e;
  char hello[] = "hello";
  check(run(say_hello, hello, &answer, &e) == 0 && answer.len == 5 && memcmp(answer.at, hello, 5) == 0,
        "an answer arrives");
  fl_bytes_reset(&answer);
  FlArray *shared = fl_array_new_shared(ctx, FL_U8, 1, &n), *own = fl_array_zeros(ctx, FL_U8, 1, &n);
  int wrong = 0;
  memset(shared->data, 0, N);
  check(run(fill, shared->data, &answer, &e) == 0, "it fills memory");
  fl_bytes_reset(&answer);
  for (int k = 0; k < N; k++) wrong += ((uint8_t *)shared->data)[k] != 7;
  check(wrong == 0, "that is shared");
  check(run(fill, own->data, &answer, &e) == CODE, "it has no other large blocks");
  fl_bytes_reset(&answer);
  fl_buffer_end_sharing(shared->buffer);
  check(run(fill, shared->data, &answer, &e) == CODE, "nor this one afterwards");
  fl_bytes_reset(&answer);
  FlArray *again = fl_array_reuse(shared);
  check(again == shared, "which is an array like any other");
  fl_array_unref(again);
  fl_array_unref(shared);
  fl_array_unref(own);
  fl_bytes_reset(&answer);
}

static void test_ends(void) {
  static int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGKILL, SIGPIPE}, status = 3;
  FlBytes answer;
  FlIoError e;
  for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) {
    check(run(raise_it, &signals[k], &answer, &e) == CODE && strstr(e.message, "`data`") &&
              strstr(e.message, "libx"),
          "signal %d is an error: %s", signals[k], e.message);
    fl_bytes_reset(&answer);
  }
  check(run(leave, &status, &answer, &e) == CODE, "another status is an error");
  fl_bytes_reset(&answer);
  check(run(turn_round, &(int){0}, &answer, &e) == CODE && strstr(e.message, "too long"),
        "no end is an error: %s", e.message);
  fl_bytes_reset(&answer);
  char much[1 << 10] = "";
  check(run(say_much, much, &answer, &e) == CODE && strstr(e.message, "size"),
        "too long an answer is an error: %s", e.message);
  fl_bytes_reset(&answer);
}

int main(void) {
  FlRun *r = fl_run_new(NULL, &(FlRunOptions){.workers = 2, .quiet = true});
  ctx = fl_run_ctx(r);
  test_results();
  test_ends();
  fl_run_free(r);
  return finish();
}
