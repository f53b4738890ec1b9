/* program.h: a script that is run in this process, for `flowc run` and `flowc test`.
 *
 * Both give the exit status: of the program, or of compiling where there is none, which is said on standard
 * error. argv is the program's: its name, then run options and what is its own. taker: who takes what it
 * leaves, or NULL. */
#ifndef FL_CLI_PROGRAM_H
#define FL_CLI_PROGRAM_H

#include "driver.h"
#include "exec/exec.h"

/* Compiled, or found remembered; loops are optimised when they pay, or as FLOW_KERNELS says. */
int fl_program_run(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv,
                   const FlRunTaker *taker);
/* By the reference interpreter. */
int fl_program_interpret(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv,
                         const FlRunTaker *taker);
/* By it, of one whose IR is there (fl_compile_ir), for what it prints: after so many nanoseconds it is given
 * up, as also before it does what cannot be taken back; then nothing was printed, and the status is not 0. */
int fl_program_look(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv, int64_t ns);
/* Is there something that cannot be done twice, beside printing? What asks for the world beside files is
 * found when it runs (fl_ctx_act). */
bool fl_program_acts(const FlRegion *r);

#endif
