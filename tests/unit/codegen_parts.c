/* codegen_parts: arrays that are here in part, with a cut that no ranks stand behind.
 *
 * Every call of a runtime operator and of a kernel in tests/meaning/cases.flow, compiled and interpreted, is
 * made again with each array that it takes, and with all that it reads by rows, here in part: for each of
 * three parts, and two cuts, one of them with empty parts. Either it gives the rows of that part, bit by bit
 * those of the whole, or it says that it cannot; which operators have a parted form is written here. The rows
 * of other parts are addresses without memory, so who reads one does not go unseen. Then stages of IR, for
 * what host code does itself. The linker puts __wrap_ functions in the place of the doors. */
#include "check.h"
#include "codegen/codegen.h"
#include "driver.h"
#include "exec/exec_internal.h"
#include "interp/interp.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARTS = 3, CUTS = 2, MOST = 64 };

static FlRun part_run[PARTS]; /* the run, as each part has it */
static const char *way;       /* of running the cases */
static bool tries = true;     /* calls are made again in part */

/* By operator: calls with a parted argument that gave their rows, and that were refused. */
static int gave[FL_N_OPS], refused[FL_N_OPS];
static int kernels_gave, kernels_refused;

/* ---- arrays in part ----------------------------------------------------------------------------------- */

static const FlCut *cut_of(int part, int which, int64_t n) {
  int64_t at[PARTS + 1] = {0, which ? 0 : n / 3, which ? n : n - n / 4, n};
  return fl_cut_of(part_run[part].cuts, at);
}

static bool can_part(const FlArray *a) { return a && a->dtype != FL_LIST && a->dims[0] > 0; }

/* What is here of `a` in that part; a reference. */
static FlArray *part_of(const FlArray *a, int part, int which) {
  const FlCut *cut = cut_of(part, which, a->dims[0]);
  FlArray *p = fl_array_new_part(&part_run[part].main, a->dtype, a->rank, a->dims, cut);
  int64_t row = fl_array_row_count(a) * fl_dtype_info[a->dtype].bytes, from = row * fl_cut_from(cut);
  memcpy((char *)p->data + from, (const char *)a->data + from, (size_t)(row * fl_cut_to(cut) - from));
  FlArray *source = (FlArray *)(uintptr_t)a;
  fl_array_keep(NULL, p, NULL, &source, 1);
  return p;
}

/* Whether the rows that are here are those of `whole`. */
static bool same_rows(const FlArray *p, const FlArray *whole) {
  if (!p || !fl_array_cut(p) || p->dtype != whole->dtype || p->rank != whole->rank) return false;
  for (int k = 0; k < p->rank; k++)
    if (p->dims[k] != whole->dims[k]) return false;
  int64_t each = fl_array_row_count(p), size = fl_dtype_info[p->dtype].bytes;
  int64_t from = each * fl_cut_from(fl_array_cut(p)), n = each * fl_cut_to(fl_array_cut(p)) - from;
  const char *a = (const char *)p->data + from * size, *b = (const char *)whole->data + from * size;
  if (!fl_dtype_is_text(p->dtype)) return n == 0 || memcmp(a, b, (size_t)(n * size)) == 0;
  for (int64_t i = 0; i < n; i++) {
    FlText x = ((const FlText *)(const void *)a)[i], y = ((const FlText *)(const void *)b)[i];
    if (x.len != y.len || (x.len && memcmp(x.ptr, y.ptr, (size_t)x.len) != 0)) return false;
  }
  return true;
}

/* Whether the context holds the error of a step without a parted form; it is forgotten. */
static bool was_refused(FlCtx *ctx) {
  const char *message = fl_ctx_message(ctx);
  bool is = message && fl_ctx_code(ctx) == 929 && strstr(message, "the array is here in part");
  if (!is) printf("%s: %s\n", way, message ? message : "no message");
  fl_ctx_reset(ctx);
  return is;
}

