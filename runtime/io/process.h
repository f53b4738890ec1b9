/* process.h: a program run by the shell, bytes in and bytes out. Private to the room. */
#ifndef FL_PROCESS_H
#define FL_PROCESS_H

#include "io/io_internal.h"

enum { FL_PROCESS_SAID = 2000 };

typedef struct FlProcess {
  const char *command; /* for /bin/sh -c */
  FlText input;        /* its standard input; what it does not read is no error */
  FlBytes output;      /* out: its whole standard output; the caller resets it, also after a failure */
  char said[FL_PROCESS_SAID + 1]; /* out: the end of its standard error, NUL-terminated */
  int status;                     /* out: as waitpid gives it */
} FlProcess;

/* Runs the command to its end: 0, whatever it ended with. Else it could not be run, or the run was asked to
 * stop: an error is recorded, and the command and all processes of its group are gone. */
FlStatus fl_process_run(FlCtx *ctx, int32_t site, FlProcess *p);

#endif
