/* exec_internal.h: runs, contexts, errors and stage calls as the files of this room see them. */
#ifndef FL_EXEC_INTERNAL_H
#define FL_EXEC_INTERNAL_H

#include "exec/exec.h"
#include "io/io.h"
#include "data/cut.h"
#include "data/codec.h"
#include "data/data.h"
#include "memo/memo.h"
#include "report/report.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- errors ---------------------------------------------------------------------------------------- */

enum { FL_MAX_NOTES = 4, FL_MAX_CALLS = 8, FL_STATUS_MEMORY = 4 };

/* Sites of the calls that an error came out of while the script ran, from the inside out: the first ones, and
 * the last ones in a ring. Each may stand within calls that were made part of what calls (FlSite.caller). */
typedef struct FlErrorCalls {
  int32_t inner[FL_MAX_CALLS], outer[FL_MAX_CALLS];
  int64_t n, lost; /* lost: calls of both kinds that the ring let go of */
} FlErrorCalls;

typedef struct FlError {
  int number; /* 701: E0701; 0: none, only the message counts */
  int32_t site;
  bool in_stage;        /* a note says in which stage */
  int status;           /* exit status: 1, 4, 70 or 130 */
  uint64_t order;       /* futures that the context had started when it was recorded */
  char *message, *help; /* help may be NULL */
  char *notes[FL_MAX_NOTES];
  int n_notes;
  int64_t index[FL_MAX_RANK]; /* the element of a loop in which it happened, axis by axis */
  int n_index;                /* 0: in no loop */
  FlErrorCalls calls;
} FlError;

FlError *fl_error_copy(const FlError *error); /* NULL: no memory */
void fl_error_free(FlError *error);           /* NULL is allowed */
FlStatus fl_fail_v(FlCtx *ctx, int32_t site, int code, const char *fmt, va_list args);
/* The context's error is that this rank may not ask. */
bool fl_ctx_asks_elsewhere(const FlCtx *ctx);
/* Makes the position a note: what is called later speaks of a loop further out. */
void fl_fail_position_settle(FlCtx *ctx);
/* error_calls.c: the error is of what stands at this site, unless it knows a place. Says whether it did not.
 */
bool fl_error_place(FlError *error, const FlProgram *program, int32_t site);
/* error_calls.c: what the error came out of was called at this site. */
void fl_error_through(FlError *error, const FlProgram *program, int32_t site);

/* The way to an error: the sites of the calls, the outermost first, without `more` of them that are left out
 * before `cut`; then where it failed. The place to show is the last one that is not in the library. */
typedef struct FlErrorWay {
  const FlSite *at[2 * FL_MAX_CALLS + 1];
  int n, shown, cut; /* `at[n - 1]` failed; `at[shown]` is to be shown; n is 0 when there is no place */
  int64_t more;
} FlErrorWay;
FlErrorWay fl_error_way(const FlProgram *program, const FlError *error);
/* Moves the error of `from` to `to`, unless that has one. */
void fl_error_move(FlCtx *to, FlCtx *from);
/* As compile diagnostics look: code, place, message, line with caret, notes, help. */
void fl_error_print(FILE *to, const FlProgram *program, const FlError *error, bool color);

/* ---- contexts -------------------------------------------------------------------------------------- */

/* The first fault that the precise form of a kernel met. */
typedef struct FlKernelFault {
  bool set;
  int32_t fault, site, rank, type, n_index;
  int64_t pos, index[FL_MAX_RANK];
  FlSlot a, b;
} FlKernelFault;

/* Values that pure code reported with note(), in program order. */
typedef struct FlNote {
  char *name; /* owned */
  int32_t type;
  FlSlot value; /* a text is owned */
} FlNote;
typedef struct FlNotes {
  FlNote *at;
  int32_t n, cap;
} FlNotes;

