/* comprehension.c: [for ...: e] and reductions over `for`. Independent generators are the axes of one MAP,
 * COLLECT or REDUCE; a generator that depends on an earlier one starts an inner comprehension whose results
 * are joined.
 *
 * What the body gives decides the shape (LANGUAGE 5): scalars an array, tuples a table, arrays of one size
 * known outside an array of higher rank, else a list. */
#include "sema/sema_internal.h"

enum { MAX_GENERATORS = FL_MAX_RANK };

typedef struct Generator {
  const FlClause *clause;
  bool is_range;
  FlRangeVal range;
  FlVal source; /* when it is no range */
  FlValue *count;
} Generator;

/* Clauses up to the first generator that depends on the ones before it. */
typedef struct Head {
  int n;
  Generator at[MAX_GENERATORS];
  FlVec(const FlExpr *) filters;
  FlClauseList tail; /* what follows; n == 0: nothing */
} Head;

/* ---- dependence ---- */

typedef struct NameSet {
  FlVec(const char *) names;
  bool hit;
  FlArena *arena;
} NameSet;

static void add_names(NameSet *set, const FlPat *p) {
  if (p->kind == FL_PAT_NAME) fl_vec_push(set->arena, &set->names, p->name.text);
  if (p->kind == FL_PAT_TUPLE)
    for (int i = 0; i < p->tuple.n; i++) add_names(set, p->tuple.at[i]);
}

static bool uses_name(void *env, const FlExpr *e) {
  NameSet *set = env;
  if (e->kind == FL_EXPR_NAME)
    for (int i = 0; i < set->names.n; i++) set->hit = set->hit || set->names.at[i] == e->name.text;
  return !set->hit;
}

static bool depends(FlSema *s, NameSet *set, const FlExpr *e) {
  (void)s;
  set->hit = false;
  FlWalker w = {set, uses_name, NULL};
  fl_syntax_walk_expr(&w, e);
  return set->hit;
}

/* Elaborates the sources of the head's generators. false: reported. */
static bool read_head(FlSema *s, const FlClauseList *clauses, Head *h) {
  NameSet set = {.arena = s->arena};
  *h = (Head){0};
  bool ok = true;
  for (int i = 0; i < clauses->n; i++) {
    const FlClause *c = &clauses->at[i];
    if (!c->pattern) {
      fl_vec_push(s->arena, &h->filters, c->source);
      continue;
    }
    if (h->n == MAX_GENERATORS || (h->n && depends(s, &set, c->source))) {
      h->tail = (FlClauseList){.at = clauses->at + i, .n = clauses->n - i, .cap = clauses->n - i};
      return ok;
    }
    add_names(&set, c->pattern);
    Generator *g = &h->at[h->n++];
    g->clause = c;
    g->is_range = c->source->kind == FL_EXPR_RANGE;
    s->b.span = c->source->span;
    if (g->is_range) {
      if (!fl_sema_range(s, c->source, &g->range)) ok = false;
      else g->count = g->range.count;
      continue;
    }
    g->source = fl_sema_expr(s, c->source, NULL);
    FlTyKind k = g->source.type->kind;
    if (k == FL_TY_ERROR) {
      ok = false;
    } else if (k != FL_TY_ARRAY && k != FL_TY_TABLE && k != FL_TY_LIST) {
      fl_sema_error(s, FL_E0314, c->source->span,
                    "`for` goes over a range, an array, a table or a list, and this is %s",
                    fl_val_text(s, g->source));
      ok = false;
    } else {
      g->count = fl_sema_dim(s, g->source, 0);
    }
  }
  return ok;
}

static void bind_generators(FlSema *s, const Head *h, FlValue *const *index) {
  for (int i = 0; i < h->n; i++) {
    const Generator *g = &h->at[i];
    FlVal v = g->is_range ? fl_val_scalar(s, FL_I64, fl_sema_range_at(s, &g->range, index[i]))
                          : fl_sema_at(s, g->source, index[i], true);
    fl_sema_bind_pattern(s, g->clause->pattern, v, FL_BIND_VALUE, NULL);
  }
}

