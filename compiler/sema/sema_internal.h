/* sema_internal.h: what the files of sema share: typed values, names, the state of an elaboration.
 *
 * Reading order: module.c (a script), control.c (statements), expr.c (expressions), lift.c (elementwise),
 * call.c (user functions), for.c, comprehension.c, reduce_for.c, reduce.c, index.c, builtin.c (the table of
 * builtins), table*.c (verbs).
 *
 * What always holds: a value's parts are in the current function, or in one around it when `frame` says so;
 * an expression that was reported has type ERROR and no parts; every IR op carries the span it came from. */
#ifndef FL_SEMA_INTERNAL_H
#define FL_SEMA_INTERNAL_H

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
  FlValue **parts;   /* type->n_parts of them */
  FlClosure *fn;     /* FUNC */
  FlOp *fail;        /* NEVER: the op that raised, which can be given results of any type */
  const struct FlMessages *messages; /* NEVER: of an error(..) that has one for each element, or NULL */
  unsigned stretch;  /* ARRAY: bit k: dimension k was made by `new` and stretches to any size */
  FlGrouping *group; /* TABLE whose type is grouped: what is known of it, or NULL (fl_verb_grouping) */
  FlLiteral literal;
  bool negative; /* literal INT: the sign of `magnitude` */
  uint64_t magnitude;
  double real;          /* literal FLOAT */
  const char *spelling; /* literal: as written; files: a path whose content says what is in them, or NULL */
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
  int nth;    /* of its function, from 1 */
  bool known; /* it is made for these constants; else it is for all */
  FlMap *of;  /* declaration -> its last instance, where this one was the last */
  FlValue **sizes; /* of one that stands for calls: of the result's parts, FL_MAX_RANK each, in its frame */
  FlVec(FlOwnCall) own_calls;
  struct FlInstance *next; /* of the same function; it was made before */
} FlInstance;

/* Instances that stand for calls (budget.c), of one function of the IR that is none of them: what one shares does
 * not depend on the others, so that the key of a stage says nothing of the script around it. */
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
  const FlWitness *witness; /* or NULL */
  FlMap *builtins; /* builtin.c */
  FlMap *callees;  /* declaration -> FlCallees (call.c); NULL: nothing yet */
  FlBuilder b;
  FlFrame *frame;
  FlScope *scope;
  FlFile *file;
  FlActive *active;
  int depth; /* nested expressions and calls: at most FL_SEMA_DEPTH, well below what the stack holds */
  const char
      *pure; /* NULL at the top level; else what we are in: "a function", "a stage", "a comprehension" */
  FlAggContext *agg; /* or NULL */
  FlVec(FlAlias) aliases;
  FlMap *alias_of; /* value -> 1 + its newest alias */
  FlVec(FlInstance *) instances;
  FlMap *instances_of; /* of stages and functions that call themselves: declaration -> its last instance */
  FlSharing *sharing;  /* of the others; NULL: nothing yet */
  FlMap *elaborated; /* FlStmt of each function whose body was elaborated at least once */
  FlVec(FlNamedFunc) named;
  FlMap *functions_named; /* names of functions of the IR -> the last number that was put behind it, at least
                             1 */
  FlVec(FlFile *) files;
  FlVec(FlSemaInput) inputs;
  FlVec(FlIrParam) params;
  FlVec(FlFile *) param_files; /* of each */
  FlVec(FlKnownPath) paths;
  FlRefs *refs;                      /* bindings used by the `let` that is being elaborated, or NULL */
  FlBinding *loop_break, *loop_skip; /* flags of the innermost loop with break or continue; NULL: none */
  int deriving;                      /* within how many calls of derivatives; 0 in what they do not reach */
  const FlExpr *open_nulls; /* the tuple whose null fields get their types from others beside it; or NULL */
  int by_element;           /* inside of branches that are evaluated for some elements alone */
  int in_kernel;            /* inside regions of comprehensions: prefer forms that fuse to views */
  FlMap *sizes;             /* values known to be >= 0 because they count something */
  FlMap *column_names;      /* of matrices, text[columns] by their value (column_names.c) */
  FlMap *externs;           /* what is known of C functions (extern.c); NULL: nothing yet */
  bool binding_signature;   /* size names written now are fresh in s->scope */
  bool binding_result;      /* those that nothing else says are */
  uint32_t n_repeated;      /* values of calls that were not the first (budget.c) */
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
void fl_witness_name(FlSema *s, FlSpan at, const FlBinding *b);
void fl_witness_builtin(FlSema *s, FlSpan at, const FlBuiltin *bi);
void fl_witness_columns(FlSema *s, FlSpan at, FlVal table);