struct FlCtx {
  FlRun *run;
  FlRanks *ranks; /* that do the same as this context: exec/ranks.h; NULL: none */
  bool asked;     /* an operator asked what lies outside */
  bool alike;     /* within a loop that every rank runs whole, and may not ask: ranks_pays.c */
  const void *self;
  const FlScope *scope; /* of the stage, or of the run */
  const FlStage *stage; /* the stage that runs; NULL: the script */
  int32_t event;        /* its number in the report; -1: the script */
  int32_t unseen;       /* 1: a later round of a loop, or one more call of a stage: its tables are not seen */
  FlNotes notes;
  const FlCut *kept; /* how what a filter keeps lies in parts, until it is joined; NULL: it is all here */
  int64_t kept_from; /* the first of its blocks that is here */
  int64_t first_row; /* of the arrays that an operator is given, where they are what is here of parted ones */
  FlOpPart *op_part; /* what of an operator is asked for; NULL: all of it */
  struct FlSumGives *gives; /* of a task: who is told of parts of what it gives to a sum (sums.h); or NULL */
  int64_t element;          /* of its loop */
  struct FlStrips *strips;  /* steps that wait for the next one (strips.h); NULL: none ever did */
  FlHeap *texts;            /* of text scalars, a stack; NULL: not needed so far */
  FlError *error;
  FlKernelFault fault;
  FlFuture *futures; /* started and not yet waited for, in order */
  FlFuture *last_future;
  uint64_t n_started;
};

/* A part of what an operator gives, as it says itself (FlOpPart). parted.c */
FlStatus fl_op_in_part(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlOpPart *part, FlSlot *results);

/* A context for a part of what `parent` does (NULL: for the script). */
void fl_ctx_init(FlCtx *ctx, FlRun *run, const FlCtx *parent);
/* Waits for the futures that are left and lets go of what the context holds. When one of them failed that was
 * started before the context's own error, its error takes that one's place. Returns the final status; the
 * error stays in ctx->error until fl_ctx_reset. */
FlStatus fl_ctx_finish(FlCtx *ctx, FlStatus status);
void fl_ctx_reset(FlCtx *ctx);

/* ---- kernels: loop.c, late.c ----------------------------------------------------------------------- */

/* late.c: the best form that there is of a kernel whose `late` is there, for a run that takes about `ns`
 * nanoseconds when optimised. */
FlKernelFn fl_kernel_late(FlRun *run, const FlKernel *kernel, double ns);
/* The faults that elements [begin, end) met, on the pool; `cost` as of fl_run_kernel. */
int32_t fl_kernel_range(FlCtx *ctx, const FlKernel *kernel, const void *env, int64_t begin, int64_t end,
                        double cost);
/* They met some: the first one, recorded. */
FlStatus fl_kernel_first_fault(FlCtx *ctx, const FlKernel *kernel, const void *env, int64_t begin,
                               int64_t end, int32_t faults);
/* ranks_kernels.c: fl_run_kernel of a context that has other ranks. */
FlStatus fl_ranks_kernel(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t n, double cost);

/* ---- parted arrays: parted.c ---------------------------------------------------------------------- */

/* The elements of a kernel, 0 .. *end, whose rows are here; its results become parted as what it captures is.
 */
FlStatus fl_part_kernel(FlCtx *ctx, const FlKernel *kernel, const FlSlot *env, int64_t *begin, int64_t *end);
/* The rows of `a` that are here by the cut, where it is parted by it, or whole. */
FlArray *fl_part_here(FlCtx *ctx, const FlArray *a, const FlCut *cut);
/* An operator that works by rows, on those that are here: its results are of these alone. */
FlStatus fl_part_run_here(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                          FlSlot *results);
/* The rows of `from`, which are those that are here, as an array of all rows. NULL: recorded. */
FlArray *fl_part_place(FlCtx *ctx, FlArray *from, const FlCut *cut);

/* ---- notes: notes.c -------------------------------------------------------------------------------- */

void fl_notes_reset(FlNotes *notes);
/* Appends the notes of `from`, which is empty afterwards. */
void fl_notes_move(FlNotes *to, FlNotes *from);
void fl_notes_copy(FlNotes *to, const FlNotes *from);
/* As one text and back, to be stored with a result. The encoded bytes are the caller's to free. */
bool fl_notes_encode(const FlNotes *notes, FlText *out);
bool fl_notes_decode(FlText bytes, FlNotes *out);
/* Shows them live, as if they were reported now by stage call `event`. */
void fl_notes_show(const FlNotes *notes, FlReport *report, int32_t event);

/* ---- files read and written: paths.c --------------------------------------------------------------- */

typedef struct FlPaths FlPaths;
FlPaths *fl_paths_new(void);
void fl_paths_free(FlPaths *paths);
/* Lines of a record: the files that were read. */
void fl_paths_record(FlPaths *paths, FILE *to);

/* ---- stage calls ----------------------------------------------------------------------------------- */

