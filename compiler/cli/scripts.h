/* scripts.h: the scripts that words of a command line name: files, folders, standard input. */
#ifndef FL_SCRIPTS_H
#define FL_SCRIPTS_H

#include "base/base.h"

/* What messages call a script that comes on standard input. */
#define FL_STANDARD_INPUT "(standard input)"
/* And one that is a word of the command line (run -c). */
#define FL_COMMAND_LINE "(command line)"
/* And what is entered line by line (repl). */
#define FL_SESSION_TEXT "(session)"
/* What a script is to its run: the path of its file, or "-". */
const char *fl_script_path(const char *called);

typedef FlVec(const char *) FlScriptList;

/* The scripts that the words name, in their order: a file, `-`, a name without its `.flow`, or a folder,
 * which is all .flow files in it and below, by name, but for hidden ones. A file that several words name is
 * there once. 0, or 2 after messages about what cannot be found; the others are in the list. Paths live in
 * the arena. */
int fl_scripts_find(FlArena *a, const char *command, int n, char *const *words, FlScriptList *out);

/* The text of a script, `-` for standard input. 0, or 2: `why`, which is the caller's to reset, says what is
 * wrong. */
int fl_script_read(const char *path, FlText1 *out, FlText1 *why);

#endif