/* All filters hold; each is evaluated only where those before it do. NULL: reported. */
static FlValue *filters_hold(FlSema *s, const Head *h, int from) {
  FlVal v = fl_sema_expr(s, h->filters.at[from], NULL);
  if (!fl_val_bad(v) && v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_BOOL)
    v = fl_val_plain(s, v); /* null: not kept */
  FlValue *first = fl_sema_condition(s, v, h->filters.at[from]->span, "a filter");
  if (!first || from + 1 == h->filters.n) return first;
  FlType1 type = fl_t_scalar(FL_BOOL);
  FlOp *op = fl_ir_op(&s->b, FL_OP_IF, 1, &first, 1, &type, 2);
  FlRegion *yes = fl_ir_region(&s->b, op, 0, 0, NULL), *no = fl_ir_region(&s->b, op, 1, 0, NULL);
  FlSavedPlace saved = fl_sema_enter(s, yes);
  FlValue *rest = filters_hold(s, h, from + 1);
  if (rest) fl_ir_yield(yes, s->module, 1, &rest);
  fl_sema_leave(s, saved);
  saved = fl_sema_enter(s, no);
  FlValue *f = fl_ir_const_i(&s->b, FL_BOOL, 0);
  fl_ir_yield(no, s->module, 1, &f);
  fl_sema_leave(s, saved);
  return rest ? op->results[0] : NULL;
}

/* ---- elaborating under the generators ---- */

typedef struct Inside {
  FlRegion *region;
  FlSavedPlace saved;
  const char *pure;
  FlBinding *loop_break, *loop_skip; /* of the loop around: a body cannot jump out of a comprehension */
} Inside;

static Inside go_inside(FlSema *s, FlRegion *r) {
  Inside in = {r, fl_sema_enter(s, r), s->pure, s->loop_break, s->loop_skip};
  s->loop_break = s->loop_skip = NULL;
  s->scope = fl_scope_push(s, s->scope, FL_SCOPE_PLAIN);
  if (!s->pure) s->pure = "a comprehension";
  s->in_kernel++;
  return in;
}

static void come_outside(FlSema *s, Inside in) {
  fl_sema_leave(s, in.saved);
  s->pure = in.pure;
  s->loop_break = in.loop_break;
  s->loop_skip = in.loop_skip;
  s->in_kernel--;
}

static FlVal body_value(FlSema *s, const FlExpr *body) {
  FlVal v = fl_sema_expr(s, body, NULL);
  if (v.type->kind == FL_TY_NONE)
    return fl_sema_error(s, FL_E0309, body->span, "the body of a comprehension must give a value");
  if (v.type->kind == FL_TY_NEVER || v.type->kind == FL_TY_FUNC || v.type->kind == FL_TY_NULL)
    return fl_sema_error(s, FL_E0309, body->span, "this gives no value that an array could hold");
  return v;
}

static bool all_scalar(const FlType *t) {
  if (t->kind == FL_TY_SCALAR) return true;
  if (t->kind != FL_TY_TUPLE) return false;
  for (int i = 0; i < t->n_fields; i++)
    if (!all_scalar(t->fields[i].type)) return false;
  return true;
}

static FlOp *loop_op(FlSema *s, FlOpcode code, const Head *h, FlRegion **region) {
  FlValue *sizes[MAX_GENERATORS];
  FlType1 i64s[MAX_GENERATORS];
  for (int i = 0; i < h->n; i++) {
    sizes[i] = h->at[i].count;
    i64s[i] = fl_t_scalar(FL_I64);
  }
  FlOp *op = fl_ir_op(&s->b, code, h->n, sizes, 0, NULL, 1);
  *region = fl_ir_region(&s->b, op, 0, h->n, i64s);
  return op;
}

static FlValue *total_count(FlSema *s, const Head *h) {
  FlValue *n = h->at[0].count;
  for (int i = 1; i < h->n; i++) n = fl_sema_op2(s, FL_OP_MUL, n, h->at[i].count);
  fl_sema_mark_size(s, n);
  return n;
}

