/* witness.h: what an elaboration learns on its way, for who shows it: an editor, a page of documentation.
 *
 * What always holds: texts live as long as the compilation; what is in a function that several calls
 * specialise is said once for each, and of one that nobody calls by what its signature says; what no
 * elaboration reaches, as what is done with parameters that nobody knows, has names and no types; a statement
 * that did not parse says nothing. */
#ifndef FL_WITNESS_H
#define FL_WITNESS_H

#include "diag/diag.h"

/* What a name stands for. */
typedef struct FlNamed {
  const char *name;
  FlSpan declared;       /* its name there; file 0: flow itself has it */
  const char *signature; /* of flow's own functions: their parameters; else NULL */
  const char *doc;       /* its doc comment, or NULL */
} FlNamed;

/* A table on its way through a pipe: how many rows it has, a value of the IR of the script; NULL: it is no
 * table, or a grouped one. */
typedef struct FlFlow {
  const struct FlValue *rows;
  int columns;
} FlFlow;

typedef struct FlWitness {
  void *env;
  /* The expression at `at` has this type, as the language writes it. */
  void (*value)(void *env, FlSpan at, const char *type);
  /* The name at `at` is used, or declared: then `what->declared` is that place. Columns are no such names. */
  void (*name)(void *env, FlSpan at, const FlNamed *what);
  /* In the argument of a verb that stands at `at` the columns of this row are names; the same is told once.
   */
  void (*columns)(void *env, FlSpan at, const char *row);
  /* The call at `at` behind a |> takes and gives these. */
  void (*step)(void *env, FlSpan at, FlFlow takes, FlFlow gives);
  /* The text that is written at `at` is compared with what can be these texts alone: levels, or all that a
   * column of a file has. NULL: nobody wants to know. */
  void (*among)(void *env, FlSpan at, int n, const char *const *texts);
} FlWitness;

#endif
