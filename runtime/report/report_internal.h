/* report_internal.h: what is recorded of a run. */
#ifndef FL_REPORT_INTERNAL_H
#define FL_REPORT_INTERNAL_H

#include "report/report.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

typedef struct FlStageEvent {
  const FlStage *stage;
  int worker;
  int64_t begin, end; /* nanoseconds; end < 0: still running */
  /* nanoseconds of processors that the process took meanwhile; while it runs: had taken before */
  int64_t work;
  int64_t held;  /* the most bytes that the run held meanwhile; while it runs: see fl_highs_begin */
  FlStageEnd as; /* how it ended; its key is owned */
  char *args;    /* as people read them, or NULL */
} FlStageEvent;

typedef struct FlNoteEvent {
  int32_t stage; /* -1: the script */
  int64_t at;
  char *name, *line; /* line: "name = value" */
} FlNoteEvent;

/* What an operator did at a place of the source, of one worker: relaxed, by that worker alone; name and site
 * stay as they are once `n` of the table counts them. */
enum { FL_TABLE_PLACES = 3072, FL_TABLE_SLOTS = 4096, FL_TABLE_BLOCK = 64 };
typedef struct FlPlaceCount {
  const char *name;
  int32_t site;
  /* counted: calls that said how many rows; held: the most bytes that the run held while one ran */
  _Atomic int64_t calls, ns, rows_in, rows_out, counted, bytes, held;
  /* moved: bytes that calls read and wrote which are timed, as ns; unmoved: how many of those did not know */
  _Atomic int64_t moved, unmoved;
} FlPlaceCount;
/* The places in the order in which they came, in blocks that are made when needed: a short run has few. */
typedef struct FlPlaceTable {
  _Atomic int32_t n;             /* released once the place is there */
  uint16_t slot[FL_TABLE_SLOTS]; /* by a hash of name and site: 1 + its number; 0: none */
  FlPlaceCount *at[FL_TABLE_PLACES / FL_TABLE_BLOCK];
} FlPlaceTable;

/* The same, of all workers. */
typedef struct FlPlaceSum {
  const char *name;
  int32_t site;
  int64_t calls, ns, rows_in, rows_out, counted, bytes, held, moved, unmoved;
} FlPlaceSum;

typedef struct FlKernelEvent {
  const char *name;
  int worker;
  int64_t begin, end, elements;
} FlKernelEvent;

typedef struct FlOperatorEvent {
  const char *name;
  int32_t line; /* of the script; 0: none */
  int worker;
  int64_t begin, end;
} FlOperatorEvent;

/* Of the timeline of another rank. */
typedef struct FlLaneText {
  char *text;
  int64_t bytes;
} FlLaneText;

typedef struct FlPlotEvent {
  int32_t line;
  char *svg;
  size_t len;
} FlPlotEvent;

/* What is held back: pieces of this kind. */
typedef struct FlHeldPiece {
  size_t end; /* its first byte behind it */
  bool said;  /* to people */
} FlHeldPiece;
typedef struct FlHeld {
  FlHeldPiece *pieces;
  char *bytes;
  int32_t n, cap;
  size_t room;
  bool lost; /* there was no memory for some of it */
} FlHeld;

struct FlReport {
  FlReportOptions options;
  int64_t start; /* CLOCK_MONOTONIC, nanoseconds */
  int n_tables;  /* one a worker, and one for who is none */
  _Atomic(FlPlaceTable *) *tables;
  _Atomic int64_t save_at; /* when the record is to be written next; nobody else writes it then */
  bool progress, live;     /* a terminal to show progress on; the live line is on the screen now */
  pthread_mutex_t lock;    /* all below */
  FlStageEvent *stages;
  FlNoteEvent *notes;
  FlKernelEvent *kernels;
  FlOperatorEvent *operators;
  FlPlotEvent *plots;
  FlMessageEvent *messages;
  FlLaneText *lanes;
  FlReportRank *ranks; /* [n_ranks] */
  int32_t n_messages, cap_messages, n_lanes, cap_lanes, n_ranks;
  int64_t n_dropped; /* events that were one too many */
  int32_t n_plots, cap_plots;
  size_t plot_bytes; /* of all */
  const struct FlRecord *before, *shown;
  int32_t n_stages, cap_stages, n_notes, cap_notes, n_kernels, cap_kernels, n_operators, cap_operators;
  int32_t n_run, n_cached, n_failed;
  FlHeld held;
  const char *last_note; /* what the live line shows beside the running stages */
};

/* progress.c; under the lock. The line of what runs now, its length; 0: nothing does. */
enum { FL_LIVE_LINE = 80, FL_LIVE_CALL = 41 };
size_t fl_report_live(const FlReport *report, char line[FL_LIVE_LINE]);
/* "train(lambda = 0.1)", cut where it is long. */
const char *fl_report_called(char out[FL_LIVE_CALL], const FlStageEvent *e);

/* false: the stream did not take all. */
bool fl_report_write_trace(const FlReport *report, FILE *to);
bool fl_report_write_html(const FlReport *report, FILE *to, int exit_status);
/* "1.23 s", "45 ms", "12 us" */
void fl_report_duration(char buffer[32], int64_t ns);
/* "812 B", "3.4 MB" */
void fl_report_bytes(char buffer[32], int64_t bytes);
/* "4 ranks sent 12.3 MB, 3% of the time in messages, rank 2 the slowest"; false: there are not several. */
enum { FL_RANKS_LINE = 160 };
bool fl_report_ranks_line(const FlReport *report, char line[FL_RANKS_LINE]);
/* Sums by place and operator, in the order of sites; the caller's to free. NULL: none. */
FlPlaceSum *fl_report_places(const FlReport *report, int32_t *n);
void fl_report_places_free(FlReport *report);
/* The number of the table of a worker, or of who is none. */
int fl_report_table(const FlReport *report, int worker);
/* Where a site stands in what the user wrote: itself, or the call out of which a site of the library came;
 * -1: nowhere. */
int32_t fl_report_site(const FlReport *report, int32_t site);

#endif