/* ---- results that are no scalars ---- */

/* One result part of the elements: a list of arrays, stacked when their sizes are known outside. */
static bool stackable(FlSema *s, FlValue *part, const FlRegion *r, FlValue **dims) {
  if (part->type.depth || part->type.rank == 0) return false;
  for (int k = 0; k < part->type.rank; k++) {
    dims[k] = fl_sema_size(s, fl_ir_dim(&s->b, part, k));
    int64_t c;
    if (fl_value_inside(dims[k], r) && !fl_ir_const_value_i(dims[k], &c)) return false;
  }
  return true;
}

/* The region is a few scalar ops around one MAP that makes the array: it can be a MAP of higher rank. */
static bool is_light(const FlRegion *r, const FlValue *result) {
  if (!result->op || result->op->code != FL_OP_MAP || result->op->parent != r ||
      !fl_ir_is_kernel(result->op->regions[0]))
    return false;
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->n_regions && op->code != FL_OP_MAP && op->code != FL_OP_IF) return false;
    if (op->code == FL_OP_MAP && !fl_ir_is_kernel(op->regions[0])) return false;
    if (fl_op_info[op->code].op_class == FL_CLASS_RUNTIME || op->code == FL_OP_STAGE ||
        op->code == FL_OP_CALL)
      return false;
  }
  return true;
}

static FlValue *flat_map(FlSema *s, const Head *h, const FlRegion *r, FlValue *result, FlValue **dims) {
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
  FlValue *v = fl_ir_load(&s->b, yields[which], rank, inner->params + h->n, true);
  fl_ir_yield(inner, s->module, 1, &v);
  fl_sema_leave(s, saved);
  return map->results[0];
}

/* One element a task: MAP over the (single) index, each part an array of scalars or a list. */
static FlVal gather_parts(FlSema *s, const Head *h, FlOp *map, FlRegion *r, FlVal v) {
  const FlType *t = v.type;
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, t->n_parts + 1);
  FlValue *(*dims)[FL_MAX_RANK] = fl_arena_alloc(s->arena, sizeof *dims * (size_t)(t->n_parts + 1));
  bool *stack = FL_NEW_ARRAY(s->arena, bool, t->n_parts + 1);
  bool *levels = FL_NEW_ARRAY(s->arena, bool, t->n_parts + 1);
  bool all = true, shared = fl_levels_outside(s, &v, r);
  fl_type_levels(t, levels);
  /* Stackability is asked inside the region, where the sizes are. */
  FlSavedPlace saved = fl_sema_enter(s, r);
  for (int p = 0; p < t->n_parts; p++) {
    FlType1 pt = v.parts[p]->type;
    bool scalar = fl_t_is_scalar(pt);
    stack[p] = !scalar && !levels[p] && stackable(s, v.parts[p], r, dims[p]);
    all = all && (scalar || stack[p] || levels[p]);
    types[p] =
        scalar ? fl_t_array((FlDtype)pt.dtype, 1) : (FlType1){pt.dtype, pt.rank, (uint8_t)(pt.depth + 1), 0};
  }
  fl_sema_leave(s, saved);
  bool as_list = t->kind == FL_TY_TABLE || t->kind == FL_TY_LIST || !all;
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
    if (levels[p]) { /* each element's own must be the same ones */
      FlType1 texts = fl_t_array(FL_TEXT, 1);
      parts[at + p] = shared
                          ? v.parts[p]
                          : fl_ir_op(&s->b, FL_OP_LIST_LEVELS, 1, &map->results[p], 1, &texts, 0)->results[0];
    }
    if (!stack[p]) continue;
    FlType1 out = fl_t_array((FlDtype)types[p].dtype, types[p].rank + 1);
    parts[at + p] = fl_ir_op(&s->b, FL_OP_LIST_STACK, 1, &map->results[p], 1, &out, 0)->results[0];
  }
  if (t->kind == FL_TY_TUPLE) {
    parts[0] = h->at[0].count;
    return fl_val_make(s, fl_type_table(s->types, t), parts);
  }
  return fl_val_make(s, fl_type_array(s->types, t->dtype, t->nullable, t->rank + 1), parts);
}

