/* parts.c: filters go into the reader. A read_csv whose columns only go through filters is read part by part:
 * each part's rows are parsed, what is computed of them for the filter and after it is computed at once, and
 * only the rows that are kept stay; the columns of the file as a whole are never in memory.
 *
 *   %n, %a, %b = read_csv F              %p, %f = csv_parts F
 *   %m = map %n { ... a[i] ... }         %l = map %p { (k)
 *   %k, %c = compress %m, %b       ->      %n, %a, %b = csv_part %f, k
 *                                          %m = map %n { ... }
 *                                          %k, %c = compress %m, %b
 *                                          yield %c }
 *                                        csv_end %f
 *                                        %c = list_concat %l
 *
 * What always holds: what moves into the part is row-local (an element depends on its own row alone) and
 * cannot fail, so that the results are the same wherever the parts end, and the errors those of the reader,
 * in its place. Nothing else sees the columns before the filter; if it does, all stays as it is. */
#include "opt/opt_internal.h"

/* Rows that belong together: those of the file, or those that a filter has kept. */
typedef struct Space {
  FlValue *size; /* as the script's function has it */
  int index;
} Space;

typedef struct Parts {
  FlArena *arena;
  FlFunc *func;
  FlOp *reader;
  FlVec(FlOp *) inside;    /* what moves, in program order */
  FlVec(FlOp *) constants; /* what they use that is defined behind the reader */
  FlMap *spaces;           /* Space by value: columns, and sizes */
  FlMap *moves;            /* by op: in `inside` */
  int n_spaces;
} Parts;

/* ---- what moves --------------------------------------------------------------------------------------- */

static void put_space(Parts *p, FlValue *v, Space *s) { fl_map_set(p->spaces, v, s); }
static Space *space_of(const Parts *p, const FlValue *v) { return fl_map_get(p->spaces, v); }

static Space *new_space(Parts *p, FlValue *size) {
  Space *s = FL_NEW(p->arena, Space);
  *s = (Space){size, p->n_spaces++};
  put_space(p, size, s);
  return s;
}

/* The value is there before the reader, or is a constant that can be. */
static bool is_before(Parts *p, FlValue *v) {
  if (v->region != p->reader->parent) return !fl_opt_inside(v->region, p->reader->parent);
  if (!v->op) return true;
  for (const FlOp *op = p->reader; op; op = op->prev)
    if (op == v->op) return true;
  if (v->op->code != FL_OP_CONST) return false;
  fl_vec_push(p->arena, &p->constants, v->op);
  return true;
}

/* Everything in the kernel reads columns of the space at its own row, and else what is there before. */
static bool is_row_local(Parts *p, const FlRegion *r, const FlRegion *kernel, const Space *space) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (fl_ir_may_fault(op) || (fl_op_info[op->code].flags & FL_OPF_NOTE) || op->code == FL_OP_EXTERN)
      return false;
    for (int i = 0; i < op->n_args; i++) {
      FlValue *v = op->args[i];
      if (fl_opt_inside(v->region, kernel)) continue;
      bool column = op->code == FL_OP_LOAD && i == 0 && space_of(p, v) == space && v != space->size &&
                    v->type.rank == 1 && op->args[1] == kernel->params[0];
      if (!column && (space_of(p, v) || !is_before(p, v))) return false;
    }
    for (int i = 0; i < op->n_regions; i++)
      if (!is_row_local(p, op->regions[i], kernel, space)) return false;
  }
  for (int i = 0; i < r->n_yields; i++)
    if (!fl_opt_inside(r->yields[i]->region, kernel) && !is_before(p, r->yields[i])) return false;
  return true;
}

static bool take_map(Parts *p, FlOp *op) {
  Space *space = op->n_args == 1 ? space_of(p, op->args[0]) : NULL;
  if (!space || space->size != op->args[0] || !fl_ir_is_kernel(op->regions[0])) return false;
  int before = p->constants.n;
  if (!is_row_local(p, op->regions[0], op->regions[0], space)) {
    p->constants.n = before;
    return false;
  }
  for (int k = 0; k < op->n_results; k++) put_space(p, op->results[k], space);
  return true;
}

static bool take_filter(Parts *p, FlOp *op) {
  Space *space = space_of(p, op->args[0]);
  for (int i = 0; i < op->n_args; i++)
    if (!space || space_of(p, op->args[i]) != space || op->args[i]->type.rank != 1 || op->args[i]->type.depth)
      return false;
  Space *kept = new_space(p, op->results[0]);
  for (int k = 1; k < op->n_results; k++) put_space(p, op->results[k], kept);
  return true;
}

