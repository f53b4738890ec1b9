/* interp_internal.h: what the files of the interpreter share.
 *
 * Errors come in two kinds. In host code an error is recorded in the context at once. While the elements of a
 * kernel are run (loops.c), a fault is only noted in the frame and ends its element; all elements are run,
 * and the fault that is first in program order, then in position, is the one recorded. */
#ifndef FL_INTERP_INTERNAL_H
#define FL_INTERP_INTERNAL_H

#include "interp/interp.h"

#include "data/value_type.h"

typedef struct ExternCall ExternCall; /* extern.c */

/* What is known of an operation before it runs. */
typedef struct OpNote {
  int32_t site;            /* index into FlProgram.sites */
  int32_t *sites;          /* REDUCE: one a result */
  FlOpDesc desc;           /* RUNTIME operators only */
  const FlPlanStep *step;  /* what is planned of it; NULL: it is in a kernel */
  const uint8_t *rows;     /* of what its kernel captures: FlRows */
  bool whole;              /* MAP, REDUCE, COLLECT: all elements are run, also behind one that failed */
  ExternCall *extern_call; /* EXTERN only */
  const int32_t *seen;     /* of its results (fl_seen) */
} OpNote;

struct FlInterp {
  FlArena *arena;
  const FlPlan *plan;
  const FlModule *module; /* that it is of */
  const FlSources *sources;
  FlMap *notes;           /* FlOp -> OpNote */
  FlMap *seen;            /* FlFunc -> what its parameters are seen as (fl_seen); or NULL */
  FlMap *stage_index;     /* FlFunc -> index + 1 */
  FlMap *call_sites;      /* FlCall -> site + 1 */
  FlInterner *site_names; /* what a site is of, as bytes */
  FlMap *site_numbers;    /* these -> site + 1 */
  FlMap *line_texts;      /* start of a line in its source -> its text */
  FlVec(FlSite) sites;
  FlVec(FlStage) stages;
  FlVec(FlExtern *) externs;
};

/* A fault that was met and not yet recorded. */
typedef struct Fault {
  const FlOp *op; /* NULL: none */
  int32_t part;   /* which of the op's checks, in order: the axis of an index, the kind of a reduction */
  int32_t bits;
  int32_t type; /* of a and b */
  FlSlot a, b;
} Fault;

/* One activation of a function. */
typedef struct Frame {
  const FlInterp *in;
  FlCtx *ctx;
  FlHeap *heap;       /* where texts are made: the stack of the context */
  FlSlot *values;     /* by value id; an array is an owned reference or NULL */
  Fault *fault;       /* not NULL: faults are noted here, see above */
  const Fault *first; /* the first in program order that the walk around has met, or NULL */
} Frame;

/* FAULTED: noted in frame->fault, nothing recorded. Any other value but 0: recorded in the context. */
enum { FAULTED = -1 };

static inline FlSlot value_of(const Frame *f, const FlValue *v) { return f->values[v->id]; }
static inline bool is_array(FlType1 t) { return t.rank > 0 || t.depth > 0; }

/* ---- regions.c: operations in order, control flow, calls --------------------------------------------- */

/* Runs the operations of a region whose parameters are set. On success `out` gets its yields, owned; on
 * failure nothing is owned. Either way what the region defined is released, its parameters too. */
FlStatus run_region(Frame *f, const FlRegion *r, FlSlot *out);
/* Sets a parameter or result: takes over the reference. */
void define(Frame *f, const FlValue *v, FlSlot slot);
FlSlot *new_slots(int64_t n);       /* zeroed; free; NULL: no memory */
FlStatus no_memory(Frame *f);       /* records that */
FlSlot own(FlType1 t, FlSlot slot); /* one more reference of an array; a scalar is itself */
void disown(FlType1 t, FlSlot slot);
FlStatus call_function(Frame *f, const FlFunc *func, const FlSlot *args, FlSlot *results);

/* ---- faults.c ---------------------------------------------------------------------------------------- */

/* Ends an operation: notes or records the fault. Never 0. */
FlStatus raise_fault(Frame *f, Fault fault);
/* Is a before b in program order, both inside r? What an operation itself checks comes after what its regions
 * do. */
