/* program.c: a script that is run in this process, compiled or interpreted. */
#include "cli/program.h"
#include "cli/explain_plan.h"
#include "cli/scripts.h"

#include "code_cache.h"
#include "late_code.h"

#include "exec/exec.h"
#include "interp/interp.h"
#include "process/process.h"

#include <stdlib.h>

/* Work that may find no memory (fl_guard). */
typedef struct Interpreted {
  FlCompilation *c;
  const FlPlan *plan;
  const FlProgram *program;
} Interpreted;

static void make_interpreted(void *arg) {
  Interpreted *w = arg;
  w->program = fl_interp_program(fl_interp_make(w->c->arena, w->plan, w->c->sources), NULL);
}

/* NULL: no memory. */
static const FlProgram *interpreted(FlCompilation *c, const FlPlan *plan) {
  Interpreted w = {.c = c, .plan = plan};
  c->lacks = c->lacks || !fl_guard(make_interpreted, &w);
  return c->lacks ? NULL : w.program;
}

int fl_program_interpret(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv,
                         const FlRunTaker *taker) {
  FlBuildOptions build = *options;
  build.level = 0;
  int status = fl_compile_ir(c, &build);
  if (status) return status;
  const FlPlan *plan = fl_compile_plan(c, &build);
  if (!plan) return fl_compilation_lacks(c);
  const FlProgram *program = interpreted(c, plan);
  if (!program) return fl_compilation_lacks(c);
  return fl_main_for(program, fl_script_path(c->script->path), argc, argv, &(FlMade){.taker = taker});
}

/* ---- the plan, for the page of a run ---- */

/* Of a compilation of its own: that of the run may have found its code remembered, and made no plan. */
static void put_plan(void *script, FILE *to) {
  FlCompilation c = {0};
  FlText1 text = {0};
  FlBuildOptions build = {.level = 1, .cpu = FL_CPU_HOST, .test = -1};
  bool there = fl_compilation_init(&c, script) == 0;
  c.silent = true;
  const FlPlan *plan = there && fl_compile_ir(&c, &build) == 0 ? fl_compile_plan(&c, &build) : NULL;
  if (plan) fl_explain_print(&text, c.arena, plan, c.sources, NULL, 1);
  if (text.len) fwrite(text.s, 1, text.len, to);
  fl_text_reset(&text);
  fl_compilation_reset(&c);
}

int fl_program_look(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv, int64_t ns) {
  const FlPlan *plan = fl_compile_plan(c, options);
  const FlProgram *program = plan ? interpreted(c, plan) : NULL;
  FlMade made = {.tries = ns, .looks = true};
  return program ? fl_main_for(program, fl_script_path(c->script->path), argc, argv, &made) : 4;
}

/* ---- a new text is tried before its code is made ------------------------------------------------------ */

/* Nanoseconds that making the code of a program takes at least, and of an operation: about half of what was
 * measured. */
enum { CODE = 4000000, CODE_EACH = 15000 };

/* Does it call itself? state: 1 while it is looked at, 2: it does not. */
static bool recurs(FlMap *state, const FlFunc *func);
static bool calls_back(FlMap *state, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->attrs.func && recurs(state, op->attrs.func)) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (calls_back(state, op->regions[i])) return true;
  }
  return false;
}
static bool recurs(FlMap *state, const FlFunc *func) {
  intptr_t known = (intptr_t)fl_map_get(state, func);
  if (known) return known == 1;
  fl_map_set(state, func, (void *)1);
  if (calls_back(state, func->body)) return true;
  fl_map_set(state, func, (void *)2);
  return false;
}

bool fl_program_acts(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    bool prints = op->code == FL_OP_PRINT || op->code == FL_OP_SHOW || op->code == FL_OP_SHOW_PLOT;
    if ((fl_op_info[op->code].flags & FL_OPF_EFFECT && !prints) || op->code == FL_OP_EXTERN) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (fl_program_acts(op->regions[i])) return true;
  }
  return false;
}

typedef struct Trial {
  FlCompilation *c;
  int64_t ns; /* how long it may be tried; 0: not at all */
} Trial;