/* The first calls at each place are tried: later ones are rounds of loops. */
static bool is_new(const void *place) {
  enum { PLACES = 1 << 16, CALLS = 2 };
  static const void *places[PLACES];
  static unsigned char calls[PLACES];
  size_t at = ((uintptr_t)place >> 3) % PLACES;
  while (places[at] && places[at] != place) at = (at + 1) % PLACES;
  places[at] = place;
  return calls[at] < CALLS && calls[at]++ < CALLS;
}

/* ---- runtime operators -------------------------------------------------------------------------------- */

FlStatus __real_fl_run_op(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results);
FlStatus __wrap_fl_run_op(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results);

static bool is_array(FlType1 t) { return t.rank || t.depth; }

/* A call with some arguments in part. */
typedef struct Trial {
  bool given;
  FlSlot results[16];
} Trial;

static Trial try_op(const FlOpDesc *desc, const FlSlot *args, const bool *parted, int part, int which) {
  FlSlot mine[MOST];
  Trial t = {0};
  for (int i = 0; i < desc->n_args; i++) {
    mine[i] = args[i];
    if (parted[i]) mine[i].a = part_of(args[i].a, part, which);
  }
  FlCtx *ctx = &part_run[part].main;
  t.given = __real_fl_run_op(ctx, desc, mine, t.results) == 0;
  if (!t.given) check(was_refused(ctx), "%s: %s says that it has no parted form", way, desc->name);
  for (int i = 0; i < desc->n_args; i++)
    if (parted[i]) fl_array_unref(mine[i].a);
  return t;
}

/* Which arguments are in part: the one at `at`; or, behind the last, all that are read by rows. */
static bool choose(const FlOpDesc *desc, const FlSlot *args, int at, bool *parted) {
  int n = 0;
  for (int i = 0; i < desc->n_args; i++) {
    bool array = is_array(desc->arg_types[i]) && can_part(args[i].a);
    parted[i] = array && (at == desc->n_args ? desc->rows[i] == FL_ROWS_OWN : i == at);
    n += parted[i];
  }
  return n > 0;
}

FlStatus __wrap_fl_run_op(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  static Trial trials[MOST + 1][CUTS][PARTS];
  static bool parted[MOST + 1][MOST], some[MOST + 1];
  bool tried = tries && !ctx->run->cuts && is_new(desc) && desc->n_args < MOST && desc->n_results <= 16;
  for (int at = 0; tried && at <= desc->n_args; at++) {
    some[at] = choose(desc, args, at, parted[at]);
    for (int which = 0; some[at] && which < CUTS; which++)
      for (int part = 0; part < PARTS; part++)
        trials[at][which][part] = try_op(desc, args, parted[at], part, which);
  }
  FlStatus s = __real_fl_run_op(ctx, desc, args, results);
  for (int at = 0; tried && at <= desc->n_args; at++) {
    for (int k = 0; some[at] && k < CUTS * PARTS; k++) {
      Trial *t = &trials[at][k / PARTS][k % PARTS];
      *(t->given ? &gave[desc->op] : &refused[desc->op]) += 1;
      for (int i = 0; t->given && i < desc->n_results; i++) {
        check(s == 0 && same_rows(t->results[i].a, results[i].a),
              "%s: %s, result %d of part %d is that of the whole", way, desc->name, i, k % PARTS);
        fl_array_unref(t->results[i].a);
      }
    }
  }
  return s;
}

/* ---- kernels ------------------------------------------------------------------------------------------ */

FlStatus __real_fl_run_kernel(FlCtx *ctx, const FlKernel *kernel, const void *env, int64_t n, double cost);
FlStatus __wrap_fl_run_kernel(FlCtx *ctx, const FlKernel *kernel, const void *env, int64_t n, double cost);

