/* exec.h: what a running program is to the other rooms of the runtime: contexts, errors, loops, output.
 *
 * A *run* is one execution of a program: its pool of workers, memory, store, report and options. A *context*
 * (FlCtx) is one thread of control within it: the script, one stage, or one element of a host-level loop.
 * What always holds: a context is used by one thread at a time (bodies of fl_parallel_for must not touch it
 * but to read); it records the first error only; after a function returned non-zero nothing but unwinding
 * happens in its context. */
#ifndef FL_EXEC_H
#define FL_EXEC_H

#include "data/cut.h"
#include "flow/abi.h"
#include "sched/sched.h"

#include <stdio.h>

typedef struct FlRun FlRun;

/* ---- errors ---------------------------------------------------------------------------------------- */

/* What went wrong: one FlFault bit, or the number of a row of diag.def as FL_CODE(901) for E0901. */
#define FL_CODE(number) (0x10000 | (number))

/* Codes that the runtime itself reports, beside the faults. */
enum {
  FL_CODE_INTERNAL = FL_CODE(929),  /* a bug in flow: exit status 70 */
  FL_CODE_STOPPED = FL_CODE(928),   /* interrupted: never shown */
  FL_CODE_ELSEWHERE = FL_CODE(927), /* to be asked by rank 0: never shown */
  FL_CODE_RESOURCE = FL_CODE(920),  /* disk full, no threads, too many files: exit status 4 */
};

/* Records an error at a site (-1: no place) unless the context has one already, and returns a non-zero
 * status. The message as everywhere: lower case first, no full stop, what was expected and what was found. */
