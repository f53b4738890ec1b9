/* loops.h: loop statements and jumps out of them, for control.c and branches.c. */
#ifndef FL_SEMA_LOOPS_H
#define FL_SEMA_LOOPS_H

#include "sema/state.h"

void fl_sema_loop(FlSema *s, const FlStmt *st); /* FOR, WHILE */
void fl_sema_jump(FlSema *s, const FlStmt *st); /* BREAK, CONTINUE */

#endif
