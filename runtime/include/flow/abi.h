/* abi.h: what generated code, the interpreter and the runtime agree on: values, arrays, calls, programs.
 *
 * Everything here is plain data of fixed layout. Generated code reads FlSlot, FlText, FlArray (data, dims)
 * and FlKernel directly; all else goes through the functions below and the runtime operators of ops.def. */
#ifndef FLOW_ABI_H
#define FLOW_ABI_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- element types ------------------------------------------------------------------------------------ */

/* A text value: UTF-8 bytes, not NUL-terminated. Does not own them: a text scalar's bytes live in the stack
 * of texts of its context, until the round of a loop, or the call, that made it is left (fl_texts_leave),
 * those of an array's text in a buffer that the array keeps; the text under a null is {NULL, 0}. */
typedef struct FlText {
  const char *ptr;
  int64_t len; /* bytes */
} FlText;

typedef enum FlDtype {
#define FL_DTYPE(NAME, text, ctype, bytes, kind) FL_##NAME,
#include "dtypes.def"
#undef FL_DTYPE
  FL_N_DTYPES
} FlDtype;

typedef enum FlFault {
#define FL_FAULT(NAME, bit, code, msg) FL_FAULT_##NAME = 1 << (bit),
#include "faults.def"
#undef FL_FAULT
} FlFault;

/* ---- arrays ------------------------------------------------------------------------------------------- */

enum { FL_MAX_RANK = 8, FL_ALIGN = 64, FL_BLOCK_SHIFT = 12, FL_BLOCK = 1 << FL_BLOCK_SHIFT, FL_LANES = 32 };
/* Rows of a part, where a table in memory goes through filters part by part: its columns lie in a cache. */
enum { FL_ROW_PART = 65536 };

/* Where the memory of a buffer comes from: what may be done with it, and how it is given back. */
typedef enum FlBufferKind {
  FL_BUFFER_LENT = 1, /* somebody else's, who is told by `release`, if there is one; never written */
  FL_BUFFER_MEMORY,   /* our own; the only owner may write */
  FL_BUFFER_SPILLED,  /* likewise; its pages lie in a file of ours, and may leave memory */
  FL_BUFFER_MAPPED,   /* a file's; never written */
  FL_BUFFER_TEXTS,    /* a heap of bytes of texts (FlHeap) */
  FL_BUFFER_PARTED,   /* addresses for all rows, memory of our own for those that are here (FlCut) */
  FL_BUFFER_UNWRITTEN /* its elements are written when they are first read (data/unwritten.h), never else */
} FlBufferKind;

/* A piece of memory with an owner count. `keeps` are other buffers that this one's contents point into (the
 * bytes of texts); they are released with it. Bytes of texts never live in the buffer of the FlText values.
 */
typedef struct FlBuffer {
  _Atomic int64_t refs;
  void *data;
  int64_t bytes;
  void (*release)(struct FlBuffer *); /* of LENT: its memory is given back; else NULL */
  void *release_arg;
  uint8_t kind;      /* FlBufferKind */
  bool holds_arrays; /* the contents are references of arrays, or NULL, released with it */
  int32_t n_keeps;
  struct FlBuffer **keeps;
  _Atomic(struct FlTextCodes *) codes; /* of texts: data/text_codes.h; NULL: not known */
} FlBuffer;

/* A 128-bit XXH3 content digest. */
typedef struct FlDigest {
  uint64_t lo, hi;
} FlDigest;

/* How the rows of arrays lie in parts: part p has the rows [at[p], at[p + 1]). Equal cuts of a run are one
 * object (data/cut.h). */
typedef struct FlCut {
  int32_t n, here;   /* parts; the one that is here */
  const int64_t *at; /* [n + 1], ascending, from 0 to the number of rows */
} FlCut;

/* An array: row-major, contiguous, at least 64-byte aligned when it owns a whole buffer; a view of leading
 * rows shares its buffer. Immutable once shared (refs > 1); whoever holds the only reference of an array
 * whose buffer also has one reference may write in place. A column of T? is two arrays, values and bool
 * validity, and the value under an invalid row is zero (empty text). Rank 0 never occurs: scalars are slots.
 * Over a buffer that is PARTED only the rows [at[here], at[here + 1]) of its cut are here: `data` and the
 * sizes are those of the whole, so that an index means what it always does, and other rows are addresses
 * without memory. */
typedef struct FlArray {
  void *data;                /* offset 0: first element */
  int64_t dims[FL_MAX_RANK]; /* offset 8 */
  _Atomic int64_t refs;
  FlBuffer *buffer;
  int32_t dtype;              /* FlDtype */
  int32_t rank;               /* 1..FL_MAX_RANK */
  _Atomic int32_t has_digest; /* 1 once digest is set */
  FlDigest digest;
} FlArray;

/* One value in a call: a scalar of any type, or an array (one owned or borrowed reference, as the call says).
 */
