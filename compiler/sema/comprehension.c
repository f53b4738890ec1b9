/* comprehension.c: [for ...: e]. Independent generators are the axes of one MAP or COLLECT; a generator that
 * depends on an earlier one starts an inner comprehension whose results are joined.
 *
 * What the body gives decides the shape (LANGUAGE 5): scalars an array, tuples a table, arrays of one size
 * known outside an array of higher rank, else a list. */
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/for.h"
#include "sema/place.h"
#include "sema/value.h"

static bool all_scalar(const FlType *t) {
  if (t->kind == FL_TY_SCALAR) return true;
  if (t->kind != FL_TY_TUPLE) return false;
  for (int i = 0; i < t->n_fields; i++)
    if (!all_scalar(t->fields[i].type)) return false;
  return true;
}

/* ---- results that are no scalars ---- */

/* One result part of the elements: a list of arrays, stacked when their sizes are known outside. */
static bool stackable(FlSema *s, FlValue *part, const FlRegion *r, FlValue **dims) {
  if (part->type.depth || part->type.rank == 0) return false;
  for (int k = 0; k < part->type.rank; k++) {
    dims[k] = fl_sema_size(s, fl_ir_dim(&s->b, part, k));
    int64_t c;
    if (fl_ir_made_inside(dims[k], r) && !fl_ir_const_value_i(dims[k], &c)) return false;
  }
  return true;
}

/* How many operations of a region, also deep inside, have v as an argument. */
static int count_reads(const FlRegion *r, const FlValue *v) {
  int n = 0;
  for (const FlOp *op = r->first; op; op = op->next) {
    bool reads = false;
    for (int i = 0; i < op->n_args; i++) reads |= op->args[i] == v;
    n += reads;
    for (int i = 0; i < op->n_regions; i++) n += count_reads(op->regions[i], v);
  }
  return n;
}

/* Another MAP that may be made anew for each element: of a few elements, or one that fusion surely computes
 * where it is read, since it cannot fail and is read in one place. */
static bool is_cheap(const FlRegion *r, const FlOp *map) {
  enum { FEW = 16 };
  int64_t total = 1, size;
  for (int i = 0; i < map->n_args && total <= FEW; i++)
    total = fl_ir_const_value_i(map->args[i], &size) && size <= FEW ? total * size : FEW + 1;
  if (total <= FEW) return true;
  if (fl_ir_may_fault(map)) return false;
  int reads = 0;
  for (int i = 0; i < map->n_results; i++) reads += count_reads(r, map->results[i]);
  return reads <= 1;
}

/* The region is a few scalar ops around the MAP that makes `result`, which nothing else in it reads: it can
 * be a MAP of higher rank. */
static bool is_light(const FlRegion *r, const FlValue *result) {
  const FlOp *made = result->op;
  if (!made || made->code != FL_OP_MAP || made->parent != r) return false;
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->n_regions && op->code != FL_OP_MAP && op->code != FL_OP_IF) return false;
    if (op->code == FL_OP_MAP && !fl_ir_is_kernel(op->regions[0])) return false;
    if (op->code == FL_OP_MAP && op != made && !is_cheap(r, op)) return false;
    if (fl_op_info[op->code].op_class == FL_CLASS_RUNTIME || op->code == FL_OP_STAGE ||
        op->code == FL_OP_CALL)
      return false;
  }
  for (int i = 0; i < made->n_results; i++)
    if (count_reads(r, made->results[i])) return false;
  return true;
}

/* The elements of the inner MAP are computed at their own index, not read from a whole row that is made for
 * each. */