static bool find_inside(Parts *p) {
  bool filters = false;
  Space *rows = new_space(p, p->reader->results[0]);
  for (int k = 1; k < p->reader->n_results; k++) put_space(p, p->reader->results[k], rows);
  for (FlOp *op = p->reader->next; op; op = op->next) {
    bool filter = op->code == FL_OP_COMPRESS && take_filter(p, op);
    if (!filter && !(op->code == FL_OP_MAP && take_map(p, op))) continue;
    filters = filters || filter;
    fl_vec_push(p->arena, &p->inside, op);
    fl_map_set(p->moves, op, op);
  }
  return filters;
}

/* ---- what is seen outside ----------------------------------------------------------------------------- */

typedef FlVec(FlValue *) Values;

static void add_exit(const Parts *p, Values *exits, FlValue *v) {
  for (int i = 0; i < exits->n; i++)
    if (exits->at[i] == v) return;
  if (space_of(p, v)) fl_vec_push(p->arena, exits, v);
}

/* Values of the parts that stay behind sees, at any depth. */
static void find_exits(const Parts *p, const FlRegion *r, Values *exits) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (fl_map_get(p->moves, op)) continue;
    for (int i = 0; i < op->n_args; i++) add_exit(p, exits, op->args[i]);
    for (int i = 0; i < op->n_regions; i++) find_exits(p, op->regions[i], exits);
  }
  for (int i = 0; i < r->n_yields; i++) add_exit(p, exits, r->yields[i]);
}

/* A column among the values that has the rows of the space; NULL: none. */
static FlValue *column_of(const Parts *p, const Values *values, const Space *space) {
  for (int i = 0; i < values->n; i++)
    if (values->at[i]->type.rank && space_of(p, values->at[i]) == space) return values->at[i];
  return NULL;
}

/* The columns that each part yields, and the sizes that it must yield for want of a column; false: something
 * sees the columns of the file as they are. */
static bool find_yields(const Parts *p, const Values *exits, Values *yields, Values *sizes) {
  for (int i = 0; i < exits->n; i++) {
    FlValue *v = exits->at[i];
    Space *space = space_of(p, v);
    if (v->type.rank && space->index == 0) return false;
    if (v->type.rank) add_exit(p, yields, v);
    else if (!column_of(p, exits, space)) add_exit(p, sizes, v);
  }
  return yields->n + sizes->n > 0;
}

/* ---- rewriting ---------------------------------------------------------------------------------------- */

static FlOp *same_attributes(FlBuilder *b, FlOpcode code, const FlOp *reader, int n, FlValue *const *args,
                             int n_results, const FlType1 *types) {
  FlOp *op = fl_ir_op(b, code, n, args, n_results, types, 0);
  op->attrs = reader->attrs;
  return op;
}

/* `subst`: the reader's results to those of a part. */
static void move_inside(Parts *p, FlRegion *part, const FlSubst *subst) {
  for (int i = 0; i < p->inside.n; i++) {
    FlOp *op = p->inside.at[i];
    fl_ir_unlink(op);
    fl_ir_link(part, op, NULL);
    for (int k = 0; k < op->n_results; k++) op->results[k]->region = part;
    fl_subst_args(subst, op);
    for (int k = 0; k < op->n_regions; k++) fl_subst_region(subst, op->regions[k]);
  }
}

/* The sum of the one number that each part yields. */
static FlValue *sum_of(FlBuilder *b, FlValue *counts) {
  FlType1 index = fl_t_scalar(FL_I64);
  FlValue *n = fl_ir_dim(b, counts, 0);
  FlOp *sum = fl_ir_op(b, FL_OP_REDUCE, 1, &n, 1, &index, 1);
  sum->attrs.s = fl_reduce_names[FL_RED_SUM];
  FlRegion *r = fl_ir_region(b, sum, 0, 1, &index);
  FlBuilder in = {.module = b->module, .func = b->func, .region = r, .span = b->span};
  FlValue *one = fl_ir_load(&in, counts, 1, r->params, true);
  fl_ir_yield(r, b->module, 1, &one);
  return sum->results[0];
}

/* What stands behind the reader sees the joined columns instead of those inside, and for a size the length of
 * one that has it, or the sum of what the parts say. */