typedef union FlSlot {
  FlText t;   /* text, file; first, as it is the widest: `{0}` clears the first member alone */
  int64_t i;  /* every signed integer, date, datetime, duration: sign-extended; bool: 0 or 1 */
  uint64_t u; /* unsigned integers, zero-extended */
  double f;   /* f64 */
  float f32;
  FlArray *a;
} FlSlot;

/* Type of a value in the IR and in calls. rank 0, depth 0: a scalar. rank > 0, depth 0: an array of dtype.
 * depth k > 0: a list (FL_LIST array of rank 1) nested k deep around values of (dtype, rank), rank >= 1. */
typedef struct FlType1 {
  uint8_t dtype, rank, depth, reserved;
} FlType1;

/* Whether values are texts: an FlText, whose bytes lie elsewhere. A file is one, too. */
static inline bool fl_dtype_is_text(int32_t dtype) { return dtype == FL_TEXT || dtype == FL_FILE; }
/* Whether a value is one such text, and no array. */
static inline bool fl_type_is_text(FlType1 t) {
  return t.rank == 0 && t.depth == 0 && fl_dtype_is_text(t.dtype);
}
/* An array, or a list: its slot has an FlArray. */
static inline bool fl_type_is_array(FlType1 t) { return t.rank > 0 || t.depth > 0; }

/* ---- calls -------------------------------------------------------------------------------------------- */

typedef struct FlCtx FlCtx;   /* one running function: run, worker, stage, error slot; see exec/ */
typedef struct FlHeap FlHeap; /* bytes of texts made while running; thread-safe; becomes a keep of arrays */

/* 0 is success. Anything else: an error was recorded in the context; unwind. */
typedef int32_t FlStatus;

/* Every host-level function, stage and task body: `args` are borrowed, `results` come back owned. On failure
 * no result is owned. */
typedef FlStatus (*FlHostFn)(FlCtx *ctx, const FlSlot *args, FlSlot *results);

/* Which rows a step needs of what it takes, for one row of its result (compiler/plan). */
typedef enum FlRows {
  FL_ROWS_NONE, /* none: it is one value, or only its sizes are asked for */
  FL_ROWS_OWN,  /* its own row */
  FL_ROWS_NEAR, /* rows around its own, at bounded distances */
  FL_ROWS_FOLD, /* all, in any parts whose states are merged in the order of rows */
  FL_ROWS_MOVE, /* rows that are named by values: an exchange */
  FL_ROWS_ANY   /* any: the whole of it */
} FlRows;
enum { FL_N_ROWS = FL_ROWS_ANY + 1 };

/* A kernel runs the elements [begin, end) of a logical index space. `env` is laid out by the compiler. The
 * fast form returns the OR of the faults that it met, having written something harmless for the failing
 * elements. The precise form is only called after that: it walks the elements in order and reports each fault
 * by fl_kernel_fault; it returns 0. A kernel that cannot fail has precise == NULL.
 *
 * Where the fast form is quick code, an optimised one may be made of `code` once the kernel has run for long
 * enough that this pays (exec/late.c): it gives the same bits. */
typedef int32_t (*FlKernelFn)(FlCtx *ctx, const void *env, int64_t begin, int64_t end);

/* The one variable of a kernel; shared by kernels that do the same, and by runs. */
typedef struct FlKernelLate {
  _Atomic(FlKernelFn) fn; /* the optimised form, which lives as long as the program; NULL: it is not made */
  _Atomic int64_t ns;     /* how long runs took so far, estimated, with optimised code */
} FlKernelLate;

/* What of a step each part may do by itself, where rows are here in part (exec/ranks_rows.c): nothing; the
 * elements of its own rows; the blocks that begin in them, whose states then go to all; the same, of what is
 * kept of them; of an operator that keeps rows: which of its own; elements of its own of a list; the states
 * of groups of its rows, which then go to all; sums along columns of its rows, likewise; a product, by rows
 * or as a fold of rows; tasks of its rows; results of its rows, and sums over them; some of all rows in
 * their order; rows taken by its numbers; the pairs of a join that its left rows are in; rows of a file; a
 * few neighbouring rows, which then go to all; sums of the vectors
 * of a list. */
typedef enum FlInParts {
  FL_PARTS_NONE,
  FL_PARTS_ELEMENTS,
  FL_PARTS_FOLD,
  FL_PARTS_KEPT,
  FL_PARTS_JOIN,
  FL_PARTS_GROUPS,
  FL_PARTS_COLUMNS,
  FL_PARTS_PRODUCT,
  FL_PARTS_TASKS,
  FL_PARTS_SWEEP,
  FL_PARTS_ORDER,
  FL_PARTS_TAKE,
  FL_PARTS_PAIRS,
  FL_PARTS_READ,
  FL_PARTS_SLICE,
  FL_PARTS_SUMS
} FlInParts;

