/* date_format.h: dates and datetimes by a format, into text (date_print.c) and out of it (date_parse.c).
 *
 * A format is strftime's: these letters after %, with English names and in UTC, all else is itself. For each
 * the least digits and what fills them; with %- nothing does (%-d: 5).
 *
 *   Y 4  year                 H 2  hour              U 2  week of the year, from the first Sunday, 00 before
 *   C 2  its century          I 2  hour of 1 to 12   W 2  the same from the first Monday
 *   y 2  year of the century  k 2  H with blanks     V 2  week of ISO 8601
 *   m 2  month                l 2  I with blanks     G 4  its year                g 2  that year of the
 * century d 2  day of the month     M 2  minute            u 1  day of the week, Monday is 1 e 2  d with
 * blanks        S 2  second            w 1  day of the week, Sunday is 0 j 3  day of the year      f 6
 * microsecond       s 1  seconds since 1970 b h  month, three letters      B  in full        a  day of the
 * week, three letters   A  in full p    AM or PM             P    am or pm          z  +0000 Z  UTC D
 * %m/%d/%y   F %Y-%m-%d   T X %H:%M:%S   R %H:%M   r %I:%M:%S %p   x %m/%d/%y   c %a %b %e %H:%M:%S %Y n    a
 * line end           t    a tab             %  itself */
#ifndef FL_DATE_FORMAT_H
#define FL_DATE_FORMAT_H

#include "kern/kern.h"

/* Prints a day and microseconds since its midnight by `format`, as much as fits in `room` bytes. Returns the
 * length of all; no NUL. */
int64_t fl_date_format(char *buf, int64_t room, const char *format, int64_t days, int64_t micros);

/* What a letter stands for that is short for others; NULL: it is not. */
const char *fl_date_format_short(char letter);

extern const char *const fl_month_names[12], *const fl_day_names[7]; /* January, Monday first */

#endif
