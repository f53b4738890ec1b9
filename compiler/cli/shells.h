/* shells.h: what is made of the tables of the command line for other programs: shells, and the manual. */
#ifndef FL_SHELLS_H
#define FL_SHELLS_H

#include <stdbool.h>

/* On standard output, for the shell of this name (bash, zsh, fish): a script that completes the words of
 * flowc. false: another name, and nothing is printed. */
bool fl_shells_complete(const char *shell);
/* On standard output: the page of the manual, flowc(1), for man (the macros man.7). */
void fl_shells_manual(void);

#endif