/* A deep recursion needs more stack here than its code does. */
static void time_to_try(void *arg) {
  Trial *w = arg;
  FlMap *state = fl_map_make(w->c->arena);
  int64_t ns = CODE;
  for (const FlFunc *f = w->c->sema.module->first; f; f = f->next) {
    if (fl_program_acts(f->body) || recurs(state, f)) return;
    ns += (int64_t)fl_ir_n_ops(f->body) * CODE_EACH;
  }
  w->ns = ns;
}

/* Interprets it, which begins at once. FL_RUN_AGAIN: nothing was seen of that, and its code is to be made. */
static int try(FlCodeCache *cache, FlCompilation *c, const FlBuildOptions *build, int argc, char **argv,
               const FlRunTaker *taker) {
  Trial t = {.c = c};
  c->lacks = !fl_guard(time_to_try, &t);
  if (!c->lacks && (!t.ns || !fl_code_cache_tries(cache, c, build))) return FL_RUN_AGAIN;
  const FlPlan *plan = fl_compile_plan(c, build);
  const FlProgram *program = plan ? interpreted(c, plan) : NULL;
  if (!program) return fl_compilation_lacks(c);
  int status = fl_main_for(program, fl_script_path(c->script->path), argc, argv,
                           &(FlMade){.tries = t.ns, .taker = taker});
  fl_code_cache_tried(cache, c, build, status != FL_RUN_AGAIN);
  return status;
}

/* ---- code -----------------------------------------------------------------------------------------------
 */

/* Of a module; NULL with *status where there is none. */
static FlLoaded *compiled(FlCodeCache *cache, FlCompilation *c, const FlBuildOptions *build, int *status) {
  FlLoaded *loaded = NULL;
  FlObject object = {0};
  *status = fl_compile_object_with(c, build, fl_code_cache_units(cache, build), &object);
  char *why = NULL;
  if (!*status && !(loaded = fl_load_object(object.bytes, object.size, &why))) {
    fprintf(stderr, "error: flow itself failed: loading the compiled script: %s\n", why ? why : "");
    *status = 70;
  }
  if (!*status) fl_code_cache_put(cache, c, build, &object);
  free(why);
  free(object.bytes);
  return loaded;
}

static int run_code(FlCodeCache *cache, FlLoaded *loaded, const FlCompilation *c, const FlBuildOptions *build,
                    int argc, char **argv, const FlRunTaker *taker) {
  const char *kernels = getenv("FLOW_KERNELS");
  FlLateCode *late = build->late ? fl_late_code_new(fl_code_cache_units(cache, build), build) : NULL;
  FlKernelMaker maker = {fl_late_code_make, late, kernels && strcmp(kernels, "once") == 0};
  const char *script = fl_script_path(c->script->path);
  FlMade made = {.maker = late ? &maker : NULL,
                 .taker = taker,
                 .plan = strcmp(script, "-") == 0 ? NULL : put_plan,
                 .plan_arg = (void *)(uintptr_t)script};
  int status = fl_main_for(fl_loaded_program(loaded), script, argc, argv, &made);
  fl_loaded_free(loaded);
  fl_late_code_free(late);
  return status;
}

int fl_program_run(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv,
                   const FlRunTaker *taker) {
  FlBuildOptions build = *options;
  const char *kernels = getenv("FLOW_KERNELS");
  build.late = build.level > 0 && !(kernels && strcmp(kernels, "first") == 0);
  FlCodeCache *cache = fl_code_cache_open();
  FlLoaded *loaded = fl_code_cache_get(cache, c, &build);
  int status = loaded ? 0 : FL_RUN_AGAIN;
  if (!loaded) {
    fl_process_room();
    int lacks = fl_compile_ir(c, &build);
    if (!lacks && build.level > 0 && !kernels) status = try(cache, c, &build, argc, argv, taker);
    if (lacks) status = lacks;
    else if (status == FL_RUN_AGAIN) loaded = compiled(cache, c, &build, &status);
  }
  if (loaded) status = run_code(cache, loaded, c, &build, argc, argv, taker);
  fl_code_cache_close(cache);
  return status;
}