/* ---- value.c: making, cutting and converting values ------------------------------------------------ */

FlVal fl_val_make(FlSema *s, const FlType *type, FlValue *const *parts); /* parts copied */
FlVal fl_val_scalar(FlSema *s, FlDtype d, FlValue *v);
FlVal fl_val_raise(FlSema *s, FlValue *message); /* the run ends here with the text: NEVER */
/* Not after error(..) with a message for each element, where one is needed. false: reported. */
bool fl_val_one_message(FlSema *s, FlVal v, FlSpan span);
FlVal fl_val_array(FlSema *s, FlDtype d, int rank, FlValue *v);
FlVal fl_val_i64(FlSema *s, int64_t v);
FlVal fl_val_bool(FlSema *s, bool v);
FlVal fl_val_textz(FlSema *s, const char *text);
FlVal fl_val_field(FlSema *s, FlVal v, int field); /* of a tuple, or the column of a table */
/* The path that is known of `from`, files or a table with files, when `to` holds some of the same files; or
 * NULL. */
const char *fl_val_sample(FlVal from, FlVal to);
FlVal fl_val_tuple(FlSema *s, int n, const char *const *names, const FlVal *values, const char *nominal);
/* From the number of rows and the columns. */
FlVal fl_val_table(FlSema *s, FlValue *rows, int n, const char *const *names, const FlVal *columns);
FlValue *fl_val_rows(FlVal table);                     /* part 0 */
FlValue *fl_val_valid(FlSema *s, FlVal v);             /* validity of a scalar or array; NULL: not nullable */
FlVal fl_val_plain(FlSema *s, FlVal v);                /* without the ? (validity dropped) */
FlVal fl_val_nullable(FlSema *s, FlVal v);             /* with it (valid everywhere) */
FlVal fl_val_null_of(FlSema *s, const FlType *scalar); /* null of that type */
FlValue *fl_val_zero(FlSema *s, FlDtype d);            /* the value under a null */
FlVal fl_val_as_literal_type(FlSema *s, FlVal v, FlDtype to,
                             FlSpan span); /* a literal takes a number type, or error */
/* Constant integer if known while compiling. */
bool fl_val_const_i(FlVal v, int64_t *out);
/* A text that is known while compiling and holds no NUL, else NULL. */
const char *fl_val_const_text(FlVal v);

/* The common type of two numbers for arithmetic; false: there is none. */
bool fl_promote(FlDtype a, FlDtype b, FlDtype *out);
/* Implicit conversion to `want` (scalars, arrays elementwise, null, tuples by name, tables by column);
 * reports E0301 with `what` ("argument `x`", "the result", ...) when it does not fit. */
FlVal fl_val_coerce(FlSema *s, FlVal v, const FlType *want, FlSpan span, const char *what);
bool fl_val_fits(FlSema *s, FlVal v, const FlType *want);
/* Makes a and b one type (branches, array elements); false: reported. */
bool fl_val_unify(FlSema *s, FlVal *values, int n, const FlSpan *spans, const char *what, const FlType **out);
/* The type that all of these fit, or NULL. */
const FlType *fl_type_common(FlSema *s, const FlVal *values, int n);

/* ---- sizes -------------------------------------------------------------------------------------------- */

FlValue *fl_sema_dim(FlSema *s, FlVal v,
                     int axis); /* of an array, table (0) or list (0); known equal sizes are one */
/* How many elements n axes have; none where one axis is empty, however long the others are. */
FlValue *fl_sema_product(FlSema *s, int n, FlValue *const *sizes);
void fl_sema_alias(FlSema *s, FlValue *from,
                   FlValue *to);                 /* from is known to equal to, from here on in this region */
FlValue *fl_sema_size(FlSema *s, FlValue *size); /* the representative of equal sizes */
/* Makes sure that a == b: nothing when known, E0401 when known to differ, else a CHECK. `message` has {a} and
 * {b}. */
bool fl_sema_same_size(FlSema *s, FlValue *a, FlValue *b, FlSpan span, const char *message);
/* Reports `message` with the operands a and b of a check that is known to fail. */
void fl_sema_known_failure(FlSema *s, FlDiagCode code, FlSpan span, const char *message, int64_t a,
                           int64_t b);
bool fl_sema_sizes_equal(FlSema *s, FlValue *a, FlValue *b); /* known to be, without a check */
FlValue *fl_sema_i64(FlSema *s, int64_t v);
FlValue *fl_sema_op2(FlSema *s, FlOpcode code, FlValue *a, FlValue *b);

