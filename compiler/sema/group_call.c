/* group_call.c: a user's function of arrays in the verbs of a grouped table: called once a group, with that
 * group's rows.
 *
 * In: arguments of which some are columns (one value a row). Out: in `summarize` one value a group; elsewhere
 * one a row, each group's value on its rows or, of a function that gives an array, the value of each row. The
 * columns are brought into the order of the groups once; each call sees a view of its rows, in their order in
 * the table. */
#include "sema/sema_internal.h"

bool fl_sema_group_call_applies(FlSema *s, const FlVal *values, int n) {
  if (!s->agg || s->agg->mode == FL_AGG_NONE || !s->agg->group_of) return false;
  for (int i = 0; i < n; i++)
    if (values[i].type->kind == FL_TY_ARRAY &&
        fl_sema_sizes_equal(s, fl_sema_dim(s, values[i], 0), s->agg->rows))
      return true;
  return false;
}

/* Where the rows of each group begin, in the order of the groups. */
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

static FlVal with_rows(FlSema *s, FlVal v) {
  for (int p = 0; p < fl_type_element_parts(v.type); p++)
    fl_sema_alias(s, fl_ir_dim(&s->b, v.parts[p], 0), fl_sema_size(s, s->agg->rows));
  return v;
}

/* Each group's value on its rows. */
static FlVal spread_groups(FlSema *s, FlVal v) {
  return with_rows(s, fl_sema_take(s, v, s->agg->group_of, 0));
}

/* The values of all rows from lists, one array a group, in the order of the table, whose rows by group are
 * `perm`. */
static FlVal back_to_rows(FlSema *s, FlVal lists, FlValue *perm) {
  static const char *asc[] = {"asc"};
  FlType1 i64s = fl_t_array(FL_I64, 1);
  FlOp *inverse = fl_ir_op(&s->b, FL_OP_SORT_PERM, 1, &perm, 1, &i64s, 0);
  inverse->attrs.list = asc;
  inverse->attrs.n_list = 1;
  FlVal out = fl_val_make(s, lists.type, lists.parts);
  for (int p = 0; p < fl_type_element_parts(lists.type); p++) {
    FlType1 type = lists.parts[p]->type;
    type.depth = 0;
    out.parts[p] = fl_ir_op(&s->b, FL_OP_LIST_CONCAT, 1, &lists.parts[p], 1, &type, 0)->results[0];
  }
  return with_rows(s, fl_sema_take(s, out, inverse->results[0], 0));
}

FlVal fl_sema_group_call(FlSema *s, const FlVal *values, int n, FlElementFn *call, void *env, FlSpan span) {
  FlAggContext *agg = s->agg;
  static const char *asc[] = {"asc"};
  FlType1 i64s = fl_t_array(FL_I64, 1), i64 = fl_t_scalar(FL_I64);
  FlOp *perm = fl_ir_op(&s->b, FL_OP_SORT_PERM, 1, &agg->group_of, 1, &i64s, 0);
  perm->attrs.list = asc;
  perm->attrs.n_list = 1;
  FlValue *counts =
      fl_ir_op(&s->b, FL_OP_SEGMENT_COUNT, 2, (FlValue *[]){agg->group_of, agg->groups}, 1, &i64s, 0)
          ->results[0];
  FlValue *starts = group_starts(s, counts, agg->groups);
  FlVal *sorted = FL_NEW_ARRAY(s->arena, FlVal, n + 1), *parts = FL_NEW_ARRAY(s->arena, FlVal, n + 1);
  bool *by_row = FL_NEW_ARRAY(s->arena, bool, n + 1);
  for (int i = 0; i < n; i++) {
    by_row[i] = values[i].type->kind == FL_TY_ARRAY &&
                fl_sema_sizes_equal(s, fl_sema_dim(s, values[i], 0), agg->rows);
    sorted[i] = by_row[i] ? fl_sema_take(s, values[i], perm->results[0], 0) : values[i];
  }
  FlOp *map = fl_ir_op(&s->b, FL_OP_MAP, 1, &agg->groups, 0, NULL, 1);
  FlRegion *r = fl_ir_region(&s->b, map, 0, 1, &i64);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlValue *from = fl_ir_load(&s->b, starts, 1, r->params, true);
  FlValue *to = fl_sema_op2(s, FL_OP_WRAP_ADD, from, fl_ir_load(&s->b, counts, 1, r->params, true));
  FlValue *rows = NULL;
  for (int i = 0; i < n; i++) {
    parts[i] = by_row[i] ? fl_sema_index_rows(s, sorted[i], from, to) : sorted[i];
    if (!by_row[i]) continue;
    FlValue *mine = fl_ir_dim(&s->b, parts[i].parts[0], 0);
    if (rows) fl_sema_alias(s, mine, rows);
    else rows = mine;
  }
  s->agg = NULL;
  FlVal out = call(s, env, parts, n, span);
  s->agg = agg;
  bool bad = fl_val_bad(out),
       many = !bad && agg->mode == FL_AGG_SPREAD && out.type->kind == FL_TY_ARRAY && out.type->rank == 1;
  bool fits = many || (!bad && out.type->kind == FL_TY_SCALAR);
  bool ok = fits && fl_levels_need_outside(s, &out, r, span) &&
            (!many || fl_sema_same_size(s, rows, fl_sema_dim(s, out, 0), span,
                                        "the group has {a} rows, but the function gives {b} values"));
  int n_yields = fits ? fl_type_element_parts(out.type) : 0;
  if (fits) fl_ir_yield(r, s->module, n_yields, out.parts);
  fl_sema_leave(s, saved);
  if (bad || (fits && !ok)) return fl_val_error(s);
  if (!fits)
    return fl_sema_error(s, FL_E0605, span, "in `%s` a function gives %s, and this gives %s",
                         agg->mode == FL_AGG_SUMMARIZE ? "summarize" : "a grouped table",
                         agg->mode == FL_AGG_SUMMARIZE ? "one scalar a group"
                                                       : "a scalar or an array of the rows of a group",
                         fl_val_text(s, out));
  FlType1 types[2] = {{(uint8_t)fl_dtype_stored(out.type->dtype), 1, many, 0}, {FL_BOOL, 1, many, 0}};
  fl_ir_add_results(&s->b, map, n_yields, types);
  FlVal all =
      fl_val_with(s, fl_type_array(s->types, out.type->dtype, out.type->nullable, 1), map->results, out);
  if (agg->mode == FL_AGG_SUMMARIZE) return all;
  return many ? back_to_rows(s, all, perm->results[0]) : spread_groups(s, all);
}