/* A step that may be run strip by strip with those that follow, or came before (exec/strips.c): none; the
 * first of them; one between; the last. And one that is made behind the last: of the compiler's alone. */
typedef enum FlStripsPlace {
  FL_STRIPS_NONE,
  FL_STRIPS_FIRST,
  FL_STRIPS_INNER,
  FL_STRIPS_LAST,
  FL_STRIPS_BEHIND
} FlStripsPlace;

typedef struct FlKernel {
  FlKernelFn fast, precise;
  const char *name;
  int32_t site; /* where it comes from */
  int32_t unit; /* partitions are multiples of this many elements (FL_BLOCK for reductions, else 1) */
  /* Its environment: slots of what it captures, then of the sizes, then n_places addresses (of a fold where
   * the states of its blocks go, of a filter the counts of its blocks), then arrays that are its results (of
   * a filter: what each block keeps, at its place, one element more than the loop has). */
  int32_t n_uses, n_sizes, n_results;
  int32_t by_rows; /* 1: where what it captures is parted, its results may be, too, and are its elements */
  const uint8_t *rows; /* of each that it captures: FlRows */
  FlKernelLate *late;  /* NULL: the fast form is as good as it gets */
  const char *code;    /* what the optimised form is made of: bytes of the compiler's */
  int64_t n_code;
  int32_t block_bytes; /* of a fold whose states hold no texts: of each block; else 0 */
  int32_t n_places;
  int32_t in_parts;     /* FlInParts */
  const uint8_t *stays; /* of each result: 1: it may be here in part; NULL: it has none */
  int32_t rows_at;      /* FL_PARTS_COLUMNS: which of what it captures is the number of rows; else -1 */
  const int32_t *seen;  /* of its results (fl_seen) */
  int32_t n_env;        /* slots of its environment, of which the last may be a heap of texts */
  int32_t strips;       /* FlStripsPlace */
} FlKernel;

/* A column that an operator takes or gives, as values and what comes with them. */
enum {
  FL_COLUMN_NULLS = 1,   /* which of the values are valid follows them */
  FL_COLUMN_DOWN = 2,    /* it orders from the largest */
  FL_COLUMN_LEVELS = 4,  /* codes; their levels follow */
  FL_COLUMN_NONE = 8,    /* there is no column: what is made of it is made of the rows */
  FL_COLUMN_SAYS = 16,   /* which of what is made of it are valid follows that */
  FL_COLUMN_TYPED = 32,  /* of files and programs: `dtype` says what it holds */
  FL_COLUMN_ARRAYS = 64, /* each row holds an array, of one size in all rows */
  FL_COLUMN_FILE =
      128, /* of what is read: the number of the file that a row is from. Of what a query is given: a file */
  FL_COLUMN_TABLE = 256, /* of what a query is given: a table, whose columns follow; */
  FL_COLUMN_SCALAR = 512, /* a value */
  FL_COLUMN_BESIDE = 1024 /* of what is read: in the matrix that the column before it begins, or is in */
};
typedef struct FlColumnAttr {
  const char *name; /* where messages say it; NULL: nowhere */
  const char *made; /* the aggregate that is made of it; NULL: none */
  int32_t flags;
  int32_t dtype; /* FlDtype, with FL_COLUMN_TYPED; else 0 */
} FlColumnAttr;

/* How many results a reader has for it: values, and which are valid. */
static inline int32_t fl_column_results(const FlColumnAttr *c) {
  return c->flags & FL_COLUMN_BESIDE ? 0 : c->flags & FL_COLUMN_NULLS ? 2 : 1;
}

/* What an operator on files, or a query, is told besides (formats.def): a text, or else a number (of a bool 0
 * or 1). */
typedef struct FlOptionAttr {
  const char *name;
  const char *text; /* NULL: number */
  int64_t number;
  int32_t found; /* 1: the file showed it itself, while compiling; the one that is read must not contradict */
} FlOptionAttr;

/* How much of its arguments an operator reads, beside writing what it gives: nobody says; each once; of its
 * first argument all, of the others as many elements as it gives. FEWER: rows that it takes or gives are
 * fewer than the script says, so that no count of them is told. CHAINED: ALL, but of more rows than the
 * script says, of which the count of those alone that it gives is told. */
typedef enum FlPasses {
  FL_PASSES_UNKNOWN,
  FL_PASSES_ALL,
  FL_PASSES_PICKS,
  FL_PASSES_FEWER,
  FL_PASSES_CHAINED
} FlPasses;

/* Arrays that are not written yet (data/unwritten.h): the operator may be given texts that are codes alone;
 * may give some, as whoever reads its results asks for the texts first; may be given rows that a filter
 * keeps. Which of its results may be such rows is a bit of `apart`; the last is of all from there on. */
enum { FL_CODES_TAKEN = 1, FL_CODES_GIVEN = 2, FL_SELECTED_TAKEN = 4, FL_LAST_APART = 62 };

