/* table.c: verbs that choose or order rows: where, sort, head, tail, sample, top, distinct, drop_null;
 * and what all verbs share. Column expressions see the columns as arrays; rows keep their order. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/habits.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/row_help.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"
#include "sema/verbs/verbs.h"

/* ---- shared ---- */

/* Where a verb takes columns by their names, without an expression of them. */
static void tell_columns(FlSema *s, const FlCallSite *c, FlVal t) {
  if (!s->witness || !(c->builtin->kinds & FL_BUILTIN_COLUMNS)) return;
  for (int k = 1; k < c->builtin->n_params; k++)
    if (c->builtin->params[k].optional && fl_actual_given(&c->args[k]))
      fl_witness_columns(s, c->args[k].span, t);
  for (int k = 0; k < c->n_rest; k++) fl_witness_columns(s, c->rest[k].span, t);
}

/* What does to an array `a` what a verb does to rows; NULL: nothing that is worth saying. */
static const char *of_array(const char *verb) {
  static const struct {
    const char *verb, *help;
  } rows[] = {
      {"sort", "`sort(a)` upwards, `a[argsort(-a)]` downwards"},
      {"where", "`[for x in a if x > 1: x]`"},
      {"top", "`a[argsort(-a)][0..5]`"},
      {"derive", "`[for x in a: 2 * x]`"},
      {"distinct", "`table(x = a) |> distinct(x)`"},
      {"fill_null", "`a ?? 0.0`"},
      {"drop_null", "`drop_null(table(x = a)).x`"},
      {"fill_down", "`fill_down(table(x = a), x).x`"},
      {"fill_up", "`fill_up(table(x = a), x).x`"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].verb, verb) == 0) return rows[i].help;
  return NULL;
}

bool fl_verb_table(FlSema *s, FlCallSite *c, FlVal *out) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return false;
  if (v.type->kind != FL_TY_TABLE) {
    FlDiag *d = fl_sema_report(s, FL_E0606, c->args[0].span, "`%s` takes a table, and this is %s",
                               c->builtin->name, fl_val_text(s, v));
    const char *help = v.type->kind == FL_TY_ARRAY && v.type->rank == 1 ? of_array(c->builtin->name) : NULL;
    if (help) fl_diag_help(s->sink, d, "of an array: %s", help);
    return false;
  }
  fl_sema_alias_rows(s, v); /* whoever made the table: what is computed of its columns is a column, too */
  tell_columns(s, c, v);
  *out = v;
  return true;
}

/* A scope with the columns of t, and what aggregates mean there. */
static FlAggContext *columns_of_verb(FlSema *s, FlVal t, const FlGrouping *g, FlSpan span, FlAggMode mode) {
  FlScope *scope = fl_scope_push(s, s->scope, FL_SCOPE_COLUMNS);
  fl_scope_columns(s, scope, t, span);
  fl_witness_columns(s, span, t);
  FlAggContext *agg = FL_NEW(s->arena, FlAggContext); /* lambdas keep it */
  *agg = (FlAggContext){.mode = mode,
                        .rows = fl_val_rows(t),
                        .groups = g ? g->groups : fl_sema_i64(s, 1),
                        .group_of = g ? g->group_of : NULL,
                        .grouping = g,
                        .table = fl_arena_copy(s->arena, &t, sizeof t),
                        .columns = scope,
                        .region = s->b.region};
  return agg;
}

FlVal fl_verb_expr_in(FlSema *s, FlVal t, const FlGrouping *g, FlActual *a, FlAggMode mode) {
  FlScope *outer = s->scope;
  FlAggContext *outer_agg = s->agg;
  s->agg = columns_of_verb(s, t, g, a->span, mode);
  s->scope = s->agg->columns;
  s->agg->by_group = mode == FL_AGG_SPREAD && g && a->expr && fl_group_class(s, a->expr) == FL_GROUP_AT_ONCE;
  int n_diags = s->sink->diags.n;
  FlSavedUnit unit = fl_sema_unit(s);
  FlVal v = fl_actual_value(s, a, NULL);
  v = fl_sema_unit_end(s, unit, v);
  fl_column_set_explain(s, a, n_diags);
  s->agg = outer_agg;
  s->scope = outer;
  return v;
}

FlVal fl_verb_expr(FlSema *s, FlVal t, FlActual *a, FlAggMode mode) {
  return fl_verb_expr_in(s, t, fl_verb_grouping(s, t), a, mode);
}

FlGroupClass fl_verb_class(FlSema *s, FlVal t, const FlActual *a) {
  FlScope *outer = s->scope;
  FlAggContext *outer_agg = s->agg;
  s->agg = columns_of_verb(s, t, NULL, a->span, FL_AGG_SPREAD);
  s->scope = s->agg->columns;
  FlGroupClass class = a->expr ? fl_group_class(s, a->expr) : FL_GROUP_OUTSIDE;
  s->agg = outer_agg;
  s->scope = outer;
  return class;
}

