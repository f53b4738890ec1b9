/* date_format.h: printing by a date format, for format.c. */
#ifndef FL_DATE_FORMAT_H
#define FL_DATE_FORMAT_H

#include "kern/kern.h"

/* Prints a datetime by `format`; what does not fit in `room` bytes is cut. Returns the length; no NUL. */
int fl_date_format(char *buf, int room, const char *format, int64_t micros);

#endif