/* ---- forms ---- */

/* The generators' indices from one linear index, row-major. */
static void split_index(FlSema *s, const Head *h, FlValue *linear, FlValue **index) {
  for (int i = h->n - 1; i > 0; i--) {
    index[i] = fl_sema_op2(s, FL_OP_MOD, linear, h->at[i].count);
    linear = fl_sema_op2(s, FL_OP_FLOORDIV, linear, h->at[i].count);
  }
  index[0] = linear;
}

/* One linear axis: for bodies that give arrays, tables, lists. `positions`: linear indices to visit, or NULL:
 * all. */
static FlVal map_linear(FlSema *s, const Head *h, const FlExpr *body, FlValue *count, FlValue *positions) {
  Head line = *h;
  line.n = 1;
  line.at[0].count = count;
  FlRegion *r;
  FlOp *map = loop_op(s, FL_OP_MAP, &line, &r);
  Inside in = go_inside(s, r);
  FlValue *index[MAX_GENERATORS], *linear = r->params[0];
  if (positions) linear = fl_ir_load(&s->b, positions, 1, &linear, true);
  split_index(s, h, linear, index);
  bind_generators(s, h, index);
  FlVal v = body_value(s, body);
  if (!fl_val_bad(v)) fl_ir_yield(r, s->module, v.type->n_parts, v.parts);
  come_outside(s, in);
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

static FlVal unfiltered(FlSema *s, const Head *h, const FlExpr *body) {
  FlRegion *r;
  FlOp *map = loop_op(s, FL_OP_MAP, h, &r);
  Inside in = go_inside(s, r);
  bind_generators(s, h, r->params);
  FlVal v = body_value(s, body);
  if (!fl_val_bad(v)) fl_ir_yield(r, s->module, v.type->n_parts, v.parts);
  come_outside(s, in);
  if (fl_val_bad(v)) return v;
  const FlType *t = v.type;
  if (all_scalar(t) && fl_levels_outside(s, &v, r)) {
    FlValue **yields = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts + 1);
    FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, t->n_parts + 1);
    int n = fl_val_cut(s, v, yields);
    fl_ir_yield(r, s->module, n, yields);
    for (int p = 0; p < n; p++) types[p] = fl_t_array((FlDtype)yields[p]->type.dtype, h->n);
    fl_ir_add_results(&s->b, map, n, types);
    if (t->kind == FL_TY_SCALAR)
      return fl_val_with(s, fl_type_array(s->types, t->dtype, t->nullable, h->n), map->results, v);
    FlValue *count = total_count(s, h);
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
  fl_ir_remove(map);
  FlVal line = map_linear(s, h, body, total_count(s, h), NULL);
  if (fl_val_bad(line) || line.type->kind != FL_TY_ARRAY) return line;
  /* Stacked: give the axes back. */
  FlValue *args[FL_MAX_RANK + 1];
  int rank = line.type->rank + h->n - 1;
  for (int p = 0; p < fl_type_element_parts(line.type); p++) {
    args[0] = line.parts[p];
    for (int i = 0; i < h->n; i++) args[1 + i] = h->at[i].count;
    for (int k = 1; k < line.type->rank; k++) args[h->n + k] = fl_ir_dim(&s->b, line.parts[p], k);
    FlType1 out = fl_t_array((FlDtype)line.parts[p]->type.dtype, rank);
    line.parts[p] = fl_ir_op(&s->b, FL_OP_RESHAPE, 1 + rank, args, 1, &out, 0)->results[0];
  }
  return fl_val_with(s, fl_type_array(s->types, line.type->dtype, line.type->nullable, rank), line.parts,
                     line);
}

