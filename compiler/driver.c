/* driver.c: the pipeline on one screen: text, tree, IR, passes, plan, object.
 *
 * What always holds: a phase runs only when the one before found no errors, but for the meaning of what
 * errors of syntax left whole; every message has a place; a failure of a later phase is a bug of flow and
 * says so. */
#include "driver.h"

#include "exec/command_line.h"
#include "flow/version.h"
#include "memo/memo.h"
#include "opt/opt.h"
#include "report/record.h"
#include "syntax/ast.h"
#include "syntax/foreign.h"
#include "cli/scripts.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- work that may find no memory: the arguments of each function for fl_guard ---------------------- */

typedef struct Asked {
  FlCompilation *c;
  const char *path;
  const FlText1 *text;
  const FlWorld *world;
  const FlWitness *witness;
  const FlBuildOptions *options;
  int test, status;
} Asked;

/* A message about a bug of flow; 70. */
static int internal(const char *what, const char *why) {
  fprintf(stderr, "error: flow itself failed: %s: %s\n  help: please report this with the script\n", what,
          why);
  return 70;
}

int fl_compilation_lacks(const FlCompilation *c) {
  if (c->bug[0]) return internal("compiling", c->bug);
  if (!c->silent)
    fputs(
        "error[E0712]: out of memory\n"
        "  help: a limit of the system (ulimit -v, a control group) is reached, or the script is too large\n",
        stderr);
  return 4;
}

/* false: no memory, or a bug, now or before. */
static bool guarded(void (*work)(void *), Asked *a) {
  a->c->lacks = a->c->lacks || !fl_guard_bugs(work, a, a->c->bug);
  return !a->c->lacks;
}

static void init(void *arg) {
  const Asked *a = arg;
  FlCompilation *c = a->c;
  const char *path = a->path;
  const FlText1 *text = a->text;
  if (!c->arena) c->arena = fl_arena_new();
  c->names = c->library ? c->library->names : fl_interner_make(c->arena);
  c->sources = fl_sources_make(c->arena);
  if (c->library) c->sources->shared = c->library->sources;
  c->sink = fl_sink_make(c->arena, c->sources);
  c->script =
      fl_sources_add(c->sources, strcmp(path, "-") == 0 ? FL_STANDARD_INPUT : path, text->s, text->len);
}

void fl_compilation_init_text(FlCompilation *c, const char *path, const FlText1 *text) {
  fl_compilation_init_in(c, NULL, NULL, path, text);
}

void fl_compilation_init_in(FlCompilation *c, FlArena *arena, FlParsedLibrary *library, const char *path,
                            const FlText1 *text) {
  *c = (FlCompilation){.arena = arena, .library = library};
  if (!guarded(init, &(Asked){.c = c, .path = path, .text = text})) *c = (FlCompilation){.lacks = true};
}

int fl_compilation_init(FlCompilation *c, const char *path) {
  FlText1 text = {0}, why = {0};
  *c = (FlCompilation){0};
  int status = fl_script_read(path, &text, &why);
  if (status) fprintf(stderr, "error: %s\n", why.s);
  else fl_compilation_init_text(c, path, &text);
  if (c->lacks) status = fl_compilation_lacks(c);
  fl_text_reset(&text);
  fl_text_reset(&why);
  return status;
}

void fl_compilation_reset(FlCompilation *c) {
  if (c->arena) fl_arena_free(c->arena);
  *c = (FlCompilation){0};
}

void fl_compilation_say(FlCompilation *c) {
  if (c->silent || c->lacks) return;
  FlText1 out = {0};
  fl_sink_print(c->sink, &out, isatty(STDERR_FILENO) && !getenv("NO_COLOR"));
  if (out.len) fwrite(out.s, 1, out.len, stderr);
  fl_text_reset(&out);
}

void fl_source_digest(const FlSources *sources, char out[FL_SOURCE_DIGEST]) {
  FlText1 all = {0};
  for (int i = 0; i < sources->files.n; i++) {
    const FlSource *f = sources->files.at[i];
    fl_text_addf(&all, "%u\n", f->len);
    fl_text_add(&all, f->text, f->len);
  }
  FlDigest d = fl_memo_digest(all.s, (int64_t)all.len);
  fl_text_reset(&all);
  snprintf(out, FL_SOURCE_DIGEST, "%016llx%016llx", (unsigned long long)d.hi, (unsigned long long)d.lo);
}

uint64_t *fl_source_lines(FlArena *a, const FlSource *f) {
  uint64_t *lines = FL_NEW_ARRAY(a, uint64_t, f->n_lines + 1);
  for (uint32_t k = 0; k < f->n_lines; k++) {
    const char *text = f->text + f->lines[k];
    lines[k] = fl_record_line(text, strcspn(text, "\n"));
  }
  return lines;
}

