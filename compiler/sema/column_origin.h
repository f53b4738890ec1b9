/* column_origin.h: why a column of a file has its type, said where that is wrong. */
#ifndef FL_SEMA_COLUMN_ORIGIN_H
#define FL_SEMA_COLUMN_ORIGIN_H

#include "sema/state.h"

/* Keeps which values made the types of columns, of a file that was read. */
void fl_column_origin_keep(FlSema *s, const char *path, const FlIoSchema *schema);
/* Adds a note to each error about the type of such a column: the line and the value. */
void fl_column_origin_say(FlSema *s);

#endif