bool fl_verb_goes_by_row(FlSema *s, FlVal t, const FlActual *a) {
  return fl_verb_class(s, t, a) == FL_GROUP_ROWS;
}

int fl_verb_column(FlSema *s, FlVal t, const FlExpr *e) {
  const FlType *row = fl_type_row(t.type);
  if (!e || (e->kind != FL_EXPR_NAME && e->kind != FL_EXPR_COL)) {
    const char *text = fl_habit_plain_text(e);
    if (text) text = fl_intern_z(s->names, text);
    FlDiag *d = fl_sema_report(s, FL_E0607, e ? e->span : s->b.span, "the name of a column stands here%s",
                               text ? ", without quotes" : "");
    if (text && fl_type_field_find(row, text) >= 0) fl_diag_meant(s->sink, d, e->span, "", text);
    const FlExpr *left_out =
        e && e->kind == FL_EXPR_UNARY && e->unary.op == FL_UN_NEG ? e->unary.operand : NULL;
    if (left_out && left_out->kind == FL_EXPR_NAME)
      fl_diag_help(s->sink, d, "all columns but one: `drop(%s)`", left_out->name.text);
    if (e && e->kind == FL_EXPR_BINARY && e->binary.op == FL_BIN_EQ)
      fl_diag_help(s->sink, d,
                   "`on = k` of a column of both, `on = (k = l)` where the other calls it `l`; a condition "
                   "is `where = ..`");
    const FlExpr *f = e && e->kind == FL_EXPR_CALL ? e->call.func : NULL;
    if (f && f->kind != FL_EXPR_LAMBDA) /* which `each` makes */
      fl_diag_help(s->sink, d,
                   "columns by a pattern of their names are `cols(\"q_*\")`, all of numbers `numeric()`, all "
                   "but some `except(x)`");
    (void)fl_habit_name_list(s, d, e);
    return -1;
  }
  int k = fl_type_field_find(row, e->name.text);
  if (k >= 0) return k;
  FlDiag *d = fl_sema_report(s, FL_E0601, e->span, "there is no column `%s`", e->name.text);
  fl_sema_help_field(s, d, row, e->name, "the columns are");
  return -1;
}

static FlVal fill_rows(FlSema *s, FlVal v, FlValue *rows) { /* a scalar on every row */
  FlValue *parts[2] = {0};
  for (int p = 0; p < fl_type_element_parts(v.type); p++) {
    FlSemaMap map = fl_sema_map(s, 1, &rows, (FlDtype)v.parts[p]->type.dtype);
    parts[p] = fl_sema_map_end(s, &map, v.parts[p]);
  }
  return fl_val_with(s, fl_type_array(s->types, v.type->dtype, v.type->nullable, 1), parts, v);
}

static FlVal no_column(FlSema *s, FlVal v, FlSpan span, const char *name) {
  FlDiag *d =
      fl_sema_report(s, FL_E0608, span, "the column `%s` must be an array or a scalar, and this is %s", name,
                     fl_val_text(s, v));
  if (v.type->kind == FL_TY_FUNC)
    fl_diag_help(s->sink, d, "a column is computed of others by their names: `derive(z = x + y)`");
  return fl_val_error(s);
}

FlVal fl_verb_as_column(FlSema *s, FlVal v, FlValue *rows, FlSpan span, const char *name) {
  if (fl_val_bad(v)) return v;
  if (v.type->kind == FL_TY_SCALAR) return fill_rows(s, v, rows);
  if (v.type->kind != FL_TY_ARRAY && v.type->kind != FL_TY_TABLE && v.type->kind != FL_TY_LIST)
    return no_column(s, v, span, name);
  if (!fl_sema_same_size(
          s, rows, fl_sema_dim(s, v, 0), span,
          fl_arena_printf(s->arena, "the table has {a} rows, but the column `%s` has {b}", name)))
    return fl_val_error(s);
  return v;
}

FlColumns fl_columns_of(FlSema *s, FlVal t) {
  FlColumns c = {0};
  for (int i = 0; i < t.type->elem->n_fields; i++)
    fl_columns_set(s, &c, t.type->elem->fields[i].name, fl_val_field(s, t, i));
  return c;
}

enum { FEW_COLUMNS = 12 }; /* are searched faster one by one */

int fl_columns_find(const FlColumns *c, const char *name) {
  if (c->at) return (int)(intptr_t)fl_map_get(c->at, name) - 1;
  for (int i = 0; i < c->n; i++)
    if (c->names[i] == name) return i;
  return -1;
}

