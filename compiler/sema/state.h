/* state.h: what the files of sema share: typed values, names, the state of an elaboration, and messages.
 *
 * Reading order: module.c (a script), control.c (statements), expr.c (expressions), lift.c (elementwise),
 * call.c (user functions), for.c, comprehension.c, reduce_for.c, index.c, builtins/builtin.c (the table of
 * builtins), verbs/.
 *
 * What always holds: a value's parts are in the current function, or in one around it when `frame` says so;
 * an expression that was reported has type ERROR and no parts; every IR op carries the span it came from. */
#ifndef FL_SEMA_STATE_H
#define FL_SEMA_STATE_H

#include "sema/sema.h"
#include "types/types.h"

typedef struct FlSema FlSema;
typedef struct FlScope FlScope;
typedef struct FlFrame FlFrame;
typedef struct FlSpent FlSpent;
typedef struct FlFile FlFile;
typedef struct FlClosure FlClosure;
typedef struct FlBinding FlBinding;
typedef struct FlRefs FlRefs;
typedef struct FlBuiltin FlBuiltin;
typedef struct FlGrouping FlGrouping;

/* ---- values ------------------------------------------------------------------------------------------- */

typedef enum FlLiteral { FL_LIT_NONE, FL_LIT_INT, FL_LIT_FLOAT } FlLiteral;

/* A value of the program while it is compiled. A number literal keeps what was written, so that it can take
 * the type around it; its parts are those of its default type (i64, f64). */
typedef struct FlVal {
  const FlType *type;
  FlValue **parts;                   /* type->n_parts of them */
  FlClosure *fn;                     /* FUNC */
  FlOp *fail;                        /* NEVER: the op that raised, which can be given results of any type */
  const struct FlMessages *messages; /* NEVER: of an error(..) that has one for each element, or NULL */
  unsigned stretch;  /* ARRAY: bit k: dimension k was made by `new` and stretches to any size */
  FlGrouping *group; /* TABLE whose type is grouped: what is known of it, or NULL (fl_verb_grouping) */
  FlLiteral literal;
  bool negative; /* literal INT: the sign of `magnitude` */
  uint64_t magnitude;
  double real;          /* literal FLOAT */
  const char *spelling; /* literal: as written; files: a path whose content says what is in them, or NULL */
  const char *exact; /* no literal, but + - * of such alone: what they give exactly, as a decimal is written;
                        or NULL */
} FlVal;

typedef struct FlMessages {
  FlVal texts;
  FlSpan span; /* of the call of error */
} FlMessages;

/* A function value: a lambda with the names it sees, a declared function, a builtin, or a derivative. */
struct FlClosure {
  const FlExpr *lambda; /* or NULL */
  const char *name;     /* lambda: what it was bound to first, for messages; NULL: nothing */
  FlBinding *named;     /* or NULL */
  const FlBuiltin *builtin;
  const FlClosure *derived; /* the function whose derivative it is, or NULL (derivative.c); */
  bool with_value, forward; /* then: gives the value too; and the derivative along a direction: jvp */
  FlScope *scope;           /* lambda: where it was written, variables as they were */
  struct FlAggContext *agg; /* lambda: what aggregates mean where it was written, NULL outside of verbs; */
  const FlFrame *frame;     /* in this frame: elsewhere its values are not there */
};

/* ---- names -------------------------------------------------------------------------------------------- */

typedef enum FlBindKind {
  FL_BIND_VALUE,
  FL_BIND_VAR,
  FL_BIND_FN,
  FL_BIND_TYPE,
  FL_BIND_MODULE,
  FL_BIND_COLUMN
} FlBindKind;

struct FlBinding {
  const char *name;
  FlBindKind kind;
  FlSpan span;
  FlFrame *frame; /* VALUE, VAR, COLUMN: the function whose values `val` holds */
  FlVal val;
  const FlTypeExpr *declared; /* VAR: its type as written, or NULL */
  const FlStmt *decl;         /* FN, TYPE */
  FlFile *file;               /* FN, TYPE: where it is declared; MODULE: the module */
  FlBinding *form;            /* FN: the next function of this name (forms.h), or NULL */
  const char *size_of;        /* a size of a signature: what has it, and */
  FlSpan size_from;           /* where that stands */
  bool lost; /* VALUE: of a statement that did not parse: it may be anything, and is an error value */
  bool open; /* VALUE: a parameter of a function that nobody calls: likewise, but it is there */
  bool used;
  bool by_row; /* the parameter of a lambda that has a column of a grouped verb (by_group.c) */
  bool chosen; /* FN of several forms: a call means this one */
  /* LET: what was built for it, and which bindings that used; unused, it is not evaluated (scope.c). */
  FlRegion *made_in;
  FlOp *made_after, *made_last;
  int uses;
  FlRefs *refs;
};