static FlValue *flat_map(FlSema *s, const FlForHead *h, const FlRegion *r, FlValue *result, FlValue **dims) {
  FlValue *sizes[FL_MAX_RANK] = {0};
  FlType1 i64s[FL_MAX_RANK];
  int rank = result->type.rank;
  for (int i = 0; i < h->n + rank; i++) {
    int64_t c;
    FlValue *size = i < h->n ? h->at[i].count : dims[i - h->n];
    sizes[i] = i >= h->n && fl_ir_const_value_i(size, &c) ? fl_sema_i64(s, c) : size;
    i64s[i] = fl_t_scalar(FL_I64);
  }
  FlType1 out = fl_t_array((FlDtype)result->type.dtype, h->n + rank);
  FlOp *map = fl_ir_op(&s->b, FL_OP_MAP, h->n + rank, sizes, 1, &out, 1);
  FlRegion *inner = fl_ir_region(&s->b, map, 0, h->n + rank, i64s);
  FlSavedPlace saved = fl_sema_enter(s, inner);
  FlValue **yields = FL_NEW_ARRAY(s->arena, FlValue *, r->n_yields + 1);
  fl_ir_inline_region(&s->b, r, inner->params, yields);
  int which = 0;
  while (r->yields[which] != result) which++;
  FlOp *row = yields[which]->op;
  FlValue **elements = FL_NEW_ARRAY(s->arena, FlValue *, row->n_results);
  fl_ir_inline_region(&s->b, row->regions[0], inner->params + h->n, elements);
  FlValue *v = elements[yields[which]->index];
  fl_ir_remove(row);
  fl_ir_yield(inner, s->module, 1, &v);
  fl_sema_leave(s, saved);
  return map->results[0];
}

/* Are all fields of a tuple scalars and arrays, as those of a table's rows? */
static bool has_flat_fields(const FlType *t) {
  for (int i = 0; t->kind == FL_TY_TUPLE && i < t->n_fields; i++)
    if (t->fields[i].type->kind != FL_TY_SCALAR && t->fields[i].type->kind != FL_TY_ARRAY) return false;
  return true;
}

/* One element a task: MAP over the (single) index, each part an array of scalars or a list. */
static FlVal gather_parts(FlSema *s, const FlForHead *h, FlOp *map, FlRegion *r, FlVal v) {
  const FlType *t = v.type;
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, t->n_parts + 1);
  FlValue *(*dims)[FL_MAX_RANK] = fl_arena_alloc(s->arena, sizeof *dims * (size_t)(t->n_parts + 1));
  bool *stack = FL_NEW_ARRAY(s->arena, bool, t->n_parts + 1);
  bool all = true, shared = fl_levels_outside(s, &v, r);
  /* Stackability is asked inside the region, where the sizes are. */
  FlSavedPlace saved = fl_sema_enter(s, r);
  for (int p = 0; p < t->n_parts; p++) {
    FlType1 pt = v.parts[p]->type;
    bool scalar = fl_t_is_scalar(pt);
    stack[p] = !scalar && !t->levels[p] && stackable(s, v.parts[p], r, dims[p]);
    all = all && (scalar || stack[p] || t->levels[p]);
    types[p] =
        scalar ? fl_t_array((FlDtype)pt.dtype, 1) : (FlType1){pt.dtype, pt.rank, (uint8_t)(pt.depth + 1), 0};
  }
  fl_sema_leave(s, saved);
  bool as_list = t->kind == FL_TY_TABLE || t->kind == FL_TY_LIST || !all || !has_flat_fields(t);
  if (!as_list && shared && t->kind == FL_TY_ARRAY && h->n + t->rank <= FL_MAX_RANK &&
      is_light(r, v.parts[0])) {
    FlValue *parts[2];
    for (int p = 0; p < fl_type_element_parts(t); p++) parts[p] = flat_map(s, h, r, v.parts[p], dims[p]);
    fl_ir_remove(map);
    return fl_val_with(s, fl_type_array(s->types, t->dtype, t->nullable, h->n + t->rank), parts, v);
  }
  fl_ir_add_results(&s->b, map, t->n_parts, types);
  if (as_list) return fl_val_make(s, fl_type_list(s->types, t), map->results);
  FlValue **parts = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts + 2);
  int at = t->kind == FL_TY_TUPLE ? 1 : 0;
  for (int p = 0; p < t->n_parts; p++) {
    parts[at + p] = map->results[p];
    if (t->levels[p]) { /* each element's own must be the same ones */
      FlType1 texts = fl_t_array(FL_TEXT, 1);
      parts[at + p] = shared
                          ? v.parts[p]
                          : fl_ir_op(&s->b, FL_OP_LIST_LEVELS, 1, &map->results[p], 1, &texts, 0)->results[0];
    }
    if (!stack[p]) continue;
    FlType1 out = fl_t_array((FlDtype)types[p].dtype, types[p].rank + 1);
    FlOp *stacked = fl_ir_op(&s->b, FL_OP_LIST_STACK, 1, &map->results[p], 1, &out, 0);
    stacked->attrs.i = 1;
    parts[at + p] = stacked->results[0];
  }
  if (t->kind == FL_TY_TUPLE) {
    parts[0] = h->at[0].count;
    return fl_val_make(s, fl_type_table(s->types, t), parts);
  }
  return fl_val_make(s, fl_type_array(s->types, t->dtype, t->nullable, t->rank + 1), parts);
}

