/* by_group.c: expressions in the arguments of verbs of a grouped table.
 *
 * In: an expression, where the columns of the whole table are bound. Out: what it means, for each group, in
 * the verb of a table that holds the rows of that group alone, in their order: in `summarize` one value a
 * group, elsewhere one a row. What goes row by row and aggregates and windows of it are elaborated as without
 * groups, over all of them at once (aggregate.c, window.c); what no column has part in, once; anything else
 * is the body of a MAP over the groups, in which columns are views of the group's rows and aggregates are
 * those of one table. Strict operators between such things stand outside of the MAP. */
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"
#include "sema/verbs/verbs.h"

/* ---- the rows of each group ---- */

/* The rows of all groups, one group after the other, and where each begins. */
typedef struct Order {
  FlValue *rows, *counts, *starts;
} Order;

static FlValue *group_starts(FlSema *s, FlValue *counts, FlValue *groups) {
  FlType1 out = fl_t_array(FL_I64, 1), in[2] = {fl_t_scalar(FL_I64), fl_t_scalar(FL_I64)};
  FlOp *scan = fl_ir_op(&s->b, FL_OP_SCAN, 2, (FlValue *[]){groups, fl_sema_i64(s, 0)}, 1, &out, 1);
  FlRegion *r = fl_ir_region(&s->b, scan, 0, 2, in);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlValue *i = r->params[0], *zero = fl_sema_i64(s, 0), *is_first = fl_sema_op2(s, FL_OP_EQ, i, zero);
  FlValue *before = fl_sema_op2(s, FL_OP_MAX, fl_sema_op2(s, FL_OP_WRAP_SUB, i, fl_sema_i64(s, 1)), zero);
  FlValue *next = fl_sema_op2(s, FL_OP_WRAP_ADD, r->params[1], fl_ir_load(&s->b, counts, 1, &before, true));
  FlValue *start = fl_ir_select(&s->b, is_first, zero, next);
  fl_ir_yield(r, s->module, 1, &start);
  fl_sema_leave(s, saved);
  return scan->results[0];
}

static Order order_of(FlSema *s) {
  FlColumnAttr key = fl_ir_column(false);
  FlValue *of[2] = {s->agg->group_of, s->agg->groups};
  FlType1 i64s = fl_t_array(FL_I64, 1);
  FlOp *sorted = fl_ir_op(&s->b, FL_OP_SORT_PERM, 1, of, 1, &i64s, 0);
  fl_ir_set_columns(s->arena, sorted, 1, &key);
  Order o = {.rows = sorted->results[0]};
  o.counts = fl_ir_op(&s->b, FL_OP_SEGMENT_COUNT, 2, of, 1, &i64s, 0)->results[0];
  o.starts = group_starts(s, o.counts, s->agg->groups);
  return o;
}

static FlVal with_rows(FlSema *s, FlVal v) {
  for (int p = 0; p < fl_type_element_parts(v.type); p++)
    fl_sema_alias(s, fl_ir_dim(&s->b, v.parts[p], 0), fl_sema_size(s, s->agg->rows));
  return v;
}

/* The values of all rows from lists, one array a group, in the order of the table. */
static FlVal back_to_rows(FlSema *s, FlVal lists, FlValue *rows) {
  FlColumnAttr key = fl_ir_column(false);
  FlType1 i64s = fl_t_array(FL_I64, 1);
  FlOp *inverse = fl_ir_op(&s->b, FL_OP_SORT_PERM, 1, &rows, 1, &i64s, 0);
  fl_ir_set_columns(s->arena, inverse, 1, &key);
  FlVal out = fl_val_make(s, lists.type, lists.parts);
  for (int p = 0; p < fl_type_element_parts(lists.type); p++) {
    FlType1 type = lists.parts[p]->type;
    type.depth = 0;
    out.parts[p] = fl_ir_op(&s->b, FL_OP_LIST_CONCAT, 1, &lists.parts[p], 1, &type, 0)->results[0];
  }
  return with_rows(s, fl_sema_take(s, out, inverse->results[0], FL_TAKE_PROVEN));
}

/* ---- one expression, group by group ---- */

/* The columns that e names in the order of the groups, and what it is for. */
typedef struct Sorted {
  FlColumns columns;
  FlValue *positions;
} Sorted;

