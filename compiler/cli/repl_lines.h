/* repl_lines.h: the lines of standard input: typed, with a history that outlives the session
 * (repl_history.h), keys to edit them and completion by Tab (libedit), or read as they come. */
#ifndef FL_REPL_LINES_H
#define FL_REPL_LINES_H

#include "base/base.h"

typedef struct FlLines FlLines;

/* What the next line is. */
typedef enum FlLine { FL_LINE, FL_LINE_END, FL_LINE_INTERRUPTED } FlLine;

/* Says what may stand at the end of a text, the lines of a statement up to the cursor: tells each whole word,
 * and how many of its bytes stand there already. */
typedef struct FlCompleter {
  void *env;
  void (*complete)(void *env, const char *text, size_t len, void *to,
                   void (*tell)(void *to, const char *word, size_t there));
} FlCompleter;

/* NULL: no memory. */
FlLines *fl_lines_new(FlCompleter completer);
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
