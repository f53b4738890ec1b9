/* columns.c: verbs that choose or make columns: select, drop, rename, derive, summarize, fill_null, table.
 *
 * All arguments of a verb see its input. A grouping stays while its key columns do. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/habits.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"
#include "sema/verbs/verbs.h"

static FlVal needs_name(FlSema *s, FlCallSite *c, const FlActual *a) {
  FlDiag *d = fl_sema_report(s, FL_E0620, a->span, "`%s` needs a name for this column", c->builtin->name);
  if (!fl_habit_alias(s, d, a->expr)) fl_diag_help(s->sink, d, "write `name = ...`");
  return fl_val_error(s);
}

static FlVal twice(FlSema *s, FlSpan span, const char *name) {
  return fl_sema_error(s, FL_E0619, span, "the column `%s` would be there twice", name);
}

bool fl_columns_add(FlSema *s, FlColumns *c, const char *name, FlVal v, FlSpan span) {
  if (fl_columns_find(c, name) >= 0) {
    twice(s, span, name);
    return false;
  }
  fl_columns_set(s, c, name, v);
  return true;
}

FlVal fl_columns_same_rows(FlSema *s, FlCallSite *c, const FlColumns *columns, FlVal t,
                           const char *const *renamed) {
  FlVal out = fl_columns_table(s, columns, fl_val_rows(t));
  int n = t.type->n_keys;
  if (!n) return out;
  const char **keys = FL_NEW_ARRAY(s->arena, const char *, n);
  for (int i = 0; i < n; i++) {
    int was = fl_type_field_find(t.type->elem, t.type->keys[i]);
    keys[i] = renamed ? renamed[was] : t.type->keys[i];
    int k = fl_columns_find(columns, keys[i]);
    if (k >= 0 && columns->values[k].parts[0] == fl_val_field(s, t, was).parts[0]) continue;
    FlDiag *d = fl_sema_report(s, FL_E0622, c->span,
                               k < 0 ? "`%s` leaves out `%s`, which the rows are grouped by"
                                     : "`%s` changes `%s`, which the rows are grouped by",
                               c->builtin->name, keys[i]);
    if (k < 0 && strcmp(c->builtin->name, "select") == 0)
      fl_diag_help(s->sink, d, "name `%s` among the columns, or `ungroup` first", keys[i]);
    else fl_diag_help(s->sink, d, "`ungroup` first, or do it before `group_by`");
    return fl_val_error(s);
  }
  out.type = fl_type_grouped(s->types, out.type, n, keys);
  out.group = t.group;
  return out;
}

/* ---- choosing ---- */

FlVal fl_builtin_select(FlSema *s, FlCallSite *c) {
  FlVal t;
  FlColumns columns = {0};
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  if (!c->n_rest) return fl_builtin_lacks(s, c, "at least one column");
  for (int i = 0; i < c->n_rest; i++) {
    FlActual *a = &c->rest[i];
    const char *name = a->name.text;
    FlVal v;
    if (name) {
      fl_habit_rows(s, t, a->expr);
      v = fl_verb_as_column(s, fl_verb_expr(s, t, a, FL_AGG_SPREAD), fl_val_rows(t), a->span, name);
      if (fl_val_bad(v)) return v;
    } else {
      int k = fl_verb_column(s, t, a->expr);
      if (k < 0) return fl_val_error(s);
      name = t.type->elem->fields[k].name;
      v = fl_val_field(s, t, k);
    }
    if (!fl_columns_add(s, &columns, name, v, a->span)) return fl_val_error(s);
  }
  return fl_columns_same_rows(s, c, &columns, t, NULL);
}

FlVal fl_builtin_drop(FlSema *s, FlCallSite *c) {
  FlVal t;
  FlColumns columns = {0};
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  int n = t.type->elem->n_fields;
  bool *dropped = FL_NEW_ARRAY(s->arena, bool, n + 1);
  for (int i = 0; i < c->n_rest; i++) {
    int k = fl_verb_column(s, t, c->rest[i].expr);
    if (k < 0) return fl_val_error(s);
    dropped[k] = true;
  }
  for (int k = 0; k < n; k++)
    if (!dropped[k]) fl_columns_set(s, &columns, t.type->elem->fields[k].name, fl_val_field(s, t, k));
  return fl_columns_same_rows(s, c, &columns, t, NULL);
}

/* Marks column k of t as given; reports where it was already. */
static bool once(FlSema *s, FlVal t, const FlActual *a, int k, bool *given, const char *what) {
  if (given[k]) fl_sema_error(s, FL_E0619, a->span, "the column `%s` %s", t.type->elem->fields[k].name, what);
  bool first = !given[k];
  given[k] = true;
  return first;
}

