/* plan.h: what will be run, as data that is decided once: between the passes and whoever runs their result
 * (code generation, the interpreter, flowc explain).
 *
 * What comes in: a verified module behind the passes. What goes out: for each function a body, which is a
 * list of steps in the order of the program. A step is an operation of host level, with what is decided about
 * it: how it runs, which rows it needs of what it takes, what it waits for, what is given back behind it,
 * what it may write over. Of a kernel: what it captures and how it reads that, whether it can fail, what an
 * element costs, in which form it runs. No LLVM type is in it, and who reads it decides nothing of this
 * again.
 *
 * What always holds: a plan changes nothing of the module, is void once that is edited, and is never changed
 * once it is made, so that threads may share it. It depends on the module and the level alone, not on the
 * machine. Everything is in the arena that it was made in. */
#ifndef FL_PLAN_H
#define FL_PLAN_H

#include "plan/in_place.h"
#include "plan/lifetime.h"

/* ---- rows: what is needed of an argument, or a capture, for one row of the result (FlRows) ------------- */

extern const char *const fl_rows_names[FL_N_ROWS];

/* What an operation takes: an argument, or what its regions capture. */
typedef struct FlUse {
  const FlValue *value;
  FlRows rows;
  int64_t lo, hi; /* NEAR: from row `lo` to row `hi`, counted from its own */
  bool element;   /* of a loop: of the array nothing is read but the element at the loop's own position */
  bool dies;      /* the array is owned here and not used after: the operation may write over it */
} FlUse;

/* ---- cost: nanoseconds, as an expression over sizes that are known where the loop begins --------------- */

typedef enum FlCostKind {
  FL_COST_CONSTANT, /* n */
  FL_COST_VALUE,    /* of an i64 */
  FL_COST_DIM,      /* the size of array `value` along `axis` */
  FL_COST_SUM,      /* of a and b */
  FL_COST_PRODUCT
} FlCostKind;

typedef struct FlCost {
  FlCostKind kind;
  double n;
  const FlValue *value;
  int axis;
  const struct FlCost *a, *b;
} FlCost;

/* ---- kernels ------------------------------------------------------------------------------------------- */

typedef enum FlPlanForm {
  FL_KERNEL_ELEMENTS, /* MAP: an element each */
  FL_KERNEL_COLUMNS,  /* MAP of reductions along columns: swept row by row, a tile of columns at once */
  FL_KERNEL_BLOCKS,   /* REDUCE: the states of blocks, then joined */
  FL_KERNEL_KEPT,     /* COLLECT: each block compacts what it keeps, then the parts are joined */
  FL_KERNEL_TASKS, /* MAP over host code: elements are tasks of the pool; none of what follows `uses` is set
                    */
  FL_KERNEL_ROUNDS /* a loop of host code, by itself: rounds in their order. Of what follows `uses`, `weight`
                      and `cost` are set */
} FlPlanForm;

/* How large the code of a region is: above WIDE it is made without the passes over live ranges, which take
 * the square of that; above SLOW as code that is not optimised. */
enum { FL_CODE_WIDE = 6000, FL_CODE_SLOW = 20000 };

/* A loop over an index space that runs on the pool. */
typedef struct FlPlanKernel {
  const FlOp *op;
  const FlRegion *region;
  FlPlanForm form;
  int n_uses;
  const FlUse *uses; /* captures, in the order of its environment; constants are made anew and are none */
  int n_outputs;     /* pointers to where results go */
  bool faults;       /* an element can fail */
  bool makes_texts;  /* an element makes texts */
  bool gives_texts;  /* results are texts that it makes, or may pass on: a run needs a heap */
  bool heavy;        /* an element takes so long that the widest vectors pay */
  int weight;        /* instructions, about; not counted further than FL_CODE_SLOW */
  int unit;          /* elements that a worker takes at least: a multiple of this */
  /* of an element; ROUNDS: of a round, NULL where more of it is not known than sizes say */
  const FlCost *cost;
  const FlOp *fold;            /* COLUMNS: the REDUCE */
  int n_draws, n_reads;        /* random numbers at its own position that are drawn by tiles, */
  const FlOp **draws, **reads; /* and LOADs there that are asked for ahead of them */
  const FlValue **over; /* by result: the array that it is written over where sizes agree; NULL: none */
  /* TASKS: rows of the block that each reads, in its order, of arrays of which it has OWN rows (blocks.c);
   * NULL: none does. */
  const FlValue *block;
} FlPlanKernel;