static void index_column(FlColumns *c, int i) { fl_map_set(c->at, c->names[i], (void *)(intptr_t)(i + 1)); }

void fl_columns_set(FlSema *s, FlColumns *c, const char *name, FlVal v) {
  int k = fl_columns_find(c, name);
  if (k >= 0) {
    c->values[k] = v;
    return;
  }
  if (c->n == c->cap) {
    int cap = c->cap ? 2 * c->cap : 16;
    const char **names = FL_NEW_ARRAY(s->arena, const char *, cap);
    FlVal *values = FL_NEW_ARRAY(s->arena, FlVal, cap);
    if (c->n) {
      memcpy(names, c->names, sizeof *names * (size_t)c->n);
      memcpy(values, c->values, sizeof *values * (size_t)c->n);
    }
    c->names = names;
    c->values = values;
    c->cap = cap;
  }
  c->names[c->n] = name;
  c->values[c->n++] = v;
  if (c->at) {
    index_column(c, c->n - 1);
  } else if (c->n > FEW_COLUMNS) {
    c->at = fl_map_make(s->arena);
    for (int i = 0; i < c->n; i++) index_column(c, i);
  }
}

FlVal fl_columns_table(FlSema *s, const FlColumns *c, FlValue *rows) {
  return fl_val_table(s, rows, c->n, c->names, c->values);
}

int fl_verb_keys(FlSema *s, int n, const FlVal *keys, FlValue **args, FlColumnAttr *columns) {
  int at = 0;
  for (int i = 0; i < n; i++) {
    args[at++] = keys[i].parts[0];
    fl_sema_keep(s, keys[i]); /* an order or a grouping is evaluated though all that is asked may be how many
                                 rows there are */
    if (keys[i].type->nullable) args[at++] = keys[i].parts[1];
    columns[i] = fl_ir_column(keys[i].type->nullable);
  }
  return at;
}

bool fl_verb_is_key(FlSema *s, FlVal v, FlSpan span, const char *verb) {
  if (fl_val_bad(v)) return false;
  if (v.type->kind == FL_TY_ARRAY && v.type->rank == 1 && v.type->dtype != FL_FILE) return true;
  fl_sema_error(s, FL_E0609, span, "`%s` takes columns of numbers, texts, dates or bool, and this is %s%s",
                verb, v.type->kind == FL_TY_SCALAR ? "one value, a " : "", fl_val_text(s, v));
  return false;
}

FlGrouping fl_verb_group_op(FlSema *s, int n_keys, const FlVal *keys, FlValue *rows) {
  FlColumnAttr *columns = FL_NEW_ARRAY(s->arena, FlColumnAttr, n_keys);
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, 2 * n_keys);
  int n_args = fl_verb_keys(s, n_keys, keys, args, columns);
  FlType1 types[3] = {fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1), fl_t_array(FL_I64, 1)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_GROUP, n_args, args, 3, types, 0);
  fl_ir_set_columns(s->arena, op, n_keys, columns);
  FlGrouping g = {.groups = op->results[0], .group_of = op->results[1], .first = op->results[2]};
  fl_sema_alias(s, fl_ir_dim(&s->b, g.group_of, 0), rows);
  FlValue *n = fl_ir_dim(&s->b, g.first, 0);
  if (n != g.groups) fl_sema_alias(s, n, g.groups);
  return g;
}

const FlGrouping *fl_verb_grouping(FlSema *s, FlVal t) {
  if (!fl_type_is_grouped(t.type)) return NULL;
  if (t.group) return t.group;
  FlVal *keys = FL_NEW_ARRAY(s->arena, FlVal, t.type->n_keys);
  for (int i = 0; i < t.type->n_keys; i++)
    keys[i] = fl_val_field(s, t, fl_type_field_find(t.type->elem, t.type->keys[i]));
  FlGrouping *g = FL_NEW(s->arena, FlGrouping);
  *g = fl_verb_group_op(s, t.type->n_keys, keys, fl_val_rows(t));
  for (int i = 0; i < t.type->n_keys; i++) keys[i] = fl_sema_take(s, keys[i], g->first, FL_TAKE_PROVEN);
  g->n_keys = t.type->n_keys;
  g->keys = keys;
  g->names = t.type->keys;
  return g;
}

FlVal fl_verb_regroup(FlSema *s, FlVal t, FlVal from) {
  t.type = fl_type_grouped(s->types, t.type, from.type->n_keys, from.type->keys);
  t.group = NULL;
  const FlGrouping *g = fl_verb_grouping(s, t);
  t.group = g ? fl_arena_copy(s->arena, g, sizeof *g) : NULL;
  return t;
}

/* ---- where ---- */