/* rename(old = "new") */
static bool turned_round(FlSema *s, FlVal t, const FlActual *a) {
  const char *text = fl_habit_plain_text(a->expr);
  const FlType *row = fl_type_row(t.type);
  bool turned = text && fl_type_field_find(row, fl_intern_z(s->names, text)) < 0 &&
                fl_type_field_find(row, a->name.text) >= 0;
  if (!turned) return false;
  FlDiag *d =
      fl_sema_report(s, FL_E0607, a->span, "a new name stands before the old one, both without quotes");
  fl_diag_help(s->sink, d, "write `%s = %s`", text, a->name.text);
  d->edit.span = a->name.span;
  d->edit.span.len = a->span.start + a->span.len - a->name.span.start;
  d->edit.text = fl_arena_printf(s->arena, "%s = %s", text, a->name.text);
  return true;
}

FlVal fl_builtin_rename(FlSema *s, FlCallSite *c) {
  FlVal t;
  FlColumns columns = {0};
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  int n = t.type->elem->n_fields;
  const char **names = FL_NEW_ARRAY(s->arena, const char *, n + 1);
  FlSpan *spans = FL_NEW_ARRAY(s->arena, FlSpan, n + 1);
  bool *given = FL_NEW_ARRAY(s->arena, bool, n + 1);
  for (int k = 0; k < n; k++) {
    names[k] = t.type->elem->fields[k].name;
    spans[k] = c->span;
  }
  for (int i = 0; i < c->n_rest; i++) {
    FlActual *a = &c->rest[i];
    if (!a->name.text) {
      FlDiag *d = fl_sema_report(s, FL_E0620, a->span, "`rename` needs the new name");
      fl_diag_help(s->sink, d, "write `new = old`");
      return fl_val_error(s);
    }
    if (turned_round(s, t, a)) return fl_val_error(s);
    int k = fl_verb_column(s, t, a->expr);
    if (k < 0 || !once(s, t, a, k, given, "is renamed twice")) return fl_val_error(s);
    names[k] = a->name.text;
    spans[k] = a->span;
  }
  for (int k = 0; k < n; k++)
    if (!fl_columns_add(s, &columns, names[k], fl_val_field(s, t, k), spans[k])) return fl_val_error(s);
  return fl_columns_same_rows(s, c, &columns, t, names);
}

/* ---- making ---- */

/* The table of `summarize` and `derive`, grouped for this verb alone where `by` says so. */
static bool table_by(FlSema *s, FlCallSite *c, FlVal *t) {
  if (!fl_verb_table(s, c, t)) return false;
  FlActual *by = &c->args[1];
  if (!fl_actual_given(by)) return true;
  if (fl_type_is_grouped(t->type)) {
    FlDiag *d = fl_sema_report(s, FL_E0612, by->span, "the table is grouped by %s already",
                               fl_type_keys_text(s->types, t->type));
    fl_diag_help(s->sink, d, "leave out `by`, or `ungroup` first");
    return false;
  }
  const bool several = by->expr->kind == FL_EXPR_TUPLE;
  FlCallSite keys = {.builtin = c->builtin, .span = by->span, .n_rest = several ? by->expr->tuple.n : 1};
  keys.rest = FL_NEW_ARRAY(s->arena, FlActual, keys.n_rest + 1);
  keys.rest[0] = (FlActual){.expr = by->expr, .span = by->span};
  for (int i = 0; several && i < keys.n_rest; i++) {
    const FlTupleItem *item = &by->expr->tuple.at[i];
    keys.rest[i] = (FlActual){.name = item->name, .expr = item->value, .span = item->value->span};
  }
  *t = fl_verb_group_by(s, *t, &keys, "by");
  return !fl_val_bad(*t);
}

