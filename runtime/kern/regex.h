/* regex.h: regular expressions (PCRE2, UTF-8, Unicode properties) as the operators and the compiler use them.
 *
 * A pattern is compiled once a thread and kept in a small cache of that thread, with its machine code where
 * the system allows it; nothing is shared, so nothing is locked. */
#ifndef FL_REGEX_H
#define FL_REGEX_H

#include "flow/abi.h"

/* Why a pattern or a replacement is none: at which byte, and in the words of PCRE2. */
typedef struct FlRegexError {
  int64_t at;
  char why[160];
  bool memory; /* nothing is wrong with it: there was no memory */
} FlRegexError;

/* Is it a regular expression? Weak: programs without regular expressions do not hold PCRE2. */
__attribute__((weak)) bool fl_regex_check(const char *pattern, int64_t n, FlRegexError *error);
/* Do the groups that a replacement names ($1 ${1} ${name}, $$ for a dollar) exist? The pattern is checked. */
bool fl_regex_check_replacement(const char *pattern, int64_t n, const char *by, int64_t by_n,
                                FlRegexError *error);
/* How many groups a checked pattern has; the number of the one with this name, -1: none. -2: no memory. */
int64_t fl_regex_groups(const char *pattern, int64_t n);
int64_t fl_regex_group_named(const char *pattern, int64_t n, const char *name);

/* The matches of a text one after the other, for extract_all: `out` is the first group of the next one, or
 * the match when there are no groups. false: no more, or a fault. Begins with a zeroed walk. */
typedef struct FlRegexWalk {
  int64_t at;
  uint32_t options;
  bool started;
} FlRegexWalk;
bool fl_regex_next(FlRegexWalk *walk, const char *s, int64_t n, const char *pattern, int64_t pattern_n,
                   FlText *out, int32_t *fault);

/* Whether the bytes of a text are UTF-8. (utf8.c) */
bool fl_kern_is_utf8(const char *s, int64_t n);

/* The argument `group` of `extract` that was not given: the first group, or the match when there is none. */
#define FL_REGEX_FIRST INT64_MIN

#endif
