/* describe.h: what a name means, for flowc explain. */
#ifndef FL_DESCRIBE_H
#define FL_DESCRIBE_H

#include "base/base.h"

/* Prints what builtins and the library have of this name, or what it is called here. false: nothing was
 * printed; *near is then a name that is spelt like it, in the arena or constant, or NULL. */
bool fl_describe_name(FlArena *arena, const char *name, const char **near);

#endif
