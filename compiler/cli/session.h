/* session.h: what was entered in a session (flowc repl) as one text, in which what was done already stands as
 * what it gave.
 *
 * A statement stands in the lines in which it was entered; one that bound or assigned names is replaced by
 * values in files, in the same lines (`let x = load("...")`), one that only acted by nothing. So the language
 * alone says what a name means, errors name the lines that were entered, and nothing is computed or done
 * twice. What no file can hold, as a function, stays as it was written. docs/decisions/repl.md */
#ifndef FL_SESSION_H
#define FL_SESSION_H

#include "syntax/ast.h"

typedef FlVec(const char *) FlNames;

/* A statement of the session. Its texts live in the session's arena. */
typedef struct FlEntry {
  FlStmtKind kind;
  FlStmtRole role;
  const char *text;  /* as written */
  int line;          /* of the session, from 1 */
  FlNames names;     /* that it binds or assigns, as scripts write them */
  const char *name;  /* of a function, type, param or test, interned; of an import its text; NULL: none */
  const char *first; /* of a function: the type of its first parameter as written, where others of its name
                        may have another; else NULL */
  int number;        /* of its files */
  bool saved;        /* its values are in files */
} FlEntry;

typedef struct FlSession {
  FlArena *arena;
  FlInterner *names;
  const char *folder; /* of the files */
  FlVec(FlEntry) entries;
  FlVec(const char *) entered; /* texts that ended well, in order */
  int n_lines;
  int n_files;
} FlSession;

/* `folder` is the caller's. */
void fl_session_init(FlSession *s, const char *folder);
void fl_session_reset(FlSession *s);

/* The entry that a statement at line `first` + its own of what is entered would be; not yet in the session.
 */
FlEntry fl_session_entry(FlSession *s, const FlSource *source, const FlStmt *stmt, int first);
/* Adds it. What a declaration declares anew is no longer declared by an earlier one. */
void fl_session_add(FlSession *s, const FlEntry *e);

/* The session's text with `e` in its lines; NULL: alone. *from: where `e` begins, *end: where it ends, in
 * bytes. */
void fl_session_text(const FlSession *s, const FlEntry *e, FlText1 *out, size_t *from, size_t *end);
/* Statements that save the values of the names of `e`. */
void fl_session_add_saves(const FlSession *s, const FlEntry *e, FlText1 *out);
/* The file of the k-th name. */
const char *fl_session_file(const FlSession *s, const FlEntry *e, int k);

#endif
