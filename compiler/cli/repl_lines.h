/* repl_lines.h: the lines of standard input: typed, with a history and keys to edit them (libedit), or read
 * as they come. */
#ifndef FL_REPL_LINES_H
#define FL_REPL_LINES_H

#include "base/base.h"

typedef struct FlLines FlLines;

/* What the next line is. */
typedef enum FlLine { FL_LINE, FL_LINE_END, FL_LINE_INTERRUPTED } FlLine;

/* NULL: no memory. */
FlLines *fl_lines_new(void);
void fl_lines_free(FlLines *lines);
bool fl_lines_typed(const FlLines *lines); /* standard input is a terminal */
/* Adds the next line, with a newline behind it; who types is asked for it; `more`: for more of what was
 * begun. */
FlLine fl_lines_next(FlLines *lines, bool more, FlText1 *out);
/* The line behind, without what ends it, where it is here already and nobody types; NULL: it is not known.
 * *len: its bytes. */
const char *fl_lines_ahead(FlLines *lines, size_t *len);
/* What was typed becomes one entry of the history. */
void fl_lines_remember(FlLines *lines, const char *text);

#endif
