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

/* What several compilations share, one after another: the table of functions, and files of the standard
 * library, parsed once, also where they are scripts. Each has the same interner, and `sources` as what it
 * shares. Files with messages are not kept. */
typedef struct FlParsedLibrary {
  FlArena *arena;
  FlInterner *names;
  FlSources *sources;
  FlMap *builtins; /* as fl_builtins_make gives them */
  FlMap *trees;    /* path without links, interned -> FlAst */
} FlParsedLibrary;
FlParsedLibrary *fl_parsed_library_make(FlArena *a);
/* The tree of a file that was parsed before, or NULL; `real`: its path without links. */
const FlAst *fl_parsed_library_get(const FlParsedLibrary *l, const char *real);
/* Parses a file; `path`: as messages name it (fl_parsed_library_path). */
const FlAst *fl_parsed_library_add(FlParsedLibrary *l, const char *path, const char *real,
                                   const FlText1 *text, FlSink *sink);
/* The tree of a script that is a file of the library in the folder stdlib_dir, the same as others import, by
 * the path of `script` in the sink's sources (fl_sources_take). NULL: it is none. */
FlAst *fl_parsed_library_script(FlParsedLibrary *l, const FlWorld *world, const char *stdlib_dir,
                                const FlSource *script, FlSink *sink);
const char *fl_parsed_library_path(FlArena *a, const char *path); /* "stdlib/NAME.flow" */

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

/* Tells of each function that every script knows, in the order of the table, and of its kinds
 * (FlBuiltinKind). */
void fl_sema_builtins(void *env, void (*tell)(void *env, const FlNamed *what, unsigned kinds));

#endif