/* COLLECT of what body gives where the filters hold; body NULL: of the linear index. */
static FlVal filtered_scalars(FlSema *s, const Head *h, const FlExpr *body, bool *not_scalar) {
  FlRegion *r;
  FlOp *op = loop_op(s, FL_OP_COLLECT, h, &r);
  Inside in = go_inside(s, r);
  bind_generators(s, h, r->params);
  FlValue *keep = filters_hold(s, h, 0);
  FlVal v = fl_val_error(s);
  FlValue **yields = NULL;
  int n = 0;
  if (keep && body) {
    FlOp *branch = fl_ir_op(&s->b, FL_OP_IF, 1, &keep, 0, NULL, 2);
    FlRegion *yes = fl_ir_region(&s->b, branch, 0, 0, NULL), *no = fl_ir_region(&s->b, branch, 1, 0, NULL);
    FlSavedPlace saved = fl_sema_enter(s, yes);
    v = body_value(s, body);
    *not_scalar = !fl_val_bad(v) && !(all_scalar(v.type) && fl_levels_outside(s, &v, r));
    FlValue **elements = FL_NEW_ARRAY(s->arena, FlValue *, v.type->n_parts + 1);
    n = fl_val_bad(v) ? 0 : fl_val_cut(s, v, elements);
    if (!fl_val_bad(v)) fl_ir_yield(yes, s->module, n, elements);
    fl_sema_leave(s, saved);
    if (!fl_val_bad(v) && !*not_scalar) {
      FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, n + 1);
      FlValue **zeros = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
      for (int p = 0; p < n; p++) types[p] = elements[p]->type;
      saved = fl_sema_enter(s, no);
      for (int p = 0; p < n; p++) zeros[p] = fl_val_zero(s, (FlDtype)types[p].dtype);
      fl_ir_yield(no, s->module, n, zeros);
      fl_sema_leave(s, saved);
      fl_ir_add_results(&s->b, branch, n, types);
      yields = branch->results;
    }
  } else if (keep) {
    FlValue *linear = r->params[0];
    for (int i = 1; i < h->n; i++)
      linear = fl_sema_op2(s, FL_OP_WRAP_ADD, fl_sema_op2(s, FL_OP_WRAP_MUL, linear, h->at[i].count),
                           r->params[i]);
    v = fl_val_scalar(s, FL_I64, linear);
    yields = v.parts;
    n = 1;
  }
  if (yields) {
    FlValue **all = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
    all[0] = keep;
    memcpy(all + 1, yields, sizeof *all * (size_t)n);
    fl_ir_yield(r, s->module, n + 1, all);
  }
  come_outside(s, in);
  if (!yields) {
    fl_ir_remove(op);
    return fl_val_error(s);
  }
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, n + 1);
  types[0] = fl_t_scalar(FL_I64);
  for (int p = 0; p < n; p++) types[p + 1] = fl_t_array((FlDtype)yields[p]->type.dtype, 1);
  fl_ir_add_results(&s->b, op, n + 1, types);
  const FlType *type = v.type->kind == FL_TY_TUPLE
                           ? fl_type_table(s->types, v.type)
                           : fl_type_array(s->types, v.type->dtype, v.type->nullable, 1);
  return fl_val_join(s, type, op->results[0], op->results + 1, v);
}