/* ---- scopes ------------------------------------------------------------------------------------------- */

FlScope *fl_scope_push(FlSema *s, FlScope *parent, FlScopeKind kind); /* does not enter it */
/* Binds the names that a damaged statement would have bound; all that uses them is silent. */
void fl_scope_bind_lost(FlSema *s, FlScope *scope, const FlStmt *st);
/* A lambda that has no name gets this one. */
FlBinding *fl_scope_bind(FlSema *s, FlScope *scope, FlBindKind kind, const char *name, FlSpan span,
                         FlVal val);
FlBinding *fl_scope_find(FlSema *s, const char *name);         /* from s->scope outwards; NULL: none */
FlBinding *fl_scope_find_in(FlScope *scope, const char *name); /* this scope alone */
void fl_scope_add(FlSema *s, FlScope *scope, FlBinding *b);
/* Where the last of this name is in scope->names, and the one before it; -1: there is none. */
int fl_scope_last(const FlScope *scope, const char *name);
int fl_scope_before(const FlScope *scope, int i);
/* A name that begins with `_` is private to the file that declares it; the error for another that uses it. */
bool fl_sema_is_private(const char *name);
FlVal fl_sema_private_error(FlSema *s, const FlBinding *module, FlName name);
/* The columns of `table` are names of the scope; all names of a scope: how many. */
void fl_scope_columns(FlSema *s, FlScope *scope, FlVal table, FlSpan span);
int fl_scope_list(FlSema *s, const FlScope *scope, const char *const **out);
/* file.c: of the binding that stands for the file at a constant path, that path; else NULL. */
const char *fl_binding_path(const FlBinding *b);
FlVal fl_binding_value(FlSema *s, FlBinding *b); /* in the current frame: captured if needed */
void fl_scope_end(FlSema *s, FlScope *scope);    /* bindings that nobody used are not evaluated */
/* The program uses an array or a list, were it only its size: what of it can fail is evaluated. Of a tuple or
 * a table nothing is said: a field or a column that nobody uses is not evaluated. */
void fl_sema_keep(FlSema *s, FlVal v);
void fl_sema_keep_value(FlSema *s, FlValue *v);
/* What is built between the two is evaluated only if somebody uses `v`, which it gives: what the second
 * returns. */
typedef struct FlSavedUnit {
  FlUnit *unit;
  FlRegion *region;
  FlOp *last;
  int n_aliases;
} FlSavedUnit;
FlSavedUnit fl_sema_unit(FlSema *s);
FlVal fl_sema_unit_end(FlSema *s, FlSavedUnit saved, FlVal v);
void fl_sema_cut_aliases(FlSema *s, int n);           /* to the first n of them */
void fl_sema_forget_checks(FlSema *s, int n_aliases); /* sizes that are equal by checks made since then */
bool fl_sema_is_script_var(FlSema *s,
                           const FlBinding *b); /* a `var` of the script, seen from inside a function */
const char *fl_scope_closest(FlSema *s, const char *name); /* for suggestions; NULL: none */

/* ---- types written in the source: type_expr.c ------------------------------------------------------ */

/* The type, sizes ignored. NULL: depends on the value (untyped, `_`), or open row. Errors are reported ->
 * ERROR type. */
const FlType *fl_type_of_expr(FlSema *s, const FlTypeExpr *t);
/* Converts v to the written type and binds its size names in s->scope (or checks those that are bound). */
FlVal fl_bind_type(FlSema *s, const FlTypeExpr *t, FlVal v, FlSpan span, const char *what);

/* v has the written type and its producer has checked its sizes: names that are bound are its sizes. */
void fl_sema_trust_sizes(FlSema *s, const FlTypeExpr *t, FlVal v);

/* ---- statements and expressions -------------------------------------------------------------------- */

/* `want`: the type that is wanted around, a hint for literals and readers; or NULL. */
FlVal fl_sema_expr(FlSema *s, const FlExpr *e, const FlType *want);
/* The same where a grouped table may stand: what is bound, returned, chosen or handed to a verb. */
FlVal fl_sema_expr_or_groups(FlSema *s, const FlExpr *e, const FlType *want);
/* v, or reports that it is a grouped table, which `who` (a builtin, or NULL) does not take. */
FlVal fl_sema_refuse_groups(FlSema *s, FlVal v, FlSpan span, const char *who);
FlVal fl_sema_block(FlSema *s, const FlStmtList *stmts, const FlType *want); /* opens a scope */
FlVal fl_sema_if(FlSema *s, const FlExpr *e, const FlType *want);
FlVal fl_sema_match(FlSema *s, const FlExpr *e, const FlType *want);
void fl_sema_stmt(FlSema *s, const FlStmt *st);
void fl_sema_bind_pattern(FlSema *s, const FlPat *p, FlVal v, FlBindKind kind, const FlTypeExpr *declared);
FlVal fl_sema_comprehension(FlSema *s, const FlExpr *e);
FlVal fl_sema_reduce_for(FlSema *s, const FlExpr *e);
/* One element of a reduction `kind`, checked and brought to the type that is reduced (small integers to i64,
 * bool to i64 for sums ...); scalars. And the reduction from its REDUCE op, whose region is complete.
 * `filtered`: the region yields a keep flag; `n`: how many positions there are. */
