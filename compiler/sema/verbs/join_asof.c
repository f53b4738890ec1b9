/* join_asof.c: to each row of a table the row of another that is nearest in time, or in any number.
 *
 * In: two tables, `on =` by which they are ordered, and `by =`, columns that must be equal. Out: the left
 * table with the columns of the right one, null where no row is there or near enough; rows as in the left
 * table. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"
#include "sema/verbs/join.h"
#include "sema/verbs/verbs.h"

typedef struct Asof {
  FlJoin join; /* its keys: what `by` says, then `on` */
  FlVal on[2];
  FlValue *valid[2]; /* rows that may match; NULL: all may */
  FlValue *groups, *group[2];
  FlValue *within;
} Asof;

enum { HAS_WITHIN = 1, NOT_EQUAL = 2, HAS_GROUPS = 4 }; /* attribute i of the operator */

static bool is_time(FlDtype d) { return d == FL_DATE || d == FL_DATETIME || d == FL_DURATION; }

static bool read_on(FlSema *s, Asof *a, FlCallSite *c) {
  const FlExpr *on = c->args[2].expr, *by = c->args[3].expr;
  if (!on) {
    FlDiag *d = fl_sema_report(s, FL_E0210, c->span,
                               "`join_asof` needs `on =`, the time or number that the rows go by");
    fl_diag_help(s->sink, d, "as in `join_asof(quotes, on = time, by = symbol, within = minutes(5))`");
    return false;
  }
  if (by && !fl_join_keys(s, &a->join, by)) return false;
  int n_by = a->join.n_keys;
  if (!fl_join_keys(s, &a->join, on)) return false;
  if (a->join.n_keys != n_by + 1) {
    FlDiag *d = fl_sema_report(s, FL_E0647, on->span, "`on =` of `join_asof` is one column");
    fl_diag_help(s->sink, d, "columns that must be equal are `by =`");
    return false;
  }
  FlJoinPair *p = &a->join.key[n_by];
  FlDtype d = p->left_value.type->dtype;
  if (!fl_dtype_is_number(d) && !is_time(d)) {
    FlDiag *diag =
        fl_sema_report(s, FL_E0647, on->span, "`on =` of `join_asof` is a time or a number, and this is %s",
                       fl_val_text(s, p->left_value));
    fl_diag_help(s->sink, diag, "columns that must be equal are `by =`");
    return false;
  }
  a->on[0] = p->left_value;
  a->on[1] = p->right_value;
  /* The right one stays where it has a name of its own. */
  const FlTyField *left = &a->join.left.type->elem->fields[p->left],
                  *right = &a->join.right.type->elem->fields[p->right];
  if (left->name != right->name) p->right = -1;
  return true;
}

static bool both(FlSema *s, FlValue **valid, FlValue *other, FlSpan span) {
  if (!*valid || !other) {
    *valid = *valid ? *valid : other;
    return true;
  }
  FlVal pair[2] = {fl_val_array(s, FL_BOOL, 1, *valid), fl_val_array(s, FL_BOOL, 1, other)};
  FlVal v = fl_sema_lift_op(s, span, FL_OP_AND, 2, pair, FL_BOOL, NULL);
  if (!fl_val_bad(v)) *valid = v.parts[0];
  return !fl_val_bad(v);
}

/* Numbers the groups that `by` makes of the rows of both tables; rows with a null in it match nothing. */
static bool read_groups(FlSema *s, Asof *a, FlSpan span) {
  int n_by = a->join.n_keys - 1;
  FlVal keys[FL_JOIN_KEYS];
  for (int side = 0; side < 2; side++) a->valid[side] = fl_val_valid(s, a->on[side]);
  for (int i = 0; i < n_by; i++) {
    FlVal pair[2] = {a->join.key[i].left_value, a->join.key[i].right_value};
    for (int side = 0; side < 2; side++)
      if (!both(s, &a->valid[side], fl_val_valid(s, pair[side]), span)) return false;
    FlActual joined[2] = {{.value = fl_val_plain(s, pair[0]), .span = span},
                          {.value = fl_val_plain(s, pair[1]), .span = span}};
    keys[i] = fl_sema_call_builtin(s, fl_builtin_find(s, "concat"), 2, joined, span, NULL);
    if (fl_val_bad(keys[i])) return false;
  }
  if (!n_by) return true;
  FlValue *n = fl_sema_size(s, fl_val_rows(a->join.left)),
          *rows = fl_sema_op2(s, FL_OP_ADD, n, fl_sema_size(s, fl_val_rows(a->join.right)));
  FlGrouping g = fl_verb_group_op(s, n_by, keys, rows);
  FlVal ids = fl_val_array(s, FL_I64, 1, g.group_of);
  a->groups = g.groups;
  a->group[0] = fl_sema_index_rows(s, ids, fl_sema_i64(s, 0), n).parts[0];
  a->group[1] = fl_sema_index_rows(s, ids, n, rows).parts[0];
  return true;
}