/* Columns that `not is_null(a)` conjuncts of the condition make non-null. */
static void known_values(FlSema *s, FlVal t, const FlExpr *e, bool *known) {
  if (!e) return;
  if (e->kind == FL_EXPR_BINARY && e->binary.op == FL_BIN_AND) {
    known_values(s, t, e->binary.left, known);
    known_values(s, t, e->binary.right, known);
  }
  if (e->kind != FL_EXPR_UNARY || e->unary.op != FL_UN_NOT) return;
  const FlExpr *call = e->unary.operand, *arg = NULL;
  if (call->kind == FL_EXPR_CALL && call->call.func->kind == FL_EXPR_NAME &&
      strcmp(call->call.func->name.text, "is_null") == 0 && call->call.args.n == 1)
    arg = call->call.args.at[0].value;
  if (!arg || (arg->kind != FL_EXPR_NAME && arg->kind != FL_EXPR_COL)) return;
  int k = fl_type_field_find(t.type->elem, arg->name.text);
  if (k >= 0) known[k] = true;
}

static FlVal without_null(FlSema *s, FlVal t, const bool *known) {
  FlColumns c = fl_columns_of(s, t);
  for (int i = 0; i < c.n; i++)
    if (known[i]) c.values[i] = fl_val_plain(s, c.values[i]);
  return fl_columns_table(s, &c, fl_val_rows(t));
}

FlVal fl_builtin_where(FlSema *s, FlCallSite *c) {
  FlVal t, all = {0};
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  bool *known = FL_NEW_ARRAY(s->arena, bool, t.type->elem->n_fields + 1);
  if (!c->n_rest) return fl_builtin_lacks(s, c, "a condition");
  for (int i = 0; i < c->n_rest; i++) {
    if (c->rest[i].name.text && !c->rest[i].column) {
      FlDiag *d = fl_sema_report(s, FL_E0610, c->rest[i].name.span, "`where` takes conditions, not names");
      fl_diag_help(s->sink, d, "compare with `==`: `%s == ...`", c->rest[i].name.text);
      return fl_val_error(s);
    }
    const FlExpr *text = c->rest[i].expr;
    known_values(s, t, text, known);
    FlLazyMark mark = fl_lazy_mark(s);
    s->by_element += i > 0; /* for the rows that the conditions before it left */
    FlVal v = fl_verb_expr(s, t, &c->rest[i], FL_AGG_SPREAD);
    s->by_element -= i > 0;
    if (fl_val_bad(v)) return v;
    bool fits = (v.type->kind == FL_TY_ARRAY || v.type->kind == FL_TY_SCALAR) && v.type->dtype == FL_BOOL;
    if (!fits) {
      FlDiag *d = fl_sema_report(s, FL_E0315, c->rest[i].span, "a condition must be bool, and this is %s",
                                 fl_val_text(s, v));
      const char *quoted = fl_habit_plain_text(text);
      if (quoted) fl_diag_help(s->sink, d, "a condition stands without quotes: `%s`", quoted);
      if (v.type->kind == FL_TY_FUNC) fl_diag_help(s->sink, d, "columns are their names: `where(x > 1)`");
      if (quoted) d->edit.span = c->rest[i].span;
      if (quoted) d->edit.text = quoted;
      return fl_val_error(s);
    }
    v = fl_val_plain(s, v); /* a null condition is false underneath */
    FlSpan span = c->rest[i].span;
    all = all.type ? fl_sema_logic_of(s, FL_BIN_AND, all, v, mark, span, span, span) : v;
  }
  all = fl_verb_as_column(s, all, fl_val_rows(t), c->rest[0].span, "condition");
  if (fl_val_bad(all)) return all;
  FlVal out = without_null(s, fl_sema_compress(s, t, all.parts[0]), known);
  return fl_verb_regroup(s, out, t);
}

FlVal fl_builtin_drop_null(FlSema *s, FlCallSite *c) {
  FlVal t, all = {0};
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  int n = t.type->elem->n_fields;
  bool *known = FL_NEW_ARRAY(s->arena, bool, n + 1);
  for (int i = 0; i < c->n_rest; i++) {
    int k = fl_verb_column(s, t, c->rest[i].expr);
    if (k < 0) return fl_val_error(s);
    known[k] = true;
  }
  for (int k = 0; k < n; k++) {
    if (!c->n_rest) known[k] = true;
    FlVal column = fl_val_field(s, t, k);
    FlValue *valid = known[k] ? fl_val_valid(s, column) : NULL;
    if (!valid) continue;
    FlVal v = fl_val_array(s, FL_BOOL, column.type->rank, valid);
    all = all.type ? fl_sema_binary(s, FL_BIN_AND, all, v, c->span, c->span, c->span) : v;
  }
  if (!all.type || fl_val_bad(all)) return t;
  return fl_verb_regroup(s, without_null(s, fl_sema_compress(s, t, all.parts[0]), known), t);
}