/* ---- steps --------------------------------------------------------------------------------------------- */

typedef enum FlPlanKind {
  FL_STEP_VALUE,   /* scalars, elements, sizes, checks: code where it stands */
  FL_STEP_KERNEL,  /* a loop on the pool: step->kernel */
  FL_STEP_SERIAL,  /* a loop over host code, or whose order counts: element after element */
  FL_STEP_BULK,    /* a runtime operator */
  FL_STEP_CONTROL, /* a branch, or rounds */
  FL_STEP_CALL,
  FL_STEP_STAGE /* a stage call, which runs beside what follows */
} FlPlanKind;

/* A step as a row of the table that its body is: docs/decisions/steps.md. */
typedef enum FlPlanRowRuns {
  FL_ROW_CALLS,   /* what the runtime has for it */
  FL_ROW_TASKS,   /* fl_map_tasks */
  FL_ROW_FUNCTION /* a function of the operands, made of the first step of the kind */
} FlPlanRowRuns;

typedef struct FlPlanRow {
  FlPlanRowRuns runs;
  int kind; /* steps of one kind do the same but for their operands; numbered as they are met first */
  int n;
  FlValue *const *operands;
} FlPlanRow;

typedef struct FlPlanBody FlPlanBody;

typedef struct FlPlanStep {
  FlPlanKind kind;
  const FlOp *op;
  const FlUse *uses;          /* BULK: of each argument */
  const FlPlanKernel *kernel; /* KERNEL; else NULL */
  /* CONTROL, SERIAL: over elements, so that it is a function by itself; else NULL */
  const FlPlanKernel *loop;
  FlPlanBody *const *inside; /* by region, of host code; NULL: there are none, or they are a kernel's */
  FlValue *const *dead;      /* arrays that are given back behind it */
  int n_dead;
  int waits;        /* so many of the stage calls of this body that are running are waited for before it */
  bool kernel_code; /* of a loop: its regions hold nothing but what a kernel may */
  bool in_table;    /* where its body is a table: it is a row of that */
  bool joins_parts; /* LIST_CONCAT: of what the parts of a file gave, which nobody else has */
  /* its result lies in the memory of this array, or is held by this list; NULL: neither */
  const FlValue *view_of;
  bool writes;          /* STORE: into the array itself, which the result then is */
  const FlPlanRow *row; /* where it is a row of a table; NULL: it is none, or a constant */
  const bool *takes;    /* FOR, WHILE, STORE: by argument: the reference is handed over; NULL: none is */
  const FlCarry *holds; /* FOR, WHILE: by result */
  const bool *same;     /* IF: by result: both branches give one object, which stays where it is */
  int64_t lasts;        /* bits that attribute i has beside its own: what it reads last, and may write over */
  FlStripsPlace strips; /* it may be run strip by strip with those around it (strips.c) */
} FlPlanStep;

/* A region of host code. */
struct FlPlanBody {
  const FlRegion *region;
  FlVec(FlPlanStep *) steps;
  FlValue *const *unused; /* arrays that are given back at its start */
  int n_unused;
  /* Of a branch that ends in an error: what it reads elements of, which is made whole at its start where it
     may be parted */
  FlVec(FlValue *) gathers;
  const bool *moves; /* by yield: the body's own reference is handed on */
  bool table; /* it runs straight through so much that its steps become data (docs/decisions/steps.md) */
  /* bodies of functions and of tasks: */
  bool holds_table; /* it, or one inside, is a table */
  FlMap *looped;    /* arrays whose elements or sizes are asked for in loops: worth a view; value -> op */
};

