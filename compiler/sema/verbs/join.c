/* join.c: rows of two tables with equal keys, or of which a condition is true.
 *
 * In: two tables, `on =` and what kind of join. Out: the columns of the left table, then those of the right
 * that are no keys, or with `keys = "both"` all of them; by left row, then right row, unmatched right rows
 * last. Columns of a side that may be missing become T?. */
#include "sema/scope.h"
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/value.h"
#include "sema/verbs/join.h"
#include "sema/verbs/verbs.h"

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* ---- arguments ---- */

static bool add_key(FlSema *s, FlJoin *j, const FlExpr *left, const FlExpr *right) {
  if (j->n_keys == FL_JOIN_KEYS) {
    fl_sema_error(s, FL_E0210, left->span, "`%s` takes at most %d keys", j->verb, FL_JOIN_KEYS);
    return false;
  }
  int l = fl_verb_column(s, j->left, left), r = l < 0 ? -1 : fl_verb_column(s, j->right, right);
  if (r < 0) return false;
  FlVal pair[2] = {fl_val_field(s, j->left, l), fl_val_field(s, j->right, r)};
  for (int i = 0; i < 2; i++)
    if (!fl_verb_is_key(s, pair[i], i ? right->span : left->span, j->verb)) return false;
  const FlType *common = fl_type_common(s, pair, 2);
  if (!common) {
    FlDiag *d = fl_sema_report(
        s, FL_E0616, right->span, "the keys have different types: `%s` is %s, and `%s` on the right is %s",
        left->name.text, fl_val_text(s, pair[0]), right->name.text, fl_val_text(s, pair[1]));
    fl_diag_help(s->sink, d, "convert one of them with `derive` before the join");
    return false;
  }
  for (int i = 0; i < 2; i++) {
    pair[i] = fl_val_coerce(s, pair[i], fl_type_array(s->types, common->dtype, pair[i].type->nullable, 1),
                            left->span, "the key");
    if (fl_val_bad(pair[i])) return false;
  }
  if (fl_val_is_category(pair[0])) { /* on the left's levels both */
    FlValue *levels = fl_levels_same(s, fl_val_levels(pair[0]), fl_val_levels(pair[1]), right->span);
    if (!levels) return false;
    for (int i = 0; i < 2; i++) pair[i] = fl_category_of(s, fl_category_codes(s, pair[i]), levels);
  }
  j->key[j->n_keys++] = (FlJoinPair){l, r, pair[0], pair[1]};
  return true;
}

bool fl_join_keys(FlSema *s, FlJoin *j, const FlExpr *on) {
  if (on->kind != FL_EXPR_TUPLE) return add_key(s, j, on, on);
  if (!on->tuple.n) {
    fl_sema_error(s, FL_E0210, on->span, "`on =` needs at least one column");
    return false;
  }
  for (int i = 0; i < on->tuple.n; i++) {
    const FlTupleItem *item = &on->tuple.at[i];
    FlExpr left = {.kind = FL_EXPR_NAME, .span = item->name.span, .height = 1, .name = item->name};
    if (!add_key(s, j, item->name.text ? &left : item->value, item->value)) return false;
  }
  return true;
}

static bool read_keys(FlSema *s, FlJoin *j, FlCallSite *c, const FlActual *where) {
  const FlExpr *on = c->args[2].expr;
  if (on) return fl_join_keys(s, j, on);
  if (fl_actual_given(where)) return true;
  FlDiag *d = fl_sema_report(
      s, FL_E0210, c->span, "`join` needs `on =`, the columns that must be equal, or `where =`, a condition");
  fl_builtin_called(s, d, c->builtin);
  const FlType *row = j->left.type->elem;
  for (int i = 0; i < row->n_fields; i++)
    if (fl_type_field_find(j->right.type->elem, row->fields[i].name) >= 0) {
      fl_diag_help(s->sink, d, "both tables have `%s`: `on = (%s)`", row->fields[i].name,
                   row->fields[i].name);
      break;
    }
  return false;
}

bool fl_join_tables(FlSema *s, FlJoin *j, FlCallSite *c) {
  j->verb = c->builtin->name;
  if (!fl_verb_table(s, c, &j->left)) return false;
  j->right = fl_actual_value(s, &c->args[1], NULL);
  if (fl_val_bad(j->right)) return false;
  if (j->right.type->kind == FL_TY_TABLE) return true;
  fl_sema_error(s, FL_E0606, c->args[1].span, "`%s` takes a second table, and this is %s", j->verb,
                fl_val_text(s, j->right));
  return false;
}