/* ---- order ---- */

FlVal fl_builtin_desc(FlSema *s, FlCallSite *c) {
  FlDiag *d = fl_sema_report(s, FL_E0611, c->span,
                             "`desc` orders a key of `sort` or `rank` downwards; it means nothing elsewhere");
  (void)d;
  return fl_val_error(s);
}

bool fl_sema_key_desc(FlActual *key) {
  const FlExpr *e = key->expr;
  bool is_desc = e && e->kind == FL_EXPR_CALL && e->call.func->kind == FL_EXPR_NAME &&
                 strcmp(e->call.func->name.text, "desc") == 0 && e->call.args.n == 1;
  if (is_desc) key->expr = e->call.args.at[0].value;
  return is_desc;
}

/* The values of a key; `-x` of numbers is x downwards, which cannot overflow. */
static FlVal key_value(FlSema *s, FlVal t, FlActual *key, bool *is_desc) {
  const FlExpr *e = key->expr;
  if (*is_desc || !e || e->kind != FL_EXPR_UNARY || e->unary.op != FL_UN_NEG)
    return fl_verb_expr(s, t, key, FL_AGG_SPREAD);
  FlActual plain = {.expr = e->unary.operand, .span = e->unary.operand->span, .column = key->column};
  FlVal v = fl_verb_expr(s, t, &plain, FL_AGG_SPREAD);
  *is_desc =
      v.type->kind == FL_TY_ARRAY && (fl_dtype_is_number(v.type->dtype) || v.type->dtype == FL_DURATION ||
                                      fl_dtype_is_decimal(v.type->dtype));
  return *is_desc || fl_val_bad(v) ? v : fl_verb_expr(s, t, key, FL_AGG_SPREAD);
}

/* sort(x, descending = true): each key says its order itself; sort(by = x): keys have no name. */
static void says_order(FlSema *s, const FlActual *a, const FlExpr *key, const char *verb) {
  FlName name = a->name;
  FlDiag *d = fl_sema_report(s, FL_E0209, name.span, "`%s` has no parameter `%s`", verb, name.text);
  if (strcmp(name.text, "by") == 0 || strcmp(name.text, "key") == 0) {
    d->edit.span = name.span;
    d->edit.span.len = a->span.start - name.span.start;
    d->edit.text = "";
    fl_diag_help(s->sink, d, "keys stand alone: `%s(x, desc(y))`", verb);
    return;
  }
  bool plain = key && key->kind == FL_EXPR_NAME;
  fl_diag_help(s->sink, d, "downwards by a key: `%s(desc(%s))`", verb, plain ? key->name.text : "x");
}

/* Are these names of columns in quotes, all in one list? */
static bool names_in_list(FlSema *s, FlVal t, const FlExpr *e) {
  int n = e && e->kind == FL_EXPR_ARRAY ? e->array.n : 0;
  for (int i = 0; i < n; i++) {
    const char *name = fl_habit_plain_text(e->array.at[i]);
    if (!name || fl_type_field_find(fl_type_row(t.type), fl_intern_z(s->names, name)) < 0) return false;
  }
  return n > 0;
}

/* The rows of t by the group (NULL: none) and the keys; `most` is not NULL: so many of each group. NULL:
 * reported. */
static FlValue *sorted_rows(FlSema *s, FlVal t, int n, FlActual *keys, FlValue *group_of, FlValue *most,
                            const char *verb, bool downwards) {
  FlVal values[17] = {0};
  FlColumnAttr columns[17];
  bool down[17] = {false};
  FlValue *args[35] = {most};
  int lead = group_of != NULL;
  if (n > 16) {
    fl_sema_error(s, FL_E0210, keys[16].span, "`%s` takes at most 16 keys", verb);
    return NULL;
  }
  for (int i = 0; i < n; i++) {
    FlActual key = keys[i];
    if (key.name.text && !key.column && strcmp(verb, "sort") == 0) {
      says_order(s, &keys[i], keys[0].expr, verb);
      return NULL;
    }
    if (fl_habit_plain_text(key.expr) || names_in_list(s, t, key.expr)) {
      (void)fl_verb_column(s, t, key.expr);
      return NULL;
    }
    bool is_desc = fl_sema_key_desc(&key);
    FlVal v = key_value(s, t, &key, &is_desc);
    if (!fl_verb_is_key(s, v, keys[i].span, verb)) return NULL;
    values[lead + i] = v;
    down[lead + i] = is_desc != downwards;
  }
  if (group_of) values[0] = fl_val_array(s, FL_I64, 1, group_of);
  n += lead;
  int before = most != NULL, n_args = before + fl_verb_keys(s, n, values, args + before, columns);
  for (int i = 0; i < n; i++) columns[i].flags |= down[i] ? FL_COLUMN_DOWN : 0;
  FlType1 out = fl_t_array(FL_I64, 1);
  FlOp *op = fl_ir_op(&s->b, most ? FL_OP_TOP_ROWS : FL_OP_SORT_PERM, n_args, args, 1, &out, 0);
  op->attrs.i = most && lead;
  fl_ir_set_columns(s->arena, op, n, columns);
  if (most) return op->results[0];
  FlValue *rows = fl_ir_dim(&s->b, op->results[0], 0);
  if (rows != fl_val_rows(t)) fl_sema_alias(s, rows, fl_sema_size(s, fl_val_rows(t)));
  return op->results[0];
}

