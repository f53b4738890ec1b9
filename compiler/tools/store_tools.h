/* store_tools.h: the commands of flowc about the store of remembered results. Each takes the words after its
 * name and the store's folder, prints on standard output, and returns the exit status. */
#ifndef FL_STORE_TOOLS_H
#define FL_STORE_TOOLS_H

/* flowc cache ls | gc [--limit SIZE] | verify | clear | trust [FOLDER]. 1: damage was found; 2: wrong usage.
 */
int fl_tool_cache(const char *dir, int n_words, char **words);

/* flowc why [x.flow] [STAGE]: what ran in the last run of the script and why; without a script, of the one
 * that ran last. 1: there is no such run or stage; 2: wrong usage. */
int fl_tool_why(const char *dir, int n_words, char **words);

#endif