/* Static description of one runtime-operator call, emitted by the compiler: what ops.def calls attributes. */
typedef struct FlOpDesc FlOpDesc;
/* Every operator of class RUNTIME: fl_rt_<name>. args borrowed, results owned. */
typedef FlStatus FlRuntimeOp(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results);
struct FlOpDesc {
  int32_t op;   /* row of ops.def, for messages */
  int32_t site; /* index into FlProgram.sites, -1: none */
  int32_t n_args, n_results;
  const FlType1 *arg_types, *result_types;
  int64_t i;
  double f;
  const char *s;           /* NUL-terminated; NULL when unused */
  const char *const *list; /* names */
  int32_t n_list, n_columns;
  const FlColumnAttr *columns;
  const FlOptionAttr *options;
  /* of operators on tables in files: FlTableReader or FlTableWriter (io/tables.h); else NULL */
  const void *format;
  int32_t n_options;
  int32_t acts;         /* 1: on the world: of several ranks, one runs it */
  int32_t passes;       /* FlPasses */
  int32_t codes;        /* FL_CODES_TAKEN, FL_CODES_GIVEN, FL_SELECTED_TAKEN */
  int32_t by_rows;      /* 1: as of FlKernel */
  int32_t in_parts;     /* FlInParts */
  const uint8_t *rows;  /* of each argument: FlRows; NULL: it is not run by fl_run_op */
  const uint8_t *stays; /* as of FlKernel */
  FlRuntimeOp *run;
  const char *name;    /* of the operator */
  const int32_t *seen; /* of its results (fl_seen) */
  int64_t apart;       /* results that may be rows which are not copied yet */
  int32_t strips;      /* FlStripsPlace */
};

/* What attribute i of `take` says of the row numbers: -1 is allowed and gives zeros (empty texts); all are
 * rows of the arrays, whoever made them; nobody reads the numbers afterwards. */
enum { FL_TAKE_OR_ZERO = 1, FL_TAKE_PROVEN = 2, FL_TAKE_LAST = 4 };

/* What `table_part` is asked for besides parts: all rows of the file; columns without rows. */
enum { FL_TABLE_PART_ALL = -1, FL_TABLE_PART_NONE = -2 };

/* Attribute i of `join`: more than one partner of a left row is an error; the numbers of the left rows, of
 * the right rows, are only read by `take` as such: they may be u32 then, the greatest for -1, or, where they
 * are 0, 1, 2 .., bool without memory. */
enum { FL_JOIN_ONE = 1, FL_JOIN_LEFT_TAKEN = 2, FL_JOIN_RIGHT_TAKEN = 4 };

/* Attribute i of `group`: the groups of the rows are only read by aggregates that pass over the rows once, so
 * that numbers of few groups may have less than eight bytes. */
enum { FL_GROUP_COUNTED = 1 };

/* Attribute i of `distinct`: the numbers of the rows are only read by `take` as such. */
enum { FL_DISTINCT_TAKEN = 1 };

/* How `decimal_round` rounds: to the nearest, half to even; down; up; towards zero. */
enum { FL_DECIMAL_NEAREST, FL_DECIMAL_FLOOR, FL_DECIMAL_CEIL, FL_DECIMAL_TRUNC };

/* Of `within`: the position is a row's. */
enum { FL_WITHIN_ROWS = 1 };

/* Of `matmul_add`: nobody reads what it adds to afterwards. */
enum { FL_MATMUL_LAST = 8 };

/* Of `sort_values`: nobody reads the column afterwards. */
enum { FL_SORT_LAST = 1 };

/* Of `nearest_moved`: nobody reads the labels, or the gaps, that come in afterwards. */
enum { FL_NEAREST_LAST_LABEL = 1, FL_NEAREST_LAST_GAP = 2 };

/* ---- programs ----------------------------------------------------------------------------------------- */

/* A place in the user's source, with the line's text so that a binary can show it without the source. Where
 * the operation came there from a function that was called, the place of the call is another site. */
typedef struct FlSite {
  const char *file;
  int32_t line, column, length; /* 1-based; column in code points */
  const char *line_text;
  const char *message; /* with {a} and {b} for the operands; NULL: what faults.def says */
  int32_t faults;      /* those that `message` is for */
  int32_t caller;      /* site of the call within which this is; -1: none but those that are running */
  const char *callee;  /* of the site of a call: what it calls, "" without a name; else NULL */
  int32_t library;     /* 1: a file of the standard library */
} FlSite;

typedef struct FlParam {
  const char *name, *type, *help; /* help may be "" */
  const char *default_text;       /* as it would stand on the command line; NULL: required */
  FlType1 t;
  int32_t nullable; /* T?: takes two slots, value then validity */
} FlParam;

