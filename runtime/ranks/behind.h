/* behind.h: what meet.c knows of the work behind the program. */
#ifndef FL_RANKS_BEHIND_H
#define FL_RANKS_BEHIND_H

#include "ranks/ranks.h"

/* Settles, and ends the thread. */
void fl_ranks_behind_free(FlRanks *ranks);

#endif