/* A stage call on its way: a job with its own copy of the arguments. */
struct FlFuture {
  FlJob job;
  FlScope stage_scope; /* what the stage's body runs in; its parent is the caller's */
  FlRun *run;
  const FlStage *stage;
  int32_t site;
  uint64_t number;        /* of the caller's futures, from 1 */
  bool at_once;           /* it has run when fl_stage_start returns: no job */
  _Atomic bool unwanted;  /* an earlier failure made it pointless: do not begin */
  FlSlot *args, *results; /* the bytes of texts follow the arguments; those of results are the context's */
  FlStatus status;
  FlCtx ctx; /* error and notes of the call */
  struct FlFuture *prev, *next;
};

/* What the report is told of a call that has ended as its status says. */
FlStageEnd fl_stage_end(const FlFuture *call, FlStageHow how, FlStageKept kept);
/* Runs the stage's function; results are owned on success. */
FlStatus fl_stage_compute(FlFuture *call);
/* Lets go of slots: unrefs the arrays. */
void fl_slots_release(const FlSlot *slots, const FlType1 *types, int32_t n);
/* Makes `to` own what `from` has: arrays get a reference, texts are copied to the heap (NULL: there are
 * none). */
void fl_slots_copy(FlHeap *heap, FlSlot *to, const FlSlot *from, const FlType1 *types, int32_t n);
bool fl_slots_have_text(const FlType1 *types, int32_t n);

/* fl_array_digest, by all workers where the array is large: digests.c. */
FlDigest fl_ctx_array_digest(FlCtx *ctx, FlArray *a);

/* The identity of a stage call (LANGUAGE 13): recall.c. Bytes on the heap. */
typedef struct FlStageKey {
  char *bytes;
  int64_t len;
  FlDigest digest, *args; /* of each argument's content; in `bytes` */
} FlStageKey;
FlStatus fl_stage_key(FlCtx *ctx, FlFuture *call, FlStageKey *out);
/* Gives the results of a call: remembered, computed by somebody else meanwhile, or computed here and then
 * stored. */
FlStatus fl_stage_recall(FlFuture *call);
/* The same at a rank that is told what rank 0 remembers, where all ranks make the call. */
FlStatus fl_stage_follow(FlFuture *call);

/* Stages that are being computed in this process. */
typedef struct FlFlight FlFlight;
typedef struct FlFlightEntry FlFlightEntry;
FlFlight *fl_flight_new(void);
void fl_flight_free(FlFlight *flight);
/* NULL: the caller computes and must call fl_flight_land. Else somebody else does: wait for it with
 * fl_flight_follow. */
FlFlightEntry *fl_flight_join(FlFlight *flight, const FlStageKey *key);
/* Waits, helping; then takes over results or error and the notes. The entry is consumed. */
FlStatus fl_flight_follow(FlFuture *call, FlFlightEntry *entry);
/* The leader is done (status, call->results, call->ctx): its followers get what it has. */
void fl_flight_land(FlFuture *call, const FlStageKey *key, FlStatus status);

/* ---- the record of the last run: last_run.c ---- */

/* What the record says of a stage call's key; malloc, NULL: no memory. */
char *fl_stage_key_text(const FlStage *stage, const FlStageKey *key, const FlSlot *args);
/* Its arguments that are scalars and have names, as people read them; malloc, NULL: no memory. */
char *fl_stage_args_text(const FlStage *stage, const FlSlot *args);
/* Whether the run leaves a record, by its options; and that it does. */
bool fl_last_run_wanted(const FlRun *run);
bool fl_last_run_sees(const FlRun *run);
/* The process ends now: what is known so far, as stopped by the signal; any thread. */
void fl_last_run_stopped(FlRun *run, int signal);
void fl_last_run_save(void *run); /* while it runs: FlReportOptions.save */
/* Reads the record of the run before, for who shows progress. */
void fl_last_run_look(FlRun *run);
void fl_last_run_end(FlRun *run, int status, int signal);

/* ---- runs ------------------------------------------------------------------------------------------ */

typedef struct FlWaiting FlWaiting; /* tried.c */

/* The first rows of tables: exec/seen.c. */
typedef struct FlSeenSoFar {
  _Atomic uint8_t *calls; /* [stages]: how many are seen of each; NULL: none of any */
  pthread_mutex_t lock;   /* of what follows */
  struct FlSeenKept *last;
  int32_t n_columns;
  size_t bytes;
} FlSeenSoFar;
bool fl_seen_init(FlRun *run);
/* A call of a stage begins: false: so many were seen before it that its tables are not. */
bool fl_seen_call(FlRun *run, const FlStage *stage);
/* The lines of the record that say them. */
void fl_seen_record(FlRun *run, FlRecordFiles *files, FILE *to);
void fl_seen_free(FlSeenSoFar *all);

