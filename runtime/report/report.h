/* report.h: what is known of a run, and what people see of it: progress on a terminal, the closing line, the
 * timeline, the page, and the record of it (record.h) that stays.
 *
 * In: the beginnings and ends of stages, operators and loops, notes, output. Out: lines on standard error
 * (one a finished stage, only when it is a terminal), program output on standard output not mixed with them,
 * and at the end, where asked for, a Chrome trace (JSON) and a self-contained HTML page. What always holds:
 * nothing here changes a result or an exit status. All functions may be called from any thread. */
#ifndef FL_REPORT_H
#define FL_REPORT_H

#include "flow/abi.h"

#include <stdio.h>

typedef struct FlReport FlReport;

typedef struct FlReportOptions {
  const char *script;       /* shown as the title */
  const char *html, *trace; /* files to write at the end, or NULL */
  bool lane;                /* events are recorded for a timeline that another rank writes */
  bool quiet;               /* no progress and no closing line */
  bool counts;              /* what operators and loops do is added up by their places */
  int workers;
  struct FlHighs *highs;    /* what the run holds (base/high.h), of workers and one more; referenced */
  const FlProgram *program; /* whose sites and stages those of the events are; NULL: there are none */
  /* Called from time to time, by one thread at once, so that a run that is killed leaves a record; NULL:
   * nothing is left. */
  void (*save)(void *arg);
  void *save_arg;
  /* Where program output goes; NULL: standard output. */
  void (*out)(void *arg, const char *bytes, int64_t len);
  void *out_arg;
  /* Where everything else goes that is said to people; NULL: standard error. Called under a lock. */
  void (*say)(void *arg, const char *bytes, int64_t len);
  void *say_arg;
  /* Says what the program does, as people read it, for the page; NULL: nobody can. Called at the end. */
  void (*plan)(void *arg, FILE *to);
  void *plan_arg;
  bool holds; /* both are held back, in their order, until fl_report_tell; and there is no progress */
} FlReportOptions;

FlReport *fl_report_new(const FlReportOptions *options); /* strings are borrowed; NULL: out of memory */
void fl_report_free(FlReport *report);
int64_t fl_report_now(const FlReport *report);   /* nanoseconds since it was made */
int64_t fl_report_start(const FlReport *report); /* CLOCK_MONOTONIC, ns: when that was */

/* ELSEWHERE: another rank must run it, and counts it; TOGETHER: with rank 0, which counts it. */
typedef enum FlStageHow {
  FL_STAGE_RUN,
  FL_STAGE_CACHED,
  FL_STAGE_FAILED,
  FL_STAGE_ELSEWHERE,
  FL_STAGE_TOGETHER
} FlStageHow;

/* What became of a stage's result, in words of the record. */
typedef enum FlStageKept {
  FL_KEPT_NO,      /* the run has no store */
  FL_KEPT_NEVER,   /* its declaration says so */
  FL_KEPT_FAILED,  /* there is none */
  FL_KEPT_CHEAP,   /* it was made faster than it would be read back */
  FL_KEPT_CHANGED, /* a file that it read changed meanwhile */
  FL_KEPT_LOST,    /* the store did not take it */
  FL_KEPT_YES
} FlStageKept;
const char *fl_report_kept(FlStageKept kept); /* "no", "never" .. */

/* How a stage call ended. Rows: of its first argument and of its result that are arrays, -1: none is. */
typedef struct FlStageEnd {
  FlStageHow how;
  FlStageKept kept;
  int64_t rows_in, rows_out, bytes; /* bytes: of its result in the store */
  char *key; /* what `stage` of a record says from the digest on; malloc; NULL: it has none */
} FlStageEnd;

/* Whether arguments of stage calls are shown somewhere. */
bool fl_report_wants_args(const FlReport *report);
/* A stage call begins: returns its number, for the calls below. args: as people read them; malloc, the
 * report's from then on, or NULL. */
int32_t fl_report_stage(FlReport *report, const FlStage *stage, int worker, char *args);
/* `end.key` is the report's from then on. */
void fl_report_stage_end(FlReport *report, int32_t stage, FlStageEnd end);
/* A note within a stage (-1: the script); shown live. value: as people read it. Copied. */
void fl_report_note(FlReport *report, int32_t stage, const char *name, const char *value);

/* How many calls were run, remembered, and failed; and more of them, that other ranks made. */
void fl_report_stages(FlReport *report, int32_t counts[3]);
void fl_report_add_stages(FlReport *report, int32_t run, int32_t cached, int32_t failed);

const char *fl_report_how(FlStageHow how); /* "run", "cached", "failed" */

/* A meeting of ranks, or a message. `name` must live as long as the report. */
typedef struct FlMessageEvent {
  const char *name;
  int32_t line; /* of the script, 0: none */
  int32_t from; /* the rank that sent; -1: it is a meeting; -2: each gave to each */
  int worker;
  int64_t begin, end, bytes;
} FlMessageEvent;
void fl_report_message(FlReport *report, const FlMessageEvent *event);

/* What a rank did between the beginning and the end of the program: bytes of it that others took, and how
 * long messages, and all, took it. */
typedef struct FlReportRank {
  int64_t taken, messages_ns, ns;
} FlReportRank;
/* This run is rank 0 of n. each[n]: malloc, the report's from then on. */
void fl_report_ranks(FlReport *report, FlReportRank *each, int32_t n);