FlVal fl_sema_reduce_element(FlSema *s, const char *kind, FlVal v, FlSpan span);
FlVal fl_sema_reduce_finish(FlSema *s, FlOp *op, const char *kind, FlDtype d, bool filtered, FlValue *n);
FlVal fl_sema_index(FlSema *s, const FlExpr *e);
FlVal fl_sema_index_rows(FlSema *s, FlVal v, FlValue *from,
                         FlValue *to); /* leading rows, of arrays and tables */
FlVal fl_sema_at(FlSema *s, FlVal v, FlValue *index,
                 bool proven); /* element of an array's leading dimension, table or list */
FlVal fl_sema_take(FlSema *s, FlVal v, FlValue *idx, int how); /* rows by i64 array; how: FL_TAKE_* */
FlVal fl_sema_compress(FlSema *s, FlVal v, FlValue *mask);
FlVal fl_sema_concat_list(FlSema *s, FlVal list); /* of arrays or tables: one, end to end */
void fl_sema_alias_rows(FlSema *s, FlVal table);  /* its columns are as long as its first part says */
FlVal fl_sema_binary_expr(FlSema *s, const FlExpr *e, const FlType *want); /* lazy where the language is */
FlVal fl_sema_binary(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span, FlSpan left, FlSpan right);
FlVal fl_sema_wrong_operands(FlSema *s, const char *op, FlVal a, FlVal b, FlSpan span); /* reports */
/* + - * / // % where one side is a date, datetime or duration (date.c). */
FlVal fl_sema_date_arithmetic(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlSpan span);
static inline bool fl_is_time(FlDtype d) { return d == FL_DATE || d == FL_DATETIME || d == FL_DURATION; }
bool fl_sema_same_numbers(FlSema *s, FlVal pair[2], FlSpan span); /* two numbers of one type; reports */
/* The type that two numbers, or arrays of numbers, are brought to: the other one's for a literal that fits
 * it; false: there is none. */
bool fl_sema_common_number(FlSema *s, FlVal a, FlVal b, FlDtype *out);
FlVal fl_sema_spread_axis(FlSema *s, FlVal small, FlVal x,
                          int axis); /* small (x without that axis) repeated along it */
FlVal fl_sema_negate(FlSema *s, FlVal v, FlSpan span);
FlVal fl_sema_not(FlSema *s, FlVal v, FlSpan span);
FlVal fl_sema_matmul(FlSema *s, FlVal a, FlVal b, FlSpan span);
FlVal fl_sema_to_text(FlSema *s, FlVal v, const char *format, FlSpan span); /* scalar or elementwise */
const char *fl_sema_check_format(FlSema *s, const char *format,
                                 FlDtype d);              /* NULL: fine; else what is wrong */
FlBinding *fl_sema_module_of(FlSema *s, const FlExpr *e); /* the module that a name stands for, or NULL */

void fl_sema_mark_size(FlSema *s, FlValue *v);
bool fl_sema_is_size(FlSema *s,
                     const FlValue *v); /* certainly >= 0: a dimension, a count, the rows of a table */
/* lo..hi by step. count is its length; reports and returns false when a bound is no integer. */
typedef struct FlRangeVal {
  FlValue *lo, *count;
  int64_t step;
} FlRangeVal;
bool fl_sema_range(FlSema *s, const FlExpr *e, FlRangeVal *out);
FlValue *fl_sema_range_at(FlSema *s, const FlRangeVal *r,
                          FlValue *i); /* cannot overflow for 0 <= i < count */
/* A bool that is not nullable, scalar; reports otherwise. NULL: reported. */
FlValue *fl_sema_condition(FlSema *s, FlVal v, FlSpan span, const char *what);

/* Runs `body` with the builder inside region `r`; scopes, aliases and the builder are as before afterwards.
 */