/* ---- forms ---- */

/* The generators' indices from one linear index, row-major. */
static void split_index(FlSema *s, const FlForHead *h, FlValue *linear, FlValue **index) {
  for (int i = h->n - 1; i > 0; i--) {
    index[i] = fl_sema_op2(s, FL_OP_MOD, linear, h->at[i].count);
    linear = fl_sema_op2(s, FL_OP_FLOORDIV, linear, h->at[i].count);
  }
  index[0] = linear;
}

/* One linear axis: for bodies that give arrays, tables, lists. */
static FlVal map_linear(FlSema *s, const FlForHead *h, const FlExpr *body) {
  FlForHead line = *h;
  line.n = 1;
  line.at[0].count = fl_for_count(s, h);
  FlRegion *r;
  FlOp *map = fl_for_op(s, FL_OP_MAP, &line, &r);
  FlInside in = fl_for_enter(s, r);
  FlValue *index[FL_MAX_GENERATORS];
  split_index(s, h, r->params[0], index);
  fl_for_bind(s, h, index);
  FlVal v = fl_for_body(s, body);
  if (!fl_val_bad(v)) fl_ir_yield(r, s->module, v.type->n_parts, v.parts);
  fl_for_leave(s, in);
  if (fl_val_bad(v)) return v;
  return gather_parts(s, &line, map, r, v);
}

/* Columns over several axes become one. */
static void reshape_line(FlSema *s, FlValue *const *columns, int n, FlValue *count, FlValue **out) {
  for (int p = 0; p < n; p++) {
    FlType1 type = fl_t_array((FlDtype)columns[p]->type.dtype, 1);
    out[p] = fl_ir_op(&s->b, FL_OP_RESHAPE, 2, (FlValue *[]){columns[p], count}, 1, &type, 0)->results[0];
  }
}

/* The axes of a MAP that was built become one linear axis. */
static void make_linear(FlSema *s, const FlForHead *h, FlOp *map, FlRegion *r, FlVal *v, FlForHead *line) {
  FlValue *index[FL_MAX_GENERATORS], *axes[FL_MAX_GENERATORS];
  FlBuilder outer = s->b;
  s->b.before = map;
  *line = *h;
  line->n = 1;
  line->at[0].count = fl_for_count(s, h);
  s->b = outer;
  map->n_args = 1;
  map->args[0] = line->at[0].count;
  memcpy(axes, r->params, sizeof *axes * (size_t)h->n);
  r->n_params = 0;
  FlValue *linear = fl_ir_param(r, fl_t_scalar(FL_I64));
  FlSavedPlace saved = fl_sema_enter(s, r);
  s->b.before = r->first;
  split_index(s, h, linear, index);
  fl_sema_leave(s, saved);
  for (int i = 0; i < h->n; i++) fl_ir_replace_in(r, axes[i], index[i]);
  v->parts = r->yields;
}