typedef FlVec(FlBinding *) FlRefList;
struct FlRefs {
  FlRefList list;
};

typedef enum FlScopeKind { FL_SCOPE_PLAIN, FL_SCOPE_COLUMNS } FlScopeKind;

/* The columns of a table as names: each is bound when it is asked for, as a table may have thousands. */
typedef struct FlColumnNames FlColumnNames;

struct FlScope {
  FlScope *parent;
  FlScopeKind kind;
  FlVec(FlBinding *) names; /* later ones hide earlier ones: fl_scope_add, fl_scope_last */
  FlMap *last;              /* name -> 1 + the last of that name, once there are many; else NULL */
  FlVec(int) before;        /* then: 1 + the one before of the same name, or 0 */
  FlColumnNames *columns;   /* COLUMNS: and these, or NULL */
  const FlScope *of; /* of this one the first `names`, as they were once (fl_scope_as_now); else NULL */
};

/* A file of the program: the script or an import. A module is its file, whatever paths lead to it. */
struct FlFile {
  bool lost;        /* it does not parse, so that nobody knows what is in it */
  const char *name; /* module name: what its params are called by, its alias where the script gives one */
  const char *real; /* its path without links and dots */
  bool named;       /* `name` is as the script imports it */
  const FlAst *ast;
  FlScope *scope; /* its top level; parent: NULL */
  const char *dir;
  bool is_script;
  bool loading; /* its own imports are being read: importing it again is a circle */
};

/* ---- where the elaboration is ---------------------------------------------------------------------- */

typedef struct FlCapture {
  FlBinding *binding; /* in an outer frame */
  FlVal inside;       /* the parameters that carry it */
} FlCapture;

/* One IR function being built: the script, a stage, a recursive function. */
struct FlFrame {
  FlFunc *func;
  FlFrame *outer; /* whose elaboration was interrupted to build this one */
  uint32_t call;  /* the call there that it is built for */
  FlVec(FlCapture) captures;
  FlVec(const FlStmt *) bodies; /* of the functions whose bodies it holds, or calls; */
  FlMap *body_set;              /* the same as a set, or NULL */
  FlMap *spent;                 /* declaration -> what its calls cost (budget.c); NULL: nothing yet */
  uint32_t n_spent;             /* of these, calls that were not the first */
  bool shared;                  /* an instance of a function that does not call itself */
};

/* A user function whose body is being elaborated, for error chains and recursion. */
typedef struct FlActive {
  const FlStmt *decl;
  FlSpan call;
  struct FlActive *up;
} FlActive;

/* What `mean(x)` and its kin mean while the arguments of summarize, derive, where ... are elaborated. */
typedef enum FlAggMode { FL_AGG_NONE, FL_AGG_SUMMARIZE, FL_AGG_SPREAD } FlAggMode;
typedef struct FlArrayArg {
  const FlExpr *e;
  const struct FlArrayArg *up;
} FlArrayArg;
typedef struct FlAggContext {
  FlAggMode mode;    /* SUMMARIZE: one value a group; SPREAD: the group's value on each of its rows */
  FlValue *rows;     /* number of rows */
  FlValue *groups;   /* number of groups */
  FlValue *group_of; /* i64[rows], or NULL: one group of all rows */
  const FlGrouping *grouping;      /* with group_of */
  const FlVal *table;              /* the verb's input */
  FlScope *columns;                /* where its columns stand for their names, or NULL */
  FlRegion *region;                /* what is elaborated for all rows at once stands there */
  FlValue *positions;              /* i64[rows]: where the rows stand in the verb's input; NULL: 0, 1, ... */
  bool by_group;                   /* with group_of: what is elaborated, one a row, is of FL_GROUP_AT_ONCE */
  bool some_rows;                  /* without group_of: there is at least one row */
  const struct FlArrayArg *arrays; /* with group_of: arguments that may be arrays of no column */
} FlAggContext;

