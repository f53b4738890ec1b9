/* llvm_internal.h: what the files of the LLVM back end share: the state of one module, the state of one
 * function that is being emitted, and the helpers by file.
 *
 * Values. A scalar is one LLVM value: bool i1 (i8 in memory), integers and times iN, f32, f64, text and file
 * {ptr, i64}. An array or list is the FlArray pointer. In a kernel an array that it captures is the pointer
 * too; its data and sizes are loaded once at the entry.
 *
 * Forms. The same scalar code is emitted in three forms that differ in what a fault does: HOST records it and
 * leaves the function; FAST ORs it into a mask and goes on with harmless values; PRECISE reports it with its
 * place and goes on with the next element. */
#ifndef FL_LLVM_INTERNAL_H
#define FL_LLVM_INTERNAL_H

#include "codegen/codegen.h"
#include "plan/plan.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

typedef LLVMValueRef Val;
typedef LLVMBasicBlockRef Block;
typedef LLVMTypeRef Ty;

/* A row of the table of places: FlSite. */
typedef struct FlLlSite {
  FlSpan span;
  FlFaultText said;
  const char *callee; /* of a call's place; else NULL */
  int caller;         /* its row, -1: none */
} FlLlSite;

/* One module being generated. */
typedef struct FlGen {
  FlArena *arena;
  const FlPlan *plan; /* of `ir` */
  const FlModule *ir;
  const FlSources *sources;
  FlCodegenOptions options;
  bool baseline; /* made for what is not optimised (llvm_parts.c) */
  LLVMContextRef cx;
  LLVMModuleRef mod;
  LLVMTargetMachineRef tm;
  LLVMTargetDataRef layout;
  const char *cpu, *features; /* of host code; kernels of other levels carry their own */
  Ty i1, i8, i16, i32, i64, i128, f32, f64, ptr, none, text, slot, host_fn, kernel_fn, op_desc, type1, steps;
  FlMap *functions; /* FlFunc -> Val */
  FlInterner *keys; /* of what there is one of: texts, tables of types, places; `made` has it by key */
  FlMap *made;
  FlMap *site_numbers; /* by key: 1 + the row of the table of places */
  FlVec(FlLlSite) sites;
  FlVec(const FlFunc *) stages;
  FlMap *stage_index;          /* FlFunc -> index + 1 */
  FlVec(const FlOp *) externs; /* the first call of each C function, and its FlExtern */
  FlVec(Val) extern_at;
  FlMap *lists;       /* list of an operator -> the constant */
  LLVMModuleRef kern; /* the scalar functions' bitcode, loaded when the first one is used; NULL before */
  FlCodeUnit *unit;   /* whose functions are being made; NULL: the whole program's */
  Val first_site;     /* of the unit: a constant that holds the number of its first place */
  FlSeenList seen;    /* of the program, or the unit (fl_seen of flow/abi.h) */
  Val seen_at;        /* stands for that list until it is whole; NULL: nobody has named it */
  Val zeros;          /* 64 bytes of zero to read instead of what is out of bounds */
  Val program;        /* the table that the runtime starts from; NULL: of a unit */
  int n_names;        /* makes names of kernels and tasks unique */
  const char *error;  /* first internal failure, or NULL */
} FlGen;

typedef enum FlForm { FL_FORM_HOST, FL_FORM_FAST, FL_FORM_PRECISE } FlForm;

/* An array's data pointer and sizes: of one that a kernel captures, or that host code reads or writes in
 * loops. */
typedef struct FlView {
  Val data, dims[FL_MAX_RANK];
} FlView;

/* What a function being emitted has for a value of the IR. */
typedef struct FlHeld {
  Val val;      /* NULL: not defined here */
  FlView *view; /* of an array; NULL: none */
  int own;      /* host: 1 + its place in `own`; 0: not owned here */
  /* host code with a table (llvm_steps.c) */
  bool placed;               /* it is in memory, and loaded where it is used: */
  int32_t place;             /* a number as flow/abi.h has it */
  const FlRegion *stored_in; /* code stored it for steps last in this region; NULL: nowhere, */
  int stored;                /* there among the values */
} FlHeld;

