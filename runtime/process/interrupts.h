/* interrupts.h: Ctrl-C where one process reads lines and others run what they say. */
#ifndef FL_INTERRUPTS_H
#define FL_INTERRUPTS_H

#include <stdbool.h>

/* From now on an interrupt ends no more than waiting for a line. */
void fl_interrupts_take(void);
/* While they are held, an interrupt waits; fl_interrupts_wait: one does. */
void fl_interrupts_hold(bool hold);
bool fl_interrupts_wait(void);
/* In a child, which an interrupt ends as it does any process. */
void fl_interrupts_leave(void);

#endif