/* The timeline of this run, as text that the one of rank 0 takes: the longest events, and all stages before
 * others, of at most `most` bytes. NULL: no memory. */
typedef struct FlLane {
  int32_t rank;
  const char *name;
  int64_t shift, most; /* shift: ns, added to all times */
} FlLane;
char *fl_report_lane(const FlReport *report, const FlLane *lane, int64_t *bytes);
/* malloc, the report's from then on. */
void fl_report_add_lane(FlReport *report, char *text, int64_t bytes);

/* Whether kernels are to be recorded for a timeline, and one of them. */
bool fl_report_wants_kernels(const FlReport *report);
void fl_report_kernel(FlReport *report, const char *name, int worker, int64_t begin, int64_t end,
                      int64_t elements);

/* An operator or a loop begins at a site (-1: none) and ends. `name` must live as long as the report. Rows:
 * -1: none; bytes: of what it gave; moved: that it read and wrote, -1 where that is not known, asked only of
 * those that are timed. The end gives the time, -1 where this one is not timed. */
typedef struct FlPlaceMark {
  struct FlPlaceCount *place; /* NULL: not counted */
  int64_t begin;              /* -1: not timed */
  int32_t weight;             /* how many calls the time stands for */
  int32_t table;              /* whose place it is */
  int64_t held;               /* for the end: see fl_highs_begin */
} FlPlaceMark;
FlPlaceMark fl_report_begin(FlReport *report, int worker, const char *name, int32_t site);
static inline bool fl_report_times(FlPlaceMark mark) { return mark.place && mark.weight > 0; }
int64_t fl_report_end(FlReport *report, FlPlaceMark mark, int64_t rows_in, int64_t rows_out, int64_t bytes,
                      int64_t moved);
/* What one that has ended took besides, later. */
void fl_report_later(FlReport *report, int worker, const char *name, int32_t site, int64_t ns);

/* Whether operators (reading, joins, groups ..) are to be recorded one by one, for a timeline, and one of
 * them, of that line of the script (0: none); what took less than 10 microseconds is left out. `name` must
 * live as long as the report.
 */
bool fl_report_wants_operators(const FlReport *report);
void fl_report_operator(FlReport *report, const char *name, int32_t line, int worker, int64_t begin,
                        int64_t end);

/* Whether plots are shown somewhere, and one of them, of that line of the script: SVG, copied. */
bool fl_report_wants_plots(const FlReport *report);
void fl_report_plot(FlReport *report, int32_t line, const char *svg, size_t len);

/* Whether progress is shown, which the record of the run before says more of. */
bool fl_report_is_live(const FlReport *report);
/* That record, which outlives the report; NULL: there is none. */
struct FlRecord;
void fl_report_before(FlReport *report, const struct FlRecord *before);
/* The record of the run itself, for the page: the first rows of tables, whose cells have been read. It
 * outlives the report; NULL: there is none. */
void fl_report_tables(FlReport *report, const struct FlRecord *record);

/* The lines of the record that a report knows: stages, notes, places; and those of its own run that
 * its first line has behind its source. Any time, any thread. */
typedef struct FlRecordFiles FlRecordFiles; /* of the source, numbered as they are met */
FlRecordFiles *fl_record_files_new(void);   /* NULL: no memory */
void fl_report_record(FlReport *report, FlRecordFiles *files, FILE *to);
/* " file line column length callers text" of a site; false: there is none, and nothing is written. */
bool fl_report_record_site(const FlReport *report, FlRecordFiles *files, int32_t site, FILE *to);
void fl_record_files_end(FlRecordFiles *files, FILE *to); /* writes and frees them */
void fl_report_record_counts(FlReport *report, FILE *to);
/* Numbers of a line, a blank before each: at most so many. printf would take most of the time of a record. */
enum { FL_RECORD_NUMBERS = 8 };
void fl_record_numbers(FILE *to, int n, const int64_t *numbers);
/* A word of a record, as it stands there. */
void fl_record_word(FILE *to, const char *word);

/* Bytes of the program's own output. false: standard output does not take them (errno says why). */
bool fl_report_output(FlReport *report, const char *bytes, int64_t len);
bool fl_report_flush(FlReport *report);
/* Tells what was held back, and holds nothing from then on. As fl_report_output. */
bool fl_report_tell(FlReport *report);
/* Lines for people, whole. */
void fl_report_say(FlReport *report, const char *bytes, size_t len);
/* One of them, without the newline. */
void fl_report_line(FlReport *report, const char *line);

/* Ends the display, prints "N stages: R run, C cached" when there were any, and what ranks sent (not with
 * quiet), writes the files. false: a file could not be written (*failed names it, errno says why). */
bool fl_report_close(FlReport *report, int exit_status, const char **failed);

/* Has the record written (FlReportOptions.save) where that is due at this time of the run. Any thread,
 * without locks of its own. */
void fl_report_save_if_due(FlReport *report, int64_t now);
/* Waits until nobody does that, `patience` looks of 50 us at most (-1: any), and from then on nobody will.
 * false: it is being done, or this was called before. */
bool fl_report_save_last(FlReport *report, int patience);

#endif
