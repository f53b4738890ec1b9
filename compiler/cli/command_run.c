/* command_run.c: flowc run: a script compiled in memory, or found remembered, and run in this process. */
#include "cli/commands.h"

#include "exec/command_line.h"
#include "exec/exec.h"
#include "process/launch.h"
#include "process/process.h"
#include "ranks/ranks.h"
#include "cli/program.h"
#include "cli/run_hosts.h"
#include "cli/scripts.h"
#include "cli/words.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct RunWords {
  const char *file; /* "-": standard input, or `text` */
  const char *text; /* of -c: the script itself; or NULL */
  bool interp;
  FlBuildOptions build;
  int argc; /* of the script: its name, run options that stood before the file, what followed the file */
  char **argv;
} RunWords;

/* Which option of every script a word is; FL_N_OPTIONS: none, or one with its value. */
static int option_of(const char *word) {
  int i = 0;
  if (strcmp(word, "-q") == 0) word = "--quiet";
  if (strncmp(word, "--", 2) != 0) return FL_N_OPTIONS;
  while (i < FL_N_OPTIONS && strcmp(word + 2, fl_option_info[i].name) != 0) i++;
  return i;
}

/* What stands before the script is an option of flowc or of every script or, as `--name=value` and `--flag`,
 * one of its own. Where then no script follows, the first that is none of these is what was misspelt. */
static int misspelt(const char *word) {
  const char *names[FL_N_OPTIONS + 2];
  for (int i = 0; i < FL_N_OPTIONS; i++) names[i] = fl_option_info[i].name;
  names[FL_N_OPTIONS] = "interp";
  names[FL_N_OPTIONS + 1] = "O0";
  const char *near = fl_closest(word + strspn(word, "-"), names, FL_N_OPTIONS + 2);
  bool quick = near && strcmp(near, "O0") == 0;
  fprintf(stderr, "flowc run: there is no option `%s`%s%s%s; options of the script itself follow its name\n",
          word, near ? quick ? "; did you mean `-" : "; did you mean `--" : "", near ? near : "",
          near ? "`" : "");
  return 2;
}

/* FL_WORDS_READ, or the exit status. w->argv is the caller's to free. */
static int read_words(int n_words, char **words, RunWords *w) {
  *w = (RunWords){.build = {.level = 1, .cpu = FL_CPU_HOST, .test = -1}};
  w->argv = calloc((size_t)n_words + 2, sizeof *w->argv);
  if (!w->argv) return fputs("flowc: out of memory\n", stderr), 4;
  const char *strange = NULL;
  FlWords own = {0};
  bool script_over = false;
  w->argc = 1;
  for (int i = 0; i < n_words; i++) {
    char *word = words[i];
    bool is_option = word[0] == '-' && word[1] && !script_over;
    if (is_option && strcmp(word, "--help") != 0 && strcmp(word, "-h") != 0) {
      int status = fl_words_option(FL_COMMAND_RUN, n_words, words, &i, &own);
      if (status == 2) return 2;
      if (status == 0 && own.flags[FL_FLAG_TEXT] && !w->text && w->file)
        return fl_words_usage(FL_COMMAND_RUN);
      w->text = own.flags[FL_FLAG_TEXT];
      if (w->text) w->file = "-";
      if (status == 0) continue;
    }
    if (is_option && !w->file && strcmp(word, "--") == 0) continue;
    if (!is_option && !w->file) {
      w->file = word;
      continue;
    }
    script_over |= strcmp(word, "--") == 0;
    w->argv[w->argc++] = word;
    if (w->file) continue;
    int option = option_of(word);
    if (option == FL_OPTION_HELP || strcmp(word, "-h") == 0) own.flags[FL_FLAG_HELP] = word;
    else if (option == FL_N_OPTIONS && !strange && !strchr(word, '=')) strange = word;
    if (option < FL_N_OPTIONS && fl_option_info[option].value && i + 1 < n_words)
      w->argv[w->argc++] = words[++i];
  }
  if (!w->file && own.flags[FL_FLAG_HELP]) return fl_words_help(FL_COMMAND_RUN), 0;
  if (strange && (!w->file || (strcmp(w->file, "-") != 0 && access(w->file, F_OK)))) return misspelt(strange);
  if (!w->file) return fl_words_usage(FL_COMMAND_RUN);
  if (own.flags[FL_FLAG_QUICK]) w->build.level = 0;
  w->interp = own.flags[FL_FLAG_INTERP] != NULL;
  w->argv[0] = (char *)(uintptr_t)w->file;
  return FL_WORDS_READ;
}

/* The script was on it: nothing is left for the script to read. */
static void leave_standard_input(void) {
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) return;
  dup2(nothing, STDIN_FILENO);
  if (nothing != STDIN_FILENO) close(nothing);
}

static int init_text(FlCompilation *c, const char *text) {
  FlText1 copy = {0};
  fl_text_addz(&copy, text);
  fl_compilation_init_text(c, FL_COMMAND_LINE, &copy);
  fl_text_reset(&copy);
  return c->lacks ? fl_compilation_lacks(c) : 0;
}

int fl_command_run(int n_words, char **words) {
  RunWords w;
  FlCompilation c = {0};
  int status = read_words(n_words, words, &w);
  if (status == FL_WORDS_READ) {
    status = w.text ? init_text(&c, w.text) : fl_compilation_init(&c, w.file);
    c.silent |=
        fl_mpi_rank() > 0 || (fl_mpi_rank() == 0 && fl_launch_is_ours()); /* said before, or by rank 0 */
    if (!status && !w.text && strcmp(w.file, "-") == 0) leave_standard_input();
    if (!status && fl_mpi_rank() < 0 && fl_run_names_hosts(w.argc, w.argv))
      status = fl_run_on_hosts(&c, &w.build, w.argc, w.argv);
    else if (!status)
      status = (w.interp ? fl_program_interpret : fl_program_run)(&c, &w.build, w.argc, w.argv, NULL);
    fl_compilation_reset(&c);
  }
  free(w.argv);
  return status;
}
