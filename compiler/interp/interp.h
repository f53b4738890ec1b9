/* interp.h: the reference interpreter: what a verified IR module means, run slowly and obviously.
 *
 * In: a module after the passes of level 0, which say what is evaluated at all, or of any other. Out:
 * results, output and errors: the same, to the bit, as those of the compiled program (matrix products within
 * BLAS's tolerance). It shares with compiled code only what defines the language's operators: the scalar
 * functions of runtime/kern and the runtime operators fl_rt_*.
 *
 * What always holds: an array value of the IR is one owned reference in its frame from its definition to the
 * end of its region; nothing is left behind, also after errors. A prepared module is immutable: any number of
 * threads may run it. */
#ifndef FL_INTERP_H
#define FL_INTERP_H

#include "flow/abi.h"
#include "plan/plan.h"

typedef struct FlInterp FlInterp;

/* Prepares what is planned, which must outlive the result. `sources` (may be NULL) gives error messages
 * their places. */
FlInterp *fl_interp_make(FlArena *arena, const FlPlan *plan, const FlSources *sources);

/* Runs one function. Arguments are borrowed, results come back owned, in the order of the function's yields.
 */
FlStatus fl_interp_call(const FlInterp *in, FlCtx *ctx, const FlFunc *func, const FlSlot *args,
                        FlSlot *results);

/* The module as a program for fl_main and fl_run_new: main, stages, parameters and sites. Its functions find
 * what they interpret by fl_ctx_self. Lives in the arena of `in`. `main` takes the place of the module's (a
 * test); NULL: it. */
const FlProgram *fl_interp_program(FlInterp *in, const FlFunc *main);

#endif