static FlVal unfiltered(FlSema *s, const FlForHead *h, const FlExpr *body) {
  FlRegion *r;
  FlOp *map = fl_for_op(s, FL_OP_MAP, h, &r);
  FlInside in = fl_for_enter(s, r);
  fl_for_bind(s, h, r->params);
  FlVal v = fl_for_body(s, body);
  if (!fl_val_bad(v)) fl_ir_yield(r, s->module, v.type->n_parts, v.parts);
  fl_for_leave(s, in);
  if (fl_val_bad(v)) return v;
  const FlType *t = v.type;
  if (all_scalar(t) && fl_levels_outside(s, &v, r)) {
    FlValue **yields = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts + 1);
    FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, t->n_parts + 1);
    int n = fl_val_cut(v, yields);
    fl_ir_yield(r, s->module, n, yields);
    for (int p = 0; p < n; p++) types[p] = fl_t_array((FlDtype)yields[p]->type.dtype, h->n);
    fl_ir_add_results(&s->b, map, n, types);
    if (t->kind == FL_TY_SCALAR)
      return fl_val_with(s, fl_type_array(s->types, t->dtype, t->nullable, h->n), map->results, v);
    FlValue *count = fl_for_count(s, h);
    if (h->n > 1) reshape_line(s, map->results, n, count, yields);
    return fl_val_join(s, fl_type_table(s->types, t), count, h->n > 1 ? yields : map->results, v);
  }
  if (h->n == 1) return gather_parts(s, h, map, r, v);
  if (t->kind == FL_TY_ARRAY && h->n + t->rank <= FL_MAX_RANK) {
    FlValue *dims[2][FL_MAX_RANK], *parts[2];
    FlSavedPlace saved = fl_sema_enter(s, r);
    bool ok = is_light(r, v.parts[0]) && fl_levels_outside(s, &v, r);
    for (int p = 0; p < fl_type_element_parts(t) && ok; p++) ok = stackable(s, v.parts[p], r, dims[p]);
    fl_sema_leave(s, saved);
    if (ok) {
      for (int p = 0; p < fl_type_element_parts(t); p++) parts[p] = flat_map(s, h, r, v.parts[p], dims[p]);
      fl_ir_remove(map);
      return fl_val_with(s, fl_type_array(s->types, t->dtype, t->nullable, h->n + t->rank), parts, v);
    }
  }
  FlForHead one;
  make_linear(s, h, map, r, &v, &one);
  FlVal line = gather_parts(s, &one, map, r, v);
  if (fl_val_bad(line) || line.type->kind != FL_TY_ARRAY) return line;
  /* Stacked: give the axes back. */
  FlValue *args[FL_MAX_RANK + 1];
  int rank = line.type->rank + h->n - 1;
  const FlType *type = fl_type_array(s->types, line.type->dtype, line.type->nullable, rank);
  if (s->types->refused) return fl_val_refused(s, body->span);
  for (int p = 0; p < fl_type_element_parts(line.type); p++) {
    args[0] = line.parts[p];
    for (int i = 0; i < h->n; i++) args[1 + i] = h->at[i].count;
    for (int k = 1; k < line.type->rank; k++) args[h->n + k] = fl_ir_dim(&s->b, line.parts[p], k);
    FlType1 out = fl_t_array((FlDtype)line.parts[p]->type.dtype, rank);
    line.parts[p] = fl_ir_op(&s->b, FL_OP_RESHAPE, 1 + rank, args, 1, &out, 0)->results[0];
  }
  return fl_val_with(s, type, line.parts, line);
}