static FlVal take_all(FlSema *s, FlVal t, FlValue *perm) { /* as many rows as before */
  FlVal out = fl_sema_take(s, t, perm, FL_TAKE_PROVEN);
  out.parts[0] = fl_val_rows(t);
  fl_sema_alias_rows(s, out);
  return out;
}

FlVal fl_builtin_sort(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (v.type->kind == FL_TY_ARRAY && v.type->rank == 1 && !c->n_rest) { /* an array in ascending order */
    FlType1 out = fl_t_array(FL_I64, 1);
    FlOp *op = fl_ir_op(&s->b, FL_OP_SORT_PERM, fl_type_element_parts(v.type), v.parts, 1, &out, 0);
    FlColumnAttr key = fl_ir_column(v.type->nullable);
    fl_ir_set_columns(s->arena, op, 1, &key);
    return fl_sema_take(s, v, op->results[0], FL_TAKE_PROVEN);
  }
  FlVal t;
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  if (!c->n_rest) return fl_builtin_lacks(s, c, "at least one key");
  FlValue *perm = sorted_rows(s, t, c->n_rest, c->rest, NULL, NULL, "sort", false);
  return perm ? fl_verb_regroup(s, take_all(s, t, perm), t) : fl_val_error(s);
}

static FlValue *at_most(FlSema *s, FlValue *n, FlValue *rows) {
  FlValue *k = fl_sema_op2(s, FL_OP_MIN, fl_sema_op2(s, FL_OP_MAX, n, fl_sema_i64(s, 0)), rows);
  fl_sema_mark_size(s, k);
  return k;
}

/* The number of rows, 5 when not said, which is at least 0; false: reported. */
static bool how_many(FlSema *s, FlCallSite *c, FlValue **n) {
  FlActual *a = &c->args[1];
  *n = fl_sema_i64(s, 5);
  if (!fl_actual_given(a)) return true;
  if (!fl_actual_i64(s, a, n)) return false;
  const char *message = fl_arena_printf(
      s->arena, "`%s` takes a number of rows that is at least 0, and this is {a}", c->builtin->name);
  int64_t known;
  if (fl_ir_const_value_i(*n, &known) && known < 0) {
    fl_sema_known_failure(s, FL_E0404, a->span, message, known, 0);
    return false;
  }
  if (fl_sema_is_size(s, *n)) return true;
  FlValue *ok = fl_sema_op2(s, FL_OP_GE, *n, fl_sema_i64(s, 0));
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 2, (FlValue *[]){ok, *n}, 0, NULL, 0);
  check->attrs.i = FL_FAULT_DOMAIN;
  check->attrs.s = message;
  return true;
}

/* The rows of a grouped table for which number op n. */
static FlVal kept_of_groups(FlSema *s, FlCallSite *c, FlVal t, FlOpcode op, FlVal number, FlValue *n) {
  FlVal pair[2] = {number, fl_val_scalar(s, FL_I64, n)};
  FlVal kept = fl_sema_lift_op(s, c->span, op, 2, pair, FL_BOOL, NULL);
  return fl_verb_regroup(s, fl_sema_compress(s, t, kept.parts[0]), t);
}

static FlVal last_of_groups(FlSema *s, FlCallSite *c, FlVal t, const FlGrouping *g, FlValue *n) {
  FlType1 i64s = fl_t_array(FL_I64, 1);
  FlValue *args[2] = {g->group_of, g->groups};
  FlVal counts =
      fl_val_array(s, FL_I64, 1, fl_ir_op(&s->b, FL_OP_SEGMENT_COUNT, 2, args, 1, &i64s, 0)->results[0]);
  FlVal pair[2] = {fl_sema_take(s, counts, g->group_of, 0),
                   fl_val_array(s, FL_I64, 1, fl_verb_row_numbers(s, g))};
  FlVal left = fl_sema_lift_op(s, c->span, FL_OP_WRAP_SUB, 2, pair, FL_I64, NULL);
  return kept_of_groups(s, c, t, FL_OP_LE, left, n);
}

