/* repl_history.h: what was entered in earlier sessions of flowc repl: a file of the user (base/state_path.h),
 * 0600, an entry a line, of the last ones. Without a home there is none. */
#ifndef FL_REPL_HISTORY_H
#define FL_REPL_HISTORY_H

#include "base/base.h"

enum { FL_HISTORY_MOST = 1000, FL_HISTORY_ENTRY = 1 << 14 }; /* entries that are kept; bytes of one */

/* Calls `tell` for each entry of earlier sessions, the oldest first. */
void fl_history_read(void *env, void (*tell)(void *env, const char *text));
/* Adds an entry, in one piece: sessions side by side do not mix theirs. */
void fl_history_add(const char *text);

#endif
