/* main.c: flowc: its commands, its options, its exit statuses (README). The only place that knows all
 * commands. */
#include "cli/commands.h"
#include "driver.h"

#include "base/features.h"
#include "base/stack.h"
#include "process/crash.h"
#include "process/printed.h"
#include "cli/front_tools.h"
#include "cli/shells.h"
#include "cli/store_tools.h"
#include "cli/words.h"

#include <errno.h>
#include <signal.h>

static int help(int n_words, char **words);

/* The functions of the commands (cli/commands.def). */
static int (*const run_command[FL_N_COMMANDS])(int n_words, char **words) = {
    [FL_COMMAND_RUN] = fl_command_run,
    [FL_COMMAND_BUILD] = fl_command_build,
    [FL_COMMAND_CHECK] = fl_command_check,
    [FL_COMMAND_TEST] = fl_command_test,
    [FL_COMMAND_NEW] = fl_command_new,
    [FL_COMMAND_FMT] = fl_tool_fmt,
    [FL_COMMAND_SCHEMA] = fl_command_schema,
    [FL_COMMAND_EXPLAIN] = fl_command_explain,
    [FL_COMMAND_DOC] = fl_command_doc,
    [FL_COMMAND_GRAPH] = fl_command_graph,
    [FL_COMMAND_DIFF] = fl_command_diff,
    [FL_COMMAND_BENCH] = fl_command_bench,
    [FL_COMMAND_WHY] = fl_tool_why,
    [FL_COMMAND_CACHE] = fl_tool_cache,
    [FL_COMMAND_DOCTOR] = fl_command_doctor,
    [FL_COMMAND_REPL] = fl_command_repl,
    [FL_COMMAND_LSP] = fl_command_lsp,
    [FL_COMMAND_VERSION] = fl_command_version,
    [FL_COMMAND_HELP] = help,
};

static int unknown_command(const char *word) {
  const char *names[FL_N_COMMANDS];
  for (int i = 0; i < FL_N_COMMANDS; i++) names[i] = fl_command_name((FlCommandId)i);
  fprintf(stderr, "flowc: no command `%s`", word);
  const char *near = fl_closest(word, names, FL_N_COMMANDS);
  if (near) fprintf(stderr, "; did you mean `%s`?", near);
  size_t n = strlen(word);
  if (n > 5 && strcmp(word + n - 5, ".flow") == 0) fprintf(stderr, "; to run it: flowc run %s", word);
  fputs("\n", stderr);
  return 2;
}

static int help(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_HELP, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  if (!w.n_operands) return fl_words_list(stdout), 0;
  if (strcmp(w.operands[0], "environment") == 0) return fl_words_environment(), 0;
  if (strcmp(w.operands[0], "manual") == 0) return fl_shells_manual(), 0;
  if (fl_shells_complete(w.operands[0])) return 0;
  FlCommandId command = fl_command_find(w.operands[0]);
  if (command == FL_N_COMMANDS) return unknown_command(w.operands[0]);
  fl_words_help(command);
  return 0;
}

/* What could not be written is no success: a full disk, a pipe that nobody reads any more (README). Who
 * failed has said why. */
static int close_output(int status) {
  bool lost = ferror(stdout) != 0;
  if ((fflush(stdout) == 0 && !lost) || status) return status;
  if (errno == EPIPE) return 128 + SIGPIPE;
  fprintf(stderr, "flowc: cannot write to standard output: %s\n", strerror(errno));
  return 4;
}

static int run(int argc, char **argv) {
  if (argc < 2) {
    fl_words_list(stderr);
    return 2;
  }
  if (!fl_features_check(0, "flowc", "")) return 4;
  const char *word = argv[1];
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) word = "help";
  if (strcmp(word, "--version") == 0) word = "version";
  FlCommandId command = fl_command_find(word);
  return close_output(command == FL_N_COMMANDS ? unknown_command(word)
                                               : run_command[command](argc - 2, argv + 2));
}

typedef struct MainWords {
  int n;
  char **at;
  int status;
} MainWords;

static void run_words(void *arg) {
  MainWords *words = arg;
  words->status = run(words->n, words->at);
}

static int on_own_stack(void *arg) {
  MainWords *words = arg;
  fl_crash_install_compiler();
  if (fl_guard(run_words, words)) return words->status;
  return fl_compilation_lacks(&(FlCompilation){0});
}

int main(int argc, char **argv) {
  fl_printed_begin();
  return fl_stack_run(on_own_stack, &(MainWords){.n = argc, .at = argv});
}
