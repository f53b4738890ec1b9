/* main.c: flowc: its commands, its options, its exit statuses (README). The only place that knows all
 * commands. */
#include "code_cache.h"
#include "commands.h"
#include "driver.h"

#include "exec/exec.h"
#include "tools/front_tools.h"
#include "tools/store_tools.h"

#include <stdlib.h>

static const char usage_text[] =
    "usage: flowc COMMAND ...\n"
    "\n"
    "  run [OPTIONS] FILE.flow [--name value ...]  compile and run; what follows the file is the script's\n"
    "  build [FILE.flow] [-o OUT] [OPTIONS]        make a binary that needs nothing else\n"
    "  check FILE.flow ...                         only say what is wrong\n"
    "  test FILE.flow ...                          run the test blocks\n"
    "  new FOLDER                                  a folder with a first script\n"
    "  fmt [--check] [FILE.flow ...]               format\n"
    "  schema FILE ...                             the types of what data files hold, and what is in them\n"
    "  explain FILE.flow                           the plan of a script: what is read, fused, kept, remembered\n"
    "  explain [CODE]                              the page of a message\n"
    "  why [FILE.flow] [STAGE]                     why stages ran again\n"
    "  cache ls | gc | verify | clear | trust      the store of remembered results\n"
    "  version                                     which flow this is\n"
    "\n"
    "options: -O0 quick code, --interp the reference interpreter (run), --mcpu NAME a processor (build: "
    "native for\n"
    "this one), --emit=tokens|ast|ir|llvm|asm|obj a step on the way (build)\n"
    "and those of every script: flowc run FILE.flow --help\n";

typedef struct Command {
  const char *name;
  int (*run)(int n_words, char **words);
} Command;

static int with_store(int (*tool)(const char *dir, int n_words, char **words), int n_words, char **words) {
  char dir[4096];
  if (fl_cache_dir("./", dir, sizeof dir)) return tool(dir, n_words, words);
  fputs("flowc: no results are remembered: neither FLOW_CACHE nor HOME is set\n", stderr);
  return 1;
}

static int cache(int n_words, char **words) { return with_store(fl_tool_cache, n_words, words); }
static int why(int n_words, char **words) { return with_store(fl_tool_why, n_words, words); }

static int help(int n_words, char **words) {
  (void)n_words;
  (void)words;
  fputs(usage_text, stdout);
  return 0;
}

static int version(int n_words, char **words) {
  (void)n_words;
  (void)words;
  printf("flow %s\n", FL_VERSION);
  return 0;
}

/* Commands of the language's tools that this version does not have. */
static const char *const absent[] = {"repl", "lsp", "doc", "graph", "bench"};

static const Command commands[] = {
    {"run", fl_command_run},
    {"build", fl_command_build},
    {"check", fl_command_check},
    {"test", fl_command_test},
    {"new", fl_command_new},
    {"schema", fl_command_schema},
    {"fmt", fl_tool_fmt},
    {"explain", fl_command_explain},
    {"why", why},
    {"cache", cache},
    {"version", version},
    {"--version", version},
    {"help", help},
    {"--help", help},
    {"-h", help},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs(usage_text, stderr);
    return 2;
  }
  const char *names[N_COMMANDS];
  for (int i = 0; i < N_COMMANDS; i++) {
    names[i] = commands[i].name;
    if (strcmp(argv[1], names[i]) == 0) return commands[i].run(argc - 2, argv + 2);
  }
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
    if (strcmp(argv[1], absent[i])) continue;
    fprintf(stderr, "flowc: `%s` is not in this version of flow\n", argv[1]);
    return 2;
  }
  fprintf(stderr, "flowc: no command `%s`", argv[1]);
  const char *near = fl_closest(argv[1], names, N_COMMANDS);
  if (near) fprintf(stderr, "; did you mean `%s`?", near);
  size_t n = strlen(argv[1]);
  if (n > 5 && strcmp(argv[1] + n - 5, ".flow") == 0) fprintf(stderr, "; to run it: flowc run %s", argv[1]);
  fputs("\n", stderr);
  return 2;
}
