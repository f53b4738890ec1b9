/* words.h: the command line of flowc: which commands and options there are (commands.def), reading words by
 * that table, and the pages of --help. */
#ifndef FL_WORDS_H
#define FL_WORDS_H

#include <stdio.h>

typedef enum FlCommandId {
#define FL_COMMAND(id, name, operands, least, most, does) FL_COMMAND_##id,
#include "cli/commands.def"
  FL_N_COMMANDS
} FlCommandId;

typedef enum FlFlagId {
#define FL_FLAG(id, commands, name, other, value, means) FL_FLAG_##id,
#include "cli/commands.def"
  FL_N_FLAGS
} FlFlagId;

/* What a command line says. Points into the words. */
typedef struct FlWords {
  const char *flags[FL_N_FLAGS]; /* the value of an option, its name where it has none; NULL: not given */
  char **operands;               /* in order */
  int n_operands;
} FlWords;

enum { FL_WORDS_READ = -1 };

/* Reads the words behind a command's name. Options stand anywhere, `--` ends them, `-` is an operand; the
 * operands go to the front of `words`. FL_WORDS_READ, or the exit status: 0 after the page of --help, 2 after
 * a message. */
int fl_words_read(FlCommandId command, int n_words, char **words, FlWords *out);

/* Reads the option at words[i], with its value if it has one. 0: read, *i is at its last word; 1: no option
 * of this command; 2: after a message. */
int fl_words_option(FlCommandId command, int n_words, char **words, int *i, FlWords *out);

/* Messages on standard error; both give 2. */
int fl_words_unknown(FlCommandId command, const char *word);
int fl_words_usage(FlCommandId command);

const char *fl_command_name(FlCommandId command);
/* FL_N_COMMANDS: there is none of this name. */
FlCommandId fl_command_find(const char *name);
/* The page of a command, on standard output, and the list of all. */
void fl_words_help(FlCommandId command);
void fl_words_list(FILE *out);
/* The table of environment variables (runtime/base/environment.def). */
void fl_words_environment(void);

#endif