FlStatus fl_fail_text(FlCtx *ctx, int32_t site, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a call of an operator: at desc->site. */
#define fl_fail_op(ctx, desc, code, ...) fl_fail_text((ctx), (desc)->site, (code), __VA_ARGS__)

/* Adds to the error that the context holds (nothing without one; at most 4 notes). */
void fl_fail_note(FlCtx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fl_fail_help(FlCtx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Says which datum it was: file (NULL: none), 1-based row of the data (0: none), column (NULL), and the
 * value's text (NULL; need not be terminated, is cut when long). */
void fl_fail_datum(FlCtx *ctx, const char *file, int64_t row, const char *column, const char *value,
                   int64_t value_len);

bool fl_ctx_failed(const FlCtx *ctx); /* does the context hold an error? */
void fl_fail_forget(FlCtx *ctx);      /* whoever tries another way has not failed; NULL is allowed */
/* The message and code number (701 for E0701) of the context's error, for tests; NULL and 0 without one. */
const char *fl_ctx_message(const FlCtx *ctx);
int fl_ctx_code(const FlCtx *ctx);

/* A scalar as messages show it (floats shortest, texts quoted and cut). Returns `buffer`. */
enum { FL_SHOWN = 96 };
const char *fl_show_scalar(char buffer[FL_SHOWN], int32_t dtype, FlSlot value);

/* ---- contexts -------------------------------------------------------------------------------------- */

/* What a context belongs to; borrowed. */
FlSched *fl_ctx_sched(const FlCtx *ctx);
const FlProgram *fl_ctx_program(const FlCtx *ctx);
FlRun *fl_ctx_run(const FlCtx *ctx);
/* True when the user has asked the run to stop, or memory has run out: long loops end early with
 * fl_fail_stopped, which says which of them it was, and nothing is printed, written or remembered any more.
 */
bool fl_ctx_is_stopped(const FlCtx *ctx);
FlStatus fl_fail_stopped(FlCtx *ctx);
/* Asks the run to end as by this signal: SIGPIPE when nobody reads its output any more. NULL, or one without
 * a run: nothing happens. */
void fl_ctx_stop(FlCtx *ctx, int signal);
/* What lies outside is about to be asked for something that may be another answer next time, or elsewhere:
 * the environment, a program. Of several ranks, rank 0 may, and what the operator gives goes to all; of
 * others it fails, silently. */
FlStatus fl_ctx_ask(FlCtx *ctx);
/* Whether this rank is the one to read standard input; and then, of all, whether it did, where that goes to
 * all: *copy is a file of it that is the caller's, -1 where standard input itself is. */
bool fl_ctx_reads_input(const FlCtx *ctx);
bool fl_ctx_pass_input(FlCtx *ctx, bool there, int *copy);
bool fl_ctx_is_alone(const FlCtx *ctx); /* there are no other ranks */
/* The least and the largest of what the ranks say here, all of which come here; alone, or where each rank
 * does something of its own, that is `mine`. */
FlStatus fl_ctx_agree(FlCtx *ctx, int32_t site, int64_t mine, int64_t *least, int64_t *most);
/* Whether --allow-exec was given. */
bool fl_ctx_may_exec(const FlCtx *ctx);

/* Steps of a run whose arrays may be here in part (fl_run_parts): parted.c. */
bool fl_run_parts(FlRun *run, int32_t n, int32_t here); /* before it runs anything; false: out of memory */
FlCuts *fl_ctx_cuts(const FlCtx *ctx);                  /* NULL: all arrays are whole */
/* The cut of a loop: that of the parted arrays that it reads by its own rows; NULL: all are whole. It takes n
 * values, of which it needs `rows` (FlRows), goes over `length` rows, and gives arrays of these where it is
 * `by_rows`. Fails where it has no parted form; of ranks all is made whole instead. `what` is its name for
 * messages. */
typedef struct FlLoopTakes {
  const char *what;
  int32_t site, n;
  const uint8_t *rows;
  bool by_rows;
} FlLoopTakes;
FlStatus fl_loop_cut(FlCtx *ctx, const FlLoopTakes *takes, const FlSlot *values, int64_t length,
                     const FlCut **cut);
/* Element `row` of an array that is here in part is asked for: fails where it is in another part. */
FlStatus fl_part_has(FlCtx *ctx, int32_t site, const FlArray *a, int64_t row);
/* `a`, which may be NULL, is needed whole: of ranks, all of which come here, the rows of each go to all,
 * once; else it fails where it is here in part. `what` is who needs it. The second: the arrays among n
 * values. */
FlStatus fl_part_whole(FlCtx *ctx, int32_t site, const char *what, FlArray *a);
FlStatus fl_part_all_whole(FlCtx *ctx, int32_t site, const char *what, int32_t n, const FlType1 *types,
                           const FlSlot *values);
/* Row 0 of what an operator is given, of all rows: for messages. */
int64_t fl_ctx_first_row(const FlCtx *ctx);
/* Of an operator a part alone is asked for. It says how it can be cut, in units. Where `from` is not negative
 * it makes the part [from, to), which begins at a unit and ends at one or behind all rows, and is, of a fold,
 * a complete subtree of leaves.
 * A product of matrices, MATMUL: by rows of the result, or as a fold of rows of both factors; units are tiles
 * of rows, or leaves; given arrays of which these rows are here.
 * A sweep of rows (`nearest`, sums by label): results of each row, and sums of all, whose leaves are the
 * units; given these rows as if there were no others.
 * An order of rows (`sort`): share `from` of `to`, given all rows; the rows of the result that are of it, in
 * arrays of these alone.
 * A file: its rows, which go to their places in `arrays`, as the operator would give them, that have all rows
 * and memory there. */
enum { FL_SWEEP_ROWS = 2 };
typedef struct FlOpPart {
  int64_t rows, unit; /* unit 0: it must be made at once */
  double cost;        /* nanoseconds of a row */
  int64_t from, to;   /* from -1: nothing is made */
  /* Of a product. */
  int64_t width;   /* numbers of a row of the result, or of the result */
  int64_t dims[2]; /* of the result */
  bool folds;
  void *out;
  /* Of a sweep: how many of its results, the first ones, have rows. Of each: where its row 0 goes, NULL: it
   * is given; the argument that it may take the place of, which only who cannot fail at a row says, or -1. */
  int32_t of_rows, in_place[FL_SWEEP_ROWS];
  void *to_rows[FL_SWEEP_ROWS];
  int64_t bytes;        /* of an order: that are looked up in any order for all of it */
  const FlSlot *arrays; /* of a file */
} FlOpPart;
/* NULL: all is asked for. */
FlOpPart *fl_ctx_op_part(const FlCtx *ctx);

/* Loop on the pool; see FlLoopFn. ctx may be NULL (tests): then it runs inline. */
/* A loop over n elements that is no kernel, as the interpreter's: its place has it in the record as it has
 * kernels. Fails at once where the run is tried and has not so much time left (`ns`). */
typedef FlStatus FlWalkFn(void *arg);
FlStatus fl_run_walk(FlCtx *ctx, int32_t site, int64_t n, double ns, FlWalkFn *walk, void *arg);
/* What cannot be taken back is about to be done: fails in a run that is tried. */
FlStatus fl_ctx_act(FlCtx *ctx);

void fl_parallel_for(FlCtx *ctx, int64_t n_items, int64_t grain, FlLoopFn *fn, void *env);
int fl_ctx_workers(const FlCtx *ctx); /* scratch memory per worker: this many; 1 for NULL */

/* ---- the world ------------------------------------------------------------------------------------- */

/* Writes to standard output, in program order, not mixing with the progress display. */
FlStatus fl_ctx_print(FlCtx *ctx, int32_t site, const char *bytes, int64_t len);
/* What is shown is kept for the record of the run, so far as that has room (exec/shown.c); by the script's
 * own context. A table, with `each` values in a row: true: it is kept; then all its columns follow, each with
 * its type, and where fl_ctx_keep_rows says so the cells of each: a category has its levels, a column without
 * nulls no `valid`. */
bool fl_ctx_keep_table(FlCtx *ctx, int32_t site, int64_t rows, int32_t columns, int64_t each);
void fl_ctx_keep_column(FlCtx *ctx, const char *name, const char *type, size_t len);
bool fl_ctx_keep_rows(FlCtx *ctx);
void fl_ctx_keep_cells(FlCtx *ctx, const FlArray *values, const FlArray *valid, const FlArray *levels);
/* Anything else, as it is printed. */
void fl_ctx_keep_text(FlCtx *ctx, int32_t site, const char *bytes, size_t len);
/* Whether the page of the run shows plots, and one of them: SVG, copied. */
bool fl_ctx_wants_plots(const FlCtx *ctx);
void fl_ctx_keep_plot(FlCtx *ctx, int32_t site, const char *svg, size_t len);
/* A warning on standard error; any thread. */
void fl_run_warn(FlRun *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Tells the user, once a line, that a step (an operator at `site`) keeps so many bytes on disk for want of
 * memory; not with --quiet. Any thread. ctx may be NULL. */
void fl_ctx_note_disk(FlCtx *ctx, int32_t site, int64_t bytes);

/* "The same path twice, or a path that is also an input, is an error": readers and writers say which files
 * they are about to use. Reading is never an error unless the path was written before in this run. Any
 * thread. */
FlStatus fl_ctx_claim_input(FlCtx *ctx, int32_t site, const char *path, int64_t len);
FlStatus fl_ctx_claim_output(FlCtx *ctx, int32_t site, const char *path, int64_t len);

/* ---- runs ------------------------------------------------------------------------------------------ */

/* Makes optimised forms of kernels while they run (FlKernel.code). Any thread, several at a time. */
typedef struct FlKernelMaker {
  /* The form, which lives as long as the program, or NULL. make: also where it is not remembered, which takes
   * milliseconds. Must not fail otherwise. */
  FlKernelFn (*make)(void *arg, const char *code, int64_t n_code, bool make);
  void *arg;
  bool at_once; /* when a kernel first runs: for tests */
} FlKernelMaker;

typedef struct FlRanks FlRanks; /* ranks/ranks.h */

/* Who takes the record of a run, once it has ended, in place of the store, and what it prints in place of
 * standard output, which is dropped. */
typedef struct FlRunTaker {
  void (*record)(void *arg, const char *bytes, size_t len);
  void *arg;
} FlRunTaker;

typedef struct FlRunOptions {
  int workers;           /* 0: all CPUs; without `pool` */
  FlSched *pool;         /* of workers, shared with other runs, which outlives them; NULL: one of its own */
  int64_t memory;        /* bytes that may be resident; 0: as the machine has */
  const char *cache_dir; /* NULL: results are not remembered */
  const char *script;    /* its path as given; names the records of `flowc why`; NULL: program->name */
  const char *report_file, *trace_file; /* NULL: none */
  bool quiet;                           /* no progress, no closing line */
  bool no_record;                       /* the run leaves no record of itself */
  bool allow_exec, color;               /* color: of errors */
  /* Where fl_ctx_print goes instead of standard output; NULL: there. */
  void (*out)(void *arg, const char *bytes, int64_t len);
  void *out_arg;
  /* What the run tells people besides (errors, warnings, the closing line), whole lines; NULL: standard
   * error. Any thread, one at a time; both functions must not fail. */
  void (*say)(void *arg, const char *bytes, int64_t len);
  void *say_arg;
  void (*keep)(int64_t limit); /* see fl_pool_tell; NULL but for who owns the process */
  const FlKernelMaker *maker;  /* NULL: kernels stay as they are; outlives the run */
  int64_t tries; /* nanoseconds of the processors after which the run is given up; 0: it is run to its end
                    (tried.c) */
  bool looks;    /* of one that is tried for what it prints alone: operators may take all of its time */
  /* Says what the program does, for the page of a run; NULL: nobody can. */
  void (*plan)(void *arg, FILE *to);
  void *plan_arg;
  const FlRunTaker *taker; /* NULL: the store; outlives the run */
  FlRanks *ranks;          /* this one of several runs of one program; NULL: alone; outlives the run */
} FlRunOptions;

/* A run without a command line: tests, tools, programs of others. The calling thread becomes a worker (of a
 * shared pool that has room for no more guests, it does all by itself), until it frees the run. NULL: out of
 * memory, or the pool is the run's own and the thread has another run. */
FlRun *fl_run_new(const FlProgram *program, const FlRunOptions *options);
/* Waits for nothing: all contexts must be at rest. NULL is allowed. */
void fl_run_free(FlRun *run);
FlCtx *fl_run_ctx(FlRun *run); /* the script's own context */
/* Asks the run to end as by this signal, from any thread: the first to ask is the reason; a signal is a
 * better one than a failure (-1). */
void fl_run_stop(FlRun *run, int signal);
/* The signal that has asked the run to end, or 0. */
int fl_run_signal(const FlRun *run);
/* The process ends now, whatever the run is doing: files that it is writing are as they were, and its record
 * says by which signal (0: nothing). Any thread. */
void fl_run_give_up(FlRun *run, int signal);
/* Writes the record of a run that runs where that is due, though it be in one loop for long. Any thread. */
void fl_run_record_if_due(FlRun *run);
/* Runs program->main with the parameters' slots; tells of the error, if any; closes the
 * report. Returns the exit status; of a run that is tried FL_RUN_AGAIN where it did not come to its end. */
enum { FL_RUN_AGAIN = -1 };
int fl_run_main(FlRun *run, const FlSlot *args);

/* Where results are remembered when nothing else was said: FLOW_CACHE, else .flow/cache beside the script
 * (NULL: beside the running executable), else, where that folder cannot be written, fl_user_cache_dir. False:
 * nowhere. */
bool fl_cache_dir(const char *script, char *out, size_t size);

/* The user's own folder: FLOW_CACHE, else flow/ in XDG_CACHE_HOME or ~/.cache. False: no home, or FLOW_CACHE
 * is empty. */
bool fl_user_cache_dir(char *out, size_t size);

/* Whether runs are to leave no record: FLOW_RECORD=off. */
bool fl_record_is_off(void);

/* The candidate closest to `name` (Damerau-Levenshtein, within a third of its length), or NULL. */
const char *fl_closest_name(const char *name, const char *const *candidates, int n);

#endif
