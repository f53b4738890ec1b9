/* command_build.c: flowc build: a binary, or what one step of the compiler gives. Without a script:
 * model.flow of this folder, or the only script there is; without an output: a file here, named as the
 * script. */
#include "cli/commands.h"
#include "cli/run_hosts.h"
#include "driver.h"

#include "base/whole_file.h"
#include "cli/words.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef enum Step {
  STEP_BINARY,
  STEP_TOKENS,
  STEP_AST,
  STEP_IR,
  STEP_PLAN,
  STEP_LLVM,
  STEP_ASM,
  STEP_OBJ,
  N_STEPS
} Step;
static const char *const step_names[N_STEPS] = {"", "tokens", "ast", "ir", "plan", "llvm", "asm", "obj"};

typedef struct BuildWords {
  const char *file, *out;
  Step step;
  bool ranks;
  FlBuildOptions build;
  char script[NAME_MAX + 1], binary[NAME_MAX + 1]; /* what `file` and `out` are when nobody names them */
} BuildWords;

/* Whether code can be made for a processor of this name; a message when not. */
static bool known_processor(const char *name) {
  int n;
  const char *const *names = fl_codegen_processors(&n);
  for (int i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0) return true;
  const char *near = fl_closest(name, names, n);
  fprintf(stderr, "flowc build: there is no processor `%s`%s%s%s\n", name, near ? "; did you mean `" : "",
          near ? near : "", near ? "`?" : "; for example native, x86-64-v3, skylake, znver4");
  return false;
}