/* The results of a COLLECT: how many are kept, then the parts. */
static void collect_results(FlSema *s, FlOp *op, FlRegion *r, FlValue *keep, int n, FlValue *const *yields) {
  FlValue **all = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, n + 1);
  all[0] = keep;
  types[0] = fl_t_scalar(FL_I64);
  for (int p = 0; p < n; p++) {
    all[p + 1] = yields[p];
    types[p + 1] = fl_t_array((FlDtype)yields[p]->type.dtype, 1);
  }
  fl_ir_yield(r, s->module, n + 1, all);
  fl_ir_add_results(&s->b, op, n + 1, types);
}

/* COLLECT of the scalars that region `yes` of `branch` makes where `keep` holds. */
static FlVal collect_scalars(FlSema *s, FlOp *op, FlRegion *r, FlValue *keep, FlOp *branch, FlVal v) {
  FlRegion *yes = branch->regions[0], *no = branch->regions[1];
  FlValue **elements = FL_NEW_ARRAY(s->arena, FlValue *, v.type->n_parts + 1);
  int n = fl_val_cut(v, elements);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, n + 1);
  FlValue **zeros = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  fl_ir_yield(yes, s->module, n, elements);
  FlSavedPlace saved = fl_sema_enter(s, no);
  for (int p = 0; p < n; p++) {
    types[p] = elements[p]->type;
    zeros[p] = fl_val_zero(s, (FlDtype)types[p].dtype);
  }
  fl_ir_yield(no, s->module, n, zeros);
  fl_sema_leave(s, saved);
  saved = fl_sema_enter(s, r);
  fl_ir_add_results(&s->b, branch, n, types);
  fl_sema_leave(s, saved);
  collect_results(s, op, r, keep, n, branch->results);
  const FlType *type = v.type->kind == FL_TY_TUPLE
                           ? fl_type_table(s->types, v.type)
                           : fl_type_array(s->types, v.type->dtype, v.type->nullable, 1);
  return fl_val_join(s, type, op->results[0], op->results + 1, v);
}

/* COLLECT of the linear positions where `keep` holds, and one element a task: MAP over these of what region
 * `yes` of `branch` makes. */
static FlVal collect_positions(FlSema *s, const FlForHead *h, FlOp *op, FlRegion *r, FlValue *keep,
                               FlOp *branch, FlVal v) {
  FlRegion *yes = branch->regions[0];
  fl_ir_yield(yes, s->module, v.type->n_parts, v.parts);
  fl_ir_remove(branch);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlValue *linear = r->params[0];
  for (int i = 1; i < h->n; i++)
    linear =
        fl_sema_op2(s, FL_OP_WRAP_ADD, fl_sema_op2(s, FL_OP_WRAP_MUL, linear, h->at[i].count), r->params[i]);
  fl_sema_leave(s, saved);
  collect_results(s, op, r, keep, 1, &linear);
  FlForHead line = *h;
  line.n = 1;
  line.at[0].count = op->results[0];
  FlRegion *each;
  FlOp *map = fl_for_op(s, FL_OP_MAP, &line, &each);
  saved = fl_sema_enter(s, each);
  FlValue *index[FL_MAX_GENERATORS], *at = each->params[0];
  split_index(s, h, fl_ir_load(&s->b, op->results[1], 1, &at, true), index);
  fl_ir_inline_read(&s->b, r, index, yes);
  fl_ir_move_into(yes, NULL, NULL, each);
  fl_ir_yield(each, s->module, yes->n_yields, yes->yields);
  v.parts = each->yields;
  fl_sema_leave(s, saved);
  return gather_parts(s, &line, map, each, v);
}

