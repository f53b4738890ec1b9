/* state_path.h: where what belongs to a user, and is neither a result nor asked for by a script, is kept:
 * $XDG_STATE_HOME/flow, else ~/.local/state/flow. */
#ifndef FL_STATE_PATH_H
#define FL_STATE_PATH_H

#include <limits.h>
#include <stdbool.h>

/* The path of a file of that folder, which is made where `make` says so (0700). false: there is no such
 * folder. */
bool fl_state_path(const char *name, char out[PATH_MAX], bool make);

#endif