static Trial try_kernel(const FlKernel *k, const FlSlot *env, int64_t n, double cost, const bool *parted,
                        int part, int which) {
  int first = k->n_uses + k->n_sizes, all = first + k->n_results;
  FlSlot mine[MOST];
  Trial t = {0};
  FlCtx *ctx = &part_run[part].main;
  for (int i = 0; i < all + (k->n_results > 0); i++) mine[i] = env[i]; /* and the heap of texts */
  for (int i = 0; i < k->n_uses; i++)
    if (parted[i]) mine[i].a = part_of(env[i].a, part, which);
  for (int i = first; i < all; i++) {
    FlArray *out = NULL;
    for (int j = 0; j < k->n_uses; j++) /* written over what it captures */
      if (k->rows[j] == FL_ROWS_OWN && env[j].a == env[i].a && parted[j]) out = fl_array_ref(mine[j].a);
    mine[i].a = t.results[i - first].a =
        out ? out : fl_array_new(ctx, env[i].a->dtype, env[i].a->rank, env[i].a->dims);
  }
  t.given = __real_fl_run_kernel(ctx, k, mine, n, cost) == 0;
  if (!t.given) check(was_refused(ctx), "%s: kernel %s says that it has no parted form", way, k->name);
  for (int i = 0; i < k->n_uses; i++)
    if (parted[i]) fl_array_unref(mine[i].a);
  return t;
}

static bool choose_captures(const FlKernel *k, const FlSlot *env, int at, bool *parted) {
  int n = 0;
  for (int i = 0; i < k->n_uses; i++) {
    bool array = k->rows[i] != FL_ROWS_NONE && can_part(env[i].a);
    parted[i] = array && (at == k->n_uses ? k->rows[i] == FL_ROWS_OWN && env[i].a->dims[0] == env[k->n_uses].i
                                          : i == at);
    n += parted[i];
  }
  return n > 0;
}

FlStatus __wrap_fl_run_kernel(FlCtx *ctx, const FlKernel *k, const void *env, int64_t n, double cost) {
  static Trial trials[MOST + 1][CUTS][PARTS];
  static bool parted[MOST + 1][MOST], some[MOST + 1];
  const FlSlot *slots = env;
  bool tried = tries && !ctx->run->cuts && n > 0 && is_new(k) &&
               k->n_uses + k->n_sizes + k->n_results + 1 < MOST && k->n_results <= 16;
  for (int at = 0; tried && at <= k->n_uses; at++) {
    some[at] = choose_captures(k, slots, at, parted[at]);
    for (int which = 0; some[at] && which < CUTS; which++)
      for (int part = 0; part < PARTS; part++)
        trials[at][which][part] = try_kernel(k, slots, n, cost, parted[at], part, which);
  }
  FlStatus s = __real_fl_run_kernel(ctx, k, env, n, cost);
  for (int at = 0; tried && at <= k->n_uses; at++) {
    for (int c = 0; some[at] && c < CUTS * PARTS; c++) {
      Trial *t = &trials[at][c / PARTS][c % PARTS];
      *(t->given ? &kernels_gave : &kernels_refused) += 1;
      for (int i = 0; i < k->n_results; i++) {
        check(!t->given || (s == 0 && same_rows(t->results[i].a, slots[k->n_uses + k->n_sizes + i].a)),
              "%s: kernel %s, result %d of part %d is that of the whole", way, k->name, i, c % PARTS);
        fl_array_unref(t->results[i].a);
      }
    }
  }
  return s;
}

/* ---- the cases ---------------------------------------------------------------------------------------- */

static void forget(void *arg, const char *bytes, int64_t len) { (void)arg, (void)bytes, (void)len; }

static char *read_whole(const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = calloc(1, 1 << 20);
  if (f && text && fread(text, 1, (1 << 20) - 1, f) == 0) text[0] = 0;
  if (f) fclose(f);
  return text;
}

