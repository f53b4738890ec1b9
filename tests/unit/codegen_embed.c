/* codegen_embed.c: a program that holds flow: scripts are checked, compiled, loaded, interpreted and run by
 * several threads of one process, each with runs of its own, again and again. What each gives must be what
 * one thread alone got, whatever the others do; some runs share a pool of workers, some a store.
 * FLOW_TEST_ROUNDS: rounds a thread, for a long run under a sanitizer. */
#include "codegen_kit.h"

#include "driver.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 6 };

static const char *const scripts[] = {
    "let x = [for i in 0..10000: sin(f64(i)) * 2.0]\nprint(sum(x))\nprint(\"{max(x)} and {len(x)}\")\n",
    "let t = table(k = [for i in 0..3000: i % 7], v = [for i in 0..3000: f64(i)])\n"
    "show(t |> group_by(k) |> summarize(n = count(), m = mean(v), s = sum(v)))\n"
    "show(t |> sort(desc(v)) |> head(3))\n",
    "stage fit(n: i64) = sum(for i in 0..n: f64(i) / 3.0)\nprint([for k in 1..5: fit(k * 1000)])\n",
    "let words = [\"one\", \"two\", \"three\", \"one\"]\nvar s = \"\"\nfor w in words { s = s + upper(w) + "
    "\" \" }\n"
    "print(s)\nprint([for w in words if contains(w, \"o\"): n_chars(w)])\n",
    ("import linear\nlet x = [for i in 0..50, j in 0..3: f64((i * 7 + j * 3) % 11)]\n"
     "let y = [for i in 0..50: x[i, 0] * 2.0 - x[i, 2]]\nprint(linear.ols(x, y).coefficients)\n"),
    "fn f(x: f64[_]) -> f64 = sum(x * x * x)\nprint(grad(f)([1.0, 2.0, 3.0]))\n",
    "let x = [1, 2, 3]\nfor k in 0..9 { print(x[k]) }\n",  /* an error of the run */
    "let x = [1, 2\nprint(nothing)\nlet y: i64 = \"a\"\n", /* of syntax */
    "print(len(5) + sqrt(\"a\"))\n",                       /* of types */
};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

/* workers: 0: in the pool that the threads share. */
static void run(FlSched *pool, const FlProgram *p, int workers, FlText1 *out) {
  if (p) kit_run_in(workers ? NULL : pool, p, workers, out);
  else fl_text_addf(out, "not loaded");
}

/* Messages, or what the script prints and fails with, interpreted and compiled. */
static void all_of(int which, FlSched *pool, int workers, FlCodegenFn *generate, FlText1 *out) {
  FlText1 text = {0};
  FlCompilation c;
  FlBuildOptions options = {.level = which % 2, .cpu = FL_CPU_HOST, .test = -1};
  fl_text_addf(&text, "%s", scripts[which]);
  fl_compilation_init_text(&c, "embedded.flow", &text);
  c.silent = true;
  int status = fl_compile_ir(&c, &options);
  fl_text_addf(out, "%d\n", status);
  fl_sink_print(c.sink, out, false);
  if (!status) {
    run(pool, fl_interp_program(fl_interp_make(c.arena, fl_compile_plan(&c, &options), c.sources), NULL),
        workers, out);
    FlCodegenOptions how = {.level = which % 2};
    FlObject object = generate(c.plan, c.sources, &how);
    char *why = NULL;
    FlLoaded *loaded = object.bytes ? fl_load_object(object.bytes, object.size, &why) : NULL;
    run(pool, loaded ? fl_loaded_program(loaded) : NULL, workers, out);
    if (loaded) fl_loaded_free(loaded);
    free(object.bytes);
    free(object.why);
    free(why);
  }
  fl_compilation_reset(&c);
  fl_text_reset(&text);
}

typedef struct Caller {
  pthread_t thread;
  int number, rounds, same, other;
  FlCodegenFn *generate;
  FlSched *pool;
  const FlText1 *wanted;
} Caller;

static void *call(void *arg) {
  Caller *c = arg;
  for (int k = 0; k < c->rounds; k++) {
    int which = (c->number * 5 + k) % SCRIPTS;
    FlText1 got = {0};
    all_of(which, c->pool, (c->number + k) % 4, c->generate, &got);
    bool same = strcmp(got.s, c->wanted[which].s) == 0;
    if (!same && !c->other)
      printf("script %d\n--- alone\n%s--- beside others\n%s", which, c->wanted[which].s, got.s);
    if (same) c->same++;
    else c->other++;
    fl_text_reset(&got);
  }
  return NULL;
}

