/* store_tools.h: the commands of flowc about the store of remembered results. Each takes the words after its
 * name, prints on standard output, and returns the exit status. The store is that of --cache, of the script
 * or folder that is named, or of this folder (fl_cache_dir). */
#ifndef FL_STORE_TOOLS_H
#define FL_STORE_TOOLS_H

#include "cli/words.h"
#include "report/record.h"

#include <stddef.h>

/* The store that a command line means: of --cache, else of `word` (a script, a binary, a folder with or of a
 * store), else of this folder. 0, or the exit status after a message. */
int fl_store_place(const FlWords *w, const char *command, const char *word, char *out, size_t size);

/* The record of a script's last run, in its store; NULL: none. The caller's (fl_record_free). */
FlRecord *fl_store_last_run(const char *script);

/* That record as it is, in memory of malloc; NULL: none. `dir`: the store. */
char *fl_store_last_run_text(const char *dir, const char *script, size_t *len);

/* flowc cache ls | gc [--limit SIZE] | verify | clear | trust [FILE | FOLDER]. 1: damage was found, or
 * nothing is remembered anywhere; 2: wrong usage. */
int fl_tool_cache(int n_words, char **words);

/* flowc why [FILE] [STAGE]: what ran in the last run of the script, or of the binary, and why; without one,
 * of what ran last. 1: there is no such run or stage; 2: wrong usage. */
int fl_tool_why(int n_words, char **words);

/* Prints of the first stage call of a run that the run before did not make so what is other about it; NULL:
 * there is none. */
const FlRecordStage *fl_why_first(const FlRecord *r);

#endif
