/* codegen_lacks.c: memory that there is not, anywhere. Scripts are compiled, interpreted, compiled to code
 * and run while the k-th request for memory of the process fails, alone or with all that follow, for k here
 * and there from the first to the last: the status is 0 with what the script prints, or 4 with a message
 * about memory; nothing crashes, nothing is left behind (by sanitizers), and the next run is as if nothing
 * had been. FLOW_TEST_ROUNDS: places a script. */
#include "check.h"
#include "driver.h"

#include "exec/exec.h"
#include "interp/interp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- requests that fail: the linker puts these in place of the C library's (tests/CMakeLists.txt) ---- */

static _Atomic long asked,
    fails_at; /* fails_at: the request that fails, 0: none; < 0: that one and all later */

static bool fails(void) {
  long k = atomic_fetch_add(&asked, 1) + 1, at = atomic_load(&fails_at);
  if (!at || (at > 0 ? k != at : k < -at)) return false;
  errno = ENOMEM;
  return true;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
int __real_vasprintf(char **out, const char *fmt, va_list args);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
int __wrap_vasprintf(char **out, const char *fmt, va_list args);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);

void *__wrap_malloc(size_t n) { return fails() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t n) { return fails() ? NULL : __real_realloc(p, n); }
void *__wrap_aligned_alloc(size_t align, size_t n) { return fails() ? NULL : __real_aligned_alloc(align, n); }
char *__wrap_strdup(const char *s) { return fails() ? NULL : __real_strdup(s); }
char *__wrap_strndup(const char *s, size_t n) { return fails() ? NULL : __real_strndup(s, n); }
int __wrap_vasprintf(char **out, const char *fmt, va_list args) {
  return fails() ? -1 : __real_vasprintf(out, fmt, args);
}
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset) {
  return fails() ? MAP_FAILED : __real_mmap(at, n, prot, flags, fd, offset);
}

/* ---- what is run ------------------------------------------------------------------------------------- */

static const char *const scripts[] = {
    "let x = [for i in 0..20000: sin(f64(i)) * 2.0]\nprint(sum(x))\nprint(\"{max(x)} and {len(x)}\")\n",
    ("let t = table(k = [for i in 0..3000: i % 7], v = [for i in 0..3000: f64(i)], s = [for i in 0..3000: "
     "\"n{i % 11}\"])\n"
     "show(t |> group_by(k) |> summarize(n = count(), m = mean(v), s = sum(v), d = median(v)))\n"
     "show(t |> sort(desc(v)) |> head(3))\nshow(t |> group_by(s) |> summarize(n = count(), f = first(v)))\n"
     "let u = t |> where(v > 10.0) |> derive(w = v * 2.0, l = upper(s) + \"!\")\nshow(u |> head(2))\n"
     "show(u |> join(table(k = [1, 2, 3], z = [\"a\", \"b\", \"c\"]), on = k) |> head(4))\n"
     "show(t |> derive(c = cumsum(v), r = rank(v)) |> head(3))\nshow(t |> distinct(s) |> head(3))\n"),
    ("stage fit(n: i64) = sum(for i in 0..n: f64(i) / 3.0)\nprint([for k in 1..5: fit(k * 1000)])\n"
     "stage named(s: text) = s + \" of \" + s\nprint(named(\"all\"))\n"),
    ("let words = [\"one\", \"two\", \"three\", \"one\"]\nvar s = \"\"\nfor w in words { s = s + upper(w) + "
     "\" \" }\nprint(s)\n"
     "print([for w in words if contains(w, \"o\"): replace(w, \"o\", \"0\") + reverse_text(w)])\n"
     "print([for w in words: replace_regex(w, \"[aeiou]\", \"<$0>\")])\n"
     "print(split_text(\"a,b,c\", \",\"))\nprint(join_text(words, \"-\"))\n"
     "print(edit_distance(repeat_text(\"ab\", 100), repeat_text(\"ba\", 90)))\n"
     "var k = 0\nvar long = \"\"\nwhile n_chars(long) < 3000 { long = long + \"abc\"\n k = k + 1 "
     "}\nprint(k)\n"),
    ("import linear\nlet x = [for i in 0..50, j in 0..3: f64((i * 7 + j * 3) % 11)]\n"
     "let y = [for i in 0..50: x[i, 0] * 2.0 - x[i, 2]]\nprint(linear.ols(x, y).coefficients)\n"),
    ("let r = read_csv(\"data/penguins.csv\", null = [\"\", \"NA\"])\n"
     "show(r |> group_by(species) |> summarize(n = count(), m = mean(body_mass_g)))\nshow(r |> head(2))\n"
     "write_csv(r |> head(20), \"out.csv\")\nwrite_jsonl(r |> head(20), \"out.jsonl\")\nsave(r, "
     "\"out.flowdata\")\n"),
    "let x = [1, 2, 3]\nfor k in 0..9 { print(x[k]) }\n",
    "print(len(5) + sqrt(\"a\"))\n",
};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