bool fl_verb_word(FlSema *s, FlActual *a, const char *what, const char *const *words, int n,
                  const char **out) {
  if (!fl_actual_given(a)) return true;
  const char *word, *plain = a->expr && a->expr->kind == FL_EXPR_NAME ? a->expr->name.text : NULL;
  for (int i = 0; plain && i < n; i++) {
    if (!is(words[i], plain) || fl_scope_find(s, plain)) continue;
    fl_diag_meant_text(s->sink,
                       fl_sema_report(s, FL_E0617, a->span, "what `%s` means stands in quotes", what),
                       a->span, words[i]);
    return false;
  }
  if (!fl_actual_const_text(s, a, &word)) return false;
  for (int i = 0; i < n; i++)
    if (is(words[i], word)) {
      *out = words[i];
      return true;
    }
  FlDiag *d = fl_sema_report(s, FL_E0617, a->span, "`%s` has no meaning \"%s\"", what, word);
  const char *near = fl_closest(word, words, n);
  for (int i = 0; i < n; i++)
    if (is(words[i], "full") && (is(word, "outer") || is(word, "full_outer") || is(word, "full outer")))
      near = words[i];
  if (near) {
    fl_diag_meant_text(s->sink, d, a->span, near);
  } else {
    FlText1 all = {0};
    for (int i = 0; i < n; i++) fl_text_addf(&all, i ? ", \"%s\"" : "\"%s\"", words[i]);
    fl_diag_help(s->sink, d, "it is one of %s", all.s);
    fl_text_reset(&all);
  }
  return false;
}

bool fl_join_which_keys(FlSema *s, FlJoin *j, FlActual *keys) {
  static const char *const kinds[] = {"one", "both"};
  const char *word = "one";
  FlSpan span = keys->span;
  if (!fl_verb_word(s, keys, "keys", kinds, 2, &word)) return false;
  j->both_keys = is(word, "both");
  if (!j->both_keys || (!is(j->how, "semi") && !is(j->how, "anti"))) return true;
  FlDiag *d = fl_sema_report(
      s, FL_E0617, span,
      "`keys = \"both\"` keeps keys of the right table, and of `how = \"%s\"` nothing of it stays", j->how);
  fl_diag_help(s->sink, d, "leave it out");
  return false;
}

/* ---- columns of the result ---- */

FlVal fl_verb_has_row(FlSema *s, FlValue *rows, FlSpan span) {
  FlVal pair[2] = {fl_val_array(s, FL_I64, 1, rows), fl_val_i64(s, 0)};
  return fl_sema_lift_op(s, span, FL_OP_GE, 2, pair, FL_BOOL, NULL);
}

FlVal fl_verb_take_or_null(FlSema *s, FlVal v, FlValue *rows, FlVal has, const char *name, FlSpan span) {
  if (v.type->kind != FL_TY_ARRAY || v.type->rank != 1) {
    FlDiag *d = fl_sema_report(s, FL_E0618, span,
                               "the column `%s` is %s, which cannot be null where a row has no partner", name,
                               fl_val_text(s, v));
    fl_diag_help(s->sink, d, "drop it before the join, or use `how = \"inner\"`");
    return fl_val_error(s);
  }
  FlVal out = fl_sema_take(s, v, rows, FL_TAKE_OR_ZERO | FL_TAKE_PROVEN);
  if (v.type->nullable) return out; /* the validity of a missing row is false */
  return fl_val_with(s, fl_type_with_null(s->types, v.type, true), (FlValue *[]){out.parts[0], has.parts[0]},
                     v);
}

static FlVal either_key(FlSema *s, void *env, FlVal *args, int n, FlSpan span) { /* has left, left, right */
  (void)env;
  (void)n;
  (void)span;
  FlValue *valid[2] = {fl_val_valid(s, args[1]), fl_val_valid(s, args[2])};
  bool nullable = valid[0] || valid[1];
  FlValue *parts[2] = {fl_ir_select(&s->b, args[0].parts[0], args[1].parts[0], args[2].parts[0]), NULL};
  for (int i = 0; nullable && i < 2; i++)
    if (!valid[i]) valid[i] = fl_ir_const_i(&s->b, FL_BOOL, 1);
  if (nullable) parts[1] = fl_ir_select(&s->b, args[0].parts[0], valid[0], valid[1]);
  return fl_val_with(s, fl_type_scalar(s->types, args[1].type->dtype, nullable), parts, args[1]);
}

static int key_of_left(const FlJoin *j, int column) {
  for (int i = 0; i < j->n_keys; i++)
    if (j->key[i].left == column) return i;
  return -1;
}

static bool is_right_key(const FlJoin *j, int column) {
  for (int i = 0; i < j->n_keys; i++)
    if (j->key[i].right == column) return true;
  return false;
}

static FlVal left_column(FlSema *s, FlJoin *j, int column, FlSpan span) {
  FlVal v = fl_val_field(s, j->left, column);
  if (!is(j->how, "right") && !is(j->how, "full")) return fl_sema_take(s, v, j->left_row, FL_TAKE_PROVEN);
  int key = j->both_keys ? -1 : key_of_left(j, column);
  if (key < 0)
    return fl_verb_take_or_null(s, v, j->left_row, j->has_left, j->left.type->elem->fields[column].name,
                                span);
  if (is(j->how, "right")) return fl_sema_take(s, j->key[key].right_value, j->right_row, FL_TAKE_PROVEN);
  FlVal args[3] = {j->has_left,
                   fl_sema_take(s, j->key[key].left_value, j->left_row, FL_TAKE_OR_ZERO | FL_TAKE_PROVEN),
                   fl_sema_take(s, j->key[key].right_value, j->right_row, FL_TAKE_OR_ZERO | FL_TAKE_PROVEN)};
  return fl_sema_lift(s, span, 3, args, either_key, NULL);
}