typedef struct FlStage {
  const char *name;
  FlHostFn fn;
  FlDigest code;             /* digest of the canonical IR of the stage and all it calls (LANGUAGE 13) */
  FlDigest (*machine)(void); /* what its results depend on besides, of this machine; NULL: nothing */
  int32_t n_args, n_results;
  const FlType1 *arg_types, *result_types;
  const char *result_type; /* of the leading results as data/value_type.h writes it; where not all parts are
                              results, then a line with 1 or 0 for each. NULL: it has no such text */
  int32_t memo;            /* 0 by cost, 1 always, -1 never */
  int32_t site;
  const char *sources; /* of `flowc why`: a line "name (file)=digest" for each function of the source that is
                          part of it, itself too; NULL: not known. In no key */
  const char *const *arg_names; /* as the source calls them, "" where it does not; NULL: none is known */
  /* what fl_ctx_self gives while fn runs; NULL in generated code, the interpreter's function */
  const void *self;
} FlStage;

/* A C function that the program calls (`extern fn`). Generated code calls through `address`. */
typedef struct FlExtern {
  const char *library, *symbol; /* as base/library.h takes them */
  FlDigest content;             /* of a library that is given by path; zero: given by name */
  int32_t site;
  void *address; /* NULL until FlProgram.bind has found it; the linker's in a static executable */
} FlExtern;

/* What a compiled script is. The only symbol a generated object exports is `flow_program`. */
typedef struct FlProgram {
  uint32_t version; /* FL_PROGRAM_VERSION */
  const char *name; /* script file name without folder */
  const char *doc;  /* leading comment of the script, for --help; may be "" */
  FlHostFn main;    /* args: the params in order; no results */
  const FlParam *params;
  const FlStage *stages;
  const FlSite *sites;
  int32_t n_params, n_stages, n_sites;
  const void *self; /* what fl_ctx_self gives while main runs; NULL in generated code */
  FlExtern *const *externs;
  /* Finds the addresses of the externs before main runs; NULL: there are none to find. */
  FlStatus (*bind)(FlCtx *ctx, FlExtern *const *externs, int32_t n);
  int32_t n_externs;
  /* "flow program 1\n", then lines `name: value`: script, flow (its version), source (a digest of all files
   * of the script), processor. May be NULL. */
  const char *about;
  uint64_t needs; /* features of the processor, base/features.h; 0: those of this one */
} FlProgram;
/* Of values and how they are stored, which keys depend on; and of programs: these tables. */
enum { FL_ABI_VERSION = 3, FL_PROGRAM_VERSION = 14 };

/* FlStage.machine of stages with products by BLAS: the class of the processor, and which OpenBLAS computes
 * for it. */
FlDigest fl_blas_identity(void);

/* Run a program with a command line (argv[0] is the program's name). Returns the exit status (README). */
int fl_main(const FlProgram *program, int argc, char **argv);

/* ---- C functions -------------------------------------------------------------------------- */

/* The `bind` of programs that find their C functions when they start: opens libraries and looks up symbols; a
 * library given by path must have the content that it was compiled with. What is missing is an error at its
 * site. */
FlStatus fl_externs_bind(FlCtx *ctx, FlExtern *const *externs, int32_t n);
/* A new array for a C function to write its result into, all zero. NULL: a size below 0, or no memory;
 * recorded. */
FlArray *fl_extern_result(FlCtx *ctx, int32_t site, int32_t dtype, int32_t rank, const int64_t *dims);
/* Makes what a C function wrote a value of the language: one NaN, bools 0 or 1. */
void fl_extern_settle(FlArray *a);

/* The `self` of the stage or program whose function runs in this context: how one host function can stand for
 * many interpreted ones. Not defined inside tasks (fl_run_tasks), which get what they need in their env
 * slots. */
const void *fl_ctx_self(const FlCtx *ctx);

/* ---- what generated code calls besides runtime operators ---------------------------------------------- */

/* New array, one reference, contents undefined (LIST: NULLs). NULL on failure, error recorded. */
FlArray *fl_array_new(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims);
/* The same, of an array that may be here in part and that the next step fills: where it will be in parts, of
 * several ranks, addresses without memory. */
FlArray *fl_array_new_apart(FlCtx *ctx, int32_t dtype, int32_t rank, const int64_t *dims);
FlArray *fl_array_ref(FlArray *a); /* NULL is allowed */
void fl_array_unref(FlArray *a);   /* NULL is allowed */
/* `a` itself (one more reference) when the caller's is the only one and may be written, else NULL. */
FlArray *fl_array_reuse(FlArray *a);
/* `a` as an array that may be written, which takes over the caller's reference: `a` itself when that is the
 * only one, else a copy. Not for arrays of texts, or lists. NULL on failure, error recorded. */
