/* manual.c: flowc(1), the page of the manual; see shells.h. In: the tables of the command line and of the
 * environment. Out: roff, with the macros that man has (man.7). */
#include "cli/shells.h"
#include "cli/words_table.h"

#include "exec/command_line.h"
#include "flow/version.h"

#include <stdio.h>

/* A text as roff reads it as text; what is in backticks is bold. */
static void put(const char *text) {
  bool bold = false;
  if (*text == '.' || *text == '\'') printf("\\&");
  for (; *text; text++) {
    if (*text == '`') printf((bold = !bold) ? "\\fB" : "\\fR");
    else if (*text == '\\') printf("\\e");
    else if (*text == '-') printf("\\-");
    else putchar(*text);
  }
}

static void item(const char *name, const char *other, const char *value, const char *means) {
  printf(".TP\n\\fB");
  put(name);
  if (other) {
    printf("\\fR, \\fB");
    put(other);
  }
  printf("\\fR");
  if (value) printf(" \\fI%s\\fR", value);
  printf("\n");
  put(means);
  printf("\n");
}

static void commands(void) {
  printf(".SH COMMANDS\n");
  for (int c = 0; c < FL_N_COMMANDS; c++) {
    const FlWordCommand *command = &fl_word_commands[c];
    printf(".SS \"flowc %s", command->name);
    if (*command->operands) printf(" ");
    put(command->operands);
    printf("\"\n");
    put(command->does);
    printf(".\n");
    for (int f = 0; f < FL_N_FLAGS; f++) {
      const FlWordFlag *flag = &fl_word_flags[f];
      if (fl_word_has((FlCommandId)c, f) && f != FL_FLAG_HELP)
        item(flag->name, flag->other, flag->value, flag->means);
    }
  }
}

static void scripts(void) {
  printf(".SH OPTIONS OF EVERY SCRIPT\n.BR \"flowc run\" \" and binaries take them, and those of the "
         "script's own parameters.\"\n");
  for (int o = 0; o < FL_N_OPTIONS; o++) {
    char name[64];
    snprintf(name, sizeof name, "--%s", fl_option_info[o].name);
    item(name, NULL, fl_option_info[o].value, fl_option_info[o].help);
  }
}

static void environment(void) {
  printf(".SH ENVIRONMENT\n");
#define FL_ENVIRONMENT(name, readers, means) item(name, NULL, NULL, means " (" readers ").");
#include "base/environment.def"
#undef FL_ENVIRONMENT
}

void fl_shells_manual(void) {
  static const struct {
    const char *status, *means;
  } statuses[] = {{"0", "It went well."},
                  {"1", "The script failed: an error while running, a failed assert, a failed test."},
                  {"2", "A wrong command line, or a script that cannot be read."},
                  {"3", "The script does not compile."},
                  {"4", "The machine has not enough: memory, disk, features of the processor."},
                  {"70", "A bug in flow."},
                  {"128 + N", "Ended by signal N: 130 Ctrl-C, 141 nobody reads what is printed, 143 TERM."}};
  printf(".TH FLOWC 1 \"\" \"flow %s\" \"User Commands\"\n", FL_FLOW_VERSION);
  printf(".SH NAME\nflowc \\- check, run and build dataflow scripts\n"
         ".SH SYNOPSIS\n.B flowc\n.I COMMAND\n.RI [ OPTION ...]\n.RI [ FILE ...]\n"
         ".SH DESCRIPTION\nflow is a small, statically typed language for data and machine learning. A "
         "script is checked before it runs, "
         "uses all\nprocessors, gives the same bits on any number of them, and runs only the stages again "
         "that changed.\n");
  commands();
  scripts();
  environment();
  printf(".SH EXIT STATUS\n");
  for (size_t k = 0; k < sizeof statuses / sizeof *statuses; k++)
    item(statuses[k].status, NULL, NULL, statuses[k].means);
}
