/* parts.c: filters go into the reader. A file of a format with PARTS whose columns only go through filters,
 * or into aggregates (folds.c), is read part by part: each part's rows are parsed, what is computed of them
 * for the filter and after it is computed at once, and only the rows that are kept stay; the columns of the
 * file as a whole are never in memory.
 *
 *   %n, %a, %b = read_table F            %p, %f = table_parts F
 *   %m = map %n { ... a[i] ... }         %l = map %p { (k)
 *   %k, %c = compress %m, %b       ->      %n, %a, %b = table_part %f, k
 *                                          %m = map %n { ... }
 *                                          %k, %c = compress %m, %b
 *                                          yield %c }
 *                                        table_end %f
 *                                        %c = list_concat %l
 *
 * What always holds: what moves into the part is row-local (an element depends on its own row alone) and
 * cannot fail there (quiet.c), so that the results are the same wherever the parts end, and the errors those
 * of the reader, in its place. Nothing else sees the columns before the filter; if it does, all stays as it
 * is. */
#include "opt/parts_internal.h"

/* ---- what moves --------------------------------------------------------------------------------------- */

static void put_space(FlParts *p, FlValue *v, FlPartSpace *s) { fl_map_set(p->spaces, v, s); }

static FlPartSpace *new_space(FlParts *p, FlValue *size) {
  FlPartSpace *s = FL_NEW(p->arena, FlPartSpace);
  *s = (FlPartSpace){.size = size, .index = p->n_spaces++};
  put_space(p, size, s);
  return s;
}

static bool makes_constant(FlParts *p, const FlOp *op);

/* The value is there before the reader, or is a constant that can be. */
static bool is_before(FlParts *p, FlValue *v) {
  if (v->region != p->reader->parent) return !fl_ir_inside(v->region, p->reader->parent);
  if (!v->op) return true;
  for (const FlOp *op = p->reader; op; op = op->prev)
    if (op == v->op) return true;
  if (v->op->code != FL_OP_CONST && !makes_constant(p, v->op)) return false;
  fl_vec_push(p->arena, &p->constants, v->op);
  return true;
}

/* An array of constants, as in `x in [1, 2]`, a sum of some: what cannot fail and needs nothing that is not
 * there. */
static bool makes_constant(FlParts *p, const FlOp *op) {
  bool plain = op->code == FL_OP_ARRAY || fl_op_info[op->code].op_class == FL_CLASS_SCALAR;
  if (!plain || op->n_regions || fl_ir_may_fault(op) ||
      (fl_op_info[op->code].flags & (FL_OPF_NOTE | FL_OPF_EFFECT)))
    return false;
  for (int i = 0; i < op->n_args; i++) /* of the number of all rows nothing is there before they are read */
    if (fl_part_space(p, op->args[i]) || !is_before(p, op->args[i])) return false;
  return true;
}

/* Everything in the kernel reads columns of the space at its own row, and else what is there before; which
 * row of the file it is has no other use, since a part does not know. */
static bool is_row_local(FlParts *p, const FlRegion *r, const FlRegion *kernel, const FlPartSpace *space) {
  for (const FlOp *op = r->first; op; op = op->next) {
    bool wraps = p->may_fail && r == kernel && fl_parts_may_wrap(op);
    if ((fl_ir_may_fault(op) && !wraps) || (fl_op_info[op->code].flags & FL_OPF_NOTE) ||
        op->code == FL_OP_EXTERN)
      return false;
    for (int i = 0; i < op->n_args; i++) {
      FlValue *v = op->args[i];
      bool own = v == kernel->params[0];
      if (own && (op->code != FL_OP_LOAD || i != 1 || fl_part_space(p, op->args[0]) != space)) return false;
      if (fl_ir_inside(v->region, kernel)) continue;
      bool column = op->code == FL_OP_LOAD && i == 0 && fl_part_space(p, v) == space && v != space->size &&
                    v->type.rank == 1 && op->args[1] == kernel->params[0];
      if (!column && (fl_part_space(p, v) || !is_before(p, v))) return false;
    }
    for (int i = 0; i < op->n_regions; i++)
      if (!is_row_local(p, op->regions[i], kernel, space)) return false;
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] == kernel->params[0] ||
        (!fl_ir_inside(r->yields[i]->region, kernel) && !is_before(p, r->yields[i])))
      return false;
  return true;
}