static void collect(void *arg, const char *bytes, int64_t len) {
  FlText1 *out = arg;
  /* The test's own memory does not fail. */
  long at = atomic_exchange(&fails_at, 0);
  fl_text_add(out, bytes, (size_t)len);
  atomic_store(&fails_at, at);
}

typedef struct Told {
  int status, code; /* code: of the error of a run */
  FlText1 printed;
  char message[400];
} Told;

static void run(const FlProgram *p, int workers, Told *told) {
  FlRunOptions options = {.workers = workers, .quiet = true, .out = collect, .out_arg = &told->printed};
  FlRun *r = p ? fl_run_new(p, &options) : NULL;
  told->status = 4;
  if (!r) return;
  FlCtx *ctx = fl_run_ctx(r);
  FlSlot none[1] = {0};
  told->status = fl_run_main(r, none);
  told->code = fl_ctx_code(ctx);
  if (fl_ctx_message(ctx)) snprintf(told->message, sizeof told->message, "%s", fl_ctx_message(ctx));
  fl_run_free(r);
}

typedef struct Made {
  FlCompilation *c;
  const FlPlan *plan;
  const FlProgram *program;
} Made;

static void make_program(void *arg) {
  Made *m = arg;
  m->program = fl_interp_program(fl_interp_make(m->c->arena, m->plan, m->c->sources), NULL);
}

static void interpreted(const char *script, int workers, Told *told) {
  FlCompilation c;
  FlText1 text = {.s = (char *)(uintptr_t)script, .len = strlen(script)};
  FlBuildOptions options = {.cpu = FL_CPU_HOST, .test = -1};
  fl_compilation_init_text(&c, "lacks.flow", &text);
  c.silent = true;
  told->status = fl_compile_ir(&c, &options);
  Made m = {.c = &c, .plan = told->status ? NULL : fl_compile_plan(&c, &options)};
  if (m.plan) {
    (void)fl_guard(make_program, &m);
    run(m.program, workers, told);
  } else if (!told->status) {
    told->status = 4;
  }
  fl_compilation_reset(&c);
}

static void compiled(const FlObject *object, int workers, Told *told) {
  char *why = NULL;
  FlLoaded *loaded = fl_load_object(object->bytes, object->size, &why);
  free(why);
  told->status = 4;
  if (!loaded) return;
  run(fl_loaded_program(loaded), workers, told);
  fl_loaded_free(loaded);
}

static void once(const char *script, const FlObject *object, int workers, long at, Told *told) {
  *told = (Told){0};
  atomic_store(&asked, 0);
  atomic_store(&fails_at, at);
  if (object) compiled(object, workers, told);
  else interpreted(script, workers, told);
  atomic_store(&fails_at, 0);
}

static uint64_t state = 88172645463325252u;
static long below(long n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (long)(state % (uint64_t)n);
}

