/* repl_complete.h: what may stand at the end of a text that is being entered. */
#ifndef FL_REPL_COMPLETE_H
#define FL_REPL_COMPLETE_H

#include "base/base.h"

/* What the language server would offer behind the last of `before` and `text`: tells each word that begins as
 * what stands there, and how many of its bytes do. before: the session so far. */
void fl_repl_complete(const FlText1 *before, const char *text, size_t len, void *to,
                      void (*tell)(void *to, const char *word, size_t there));

#endif