static bool take_map(FlParts *p, FlOp *op) {
  FlPartSpace *space = op->n_args == 1 ? fl_part_space(p, op->args[0]) : NULL;
  if (!space || space->size != op->args[0] || !fl_ir_is_kernel(op->regions[0])) return false;
  if (p->stay && fl_map_get(p->stay, op)) return false;
  int before = p->constants.n;
  if (!is_row_local(p, op->regions[0], op->regions[0], space)) {
    p->constants.n = before;
    return false;
  }
  for (int k = 0; k < op->n_results; k++) put_space(p, op->results[k], space);
  if (fl_parts_wraps(op)) {
    FlPartLoud loud = {.map = op};
    fl_vec_push(p->arena, &p->loud, loud);
  }
  return true;
}

static bool take_filter(FlParts *p, FlOp *op) {
  FlPartSpace *space = fl_part_space(p, op->args[0]);
  for (int i = 0; i < op->n_args; i++)
    if (!space || fl_part_space(p, op->args[i]) != space || op->args[i]->type.rank != 1 ||
        op->args[i]->type.depth)
      return false;
  FlPartSpace *kept = new_space(p, op->results[0]);
  for (int k = 1; k < op->n_results; k++) put_space(p, op->results[k], kept);
  return true;
}

/* Asks a set that is there before, of columns of one space. */
static bool take_ask(FlParts *p, FlOp *op) {
  FlPartSpace *space = fl_part_space(p, op->args[1]);
  int last = op->attrs.i == 2 ? op->n_args - 1 : op->n_args; /* then there is the column of the set */
  if (!space || !is_before(p, op->args[0])) return false;
  if (last < op->n_args && (fl_part_space(p, op->args[last]) || !is_before(p, op->args[last]))) return false;
  for (int i = 1; i < last; i++)
    if (fl_part_space(p, op->args[i]) != space) return false;
  put_space(p, op->results[0], space);
  return true;
}

/* The rows of the file, or of the table in memory. */
static void find_rows(FlParts *p) {
  FlPartSpace *rows = new_space(p, p->rows ? p->rows : p->reader->results[0]);
  for (int k = 0; k < p->columns.n; k++) put_space(p, p->columns.at[k], rows);
  for (int k = 1; k < p->reader->n_results; k++) put_space(p, p->reader->results[k], rows);
}

static bool find_inside(FlParts *p) {
  bool filters = false;
  find_rows(p);
  for (FlOp *op = p->reader->next; op; op = op->next) {
    bool filter = op->code == FL_OP_COMPRESS && take_filter(p, op);
    bool moves = filter || (op->code == FL_OP_IN_KEYS && take_ask(p, op)) ||
                 (op->code == FL_OP_MAP && take_map(p, op));
    if (!moves) continue;
    filters = filters || filter;
    fl_vec_push(p->arena, &p->inside, op);
    fl_map_set(p->moves, op, op);
  }
  return filters;
}

/* ---- what is seen outside ----------------------------------------------------------------------------- */

static void add_exit(const FlParts *p, FlPartValues *exits, FlValue *v) {
  if (!fl_part_space(p, v) || (p->columns.has && fl_map_get(p->columns.has, v))) return;
  if (!exits->has) exits->has = fl_map_make(p->arena);
  if (fl_map_get(exits->has, v)) return;
  fl_map_set(exits->has, v, v);
  fl_vec_push(p->arena, exits, v);
}

/* Values of the parts that stay behind sees, at any depth. */
static void find_exits(const FlParts *p, const FlRegion *r, FlPartValues *exits) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (fl_map_get(p->moves, op)) continue;
    for (int i = 0; i < op->n_args; i++) add_exit(p, exits, op->args[i]);
    for (int i = 0; i < op->n_regions; i++) find_exits(p, op->regions[i], exits);
  }
  for (int i = 0; i < r->n_yields; i++) add_exit(p, exits, r->yields[i]);
}

