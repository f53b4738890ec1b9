/* driver.c: the pipeline on one screen: text, tree, IR, passes, object.
 *
 * What always holds: a phase runs only when the one before found no errors; every message has a place; a
 * failure of a later phase is a bug of flow and says so. */
#include "driver.h"

#include "exec/command_line.h"
#include "opt/opt.h"
#include "syntax/ast.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGEST_SCRIPT = 64 << 20 };

int fl_compilation_init(FlCompilation *c, const char *path) {
  *c = (FlCompilation){.arena = fl_arena_new()};
  c->names = fl_interner_make(c->arena);
  c->sources = fl_sources_make(c->arena);
  c->sink = fl_sink_make(c->arena, c->sources);
  FlText1 text = {0};
  int status = 0;
  if (!fl_read_file(path, LARGEST_SCRIPT, &text)) {
    fprintf(stderr, "error: cannot read %s: %s\n", path, strerror(errno));
    status = 2;
  } else if (text.len > LARGEST_SCRIPT) {
    fprintf(stderr, "error: %s is larger than 64 MB: is it a script?\n", path);
    status = 2;
  } else {
    c->script = fl_sources_add(c->sources, path, text.s, text.len);
  }
  fl_text_reset(&text);
  return status;
}

void fl_compilation_reset(FlCompilation *c) {
  if (c->arena) fl_arena_free(c->arena);
  *c = (FlCompilation){0};
}

void fl_compilation_say(FlCompilation *c) {
  FlText1 out = {0};
  fl_sink_print(c->sink, &out, isatty(STDERR_FILENO) && !getenv("NO_COLOR"));
  if (out.len) fwrite(out.s, 1, out.len, stderr);
  fl_text_reset(&out);
}

/* A message about a bug of flow; 70. */
static int internal(const char *what, const char *why) {
  fprintf(stderr, "error: flow itself failed: %s: %s\n  help: please report this with the script\n", what,
          why);
  return 70;
}

int fl_compile_ir(FlCompilation *c, const FlBuildOptions *options) {
  char stdlib[4096];
  bool found = fl_codegen_find("stdlib/linear.flow", stdlib, sizeof stdlib);
  if (found) *strrchr(stdlib, '/') = '\0';
  const char *names[FL_N_OPTIONS];
  for (int i = 0; i < FL_N_OPTIONS; i++) names[i] = fl_option_info[i].name;
  FlSemaOptions sema = {.stdlib_dir = found ? stdlib : "stdlib",
                        .test = options->test,
                        .option_names = names,
                        .n_option_names = FL_N_OPTIONS};

  c->ast = fl_syntax_parse(c->arena, c->names, c->script, c->sink);
  if (!c->sink->n_errors) c->sema = fl_sema_module(c->arena, c->names, c->sources, c->sink, c->ast, &sema);
  fl_compilation_say(c);
  if (c->sink->n_errors || !c->sema.module) return 3;

  FlText1 why = {0};
  int status = 0;
  FlOptOptions opt = {.level = options->level};
  if (!fl_ir_verify(c->sema.module, &why)) status = internal("the IR of the script", why.s ? why.s : "");
  else if (!fl_opt_run(c->sema.module, &opt, &why)) status = internal("a pass", why.s ? why.s : "");
  fl_text_reset(&why);
  return status;
}

int fl_compile_object(FlCompilation *c, const FlBuildOptions *options, FlEmit emit, FlObject *out) {
  char *why = NULL;
  FlCodegenFn *generate = fl_codegen_open(&why);
  if (!generate) {
    int status = internal("loading the code generator", why ? why : "");
    free(why);
    return status;
  }
  FlCodegenOptions codegen = {.cpu = options->cpu,
                              .cpu_name = options->cpu_name,
                              .level = options->level ? 2 : 0,
                              .linked_externs = options->linked_externs,
                              .emit = emit};
  *out = generate(c->sema.module, c->sources, &codegen);
  if (out->bytes) return 0;
  int status = internal("code generation", out->why ? out->why : "");
  free(out->why);
  return status;
}