/* A started stage call that nobody has waited for. */
typedef struct FlPending {
  const FlOp *op;
  Val slot; /* where the future is; NULL in it: none, or consumed */
} FlPending;

typedef struct FlTiles FlTiles; /* llvm_tiles.c */
typedef struct FlTable FlTable; /* llvm_steps.c */
typedef struct FlJoin FlJoin;   /* llvm_reduce.c */

/* One function being emitted. */
typedef struct FlFn {
  FlGen *g;
  const FlFunc *func;
  Val fn, ctx;
  LLVMBuilderRef b, entry_b; /* entry_b inserts allocas in the entry block */
  FlForm form;
  bool masks; /* the target has cheap masked vectors (AVX-512) */
  bool plain; /* this function is not optimised: values stay in memory, and what is short to call is called */
  bool quick; /* scalar functions are called, not inlined: all of a plain function, what seldom runs of others
               */
  FlMap *held; /* FlHeld of each FlValue that was met: a kernel meets few of its function's */
  Val mask;    /* i32 alloca: FAST the OR of faults; else one operation's */
  /* kernels */
  Block next; /* PRECISE: the next element */
  Val pos;    /* PRECISE: logical index of the element */
  Val index;  /* PRECISE: where that stands axis by axis */
  int n_index;
  Val heap;         /* FlHeap of the results' texts, or NULL */
  Val scratch;      /* FAST: the stack of texts that an element only passes through, or NULL */
  Val scratch_mark; /* where it begins */
  const FlPlanKernel *kernel;
  FlMap *picks;     /* PICK -> the table of where its arrays begin; NULL: there is none */
  FlMap *picked;    /* PICK -> where the one begins that it reads now, if that is known; NULL: of none */
  FlTiles *tiles;   /* FAST: what stands in tiles around the current element, or NULL */
  int rank;         /* PRECISE: operations that may fail, counted in program order */
  bool by_position; /* PRECISE: rank is not counted: the first position that fails, whatever fails there */
  bool may_fault;
  Val in_scopes, out_scopes;         /* alias scopes of what is captured and of all results; NULL: none */
  Val *output_scopes, *output_apart; /* by output: its scope, all others */
  Val store_scope, store_apart;      /* of the store that is being made; NULL: none */
  /* host */
  Val args, results, own; /* alloca'd: slots of calls, owned arrays (NULL when none) */
  Val own_clear;          /* the memset of `own`, whose size is known last */
  unsigned max_slots, n_own;
  FlTable *table; /* of its steps; NULL: it has none */
  bool shared;    /* of a kind of step: other steps run it, too, and give other columns */
  /* FlPlanBody.looped of the function; NULL: it is one operation without loops of host code */
  const FlMap *looped;
  const FlOp *loop; /* the loop that the function is; NULL: it is none */
  Val first_site;   /* of a loop: the number of the first place of its unit; NULL: the module has it */
  Val texts;        /* the mark where the function began; NULL: none is needed */
  Block cleanup;    /* releases everything owned, returns `status` */
  Val status,
      failed_at;  /* `failed_at`: the site of the operation that failed; it may have told a closer one */
  const FlOp *op; /* that is being made; NULL: none */
  FlVec(FlPending) pending;     /* started and not waited for, in program order */
  FlVec(FlValue *) unseen;      /* made here, and are to be seen before anything happens to them */
  FlVec(FlPending) stage_calls; /* all of the function */
  FlVec(FlJoin *) joins; /* of reductions that run strip by strip, until the last step of these has run */
} FlFn;

/* ---- llvm_module.c: types, names, calls ------------------------------------------------------------ */

