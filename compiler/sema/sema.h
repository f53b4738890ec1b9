/* sema.h: from the AST of a script to IR, with every error of names, types, sizes, nulls, columns and purity.
 *
 * One pass elaborates: an expression is checked and its IR built at the same time, each user function anew
 * for each call (specialisation), so what a call knows (types, constant sizes, function arguments) is known
 * in its body. */
#ifndef FL_SEMA_H
#define FL_SEMA_H

#include "diag/diag.h"
#include "ir/ir.h"
#include "sema/witness.h"
#include "sema/world.h"
#include "syntax/ast.h"

/* A file that the meaning of the program was read from: imports, and data files whose schema was taken. */
typedef struct FlSemaInput {
  const char *path;
  FlSemaInputKind kind;
  FlDigest digest; /* of the world, before it was read */
} FlSemaInput;

/* What several compilations share, one after another: the table of functions, and files of the standard library, parsed
 * once. Each has the same interner, and `sources` as what it shares. Files with messages are not kept. */
typedef struct FlParsedLibrary {
  FlArena *arena;
  FlInterner *names;
  FlSources *sources;
  FlMap *builtins; /* as fl_builtins_make gives them */
  FlMap *trees;    /* path without links, interned -> FlAst */
} FlParsedLibrary;
FlParsedLibrary *fl_parsed_library_make(FlArena *a);

typedef struct FlSemaOptions {
  const FlWorld *world;     /* NULL: fl_world_here */
  const FlWitness *witness; /* or NULL */
  const char *stdlib_dir;   /* where `import linear` looks */
  int test;                 /* -1: the script; k: a program that runs only the k-th test block */
  const char *const
      *option_names; /* of every script, as on the command line: no param of it has such a name */
  int n_option_names;
  FlParsedLibrary *library; /* or NULL */
} FlSemaOptions;

typedef struct FlSemaResult {
  FlModule *module; /* NULL when the sink has errors */
  struct {
    const char *name;
    FlSpan span;
  } *tests;
  int n_tests; /* test blocks of the script, in order */
  FlSemaInput *inputs;
  int n_inputs;
} FlSemaResult;

/* The program of a script, in `arena`. Errors are in the sink. `names` is the interner that the tree was
 * parsed with. */
FlSemaResult fl_sema_module(FlArena *arena, FlInterner *names, FlSources *sources, FlSink *sink,
                            const FlAst *ast, const FlSemaOptions *options);

/* Tells of each function that every script knows, in the order of the table, and of its kinds (FlBuiltinKind). */
void fl_sema_builtins(void *env, void (*tell)(void *env, const FlNamed *what, unsigned kinds));

#endif