/* ---- one store ----------------------------------------------------------------------------------------- */

typedef struct Sharer {
  pthread_t thread;
  const char *store;
  FlText1 printed, said;
  int status;
} Sharer;

static void *share(void *arg) {
  Sharer *s = arg;
  static const char script[] = "stage slow(n: i64) = sum(for i in 0..n: sin(f64(i)))\nprint(slow(300000))\n";
  FlText1 text = {0};
  FlCompilation c;
  FlBuildOptions options = {.cpu = FL_CPU_HOST, .test = -1};
  fl_text_addz(&text, script);
  fl_compilation_init_text(&c, "shared.flow", &text);
  s->status = fl_compile_ir(&c, &options);
  if (!s->status) {
    FlInterp *in = fl_interp_make(c.arena, fl_compile_plan(&c, &options), c.sources);
    FlRunOptions how = {.workers = 2,
                        .cache_dir = s->store,
                        .out = kit_collect,
                        .out_arg = &s->printed,
                        .say = kit_collect,
                        .say_arg = &s->said};
    FlRun *r = fl_run_new(fl_interp_program(in, NULL), &how);
    FlSlot none[1] = {0};
    s->status = fl_run_main(r, none);
    fl_run_free(r);
  }
  fl_compilation_reset(&c);
  fl_text_reset(&text);
  return NULL;
}

/* Runs of one process that share a store: a stage is computed by one of them, and the others wait for it. */
static void one_computes(void) {
  char folder[] = "/tmp/flow-embed-XXXXXX", store[64], line[80];
  if (!mkdtemp(folder)) abort();
  snprintf(store, sizeof store, "%s/store", folder);
  Sharer sharers[THREADS] = {0};
  int computed = 0, same = 0;
  for (int k = 0; k < THREADS; k++) {
    sharers[k].store = store;
    if (pthread_create(&sharers[k].thread, NULL, share, &sharers[k]) != 0) abort();
  }
  for (int k = 0; k < THREADS; k++) {
    Sharer *s = &sharers[k];
    int run = -1;
    pthread_join(s->thread, NULL);
    const char *at = s->said.s ? strstr(s->said.s, "1 stage: ") : NULL;
    if (at) run = atoi(at + strlen("1 stage: "));
    computed += run;
    same += s->status == 0 && s->printed.s && strcmp(s->printed.s, sharers[0].printed.s) == 0;
  }
  bool right = computed == 1 && same == THREADS;
  if (!right)
    printf("a stage of %d runs was computed %d times, %d printed the same\n", THREADS, computed, same);
  passed += right;
  failed += !right;
  for (int k = 0; k < THREADS; k++) fl_text_reset(&sharers[k].printed), fl_text_reset(&sharers[k].said);
  snprintf(line, sizeof line, "rm -rf %s", folder);
  if (system(line) != 0) abort();
}

int main(void) {
  char *why = NULL;
  FlCodegenFn *generate = fl_codegen_open(&why);
  if (!generate) return printf("%s\n0 passed, 1 failed\n", why ? why : ""), 1;
  static FlText1 wanted[SCRIPTS];
  for (int k = 0; k < SCRIPTS; k++) all_of(k, NULL, 1, generate, &wanted[k]);
  if (getenv("FLOW_TEST_SHOW"))
    for (int k = 0; k < SCRIPTS; k++) printf("== %d\n%s", k, wanted[k].s);
  const char *rounds = getenv("FLOW_TEST_ROUNDS");
  static Caller callers[THREADS];
  FlSched *pool = fl_sched_new_for(2, THREADS - 1); /* sometimes a thread finds no room */
  for (int k = 0; k < THREADS; k++) {
    callers[k] = (Caller){.number = k,
                          .rounds = rounds ? atoi(rounds) : ROUNDS,
                          .generate = generate,
                          .pool = pool,
                          .wanted = wanted};
    if (pthread_create(&callers[k].thread, NULL, call, &callers[k])) return 1;
  }
  for (int k = 0; k < THREADS; k++) {
    pthread_join(callers[k].thread, NULL);
    passed += callers[k].same;
    failed += callers[k].other;
  }
  fl_sched_free(pool);
  for (int k = 0; k < SCRIPTS; k++) fl_text_reset(&wanted[k]);
  one_computes();
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
