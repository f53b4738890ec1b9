/* html_internal.h: the pieces of the page about a run. */
#ifndef FL_HTML_INTERNAL_H
#define FL_HTML_INTERNAL_H

#include "report/report_internal.h"

/* A text of the user, escaped. */
void fl_html_text(FILE *f, const char *s);
/* 12 kB; 27,004 */
void fl_html_bytes(FILE *f, int64_t bytes);
void fl_html_count(FILE *f, int64_t n);
/* html_timeline.c: what the workers did when; and the chain of stages that the run waited for. `total`:
 * nanoseconds of the run. */
void fl_html_timeline(FILE *f, const FlReport *r, int64_t total);
void fl_html_critical(FILE *f, const FlReport *r, int64_t total);
/* "above(least = 1)" */
void fl_html_called(FILE *f, const FlStageEvent *e);
/* html_stages.c: stages by name, and each call. */
void fl_html_stages(FILE *f, const FlReport *r, int64_t total);
/* html_runs.c: notes of this run, and over runs. */
void fl_html_notes(FILE *f, const FlReport *r);
void fl_html_runs(FILE *f, const FlReport *r, int exit_status);

/* html_tables.c: the first rows of tables. */
void fl_html_tables(FILE *f, const FlReport *r);

#endif
