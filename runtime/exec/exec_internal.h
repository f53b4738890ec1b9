/* exec_internal.h: runs, contexts, errors and stage calls as the files of this room see them. */
#ifndef FL_EXEC_INTERNAL_H
#define FL_EXEC_INTERNAL_H

#include "exec/exec.h"
#include "data/data.h"
#include "memo/memo.h"
#include "report/report.h"

#include <pthread.h>
#include <stdarg.h>

/* ---- errors --------------------------------------------------------------------------------------------- */

enum { FL_MAX_NOTES = 4 };

typedef struct FlError {
  int number; /* 701: E0701; 0: none, only the message counts */
  int32_t site;
  int status;           /* exit status: 1, 4, 70 or 130 */
  uint64_t order;       /* futures that the context had started when it was recorded */
  char *message, *help; /* help may be NULL */
  char *notes[FL_MAX_NOTES];
  int n_notes;
} FlError;

void fl_error_free(FlError *error); /* NULL is allowed */
FlStatus fl_fail_v(FlCtx *ctx, int32_t site, int code, const char *fmt, va_list args);
/* Moves the error of `from` to `to`, unless that has one. */
void fl_error_move(FlCtx *to, FlCtx *from);
/* As compile diagnostics look: code, place, message, line with caret, notes, help. On standard error. */
void fl_error_print(const FlProgram *program, const FlError *error, bool color);

/* ---- contexts ------------------------------------------------------------------------------------------- */

/* The first fault that the precise form of a kernel met. */
typedef struct FlKernelFault {
  bool set;
  int32_t fault, site, rank, type;
  int64_t pos;
  FlSlot a, b;
} FlKernelFault;

typedef struct FlNotes FlNotes;

struct FlCtx {
  FlRun *run;
  const void *self;
  const FlScope *scope; /* NULL: the script's own */
  FlNotes *notes;       /* of the stage that runs; NULL: the script's */
  const char *stage;    /* its name, for the report; NULL: the script */
  FlError *error;
  FlKernelFault fault;
  FlFuture *futures; /* started and not yet waited for, in order */
  FlFuture *last_future;
  uint64_t n_started;
};

void fl_ctx_init(FlCtx *ctx, FlRun *run, const FlCtx *parent);
/* Waits for the futures that are left and lets go of what the context holds. When one of them failed that was
 * started before the context's own error, its error takes that one's place. Returns the final status; the error
 * stays in ctx->error until fl_ctx_reset. */
FlStatus fl_ctx_finish(FlCtx *ctx, FlStatus status);
void fl_ctx_reset(FlCtx *ctx);

/* ---- runs ----------------------------------------------------------------------------------------------- */

typedef struct FlFlight FlFlight;   /* stages being computed in this process, see flight.c */
typedef struct FlHistory FlHistory; /* stage calls of this run, for `flowc why`, see history.c */
typedef struct FlPaths FlPaths;     /* files read and written, see paths.c */

struct FlRun {
  const FlProgram *program;
  FlRunOptions options;
  FlSched *sched;
  FlPool *pool;
  FlHeap *heap;
  FlMemo *memo; /* NULL: results are not remembered */
  FlReport *report;
  FlFlight *flight;
  FlHistory *history;
  FlPaths *paths;
  _Atomic int stop; /* 0, or the signal that asks the run to end */
  FlCtx main;
};

void fl_run_stop(FlRun *run, int signal); /* async-signal safe is not needed: called from the signal thread */

#endif