FlArray *fl_array_own(FlCtx *ctx, FlArray *a);
/* Make result arrays keep what their texts point into: `heap` (may be NULL) and the keeps of `from`. */
FlStatus fl_array_keep(FlCtx *ctx, FlArray *a, FlHeap *heap, FlArray *const *from, int32_t n_from);

/* Memory of texts, one reference; given back whole when the last one, or the last array that keeps it, goes.
 */
FlHeap *fl_heap_new(FlCtx *ctx);
void fl_heap_unref(FlHeap *heap);
/* Any thread. NULL: there is no memory, and the run is stopped (data/data.h, fl_pool_give_up); also of a heap
 * that is NULL. */
char *fl_heap_alloc(FlHeap *heap, int64_t bytes);
/* Room for the n bytes of `text` and `more` behind them: `text` itself, where its heap has room there that
 * nobody has; else new room, n bytes of which are to be written. */
char *fl_heap_append(FlHeap *heap, const char *text, int64_t n, int64_t more);
FlText fl_heap_text(FlHeap *heap, const char *text, int64_t n); /* a copy; nothing without memory */

/* Text scalars of host code: the heap of a context, a stack that only the thread that runs in the context may
 * use. What was made since a mark dies when it is left, but for the n texts at `live`: these may be moved.
 * Whoever puts a text scalar into an array copies its bytes to a heap that the array keeps. */
FlHeap *fl_ctx_heap(FlCtx *ctx);
FlHeap *fl_heap_new_stack(FlCtx *ctx); /* one that no context has; nobody may keep it */
typedef struct FlTextMark {
  void *chunk;
  char *at;
  void *newest;
} FlTextMark;
void fl_texts_mark(FlHeap *heap, FlTextMark *mark);
/* Non-zero: a text found no memory meanwhile, or does now. */
FlStatus fl_texts_leave(FlHeap *heap, const FlTextMark *mark, FlText *live, int32_t n);
/* The bytes of a text that `stack` may have, so that they last as long as `heap` does. */
const char *fl_texts_keep(FlHeap *stack, FlHeap *heap, const char *text, int64_t n);
/* A heap that `a` keeps, for texts that are put into it while it is being made. NULL: no memory, recorded. */
FlHeap *fl_array_heap(FlCtx *ctx, FlArray *a);
/* Element `at` of `a`, which nobody else has (fl_array_reuse), becomes a copy of the text; what it was dies
 * in time. */
FlStatus fl_array_put_text(FlCtx *ctx, FlArray *a, FlText *at, const char *text, int64_t n);

/* The [FL_LANES] sums or products of a block, each filled with `v`; and joined, in place, by the butterfly:
 * l[i] += l[i + 16], then 8, 4, 2, 1. */
void fl_lanes_fill_f64(double *lanes, double v);
void fl_lanes_fill_f32(float *lanes, float v);
double fl_lanes_sum_f64(double *lanes);
float fl_lanes_sum_f32(float *lanes);
double fl_lanes_product_f64(double *lanes);
float fl_lanes_product_f32(float *lanes);

/* The tree of folds (LANGUAGE 5): fold(m leaves) = fold(the first P) + fold(the rest), P the largest power of
 * two below m. The fold of the leaves 0..leaf, leaf > 0: `so_far` is that of the leaves before, `next` the
 * last one. `levels` are the caller's, [FL_FOLD_LEVELS], written by the calls from leaf 1 on, in order. */
enum { FL_FOLD_LEVELS = 52 };
double fl_fold_sum_f64(double *levels, int64_t leaf, double so_far, double next);
float fl_fold_sum_f32(float *levels, int64_t leaf, float so_far, float next);
double fl_fold_product_f64(double *levels, int64_t leaf, double so_far, double next);
float fl_fold_product_f32(float *levels, int64_t leaf, float so_far, float next);
/* Sums of `width` numbers at once. Leaf after leaf goes into levels[FL_FOLD_LEVELS][width] (fewer will do for
 * fewer leaves); `next` may stand at its level already, the first that is free: as many as leaf's number ends
 * in ones. The end gives the fold of so many leaves, +0.0 without any, of `width` numbers of levels that are
 * `apart`. */
void fl_fold_push_f64(double *levels, int64_t width, int64_t leaf, const double *next);
void fl_fold_push_f32(float *levels, int64_t width, int64_t leaf, const float *next);
void fl_fold_end_f64(const double *levels, int64_t width, int64_t apart, int64_t leaves, double *out);
void fl_fold_end_f32(const float *levels, int64_t width, int64_t apart, int64_t leaves, float *out);
/* Leaves that are all there, `step` numbers apart, are folded in place: the first one becomes the fold. */
void fl_fold_rows_f64(double *leaf, int64_t leaves, int64_t step, int64_t width);
void fl_fold_rows_f32(float *leaf, int64_t leaves, int64_t step, int64_t width);

/* Runs desc->run, which gets whole arrays alone: of arrays that are here in part, where the operator works by
 * rows, what is here, and then so are its results; where it does not, it is refused. */
