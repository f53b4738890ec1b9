/* program.c: a script that is run in this process, compiled or interpreted. */
#include "cli/program.h"
#include "cli/scripts.h"

#include "code_cache.h"
#include "late_code.h"

#include "exec/exec.h"
#include "interp/interp.h"
#include "process/process.h"

#include <stdlib.h>

int fl_program_interpret(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv) {
  FlBuildOptions build = *options;
  build.level = 0;
  int status = fl_compile_ir(c, &build);
  if (status) return status;
  const FlPlan *plan = fl_compile_plan(c, &build);
  if (!plan) return fl_compilation_lacks(c);
  FlInterp *in = fl_interp_make(c->arena, plan, c->sources);
  return fl_main_for(fl_interp_program(in, NULL), fl_script_path(c->script->path), argc, argv, NULL);
}

/* The program, remembered or made; NULL with *status where there is none. */
static FlLoaded *compiled(FlCodeCache *cache, FlCompilation *c, const FlBuildOptions *build, int *status) {
  FlLoaded *loaded = fl_code_cache_get(cache, c, build);
  if (loaded) return loaded;
  FlObject object = {0};
  fl_process_room();
  *status = fl_compile_ir(c, build);
  if (!*status) *status = fl_compile_object_with(c, build, fl_code_cache_units(cache, build), &object);
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

int fl_program_run(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv) {
  FlBuildOptions build = *options;
  const char *kernels = getenv("FLOW_KERNELS");
  build.late = build.level > 0 && !(kernels && strcmp(kernels, "first") == 0);
  int status = 0;
  FlCodeCache *cache = fl_code_cache_open();
  FlLoaded *loaded = compiled(cache, c, &build, &status);
  FlLateCode *late = build.late ? fl_late_code_new(fl_code_cache_units(cache, &build), &build) : NULL;
  FlKernelMaker maker = {fl_late_code_make, late, kernels && strcmp(kernels, "once") == 0};
  if (!status)
    status = fl_main_for(fl_loaded_program(loaded), fl_script_path(c->script->path), argc, argv, late ? &maker : NULL);
  if (loaded) fl_loaded_free(loaded);
  fl_late_code_free(late);
  fl_code_cache_close(cache);
  return status;
}
