/* last_run.h: where the record of a script's last run is. */
#ifndef FL_LAST_RUN_H
#define FL_LAST_RUN_H

#include "memo/memo.h"
#include "report/record.h"

/* The name of the record in the store, for a script's path. On the heap; NULL: out of memory. */
char *fl_last_run_name(const char *script);
#define FL_LAST_RUN_NAME "run of "
/* The record that a store has of a script; NULL: none. */
FlRecord *fl_last_run_read(FlMemo *memo, const char *script);
/* The cells of a column of the record, once they are asked for. false: it holds no such column, or there is
 * no memory. */
bool fl_last_run_cells(FlRecord *record, FlRecordColumn *column);

#endif
