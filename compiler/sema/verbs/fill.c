/* fill.c: fill_down and fill_up, the verbs that repeat a value over the nulls that follow or precede it.
 *
 * In: a table, and which of its columns. Out: the same rows; the columns keep their `?`, as nothing stands
 * before the first value. What always holds: in a grouped table a value stays in its group. */
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"
#include "sema/verbs/verbs.h"

typedef struct Filling {
  bool up;
  FlValue *rows; /* how many */
  const FlGrouping *grouping;
  FlValue *group_of; /* in the order in which the rows are gone through; NULL: one group */
} Filling;

/* The row at a position of the order in which the rows are gone through, and the other way round. */
static FlValue *turned(FlSema *s, const Filling *f, FlValue *at) {
  if (!f->up) return at;
  FlValue *last = fl_sema_op2(s, FL_OP_WRAP_SUB, f->rows, fl_sema_i64(s, 1));
  return fl_sema_op2(s, FL_OP_WRAP_SUB, last, at);
}

static Filling filling(FlSema *s, FlVal t, bool up) {
  Filling f = {.up = up, .rows = fl_sema_size(s, fl_val_rows(t)), .grouping = fl_verb_grouping(s, t)};
  if (!f.grouping) return f;
  f.group_of = f.grouping->group_of;
  if (!up) return f;
  FlSemaMap map = fl_sema_map(s, 1, &f.rows, FL_I64);
  FlValue *row = turned(s, &f, map.index[0]);
  f.group_of = fl_sema_map_end(s, &map, fl_ir_load(&s->b, f.group_of, 1, &row, true));
  return f;
}

/* i64[rows]: the row whose value each row gets, its own where it has one; -1: there is none. */
static FlValue *sources(FlSema *s, const Filling *f, FlValue *valid) {
  FlType1 type = fl_t_array(FL_I64, 1);
  FlSemaMap map;
  FlValue *row;
  if (f->up) {
    map = fl_sema_map(s, 1, &f->rows, FL_BOOL);
    row = turned(s, f, map.index[0]);
    valid = fl_sema_map_end(s, &map, fl_ir_load(&s->b, valid, 1, &row, true));
  }
  FlValue *args[3] = {f->grouping ? f->grouping->groups : fl_sema_i64(s, 1),
                      f->group_of ? f->group_of : valid, valid};
  FlOp *last = fl_ir_op(&s->b, FL_OP_RUNNING, 3, args, 1, &type, 0);
  last->attrs.i = !f->group_of;
  last->attrs.s = "held";
  FlColumnAttr column = fl_ir_column(false);
  fl_ir_set_columns(s->arena, last, 1, &column);
  if (!f->up) return last->results[0];
  map = fl_sema_map(s, 1, &f->rows, FL_I64);
  row = turned(s, f, map.index[0]);
  FlValue *at = fl_ir_load(&s->b, last->results[0], 1, &row, true);
  FlValue *there = fl_sema_op2(s, FL_OP_GE, at, fl_sema_i64(s, 0));
  return fl_sema_map_end(s, &map, fl_ir_select(&s->b, there, turned(s, f, at), fl_sema_i64(s, -1)));
}

/* The column's values at the rows `from`, null where that is -1. */
static FlVal filled(FlSema *s, FlVal column, FlValue *from) {
  FlVal plain = fl_sema_take(s, fl_val_plain(s, column), from, FL_TAKE_OR_ZERO | FL_TAKE_PROVEN);
  FlVal pair[2] = {fl_val_array(s, FL_I64, 1, from), fl_val_i64(s, 0)};
  FlVal there = fl_sema_lift_op(s, s->b.span, FL_OP_GE, 2, pair, FL_BOOL, NULL);
  FlValue *parts[2] = {plain.parts[0], there.parts[0]};
  return fl_val_with(s, column.type, parts, column);
}

/* Marks the columns that the arguments name, without any all but the keys. false: reported. */
static bool named(FlSema *s, FlCallSite *c, FlVal t, bool *in) {
  const FlType *row = t.type->elem;
  for (int k = 0; k < row->n_fields && !c->n_rest; k++) {
    in[k] = true;
    for (int i = 0; i < t.type->n_keys; i++) in[k] = in[k] && t.type->keys[i] != row->fields[k].name;
  }
  for (int i = 0; i < c->n_rest; i++) {
    FlName name = c->rest[i].name;
    if (name.text) {
      FlDiag *d = fl_sema_report(s, FL_E0607, c->rest[i].span, "`%s` takes the names of columns alone",
                                 c->builtin->name);
      fl_diag_help(s->sink, d, "a value that is the same for all nulls is given by `fill_null(%s = ...)`",
                   name.text);
      return false;
    }
    int k = fl_verb_column(s, t, c->rest[i].expr);
    if (k < 0) return false;
    in[k] = true;
  }
  return true;
}

FlVal fl_builtin_fill(FlSema *s, FlCallSite *c) {
  FlVal t;
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  const FlType *row = t.type->elem;
  bool *in = FL_NEW_ARRAY(s->arena, bool, row->n_fields + 1);
  if (!named(s, c, t, in)) return fl_val_error(s);
  FlColumns columns = fl_columns_of(s, t);
  Filling f = filling(s, t, strcmp(c->builtin->data, "up") == 0);
  for (int k = 0; k < row->n_fields; k++) {
    FlVal column = fl_val_field(s, t, k);
    FlValue *valid =
        in[k] && column.type->kind == FL_TY_ARRAY && column.type->rank == 1 ? fl_val_valid(s, column) : NULL;
    if (!valid) continue; /* nothing to fill */
    fl_columns_set(s, &columns, row->fields[k].name, filled(s, column, sources(s, &f, valid)));
  }
  return fl_columns_same_rows(s, c, &columns, t, NULL);
}
