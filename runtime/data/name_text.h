/* name_text.h: names of fields and columns within texts: as they are, where they are letters, digits and _,
 * else in `...`, with escapes. Any bytes but NUL can be in a name; two names are never written alike, and
 * what is written is read back as it was. Types are printed so (types.h, value_type.h, show), and scripts
 * write names so (lexer.re). */
#ifndef FL_NAME_TEXT_H
#define FL_NAME_TEXT_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>

enum { FL_NAME_ESCAPE = 4 };

/* Is it written without backticks? The empty name and those that begin with a digit are not. */
bool fl_name_is_plain(const char *name);
/* Adds the name as it is written. */
void fl_name_write(FlBytes *out, const char *name);
/* A byte of a name as it stands between backticks: \` \\ \n \x1f, others as they are. How many bytes. */
int fl_name_escape(char c, char out[FL_NAME_ESCAPE]);
/* The same back, at *at < end, which moves on. A \ before anything else is itself. */
char fl_name_unescape(const char **at, const char *end);
/* The name whose opening backtick is behind us, up to its closing one, which *at is moved behind. To be
 * freed; NULL: it does not end, or out of memory. */
char *fl_name_read(const char **at, const char *end);

#endif