/* n rows of each group at random: those with the least of random numbers that belong to the rows. */
static FlVal sample_of_groups(FlSema *s, FlCallSite *c, FlVal t, FlValue *n, FlValue *seed) {
  FlValue *rows = fl_val_rows(t);
  FlType1 one = fl_t_scalar(FL_F64);
  FlSemaMap map = fl_sema_map(s, 1, &rows, FL_F64);
  FlValue *args[3] = {seed, map.index[0], fl_sema_i64(s, 0)};
  FlValue *number = fl_ir_op(&s->b, FL_OP_RANDOM, 3, args, 1, &one, 0)->results[0];
  FlVal numbers = fl_val_array(s, FL_F64, 1, fl_sema_map_end(s, &map, number));
  FlVal place = fl_verb_rank(s, fl_verb_grouping(s, t)->group_of, numbers, false, "first");
  return kept_of_groups(s, c, t, FL_OP_LE, place, n);
}

FlVal fl_builtin_head(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  FlValue *n;
  if (fl_val_bad(v) || !how_many(s, c, &n)) return fl_val_error(s);
  if (v.type->kind != FL_TY_TABLE && v.type->kind != FL_TY_ARRAY)
    return fl_sema_error(s, FL_E0606, c->args[0].span, "`head` takes a table or an array, and this is %s",
                         fl_val_text(s, v));
  if (fl_type_is_grouped(v.type)) {
    FlVal before = fl_val_array(s, FL_I64, 1, fl_verb_row_numbers(s, fl_verb_grouping(s, v)));
    return kept_of_groups(s, c, v, FL_OP_LT, before, n);
  }
  return fl_sema_index_rows(s, v, fl_sema_i64(s, 0), at_most(s, n, fl_sema_dim(s, v, 0)));
}

FlVal fl_builtin_tail(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  FlValue *n;
  if (fl_val_bad(v) || !how_many(s, c, &n)) return fl_val_error(s);
  if (v.type->kind != FL_TY_TABLE && v.type->kind != FL_TY_ARRAY)
    return fl_sema_error(s, FL_E0606, c->args[0].span, "`tail` takes a table or an array, and this is %s",
                         fl_val_text(s, v));
  if (fl_type_is_grouped(v.type)) return last_of_groups(s, c, v, fl_verb_grouping(s, v), n);
  FlValue *rows = fl_sema_dim(s, v, 0);
  return fl_sema_index_rows(s, v, fl_sema_op2(s, FL_OP_SUB, rows, at_most(s, n, rows)), rows);
}

FlVal fl_builtin_sample(FlSema *s, FlCallSite *c) {
  FlVal t;
  FlValue *n, *seed = fl_sema_i64(s, 0);
  if (!fl_verb_table(s, c, &t) || !how_many(s, c, &n)) return fl_val_error(s);
  if (fl_actual_given(&c->args[2]) && !fl_actual_i64(s, &c->args[2], &seed)) return fl_val_error(s);
  if (fl_type_is_grouped(t.type)) return sample_of_groups(s, c, t, n, seed);
  FlType1 out = fl_t_array(FL_I64, 1);
  FlValue *chosen =
      fl_ir_op(&s->b, FL_OP_CHOICE, 3, (FlValue *[]){seed, fl_val_rows(t), n}, 1, &out, 0)->results[0];
  FlOp *order = fl_ir_op(&s->b, FL_OP_SORT_PERM, 1, &chosen, 1, &out, 0);
  FlColumnAttr key = fl_ir_column(false);
  fl_ir_set_columns(s->arena, order, 1, &key);
  FlValue *rows =
      fl_ir_op(&s->b, FL_OP_TAKE, 2, (FlValue *[]){order->results[0], chosen}, 1, &out, 0)->results[0];
  return fl_sema_take(s, t, rows, FL_TAKE_PROVEN);
}

FlVal fl_builtin_top(FlSema *s, FlCallSite *c) {
  FlVal t;
  FlValue *n;
  if (!fl_verb_table(s, c, &t) || !how_many(s, c, &n)) return fl_val_error(s);
  if (!fl_actual_given(&c->args[2])) return fl_builtin_lacks(s, c, "`by =`, what the largest are taken of");
  const FlExpr *by = c->args[2].expr;
  int n_keys = by && by->kind == FL_EXPR_TUPLE ? by->tuple.n : 0;
  FlActual *keys = n_keys ? FL_NEW_ARRAY(s->arena, FlActual, n_keys) : &c->args[2];
  for (int i = 0; i < n_keys; i++) {
    const FlTupleItem *item = &by->tuple.at[i];
    if (item->name.text) return fl_sema_error(s, FL_E0607, item->span, "a key of `by = (..)` has no name");
    keys[i] = (FlActual){.expr = item->value, .span = item->value->span};
  }
  const FlGrouping *g = fl_verb_grouping(s, t);
  FlValue *rows = sorted_rows(s, t, n_keys ? n_keys : 1, keys, g ? g->group_of : NULL, n, "top", true);
  return rows ? fl_verb_regroup(s, fl_sema_take(s, t, rows, FL_TAKE_PROVEN), t) : fl_val_error(s);
}