/* The stages, each shown, and what has an effect. */
static void make_script(FlText1 *out, const char *folder) {
  char *cases = read_whole(FLOW_TESTS "/meaning/cases.flow");
  fl_text_addz(out, cases);
  for (const char *at = cases; (at = strstr(at, "\nstage ")); at++) {
    int n = (int)strcspn(at + 7, "(");
    fl_text_addf(out, "show(%.*s())\n", n, at + 7);
  }
  static const char *const writes[] = {"write_csv(rows(50)",
                                       "write_npy(numbers(50)",
                                       "write_bytes(bytes(numbers(50))",
                                       "write_npz((a = numbers(50), b = tenths(5))",
                                       "write_json(numbers(50)",
                                       "save(rows(50)",
                                       "write_plot(plot.scatter(rows(50), x = x, y = y)"};
  for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
    fl_text_addf(out, "%s, \"%s/%d.svg\")\n", writes[i], folder, (int)i);
  fl_text_addz(out, "let m = signal(700, 60)\nlet n = signal(60, 50)\nlet s = signal(700, 50)\n"
                    "show(sum(m @ n))\nshow(sum(s + m @ n))\nshow(sum(m @ n[:, 0]))\n"
                    "show(sum(signal(900, 300) @ signal(300, 200)))\n"
                    "show(sum(normal(1, 40, 6, 5) @ normal(2, 40, 5, 7)))\n"
                    "let f = fft(m)\nlet g = ifft(f)\nshow(sum(f.re) + sum(f.im) + sum(g.re) + sum(g.im))\n"
                    "show(sum(irfft(rfft(m), 60)))\n");
  fl_text_addz(out, "let t = read_csv(\"t.csv\")\n"
                    "show(t |> where(x > 0) |> group_by(b) |> summarize(n = count(), m = sum(x)))\n");
  fl_text_addz(out, "show(plot.line(rows(50), x = x, y = y))\n");
  free(cases);
}

/* The run as parts have it: with contexts and cuts of their own. */
static void begin_parts(FlRun *run, const FlProgram *program) {
  for (int p = 0; p < PARTS; p++) {
    memcpy(&part_run[p], run, sizeof *run);
    part_run[p].program = program;
    fl_ctx_init(&part_run[p].main, &part_run[p], NULL);
    check(fl_run_parts(&part_run[p], PARTS, p), "a run has parts");
  }
}

static void end_parts(void) {
  for (int p = 0; p < PARTS; p++) {
    fl_ctx_reset(&part_run[p].main);
    fl_cuts_free(part_run[p].cuts);
  }
}

static void run_program(const FlProgram *program) {
  FlRunOptions options = {.workers = 1, .quiet = true, .out = forget};
  FlRun *run = fl_run_new(program, &options);
  FlSlot none[1] = {0};
  begin_parts(run, program);
  FlStatus s = program->main(fl_run_ctx(run), none, none);
  check(s == 0, "%s: the cases run: %s", way, s ? fl_ctx_message(fl_run_ctx(run)) : "");
  fl_ctx_finish(fl_run_ctx(run), 0);
  end_parts();
  fl_run_free(run);
}

static void run_cases(const char *folder, bool compiled) {
  FlCompilation c;
  FlText1 script = {0};
  char *why = NULL;
  FlBuildOptions options = {.level = 1, .test = -1};
  way = compiled ? "compiled" : "interpreted";
  make_script(&script, folder);
  fl_compilation_init_text(&c, "cases.flow", &script);
  bool fine = fl_compile_ir(&c, &options) == 0;
  check(fine, "%s: the cases compile", way);
  const FlPlan *plan = fine ? fl_plan_make(c.arena, c.sema.module, 0) : NULL;
  if (fine && !compiled) run_program(fl_interp_program(fl_interp_make(c.arena, plan, c.sources), NULL));
  FlObject object = {0};
  if (fine && compiled && fl_compile_object(&c, &options, FL_EMIT_OBJECT, &object) == 0) {
    FlLoaded *loaded = fl_load_object(object.bytes, object.size, &why);
    check(loaded != NULL, "the object loads: %s", why ? why : "");
    if (loaded) run_program(fl_loaded_program(loaded));
    fl_loaded_free(loaded);
  }
  free(object.bytes);
  free(object.why);
  free(why);
  fl_text_reset(&script);
  fl_compilation_reset(&c);
}

/* Operators with a parted form of their own rows, and those that no case calls with an array. */
static const char *const by_rows[] = {"linalg_products", "fft", "rfft", "irfft", "encode_levels", "take"};
static const char *const not_called[] = {
    /* they take lists, which are never parted, or no array */
    "list_sum", "sum_begin", "sum_end", "sum_part", "sum_late", "list_concat", "list_stack", "list_levels",
    "permutation", "choice", "split_text", "extract_all", "read_table", "read_table_some", "table_parts",
    "read_npy", "read_npz", "read_wav", "read_hdf5", "read_mat", "load_value", "print", "note", "now", "env",
    "files", "file_path", "file_of",
    /* made by optimisations: of readers alone, and of tables that go through filters part by part, which gets
     * them whole in a run that knows of no ranks */
    "key_set", "in_keys", "text_values", "by_codes", "row_part",
    /* other programs and libraries, which are not everywhere */
    "exec", "sql", "read_image", "write_image"};

