/* diff.h: what two runs showed otherwise, for flowc diff.
 *
 * Things that were shown are the same thing where they were shown by the same line of a script, else where
 * they stand between the same others and are equal, or have the same columns, else where they stand between
 * the same others. Rows of a table are the same row where their key is the same:
 * the columns that are given, or of those columns, and of the first ones together, whose values are distinct
 * in both tables, those by which most rows are found again; floats and arrays are no keys. Without any, whole
 * rows are compared. Values are compared as they are in full. */
#ifndef FL_DIFF_H
#define FL_DIFF_H

#include "base/base.h"
#include "diag/diag.h"
#include "exec/shown.h"

typedef struct FlDiffSide {
  const FlShownList *shown;
  const FlSource *script; /* whose lines these are; NULL: it is no more */
} FlDiffSide;

/* Says what differs; false: nothing does. key: names with commas between them, or NULL. */
bool fl_diff_shown(FlArena *arena, FlText1 *out, FlDiffSide was, FlDiffSide is, const char *key);

/* diff_table.c: the same of one table. The head of what is said is the caller's: `place`. */
bool fl_diff_table(FlArena *arena, FlText1 *out, const FlShown *was, const FlShown *is, const char *key,
                   const char *place);
/* A value on one line, cut where it is long. */
void fl_diff_value(FlText1 *out, const char *value);

#endif