/* A column among the values that has the rows of the space; NULL: none. */
static FlValue *column_of(const FlParts *p, const FlPartValues *values, const FlPartSpace *space) {
  for (int i = 0; i < values->n; i++)
    if (values->at[i]->type.rank && fl_part_space(p, values->at[i]) == space) return values->at[i];
  return NULL;
}

/* The columns that each part yields, and the sizes that it must yield for want of a column. Made: that is all
 * that is seen; else somebody sees columns of all rows. */
static FlPartsMade find_yields(const FlParts *p, const FlPartValues *exits, FlPartValues *yields,
                               FlPartValues *sizes) {
  FlPartsMade made = FL_PARTS_MADE;
  for (int i = 0; i < exits->n; i++) {
    FlValue *v = exits->at[i];
    FlPartSpace *space = fl_part_space(p, v);
    if (v->type.rank && space->index == 0) {
      if (!p->stay) return FL_PARTS_NONE_MADE;
      fl_map_set(p->stay, v->op, v->op);
      made = FL_PARTS_AGAIN;
    } else if (v->type.rank) {
      add_exit(p, yields, v);
    } else if (!column_of(p, exits, space)) {
      add_exit(p, sizes, v);
    }
  }
  return yields->n + sizes->n + p->folds.n > 0 ? made : FL_PARTS_NONE_MADE;
}

/* ---- rewriting ---------------------------------------------------------------------------------------- */

static FlOp *same_attributes(FlBuilder *b, FlOpcode code, const FlOp *reader, int n, FlValue *const *args,
                             int n_results, const FlType1 *types) {
  FlOp *op = fl_ir_op(b, code, n, args, n_results, types, 0);
  op->attrs = reader->attrs;
  return op;
}

/* `subst`: the reader's results to those of a part. */
static void move_inside(FlParts *p, FlRegion *part, const FlSubst *subst) {
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
  fl_ir_set_reduction(sum, FL_RED_SUM, false);
  FlRegion *r = fl_ir_region(b, sum, 0, 1, &index);
  FlBuilder in = {.module = b->module, .func = b->func, .region = r, .span = b->span};
  FlValue *one = fl_ir_load(&in, counts, 1, r->params, true);
  fl_ir_yield(r, b->module, 1, &one);
  return sum->results[0];
}

/* What stands behind the reader sees the joined columns instead of those inside, and for a size the length of
 * one that has it, or the sum of what the parts say; folds see their joined states. `out`: what a part
 * yields. */
static void replace_exits(FlParts *p, FlBuilder *b, const FlPartValues *exits, const FlPartValues *yields,
                          const FlPartValues *sizes, FlOp *loop, FlValue *const *out) {
  FlSubst subst = {0};
  FlValue **joined = FL_NEW_ARRAY(p->arena, FlValue *, loop->n_results);
  for (int i = 0; i < loop->n_results; i++)
    joined[i] = fl_ir_op(b, FL_OP_LIST_CONCAT, 1, &loop->results[i], 1, &out[i]->type, 0)->results[0];
  for (int i = 0; i < yields->n; i++) fl_subst_set(&subst, yields->at[i], joined[i]);
  for (int i = 0; i < sizes->n; i++) fl_subst_set(&subst, sizes->at[i], sum_of(b, joined[yields->n + i]));
  for (int i = 0; i < exits->n; i++) {
    FlValue *v = exits->at[i], *column = v->type.rank ? NULL : column_of(p, yields, fl_part_space(p, v));
    if (column) fl_subst_set(&subst, v, fl_ir_dim(b, fl_subst_get(&subst, column), 0));
  }
  for (int i = 0; i < p->folds.n; i++) fl_parts_merge(p->folds.at[i], joined + p->folds.at[i]->at, &subst);
  fl_parts_watch(p, b, joined);
  for (FlOp *op = p->reader->next; op; op = op->next) {
    fl_subst_args(&subst, op);
    for (int k = 0; k < op->n_regions; k++) fl_subst_region(&subst, op->regions[k]);
  }
  fl_subst_yields(&subst, p->reader->parent);
  fl_subst_reset(&subst);
}