static Sorted sorted_columns(FlSema *s, const FlExpr *e, const Order *o) {
  const FlVal t = *s->agg->table;
  const FlType *row = t.type->elem;
  bool *named = FL_NEW_ARRAY(s->arena, bool, row->n_fields + 1);
  Sorted out = {.positions = o->rows};
  fl_named_columns(row, e, named);
  for (int k = 0; k < row->n_fields; k++)
    if (named[k])
      fl_columns_set(s, &out.columns, row->fields[k].name,
                     fl_sema_take(s, fl_val_field(s, t, k), o->rows, FL_TAKE_PROVEN));
  return out;
}

/* The context of one group: its rows are those from `from` to `to` of the sorted ones. */
static FlAggContext *one_group(FlSema *s, const Sorted *sorted, FlValue *from, FlValue *to, FlSpan span) {
  FlAggContext *all = s->agg, *one = FL_NEW(s->arena, FlAggContext);
  FlColumns mine = {0};
  FlValue *rows = fl_sema_op2(s, FL_OP_WRAP_SUB, to, from);
  fl_sema_mark_size(s, rows);
  FlScope *scope = fl_scope_push(s, all->columns->parent, FL_SCOPE_COLUMNS);
  for (int i = 0; i < sorted->columns.n; i++) {
    FlVal v = fl_sema_index_rows(s, sorted->columns.values[i], from, to);
    for (int p = 0; p < fl_type_element_parts(v.type) && v.type->kind == FL_TY_ARRAY; p++)
      fl_sema_alias(s, fl_ir_dim(&s->b, v.parts[p], 0), rows);
    fl_columns_set(s, &mine, sorted->columns.names[i], v);
    fl_scope_bind(s, scope, FL_BIND_COLUMN, sorted->columns.names[i], span, v)->used = true;
  }
  FlVal table = fl_columns_table(s, &mine, rows);
  FlVal positions = fl_sema_index_rows(s, fl_val_array(s, FL_I64, 1, sorted->positions), from, to);
  fl_sema_alias(s, fl_ir_dim(&s->b, positions.parts[0], 0), rows);
  *one = (FlAggContext){.mode = FL_AGG_SPREAD,
                        .rows = rows,
                        .groups = fl_sema_i64(s, 1),
                        .table = fl_arena_copy(s->arena, &table, sizeof table),
                        .columns = scope,
                        .region = s->b.region,
                        .positions = positions.parts[0],
                        .some_rows = true};
  return one;
}

/* ---- what errors say ---- */

/* Which group an error is of: the position is its number; `rows`: that of one of its rows. */
static void say_keys(FlSema *s, FlValue *position, bool rows) {
  const FlGrouping *g = s->agg->grouping;
  int n_args = 2, at = 1;
  for (int i = 0; i < g->n_keys; i++) n_args += g->keys[i].type->n_parts;
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n_args);
  FlColumnAttr *keys = FL_NEW_ARRAY(s->arena, FlColumnAttr, g->n_keys);
  args[0] = position;
  if (rows) args[at++] = s->agg->group_of;
  for (int i = 0; i < g->n_keys; i++) {
    const FlType *type = g->keys[i].type;
    keys[i] = fl_ir_column(type->nullable);
    keys[i].name = g->names[i];
    if (fl_type_is_category(type)) keys[i].flags |= FL_COLUMN_LEVELS;
    for (int p = 0; p < type->n_parts; p++) args[at++] = g->keys[i].parts[p];
  }
  FlOp *op = fl_ir_op(&s->b, FL_OP_WITHIN, at, args, 0, NULL, 0);
  op->attrs.i = rows ? FL_WITHIN_ROWS : 0;
  fl_ir_set_columns(s->arena, op, g->n_keys, keys);
}

/* Do we elaborate an argument of a verb of a grouped table for all of its groups at once? */
static bool all_at_once(const FlSema *s, const FlRegion *r) {
  const FlAggContext *agg = s->agg;
  if (!agg || !agg->group_of || !agg->grouping || !agg->grouping->n_keys) return false;
  while (r != agg->region && r->owner && r->owner->code == FL_OP_IF) r = r->owner->parent;
  return r == agg->region;
}

void fl_by_group_say_loop(FlSema *s, FlOp *loop, FlRegion *r) {
  if (loop->n_args != 1 || !all_at_once(s, loop->parent)) return;
  bool groups = fl_sema_sizes_equal(s, loop->args[0], s->agg->groups);
  if (!groups && !(s->agg->by_group && fl_sema_is_rows(s, loop->args[0]))) return;
  FlSavedPlace saved = fl_sema_enter(s, r);
  say_keys(s, r->params[0], !groups);
  fl_sema_leave(s, saved);
}

