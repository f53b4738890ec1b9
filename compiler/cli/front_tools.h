/* front_tools.h: the commands of flowc that need no more than the front end. Each takes the words after its
 * name, prints on standard output, and returns the exit status: 0 good, 1 a file cannot be written or
 * (--check) is not formatted, 2 wrong usage, 3 the text has errors. */
#ifndef FL_FRONT_TOOLS_H
#define FL_FRONT_TOOLS_H

/* flowc fmt: formats files in place (by a temporary file and a rename); `-` reads standard input and prints.
 */
int fl_tool_fmt(int n_words, char **words);

/* The page of a message, or what a name of flow or its library means; without one (NULL), the list of
 * messages. */
int fl_tool_explain(const char *word);

#endif
