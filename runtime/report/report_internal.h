/* report_internal.h: what is recorded of a run. */
#ifndef FL_REPORT_INTERNAL_H
#define FL_REPORT_INTERNAL_H

#include "report/report.h"

#include <pthread.h>
#include <stdio.h>

typedef struct FlStageEvent {
  const char *name;
  int worker;
  int64_t begin, end; /* nanoseconds; end < 0: still running */
  int64_t work;       /* nanoseconds of processors that the process took meanwhile; while it runs: had taken before */
  FlStageHow how;
} FlStageEvent;

typedef struct FlNoteEvent {
  int32_t stage; /* -1: the script */
  int64_t at;
  char *name, *value;
} FlNoteEvent;

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

struct FlReport {
  FlReportOptions options;
  int64_t start;        /* CLOCK_MONOTONIC, nanoseconds */
  bool progress, live;  /* a terminal to show progress on; the live line is on the screen now */
  pthread_mutex_t lock; /* all below */
  FlStageEvent *stages;
  FlNoteEvent *notes;
  FlKernelEvent *kernels;
  FlOperatorEvent *operators;
  int32_t n_stages, cap_stages, n_notes, cap_notes, n_kernels, cap_kernels, n_operators, cap_operators;
  int32_t n_run, n_cached, n_failed;
  const char *last_note; /* what the live line shows beside the running stages */
};

/* false: the stream did not take all. */
bool fl_report_write_trace(const FlReport *report, FILE *to);
bool fl_report_write_html(const FlReport *report, FILE *to, int exit_status);
/* "1.23 s", "45 ms", "12 us" */
void fl_report_duration(char buffer[32], int64_t ns);

#endif
