/* codegen_kit.h: what the tests of compiled code share: a module, interpreted and compiled in every way, must
 * print the same bytes and fail with the same message. */
#ifndef FL_CODEGEN_KIT_H
#define FL_CODEGEN_KIT_H

#include "codegen/codegen.h"
#include "exec/exec.h"
#include "interp/interp.h"

#include <stdlib.h>

static int passed, failed;

static inline void kit_collect(void *arg, const char *bytes, int64_t len) {
  fl_text_add(arg, bytes, (size_t)len);
}

/* Output, then the message of the error if there is one. */
static inline void kit_run_in(FlSched *pool, const FlProgram *program, int workers, FlText1 *out) {
  FlRunOptions options = {
      .workers = workers, .pool = pool, .quiet = true, .out = kit_collect, .out_arg = out};
  FlRun *r = fl_run_new(program, &options);
  FlSlot none[1] = {0};
  fl_text_addc(out, '\n');
  if (program->main(fl_run_ctx(r), none, none) != 0)
    fl_text_addf(out, "error: %s\n", fl_ctx_message(fl_run_ctx(r)));
  fl_run_free(r);
}

static inline void kit_run(const FlProgram *program, int workers, FlText1 *out) {
  kit_run_in(NULL, program, workers, out);
}

static const struct {
  const char *name;
  FlCodegenOptions options;
} kit_ways[] = {{"quick", {.level = 0}},
                {"optimised", {.level = 2}},
                {"portable", {.level = 2, .cpu = FL_CPU_PORTABLE}},
                {"v2", {.level = 2, .cpu_name = "x86-64-v2"}}};

/* `want`: what the interpreter must print, or NULL. FLOW_TEST_SHOW_IR in the environment shows what differs.
 */
static inline void kit_check(FlCodegenFn *codegen, FlArena *arena, FlModule *m, const FlSources *sources,
                             const char *name, const char *want) {
  FlText1 why = {0}, meant = {0}, ir = {0};
  if (!fl_ir_verify(m, &why)) {
    printf("%s: the program is wrong: %s\n", name, why.s);
    failed++;
    return;
  }
  fl_ir_print(&ir, m);
  kit_run(fl_interp_program(fl_interp_make(arena, fl_plan_make(arena, m, 0), sources), NULL), 1, &meant);
  if (getenv("FLOW_TEST_SHOW")) printf("%s:%s", name, meant.s);
  if (want && strcmp(want, meant.s + 1) != 0) {
    failed++;
    printf("%s, interpreted:\n--- wanted\n%s--- got\n%s", name, want, meant.s + 1);
  }
  for (size_t k = 0; k < sizeof kit_ways / sizeof *kit_ways; k++) {
    char *text = NULL;
    const FlPlan *plan = fl_plan_make(arena, m, kit_ways[k].options.level);
    FlObject object = codegen(plan, sources, &kit_ways[k].options);
    FlLoaded *loaded = object.bytes ? fl_load_object(object.bytes, object.size, &text) : NULL;
    if (!loaded) {
      printf("%s, %s: %s\n", name, kit_ways[k].name, object.bytes ? text : object.why);
      failed++;
    }
    for (int workers = 1; loaded && workers <= 4; workers += 3) {
      FlText1 got = {0};
      kit_run(fl_loaded_program(loaded), workers, &got);
      if (strcmp(meant.s, got.s) == 0) {
        passed++;
      } else {
        failed++;
        printf("%s, %s, %d workers:\n--- interpreted%s--- compiled%s", name, kit_ways[k].name, workers,
               meant.s, got.s);
        if (getenv("FLOW_TEST_SHOW_IR")) printf("--- program\n%s\n", ir.s);
      }
      fl_text_reset(&got);
    }
    fl_loaded_free(loaded);
    free(object.bytes);
    free(object.why);
    free(text);
  }
  fl_text_reset(&meant);
  fl_text_reset(&ir);
  fl_text_reset(&why);
}

/* The code generator, or exit: nothing else can be tested. */
static inline FlCodegenFn *kit_codegen(void) {
  char *why = NULL;
  FlCodegenFn *codegen = fl_codegen_open(&why);
  if (codegen) return codegen;
  printf("%s\n0 passed, 1 failed\n", why);
  exit(1);
}

#endif