FlOp *fl_by_group_op(FlSema *s, FlOpcode code, int n, FlValue *const *args, int n_results,
                     const FlType1 *types, bool rows) {
  bool says = all_at_once(s, s->b.region) && (!rows || s->agg->by_group);
  FlOp *op = fl_ir_op(&s->b, code, n, args, n_results, types, says);
  if (!says) return op;
  FlType1 i64 = fl_t_scalar(FL_I64);
  FlRegion *r = fl_ir_region(&s->b, op, 0, 1, &i64);
  FlSavedPlace saved = fl_sema_enter(s, r);
  say_keys(s, r->params[0], rows);
  fl_ir_yield(r, s->module, 0, NULL);
  fl_sema_leave(s, saved);
  return op;
}

static FlVal does_not_fit(FlSema *s, FlVal v, FlSpan span) {
  bool summarize = s->agg->mode == FL_AGG_SUMMARIZE;
  FlDiag *d = fl_sema_report(s, FL_E0623, span, "this gives %s %s group", fl_val_text(s, v),
                             v.type->kind == FL_TY_SCALAR ? "a" : "for each");
  fl_diag_note(
      s->sink, d, (FlSpan){0}, "after `group_by` %s",
      summarize
          ? "`summarize` takes one value a group"
          : "a column is the group's, and an argument gives one value a group or one for each of its rows");
  return fl_val_error(s);
}

static FlVal each_group(FlSema *s, const FlExpr *e, const FlType *want) {
  FlAggContext *agg = s->agg;
  FlScope *scope = s->scope;
  FlType1 i64 = fl_t_scalar(FL_I64);
  Order o = order_of(s);
  Sorted sorted = sorted_columns(s, e, &o);
  FlOp *map = fl_ir_op(&s->b, FL_OP_MAP, 1, &agg->groups, 0, NULL, 1);
  FlRegion *r = fl_ir_region(&s->b, map, 0, 1, &i64);
  FlSavedPlace saved = fl_sema_enter(s, r);
  if (agg->grouping && agg->grouping->n_keys) say_keys(s, r->params[0], false);
  FlValue *from = fl_ir_load(&s->b, o.starts, 1, r->params, true);
  FlValue *to = fl_sema_op2(s, FL_OP_WRAP_ADD, from, fl_ir_load(&s->b, o.counts, 1, r->params, true));
  FlAggContext *one = one_group(s, &sorted, from, to, e->span);
  s->agg = one;
  s->scope = one->columns;
  FlVal out = fl_sema_expr(s, e, want);
  out.literal = FL_LIT_NONE, out.exact = NULL;
  s->agg = agg;
  s->scope = scope;
  bool bad = fl_val_bad(out);
  bool many = !bad && agg->mode == FL_AGG_SPREAD && out.type->kind == FL_TY_ARRAY && out.type->rank == 1;
  bool fits = many || (!bad && out.type->kind == FL_TY_SCALAR && out.type->dtype != FL_FILE);
  bool ok = fits && fl_levels_need_outside(s, &out, r, e->span) &&
            (!many || fl_sema_same_size(s, one->rows, fl_sema_dim(s, out, 0), e->span,
                                        "the group has {a} rows, but this gives {b} values"));
  int n_yields = fits ? fl_type_element_parts(out.type) : 0;
  fl_ir_yield(r, s->module, n_yields, out.parts);
  fl_sema_leave(s, saved);
  if (!fits && !bad) return does_not_fit(s, out, e->span);
  if (!ok) return fl_val_error(s);
  FlType1 types[2] = {{(uint8_t)fl_dtype_stored(out.type->dtype), 1, many, 0}, {FL_BOOL, 1, many, 0}};
  fl_ir_add_results(&s->b, map, n_yields, types);
  FlVal all =
      fl_val_with(s, fl_type_array(s->types, out.type->dtype, out.type->nullable, 1), map->results, out);
  if (many) return back_to_rows(s, all, o.rows);
  for (int p = 0; p < n_yields; p++) {
    FlValue *n = fl_ir_dim(&s->b, all.parts[p], 0);
    if (n != agg->groups) fl_sema_alias(s, n, fl_sema_size(s, agg->groups));
  }
  return agg->mode == FL_AGG_SUMMARIZE ? all
                                       : with_rows(s, fl_sema_take(s, all, agg->group_of, FL_TAKE_PROVEN));
}

/* ---- which way ---- */