static void replace_exits(Parts *p, FlBuilder *b, const Values *exits, const Values *yields,
                          const Values *sizes, FlOp *loop) {
  FlSubst subst = {0};
  FlMap *joined = fl_map_make(p->arena);
  for (int i = 0; i < loop->n_results; i++) {
    bool column = i < yields->n;
    FlType1 type = column ? yields->at[i]->type : fl_t_array(FL_I64, 1);
    FlOp *op = fl_ir_op(b, FL_OP_LIST_CONCAT, 1, &loop->results[i], 1, &type, 0);
    if (column) fl_map_set(joined, yields->at[i], op->results[0]);
    fl_subst_set(&subst, column ? yields->at[i] : sizes->at[i - yields->n],
                 column ? op->results[0] : sum_of(b, op->results[0]));
  }
  for (int i = 0; i < exits->n; i++) {
    FlValue *v = exits->at[i], *column = column_of(p, yields, space_of(p, v));
    if (!v->type.rank && column) fl_subst_set(&subst, v, fl_ir_dim(b, fl_map_get(joined, column), 0));
  }
  for (FlOp *op = p->reader->next; op; op = op->next) {
    fl_subst_args(&subst, op);
    for (int k = 0; k < op->n_regions; k++) fl_subst_region(&subst, op->regions[k]);
  }
  fl_subst_yields(&subst, p->reader->parent);
  fl_subst_reset(&subst);
}

static void rewrite(Parts *p, const Values *exits, const Values *yields, const Values *sizes) {
  FlOp *reader = p->reader;
  FlBuilder b = fl_opt_before(reader);
  FlModule *m = b.module;
  int n = yields->n + sizes->n;
  for (int i = 0; i < p->constants.n; i++) fl_ir_move_before(p->constants.at[i], reader);
  FlOp *open = same_attributes(&b, FL_OP_CSV_PARTS, reader, 1, reader->args, 2,
                               (FlType1[]){fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1)});
  FlType1 index = fl_t_scalar(FL_I64), count = fl_t_array(FL_I64, 1);
  FlType1 *types = FL_NEW_ARRAY(m->arena, FlType1, reader->n_results + n);
  for (int i = 0; i < n; i++) {
    types[i] = i < yields->n ? yields->at[i]->type : count;
    types[i].depth++;
  }
  FlOp *loop = fl_ir_op(&b, FL_OP_MAP, 1, open->results, n, types, 1);
  FlRegion *part = fl_ir_region(&b, loop, 0, 1, &index);
  FlBuilder in = {.module = m, .func = b.func, .region = part, .span = reader->span};
  for (int k = 0; k < reader->n_results; k++) types[k] = reader->results[k]->type;
  FlOp *rows = same_attributes(&in, FL_OP_CSV_PART, reader, 2,
                               (FlValue *[]){open->results[1], part->params[0]}, reader->n_results, types);
  same_attributes(&b, FL_OP_CSV_END, reader, 1, &open->results[1], 0, NULL);
  FlSubst subst = {0};
  for (int k = 0; k < rows->n_results; k++) fl_subst_set(&subst, reader->results[k], rows->results[k]);
  move_inside(p, part, &subst);
  FlValue **out = FL_NEW_ARRAY(m->arena, FlValue *, n);
  for (int i = 0; i < n; i++) {
    FlValue *size = i < yields->n ? NULL : fl_subst_get(&subst, sizes->at[i - yields->n]);
    out[i] = size ? fl_ir_op(&in, FL_OP_ARRAY, 1, &size, 1, &count, 0)->results[0] : yields->at[i];
  }
  fl_subst_reset(&subst);
  fl_ir_yield(part, m, n, out);
  replace_exits(p, &b, exits, yields, sizes, loop);
  fl_ir_remove(reader);
}

/* ---- readers ------------------------------------------------------------------------------------------ */

/* One file, read into columns alone. */
static bool is_candidate(const FlOp *op) {
  if (op->code != FL_OP_READ_CSV || op->args[0]->type.rank || op->n_results < 2) return false;
  for (int i = 0; i < (int)op->attrs.i; i++)
    if (op->attrs.list[i][0] == ':') return false; /* the number of the file of each row */
  return true;
}

static void try_reader(FlFunc *f, FlOp *reader) {
  Parts p = {.arena = fl_arena_new(), .func = f, .reader = reader};
  p.spaces = fl_map_make(p.arena);
  p.moves = fl_map_make(p.arena);
  Values exits = {0}, yields = {0}, sizes = {0};
  if (find_inside(&p)) {
    find_exits(&p, f->body, &exits);
    if (find_yields(&p, &exits, &yields, &sizes)) rewrite(&p, &exits, &yields, &sizes);
  }
  fl_arena_free(p.arena);
}

void fl_opt_parts(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next)
    for (FlOp *op = f->body->first, *next; op; op = next) {
      next = op->next;
      if (is_candidate(op)) try_reader(f, op);
    }
}