const char *fl_join_right_name(FlSema *s, const FlJoin *j, int column) {
  const char *name = j->right.type->elem->fields[column].name;
  return fl_type_field_find(j->left.type->elem, name) < 0
             ? name
             : fl_intern_z(s->names, fl_arena_printf(s->arena, "%s%s", name, j->suffix));
}

bool fl_join_right_columns(FlSema *s, FlJoin *j, FlColumns *out, FlSpan span) {
  const FlType *right = j->right.type->elem;
  for (int i = 0; i < right->n_fields; i++) {
    if (!j->both_keys && is_right_key(j, i)) continue;
    const char *name = fl_join_right_name(s, j, i);
    for (int k = 0; k < out->n; k++)
      if (out->names[k] == name) {
        FlDiag *d =
            fl_sema_report(s, FL_E0619, span, "the joined table would have the column `%s` twice", name);
        fl_diag_help(s->sink, d, "say how columns of the right table are marked: `suffix = \"_other\"`");
        return false;
      }
    FlVal v = fl_val_field(s, j->right, i);
    v = j->has_right.type
            ? fl_verb_take_or_null(s, v, j->right_row, j->has_right, right->fields[i].name, span)
            : fl_sema_take(s, v, j->right_row, FL_TAKE_PROVEN);
    if (fl_val_bad(v)) return false;
    fl_columns_set(s, out, name, v);
  }
  return true;
}

static FlVal joined(FlSema *s, FlJoin *j, FlCallSite *c) {
  bool from_left_alone = is(j->how, "semi") || is(j->how, "anti");
  bool lacks_left = is(j->how, "right") || is(j->how, "full"),
       lacks_right = is(j->how, "left") || is(j->how, "full");
  if (lacks_left) j->has_left = fl_verb_has_row(s, j->left_row, c->span);
  if (lacks_right) j->has_right = fl_verb_has_row(s, j->right_row, c->span);
  FlColumns out = {0};
  const FlType *left = j->left.type->elem;
  for (int i = 0; i < left->n_fields; i++) {
    FlVal v = left_column(s, j, i, c->span);
    if (fl_val_bad(v)) return v;
    fl_columns_set(s, &out, left->fields[i].name, v);
  }
  if (!from_left_alone && !fl_join_right_columns(s, j, &out, c->span)) return fl_val_error(s);
  return fl_columns_table(s, &out, j->rows);
}

FlVal fl_builtin_join(FlSema *s, FlCallSite *c) {
  static const char *const kinds[] = {"inner", "left", "right", "full", "semi", "anti"}, *const expects[] = {
                                                                                             "many", "one"};
  FlJoin *j = FL_NEW(s->arena, FlJoin);
  *j = (FlJoin){.how = "inner", .suffix = "_r"};
  const char *expect = "many";
  FlActual *where = &c->args[7], *limit = &c->args[8];
  if (!fl_join_tables(s, j, c) || !read_keys(s, j, c, where) ||
      !fl_verb_word(s, &c->args[3], "how", kinds, 6, &j->how) ||
      !fl_verb_word(s, &c->args[5], "expect", expects, 2, &expect) || !fl_join_which_keys(s, j, &c->args[6]))
    return fl_val_error(s);
  if (fl_actual_given(&c->args[4]) && !fl_actual_const_text(s, &c->args[4], &j->suffix))
    return fl_val_error(s);
  if (fl_actual_given(where))
    return fl_join_where(s, j, where, limit, is(expect, "one"), c->span) ? joined(s, j, c) : fl_val_error(s);
  if (fl_actual_given(limit))
    return fl_sema_error(s, FL_E0617, limit->span, "`limit =` is for joins with `where =`");
  FlValue *args[4 * FL_JOIN_KEYS];
  FlVal sides[2][FL_JOIN_KEYS];
  FlColumnAttr columns[2 * FL_JOIN_KEYS];
  for (int i = 0; i < j->n_keys; i++) {
    sides[0][i] = j->key[i].left_value;
    sides[1][i] = j->key[i].right_value;
  }
  int n = fl_verb_keys(s, j->n_keys, sides[0], args, columns);
  n += fl_verb_keys(s, j->n_keys, sides[1], args + n, columns + j->n_keys);
  FlType1 types[3] = {fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1), fl_t_array(FL_I64, 1)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_JOIN, n, args, 3, types, 0);
  op->attrs.s = j->how;
  op->attrs.i = is(expect, "one");
  fl_ir_set_columns(s->arena, op, 2 * j->n_keys, columns);
  j->rows = op->results[0];
  j->left_row = op->results[1];
  j->right_row = op->results[2];
  return joined(s, j, c);
}
