/* report.h: what people see of a run: progress on a terminal, the closing line, the timeline, the page.
 *
 * In: the beginnings and ends of stages, notes, output. Out: lines on standard error (one a finished stage,
 * only when it is a terminal), program output on standard output not mixed with them, and at the end, where
 * asked for, a Chrome trace (JSON) and a self-contained HTML page. What always holds: nothing here changes a
 * result or an exit status. All functions may be called from any thread. */
#ifndef FL_REPORT_H
#define FL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FlReport FlReport;

typedef struct FlReportOptions {
  const char *script;       /* shown as the title */
  const char *html, *trace; /* files to write at the end, or NULL */
  bool quiet;               /* no progress and no closing line */
  int workers;
  /* Where program output goes; NULL: standard output. */
  void (*out)(void *arg, const char *bytes, int64_t len);
  void *out_arg;
  /* Where everything else goes that is said to people; NULL: standard error. Called under a lock. */
  void (*say)(void *arg, const char *bytes, int64_t len);
  void *say_arg;
} FlReportOptions;

FlReport *fl_report_new(const FlReportOptions *options); /* strings are borrowed; NULL: out of memory */
void fl_report_free(FlReport *report);
int64_t fl_report_now(const FlReport *report); /* nanoseconds since it was made */

typedef enum FlStageHow { FL_STAGE_RUN, FL_STAGE_CACHED, FL_STAGE_FAILED } FlStageHow;

/* A stage call begins: returns its number, for the calls below. `name` must live as long as the report. */
int32_t fl_report_stage(FlReport *report, const char *name, int worker);
void fl_report_stage_end(FlReport *report, int32_t stage, FlStageHow how);
/* A note within a stage (-1: the script); shown live. value: as people read it. Copied. */
void fl_report_note(FlReport *report, int32_t stage, const char *name, const char *value);

const char *fl_report_how(FlStageHow how); /* "run", "cached", "failed" */

/* Whether kernels are to be recorded, and one of them. */
bool fl_report_wants_kernels(const FlReport *report);
void fl_report_kernel(FlReport *report, const char *name, int worker, int64_t begin, int64_t end,
                      int64_t elements);

/* Whether operators (reading, joins, groups ..) are to be recorded, and one of them, of that line of the
 * script (0: none); what took less than 10 microseconds is left out. `name` must live as long as the report.
 */
bool fl_report_wants_operators(const FlReport *report);
void fl_report_operator(FlReport *report, const char *name, int32_t line, int worker, int64_t begin,
                        int64_t end);

/* Bytes of the program's own output. false: standard output does not take them (errno says why). */
bool fl_report_output(FlReport *report, const char *bytes, int64_t len);
bool fl_report_flush(FlReport *report);
/* Lines for people, whole. */
void fl_report_say(FlReport *report, const char *bytes, size_t len);
/* One of them, without the newline. */
void fl_report_line(FlReport *report, const char *line);

/* Ends the display, prints "N stages: R run, C cached" when there were any (not with quiet), writes the
 * files. false: a file could not be written (*failed names it, errno says why). */
bool fl_report_close(FlReport *report, int exit_status, const char **failed);

#endif
