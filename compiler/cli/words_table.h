/* words_table.h: the rows of commands.def, for those who show them: pages of --help, the page of the manual,
 * what shells complete. */
#ifndef FL_WORDS_TABLE_H
#define FL_WORDS_TABLE_H

#include "cli/words.h"

#include <stdbool.h>

typedef struct FlWordCommand {
  const char *name, *operands, *does;
  int least, most; /* operands; most -1: as many as one likes */
} FlWordCommand;

typedef struct FlWordFlag {
  unsigned commands;                        /* a bit for each that has it */
  const char *name, *other, *value, *means; /* other, value: NULL where there is none */
} FlWordFlag;

extern const FlWordCommand fl_word_commands[FL_N_COMMANDS];
extern const FlWordFlag fl_word_flags[FL_N_FLAGS];

static inline bool fl_word_has(FlCommandId command, int flag) {
  return fl_word_flags[flag].commands >> command & 1;
}

#endif