/* An instance of a stage or of a recursive function. */
/* A call of an instance from its own body: it gets the captures when all of them are known. */
typedef struct FlOwnCall {
  FlOp *op;
  const FlFrame *frame; /* where it stands */
} FlOwnCall;

typedef struct FlInstance {
  const FlStmt *decl;
  int n_args;
  FlVal *args;    /* types and function values only */
  FlFrame *frame; /* its captures */
  const FlType *result;
  FlVal value; /* what the body gives, once it is done and not an error; of its own frame */
  bool done;
  int nth;         /* of its function, from 1 */
  bool known;      /* it is made for these constants; else it is for all */
  FlMap *of;       /* declaration -> its last instance, where this one was the last */
  FlValue **sizes; /* of one that stands for calls: of the result's parts, FL_MAX_RANK each, in its frame */
  FlVec(FlOwnCall) own_calls;
  struct FlInstance *next; /* of the same function; it was made before */
} FlInstance;

/* Instances that stand for calls (budget.c), of one function of the IR that is none of them: what one shares
 * does not depend on the others, so that the key of a stage says nothing of the script around it. */
typedef struct FlSharing {
  FlMap *instances_of; /* declaration -> its last instance */
  FlMap *functions;    /* the declarations, as a set */
} FlSharing;

/* Two sizes that are equal. */
typedef struct FlAlias {
  const FlValue *from;
  FlValue *to;
  int before;   /* 1 + the alias of `from` that this one hides; 0: none */
  bool checked; /* by a CHECK, which goes where nobody uses what it was made for; else they are one by how
                   they are made */
} FlAlias;

/* A file that the script names by a constant. */
typedef struct FlKnownPath {
  const char *path; /* without "./" and doubled slashes */
  FlSpan span;
  bool output; /* written, whatever the run does; else read */
} FlKnownPath;

/* A column of a file whose type one value made as it is (column_origin.h). */
typedef struct FlOddColumn {
  const char *name, *path;
  FlDtype dtype;
  FlIoCause odd, null;
} FlOddColumn;

/* All texts of a column of a file, and a text that is compared with some (known_values.h). */
typedef struct FlKnownColumn {
  const FlOp *reader;
  const FlColumnAttr *column;
  const char *path;
  const char **texts;
  int n; /* -1: they are not known */
} FlKnownColumn;
typedef struct FlUnknownText {
  FlSpan span;
  const char *text, *path, *column, *near; /* near: what is spelt like it there, or NULL */
  bool there;                              /* some column that it is compared with has it */
} FlUnknownText;

enum { FL_SEMA_DEPTH = 7000 };
/* A name that a function of the IR was given. */
typedef struct FlNamedFunc {
  const char *name, *own; /* what was asked for, what it got */
  void *before;           /* what functions_named had for `name` */
} FlNamedFunc;