int fl_source_same(const FlSource *f, const uint64_t *lines, int line, uint64_t digest) {
  int n = (int)f->n_lines;
  for (int away = 0; away < n + line; away++) {
    int up = line - away, down = line + away;
    if (up >= 1 && up <= n && lines[up - 1] == digest) return up;
    if (down >= 1 && down <= n && lines[down - 1] == digest) return down;
  }
  return 0;
}

/* What a program says about itself. */
static const char *about(FlCompilation *c, const FlBuildOptions *options) {
  char source[FL_SOURCE_DIGEST];
  fl_source_digest(c->sources, source);
  const char *cpu = options->cpu == FL_CPU_PORTABLE ? "x86-64-v2"
                    : options->cpu_name             ? options->cpu_name
                                                    : "native";
  return fl_arena_printf(c->arena, "%s program 1\nscript: %s\nflow: %s\nsource: %s\nprocessor: %s\n", "flow",
                         c->sema.module->name, FL_FLOW_VERSION, source, cpu);
}

/* Bytes of a script up to which what is proposed is tried; how many texts at most. */
enum { JUDGED_TEXT = 1 << 18, MOST_JUDGED = 2000 };

typedef FlVec(const FlDiag *) Errors;

/* The errors of a text that was tried. */
typedef struct Tried {
  FlDigest text;
  Errors errors;
} Tried;

typedef struct Judge {
  const Asked *a;
  const FlSemaOptions *sema;
  FlVec(Tried) tried;
} Judge;

/* What is asked of a message that goes with the memory that it was made in. */
static const FlDiag *kept(FlArena *arena, const FlDiag *d) {
  FlDiag *copy = FL_NEW(arena, FlDiag);
  copy->code = d->code;
  copy->span = d->span;
  copy->message = fl_arena_strndup(arena, d->message, strlen(d->message));
  copy->edit.span = d->edit.span;
  if (d->edit.text) copy->edit.text = fl_arena_strndup(arena, d->edit.text, strlen(d->edit.text));
  return copy;
}

/* The errors of a text: each is checked once. NULL: it is too long, or too many were. */
static const Errors *errors_of(Judge *j, const char *text) {
  FlCompilation *c = j->a->c;
  const size_t len = strlen(text);
  if (len > JUDGED_TEXT) return NULL;
  const FlDigest digest = fl_memo_digest(text, (int64_t)len);
  for (int i = 0; i < j->tried.n; i++)
    if (fl_memo_digest_same(j->tried.at[i].text, digest)) return &j->tried.at[i].errors;
  if (j->tried.n == MOST_JUDGED) return NULL;
  FlArena *arena = fl_arena_new();
  FlSources *sources = fl_sources_make(arena);
  if (c->library) sources->shared = c->library->sources;
  FlSink *sink = fl_sink_make(arena, sources);
  FlSource *script = fl_sources_add(sources, c->script->path, text, len);
  FlSemaOptions sema = *j->sema;
  sema.witness = NULL;
  FlAst *ast = fl_syntax_parse(arena, c->names, script, sink);
  if (ast->has_meaning) (void)fl_sema_module(arena, c->names, sources, sink, ast, &sema);
  Tried t = {.text = digest};
  for (int i = 0; i < sink->diags.n; i++) {
    const FlDiag *d = sink->diags.at[i];
    if (d->span.file != script->id || fl_diag_severity(d->code) != FL_ERROR) continue;
    fl_vec_push(c->arena, &t.errors, kept(c->arena, d));
  }
  fl_arena_free(arena);
  fl_vec_push(c->arena, &j->tried, t);
  c->n_tried = j->tried.n;
  return &j->tried.at[j->tried.n - 1].errors;
}

/* The first error of a text between two bytes (FlForeignJudge). */
static const FlDiag *first_error(void *of, const char *text, uint32_t from, uint32_t to) {
  Judge *j = of;
  const Errors *errors = errors_of(j, text);
  if (!errors) return j->a->c->sink->diags.at[0];
  const FlDiag *first = NULL;
  for (int i = 0; i < errors->n; i++) {
    const FlDiag *d = errors->at[i];
    bool within = d->span.start >= from && d->span.start <= to;
    if (within && (!first || d->span.start < first->span.start)) first = d;
  }
  return first;
}

