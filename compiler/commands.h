/* commands.h: the commands of flowc that compile. Each takes the words after its name and gives the exit
 * status. */
#ifndef FL_COMMANDS_H
#define FL_COMMANDS_H

int fl_command_run(int n_words, char **words);
int fl_command_build(int n_words, char **words);
int fl_command_test(int n_words, char **words);

#endif