/* Whether rows of the first part stayed rows, since its groups are many: n values of the part. */
static FlValue *ask_first(FlOp *loop, int n, FlOp *const *partials) {
  enum { FEW = 8 };
  FlRegion *part = loop->regions[0];
  FlBuilder b = fl_opt_before(loop);
  FlModule *m = b.module;
  FlType1 flag = fl_t_scalar(FL_BOOL);
  FlValue **kept = FL_NEW_ARRAY(m->arena, FlValue *, n), *zero, *parts = loop->args[0];
  for (int i = 0; i < n; i++) kept[i] = partials[i]->results[0];
  fl_ir_yield(part, m, n, kept);
  FlValue *some = fl_ir_binary(&b, FL_OP_GT, parts, fl_ir_const_i(&b, FL_I64, FEW));
  FlOp *ask = fl_ir_op(&b, FL_OP_IF, 1, &some, 1, &flag, 2);
  for (int k = 0; k < 2; k++) {
    FlRegion *r = fl_ir_region(&b, ask, k, 0, NULL);
    FlBuilder in = {.module = m, .func = b.func, .region = r, .span = b.span};
    FlValue *any = fl_ir_const_i(&in, FL_BOOL, 0), **found = FL_NEW_ARRAY(m->arena, FlValue *, n);
    if (k == 0) {
      zero = fl_ir_const_i(&in, FL_I64, 0);
      fl_ir_inline_region(&in, part, &zero, found);
      any = found[0];
      for (int i = 1; i < n; i++) any = fl_ir_binary(&in, FL_OP_OR, any, found[i]);
    }
    fl_ir_yield(r, m, 1, &any);
  }
  return ask->results[0];
}

/* Where the first part says so there is one part, the whole file, and its rows stay as they are read. */
static void make_one(FlOp *loop, FlOp *rows, FlValue *whole) {
  FlRegion *part = loop->regions[0];
  FlBuilder b = fl_opt_before(loop), first = fl_opt_before(part->first);
  loop->args[0] = fl_ir_select(&b, whole, fl_ir_const_i(&b, FL_I64, 1), loop->args[0]);
  rows->args[1] = fl_ir_select(&first, whole, fl_ir_const_i(&first, FL_I64, -1), part->params[0]);
  for (FlOp *op = part->first; op; op = op->next)
    if (op->code == FL_OP_PARTIAL) op->args[1] = whole;
}

/* Or there is none, and the columns of the whole file go to the operations as they were (parts_whole.c). */
static void make_none(FlParts *p, FlOp *loop, FlValue *whole, const FlPartValues *columns,
                      const FlSubst *subst) {
  FlRegion *part = loop->regions[0];
  FlBuilder b = fl_opt_before(loop);
  FlValue **inside = FL_NEW_ARRAY(b.module->arena, FlValue *, columns->n);
  FlValue **rows = FL_NEW_ARRAY(p->arena, FlValue *, columns->n);
  for (int i = 0; i < columns->n; i++) inside[i] = fl_subst_get(subst, columns->at[i]);
  fl_ir_yield(part, b.module, columns->n, inside);
  FlValue *all = fl_ir_const_i(&b, FL_I64, FL_TABLE_PART_ALL);
  FlValue *none = fl_ir_const_i(&b, FL_I64, FL_TABLE_PART_NONE);
  FlValue *which = fl_ir_select(&b, whole, all, none);
  fl_ir_inline_region(&b, part, &which, rows);
  loop->args[0] = fl_ir_select(&b, whole, fl_ir_const_i(&b, FL_I64, 0), loop->args[0]);
  fl_parts_stand(p, whole, columns, rows);
}