static void try_script(int which, const FlObject *object, int rounds) {
  const char *way = object ? "compiled" : "interpreted";
  Told meant, told;
  once(scripts[which], object, 1, 0, &meant);
  long n = atomic_load(&asked);
  const char *printed = meant.printed.s ? meant.printed.s : "";
  if (getenv("FLOW_TEST_SHOW"))
    fprintf(stderr, "script %d, %s: status %d, code %d\n%s", which, way, meant.status, meant.code, printed);
  for (int k = 0; k < rounds; k++) {
    long at = k < rounds / 4 ? k + 1 : 1 + below(n);
    for (int all = 0; all < 2; all++) {
      int workers = 1 + k % 2;
      if (getenv("FLOW_TEST_SHOW"))
        fprintf(stderr, "script %d, %s, %ld of %ld%s\n", which, way, at, n, all ? " and all later" : "");
      once(scripts[which], object, workers, all ? -at : at, &told);
      const char *found = told.printed.s ? told.printed.s : "";
      bool same = told.status == meant.status && told.code == meant.code && strcmp(found, printed) == 0;
      bool lacks = told.status == 4 && (!told.code || told.code == 712 || told.code == 920) &&
                   strncmp(found, printed, strlen(found)) == 0;
      check(same || lacks,
            "script %d, %s, request %ld of %ld%s, %d workers: as meant, or no memory; status %d, code %d, "
            "%s\n%s",
            which, way, at, n, all ? " and all later" : "", workers, told.status, told.code, told.message,
            found);
      fl_text_reset(&told.printed);
    }
  }
  once(scripts[which], object, 1, 0, &told);
  check(told.status == meant.status && strcmp(told.printed.s ? told.printed.s : "", printed) == 0,
        "script %d, %s: afterwards it is as it was", which, way);
  fl_text_reset(&told.printed);
  fl_text_reset(&meant.printed);
}

/* ---- bugs of flow: they leave the work around as lack of memory does ---------------------------------- */

static void build_wrong(void *arg) {
  FlArena *arena = fl_arena_new();
  FlText1 text = {0};
  fl_text_addz(&text, "memory of the work");
  if (*(bool *)arg) fl_bug("rule %d is broken", 7);
  fl_text_reset(&text);
  fl_arena_free(arena);
}

static void guard_memory_alone(void *arg) {
  (void)fl_arena_new();
  (void)fl_guard(build_wrong, arg);
}

static void test_bugs(void) {
  char bug[FL_BUG_TEXT] = "";
  bool wrong = false;
  check(fl_guard_bugs(build_wrong, &wrong, bug) && !bug[0], "work without a bug is done");
  wrong = true;
  check(!fl_guard_bugs(build_wrong, &wrong, bug) && strcmp(bug, "rule 7 is broken") == 0, "a bug: %s", bug);
  bug[0] = '\0';
  check(!fl_guard_bugs(guard_memory_alone, &wrong, bug) && strcmp(bug, "rule 7 is broken") == 0,
        "a bug passes guards that are for memory: %s", bug);
  FlCompilation c = {.lacks = true, .silent = true};
  check(fl_compilation_lacks(&c) == 4, "without memory the status is 4");
  snprintf(c.bug, sizeof c.bug, "%s", bug);
  check(fl_compilation_lacks(&c) == 70, "with a bug of flow it is 70");
}

static FlObject object_of(const char *script, FlCodegenFn *generate) {
  FlCompilation c;
  FlText1 text = {.s = (char *)(uintptr_t)script, .len = strlen(script)};
  FlBuildOptions options = {.level = 1, .cpu = FL_CPU_HOST, .test = -1};
  fl_compilation_init_text(&c, "lacks.flow", &text);
  c.silent = true;
  FlObject out = {0};
  if (fl_compile_ir(&c, &options) == 0)
    out = generate(fl_compile_plan(&c, &options), c.sources, &(FlCodegenOptions){.level = 2});
  fl_compilation_reset(&c);
  return out;
}

int main(void) {
  char *why = NULL;
  FlCodegenFn *generate = fl_codegen_open(&why);
  if (!generate) return printf("%s\n0 passed, 1 failed\n", why ? why : ""), 1;
  const char *wanted = getenv("FLOW_TEST_ROUNDS");
  int rounds = wanted ? atoi(wanted) : 24;
  char folder[] = "/tmp/flow-lacks-XXXXXX";
  if (!mkdtemp(folder) || chdir(folder) != 0 || symlink(FLOW_TESTS "/../examples/data", "data") != 0)
    return 1;
  int null = dup(2);
  if (!getenv("FLOW_TEST_SHOW") && !freopen("/dev/null", "w", stderr))
    return 1; /* the messages of the runs */
  test_bugs();
  for (int k = 0; k < SCRIPTS; k++) {
    try_script(k, NULL, rounds);
    FlObject object = object_of(scripts[k], generate);
    if (object.bytes) try_script(k, &object, rounds);
    free(object.bytes);
    free(object.why);
  }
  static const char *const files[] = {"data", "out.csv", "out.jsonl", "out.flowdata"};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) unlink(files[k]);
  check(rmdir(folder) == 0, "no file is left that was being written");
  dup2(null, 2); /* of sanitizers, from here on */
  return finish();
}