typedef struct FlSavedPlace {
  FlBuilder b;
  int n_aliases;
  FlScope *scope;
} FlSavedPlace;
FlSavedPlace fl_sema_enter(FlSema *s, FlRegion *r);
void fl_sema_leave(FlSema *s, FlSavedPlace saved);

/* An array by its elements: a MAP over the sizes, with the builder inside it until fl_sema_map_end, which
 * takes the element at `index` and gives the array. */
typedef struct FlSemaMap {
  FlOp *op;
  FlValue *const *index; /* [rank] */
  FlSavedPlace saved;
} FlSemaMap;
FlSemaMap fl_sema_map(FlSema *s, int rank, FlValue *const *sizes, FlDtype element);
FlValue *fl_sema_map_end(FlSema *s, const FlSemaMap *map, FlValue *element);

/* categories: category.c. A category's value is codes and, as its last part, the levels (types.h) */

static inline bool fl_val_is_category(FlVal v) { return fl_type_is_category(v.type); }
FlValue *fl_val_levels(FlVal v); /* of a scalar or array of category; else NULL */
/* A scalar or array of `type` from parts with elements; when it is a category, of the levels of `like`. */
FlVal fl_val_with(FlSema *s, const FlType *type, FlValue *const *parts, FlVal like);
/* Codes as i32, with the nulls; and codes as a category of these levels. */
FlVal fl_category_codes(FlSema *s, FlVal v);
FlVal fl_category_of(FlSema *s, FlVal codes, FlValue *levels);
/* The texts of a category's values: TEXT, with the nulls. */
FlVal fl_category_texts(FlSema *s, FlVal v, FlSpan span);
/* Codes of texts by their levels, an error where one is no level. `text` is a scalar or array without null
 * that does not depend on the position within a comprehension. Reports. */
FlVal fl_category_encode(FlSema *s, FlVal text, FlValue *levels, FlSpan span);
/* Levels without any level that null stands for: they are the same as all others. */
FlValue *fl_levels_none(FlSema *s);
/* Makes sure that these levels are the same: nothing when known, E0262 when known to differ, else a CHECK.
 * NULL: reported; else the ones that are known better. */
FlValue *fl_levels_same(FlSema *s, FlValue *a, FlValue *b, FlSpan span);
/* Texts, with or without null, as a category whose levels are the texts that occur, in their order. */
FlVal fl_category_found(FlSema *s, FlVal texts, FlSpan span);
/* category_table.c: the row with text for category; the table of `row` from one of such texts, whose levels
 * are those that occur in the whole column; and a table with texts for its categories. */
const FlType *fl_category_text_row(FlSema *s, const FlType *row);
FlVal fl_category_table(FlSema *s, FlVal texts, const FlType *row, FlSpan span);
FlVal fl_category_text_table(FlSema *s, FlVal t, FlSpan span);
/* Do they stand for any levels: those of a null, or of what is never reached? */
bool fl_levels_are_none(const FlValue *levels);
/* Are they known to be the same without a check? */
bool fl_levels_equal(const FlValue *a, const FlValue *b);
/* v with the levels of `like`, a value of the same type (any: tuples and tables too), checked to be its own.
 */
FlVal fl_levels_adopt(FlSema *s, FlVal v, FlVal like, FlSpan span);

/* Values that a region makes for each element: what it yields are the parts with elements (fl_val_cut: their
 * number), levels being the same for all. fl_val_join: the value of `type`, of many v side by side or of v's
 * own type, from such parts (after the number of rows, when it is a table); its levels are those of v. */
int fl_val_cut(FlSema *s, FlVal v, FlValue **out);
FlVal fl_val_join(FlSema *s, const FlType *type, FlValue *rows, FlValue *const *parts, FlVal v);
/* Are all levels of v made outside of r? Levels that are constants are moved there. */
bool fl_levels_outside(FlSema *s, FlVal *v, const FlRegion *r);
/* The same, and reports E0264 when they are not. */
bool fl_levels_need_outside(FlSema *s, FlVal *v, const FlRegion *r, FlSpan span);
/* Is the value defined in r, or in a region within it? */
bool fl_value_inside(const FlValue *v, const FlRegion *r);

/* ---- elementwise: lift.c --------------------------------------------------------------------------- */

/* Applies f to the elements of `args` (broadcast by LANGUAGE 4), or once when all are scalars. f gets scalar
 * values and returns a scalar (or a tuple of scalars: the result is a table). Null handling is f's own. */
typedef FlVal FlElementFn(FlSema *s, void *env, FlVal *args, int n, FlSpan span);
FlVal fl_sema_lift(FlSema *s, FlSpan span, int n, FlVal *args, FlElementFn *f, void *env);
/* Applies a SCALAR op whose arguments are already of the types it takes; null for null; under a null the op
 * is not evaluated when it can fault. */