/* States of the folds at the end of a part, with the rest that it yields. */
static void fold_inside(FlParts *p, FlOp *loop, FlOp *rows, const FlSubst *subst, FlPartValues *out) {
  bool alone = out->n == 0; /* nothing else comes of the rows */
  FlRegion *part = loop->regions[0];
  FlBuilder before = fl_opt_before(loop);
  FlBuilder in = {.module = before.module, .func = before.func, .region = part, .span = loop->span};
  FlVec(FlOp *) asked = {0};
  if (!p->folds.n) return;
  FlValue *no = fl_ir_const_i(&before, FL_BOOL, 0);
  for (int i = 0; i < p->folds.n; i++) {
    FlPartFold *fold = p->folds.at[i];
    in.span = fold->group ? fold->group->span : fold->ops.at[0]->span;
    FlOp *op = fl_parts_make_partial(p, fold, &in, subst, no);
    if (fold->group && fold->space->index == 0) fl_vec_push(p->arena, &asked, op);
    fold->at = out->n;
    for (int k = 1; k < op->n_results; k++) fl_vec_push(p->arena, out, op->results[k]);
  }
  if (!asked.n) return;
  FlValue *whole = ask_first(loop, asked.n, asked.at);
  FlPartValues columns = {0};
  if (alone && fl_parts_may_be_whole(p, &columns)) make_none(p, loop, whole, &columns, subst);
  else make_one(loop, rows, whole);
}

/* The file as another reader before has opened it, of the same columns: one that is read once more (reread.c)
 * is so in the same state. */
static FlOp *opened_before(const FlOp *reader) {
  for (FlOp *op = reader->prev; op; op = op->prev)
    if (op->code == FL_OP_TABLE_PARTS && op->args[0] == reader->args[0] &&
        op->attrs.format == reader->attrs.format && fl_ir_same_columns(&op->attrs, &reader->attrs) &&
        fl_ir_same_options(&op->attrs, &reader->attrs))
      return op;
  return NULL;
}

/* How many parts there are, and what they are parts of. */
static void open_rows(FlParts *p, FlBuilder *b, FlValue **parts) {
  if (p->rows) {
    parts[0] = fl_parts_count_rows(p, b);
    return;
  }
  FlOp *open = opened_before(p->reader);
  FlType1 types[2] = {fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1)};
  if (!open) open = same_attributes(b, FL_OP_TABLE_PARTS, p->reader, 1, p->reader->args, 2, types);
  for (int k = 0; k < 2; k++) parts[k] = open->results[k];
}

/* The rows of part k, in place of those of all. */
static FlOp *take_rows(FlParts *p, FlBuilder *in, FlValue *open, FlValue *k, FlSubst *subst) {
  if (p->rows) return fl_parts_take_rows(p, in, k, subst);
  const FlOp *reader = p->reader;
  int n = reader->n_results;
  FlType1 *types = FL_NEW_ARRAY(in->module->arena, FlType1, n);
  for (int i = 0; i < n; i++) types[i] = reader->results[i]->type;
  FlOp *rows = same_attributes(in, FL_OP_TABLE_PART, reader, 2, (FlValue *[]){open, k}, n, types);
  for (int i = 0; i < n; i++) fl_subst_narrow(subst, reader->results[i], rows->results[i]);
  return rows;
}

static void rewrite(FlParts *p, const FlPartValues *exits, const FlPartValues *yields,
                    const FlPartValues *sizes) {
  FlOp *reader = p->reader;
  FlBuilder b = fl_opt_before(reader);
  FlModule *m = b.module;
  FlType1 index = fl_t_scalar(FL_I64), count = fl_t_array(FL_I64, 1);
  FlMap *moved = fl_map_make(p->arena); /* once each, and so behind what it needs */
  for (int i = 0; i < p->constants.n; i++) {
    if (fl_map_get(moved, p->constants.at[i])) continue;
    fl_map_set(moved, p->constants.at[i], p->constants.at[i]);
    fl_ir_move_before(p->constants.at[i], reader);
  }
  FlValue *open[2] = {NULL, NULL};
  open_rows(p, &b, open);
  FlOp *loop = fl_ir_op(&b, FL_OP_MAP, 1, open, 0, NULL, 1);
  FlRegion *part = fl_ir_region(&b, loop, 0, 1, &index);
  FlBuilder in = {.module = m, .func = b.func, .region = part, .span = reader->span};
  FlSubst subst = {0};
  FlOp *rows = take_rows(p, &in, open[1], part->params[0], &subst);
  for (int i = 0; i < p->loud.n; i++) p->loud.at[i].guard = fl_parts_guard(p->loud.at[i].map);
  move_inside(p, part, &subst);
  FlPartValues out = {0};
  for (int i = 0; i < yields->n; i++) fl_vec_push(p->arena, &out, yields->at[i]);
  for (int i = 0; i < sizes->n; i++) {
    FlValue *size = fl_subst_get(&subst, sizes->at[i]);
    fl_vec_push(p->arena, &out, fl_ir_op(&in, FL_OP_ARRAY, 1, &size, 1, &count, 0)->results[0]);
  }
  fl_parts_quieten(p, &in, &out);
  fold_inside(p, loop, rows, &subst, &out);
  fl_subst_reset(&subst);
  fl_ir_yield(part, m, out.n, out.at);
  FlType1 *types = FL_NEW_ARRAY(m->arena, FlType1, out.n);
  for (int i = 0; i < out.n; i++) {
    types[i] = out.at[i]->type;
    types[i].depth++;
  }
  fl_ir_add_results(&b, loop, out.n, types);
  if (!p->rows) same_attributes(&b, FL_OP_TABLE_END, reader, 1, &open[1], 0, NULL);
  replace_exits(p, &b, exits, yields, sizes, loop, out.at);
  fl_ir_unsee(part);
  fl_ir_remove(reader);
}

