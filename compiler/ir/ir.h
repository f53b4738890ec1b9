/* ir.h: the typed SSA graph with regions that every phase after sema works on.
 *
 * What comes in: functions built by sema through the builder below, or read back from text.
 * What always holds (verify.c, after every pass in debug builds): each value is defined once, before its
 * uses, in the same region or one around it; arguments and results obey ops.def; a region ends with its
 * yields.
 *
 * Values are scalars, arrays and lists (FlType1 of flow/abi.h). Tuples, tables, nulls and functions are gone:
 * sema flattens them (types.h says in which order). Sizes are ordinary i64 values: two arrays have the same
 * size when their dims are the same SSA value or equal constants.
 *
 * Levels. A region is a *kernel* region when it holds only SCALAR ops, CONST, DIM, LOAD of scalars from
 * arrays that are defined outside of it, CHECK, FAIL, IF, FOR, WHILE and nested REDUCE/MAP-free loops; code
 * generation turns it into straight loops. Anything else is *host* level (a MAP over it runs its elements as
 * tasks). fl_ir_is_kernel decides; no flag is stored, the plan (plan/plan.h) has its answer.
 *
 * Ownership: everything lives in the module's arena; no single frees. */
#ifndef FL_IR_H
#define FL_IR_H

#include "flow/abi.h"
#include "flow/aggregates.h"
#include "flow/dtypes.h"
#include "base/base.h"
#include "diag/diag.h"
#include "ir/op_groups.h"

typedef enum FlOpcode {
#define FL_OP(NAME, text, FAMILY, sig, flags, size, dist, cost, version) FL_OP_##NAME,
#include "ir/ops.def"
#undef FL_OP
} FlOpcode;
enum {
#define FL_OP(NAME, text, FAMILY, sig, flags, size, dist, cost, version) +1
  FL_N_OPS = 0
#include "ir/ops.def"
#undef FL_OP
};

typedef enum FlOpFamily {
#define FL_FAMILY(NAME, CLASS) FL_FAMILY_##NAME,
#include "ir/families.def"
#undef FL_FAMILY
} FlOpFamily;
typedef enum FlOpClass { FL_CLASS_SCALAR, FL_CLASS_STRUCT, FL_CLASS_RUNTIME } FlOpClass;
enum {
  FL_OPF_FAULT = 1,
  FL_OPF_EFFECT = 2,
  FL_OPF_COMMUTE = 4,
  FL_OPF_HEAP = 8,
  FL_OPF_NOTE = 16,
  FL_OPF_BLAS = 32,
  FL_OPF_MATHS = 64,
  FL_OPF_LIMIT = 128,
  FL_OPF_TOTAL = 256,
  FL_OPF_COUNTS = 512,
  FL_OPF_LIBRARY = 1024,
  FL_OPF_GROUPS = 2048,
  FL_OPF_WHOLE = 4096,
  FL_OPF_PICKS = 8192,
  FL_OPF_CODES = 16384,
  FL_OPF_SELECTED = 32768
};
typedef enum FlDist {
  FL_DIST_NONE,
  FL_DIST_ROW,
  FL_DIST_FOLD,
  FL_DIST_ALL,
  FL_DIST_SHUFFLE,
  FL_DIST_ROLES
} FlDist;

typedef struct FlOpInfo {
  const char *name;
  FlOpFamily family;
  FlOpClass op_class;
  const char *signature;
  int flags;
  FlDist dist;
  double cost; /* nanoseconds an element */
  int version; /* of its meaning */
} FlOpInfo;
extern const FlOpInfo fl_op_info[FL_N_OPS];

/* Aggregates of columns, as flow/aggregates.def has them; states and sweeps: flow/aggregates.h. */
typedef enum FlAggregate {
#define FL_AGG_ROW(NAME, ...) FL_AGGREGATE_##NAME,
#include "flow/aggregates.def"
#undef FL_AGG_ROW
  FL_N_AGGREGATES
} FlAggregate;