bool comes_before(const FlRegion *r, const Fault *a, const Fault *b);
FlStatus run_check(Frame *f, const FlOp *op); /* CHECK and FAIL */
const OpNote *note_of(const Frame *f, const FlOp *op);

/* ---- scalars.c: SCALAR operators and constants ------------------------------------------------------- */

/* An operator whose letter stands for d; `format` is that of `to_text`. */
typedef void ScalarCall(FlDtype d, FlHeap *heap, const char *format, const FlSlot *a, FlSlot *r,
                        int32_t *fault);
extern ScalarCall *const scalar_calls[FL_N_OPS]; /* made by make_scalar_calls.c; CONVERT has none */
/* Results of a SCALAR operator from its arguments; fault bits go to *fault. */
void run_scalar(Frame *f, const FlOp *op, const FlSlot *a, FlSlot *r, int32_t *fault);
FlSlot constant_of(const FlOp *op);

/* ---- arrays.c: elements, new arrays, ARRAY, LOAD, STORE ---------------------------------------------- */

int64_t total_of(const FlArray *a);
/* A copy of the text in the heap. */
FlSlot text_in(FlHeap *heap, FlSlot text);
FlType1 *value_types(FlValue *const *values, int n); /* free; NULL: no memory */
/* The end of a round of a loop, or of a call: the texts made since the mark die, but for those among the n
 * slots. Fails where one of them found no memory. */
FlStatus leave_texts(Frame *f, const FlTextMark *mark, const FlType1 *types, FlSlot *slots, int n);
/* A new array of that type: of sizes `dims`, a list of dims[0] places; with a cut only its rows. NULL:
 * failed, recorded. */
FlArray *new_array(Frame *f, FlType1 t, const int64_t *dims, const FlCut *cut);
/* Makes a text array keep the heap that its texts were copied to; nothing for other arrays. */
FlStatus keep_texts(Frame *f, FlArray *a, FlHeap *heap);
/* Fails where an array that the operation takes is here in part. */
FlStatus whole_arguments(Frame *f, const FlOp *op);
FlStatus run_array(Frame *f, const FlOp *op);
FlStatus run_load(Frame *f, const FlOp *op);
FlStatus run_pick(Frame *f, const FlOp *op);
FlStatus run_store(Frame *f, const FlOp *op);

/* ---- loops.c: MAP, COLLECT, SCAN; the walk over an index space --------------------------------------- */

/* Called for each element with its owned yields (to be taken over) and its row-major position. */
typedef FlStatus ElementFn(Frame *f, const FlOp *op, int64_t pos, FlSlot *yields, void *arg);
/* The operation failed: in which group, where it works on groups. */
void say_group(Frame *f, const FlOp *failed);
/* Runs the op's region over its sizes, in order; with a cut over those of the elements whose rows are here.
 * Where it is a kernel, in full, reporting the first fault by program order; else until the first failure.
 * Texts of an element die with it. */
FlStatus each_element(Frame *f, const FlOp *op, const FlCut *cut, ElementFn *fn, void *arg);
/* The cut of a loop over `rows` rows, by the arrays that it captures; fails where it has no parted form. */
FlStatus cut_of_loop(Frame *f, const FlOp *op, int64_t rows, const FlCut **cut);
FlStatus run_map(Frame *f, const FlOp *op);
FlStatus run_collect(Frame *f, const FlOp *op);
FlStatus run_scan(Frame *f, const FlOp *op);

/* ---- reduce.c ---------------------------------------------------------------------------------------- */

FlStatus run_reduce(Frame *f, const FlOp *op);

/* ---- calls.c: RUNTIME operators and stages ----------------------------------------------------------- */

extern FlRuntimeOp *const runtime_ops[FL_N_OPS];        /* NULL: not linked */
const void *runtime_format(const FlFormatInfo *format); /* FlOpDesc.format */
FlStatus run_runtime(Frame *f, const FlOp *op);
FlStatus run_stage(Frame *f, const FlOp *op);

/* ---- extern.c: C functions --------------------------------------------------------------------------- */

ExternCall *prepare_extern(FlInterp *in, const FlOp *op, int32_t site);
FlStatus run_extern(Frame *f, const FlOp *op);

#endif