/* ---- readers ------------------------------------------------------------------------------------------ */

/* One file, read into columns of scalars alone: a category's levels are those of all rows. */
bool fl_opt_is_parted(const FlOp *op) {
  if (op->code != FL_OP_READ_TABLE || op->args[0]->type.rank || op->n_results < 2) return false;
  for (int i = 0; i < op->attrs.n_columns; i++) {
    const FlColumnAttr *c = &op->attrs.columns[i];
    /* Levels, and the size of arrays in rows, are found in the whole file. */
    if (c->flags & (FL_COLUMN_FILE | FL_COLUMN_ARRAYS) || c->dtype == FL_CATEGORY) return false;
  }
  return (op->attrs.format->flags & FL_FORMAT_PARTS) != 0;
}

FlPartsMade fl_parts_try(FlParts *p) {
  p->arena = fl_arena_new();
  p->spaces = fl_map_make(p->arena);
  p->moves = fl_map_make(p->arena);
  FlPartValues exits = {0}, yields = {0}, sizes = {0};
  FlPartsMade made = FL_PARTS_NONE_MADE;
  bool filters = find_inside(p);
  fl_parts_find_folds(p);
  if (filters || p->folds.n) {
    find_exits(p, p->func->body, &exits);
    fl_parts_drop_folds(p, &exits);
  }
  if (p->rows && !p->folds.n) { /* what is kept is written once as it is */
    made = FL_PARTS_NONE_MADE;
  } else if (p->loud.n && !p->folds.n) { /* it moves for the sake of folds alone */
    made = FL_PARTS_AGAIN;
  } else if (filters || p->folds.n) {
    made = find_yields(p, &exits, &yields, &sizes);
    if (p->rows && yields.n) made = FL_PARTS_NONE_MADE; /* rows that are wanted are written as they are */
    if (made == FL_PARTS_MADE) rewrite(p, &exits, &yields, &sizes);
  }
  fl_arena_free(p->arena);
  if (made == FL_PARTS_MADE) {
    fl_opt_uses_reset(p->uses);
    *p->uses = fl_opt_uses(p->func);
  }
  return made;
}

/* What may fail moves, or not. */
static FlPartsMade try_reader(FlFunc *f, FlUses *uses, FlOp *reader, bool may_fail) {
  FlParts p = {.func = f, .uses = uses, .reader = reader, .may_fail = may_fail};
  return fl_parts_try(&p);
}

void fl_opt_parts(FlModule *m) {
  FlArena *arena = fl_arena_new();
  for (FlFunc *f = m->first; f; f = f->next) {
    FlVec(FlOp *) readers = {0}; /* found before what stands behind them moves */
    for (FlOp *op = f->body->first; op; op = op->next)
      if (fl_opt_is_parted(op)) fl_vec_push(arena, &readers, op);
    if (!readers.n) continue;
    FlUses uses = fl_opt_uses(f);
    for (int i = 0; i < readers.n; i++)
      if (try_reader(f, &uses, readers.at[i], true) == FL_PARTS_AGAIN)
        try_reader(f, &uses, readers.at[i], false);
    fl_opt_uses_reset(&uses);
  }
  fl_arena_free(arena);
}
