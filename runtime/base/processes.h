/* processes.h: other processes of this machine, as /proc shows them. */
#ifndef FL_BASE_PROCESSES_H
#define FL_BASE_PROCESSES_H

#include <stdint.h>

/* The state of a process, as ps shows it: 'T' stopped, 'Z' ended and not yet waited for; 0: there is none.
 * *begun (NULL: not asked): when it began, in ticks of the machine, which with its number is no other one's.
 */
char fl_process_state(int64_t pid, uint64_t *begun);
/* Whether it has ended; one that nobody has waited for has, too. */
static inline int fl_process_is_over(char state) { return state == '\0' || state == 'Z' || state == 'X'; }
/* The processes that it has started and that live, at most `most` of them: their number. */
int fl_process_children(int64_t pid, int64_t *children, int most);

#endif