typedef enum FlAggResult {
  FL_RESULT_COUNT,
  FL_RESULT_LOGIC,
  FL_RESULT_SAME,
  FL_RESULT_SUM,
  FL_RESULT_MEAN,
  FL_RESULT_REAL
} FlAggResult;
typedef enum FlAggNulls { FL_NULLS_NEVER, FL_NULLS_EMPTY, FL_NULLS_LACK } FlAggNulls;
typedef enum FlAggSlope {
  FL_SLOPE_NONE,
  FL_SLOPE_SUM,
  FL_SLOPE_MEAN,
  FL_SLOPE_SPREAD,
  FL_SLOPE_PAIR,
  FL_SLOPE_WEIGHTED,
  FL_SLOPE_EXTREME,
  FL_SLOPE_PLACE,
  FL_SLOPE_SHARE
} FlAggSlope;
typedef enum FlAggSetting {
  FL_SETTING_NONE,
  FL_SETTING_DDOF,
  FL_SETTING_SHARE,
  FL_SETTING_HALF
} FlAggSetting;
typedef enum FlAggRolls { FL_ROLLS_NO, FL_ROLLS_YES } FlAggRolls;

typedef struct FlAggregateInfo {
  const char *name;
  int columns;
  FlAggResult result;
  FlAggNulls nulls;
  FlAggState state;
  FlAggSweep sweep;
  FlAggSlope slope;
  FlAggSetting setting;
  FlAggRolls rolls;
} FlAggregateInfo;
extern const FlAggregateInfo fl_aggregate_info[FL_N_AGGREGATES];
FlAggregate fl_aggregate_find(const char *name); /* FL_N_AGGREGATES: there is none */

/* Formats of files, as flow/formats.def has them, by what is done: a row for each reader and writer of
 * tables. */
enum {
  FL_FORMAT_DURATION = 1,
  FL_FORMAT_ARRAYS = 2,
  FL_FORMAT_LEVELS = 4,
  FL_FORMAT_LIBRARY = 8,
  FL_FORMAT_PARTS = 16,
  FL_FORMAT_PROGRAMS = 32,
  FL_FORMAT_LAID = 64,
  FL_FORMAT_AGAIN = 128,
  FL_FORMAT_BY_LINES = 256,
  FL_FORMAT_COUNTED = 512
};
typedef enum FlOptionType { FL_OPTION_TEXT, FL_OPTION_TEXTS, FL_OPTION_BOOL, FL_OPTION_LINES } FlOptionType;
typedef struct FlFormatOption {
  const char *name; /* NULL: behind the last */
  FlOptionType type;
} FlFormatOption;
typedef struct FlFormatInfo {
  const char *name; /* "read_csv": of the function in scripts; its C name is fl_<name> */
  const char *title;
  int version, flags;
  const FlFormatOption *options;
} FlFormatInfo;
const FlFormatInfo *fl_format_find(const char *name); /* NULL: there is none */
const FlFormatInfo *fl_format_at(int k);              /* NULL: behind the last */

typedef struct FlOp FlOp;
typedef struct FlRegion FlRegion;
typedef struct FlFunc FlFunc;

/* A value is a column of a table that somebody who looks at the last run may see: what the step of a pipe at
 * `at` gives, or a `let` at the top. It is said of what is computed anyway, and counts as no use: where the
 * value goes the column is not there. */
typedef struct FlSeen {
  FlSpan at;
  const char *name; /* of the column */
  int column, n_columns;
  FlDtype dtype;     /* of the column, also of its levels and of which are valid */
  int part, n_parts; /* FL_SEEN_VALUES ..; how many the column has */
  bool let;
  int depth; /* fl_ir_depth of where the step stands: where it does not come to, nothing is seen */
  /* opt/seen.c, as FL_SEEN_IF_FIRST, OUTER and LOOPED of flow/abi.h: */
  bool if_first, outer, looped;
  const struct FlSeen *next;
} FlSeen;
enum { FL_SEEN_COLUMNS = 30 }; /* of a table: the first */

typedef struct FlValue {
  FlType1 type;
  uint32_t id;        /* unique in the function, for printing and side tables */
  FlOp *op;           /* defining op, or NULL: a region parameter */
  FlRegion *region;   /* where it is defined */
  int32_t index;      /* which result or parameter */
  const FlSeen *seen; /* or NULL; not printed */
} FlValue;

/* The library of a C function: by its name, or by a path; then its content is what it is, wherever it lies.
 */
typedef struct FlLibraryAttr {
  const char *name; /* or path */
  bool by_path;
  FlDigest content;
} FlLibraryAttr;

typedef enum FlReduceKind {
  FL_RED_SUM,
  FL_RED_PRODUCT,
  FL_RED_SUM_PRODUCT,
  FL_RED_MIN,
  FL_RED_MAX,
  FL_RED_ANY,
  FL_RED_ALL,
  FL_RED_COUNT,
  FL_RED_ARGMIN,
  FL_RED_ARGMAX,
  FL_RED_EACH
} FlReduceKind;
enum { FL_N_REDUCE_KINDS = FL_RED_EACH + 1 };
extern const char *const fl_reduce_names[FL_N_REDUCE_KINDS];
bool fl_reduce_find(const char *name, FlReduceKind *out); /* false: there is none */

