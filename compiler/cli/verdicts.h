/* verdicts.h: what check, test and fmt found, for programs: JSON on standard output, XML of JUnit in a file.
 * The form of both is docs/commands.md. What always holds: the output is UTF-8 and well formed whatever texts
 * are in it. */
#ifndef FL_VERDICTS_H
#define FL_VERDICTS_H

#include "diag/diag.h"
#include "cli/words.h"

#include <jansson.h>

/* One file, or one test of it. */
typedef struct FlVerdict {
  const char *file, *name; /* name: of the test; NULL: it is about the whole file */
  int line;                /* where the test stands; 0: not known */
  int status;              /* as the command's exit status; 0 is good */
  double seconds;
  const char *said; /* what was printed, or why it failed; may be "" */
  json_t *messages; /* fl_verdict_messages; NULL: none */
} FlVerdict;

typedef struct FlVerdicts {
  FlArena *arena;
  FlCommandId command;
  FlVec(FlVerdict) at;
} FlVerdicts;

/* What the sink holds. */
json_t *fl_verdict_messages(FlSink *sink);

/* Writes what --json and --junit ask for, and lets go of the messages. 0, or 4 after a message: it cannot be
 * written. */
int fl_verdicts_write(const FlVerdicts *v, const FlWords *w);

#endif