static int read_step(const char *name, Step *out) {
  for (Step s = STEP_TOKENS; s < N_STEPS; s++)
    if (strcmp(name, step_names[s]) == 0) return *out = s, 0;
  const char *near = fl_closest(name, step_names + 1, N_STEPS - 1);
  fprintf(stderr, "flowc build: nothing called `%s` can be emitted%s%s%s\n", name,
          near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  return 2;
}

/* FL_WORDS_READ, or the exit status. */
static int read_words(int n_words, char **words, BuildWords *w) {
  *w = (BuildWords){.build = {.level = 1, .cpu = FL_CPU_PORTABLE, .binary = true, .test = -1}};
  FlWords found;
  int status = fl_words_read(FL_COMMAND_BUILD, n_words, words, &found);
  if (status != FL_WORDS_READ) return status;
  if (found.flags[FL_FLAG_QUICK]) w->build.level = 0;
  w->ranks = found.flags[FL_FLAG_RANKS] != NULL;
  w->out = found.flags[FL_FLAG_OUTPUT];
  w->file = found.n_operands ? found.operands[0] : NULL;
  const char *step = found.flags[FL_FLAG_EMIT], *cpu = found.flags[FL_FLAG_MCPU];
  if (step && read_step(step, &w->step)) return 2;
  if (cpu && strcmp(cpu, "native") != 0 && !known_processor(cpu)) return 2;
  if (cpu) {
    w->build.cpu = FL_CPU_HOST;
    w->build.cpu_name = strcmp(cpu, "native") == 0 ? NULL : cpu;
  }
  return status;
}

static bool is_script(const char *name) {
  const char *dot = strrchr(name, '.');
  struct stat s;
  return dot && dot > name && strcmp(dot, ".flow") == 0 && stat(name, &s) == 0 && S_ISREG(s.st_mode);
}

/* The script that is meant when none is named. */
static int find_script(BuildWords *w) {
  int n = 0;
  DIR *here = opendir(".");
  for (struct dirent *e; here && (e = readdir(here));) {
    if (!is_script(e->d_name)) continue;
    bool model = strcmp(e->d_name, "model.flow") == 0;
    snprintf(w->script, sizeof w->script, "%s", e->d_name);
    n = model ? 1 : n + 1;
    if (model) break;
  }
  if (here) closedir(here);
  w->file = w->script;
  if (n == 1) return 0;
  fprintf(stderr, "flowc build: %s in this folder; name the one to build: flowc build FILE.flow\n",
          n ? "there are several scripts, and none is model.flow," : "there is no script (FILE.flow)");
  return 2;
}

/* The binary stands here and is called as the script, without its ending. */
static int name_binary(BuildWords *w) {
  const char *slash = strrchr(w->file, '/'), *name = slash ? slash + 1 : w->file;
  size_t length = strlen(name);
  struct stat s;
  if (length <= 5 || length - 5 >= sizeof w->binary || strcmp(name + length - 5, ".flow") != 0) {
    fprintf(stderr, "flowc build: `%s` does not end in .flow; say where the binary goes to: -o OUT\n",
            w->file);
    return 2;
  }
  snprintf(w->binary, sizeof w->binary, "%.*s", (int)(length - 5), name);
  if (stat(w->binary, &s) == 0 && S_ISDIR(s.st_mode)) {
    fprintf(stderr, "flowc build: `%s` is a folder; say where the binary goes to: -o OUT\n", w->binary);
    return 2;
  }
  w->out = w->binary;
  return 0;
}

/* What is not said on the command line. */
static int complete(BuildWords *w) {
  if (w->out && strcmp(w->out, "-") == 0) { /* as files are named everywhere: standard output */
    if (w->step == STEP_BINARY)
      return fprintf(stderr, "flowc build: a binary needs a file: -o OUT, not `-`\n"), 2;
    w->out = NULL;
  }
  if (!w->file && find_script(w)) return 2;
  if (!w->out && w->step == STEP_BINARY && name_binary(w)) return 2;
  struct stat from, to;
  if (w->out && stat(w->file, &from) == 0 && stat(w->out, &to) == 0 && from.st_dev == to.st_dev &&
      from.st_ino == to.st_ino) {
    fprintf(stderr, "flowc build: `%s` is the script itself; say where the output goes to: -o OUT\n", w->out);
    return 2;
  }
  return 0;
}

/* To the file of -o, else to standard output. */
static int write_bytes(const BuildWords *w, const char *bytes, size_t size) {
  bool ok = w->out ? fl_whole_put(w->out, bytes, size)
                   : fwrite(bytes, 1, size, stdout) == size && fflush(stdout) == 0;
  if (ok) return 0;
  fprintf(stderr, "error: cannot write %s: %s\n", w->out ? w->out : "to standard output", strerror(errno));
  return errno == ENOSPC ? 4 : 1;
}

static int emit_text(FlCompilation *c, const BuildWords *w) {
  FlText1 text = {0};
  int status = 0;
  if (w->step == STEP_IR || w->step == STEP_PLAN) {
    status = fl_compile_ir(c, &w->build);
    if (!status && w->step == STEP_IR) fl_ir_print(&text, c->sema.module);
    const FlPlan *plan = !status && w->step == STEP_PLAN ? fl_compile_plan(c, &w->build) : NULL;
    if (plan) fl_plan_print(&text, plan);
    else if (c->lacks && !status) status = fl_compilation_lacks(c);
  } else {
    if (w->step == STEP_TOKENS) fl_syntax_print_tokens(&text, c->script, c->sink);
    else fl_syntax_print_ast(&text, fl_syntax_parse(c->arena, c->names, c->script, c->sink));
    fl_compilation_say(c);
    status = c->sink->n_errors ? 3 : 0;
  }
  if (!status) status = write_bytes(w, text.s ? text.s : "", text.len);
  fl_text_reset(&text);
  return status;
}

/* An object, or its text, to the file of -o. */
static int emit_step(FlCompilation *c, const BuildWords *w) {
  FlObject object = {0};
  FlEmit emit = w->step == STEP_LLVM ? FL_EMIT_LLVM : w->step == STEP_ASM ? FL_EMIT_ASM : FL_EMIT_OBJECT;
  int status = fl_compile_ir(c, &w->build);
  if (!status) status = fl_compile_object(c, &w->build, emit, &object);
  if (!status) status = write_bytes(w, object.bytes, object.size);
  free(object.bytes);
  return status;
}

static int link_once(FlCompilation *c, const BuildWords *w, const FlLinkOptions *link, char **why) {
  FlObject object = {0};
  FlLinker *linker = fl_linker_start(c->sema.module, link);
  int status = fl_compile_object(c, &w->build, FL_EMIT_OBJECT, &object);
  if (!status && !fl_link(&object, w->out, link, linker, why)) status = 1;
  fl_linker_free(linker);
  free(object.bytes);
  return status;
}

/* C functions are linked in where all their libraries have archives that will do; else the program opens the
 * libraries when it starts. */
static int emit_binary(FlCompilation *c, BuildWords *w) {
  int status = fl_compile_ir(c, &w->build);
  if (status) return status;
  FlLinkOptions link;
  char *why = NULL;
  w->build.linked_externs = fl_link_externs(c->arena, c->sema.module, &link);
  if (w->ranks) {
    w->build.linked_externs = false;
    link = (FlLinkOptions){.dynamic = true};
  }
  status = link_once(c, w, &link, &why);
  if (status == 1 && w->build.linked_externs && link.n_libraries > 0) {
    free(why);
    why = NULL;
    w->build.linked_externs = false;
    status = link_once(c, w, &(FlLinkOptions){.dynamic = true}, &why);
  }
  if (status == 1) fprintf(stderr, "error: cannot link %s: %s\n", w->out, why ? why : "");
  free(why);
  return status;
}

static int emit_code(FlCompilation *c, BuildWords *w) {
  return w->step == STEP_BINARY ? emit_binary(c, w) : emit_step(c, w);
}

int fl_build_for_ranks(FlCompilation *c, const FlBuildOptions *options, const char *out) {
  BuildWords w = {.out = out, .ranks = true, .build = *options};
  w.build.binary = true;
  return emit_binary(c, &w);
}

int fl_command_build(int n_words, char **words) {
  BuildWords w;
  FlCompilation c = {0};
  int status = read_words(n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  status = complete(&w);
  if (!status) status = fl_compilation_init(&c, w.file);
  if (!status) {
    bool text = w.step > STEP_BINARY && w.step < STEP_LLVM;
    status = text ? emit_text(&c, &w) : emit_code(&c, &w);
  }
  fl_compilation_reset(&c);
  return status;
}