FlVal fl_builtin_derive(FlSema *s, FlCallSite *c) {
  FlVal t;
  if (!table_by(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  FlColumns columns = fl_columns_of(s, t), made = {0};
  for (int i = 0; i < c->n_rest; i++) {
    FlActual *a = &c->rest[i];
    if (!a->name.text) return needs_name(s, c, a);
    fl_habit_rows(s, t, a->expr);
    FlVal v =
        fl_verb_as_column(s, fl_verb_expr(s, t, a, FL_AGG_SPREAD), fl_val_rows(t), a->span, a->name.text);
    if (fl_val_bad(v) || !fl_columns_add(s, &made, a->name.text, v, a->name.span)) return fl_val_error(s);
    fl_columns_set(s, &columns, a->name.text, v);
  }
  FlVal out = fl_columns_same_rows(s, c, &columns, t, NULL);
  return fl_actual_given(&c->args[1]) && !fl_val_bad(out) ? fl_columns_table(s, &columns, fl_val_rows(t))
                                                          : out;
}

/* How many rows each column of a table has, as far as that is not known to be the table's number. */
typedef struct RowSizes {
  FlVal table;
  FlValue **sizes;
  int n;
  bool found;
} RowSizes;

/* As many as there are rows? */
static bool is_row_level(FlSema *s, FlValue *size, RowSizes *r) {
  if (fl_sema_sizes_equal(s, size, fl_val_rows(r->table))) return true;
  const FlType *row = r->table.type->elem;
  if (!r->found) {
    r->sizes = FL_NEW_ARRAY(s->arena, FlValue *, row->n_fields + 1);
    for (int k = 0; k < row->n_fields; k++) {
      FlValue *n = fl_sema_dim(s, fl_val_field(s, r->table, k), 0);
      if (!fl_sema_sizes_equal(s, n, fl_val_rows(r->table)) && (!r->n || r->sizes[r->n - 1] != n))
        r->sizes[r->n++] = n;
    }
    r->found = true;
  }
  for (int k = 0; k < r->n; k++)
    if (size == fl_sema_size(s, r->sizes[k])) return true;
  return false;
}

/* count() of a grouped table as a verb: the keys, and how many rows each group has. */
FlVal fl_verb_count_groups(FlSema *s, FlVal t) {
  const FlGrouping *g = fl_verb_grouping(s, t);
  FlColumns columns = {0};
  for (int i = 0; i < t.type->n_keys; i++) {
    FlVal key = fl_val_field(s, t, fl_type_field_find(t.type->elem, t.type->keys[i]));
    fl_columns_set(s, &columns, t.type->keys[i], fl_sema_take(s, key, g->first, FL_TAKE_PROVEN));
  }
  FlType1 type = fl_t_array(FL_I64, 1);
  FlValue *args[2] = {g->group_of, g->groups};
  FlValue *counts = fl_ir_op(&s->b, FL_OP_SEGMENT_COUNT, 2, args, 1, &type, 0)->results[0];
  FlVal n = fl_verb_as_column(s, fl_val_array(s, FL_I64, 1, counts), g->groups, s->b.span, "count");
  if (!fl_columns_add(s, &columns, fl_intern_z(s->names, "count"), n, s->b.span)) return fl_val_error(s);
  return fl_columns_table(s, &columns, g->groups);
}

FlVal fl_builtin_summarize(FlSema *s, FlCallSite *c) {
  FlVal t;
  FlColumns columns = {0};
  if (!table_by(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  const FlGrouping *g = fl_verb_grouping(s, t);
  FlValue *groups = g ? g->groups : fl_sema_i64(s, 1);
  RowSizes row_sizes = {.table = t};
  for (int i = 0; i < t.type->n_keys; i++) {
    FlVal key = fl_val_field(s, t, fl_type_field_find(t.type->elem, t.type->keys[i]));
    fl_columns_set(s, &columns, t.type->keys[i], key);
  }
  for (int i = 0; i < c->n_rest; i++) {
    FlActual *a = &c->rest[i];
    if (!a->name.text) return needs_name(s, c, a);
    FlVal v = fl_verb_expr_in(s, t, g, a, FL_AGG_SUMMARIZE);
    if (fl_val_bad(v)) return v;
    bool rows = v.type->kind == FL_TY_ARRAY && is_row_level(s, fl_sema_dim(s, v, 0), &row_sizes);
    if (rows && !fl_sema_sizes_equal(s, fl_sema_dim(s, v, 0), groups)) {
      FlDiag *d = fl_sema_report(s, FL_E0605, a->span,
                                 "this gives one value a row; use an aggregate such as `mean(...)`");
      fl_diag_note(s->sink, d, (FlSpan){0}, "`summarize` makes one row %s",
                   g ? "a group" : "of the whole table");
      return fl_val_error(s);
    }
    v = fl_verb_as_column(s, v, groups, a->span, a->name.text);
    if (fl_val_bad(v) || !fl_columns_add(s, &columns, a->name.text, v, a->name.span)) return fl_val_error(s);
  }
  for (int i = 0; i < t.type->n_keys; i++) /* last: what finds the aggregates is free by then */
    columns.values[i] = fl_sema_take(s, columns.values[i], g->first, FL_TAKE_PROVEN);
  if (!columns.n)
    return fl_sema_error(s, FL_E0210, c->span,
                         "`summarize` needs at least one aggregate, as in `n = count()`");
  return fl_columns_table(s, &columns, groups);
}

/* Has v a type with that of the column? */
static bool fills(FlSema *s, FlVal column, FlVal v) {
  bool plain = v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY;
  if (!plain || (column.type->dtype == FL_CATEGORY && v.type->dtype == FL_TEXT)) return true;
  FlVal both[2] = {{.type = fl_type_scalar(s->types, column.type->dtype, true)},
                   {.type = fl_type_scalar(s->types, v.type->dtype, true), .literal = v.literal}};
  return fl_type_common(s, both, 2) != NULL;
}

FlVal fl_builtin_fill_null(FlSema *s, FlCallSite *c) {
  FlVal t;
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  FlColumns columns = fl_columns_of(s, t);
  bool *given = FL_NEW_ARRAY(s->arena, bool, t.type->elem->n_fields + 1);
  for (int i = 0; i < c->n_rest; i++) {
    FlActual *a = &c->rest[i];
    if (!a->name.text) {
      FlDiag *d = fl_sema_report(s, FL_E0620, a->span, "`fill_null` needs the column that it fills");
      fl_diag_help(s->sink, d, "write `column = value`");
      return fl_val_error(s);
    }
    FlExpr name = {.kind = FL_EXPR_NAME, .span = a->name.span, .height = 1, .name = a->name};
    int k = fl_verb_column(s, t, &name);
    if (k < 0 || !once(s, t, a, k, given, "is filled twice")) return fl_val_error(s);
    FlVal column = fl_val_field(s, t, k), v = fl_verb_expr(s, t, a, FL_AGG_SPREAD);
    if (fl_val_bad(v)) return v;
    if (!fl_val_valid(s, column)) continue; /* nothing to fill */
    if (!fills(s, column, v)) {
      fl_sema_error(s, FL_E0301, a->span, "the column `%s` is %s, and cannot be filled with %s", a->name.text,
                    fl_val_text(s, column), fl_val_text(s, v));
      return fl_val_error(s);
    }
    if (v.type->kind == FL_TY_ARRAY) v = fl_verb_as_column(s, v, fl_val_rows(t), a->span, a->name.text);
    if (!fl_val_bad(v)) v = fl_sema_binary(s, FL_BIN_DEFAULT, column, v, a->span, a->name.span, a->span);
    if (fl_val_bad(v)) return v;
    fl_columns_set(s, &columns, a->name.text, v);
  }
  return fl_columns_same_rows(s, c, &columns, t, NULL);
}

/* A column of `table`, as the type that is wanted says: of nothing, or of nulls alone, it takes its type. */
static FlVal wanted_column(FlSema *s, FlCallSite *c, FlActual *a, const char *name) {
  const FlType *row = c->want && c->want->kind == FL_TY_TABLE ? c->want->elem : NULL;
  int k = row ? fl_type_field_find(row, name) : -1;
  const FlType *field = k >= 0 ? row->fields[k].type : NULL;
  bool empty = a->expr && a->expr->kind == FL_EXPR_ARRAY && !a->expr->array.n;
  if (empty && !field)
    return fl_sema_error(
        s, FL_E0311, a->span,
        "nothing says what this empty column holds; write `let t: (%s: f64)[_] = table(...)`", name);
  FlVal v = fl_actual_value(s, a, field ? fl_type_many(s->types, field) : NULL);
  if (v.type->kind != FL_TY_NULL) return v;
  if (field && field->kind == FL_TY_SCALAR && field->nullable) return fl_val_null_of(s, field);
  return fl_sema_error(s, FL_E0503, a->span, "nothing says which type this null has");
}

FlVal fl_builtin_table(FlSema *s, FlCallSite *c) {
  FlColumns columns = {0};
  FlValue *rows = NULL;
  if (!c->n_rest)
    return fl_sema_error(s, FL_E0210, c->span,
                         "`table` needs at least one column, as in `table(x = [1, 2])`");
  for (int i = 0; i < c->n_rest; i++) {
    FlActual *a = &c->rest[i];
    const char *name = a->name.text;
    if (!name && a->expr && a->expr->kind == FL_EXPR_NAME) name = a->expr->name.text;
    if (!name) return needs_name(s, c, a);
    FlVal v = wanted_column(s, c, a, name);
    if (fl_val_bad(v) || !fl_columns_add(s, &columns, name, v, a->span)) return fl_val_error(s);
    bool many = v.type->kind == FL_TY_ARRAY || v.type->kind == FL_TY_TABLE || v.type->kind == FL_TY_LIST;
    if (!rows && many) {
      rows = fl_sema_dim(s, v, 0);
      fl_sema_keep(s, v); /* it says how many rows there are */
    }
  }
  if (!rows)
    return fl_sema_error(s, FL_E0608, c->span,
                         "`table` needs at least one array: nothing here says how many rows there are");
  for (int i = 0; i < columns.n; i++) {
    columns.values[i] = fl_verb_as_column(s, columns.values[i], rows, c->rest[i].span, columns.names[i]);
    if (fl_val_bad(columns.values[i])) return columns.values[i];
  }
  return fl_columns_table(s, &columns, rows);
}