/* What body gives where the filters hold. */
static FlVal filtered(FlSema *s, const FlForHead *h, const FlExpr *body) {
  FlRegion *r;
  FlOp *op = fl_for_op(s, FL_OP_COLLECT, h, &r), *branch = NULL;
  FlInside in = fl_for_enter(s, r);
  fl_for_bind(s, h, r->params);
  FlValue *keep = fl_for_filters(s, h);
  FlVal v = fl_val_error(s);
  if (keep) {
    branch = fl_ir_op(&s->b, FL_OP_IF, 1, &keep, 0, NULL, 2);
    FlRegion *yes = fl_ir_region(&s->b, branch, 0, 0, NULL);
    fl_ir_region(&s->b, branch, 1, 0, NULL);
    FlSavedPlace saved = fl_sema_enter(s, yes);
    v = fl_for_body(s, body);
    fl_sema_leave(s, saved);
  }
  fl_for_leave(s, in);
  if (fl_val_bad(v)) {
    fl_ir_remove(op);
    return v;
  }
  if (all_scalar(v.type) && fl_levels_outside(s, &v, r)) return collect_scalars(s, op, r, keep, branch, v);
  return collect_positions(s, h, op, r, keep, branch, v);
}

/* Lists of arrays or tables joined end to end. */
static FlVal join_list(FlSema *s, FlVal list, FlSpan span) {
  const FlType *t = list.type->kind == FL_TY_LIST ? list.type->elem : NULL;
  if (!t || (t->kind != FL_TY_ARRAY && t->kind != FL_TY_TABLE))
    return list.type->kind == FL_TY_ARRAY
               ? list
               : fl_sema_error(
                     s, FL_E0322, span,
                     "a generator that depends on another takes scalars or tuples of them here, not %s",
                     fl_val_text(s, list));
  return fl_sema_concat_list(s, list);
}

/* Arrays of one size, each with the rows of one position: the rows of all, in order. */
static FlVal joined_rows(FlSema *s, FlVal all) {
  FlType1 out = fl_t_array(FL_I64, all.type->rank - 1);
  FlValue *args[FL_MAX_RANK + 1], *parts[2];
  args[1] = fl_sema_op2(s, FL_OP_MUL, fl_sema_dim(s, all, 0), fl_sema_dim(s, all, 1));
  for (int k = 2; k < all.type->rank; k++) args[k] = fl_sema_dim(s, all, k);
  for (int p = 0; p < fl_type_element_parts(all.type); p++) {
    args[0] = all.parts[p];
    out.dtype = all.parts[p]->type.dtype;
    parts[p] = fl_ir_op(&s->b, FL_OP_RESHAPE, all.type->rank, args, 1, &out, 0)->results[0];
  }
  return fl_val_with(s, fl_type_array(s->types, all.type->dtype, all.type->nullable, out.rank), parts, all);
}

static FlVal elements(FlSema *s, const FlForHead *h, const FlExpr *body, bool rest) {
  if (!h->tail.n && h->filters.n) return filtered(s, h, body);
  if (!h->tail.n && rest && h->n > 1) return map_linear(s, h, body);
  if (!h->tail.n) return unfiltered(s, h, body);
  /* The rest is a comprehension of its own, one a position of the head. */
  FlExpr inner = {.kind = FL_EXPR_COMPREHENSION, .span = body->span};
  inner.comprehension.clauses = h->tail;
  inner.comprehension.body = (FlExpr *)(uintptr_t)body;
  inner.comprehension.rest = true;
  FlExpr *kept = fl_arena_copy(s->arena, &inner, sizeof inner);
  FlVal list = h->filters.n ? filtered(s, h, kept) : map_linear(s, h, kept);
  if (fl_val_bad(list)) return list;
  if (list.type->kind == FL_TY_ARRAY && list.type->rank >= 2) return joined_rows(s, list);
  return join_list(s, list, body->span);
}

FlVal fl_for_elements(FlSema *s, const FlForHead *h, const FlExpr *body) {
  return elements(s, h, body, false);
}

FlVal fl_sema_comprehension(FlSema *s, const FlExpr *e) {
  const FlComprehension *c = &e->comprehension;
  FlForHead h;
  return fl_for_read(s, &c->clauses, &h) ? elements(s, &h, c->body, c->rest) : fl_val_error(s);
}