FlRuntimeOp fl_run_op;
/* Columns of tables that the user's text gives at a place, which the record of a run keeps the first rows of
 * (exec/seen.c). `seen` points into a list of numbers: how many of the list come before; of how many columns
 * it speaks; of each an FlSeenColumn, whose name follows. The list begins with the site that sites in it are
 * counted from. NULL: nothing is seen. */
enum { FL_SEEN_VALUES, FL_SEEN_VALID, FL_SEEN_LEVELS };
/* LET: of a `let`, else of the step of a pipe. IF_FIRST: it is none where the first value is false. OUTER: it
 * is there also where the run does not come to the place; a table has columns that are not. LOOPED: the place
 * is in a loop. */
enum { FL_SEEN_LET = 1, FL_SEEN_IF_FIRST = 2, FL_SEEN_OUTER = 4, FL_SEEN_LOOPED = 8 };
typedef struct FlSeenColumn {
  int32_t site;              /* of the table: the step of a pipe, or a `let` */
  uint16_t value, n_columns; /* which of the values that are there is it; of the table */
  uint8_t column, dtype;     /* which of them; what it holds */
  uint8_t part, n_parts;     /* which of its arrays is it; how many it has */
  uint8_t flags;             /* FL_SEEN_LET .. */
  uint8_t name;              /* how many numbers its name takes: bytes, then zeros */
  uint8_t none[2];
} FlSeenColumn;
/* These values are there now, and have just been made, once in the script or a stage call, but for later
 * rounds of loops. Keeps none of them, never fails. */
void fl_seen(FlCtx *ctx, const int32_t *seen, const FlSlot *values);
void fl_seen_own(FlCtx *ctx, const int32_t *seen, FlArray *const *own); /* the same, in such an order */
/* 1: what follows is of a later round of a loop, where nothing is seen; 0: it is not; -1: as it is. Returns
 * what it was. */
int32_t fl_seen_rounds(FlCtx *ctx, int32_t later);
/* Run kernel over [0, n) on the pool, inline when n * cost is small. cost: estimated nanoseconds an element.
 * Where it captures arrays that are here in part, as fl_run_op: over those of the elements whose rows are. On
 * faults runs `precise` and records the first error in (rank, position) order. */
FlStatus fl_run_kernel(FlCtx *ctx, const FlKernel *kernel, const void *env, int64_t n, double cost);
/* What a filter kept of its blocks, counts[blocks], goes together: slots[0 .. n] are the arrays in which each
 * block has it at its place, slots[n .. 2 n] those for all of it. */
FlStatus fl_join_kept(FlCtx *ctx, const int64_t *counts, int64_t blocks, int32_t n, const FlSlot *slots,
                      int32_t site);
/* Rounds of host code, in their order and on this thread: the form that pays for about `ns` nanoseconds is
 * called once, with the status as its result. `env`: slots of the number of the first place of its unit, of
 * what it takes, then of what it gives. */
FlStatus fl_run_loop(FlCtx *ctx, const FlKernel *loop, void *env, double ns);
/* Called by precise kernels. rank: program order of the operation within the kernel. pos: logical index,
 * which is index[0..n_index) axis by axis. `type` tells how to read a and b. */
void fl_kernel_fault(FlCtx *ctx, int32_t fault, int32_t site, int32_t rank, int64_t pos, const int64_t *index,
                     int32_t n_index, int32_t type, FlSlot a, FlSlot b);
/* Run fn(ctx, args) for i in 0..n as tasks; args[0].i is i, the rest are `env`'s n_env slots (borrowed), the
 * first n_dims of them the sizes of the index space; each call's n_results results, of types `types`, land at
 * results[i * n_results], texts with their bytes in `heap` (NULL: there are none). `is_stacked`: as FlTasks
 * has it. On failure none is owned. */
FlStatus fl_run_tasks(FlCtx *ctx, FlHostFn fn, const FlSlot *env, int32_t n_env, int32_t n_dims, int64_t n,
                      FlSlot *results, int32_t n_results, const FlType1 *types, const uint8_t *is_stacked,
                      int32_t site, FlHeap *heap);
/* Records an error at a site and returns a non-zero status. */
FlStatus fl_fail(FlCtx *ctx, int32_t fault, int32_t site, int32_t type, FlSlot a, FlSlot b);
/* The context's error came out of what was called at `site`: said when a failed call is passed on. Gives
 * `status`. */
FlStatus fl_fail_through(FlCtx *ctx, FlStatus status, int32_t site);
/* The context's error is of what stands at `site`, where nothing closer to it has said so. Without an error
 * it does nothing. */
void fl_fail_place(FlCtx *ctx, int32_t site);
/* The context's error happened in this element of a loop: said of the outermost loop of the stage or script.
 * Without an error it does nothing. */