struct FlSema {
  FlArena *arena;
  FlInterner *names;
  FlSources *sources;
  FlSink *sink;
  FlTypes *types;
  FlModule *module;
  const FlSemaOptions *options;
  const FlWorld *world;
  const char *const
      *library_texts;       /* of the modules of the library, once a message needed them (library.c) */
  const FlWitness *witness; /* or NULL */
  FlMap *told;              /* places whose names it was told; NULL: none yet */
  FlMap *told_rows;         /* likewise, of columns: which row */
  FlMap *told_types;        /* types -> as the language writes them */
  bool by_tree;             /* nothing is elaborated any more (names.c) */
  FlMap *builtins;          /* builtin.c */
  FlMap *callees;           /* declaration -> FlCallees (call.c); NULL: nothing yet */
  FlBuilder b;
  FlFrame *frame;
  FlScope *scope;
  FlFile *file;
  FlActive *active;
  int depth; /* nested expressions and calls: at most FL_SEMA_DEPTH, well below what the stack holds */
  /* NULL at the top level; else what we are in: "a function", "a stage", "a comprehension" */
  const char *pure;
  FlAggContext *agg; /* or NULL */
  FlVec(FlAlias) aliases;
  FlMap *alias_of; /* value -> 1 + its newest alias */
  FlVec(FlInstance *) instances;
  FlMap *instances_of; /* of stages and functions that call themselves: declaration -> its last instance */
  FlSharing *sharing;  /* of the others; NULL: nothing yet */
  FlMap *assigned;     /* end of a list of statements -> what they assign (assigned.c); or NULL */
  FlMap *tried;        /* what is elaborated is only checked: FlFrame.spent of all that is; else NULL */
  FlMap *called;       /* parameters and declarations of functions -> what messages call them */
  FlMap *elaborated;   /* FlStmt of each function whose body was elaborated at least once */
  FlVec(FlNamedFunc) named;
  FlMap *functions_named; /* names of functions of the IR -> the last number that was put behind it, at least
                             1 */
  FlVec(FlFile *) files;
  FlVec(FlSemaInput) inputs;
  FlVec(FlOddColumn) odd_columns;
  FlVec(FlKnownColumn) known_columns;
  FlVec(FlUnknownText) unknown_texts;
  FlVec(FlIrParam) params;
  FlVec(FlFile *) param_files; /* of each */
  FlVec(FlKnownPath) paths;
  FlRefs *refs;                      /* bindings used by the `let` that is being elaborated, or NULL */
  FlBinding *loop_break, *loop_skip; /* flags of the innermost loop with break or continue; NULL: none */
  int deriving;                      /* within how many calls of derivatives; 0 in what they do not reach */
  const FlExpr *open_nulls; /* the tuple whose null fields get their types from others beside it; or NULL */
  int by_element;           /* inside of branches that are evaluated for some elements alone */
  int in_kernel;            /* inside regions of comprehensions: prefer forms that fuse to views */
  FlMap *types_of;          /* expression of a typeof(..) -> its type (type_expr.c); NULL: nothing yet */
  FlMap *guards;            /* IFs of what branches need beside their elements (guard.c); NULL: nothing yet */
  FlMap *sizes;             /* values known to be >= 0 because they count something */
  FlMap *column_names;      /* of matrices, text[columns] by their value (column_names.c) */
  FlMap *externs;           /* what is known of C functions (extern.c); NULL: nothing yet */
  bool binding_signature;   /* size names written now are fresh in s->scope */
  bool binding_result;      /* those that nothing else says are */
  uint32_t n_repeated;      /* values of calls that were not the first (budget.c) */
  bool open;                /* in a body with parameters that may be anything: errors are silent */
  bool too_many_calls;      /* E0227 was said (budget.c) */
};

/* ---- reporting. Each returns the ERROR value, so that `return fl_sema_error(...)` reads well. ------ */

/* The place as it is kept with an operation: within the calls that are being elaborated. */
static inline FlSpan fl_sema_place(const FlSema *s, FlSpan span) {
  if (!span.call) span.call = s->b.call;
  return span;
}
FlVal fl_sema_error(FlSema *s, FlDiagCode code, FlSpan span, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, to which notes and help can be added; carries the chain of calls. */
FlDiag *fl_sema_report(FlSema *s, FlDiagCode code, FlSpan span, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static inline bool fl_val_bad(FlVal v) { return v.type->kind == FL_TY_ERROR; }
FlVal fl_val_error(FlSema *s);
/* Was a type wanted here that was reported? Then what it would have said is no mistake. */
static inline bool fl_wants_unknown(const FlType *want) { return want && want->kind == FL_TY_ERROR; }
/* A type that is too large was asked for: says so, once. */
FlVal fl_val_refused(FlSema *s, FlSpan span);
FlVal fl_val_none(FlSema *s);
const char *fl_val_text(FlSema *s, FlVal v); /* its type, for messages */
/* Says to the witness, if there is one, what stands at a place of the source (witness.h). */
void fl_witness_value(FlSema *s, FlSpan at, FlVal v);
void fl_witness_step(FlSema *s, FlSpan at, FlVal takes, FlVal gives);
/* A table that this place gives, as the record of a run has it (FlSeen). With a witness or without. */
void fl_sema_see(FlSema *s, FlSpan at, FlVal v, bool let);
void fl_witness_name(FlSema *s, FlSpan at, const FlBinding *b);
void fl_witness_builtin(FlSema *s, FlSpan at, const FlBuiltin *bi);
void fl_witness_columns(FlSema *s, FlSpan at, FlVal table);

#endif