FlVal fl_sema_scalar_op(FlSema *s, FlOpcode code, FlVal *args, int n, const FlType *result,
                        const FlAttrs *attrs);
/* `a and b`, `a or b` where b was built after `mark`: where a is an array and b may fail, b is evaluated only
 * for the elements that it decides. */
FlVal fl_sema_logic_by_element(FlSema *s, FlBinaryOp op, FlVal a, FlVal b, FlOp *mark, FlSpan span,
                               FlSpan left, FlSpan right);
/* The sizes of a result of this rank, args[widest] having all its dimensions; equal sizes are checked.
 * `stretch`: its dimensions that were made by `new` in all arguments. false: reported. */
bool fl_sema_common_sizes(FlSema *s, FlSpan span, int n, const FlVal *args, int rank, int widest,
                          FlValue **sizes, unsigned *stretch);
/* The element of an argument at a position of that result; of a dimension that only stretches, the one there
 * is. */
FlVal fl_sema_element_at(FlSema *s, FlVal v, int rank, unsigned stretch, FlValue *const *position);
/* fl_sema_lift of fl_sema_scalar_op. */
FlVal fl_sema_lift_op(FlSema *s, FlSpan span, FlOpcode code, int n, FlVal *args, FlDtype result,
                      const FlAttrs *attrs);

/* ---- calls ----------------------------------------------------------------------------------------- */

/* An argument as a call brings it: written, or already a value (the left side of a pipe). */
typedef struct FlActual {
  FlName name;        /* text NULL: positional */
  const FlExpr *expr; /* or NULL: `value` is given */
  FlVal value;
  FlSpan span;
  const char *column; /* made by `each`: for this column; else NULL */
  const char *taker;  /* the builtin that it is for, or NULL */
  bool groups;        /* may it be a grouped table? */
} FlActual;
FlVal fl_actual_value(FlSema *s, FlActual *a, const FlType *want); /* elaborates once */

FlVal fl_sema_call(FlSema *s, const FlExpr *call, const FlVal *piped, FlSpan piped_span, const FlType *want);
FlVal fl_sema_call_binding(FlSema *s, FlBinding *fn, int n, FlActual *args, FlSpan span);
/* The name, or name.2, name.3 ... when the module has a function of that name. */
const char *fl_sema_unique_name(FlSema *s, const char *name);
/* Forgets those from n on. */
/* What the module has so far. Taken back: functions that were made since, their instances and names are gone.
 */
typedef struct FlSemaMark {
  FlFunc *last;
  int n_instances, n_named;
} FlSemaMark;
FlSemaMark fl_sema_mark(const FlSema *s);
void fl_sema_take_back(FlSema *s, FlSemaMark mark);
/* The call of a C function whose parameters are bound in s->scope (extern.c). */
FlVal fl_sema_extern(FlSema *s, const FlBinding *fn);
bool fl_sema_extern_check(FlSema *s, const FlBinding *fn); /* its declaration; false: reported */
/* The function that stands before the brackets of a call: a column or value of that name does not hide it. */
FlVal fl_sema_callee(FlSema *s, const FlExpr *f);
/* Calls a function value with finished values (sort keys, optimisers' objectives, user aggregates ...). */
FlVal fl_sema_apply(FlSema *s, FlClosure *fn, int n, const FlVal *args, FlSpan span);

/* A call of a builtin as its handler gets it. */
typedef struct FlCallSite {
  const FlBuiltin *builtin;
  FlSpan span;    /* of the whole call */
  FlActual *args; /* one a parameter, in order; fl_actual_given tells those that the call leaves out */
  int n_rest;
  FlActual *rest; /* what "..." took */
  const FlType *want;
} FlCallSite;
typedef FlVal FlBuiltinFn(FlSema *s, FlCallSite *c);
typedef struct FlBuiltinParam {
  const char *name; /* interned */
  bool optional, by_name;
} FlBuiltinParam;
/* builtins.def says what they mean. */
typedef enum FlBuiltinKind {
  FL_BUILTIN_SCALAR = 1,
  FL_BUILTIN_AGGREGATE = 2,
  FL_BUILTIN_WINDOW = 4,
  FL_BUILTIN_POSITION = 8,
  FL_BUILTIN_VERB = 16
} FlBuiltinKind;
struct FlBuiltin {
  unsigned kinds; /* of FlBuiltinKind */
  const char *name;
  const char *signature; /* its parameters as builtins.def writes them, for messages */
  FlBuiltinFn *fn;
  FlOpcode op;      /* for families of builtins that differ by their operator */
  const char *data; /* likewise: the reduction's or aggregate's name, flags */
  const char *doc;
  int n_params;
  const FlBuiltinParam *params;
  bool takes_rest; /* "...": arguments that are for no parameter go to `rest` */
};
FlMap *fl_builtins_make(FlArena *arena, FlInterner *names);    /* FlBuiltin by interned name */
const FlBuiltin *fl_builtin_find(FlSema *s, const char *name); /* NULL: none */
const char *fl_builtin_closest(FlSema *s, const char *name);   /* among functions of all kinds; NULL: none */
FlVal fl_sema_call_builtin(FlSema *s, const FlBuiltin *bi, int n, FlActual *args, FlSpan span,
                           const FlType *want);