/* What was shown, as lines of the record: exec/shown.c. */
typedef struct FlShownSoFar {
  pthread_mutex_t lock; /* of lines: another thread may be writing the record */
  FlBytes lines;
  size_t whole;   /* bytes of what is in them and complete */
  int64_t cells;  /* that are in them */
  int32_t n;      /* tables and texts */
  bool rows_kept; /* of the table that is being added */
  char place[48]; /* words of the site `place_of - 1`, which a loop shows many times; n_place: their bytes */
  int32_t place_of;
  int32_t n_place;
} FlShownSoFar;
void fl_shown_record(FlShownSoFar *so_far, FILE *f); /* what is complete; any thread */

struct FlRun {
  const FlProgram *program;
  FlRunOptions options;
  FlSched *sched;
  bool entered;  /* this run made its thread a guest of a shared pool */
  FlScope scope; /* of the script: jobs of other runs are none of its */
  FlPool *pool;
  FlHeap *heap; /* texts of parameters */
  FlMemo *memo; /* NULL: results are not remembered */
  FlReport *report;
  FlFlight *flight;
  FlPaths *paths;
  FlFiles *files;
  FlCuts *cuts;             /* NULL: all arrays are whole */
  bool recorded;            /* it leaves a record */
  bool before_read;         /* the record of the run before was looked for: */
  char *record_name;        /* by which the store has its record; NULL: nobody looked, or no memory */
  FlMemoEntry *before_text; /* it, or NULL */
  struct FlRecord *before;  /* and read, for who shows it; or NULL */
  struct FlRecord *record;  /* of this run, at its end, for the page; or NULL */
  bool shared;              /* there are cuts, or ranks */
  int64_t start;            /* when the run began, microseconds since 1970 */
  _Atomic int stop;         /* 0; the signal that asks the run to end; -1: a failure of the script does */
  int64_t tried_until;      /* of the process's time, nanoseconds; 0: it is not tried */
  int64_t tried_at_most;    /* of the clock */
  _Atomic uint32_t looks;   /* at that, and now and then at the clocks */
  pthread_mutex_t waiting_lock;
  FlShownSoFar shown;
  FlSeenSoFar seen;
  struct FlSum *sums;        /* that were begun, under waiting_lock (exec/sums.h) */
  int64_t n_sums;            /* so far */
  struct FlSumHabit *habits; /* of loops whose sums several ranks begin ahead */
  FlWaiting *waiting;        /* results that are stored when it has come to its end */
  _Atomic(_Atomic uint8_t *)
      told; /* [sites]: of its line it was said that it goes to disk; NULL: of none yet */
  FlCtx main;
};

/* parted.c: writes arrays that are not written yet (data/unwritten.h): of n values of these types. Nothing
 * that a task gives, a key is made of or the store has is so; nor is ever what host code reads elements of
 * (fl_plan_codes). */
FlStatus fl_fill_all(FlCtx *ctx, int32_t n, const FlType1 *types, const FlSlot *values);

/* sums.c: what nobody has asked for; of ranks these are settled. */
void fl_run_free_sums(FlRun *run);

/* tried.c: stops a run that has been tried long enough. */
void fl_run_look(FlRun *run);
/* A result of a stage, which waits in a run that is tried: false where it cannot, and the run is given up. */
bool fl_run_wait_to_store(FlRun *run, FlMemoKey key, const FlEncoded *result);
bool fl_run_waits_to_store(FlRun *run, FlMemoKey key); /* is there one of that key? */
/* A file is about to be read, an operator to run: in a run that is tried it is given up where that may take
 * long, or, of a file that is a pipe or the like, comes once. */
FlStatus fl_tried_read(FlCtx *ctx, const char *path, int64_t len);
FlStatus fl_tried_op(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args);
/* Either way: it came to its end, or nothing of it stays. */
void fl_run_tried_begin(FlRun *run);
bool fl_run_tried_end(FlRun *run, bool well); /* false: what it printed is not taken */
void fl_run_tried_free(FlRun *run);

int64_t fl_run_clock(void); /* the time now, in microseconds since 1970 */

#endif
