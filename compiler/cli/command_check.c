/* command_check.c: flowc check: everything that can be said about scripts without running them. */
#include "cli/commands.h"
#include "driver.h"

#include "cli/scripts.h"
#include "cli/verdicts.h"

#include <time.h>

/* `own`: what is needed while the script is checked. The next one takes its memory: getting cleared pages takes as long as
 * checking. */
static FlVerdict check(FlArena *arena, FlArena *own, const char *path, bool silent) {
  FlVerdict v = {.file = path, .said = ""};
  clock_t start = clock();
  FlText1 text = {0}, said = {0};
  v.status = fl_script_read(path, &text, &said);
  if (v.status) {
    if (!silent) fprintf(stderr, "error: %s\n", said.s);
  } else {
    FlCompilation c;
    fl_compilation_init_in(&c, own, path, &text);
    c.silent = silent;
    v.status = fl_compile_ir(&c, &(FlBuildOptions){.level = 0, .cpu = FL_CPU_HOST, .test = -1});
    if (!c.lacks) fl_sink_print(c.sink, &said, false);
    if (!c.lacks) v.messages = fl_verdict_messages(arena, c.sink);
    fl_arena_clear(own);
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
  FlArena *own = fl_arena_new();
  for (int i = 0; i < files.n; i++) {
    FlVerdict one = check(v.arena, own, files.at[i], w.flags[FL_FLAG_JSON] != NULL);
    if (one.status > worst) worst = one.status;
    fl_vec_push(v.arena, &v.at, one);
  }
  status = fl_verdicts_write(&v, &w);
  fl_arena_free(own);
  fl_arena_free(v.arena);
  return status ? status : worst;
}