/* One of the reductions of a REDUCE. */
typedef struct FlReductionAttr {
  FlReduceKind kind;
  bool filtered; /* a yield says whether an element counts */
} FlReductionAttr;

/* Attributes; which are used is said in ops.def. Strings are interned or in the arena, NUL-terminated. */
typedef struct FlAttrs {
  int64_t i;
  double f;
  const char *s;
  int32_t s_len; /* bytes of s when it is text data that may hold NULs (CONST); else strlen */
  int32_t n_list, n_columns, n_options, n_reductions;
  const char **list;
  const FlColumnAttr *columns;       /* shared between ops, never changed; */
  const FlOptionAttr *options;       /* so are these */
  const FlFormatInfo *format;        /* of what reads or writes tables in files */
  const FlLibraryAttr *library;      /* of an EXTERN */
  const FlReductionAttr *reductions; /* of a REDUCE, by result; never changed */
  FlFunc *func;
  bool fewer;   /* an optimisation has it take or give fewer rows than the script says */
  bool chained; /* of a COMPRESS: it chooses from rows, too, that a filter before it drops, */
  bool counts;  /* which is there to say how many it keeps */
} FlAttrs;

/* A piece of the program that is evaluated only if somebody uses what it gives: what is assigned to a
 * variable, a column. */
typedef struct FlUnit {
  struct FlUnit *outer; /* or NULL */
  bool plain;           /* it has no values of its own that could be used: it counts as `outer` does */
} FlUnit;

struct FlOp {
  FlOpcode code;
  FlSpan span;
  int32_t n_args, n_results, n_regions;
  FlValue **args;
  FlValue **results;
  FlRegion **regions;
  FlAttrs attrs;
  const FlSpan *places; /* one a result, where fusion made one op of several; NULL: span */
  FlUnit *unit; /* until canon, and not printed: what it was built for; NULL: evaluated when it is reached */
  FlRegion *parent;
  FlOp *prev, *next;
};

struct FlRegion {
  FlOp *owner; /* NULL: a function body */
  FlFunc *func;
  int32_t n_params, n_yields;
  FlValue **params;
  FlValue **yields;
  FlOp *first, *last;
};

/* What the source calls a parameter of a stage, or a value of the script that a part of it reads. */
typedef struct FlArgName {
  const FlValue *param;
  const char *name;
} FlArgName;

typedef enum FlFuncKind { FL_FUNC_PLAIN, FL_FUNC_STAGE, FL_FUNC_MAIN, FL_FUNC_TEST } FlFuncKind;

struct FlFunc {
  const char *name;   /* unique in the module; for people, and never part of a key except stages' */
  const char *callee; /* as the source calls it, for messages */
  FlFuncKind kind;
  FlSpan span;
  int memo;       /* stages: 0 by cost, 1 always, -1 never */
  FlRegion *body; /* params are the function's, yields its results */
  uint32_t next_id;
  FlFunc *next;
  struct FlModule *module;
  FlDigest key;   /* stages: set by opt/key.c, */
  bool uses_blas; /* as is whether it, or what it calls, has an operator with the flag BLAS */
  bool recursive;
  const char *result_type;    /* stages: as FlStage.result_type */
  const FlArgName *arg_names; /* stages: of the parameters, also of some that it has no longer */
  int32_t n_arg_names;
  const char *sources; /* stages: as FlStage.sources; or NULL */
};

/* A script parameter as the program sees it; the main function's params start with these, flattened. */
typedef struct FlIrParam {
  const char *name, *type, *help, *default_text;
  FlType1 t;
  bool nullable;
  FlSpan span;
} FlIrParam;

typedef struct FlModule {
  FlArena *arena;
  FlSources *sources; /* what spans refer to; NULL: they have no calls */
  FlFunc *first, *last;
  FlFunc *main;
  FlIrParam *params;
  int32_t n_params;
  const char *name, *doc;
  const char *about; /* FlProgram.about, or NULL */
} FlModule;

/* ---- building. All results are in the module's arena; nothing here fails but for memory (aborts). ---- */

/* An empty module; a function at its end, with an empty body; a parameter behind those that the region has.
 */