static void check(void *arg) {
  const Asked *a = arg;
  FlCompilation *c = a->c;
  char stdlib[4096];
  bool found = fl_codegen_find("stdlib/linear.flow", stdlib, sizeof stdlib);
  if (found) *strrchr(stdlib, '/') = '\0';
  const char *names[FL_N_OPTIONS + 1];
  for (int i = 0; i < FL_N_OPTIONS; i++) names[i] = fl_option_info[i].name;
  names[FL_N_OPTIONS] = "interp"; /* of flowc run, behind the script too */
  FlSemaOptions sema = {.world = a->world,
                        .witness = a->witness,
                        .stdlib_dir = found ? stdlib : "stdlib",
                        .test = a->test,
                        .library = c->library,
                        .option_names = names,
                        .n_option_names = FL_N_OPTIONS + 1};
  const FlWorld *world = a->world ? a->world : &fl_world_here;
  if (c->library) c->ast = fl_parsed_library_script(c->library, world, sema.stdlib_dir, c->script, c->sink);
  if (c->ast) c->script = c->ast->source;
  else c->ast = fl_syntax_parse(c->arena, c->names, c->script, c->sink);
  if (c->ast->has_meaning) c->sema = fl_sema_module(c->arena, c->names, c->sources, c->sink, c->ast, &sema);
  Judge judge = {.a = a, .sema = &sema};
  if (c->sink->n_errors) fl_foreign_suggest(c->arena, c->sink, c->script, first_error, &judge);
}

void fl_front_check(FlCompilation *c, const FlWorld *world, const FlWitness *witness, int test) {
  (void)guarded(check, &(Asked){.c = c, .world = world, .witness = witness, .test = test});
}

static void compile_ir(void *arg) {
  Asked *a = arg;
  FlCompilation *c = a->c;
  const FlBuildOptions *options = a->options;
  check(a);
  fl_compilation_say(c);
  if (c->sink->n_errors || !c->sema.module) {
    a->status = 3;
    return;
  }
  c->sema.module->about = about(c, options);

  FlText1 why = {0};
  int status = 0;
  FlOptOptions opt = {.level = options->level};
  if (!fl_ir_verify(c->sema.module, &why)) status = internal("the IR of the script", why.s ? why.s : "");
  else if (!fl_opt_run(c->sema.module, &opt, &why)) status = internal("a pass", why.s ? why.s : "");
  fl_text_reset(&why);
  a->status = status;
}

int fl_compile_ir(FlCompilation *c, const FlBuildOptions *options) {
  Asked a = {.c = c, .options = options, .world = options->world, .test = options->test};
  return guarded(compile_ir, &a) ? a.status : fl_compilation_lacks(c);
}

static void make_plan(void *arg) {
  const Asked *a = arg;
  a->c->plan = fl_plan_make(a->c->arena, a->c->sema.module, a->options->level);
}

const FlPlan *fl_compile_plan(FlCompilation *c, const FlBuildOptions *options) {
  if (!c->plan || c->plan->level != options->level)
    (void)guarded(make_plan, &(Asked){.c = c, .options = options});
  return c->lacks ? NULL : c->plan;
}

static int make_object(FlCompilation *c, const FlBuildOptions *options, FlEmit emit, const FlCodeStore *store,
                       FlObject *out) {
  char *why = NULL;
  FlCodegenFn *generate = fl_codegen_open(&why);
  if (!generate) {
    /* As the loader says it where memory ends, or address space (ulimit -v). */
    bool memory = why && (strstr(why, "failed to map segment") || strstr(why, "annot allocate memory"));
    if (memory)
      fprintf(stderr,
              "error[E0712]: out of memory: there is no room to load the code generator: %s\n"
              "  help: a limit of the system (ulimit -v) is reached; flowc needs 400 MB of address space to "
              "compile\n",
              why);
    else
      fprintf(stderr,
              "error: the code generator cannot be loaded: %s\n"
              "  help: install flow as a whole (`./build.sh install`) and any library that is named here; "
              "`flowc run --interp` needs neither\n",
              why ? why : "");
    free(why);
    return 4;
  }
  FlCodegenOptions codegen = {.cpu = options->cpu,
                              .cpu_name = options->cpu_name,
                              .level = options->level ? 2 : 0,
                              .late = options->late && options->level,
                              .linked_externs = options->linked_externs,
                              .binary = options->binary,
                              .emit = emit};
  const FlPlan *plan = fl_compile_plan(c, options);
  if (!plan) return fl_compilation_lacks(c);
  *out = store ? fl_code_of_units(generate, plan, c->sources, &codegen, store)
               : generate(plan, c->sources, &codegen);
  if (out->bytes) return 0;
  if (out->memory) return fl_compilation_lacks(c);
  int status = internal("code generation", out->why ? out->why : "");
  free(out->why);
  return status;
}

int fl_compile_object(FlCompilation *c, const FlBuildOptions *options, FlEmit emit, FlObject *out) {
  return make_object(c, options, emit, NULL, out);
}

int fl_compile_object_with(FlCompilation *c, const FlBuildOptions *options, const FlCodeStore *store,
                           FlObject *out) {
  return make_object(c, options, FL_EMIT_OBJECT, store, out);
}
