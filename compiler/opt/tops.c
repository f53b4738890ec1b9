/* tops.c: of rows that are sorted only for the first few of them the others are not sorted: SORT_PERM becomes
 * TOP_ROWS.
 *
 * In: a SORT_PERM whose rows one TAKE takes, of whose results nobody asks for more than ROWS from 0 to k.
 * Out: TOP_ROWS of k, its rows taken, and ROWS of these, which then are all. What always holds: TOP_ROWS
 * gives the first rows as they would be sorted, so k rows where there are k; where there are not, ROWS fails
 * as before. */
#include "opt/opt_internal.h"

/* What is known of the users of a value, by its id. */
typedef struct Use {
  FlOp *first;   /* the first of them, in program order; NULL: none yet */
  int n;         /* how many */
  bool as_index; /* all are TAKEs, and it says which rows */
  FlValue *end;  /* all are ROWS of it, from 0 to this one; else NULL */
} Use;

/* A number of rows that is not negative. */
static bool counts(const FlValue *v) {
  int64_t n;
  if (fl_ir_const_value_i(v, &n)) return n >= 0;
  if (!v->op) return false;
  if (v->op->code == FL_OP_MAX) return counts(v->op->args[0]) || counts(v->op->args[1]);
  if (v->op->code == FL_OP_MIN) return counts(v->op->args[0]) && counts(v->op->args[1]);
  return v->op->code == FL_OP_DIM;
}

static void note(Use *uses, const FlValue *v, FlOp *op, int arg) {
  Use *u = &uses[v->id];
  bool index = op->code == FL_OP_TAKE && arg == 0;
  int64_t from;
  bool leading = op->code == FL_OP_ROWS && arg == 0 && fl_ir_const_value_i(op->args[1], &from) && from == 0 &&
                 counts(op->args[2]) && op->parent == v->region;
  if (!u->n++) *u = (Use){op, 1, index, leading ? op->args[2] : NULL};
  u->as_index = u->as_index && index;
  if (!leading || u->end != op->args[2]) u->end = NULL;
}

static void collect(Use *uses, const FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) note(uses, op->args[i], op, i);
    for (int i = 0; i < op->n_regions; i++) collect(uses, op->regions[i]);
  }
  for (int i = 0; i < r->n_yields; i++) uses[r->yields[i]->id] = (Use){.n = 2};
}

/* How many rows are wanted of all results of the TAKE, and the first op that wants some; NULL: not that
 * alone. */
static FlValue *wanted(const Use *uses, const FlOp *take, FlOp **first) {
  FlValue *end = NULL;
  *first = NULL;
  for (int k = 0; k < take->n_results; k++) {
    const Use *u = &uses[take->results[k]->id];
    if (!u->n) continue;
    if (!u->end || (end && u->end != end)) return NULL;
    end = u->end;
  }
  for (FlOp *op = take->next; op && end && !*first; op = op->next)
    if (op->code == FL_OP_ROWS && op->args[0]->op == take) *first = op;
  return end;
}

/* The TAKE by `sort`, and SORT_PERM before it, become a TAKE by TOP_ROWS in front of `at`. */
static void replace(FlSubst *s, FlOp *sort, FlOp *take, FlValue *end, FlOp *at) {
  FlBuilder b = fl_opt_before(at);
  FlArena *arena = b.module->arena;
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, sort->n_args + 1);
  args[0] = end;
  memcpy(args + 1, sort->args, sizeof *args * (size_t)sort->n_args);
  b.span = sort->span;
  FlOp *top = fl_ir_op(&b, FL_OP_TOP_ROWS, sort->n_args + 1, args, 1, &sort->results[0]->type, 0);
  fl_ir_set_columns(arena, top, sort->attrs.n_columns, sort->attrs.columns);
  FlValue **arrays = FL_NEW_ARRAY(arena, FlValue *, take->n_args);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, take->n_results + 1);
  memcpy(arrays, take->args, sizeof *arrays * (size_t)take->n_args);
  arrays[0] = top->results[0];
  for (int k = 0; k < take->n_results; k++) types[k] = take->results[k]->type;
  b.span = take->span;
  FlOp *rows = fl_ir_op(&b, FL_OP_TAKE, take->n_args, arrays, take->n_results, types, 0);
  rows->attrs.i = take->attrs.i;
  rows->places = take->places;
  for (int k = 0; k < take->n_results; k++) fl_subst_set(s, take->results[k], rows->results[k]);
  fl_ir_remove(take);
  fl_ir_remove(sort);
}

static void visit(FlSubst *s, const Use *uses, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, uses, op->regions[i]);
    if (op->code != FL_OP_SORT_PERM) continue;
    const Use *u = &uses[op->results[0]->id];
    FlOp *take = u->first, *at;
    bool alone = u->n == 1 && u->as_index && take->parent == r && take->attrs.i == FL_TAKE_PROVEN;
    FlValue *end = alone ? wanted(uses, take, &at) : NULL;
    if (!end || !at) continue;
    if (next == take) next = take->next;
    replace(s, op, take, end, at);
  }
  fl_subst_yields(s, r);
}

void fl_opt_tops(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    FlSubst s = {0};
    Use *uses = fl_piece_new((size_t)f->next_id + 1, sizeof *uses);
    collect(uses, f->body);
    visit(&s, uses, f->body);
    fl_piece_free(uses);
    fl_subst_reset(&s);
  }
}
