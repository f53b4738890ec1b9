/* history.h: the record of a script's stage calls, as written by runs and read by `flowc why`.
 *
 * record := FL_HISTORY_HEAD call* FL_HISTORY_BEFORE call*      of the last run, and of the one before
 * call   := name ' ' ("run" | "cached" | "failed") (' ' digest)+ '\n'
 * call   := ... and each argument's digest may be followed by ':' name and ('=' value), the value as people
 * read it; blanks and % in them are written as %20 before the calls: '@' stage (' ' name '%20(' file ')='
 * digest)*, the functions that the stage is made of digest := 32 hexadecimal digits: of the stage's code,
 * then of each argument's content */
#ifndef FL_HISTORY_H
#define FL_HISTORY_H

#define FL_HISTORY_HEAD "flow stages 1\n"
#define FL_HISTORY_BEFORE "---\n"

/* The record's name in the store for a script's path. On the heap; NULL: out of memory. */
char *fl_history_name(const char *script);

#endif
