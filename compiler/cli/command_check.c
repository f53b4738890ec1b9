/* command_check.c: flowc check: everything that can be said about scripts without running them. */
#include "cli/commands.h"
#include "driver.h"

#include "cli/scripts.h"
#include "cli/verdicts.h"

#include <time.h>

/* What scripts that are checked one after another share. */
typedef struct Shared {
  FlArena *own; /* what is needed while one is checked. The next one takes its memory: getting cleared pages
                   takes as long as checking */
  FlArena *kept;
  FlParsedLibrary *library; /* in `kept` */
} Shared;

static void make_library(void *arg) {
  Shared *x = arg;
  x->library = fl_parsed_library_make(x->kept);
}

/* Without memory each script parses what it imports. */
static void open_library(Shared *x) {
  fl_arena_clear(x->kept);
  x->library = NULL;
  (void)fl_guard(make_library, x);
}

static FlVerdict check(FlArena *arena, Shared *shared, const char *path, bool silent) {
  FlVerdict v = {.file = path, .said = ""};
  clock_t start = clock();
  FlText1 text = {0}, said = {0};
  v.status = fl_script_read(path, &text, &said);
  if (v.status) {
    if (!silent) fprintf(stderr, "error: %s\n", said.s);
  } else {
    FlCompilation c;
    fl_compilation_init_in(&c, shared->own, shared->library, path, &text);
    c.silent = silent;
    v.status = fl_compile_ir(&c, &(FlBuildOptions){.level = 0, .cpu = FL_CPU_HOST, .test = -1});
    if (!c.lacks) fl_sink_print(c.sink, &said, false);
    if (!c.lacks) v.messages = fl_verdict_messages(c.sink);
    if (c.lacks) open_library(shared); /* it may have been left in the middle */
    fl_arena_clear(shared->own);
  }
  if (said.len) v.said = fl_arena_strndup(arena, said.s, said.len);
  v.seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  fl_text_reset(&text);
  fl_text_reset(&said);
  return v;
}

int fl_command_check(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_CHECK, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  FlVerdicts v = {.arena = fl_arena_new(), .command = FL_COMMAND_CHECK};
  FlScriptList files = {0};
  int worst = fl_scripts_find(v.arena, "check", w.n_operands, w.operands, &files);
  Shared shared = {.own = fl_arena_new(), .kept = fl_arena_new()};
  if (files.n > 1) open_library(&shared);
  for (int i = 0; i < files.n; i++) {
    FlVerdict one = check(v.arena, &shared, files.at[i], w.flags[FL_FLAG_JSON] != NULL);
    if (one.status > worst) worst = one.status;
    fl_vec_push(v.arena, &v.at, one);
  }
  status = fl_verdicts_write(&v, &w);
  fl_arena_free(shared.kept);
  fl_arena_free(shared.own);
  fl_arena_free(v.arena);
  return status ? status : worst;
}