static inline bool fl_actual_given(const FlActual *a) { return a->expr != NULL || a->value.type != NULL; }
/* Evaluated arguments of common shapes; report and return false when they do not fit. */
bool fl_actual_i64(FlSema *s, FlActual *a, FlValue **out);    /* any integer */
bool fl_actual_const_i(FlSema *s, FlActual *a, int64_t *out); /* known while compiling */
bool fl_actual_f64(FlSema *s, FlActual *a, FlValue **out);
bool fl_actual_const_text(FlSema *s, FlActual *a,
                          const char **out); /* a literal text without interpolation */
bool fl_actual_const_bool(FlSema *s, FlActual *a, bool *out);

void fl_sema_show(FlSema *s, FlVal v); /* the op of show(v); v is a value */
/* Effects: reports E0801 when we are in pure code. */
bool fl_sema_effect_ok(FlSema *s, const char *what, FlSpan span);

/* The argument that says where to write, as text; false: reported. */
bool fl_sema_target_path(FlSema *s, FlActual *a, FlValue **out);
/* A constant path that the script reads or writes (paths.c). false: it is both read and written, or written
 * twice, which is reported. Paths that are computed are compared when the script runs. */
bool fl_sema_claim_path(FlSema *s, const char *path, FlSpan span, bool output);

/* ---- tables: table.c (rows), columns.c (derive, select, ...), aggregate.c, join.c, reader.c -------- */

struct FlGrouping {
  FlValue *groups, *group_of, *first; /* of the GROUP op: their number, i64[rows], i64[groups] */
  /* For messages: the keys of the groups and their names; none where no expression is taken by group. */
  int n_keys;
  const FlVal *keys;
  const char *const *names;
};
/* The groups of a table; NULL: it is not grouped. */
const FlGrouping *fl_verb_grouping(FlSema *s, FlVal t);

/* In an aggregate context: sum, mean ... of a column. Returns true when it took the call. */
bool fl_sema_aggregate_call(FlSema *s, FlCallSite *c, FlVal *out);
/* Is n the number of rows of the verb's table? */
bool fl_sema_is_rows(FlSema *s, FlValue *n);
/* Is v an array with one element a row of the verb's table? */
bool fl_sema_has_rows(FlSema *s, FlVal v);
/* A column inside an aggregate or a window: aggregates within it stand on every row; of plain arrays they are
 * none. */
FlVal fl_sema_column_argument(FlSema *s, FlActual *a);
/* The dtype that the aggregate `kind` of a column has; false: reported, of what the script calls `name`. */
bool fl_sema_aggregate_dtype(FlSema *s, const char *kind, const char *name, FlVal x, FlSpan span,
                             FlDtype *out);
/* The aggregate `kind` of a column of t over all its rows: a scalar. Reports. */
FlVal fl_sema_aggregate_of(FlSema *s, FlVal t, const char *kind, double setting, FlVal x, FlSpan span);
/* window.c. The rows by group, and within it by a column (or NULL): GROUP_ORDER for the grouping of this
 * context, or for `rows` rows as one group when it has none. */
typedef struct FlGroupOrder {
  FlValue *rows, *start;
} FlGroupOrder;
bool fl_verb_in_groups(FlSema *s); /* are we in the arguments of a verb of a grouped table? */
FlGroupOrder fl_verb_order(FlSema *s, FlVal x, const FlVal *by);
/* The argument of a window as a column: an array of one dimension, and in a grouped verb one that has a value
 * a row; reports otherwise. */
bool fl_verb_window_column(FlSema *s, FlCallSite *c, FlActual *a, FlVal *out);
/* How many rows of its group stand before each: i64[rows]. */
FlValue *fl_verb_row_numbers(FlSema *s, const FlGrouping *g);
/* The rank of each row of t among those of its group (of all rows without one), from 1, by a key column:
 * equal ones by `method`. */