/* Operators whose sides are each computed whatever the other is, and which take them element by element: a
 * side that needs its groups one by one does not make the others slow. */
static bool strict(FlSema *s, const FlExpr *e) {
  const FlType *row = s->agg->table->type->elem;
  for (int k = 0; k < row->n_fields; k++)
    if (row->fields[k].type->kind != FL_TY_SCALAR) return false; /* arrays may be mistaken for rows */
  if (e->kind == FL_EXPR_UNARY) return true;
  if (e->kind != FL_EXPR_BINARY) return false;
  FlBinaryOp op = e->binary.op;
  return op != FL_BIN_AND && op != FL_BIN_OR && op != FL_BIN_DEFAULT && op != FL_BIN_IN &&
         op != FL_BIN_MATMUL;
}

static FlVal one_value_a_row(FlSema *s, FlSpan span) {
  FlDiag *d =
      fl_sema_report(s, FL_E0605, span, "this gives one value a row; use an aggregate such as `mean(...)`");
  fl_diag_note(s->sink, d, (FlSpan){0}, "`summarize` makes one row a group");
  return fl_val_error(s);
}

/* What no column has part in: the same for all groups. */
static FlVal outside(FlSema *s, const FlExpr *e, const FlType *want) {
  FlAggContext *agg = s->agg;
  s->agg = NULL;
  FlVal v = fl_sema_expr(s, e, want);
  s->agg = agg;
  bool many = v.type->kind == FL_TY_ARRAY || v.type->kind == FL_TY_TABLE || v.type->kind == FL_TY_LIST;
  if (!many) return v;
  for (const FlArrayArg *a = agg->arrays; a; a = a->up)
    if (a->e == e) return v;
  FlDiag *d = fl_sema_report(s, FL_E0623, e->span, "this is no column, so %s cannot be taken by group",
                             fl_val_text(s, v));
  fl_diag_help(s->sink, d, "make a column of it before `group_by`, or take one value of it");
  return fl_val_error(s);
}

/* The argument of e that may be an array although no column takes part: the right side of `in`, levels. */
static const FlExpr *array_argument(const FlExpr *e) {
  if (e->kind == FL_EXPR_BINARY && e->binary.op == FL_BIN_IN) return e->binary.right;
  if (e->kind != FL_EXPR_CALL || e->call.func->kind != FL_EXPR_NAME ||
      strcmp(e->call.func->name.text, "category") != 0)
    return NULL;
  for (int i = 0; i < e->call.args.n; i++)
    if (e->call.args.at[i].name.text && strcmp(e->call.args.at[i].name.text, "levels") == 0)
      return e->call.args.at[i].value;
  return NULL;
}

/* `x |> f(a)` as f(x, a): an aggregate's argument is to be elaborated as such. */
static FlVal as_call(FlSema *s, const FlExpr *e, const FlType *want) {
  FlExpr *call = FL_NEW(s->arena, FlExpr);
  *call = *e->pipe.call;
  call->span = e->span;
  call->call.args = (FlArgList){0};
  FlArg first = {.value = (FlExpr *)e->pipe.value, .span = e->pipe.value->span};
  fl_vec_push(s->arena, &call->call.args, first);
  for (int i = 0; i < e->pipe.call->call.args.n; i++)
    fl_vec_push(s->arena, &call->call.args, e->pipe.call->call.args.at[i]);
  return fl_sema_expr(s, call, want);
}

bool fl_by_group(FlSema *s, const FlExpr *e, const FlType *want, FlVal *out) {
  FlAggContext *agg = s->agg;
  if (!agg->group_of || !agg->columns || agg->mode == FL_AGG_NONE || e->kind == FL_EXPR_LAMBDA) return false;
  FlGroupClass is = fl_group_class(s, e);
  if (is == FL_GROUP_OUTSIDE) {
    *out = outside(s, e, want);
    return true;
  }
  if (is == FL_GROUP_EACH && !strict(s, e)) {
    *out = each_group(s, e, want);
    return true;
  }
  if (agg->mode == FL_AGG_SUMMARIZE && fl_group_gives_rows(s, e)) {
    *out = one_value_a_row(s, e->span);
    return true;
  }
  if (e->kind == FL_EXPR_PIPE) {
    *out = as_call(s, e, want);
    return true;
  }
  const FlExpr *array = array_argument(e);
  if (array) {
    FlArrayArg arg = {array, agg->arrays};
    agg->arrays = fl_arena_copy(s->arena, &arg, sizeof arg);
  }
  return false;
}