FlModule *fl_ir_module_make(FlArena *arena, const char *name);
FlFunc *fl_ir_func_make(FlModule *m, const char *name, FlFuncKind kind, FlSpan span);
FlValue *fl_ir_param(FlRegion *r, FlType1 type);

/* Where new ops go: the end of `region`, or before `before` when it is not NULL. */
typedef struct FlBuilder {
  FlModule *module;
  FlFunc *func;
  FlRegion *region;
  FlOp *before;
  FlSpan span;   /* given to every new op, */
  uint32_t call; /* within this call where the span does not say itself in which it is */
  FlUnit *unit;  /* too */
} FlBuilder;

/* The general form; result types are copied. Attributes start zero; set op->attrs afterwards. */
FlOp *fl_ir_op(FlBuilder *b, FlOpcode code, int n_args, FlValue *const *args, int n_results,
               const FlType1 *types, int n_regions);
/* Gives an op made with no results its results, once its region is known. */
void fl_ir_add_results(FlBuilder *b, FlOp *op, int n, const FlType1 *types);
FlRegion *fl_ir_region(FlBuilder *b, FlOp *op, int index, int n_params,
                       const FlType1 *types); /* fills op->regions[index] */
void fl_ir_yield(FlRegion *r, FlModule *m, int n, FlValue *const *values);

/* Short forms. Result types follow from the signature; CONVERT and other '?' take `type`. */
FlValue *fl_ir_const_i(FlBuilder *b, FlDtype dtype,
                       int64_t v); /* integers, bool, date, datetime, duration; u64 as bits */
FlValue *fl_ir_const_f(FlBuilder *b, FlDtype dtype, double v);
FlValue *fl_ir_const_t(FlBuilder *b, const char *s, int len);
FlValue *fl_ir_unary(FlBuilder *b, FlOpcode code, FlValue *a);
FlValue *fl_ir_binary(FlBuilder *b, FlOpcode code, FlValue *a, FlValue *c);
FlValue *fl_ir_select(FlBuilder *b, FlValue *c, FlValue *yes, FlValue *no);
FlValue *fl_ir_convert(FlBuilder *b, FlValue *a, FlDtype to);
/* How many columns a reader gives as a category. */
int fl_ir_n_levels(const FlOp *op);
/* How many values the operator has for a column: itself, and which are valid; none, where it is in the matrix
 * of the one before it. */
static inline int fl_ir_column_width(const FlColumnAttr *c) { return fl_column_results(c); }
/* Attributes for a column, or a key, with or without nulls; for an op, n of them, copied. */
static inline FlColumnAttr fl_ir_column(bool nulls) {
  return (FlColumnAttr){.flags = nulls ? FL_COLUMN_NULLS : 0};
}
void fl_ir_set_columns(FlArena *arena, FlOp *op, int n, const FlColumnAttr *columns);
bool fl_ir_same_columns(const FlAttrs *a, const FlAttrs *b);
bool fl_ir_same_options(const FlAttrs *a, const FlAttrs *b);             /* the format, too */
bool fl_ir_same_library(const FlLibraryAttr *a, const FlLibraryAttr *b); /* both may be NULL */
FlValue *fl_ir_dim(FlBuilder *b, FlValue *a, int axis); /* looks through MAP/known producers first */
FlValue *fl_ir_load(FlBuilder *b, FlValue *a, int n, FlValue *const *index, bool proven);
FlOp *fl_ir_call(FlBuilder *b, FlFunc *f, int n_args, FlValue *const *args, int n_results,
                 const FlType1 *types);

/* ---- asking ------------------------------------------------------------------------------------------- */

static inline FlType1 fl_t_scalar(FlDtype d) { return (FlType1){(uint8_t)d, 0, 0, 0}; }
static inline FlType1 fl_t_array(FlDtype d, int rank) { return (FlType1){(uint8_t)d, (uint8_t)rank, 0, 0}; }
static inline bool fl_t_same(FlType1 a, FlType1 b) {
  return a.dtype == b.dtype && a.rank == b.rank && a.depth == b.depth;
}
static inline bool fl_t_is_scalar(FlType1 t) { return t.rank == 0 && t.depth == 0; }
static inline bool fl_ir_is_rounds(const FlOp *op) {
  return op->code == FL_OP_FOR || op->code == FL_OP_WHILE;
}

/* What an operation says when it meets one of `faults`, with {a} and {b} where its operands stand; text NULL:
 * what faults.def says. Made in the arena, or constant. */
