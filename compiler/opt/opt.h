/* opt.h: the optimiser. In: a verified module from sema (or read from text). Out: the same module, rewritten,
 * with the keys of its stages set.
 *
 * Three groups of passes, in the order of passes.def:
 *  - those before the key: inline, products, canon. They give programs of one meaning one form, and decide
 * what is evaluated;
 *  - key: digests each stage (LANGUAGE 13);
 *  - those after the key change no bit of any result, add and drop no error, and keep which error comes
 * first.
 *
 * What is evaluated (canon; docs/decisions/unused-bindings.md): a value that nobody uses is not computed,
 * even if computing it could fail. What stays for its own sake: EFFECT and NOTE ops, CHECK, FAIL without
 * results (statements) and what can fail of the values of a KEEP, wherever they stand directly in a function
 * or under IF, FOR and WHILE. Inside a MAP, REDUCE, SCAN or COLLECT they stay when that loop's value is used;
 * those of a unit when something of it is. A stage call or recursive call whose results nobody uses is not
 * made. Behind canon there are neither KEEPs nor units. */
#ifndef FL_OPT_H
#define FL_OPT_H

#include "ir/ir.h"

typedef struct FlOptOptions {
  int level;   /* 0: only what code generation needs (and the keys); 1: everything */
  bool verify; /* after each pass, also in release builds; debug builds always do */
  const char
      *only; /* names of passes, separated by commas, run in this order instead of a level's; NULL: level */
  FlText1 *trace; /* when not NULL: the module's text after each pass that changed something */
} FlOptOptions;

/* Runs the passes. false: a pass broke the module; `why` names the pass and the rule (a bug of the compiler),
 * or `only` names an unknown pass. */
bool fl_opt_run(FlModule *m, const FlOptOptions *options, FlText1 *why);

/* Text in, text out, for tests and `flowc opt`: reads a module, runs the passes, prints it. false: the errors
 * are in the sink, or in `out` when a pass failed. */
bool fl_opt_text(FlArena *arena, const char *text, const FlOptOptions *options, FlSink *sink, FlText1 *out);

/* How many ops of this code the function holds, at any depth. For tests that prove a fusion. */
int fl_opt_count(const FlFunc *f, FlOpcode code);

#endif
