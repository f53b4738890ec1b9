/* loops.h: loop statements and jumps out of them, for control.c and branches.c. */
#ifndef FL_SEMA_LOOPS_H
#define FL_SEMA_LOOPS_H

#include "sema/state.h"

/* The jumps that belong to the loop around some code; those of loops inside are theirs. */
typedef struct FlJumps {
  bool any_break, any_continue;
} FlJumps;
FlJumps fl_sema_jumps_of(const FlStmt *st);
FlJumps fl_sema_jumps_in(const FlExpr *e); /* NULL: none */

void fl_sema_loop(FlSema *s, const FlStmt *st); /* FOR, WHILE */
void fl_sema_jump(FlSema *s, const FlStmt *st); /* BREAK, CONTINUE */

#endif
