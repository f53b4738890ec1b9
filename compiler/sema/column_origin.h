/* column_origin.h: why a column of a file is text, said where that is wrong. */
#ifndef FL_SEMA_COLUMN_ORIGIN_H
#define FL_SEMA_COLUMN_ORIGIN_H

#include "sema/state.h"

/* Keeps which value made a column text, of a file that was read. */
void fl_column_origin_keep(FlSema *s, const char *path, const FlIoSchema *schema);
/* Adds a note to each error about a text that is such a column: the line and the value. */
void fl_column_origin_say(FlSema *s);

#endif