static bool is_among(const char *name, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

static void check_operators(void) {
  for (int i = 0; i < FL_N_OPS; i++) {
    const char *name = fl_op_info[i].name;
    if (fl_op_info[i].op_class != FL_CLASS_RUNTIME) continue;
    bool has_form = is_among(name, by_rows, sizeof by_rows / sizeof *by_rows);
    bool expected = !is_among(name, not_called, sizeof not_called / sizeof *not_called);
    check((gave[i] > 0) == has_form, "%s has a parted form: %d calls gave rows", name, gave[i]);
    check((gave[i] + refused[i] > 0) == expected, "%s is called with an array in part", name);
  }
}

static void remove_files(const char *folder) {
  char path[64];
  for (int i = 0; i < 10; i++) {
    snprintf(path, sizeof path, "%s/%d.svg", folder, i);
    unlink(path);
  }
  rmdir(folder);
}

/* ---- what host code does itself ------------------------------------------------------------------------ */

/* A stage of x, and what comes of an x that is here in part. TRAPS: compiled code reads elements where it
 * stands, and the address has no memory; the interpreter refuses. */
typedef enum Outcome { GIVES, REFUSES, TRAPS, FAILS } Outcome;
static const struct {
  const char *name;
  Outcome outcome;
  const char *body; /* x is %0, its number of rows %1 */
} stages[] = {
    {"row_by_row", GIVES,
     "  %2 = map %1 : f64[] {\n    (%3: i64)\n    %4 = load %0, %3 : f64\n    %5 = mul %4, %4 : f64\n"
     "    yield %5\n  }\n  yield %2\n"},
    {"rows_of_three", GIVES,
     "  %2 = const 3 : i64\n  %3 = map %1, %2 : f64[,] {\n    (%4: i64, %5: i64)\n    %6 = load %0, %4 : "
     "f64\n"
     "    %7 = convert %5 : f64\n    %8 = add %6, %7 : f64\n    yield %8\n  }\n  yield %3\n"},
    {"through_rounds", GIVES,
     "  %2 = const 0 : i64\n  %3 = const 4 : i64\n  %4 = for %2, %3, %0 : f64[] {\n    (%5: i64, %6: f64[])\n"
     "    %7 = map %1 : f64[] {\n      (%8: i64)\n      %9 = load %6, %8 : f64\n      %10 = add %9, %9 : "
     "f64\n"
     "      yield %10\n    }\n    yield %7\n  }\n  yield %4\n"},
    {"texts", GIVES,
     "  %2 = map %1 : text[] {\n    (%3: i64)\n    %4 = load %0, %3 : f64\n    %5 = to_text<s=\"\"> %4 : "
     "text\n"
     "    yield %5\n  }\n  yield %2\n"},
    {"own_position", FAILS, /* in the last row: the message has its number */
     "  %2 = map %1 : i64[] {\n    (%3: i64)\n    %4 = load %0, %3 : f64\n    %5 = round %4 : i64\n"
     "    %6 = floordiv %3, %5 : i64\n    yield %6\n  }\n  yield %2\n"},
    {"neighbours", REFUSES,
     "  %2 = const 1 : i64\n  %3 = const 0 : i64\n  %4 = map %1 : f64[] {\n    (%5: i64)\n    %6 = sub %5, "
     "%2 : i64\n"
     "    %7 = max %6, %3 : i64\n    %8 = load %0, %7 : f64\n    yield %8\n  }\n  yield %4\n"},
    {"whole_result", REFUSES,
     "  %2 = map %1 : f64[] {\n    (%3: i64)\n    %4 = load %0, %3 : f64\n    yield %4\n  }\n"
     "  %5 = const 0 : i64\n  %6 = load %2, %5 : f64\n  %7 = array %6 : f64[]\n  yield %7\n"},
    {"fold", REFUSES,
     "  %2 = reduce<kinds=[sum]> %1 : f64 {\n    (%3: i64)\n    %4 = load %0, %3 : f64\n    yield %4\n  }\n"
     "  %5 = array %2 : f64[]\n  yield %5\n"},
    {"kept", REFUSES,
     "  %2 = const 0.0 : f64\n  %3, %4 = collect %1 : i64, f64[] {\n    (%5: i64)\n    %6 = load %0, %5 : "
     "f64\n"
     "    %7 = gt %6, %2 : bool\n    yield %7, %6\n  }\n  yield %4\n"},
    {"tasks", REFUSES,
     "  %2 = map %1 : f64[] {\n    (%3: i64)\n    %4 = load %0, %3 : f64\n    %5 = array %4 : f64[]\n"
     "    %6 = sort_perm<columns=[col]> %5 : i64[]\n    %7 = const 0 : i64\n    %8 = load %6, %7 : i64\n"
     "    %9 = convert %8 : f64\n    yield %9\n  }\n  yield %2\n"},
    {"stage_call", REFUSES, "  %2 = stage<@row_by_row> %0, %1 : f64[]\n  yield %2\n"},
    {"scan", TRAPS,
     "  %2 = const 0.0 : f64\n  %3 = scan %1, %2 : f64[] {\n    (%4: i64, %5: f64)\n    %6 = load %0, %4 : "
     "f64\n"
     "    %7 = add %5, %6 : f64\n    yield %7\n  }\n  yield %3\n"},
    {"element", TRAPS,
     "  %2 = const 0 : i64\n  %3 = const 1 : i64\n  %4 = sub %1, %3 : i64\n  %5 = load %0, %2 : f64\n"
     "  %6 = load %0, %4 : f64\n  %7 = array %5, %6 : f64[]\n  yield %7\n"},
    {"store", TRAPS,
     "  %2 = const 0 : i64\n  %3 = const 1.0 : f64\n  %4 = store %0, %2, %3 : f64[]\n  yield %4\n"},
};
enum { STAGES = sizeof stages / sizeof *stages, ROWS = 30000 };

/* Calls stage k in this context. */
static FlStatus call(const FlProgram *program, int k, FlCtx *ctx, FlArray *x, FlSlot *result) {
  FlSlot args[2] = {{.a = x}, {.i = ROWS}};
  const FlStage *stage = program->stages;
  while (strcmp(stage->name, stages[k].name) != 0) stage++;
  ctx->self = stage->self;
  return fl_ctx_finish(ctx, stage->fn(ctx, args, result));
}

static bool dies(const FlProgram *program, int k, FlCtx *ctx, FlArray *x) {
  FlSlot result;
  int status = 0;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(call(program, k, ctx, x, &result) != 0);
  }
  return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

static void check_stage(const FlProgram *program, int k, FlRun *run, FlArray *x, bool compiled) {
  FlSlot whole = {0};
  FlStatus s = call(program, k, fl_run_ctx(run), x, &whole);
  Outcome outcome = stages[k].outcome;
  check((s != 0) == (outcome == FAILS), "%s: %s runs on the whole", way, stages[k].name);
  int64_t at = s ? fl_run_ctx(run)->error->index[0] : 0;
  fl_ctx_reset(fl_run_ctx(run));
  for (int part = 0; part < PARTS; part++) {
    FlCtx *ctx = &part_run[part].main;
    FlArray *p = part_of(x, part, 0);
    FlSlot result = {0};
    bool here = at >= fl_cut_from(fl_array_cut(p)) && at < fl_cut_to(fl_array_cut(p));
    if (outcome == TRAPS && compiled) {
      check(dies(program, k, ctx, p), "compiled: %s traps in part %d", stages[k].name, part);
    } else if (outcome == GIVES || (outcome == FAILS && !here)) {
      s = call(program, k, ctx, p, &result);
      check(s == 0 && (outcome == FAILS || same_rows(result.a, whole.a)),
            "%s: %s gives its rows in part %d: %s", way, stages[k].name, part, s ? fl_ctx_message(ctx) : "");
    } else {
      s = call(program, k, ctx, p, &result);
      if (outcome == FAILS) check(s && ctx->error->index[0] == at, "%s: the failing row has its number", way);
      else check(s && was_refused(ctx), "%s: %s is refused in part %d", way, stages[k].name, part);
    }
    fl_ctx_reset(ctx);
    fl_array_unref(result.a);
    fl_array_unref(p);
  }
  fl_array_unref(whole.a);
}

static void check_stages(const FlProgram *program, bool compiled) {
  FlRunOptions options = {.workers = 2, .quiet = true, .out = forget};
  FlRun *run = fl_run_new(program, &options);
  int64_t n = ROWS;
  FlArray *x = fl_array_new(fl_run_ctx(run), FL_F64, 1, &n);
  way = compiled ? "compiled" : "interpreted";
  for (int64_t i = 0; i < n; i++) ((double *)x->data)[i] = i == n - 1 ? 0 : (double)(i * 7 % 1013) + 1;
  begin_parts(run, program);
  for (int k = 0; k < STAGES; k++) check_stage(program, k, run, x, compiled);
  end_parts();
  fl_array_unref(x);
  fl_run_free(run);
}

static const char *type_of(const char *stage) {
  return strcmp(stage, "rows_of_three") == 0  ? "f64[,]"
         : strcmp(stage, "texts") == 0        ? "text[]"
         : strcmp(stage, "own_position") == 0 ? "i64[]"
                                              : "f64[]";
}

static void run_stages(void) {
  FlArena *arena = fl_arena_new();
  FlText1 text = {0};
  char *why = NULL;
  fl_text_addz(&text, "module \"parts\"\n");
  for (int k = 0; k < STAGES; k++)
    fl_text_addf(&text, "\nstage @%s(%%0: f64[], %%1: i64) -> (%s) memo -1 {\n%s}\n", stages[k].name,
                 type_of(stages[k].name), stages[k].body);
  fl_text_addz(&text, "\nmain @main() -> () {\n  %0 = array : f64[]\n  %1 = const 0 : i64\n");
  for (int k = 0; k < STAGES; k++) /* which makes them stages of the program */
    fl_text_addf(&text, "  %%%d = stage<@%s> %%0, %%1 : %s\n", k + 2, stages[k].name,
                 type_of(stages[k].name));
  fl_text_addz(&text, "  yield\n}\n");
  FlSink *sink = fl_sink_make(arena, fl_sources_make(arena));
  FlModule *m = fl_ir_read(arena, text.s, sink);
  FlText1 said = {0};
  fl_sink_print(sink, &said, false);
  check(m != NULL, "the stages read: %s", said.s ? said.s : "");
  fl_text_reset(&said);
  FlCodegenFn *codegen = m ? fl_codegen_open(&why) : NULL;
  for (int level = 0; codegen && level <= 2; level += 2) {
    FlCodegenOptions options = {.level = level};
    FlObject object = codegen(fl_plan_make(arena, m, level), NULL, &options);
    FlLoaded *loaded = object.bytes ? fl_load_object(object.bytes, object.size, &why) : NULL;
    check(loaded != NULL, "the stages load: %s", why ? why : object.why ? object.why : "");
    if (loaded) check_stages(fl_loaded_program(loaded), true);
    fl_loaded_free(loaded);
    free(object.bytes);
    free(object.why);
  }
  if (m) check_stages(fl_interp_program(fl_interp_make(arena, fl_plan_make(arena, m, 0), NULL), NULL), false);
  free(why);
  fl_text_reset(&text);
  fl_arena_free(arena);
}

int main(void) {
  char folder[] = "/tmp/flow-parts-XXXXXX";
  if (!mkdtemp(folder) || chdir(FLOW_TESTS "/meaning/data") != 0) return 1;
  run_cases(folder, false);
  run_cases(folder, true);
  check_operators();
  check(kernels_gave > 50 && kernels_refused > 100,
        "kernels are met in both ways: %d gave rows, %d were refused", kernels_gave, kernels_refused);
  tries = false;
  run_stages();
  remove_files(folder);
  return finish();
}