enum { FL_SOME_SUMMED = 1, FL_ALL_SUMMED, FL_ONLY_STACKED, FL_USED_ELSE }; /* a list, and nothing else */
typedef struct FlPlanFunc {
  const FlFunc *func;
  FlPlanBody *body;
  const FlLifetime *life;
  bool communicates; /* a step of it, or of what it calls, needs rows of another part once its arrays are
                        parted */
  bool asked;        /* while the plan is made: whether it does */
  bool *whole;       /* by value id: the array must be in one place; else it may be parted (parted.c) */
  uint8_t *lists;    /* by value id: a list that is only summed, only stacked, or used else */
  bool *joined; /* by value id: a list of what the parts of a file gave, which is only joined, to what may be
                   parted */
  bool *read;   /* by value id: host code reads elements of the array where it stands (read.c) */
  bool *apart;  /* by value id: a step takes it by rows, or rows of it, so that the rows that a filter keeps
                   may be copied by whoever needs them together */
  const FlOp **whole_for; /* by value id: who asks for that; NULL: who makes it does not in parts */
} FlPlanFunc;

typedef struct FlPlan {
  FlArena *arena;
  const FlModule *module;
  int level;
  FlVec(FlPlanFunc *) funcs; /* in the order of the module */
  FlMap *steps;              /* FlOp, of host level -> FlPlanStep */
  FlMap *bodies;             /* FlRegion, of host level -> FlPlanBody */
  FlMap *of_func;            /* FlFunc -> FlPlanFunc */
  FlMap *firm;  /* proven LOADs of kernels that can fail, which stay inside of their arrays also where
                   something before them failed -> themselves */
  FlMap *cheap; /* REDUCEs in kernels whose terms are few operations without loops, texts and faults ->
                   themselves */
  bool wide;    /* some loop or branch is larger than FL_CODE_WIDE */
} FlPlan;

/* Never fails. Level 0: what quick code needs, the plainest form of everything. */
FlPlan *fl_plan_make(FlArena *arena, const FlModule *m, int level);

static inline const FlPlanStep *fl_plan_step(const FlPlan *p, const FlOp *op) {
  return fl_map_get(p->steps, op);
}
static inline const FlPlanBody *fl_plan_body(const FlPlan *p, const FlRegion *r) {
  return fl_map_get(p->bodies, r);
}
static inline const FlPlanFunc *fl_plan_func(const FlPlan *p, const FlFunc *f) {
  return fl_map_get(p->of_func, f);
}
/* Attribute i, with what the plan adds to it. */
static inline int64_t fl_plan_attr(const FlPlan *p, const FlOp *op) {
  const FlPlanStep *s = fl_plan_step(p, op);
  return op->attrs.i | (s ? s->lasts : 0);
}
/* Adds what a CONST is, so that equal ones, and only these, have equal texts. */
void fl_plan_describe_constant(FlText1 *out, const FlOp *op);

/* May the array be here in part? Each of its uses has a parted form. */
static inline bool fl_plan_may_part(const FlPlan *p, const FlValue *v) {
  return !fl_t_is_scalar(v->type) && !fl_plan_func(p, v->region->func)->whole[v->id];
}

/* FL_CODES_TAKEN, FL_CODES_GIVEN, FL_SELECTED_TAKEN of an operator of the runtime. */
int fl_plan_codes(const FlPlan *p, const FlOp *op);
/* Results that may be rows which are not copied yet: a bit of each (FlOpDesc.apart). */
int64_t fl_plan_apart(const FlPlan *p, const FlOp *op);

/* May the elements of the list stay where they were made? All that they are joined to may be parted. Or they
 * are only summed. */