typedef struct FlFaultText {
  const char *text;
  int32_t faults;
} FlFaultText;
FlFaultText fl_ir_fault_text(FlArena *arena, const FlOp *op);

/* Is the operand behind `first` recorded beside it: is it of the same type, or are both times or signed
 * integers, which messages tell apart as {a} and {b:TYPE}? */
bool fl_ir_says_second(const FlOp *op, int first);

/* What parameter `index` of the stage is called, or "". */
const char *fl_ir_arg_name(const FlFunc *f, int index);

/* What runs call the operator: its name, but of a COMPRESS whose rows are not those that the script says, as
 * a join asks for fewer (opt/asks.c). */
const char *fl_ir_run_name(const FlOp *op);
/* Where result `index` of the op stands in the source. */
static inline FlSpan fl_ir_place(const FlOp *op, int index) {
  return op->places ? op->places[index] : op->span;
}
FlAggregate fl_ir_aggregate(const FlOp *op);              /* of an AGGREGATE or ROLLING: attr s */
bool fl_ir_const_value_i(const FlValue *v, int64_t *out); /* v is a CONST integer or bool */
bool fl_ir_may_fault(const FlOp *op); /* considers attributes, types (float add cannot) and nested regions */
bool fl_ir_region_may_fault(const FlRegion *r); /* an op of the region, or in one of its regions */
/* `r` is `outer` or inside of it; v is of it; v is of a region of the op. */
bool fl_ir_inside(const FlRegion *r, const FlRegion *outer);
bool fl_ir_made_inside(const FlValue *v, const FlRegion *outer);
bool fl_ir_made_within(const FlValue *v, const FlOp *op);
/* The WITHIN of what fails in a group; NULL: none, or it cannot fail. */
const FlOp *fl_ir_within(const FlOp *op);
bool fl_ir_is_check(const FlOp *op);  /* CHECK or KEEP: no value, and only errors come of it */
bool fl_ir_is_effect(const FlOp *op); /* itself or in a nested region */
FlPasses fl_ir_passes(const FlOp *op);
/* Some operator in it gives a text whose bytes are new. */
bool fl_ir_makes_text(const FlRegion *r);
bool fl_ir_is_kernel(const FlRegion *r);              /* see the top comment */
bool fl_ir_uses(const FlRegion *r, const FlValue *v); /* anywhere inside */

/* Operations anywhere inside; those with this code. */
int fl_ir_n_ops(const FlRegion *r);
int fl_ir_n_of(const FlRegion *r, FlOpcode code);

/* How large an array or list is along an axis, as its operator's row says; extent.c. */
typedef enum FlExtentKind {
  FL_EXTENT_OWN,      /* only the array itself says it */
  FL_EXTENT_VALUE,    /* `value` */
  FL_EXTENT_CONSTANT, /* n */
  FL_EXTENT_OF,       /* as axis n of the array `value` */
  FL_EXTENT_SPAN,     /* of a ROWS: from where to where it goes */
  FL_EXTENT_LEAST     /* the smaller size of the matrix that is the operator's first argument */
} FlExtentKind;
typedef struct FlExtent {
  FlExtentKind kind;
  FlValue *value;
  int64_t n;
} FlExtent;
FlExtent fl_ir_extent(const FlValue *a, int axis);

/* reductions: how they lie among the yields of a REDUCE (ops.def says it in words); reduction.c */

/* One reduction of a REDUCE: its values are n_values yields from `first` on; `keep` is the yield that says
 * whether an element counts, -1: all do. Its result has the same index. */
typedef struct FlReduction {
  FlReduceKind kind;
  int first, n_values, keep;
} FlReduction;
/* Bits of attr i: of a REDUCE; of a MAP, REDUCE or COLLECT. */
enum { FL_REDUCE_SOME = 2, FL_LOOP_BY_POSITION = 4 };

FlReduction fl_ir_reduction(const FlOp *op, int index);
/* It is of this kind alone. */
static inline bool fl_ir_reduces(const FlOp *op, FlReduceKind kind) {
  return op->code == FL_OP_REDUCE && op->attrs.n_reductions == 1 && op->attrs.reductions[0].kind == kind;
}
void fl_ir_set_reduction(FlOp *op, FlReduceKind kind, bool filtered);                          /* alone */
void fl_ir_set_reductions(FlArena *arena, FlOp *op, int n, const FlReductionAttr *reductions); /* copied */
bool fl_ir_same_reductions(const FlAttrs *a, const FlAttrs *b);
/* A result of none of its kind is an error: min, max, argmin, argmax. */
bool fl_reduce_picks(FlReduceKind kind);
/* The factors are checked one by one, in their order: a product of integers. */
bool fl_ir_reduces_in_order(const FlOp *op);