void fl_fail_position(FlCtx *ctx, int32_t n_index, const int64_t *index);
/* The loop that the position is of goes over groups, whose keys are args[1..] as the operator `within` has
 * them (args[0] is not read): a note says the keys of that group in place of the position. */
void fl_fail_within(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args);

/* 2, 3 or 4: the level of x86-64 (v2, v3, v4) that this processor has; kernels of portable programs choose by
 * it. */
int32_t fl_cpu_level(void);

/* Stage calls: start returns at once with a future (a reference); wait gives the owned results. */
typedef struct FlFuture FlFuture;
FlFuture *fl_stage_start(FlCtx *ctx, int32_t stage, const FlSlot *args, int32_t site);
FlStatus fl_stage_wait(FlCtx *ctx, FlFuture *future, FlSlot *results); /* consumes the future; NULL: failed */

/* ---- host code as a table ------------------------------------------------------------------------------ */

/* Host code that runs straight through many operations is a table of steps instead of instructions, so that
 * columns of one type go through the same code, one after the other. A place of a function is a number: which
 * of its FlPlaces (the lowest bits), and where in there. */
enum { FL_PLACE_VALUE, FL_PLACE_OWN, FL_PLACE_CONSTANT, FL_PLACE_PARAM, FL_PLACE_BITS = 2 };

/* What a step does: `op`, which is told `what` (of a runtime operator its FlOpDesc), or else `fn`. */
typedef struct FlStepKind {
  FlStatus (*op)(FlCtx *ctx, const void *what, const FlSlot *args, FlSlot *results);
  const void *what;
  FlHostFn fn;
  int32_t n_args, n_results;
} FlStepKind;

/* `code` is a row of numbers for each step: its kind, the places of its arguments and results, how many
 * arrays are released after it (with FL_STEP_SEEN: then where the list says what its results are seen as),
 * their places. */
enum { FL_STEP_SEEN = 1 << 30 };
typedef struct FlSteps {
  const FlStepKind *kinds;
  const FlSlot *constants;
  const int32_t *code, *seen; /* seen: the list (fl_seen), from its first number on */
} FlSteps;

/* Where the values of a running function are. */
typedef struct FlPlaces {
  FlSlot *values;
  FlArray **own;          /* one reference each, or NULL */
  const FlSlot *params;   /* borrowed */
  FlSlot *args, *results; /* of the step that runs: as many as any takes and gives */
} FlPlaces;

/* Runs the steps whose rows are [from, to) of the code. */
FlStatus fl_run_steps(FlCtx *ctx, const FlSteps *steps, int32_t from, int32_t to, const FlPlaces *places);
/* The results of a function: n pairs of the code, a place and how it is given. */
enum { FL_GIVE_VALUE, FL_GIVE_REF, FL_GIVE_OWN }; /* a scalar; one more reference; that of the place */
void fl_give_places(const FlSteps *steps, int32_t from, int32_t n, const FlPlaces *places, FlSlot *results);

/* A loop whose elements are tasks: fn as fl_run_tasks has it, of `n_results` results of these types each. */
/* Which rows of the arrays of which it has OWN rows an element of a loop of tasks takes, so that it is run
 * where they are: any, and nothing that it captures may be here in part; a part of them (fl_rt_row_part), of
 * arrays that are here in part as many elements as these have; a block, element b rows b size ..
 * (b + 1) size. */
typedef enum FlTaskRows { FL_TASK_ANY, FL_TASK_PARTS, FL_TASK_BLOCKS } FlTaskRows;
typedef struct FlTasks {
  FlHostFn fn;
  const FlType1 *types;
  int32_t n_env, n_dims, n_results, site;
  const uint8_t *rows; /* of what it captures, in `env` behind the sizes: FlRows */
  FlTaskRows of_rows;
  int32_t block_at; /* BLOCKS: which of `env` says how many rows a block has; -1: `block` does */
  int64_t block;
  /* of each result: 1: a list whose arrays are only joined, and may be here in part then: of several ranks
   * each keeps those that it made. NULL: there is none */
  const uint8_t *stays;
  /* of each result 1: a list whose arrays are only stacked, so that they may lie as their stack has them.
   * NULL: there is none */
  const uint8_t *is_stacked;
  const int32_t *seen; /* of its results (fl_seen) */
} FlTasks;
/* Operations as `op` of a kind. An array of scalars (what: FlOpDesc); the results of a loop of tasks, an
 * array or a list each (what: FlTasks). */
FlStatus fl_step_array(FlCtx *ctx, const void *what, const FlSlot *args, FlSlot *results);
FlStatus fl_map_tasks(FlCtx *ctx, const void *what, const FlSlot *env, FlSlot *results);
/* Code at `site` is about to read elements of the array where it stands: all of its rows come here, where
 * they are in parts between ranks, all of which do this. */
FlStatus fl_gather(FlCtx *ctx, int32_t site, FlArray *a);

#endif