enum { FL_LIST_STAYS = 1, FL_LIST_IS_SUMMED };
static inline int fl_plan_list_stays(const FlPlan *p, const FlValue *list) {
  const FlPlanFunc *f = fl_plan_func(p, list->region->func);
  if (f->joined[list->id]) return FL_LIST_STAYS;
  uint8_t use = f->lists[list->id];
  return list->type.depth == 1 && (use == FL_SOME_SUMMED || use == FL_ALL_SUMMED) ? FL_LIST_IS_SUMMED : 0;
}

/* May the elements of the list be made one behind the other? They are stacked, or are many small ones that
 * are added, and nobody asks for them else. */
static inline bool fl_plan_list_is_stacked(const FlPlan *p, const FlValue *list) {
  uint8_t use = fl_plan_func(p, list->region->func)->lists[list->id];
  return list->type.depth == 1 && !fl_dtype_is_text(list->type.dtype) &&
         (use == FL_ONLY_STACKED || use == FL_ALL_SUMMED);
}

/* Who needs the array whole; NULL: it is a scalar, may be parted, or is made whole by whoever makes it. */
static inline const FlOp *fl_plan_whole_for(const FlPlan *p, const FlValue *v) {
  return fl_t_is_scalar(v->type) ? NULL : fl_plan_func(p, v->region->func)->whole_for[v->id];
}

/* KERNEL, BULK: does the step make the rows of its results that are here of what is here? Where what it takes
 * is parted, then, each part does so by itself. */
bool fl_plan_by_rows(const FlPlan *p, const FlPlanStep *s);
/* KERNEL, BULK: what of it each part does by itself, of several ranks, as things are built; without regard to
 * its results, and with it. */
/* An element of the loop is a part of the rows of tables (ROW_PART), and asks no more of its number. */
bool fl_plan_has_row_parts(const FlOp *loop);
/* Whether the tasks read v, an array, by blocks. */
bool fl_plan_is_block(const FlPlanKernel *k, const FlValue *v);
FlInParts fl_plan_parts_form(const FlPlanStep *s);
FlInParts fl_plan_in_parts(const FlPlan *p, const FlPlanStep *s);
/* By array among the results of an operation: 1: it may be parted. In the arena. */
const uint8_t *fl_plan_stays(FlArena *arena, const FlPlan *p, const FlOp *op, int *n);
enum { FL_PARTIAL_BYTES = 32 }; /* the state of one reduction over one block */
/* BLOCKS: of the states of one block; 0: they may hold texts. Other forms: 0. */
int fl_plan_state_bytes(const FlPlanKernel *k);
/* COLUMNS: which capture is the number of rows, where sums along columns of some of the rows can be made by
 * the kernel as it is, with that and with these rows alone; -1: they cannot. Other forms: -1. */
int fl_plan_columns_size(const FlPlanKernel *k);
/* Of n of them: FlUse.rows as bytes, in the arena. */
const uint8_t *fl_plan_row_bytes(FlArena *arena, int n, const FlUse *uses);

/* seen.c: what values are seen as (FlSeen), behind what the list has of others, as fl_seen of flow/abi.h
 * reads it. `at`: of each value where it will be, -1: nowhere; NULL: in this order. `site`: the number of a
 * place, to whom `env` is given. The list is in the arena; its first number is the caller's. Gives where it
 * says it; 0: none is seen. */
enum { FL_SEEN_RECENT = 4 };
typedef struct FlSeenList {
  FlVec(int32_t) numbers;
  FlSpan recent[FL_SEEN_RECENT]; /* places that were asked for, and their sites */
  int site[FL_SEEN_RECENT], n_recent;
} FlSeenList;
int fl_plan_see(FlArena *arena, FlSeenList *list, int n, FlValue *const *values, const int *at,
                int (*site)(void *env, FlSpan at), void *env);

/* As text: values have the numbers that they have in the text of the IR. */
void fl_plan_print(FlText1 *out, const FlPlan *p);

#endif
