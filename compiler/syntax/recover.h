/* recover.h: what the rules of syntax errors see, and what they say. */
#ifndef FL_SYNTAX_RECOVER_H
#define FL_SYNTAX_RECOVER_H

#include "syntax/syntax_internal.h"

typedef struct FlSyntaxPlace {
  FlParser *p;
  const FlToken *found, *prev, *next; /* prev: the found one itself at the beginning of the file */
  const FlToken *head;                /* first token of the statement */
  const FlToken *bracket;             /* innermost open bracket, or NULL */
} FlSyntaxPlace;

/* After a whole operand, where an operator could stand? */
bool fl_syntax_after_operand(const FlSyntaxPlace *x);
FlDiag *fl_syntax_say(const FlSyntaxPlace *x, FlDiagCode code, FlSpan span, const char *message,
                      const char *help);
/* The rules of recover_habits.c, in their order; false: none knows the mistake. */
bool fl_syntax_habit(const FlSyntaxPlace *x);
/* Of recover_choices.c. */
bool fl_syntax_choice_by_words(const FlSyntaxPlace *x);
bool fl_syntax_choice_behind(const FlSyntaxPlace *x);
bool fl_syntax_increment(const FlSyntaxPlace *x);
bool fl_syntax_counting_for(const FlSyntaxPlace *x);
bool fl_syntax_comment(const FlSyntaxPlace *x);

#endif
