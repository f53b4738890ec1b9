/* program.h: a script that is run in this process, for `flowc run` and `flowc test`.
 *
 * Both give the exit status: of the program, or of compiling where there is none, which is said on standard
 * error. argv is the program's: its name, then run options and what is its own. */
#ifndef FL_CLI_PROGRAM_H
#define FL_CLI_PROGRAM_H

#include "driver.h"

/* Compiled, or found remembered; loops are optimised when they pay, or as FLOW_KERNELS says. */
int fl_program_run(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv);
/* By the reference interpreter. */
int fl_program_interpret(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv);

#endif
