/* history.h: the record of a script's stage calls, as written by runs and read by `flowc why`.
 *
 *   record := FL_HISTORY_HEAD entry* FL_HISTORY_BEFORE entry*
 *   entry  := made | call
 *   made   := '@' stage (' ' name '%20(' file ')=' digest)* '\n'
 *   call   := stage ' ' ("run" | "cached" | "failed") ' ' digest (' ' digest (':' name ('=' value)?)?)* '\n'
 *   digest := 32 hexadecimal digits
 *
 * First the entries of the last run, then those of the one before. A `made` says of which functions a stage
 * is made. The digests of a call: of the stage's code, then of each argument's content, with the value as
 * people read it; blanks and % within names and values are written as %20 and %25. */
#ifndef FL_HISTORY_H
#define FL_HISTORY_H

#define FL_HISTORY_HEAD "flow stages 1\n"
#define FL_HISTORY_BEFORE "---\n"

/* The record's name in the store for a script's path. On the heap; NULL: out of memory. */
char *fl_history_name(const char *script);

#endif