static FlVal filtered(FlSema *s, const Head *h, const FlExpr *body) {
  bool not_scalar = false;
  FlVal v = filtered_scalars(s, h, body, &not_scalar);
  if (!not_scalar) return v;
  FlVal positions = filtered_scalars(s, h, NULL, &not_scalar);
  if (fl_val_bad(positions)) return positions;
  return map_linear(s, h, body, fl_sema_dim(s, positions, 0), positions.parts[0]);
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

static FlVal comprehension(FlSema *s, const FlClauseList *clauses, const FlExpr *body) {
  Head h;
  if (!read_head(s, clauses, &h)) return fl_val_error(s);
  if (!h.tail.n) return h.filters.n ? filtered(s, &h, body) : unfiltered(s, &h, body);
  /* The rest is a comprehension of its own, one a position of the head. */
  FlExpr inner = {.kind = FL_EXPR_COMPREHENSION, .span = body->span};
  inner.comprehension.clauses = h.tail;
  inner.comprehension.body = (FlExpr *)(uintptr_t)body;
  FlExpr *kept = fl_arena_copy(s->arena, &inner, sizeof inner);
  FlVal list;
  if (h.filters.n) list = filtered(s, &h, kept);
  else list = map_linear(s, &h, kept, total_count(s, &h), NULL);
  if (fl_val_bad(list)) return list;
  if (list.type->kind == FL_TY_ARRAY &&
      list.type->rank == 2) { /* every inner one has the same size: row-major */
    FlValue *n = fl_sema_op2(s, FL_OP_MUL, fl_sema_dim(s, list, 0), fl_sema_dim(s, list, 1));
    FlValue *parts[2];
    for (int p = 0; p < fl_type_element_parts(list.type); p++) {
      FlType1 out = fl_t_array((FlDtype)list.parts[p]->type.dtype, 1);
      parts[p] = fl_ir_op(&s->b, FL_OP_RESHAPE, 2, (FlValue *[]){list.parts[p], n}, 1, &out, 0)->results[0];
    }
    return fl_val_with(s, fl_type_array(s->types, list.type->dtype, list.type->nullable, 1), parts, list);
  }
  return join_list(s, list, body->span);
}

FlVal fl_sema_comprehension(FlSema *s, const FlExpr *e) {
  return comprehension(s, &e->comprehension.clauses, e->comprehension.body);
}

/* ---- reductions over `for` ---- */

static const FlExpr *product_of(const FlExpr *e) {
  return e->kind == FL_EXPR_BINARY && e->binary.op == FL_BIN_MUL ? e : NULL;
}

static FlVal reduce_head(FlSema *s, const Head *h, const char *kind, const FlExpr *body, FlSpan span) {
  FlRegion *r;
  FlOp *op = loop_op(s, FL_OP_REDUCE, h, &r);
  Inside in = go_inside(s, r);
  bind_generators(s, h, r->params);
  FlValue *keep = h->filters.n ? filters_hold(s, h, 0) : NULL;
  bool bad = h->filters.n && !keep;
  FlVal v = fl_val_error(s);
  FlVal pair[2] = {{0}};
  if (!bad) {
    FlOp *branch = NULL;
    FlRegion *yes = NULL;
    FlSavedPlace saved = {0};
    if (keep) {
      branch = fl_ir_op(&s->b, FL_OP_IF, 1, &keep, 0, NULL, 2);
      yes = fl_ir_region(&s->b, branch, 0, 0, NULL);
      saved = fl_sema_enter(s, yes);
    }
    const FlExpr *product = strcmp(kind, "sum") == 0 ? product_of(body) : NULL;
    if (product) {
      FlVal a = fl_sema_expr(s, product->binary.left, NULL), b = fl_sema_expr(s, product->binary.right, NULL);
      FlDtype d = FL_F64;
      bool plain = a.type->kind == FL_TY_SCALAR && b.type->kind == FL_TY_SCALAR && !a.type->nullable &&
                   !b.type->nullable &&
                   (fl_dtype_is_float(a.type->dtype) || fl_dtype_is_float(b.type->dtype)) &&
                   fl_promote(a.type->dtype, b.type->dtype, &d);
      if (plain && !keep) {
        if (a.literal && fl_dtype_is_float(b.type->dtype)) d = b.type->dtype;
        else if (b.literal && fl_dtype_is_float(a.type->dtype)) d = a.type->dtype;
        pair[0] =
            fl_val_coerce(s, a, fl_type_scalar(s->types, d, false), product->binary.left->span, "the factor");
        pair[1] = fl_val_coerce(s, b, fl_type_scalar(s->types, d, false), product->binary.right->span,
                                "the factor");
        v = pair[0];
      } else {
        v = fl_sema_binary(s, FL_BIN_MUL, a, b, product->binary.op_span, product->binary.left->span,
                           product->binary.right->span);
      }
    } else {
      v = body_value(s, body);
    }
    if (!fl_val_bad(v)) v = fl_sema_reduce_element(s, kind, v, body->span);
    if (branch && !fl_val_bad(v)) {
      fl_ir_yield(yes, s->module, v.type->n_parts, v.parts);
      fl_sema_leave(s, saved);
      FlType1 types[2]; /* reductions take no categories */
      fl_type_parts(v.type, types);
      FlRegion *no = fl_ir_region(&s->b, branch, 1, 0, NULL);
      saved = fl_sema_enter(s, no);
      FlValue *zeros[2];
      for (int p = 0; p < v.type->n_parts; p++) zeros[p] = fl_val_zero(s, (FlDtype)types[p].dtype);
      fl_ir_yield(no, s->module, v.type->n_parts, zeros);
      fl_sema_leave(s, saved);
      fl_ir_add_results(&s->b, branch, v.type->n_parts, types);
      v = fl_val_make(s, v.type, branch->results);
    } else if (branch) {
      fl_sema_leave(s, saved);
    }
  }
  FlValue *valid = fl_val_bad(v) ? NULL : fl_val_valid(s, v);
  if (valid) keep = keep ? fl_sema_op2(s, FL_OP_AND, keep, valid) : valid;
  if (!fl_val_bad(v)) {
    FlValue *yields[3] = {v.parts[0]};
    int n = 1;
    if (pair[0].type) {
      yields[0] = pair[0].parts[0];
      yields[n++] = pair[1].parts[0];
    }
    if (keep) yields[n++] = keep;
    fl_ir_yield(r, s->module, n, yields);
  }
  come_outside(s, in);
  if (fl_val_bad(v)) {
    fl_ir_remove(op);
    return v;
  }
  (void)span;
  return fl_sema_reduce_finish(s, op, pair[0].type ? "sum_product" : kind, v.type->dtype, keep != NULL,
                               total_count(s, h));
}

/* best(for ...: (k = k, score = x), by = score): the element whose `by` is largest, the first of equals. */
static FlVal best(FlSema *s, const FlExpr *e, FlVal all) {
  const FlArgList *rest = &e->reduce.rest;
  if (rest->n != 1 || !rest->at[0].name.text || strcmp(rest->at[0].name.text, "by") != 0 ||
      all.type->kind != FL_TY_TABLE)
    return fl_sema_error(s, FL_E0210, e->span,
                         "`best` takes `for ...: (a = ..., b = ...)`, then `by =` one of the fields");
  int k = fl_verb_column(s, all, rest->at[0].value);
  if (k < 0) return fl_val_error(s);
  FlActual by = {.value = fl_val_field(s, all, k), .span = rest->at[0].span};
  FlVal at = fl_sema_call_builtin(s, fl_builtin_find(s, "argmax"), 1, &by, e->span, NULL);
  return fl_val_bad(at) ? at : fl_sema_at(s, all, at.parts[0], true);
}

FlVal fl_sema_reduce_for(FlSema *s, const FlExpr *e) {
  const FlExpr *f = e->reduce.func;
  const FlComprehension *c = &e->reduce.comprehension;
  const char *name = f->kind == FL_EXPR_NAME ? f->name.text : "";
  static const char *const kinds[] = {"sum", "product", "min",   "max",    "mean",
                                      "any", "all",     "count", "argmin", "argmax"};
  bool known = false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) known = known || strcmp(name, kinds[i]) == 0;
  if (known && e->reduce.rest.n == 0) {
    Head h;
    if (!read_head(s, &c->clauses, &h)) return fl_val_error(s);
    if (!h.tail.n) return reduce_head(s, &h, name, c->body, e->span);
  }
  FlVal all = comprehension(s, &c->clauses, c->body);
  if (fl_val_bad(all)) return all;
  if (strcmp(name, "best") == 0 && !fl_scope_find(s, name)) return best(s, e, all);
  /* Any other function takes the array. */
  FlExpr call = {.kind = FL_EXPR_CALL, .span = e->span};
  call.call.func = e->reduce.func;
  call.call.args = e->reduce.rest;
  return fl_sema_call(s, fl_arena_copy(s->arena, &call, sizeof call), &all, c->body->span, NULL);
}