/* All functions of the IR as LLVM's, scalar functions declared, and the tables of the program. */
void fl_ll_generate(FlGen *g);
Ty fl_ll_type(FlGen *g, FlType1 t);     /* of an SSA value */
Ty fl_ll_mem_type(FlGen *g, FlDtype d); /* of an element in memory */
unsigned fl_ll_size(FlDtype d);
bool fl_ll_is_unsigned(FlDtype d);
Val fl_ll_i64(FlGen *g, int64_t v);
Val fl_ll_i32(FlGen *g, int64_t v);
Val fl_ll_null(FlGen *g);
void fl_ll_make_zeros(FlGen *g); /* g->zeros, of its module */
/* The key of `kind` and these bytes, for g->made. */
const char *fl_ll_key(FlGen *g, char kind, const void *bytes, size_t len);
Val fl_ll_string(FlGen *g, const char *s, size_t len); /* pointer to a constant, NUL-terminated; one a text */
Val fl_ll_global(FlGen *g, Val init, const char *name);
Val fl_ll_extern(FlGen *g, const char *name, Ty result, const Ty *params, unsigned n);
Val fl_ll_call(FlFn *f, const char *name, Ty result, unsigned n, const Ty *types, const Val *args);
Val fl_ll_intrinsic(FlFn *f, const char *name, Ty overload, unsigned n, Val *args);
Val fl_ll_alloca(FlFn *f, Ty t, const char *name); /* in the entry block */
Val fl_ll_alloca_n(FlFn *f, Ty t, unsigned n, const char *name);
Block fl_ll_block(FlFn *f, const char *name);
void fl_ll_at(FlFn *f, Block b);
Block fl_ll_here(FlFn *f);
Val fl_ll_gep(FlFn *f, Ty t, Val base, Val index);
Val fl_ll_at_byte(FlFn *f, Val base, int64_t offset);
FlFn *fl_ll_fn_make(FlGen *g, const FlFunc *func, Val fn,
                    FlForm form); /* entry block open; fn's first param is ctx */