static bool read_within(FlSema *s, Asof *a, FlActual *within) {
  if (!fl_actual_given(within)) return true;
  FlDtype d = a->on[0].type->dtype;
  FlDtype wanted = is_time(d) ? FL_DURATION : fl_dtype_is_float(d) ? FL_F64 : FL_I64;
  const FlType *want = fl_type_scalar(s->types, wanted, false);
  FlVal v = fl_actual_value(s, within, want);
  if (fl_val_bad(v)) return false;
  v = fl_val_coerce(s, v, want, within->span, "`within`");
  if (fl_val_bad(v)) return false;
  a->within = v.parts[0];
  return true;
}

static FlOp *match_op(FlSema *s, const Asof *a, const char *direction, bool exact) {
  FlValue *args[8];
  FlColumnAttr on[2];
  int n = 0;
  for (int side = 0; side < 2; side++) {
    args[n++] = a->on[side].parts[0];
    if (a->valid[side]) args[n++] = a->valid[side];
    on[side] = fl_ir_column(a->valid[side]);
  }
  if (a->groups) {
    args[n++] = a->groups;
    for (int side = 0; side < 2; side++) args[n++] = a->group[side];
  }
  if (a->within) args[n++] = a->within;
  FlType1 out = fl_t_array(FL_I64, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_JOIN_ASOF, n, args, 1, &out, 0);
  op->attrs.s = direction;
  op->attrs.i = (a->within ? HAS_WITHIN : 0) | (exact ? 0 : NOT_EQUAL) | (a->groups ? HAS_GROUPS : 0);
  fl_ir_set_columns(s->arena, op, 2, on);
  return op;
}

FlVal fl_builtin_join_asof(FlSema *s, FlCallSite *c) {
  static const char *const directions[] = {"backward", "forward", "nearest"};
  Asof *a = FL_NEW(s->arena, Asof);
  const char *direction = "backward";
  bool exact = true;
  *a = (Asof){.join = {.how = "left", .suffix = "_r"}};
  if (!fl_join_tables(s, &a->join, c) || !read_on(s, a, c) || !read_within(s, a, &c->args[4]) ||
      !fl_verb_word(s, &c->args[5], "direction", directions, 3, &direction) ||
      !fl_join_which_keys(s, &a->join, &c->args[8]))
    return fl_val_error(s);
  if (fl_actual_given(&c->args[6]) && !fl_actual_const_bool(s, &c->args[6], &exact)) return fl_val_error(s);
  if (fl_actual_given(&c->args[7]) && !fl_actual_const_text(s, &c->args[7], &a->join.suffix))
    return fl_val_error(s);
  if (!read_groups(s, a, c->span)) return fl_val_error(s);
  FlOp *op = match_op(s, a, direction, exact);
  FlValue *rows = fl_val_rows(a->join.left), *matched = fl_ir_dim(&s->b, op->results[0], 0);
  if (matched != rows) fl_sema_alias(s, matched, fl_sema_size(s, rows));
  a->join.rows = rows;
  a->join.right_row = op->results[0];
  a->join.has_right = fl_verb_has_row(s, op->results[0], c->span);
  FlColumns out = fl_columns_of(s, a->join.left);
  if (!fl_join_right_columns(s, &a->join, &out, c->span)) return fl_val_error(s);
  FlVal table = fl_columns_table(s, &out, rows);
  fl_sema_alias_rows(s, table);
  return table;
}