/* The value is that column, too. */
void fl_ir_see(FlArena *arena, FlValue *v, const FlSeen *seen);
/* `to` stands for `from` from now on: it is what that was seen as. */
void fl_ir_see_instead(const FlValue *from, FlValue *to);
/* How many operations a region is within. */
int fl_ir_depth(const FlRegion *r);
/* Whether a value of the region is a column, at any depth. */
bool fl_ir_sees(const FlRegion *r);
/* Values of the region, at any depth, are no columns any more. */
void fl_ir_unsee(FlRegion *r);

/* Structural edits used by passes. */
void fl_ir_remove(FlOp *op);
void fl_ir_replace(FlFunc *f, FlValue *from, FlValue *to);            /* every use in the function */
void fl_ir_replace_in(FlRegion *r, const FlValue *from, FlValue *to); /* every use in the region */
void fl_ir_move_before(FlOp *op, FlOp *before);
/* Moves the ops of `from` that come after `mark` (NULL: all) and before `until` to the end of `to`. */
void fl_ir_move_into(FlRegion *from, FlOp *mark, FlOp *until, FlRegion *to);
/* Products of transposed matrices read them transposed, in the region's regions too. */
void fl_ir_read_transposed(FlRegion *r);
/* Copies the ops of `from` to the builder's place, params replaced by `args`; out: its yields. */
void fl_ir_inline_region(FlBuilder *b, const FlRegion *from, FlValue *const *args, FlValue **yields_out);
/* Copies the ops of `from` that `reader`, a region that does not stand in it any more, needs of it: `reader`
 * then reads the copies. */
void fl_ir_inline_read(FlBuilder *b, const FlRegion *from, FlValue *const *args, FlRegion *reader);
/* Copies the body of what `call` calls: the places of the copies are within that call. */
void fl_ir_inline_call(FlBuilder *b, const FlOp *call, FlValue **yields_out);

/* ---- text: print.c and read.c are inverse of each other; verify.c ---------------------------------- */
void fl_ir_print(FlText1 *out, const FlModule *m);
void fl_ir_print_func(FlText1 *out, const FlFunc *f);
/* What code is made of: the same but for keys, and the messages of checks, attribute s of these: */
void fl_ir_print_code(FlText1 *out, const FlFunc *f);
static inline bool fl_ir_has_message(const FlOp *op) {
  return op->code == FL_OP_CHECK || op->code == FL_OP_FAIL;
}
/* Canonical encoding for keys: no spans, no names of values, functions by their own digest. */
void fl_ir_encode_func(FlText1 *out, const FlFunc *f);
FlModule *fl_ir_read(FlArena *arena, const char *text, FlSink *sink); /* NULL: errors are in the sink */
/* Whether all ops of the region, and within, have their operands, regions and yields: what was built where an
 * error was met may not. Only the ops' own rules; what the region itself yields is not looked at. */
bool fl_ir_is_whole(const FlRegion *r);
bool fl_ir_verify(const FlModule *m, FlText1 *why); /* false: `why` names function, op and rule */

/* ---- for passes: pieces below the builder ---------------------------------------------------------- */

/* Puts an op that is in no region at the end of `r`, or before `before`; takes it out again. */
void fl_ir_link(FlRegion *r, FlOp *op, FlOp *before);
void fl_ir_unlink(FlOp *op);
FlValue *fl_ir_value_make(FlFunc *f, FlType1 type, FlOp *op, FlRegion *region, int index);

/* The value of an op on constants: true when all arguments are CONST, the op is one that folds, and it cannot
 * fault on them; then `out` holds the CONST attributes of result 0. Bits are those of the run-time function.
 */
bool fl_ir_fold(FlOpcode code, FlDtype result, int n_args, FlValue *const *args, FlAttrs *out);
/* The op becomes a CONST where it folds. */
void fl_ir_fold_op(FlOp *op);

/* Canonical encoding with the caller's choice of how a function is named (key.c: members of a recursion). */
typedef void (*FlIrEncodeFunc)(FlText1 *out, const FlFunc *callee, void *user);
void fl_ir_encode_with(FlText1 *out, const FlFunc *f, FlIrEncodeFunc encode_callee, void *user);

#endif