void fl_ll_fn_done(FlFn *f);
void fl_ll_attr(FlGen *g, Val fn, const char *key, const char *value); /* value NULL: an enum attribute */
void fl_ll_fail(FlGen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- llvm_scalar.c: constants, elements, slots, faults; llvm_op.c: scalar operators ---------------- */

Val fl_ll_const(FlGen *g, const FlOp *op);
FlHeld *fl_ll_held(FlFn *f, const FlValue *v);
Val fl_ll_value(FlFn *f, const FlValue *v);
void fl_ll_set(FlFn *f, const FlValue *v, Val x);
Val fl_ll_load_elem(FlFn *f, FlDtype d, Val at);
void fl_ll_store_elem(FlFn *f, FlDtype d, Val v, Val at);
/* The same for code that is no loop over vectors: a NaN, which is rare, is made the one NaN in a branch. */
void fl_ll_store_scalar(FlFn *f, FlDtype d, Val v, Val at);
Val fl_ll_slot_at(FlFn *f, Val base, unsigned index);
void fl_ll_slot_put(FlFn *f, Val base, unsigned index, FlType1 t, Val v);
Val fl_ll_slot_get(FlFn *f, Val base, unsigned index, FlType1 t);
/* Ends the operation when `bad` (i1) holds; `fault` is an i32. a and b: operands for the message, of one
 * dtype, or NULL. `message` overrides the fault's. */
void fl_ll_fault(FlFn *f, const FlOp *op, Val bad, Val fault, FlDtype d, Val a, Val b);
/* The same at another place than the op's: of one of the reductions that share a sweep. */
void fl_ll_fault_at(FlFn *f, const FlOp *op, FlSpan place, Val bad, Val fault, FlDtype d, Val a, Val b);
void fl_ll_scalar(FlFn *f, const FlOp *op);
/* A call of fl_s_<name>; results in out. */
void fl_ll_kern_call(FlFn *f, const FlOp *op, const char *name, unsigned n, const FlType1 *types,
                     const Val *args, unsigned n_out, const FlType1 *out_types, Val *out);
Val fl_ll_less(FlFn *f, FlDtype d, Val a, Val b);
void fl_ll_kern_read(FlGen *g); /* for a module that was not generated in this context */
void fl_ll_kern_link(FlGen *g); /* links the scalar functions that are used */

/* ---- llvm_region.c: control flow, the same in every form ------------------------------------------- */

/* A counted loop [lo, hi) with carried values, in rotated form. */
typedef struct FlLoop {
  Val i, lo, hi;
  unsigned interleave; /* vectors in flight: 1 unless the user of the loop sets it before closing */
  bool masked; /* the last elements are a masked vector: as the target likes it, unless set otherwise */
  Block guard, body, done;
  unsigned n;
  Val *phi, *init, *out;
} FlLoop;
void fl_ll_loop_open(FlFn *f, FlLoop *l, Val lo, Val hi, unsigned n, const Val *init);
void fl_ll_loop_close(FlFn *f, FlLoop *l, const Val *next, bool vectorize);
void fl_ll_region(FlFn *f, const FlRegion *r); /* by form: fl_ll_host_region or fl_ll_kernel_region */
/* The region of a loop over an index space: an error in it says at which element. */
void fl_ll_element_region(FlFn *f, const FlRegion *r);
Val fl_ll_index(FlFn *f, const FlRegion *r); /* the parameters of the region in memory, as i64s */
void fl_ll_kernel_region(FlFn *f,
                         const FlRegion *r);   /* ops of a kernel region; yields are then fl_ll_value */
void fl_ll_kernel_op(FlFn *f, const FlOp *op); /* one of these ops */
void fl_ll_control(FlFn *f, const FlOp *op);   /* IF, FOR, WHILE */
Val fl_ll_bound(FlFn *f, Val lo, Val hi);      /* hi, or lo once a fast kernel met a fault */
Val fl_ll_dim(FlFn *f, const FlValue *array, int axis);
Val fl_ll_element(FlFn *f, const FlOp *op, int n,
                  bool proven); /* address of args[0] at args[1..n], checked */
/* Of a kernel whose captures are there: the tables that its PICKs read. */
void fl_ll_open_picks(FlFn *f, const FlRegion *r);
Val fl_ll_pick_data(FlFn *f, const FlOp *op, Val which); /* where that array begins */
void fl_ll_load(FlFn *f, const FlOp *op);
void fl_ll_check(FlFn *f, const FlOp *op);

/* ---- llvm_kernel.c: kernels of MAP, COLLECT and REDUCE --------------------------------------------- */

/* The environment of a kernel: 8-byte words, text takes two: what it captures, sizes, outputs, and the heap
 * of the texts that it makes. */
typedef void FlKernelBody(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes,
                          const Val *outputs);
/* Emits the forms and the FlKernel, runs it over `n` elements: host code of `f`. status is an i32. */
Val fl_ll_kernel_run(FlFn *f, const FlPlanKernel *k, FlKernelBody *body, const Val *outputs, Val heap, Val n);
/* How many vectors of elements a loop over them works at, step by step. */
unsigned fl_ll_in_flight(const FlFn *f, const FlRegion *region);
/* Calls `each` for every element of [begin, end) with the region's params set and pos as linear index. */
typedef void FlElementBody(FlFn *f, const FlPlanKernel *k, Val pos, void *arg);
void fl_ll_elements(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes, FlElementBody *each,
                    void *arg, bool vectorize);
/* The same row by row of the last axis, the first and the last one in part: all params but the last are set,
 * and the columns are [lo, hi) of the row that begins at linear index `start`. */
typedef void FlRowBody(FlFn *f, const FlPlanKernel *k, Val start, Val lo, Val hi, void *arg);
void fl_ll_rows(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes, FlRowBody *row,
                void *arg);
void fl_ll_store_output(FlFn *f, int output, FlDtype d, Val v, Val at);
/* What an optimised form is made of when it pays, and the quick code until then; of equal ones there is one.
 */
typedef struct FlLate {
  Val quick, late, code;
  size_t n_code;
} FlLate;
/* Makes a form: `late`: of the name FL_KERNEL_NAME and for any processor. */
typedef Val FlMakeForm(FlFn *host, bool late, const void *what);
/* NULL: it needs something that this program alone has, and is to be optimised now. */
const FlLate *fl_ll_late(FlFn *f, FlMakeForm *make, const void *what);
/* The constant FlKernel; precise: a null or the function; late: NULL: there is one form. */
Val fl_ll_kernel_constant(FlFn *f, const FlPlanKernel *k, const char *name, Val fast, Val precise,
                          const FlLate *late);
Val fl_ll_cost(FlFn *f, const FlCost *c); /* a double of host code */
Val fl_ll_total(FlFn *f, const FlOp *op); /* product of the size arguments, none below 0 */

/* ---- llvm_columns.c: sums along columns ------------------------------------------------------------ */

/* Elements of a MAP that are sums along columns: as fl_ll_elements; false: they are not, nothing was emitted.
 */
bool fl_ll_columns(FlFn *f, const FlPlanKernel *k, Val begin, Val end, const Val *sizes, FlElementBody *each,
                   void *arg);

/* ---- llvm_tiles.c: random numbers at successive positions ------------------------------------------ */

/* Tiles for the random numbers that the kernel draws; NULL: it has none, or is not FAST. */
FlTiles *fl_ll_tiles_make(FlFn *f, const FlPlanKernel *k);
/* The elements of [begin, end), of `size` in all, tile by tile: as fl_ll_elements. */
void fl_ll_tiles_elements(FlFn *f, const FlPlanKernel *k, FlTiles *t, Val begin, Val end, Val size,
                          FlElementBody *each, void *arg);
/* Draws the numbers at [base, base + n) and makes them those of the elements to come; n is 32 or 64, base a
 * multiple of it. */
void fl_ll_tiles_draw(FlFn *f, FlTiles *t, Val base, int n);
Val fl_ll_tiles_random(FlFn *f, const FlOp *op); /* the number that was drawn for op, or NULL */
/* Where the element at `pos` of an output goes: beside the tiles, from where it is copied, or to data[pos].
 */
Val fl_ll_tiles_output(FlFn *f, int output, FlDtype d, Val data, Val pos);

/* ---- llvm_reduce.c --------------------------------------------------------------------------------- */

void fl_ll_reduce_nested(FlFn *f, const FlOp *op); /* inside a kernel, or inline */
void fl_ll_reduce_host(FlFn *f, const FlOp *op);
/* What such reductions that wait give: their strips have run. */
void fl_ll_reduce_joins(FlFn *f);

/* ---- llvm_host.c, llvm_bulk.c ---------------------------------------------------------------------- */

void fl_ll_host_function(FlGen *g, const FlFunc *func);
/* Target attributes; code that runs straight through is not optimised: it would cost more time than it saves.
 * Its loops over elements are functions by themselves. */
void fl_ll_host_attrs(FlGen *g, Val fn);
void fl_ll_host_region(FlFn *f, const FlRegion *r);
/* Lifetimes, slots, cleanup block; `params`: where the arguments are. */
void fl_ll_host_begin(FlFn *f, const FlRegion *body, Val params);
void fl_ll_host_end(FlFn *f, const FlRegion *body, Val results);
/* The same of a function that is one operation, which the second emits; it gives the operation's results.
 * `looped`: as of FlFn. */
void fl_ll_op_begin(FlFn *f, const FlOp *op, const FlMap *looped);
void fl_ll_op_end(FlFn *f, const FlOp *op, Val results);
/* Argument `index` of the function, slots at its second parameter, is v. */
void fl_ll_param(FlFn *f, const FlValue *v, unsigned index);
void fl_ll_own(FlFn *f, const FlValue *v, Val x); /* v is defined as x, one reference owned */
/* The array v is there: its view, if it is to have one. */
void fl_ll_view(FlFn *f, const FlValue *v);
/* `now` is the same object as `before`, which it takes over. */
void fl_ll_hand_on(FlFn *f, const FlValue *before, const FlValue *now);
/* Do both values stand for the same object, held in one place? */
bool fl_ll_same_object(FlFn *f, const FlValue *a, const FlValue *b);
Val fl_ll_take(FlFn *f, const FlOp *op, int arg); /* one owned reference of an argument that op takes over */
Val fl_ll_move_out(FlFn *f, const FlValue *v); /* v, which the function owns, and its place is empty then */
void fl_ll_move_in(FlFn *f, const FlValue *v, Val x);  /* x is in the place of v again */
void fl_ll_own_from(FlFn *f, const FlValue *v, Val x); /* v is x, and owned in a place of its own */
/* The function ends here with this status, whose place is told already. */
void fl_ll_leave_told(FlFn *f, Val failed, Val status);
void fl_ll_drop(FlFn *f,
                const FlValue *v); /* releases v, which the function owns; nothing when it is borrowed */
Val fl_ll_take_yield(FlFn *f, const FlRegion *r, int index); /* one owned reference of what a region yields */
void fl_ll_check_status(FlFn *f, Val status);
void fl_ll_leave(FlFn *f, Val status); /* the function ends here, with this status */
/* If it goes to `cleanup` now, the function ends with this status, of an error that has its place. */
void fl_ll_set_told(FlFn *f, Val status);
void fl_ll_check_pointer(FlFn *f, Val p);
void fl_ll_unref(FlFn *f, Val a);
/* Waits for every stage call that is running: an error of an earlier one is the one to report. Leaves the
 * function when one failed. */
void fl_ll_settle(FlFn *f);
Val fl_ll_scratch(
    FlFn *f); /* a place for one owned array of the operation that is emitted; NULL again afterwards */
void fl_ll_need_slots(FlFn *f, unsigned n); /* at least n slots in args and in results */
Val fl_ll_new_array(FlFn *f, FlDtype d, unsigned rank, const Val *dims);
/* The same, for a result of a loop that may be here in part: the loop gives it memory. */
Val fl_ll_new_result(FlFn *f, const FlValue *result, FlDtype d, unsigned rank, const Val *dims);
Val fl_ll_array_data(FlFn *f, Val a);
Val fl_ll_array_dim(FlFn *f, Val a, Val axis);
void fl_ll_map(FlFn *f, const FlOp *op);
/* Of a MAP over tasks: its constant FlTasks. */
Val fl_ll_tasks(FlFn *f, const FlPlanKernel *k, int sees);
/* The array that becomes a result with an element a position. */
Val fl_ll_map_result(FlFn *f, const FlPlanKernel *k, int result, const Val *sizes);
void fl_ll_keep_texts(FlFn *f, const FlPlanKernel *k, Val heap, int n,
                      const Val *arrays); /* releases the heap */
void fl_ll_collect(FlFn *f, const FlOp *op);
void fl_ll_scan(FlFn *f, const FlOp *op);
void fl_ll_store(FlFn *f, const FlOp *op);

/* ---- llvm_loop.c ------------------------------------------------------------------------------------ */

/* A loop of host code that the plan has by itself: its function, and the call of it. */
void fl_ll_loop(FlFn *f, const FlPlanStep *s);

/* ---- llvm_steps.c ---------------------------------------------------------------------------------- */

/* Before the code of a function, and behind all of it: makes its table, if it is to have one. `params`: where
 * its arguments are. On its way out it gives back what the table holds. */
void fl_ll_table_begin(FlFn *f, const FlRegion *body, Val params);
void fl_ll_table_leave(FlFn *f);
void fl_ll_table_end(FlFn *f);
void fl_ll_step(FlFn *f, const FlPlanStep *s); /* one that is in the table */
void fl_ll_steps_run(FlFn *f);                 /* the steps that were added since: before any other code */
bool fl_ll_steps_give(FlFn *f, const FlRegion *r, Val results); /* the yields; false: r has no steps */
/* v is in memory at this place: FL_PLACE_OWN, ...; and what is there. */
void fl_ll_place(FlFn *f, const FlValue *v, int kind, int at);
Val fl_ll_at_place(FlFn *f, const FlValue *v);

/* ---- llvm_texts.c: how long texts live ------------------------------------------- */

/* Does running the region leave texts in the stack of its context? */
bool fl_ll_leaves_texts(const FlRegion *r);
Val fl_ll_text_copy(FlFn *f, Val heap, Val text); /* its bytes copied to a heap */
Val fl_ll_text_to_stack(FlFn *f, Val text);       /* to the context's stack */
Val fl_ll_array_heap(FlFn *f, Val array); /* a new heap that the array keeps; it is owned by a place */
/* Writes a copy of the text to `at` in an array that nobody else has, which is owned by a place. */
void fl_ll_put_text(FlFn *f, Val array, Val at, Val text);
/* Where the text that an operator makes goes. */
Val fl_ll_text_place(FlFn *f, const FlOp *op);
/* In a kernel: at its begin and end; between what an element computes and where that goes; after that. */
void fl_ll_scratch_open(FlFn *f, const FlPlanKernel *k);
void fl_ll_scratch_close(FlFn *f);
void fl_ll_keep_yields(FlFn *f);
void fl_ll_leave_element(FlFn *f);
/* Before the region is run; NULL: it leaves nothing. */
Val fl_ll_texts_mark(FlFn *f, const FlRegion *r);
/* After it, as often as it is run: what it left dies, but for the texts among `live`, which may be moved.
 * Gives a status: non-zero where a text found no memory, so that host code stops there. mark NULL: does
 * nothing, and gives NULL. */
Val fl_ll_texts_leave(FlFn *f, Val mark, unsigned n, const FlType1 *types, Val *live);

/* ---- llvm_program.c -------------------------------------------------------------------------------- */

/* The number of a place: index into FlProgram.sites; of a unit, counted from its first one. */
int fl_ll_site(FlGen *g, FlSpan span, FlFaultText said);
int fl_ll_call_site(FlGen *g, FlSpan span, const char *callee); /* the same of a call */
Val fl_ll_site_number(FlFn *f, int site);                       /* the index, an i32, in code */
Val fl_ll_site_constant(FlGen *g, int site);                    /* and in data */
Val fl_ll_op_desc(FlGen *g, const FlOp *op, int sees);
/* Where the list says what the values are seen as, by their order or by `at` (fl_plan_see); 0: nowhere. */
int fl_ll_see(FlFn *f, int n, FlValue *const *values, const int *at);
Val fl_ll_seen(FlGen *g, int from);                          /* the list from there on; 0: NULL */
Val fl_ll_seen_list(FlGen *g);                               /* all of it */
void fl_ll_seen_end(FlGen *g);                               /* it is whole, and a new one begins */
Val fl_ll_rows_constant(FlGen *g, int n, const FlUse *uses); /* FlKernel.rows */
Val fl_ll_types(FlGen *g, int n, FlValue *const *values);    /* constant FlType1[] */
Val fl_ll_stage(FlFn *f, const FlFunc *func);                /* its index, an i32 */
void fl_ll_program(FlGen *g); /* the tables of the program; `program` is the first of them */

/* ---- llvm_extern.c --------------------------------------------------------------------------------- */

void fl_ll_extern_call(FlFn *f, const FlOp *op);
Val fl_ll_extern_table(FlGen *g); /* pointers to the FlExterns of the module */

/* ---- llvm_target.c --------------------------------------------------------------------------------- */

void fl_ll_memory_register(
    void); /* from then on LLVM leaves the work around where it gets no memory (fl_guard) */
bool fl_ll_memory_limited(void); /* whether address space is scarce */
void fl_ll_register(void);       /* once before any part: LLVM keeps what it knows of processors to itself */
bool fl_ll_target_init(FlGen *g);
void fl_ll_target_attrs(FlGen *g, Val fn, int level); /* level 0: the module's; 3, 4: x86-64-v3, v4 */
void fl_ll_quick_attrs(FlGen *g,
                       Val fn); /* not optimised: for code that runs straight through, or hardly ever */
/* What the processor must have to run this code: a mask of base/features.h. */
uint64_t fl_ll_features(FlGen *g);
Val fl_ll_dispatcher(FlGen *g, const char *name, Val v2, Val v3, Val v4);
bool fl_ll_run_passes(FlGen *g, const char *passes);
bool fl_ll_verify(FlGen *g);               /* before scalar functions are linked: these have been */
bool fl_ll_optimize(FlGen *g, bool quick); /* quick: none of its functions is to be optimised */
bool fl_ll_emit(FlGen *g, FlObject *out);

#endif