FlVal fl_verb_rank(FlSema *s, FlValue *group_of, FlVal key, bool downwards, const char *method);
/* `desc(x)` as a key: x, and true. */
bool fl_sema_key_desc(FlActual *key);
/* by_group.c: e in the arguments of a verb of a grouped table: true: it was elaborated here, by group or as
 * what no column has part in; false: as anywhere, all groups at once. */
bool fl_by_group(FlSema *s, const FlExpr *e, const FlType *want, FlVal *out);
/* Where a loop of positions in the groups at once, or in the rows of an argument that is not computed row by row,
 * fails, the error says the group. Nothing for other loops. */
void fl_by_group_say_loop(FlSema *s, FlOp *loop, FlRegion *r);
/* An operator that says the group of the position where it fails: a group's, or a row's. */
FlOp *fl_by_group_op(FlSema *s, FlOpcode code, int n, FlValue *const *args, int n_results,
                     const FlType1 *types, bool rows);
/* group_class.c. How an expression goes by group, least first. */
typedef enum FlGroupClass {
  FL_GROUP_OUTSIDE, /* no column of the verb takes part */
  FL_GROUP_ROWS,    /* row by row */
  FL_GROUP_AT_ONCE, /* made of that and of aggregates and windows, which take all groups at once */
  FL_GROUP_EACH     /* anything else: it is computed for each group from the rows of that group */
} FlGroupClass;
FlGroupClass fl_group_class(FlSema *s, const FlExpr *e);
/* Is e itself what has a value for each row: a column, a window, a random number of the row? */
bool fl_group_gives_rows(FlSema *s, const FlExpr *e);
/* Does e name a column of the verb that we are in, or a set of them? */
bool fl_names_column(FlSema *s, const FlExpr *e);
/* Which columns of `row` does e name? all: it has a set of columns, so it may be any. */
void fl_named_columns(const FlType *row, const FlExpr *e, bool *named);
/* count() of a grouped table: its keys, and the number of rows of each group. */
FlVal fl_verb_count_groups(FlSema *s, FlVal t);
/* Names of all columns, for suggestions. */
const char *fl_sema_closest_field(FlSema *s, const FlType *row, const char *name);
/* Helps a message about a name that no field of `row` has: the one that was meant, and that `these_are` all
 * of them. */
void fl_sema_help_field(FlSema *s, FlDiag *d, const FlType *row, FlName name, const char *these_are);
/* The same of names: the one that was meant instead of what is `at` a place, or NULL. */
void fl_sema_help_names(FlSema *s, FlDiag *d, FlSpan at, const char *meant, int n, const char *const *names,
                        const char *these_are);
/* Adds to a message about a tuple or table what makes it another one than is wanted, the first. */
void fl_sema_explain_rows(FlSema *s, FlDiag *d, const FlType *from, const FlType *to);
/* The first argument of a verb as a table; reports otherwise. */
bool fl_verb_table(FlSema *s, FlCallSite *c, FlVal *out);
/* Elaborates e where the columns of t stand for their names; `g`: in these groups, or NULL: the rows are one.
 */
FlVal fl_verb_expr(FlSema *s, FlVal t, FlActual *a, FlAggMode mode);
FlVal fl_verb_expr_in(FlSema *s, FlVal t, const FlGrouping *g, FlActual *a, FlAggMode mode);
/* A column's index by the name that an expression is (NAME, COL); reports and returns -1 otherwise. */
int fl_verb_column(FlSema *s, FlVal t, const FlExpr *e);
/* v as a column of `rows` rows: an array as it is, a scalar repeated. Reports otherwise. */
FlVal fl_verb_as_column(FlSema *s, FlVal v, FlValue *rows, FlSpan span, const char *name);
/* A table of these columns, and t's with some replaced. */
typedef struct FlColumns {
  int n, cap;
  const char **names;
  FlVal *values;
  FlMap *at; /* name -> 1 + its index; NULL: they are few */
} FlColumns;
int fl_columns_find(const FlColumns *c, const char *name); /* -1: none */
FlColumns fl_columns_of(FlSema *s, FlVal t);
void fl_columns_set(FlSema *s, FlColumns *c, const char *name, FlVal v);
FlVal fl_columns_table(FlSema *s, const FlColumns *c, FlValue *rows);
/* Key columns as the arguments and the columns of GROUP, SORT_PERM, JOIN ...: values, then validity. */
int fl_verb_keys(FlSema *s, int n, const FlVal *keys, FlValue **args, FlColumnAttr *columns);

#endif