FlVal fl_builtin_distinct(FlSema *s, FlCallSite *c) {
  FlVal t, keys[65];
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  int n = 0, fields = t.type->elem->n_fields;
  FlColumnAttr columns[65];
  FlValue *args[130];
  if (c->n_rest > 64 || (!c->n_rest && fields > 64))
    return fl_sema_error(s, FL_E0210, c->span, "`distinct` takes at most 64 columns");
  const FlGrouping *g = fl_verb_grouping(s, t);
  if (g) { /* of each group */
    keys[n] = fl_val_array(s, FL_I64, 1, g->group_of);
    n++;
  }
  for (int i = 0; i < (c->n_rest ? c->n_rest : fields); i++) {
    int k = c->n_rest ? fl_verb_column(s, t, c->rest[i].expr) : i;
    if (k < 0) return fl_val_error(s);
    keys[n] = fl_val_field(s, t, k);
    if (!fl_verb_is_key(s, keys[n], c->n_rest ? c->rest[i].span : c->span, "distinct"))
      return fl_val_error(s);
    n++;
  }
  int n_args = fl_verb_keys(s, n, keys, args, columns);
  FlType1 out = fl_t_array(FL_I64, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_DISTINCT, n_args, args, 1, &out, 0);
  fl_ir_set_columns(s->arena, op, n, columns);
  return fl_verb_regroup(s, fl_sema_take(s, t, op->results[0], FL_TAKE_PROVEN), t);
}

/* ---- groups ---- */

/* Column that a key without a name means; -1: reported. */
static int key_column(FlSema *s, FlVal t, const FlActual *a, const char *word) {
  const FlExpr *e = a->expr;
  if (!e || e->kind == FL_EXPR_NAME || e->kind == FL_EXPR_COL || e->kind == FL_EXPR_ARRAY ||
      fl_habit_plain_text(e))
    return fl_verb_column(s, t, e);
  FlDiag *d = fl_sema_report(s, FL_E0607, a->span, "a key that is computed needs a name");
  const bool by = strcmp(word, "by") == 0;
  fl_diag_help(s->sink, d, by ? "as in `by = (key = ..)`" : "as in `%s(key = ..)`", word);
  return -1;
}

FlVal fl_verb_group_by(FlSema *s, FlVal t, FlCallSite *c, const char *word) {
  if (!fl_verb_expand(s, t, c)) return fl_val_error(s);
  if (!c->n_rest || c->n_rest > 16)
    return fl_sema_error(s, FL_E0210, c->span, "`%s` takes 1 to 16 keys", word);
  FlColumns columns = fl_columns_of(s, t);
  const char **keys = FL_NEW_ARRAY(s->arena, const char *, c->n_rest);
  for (int i = 0; i < c->n_rest; i++) {
    FlActual *a = &c->rest[i];
    int k = a->name.text ? 0 : key_column(s, t, a, word);
    if (k < 0) return fl_val_error(s);
    keys[i] = a->name.text ? a->name.text : t.type->elem->fields[k].name;
    for (int before = 0; before < i; before++)
      if (keys[before] == keys[i])
        return fl_sema_error(s, FL_E0619, a->span, "the key `%s` is there twice", keys[i]);
    FlVal v = a->name.text ? fl_verb_as_column(s, fl_verb_expr(s, t, a, FL_AGG_SPREAD), fl_val_rows(t),
                                               a->span, a->name.text)
                           : fl_val_field(s, t, k);
    if (!fl_verb_is_key(s, v, a->span, word)) return fl_val_error(s);
    if (a->name.text) fl_columns_set(s, &columns, a->name.text, v);
  }
  FlVal out = fl_columns_table(s, &columns, fl_val_rows(t));
  return fl_verb_regroup(s, out, (FlVal){.type = fl_type_grouped(s->types, out.type, c->n_rest, keys)});
}

FlVal fl_builtin_group_by(FlSema *s, FlCallSite *c) {
  FlVal t;
  return fl_verb_table(s, c, &t) ? fl_verb_group_by(s, t, c, "group_by") : fl_val_error(s);
}

FlVal fl_builtin_ungroup(FlSema *s, FlCallSite *c) {
  FlVal t;
  if (!fl_verb_table(s, c, &t)) return fl_val_error(s);
  t.type = fl_type_table(s->types, t.type->elem);
  t.group = NULL;
  return t;
}
