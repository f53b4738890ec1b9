/* combinations.c: the combinations of values that columns have: value_counts, how often each occurs, and
 * complete, all that could.
 *
 * In: a table, names of columns. Out: a table. What always holds: null is a value like others here, so no row
 * is left out. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/place.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"
#include "sema/verbs/verbs.h"

enum { MOST = 16 };

static FlValue *sort_rows(FlSema *s, int n, FlValue *const *keys, const FlColumnAttr *columns) {
  FlType1 type = fl_t_array(FL_I64, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_SORT_PERM, n, keys, 1, &type, 0);
  fl_ir_set_columns(s->arena, op, n, columns);
  return op->results[0];
}

static FlValue *take(FlSema *s, FlValue *x, FlValue *rows) {
  FlType1 type = x->type;
  return fl_ir_op(&s->b, FL_OP_TAKE, 2, (FlValue *[]){rows, x}, 1, &type, 0)->results[0];
}

/* The keys and how often each combination occurs; `outer`: the groups that stay together, or NULL. */
static FlVal counted(FlSema *s, int n, const char **names, FlVal *keys, const FlGrouping *outer) {
  FlGrouping g = fl_verb_group_op(s, n, keys, fl_sema_dim(s, keys[0], 0));
  FlType1 type = fl_t_array(FL_I64, 1);
  FlValue *counts =
      fl_ir_op(&s->b, FL_OP_SEGMENT_COUNT, 2, (FlValue *[]){g.group_of, g.groups}, 1, &type, 0)->results[0];
  static const FlColumnAttr alone[] = {{.flags = FL_COLUMN_DOWN}},
                            within[] = {{0}, {.flags = FL_COLUMN_DOWN}};
  FlValue *by[2] = {counts, counts};
  if (outer) by[0] = take(s, outer->group_of, g.first);
  FlValue *order = sort_rows(s, outer ? 2 : 1, by, outer ? within : alone);
  FlValue *rows = take(s, g.first, order);
  for (int i = 0; i < n; i++) keys[i] = fl_sema_take(s, keys[i], rows, 0);
  names[n] = fl_intern_z(s->names, "count");
  keys[n] = fl_val_array(s, FL_I64, 1, take(s, counts, order));
  return fl_val_table(s, fl_ir_dim(&s->b, rows, 0), n + 1, names, keys);
}

/* The columns that the call names, after the keys of groups; their number, -1: reported. */
static int named_columns(FlSema *s, FlCallSite *c, FlVal t, const char **names, FlVal *keys) {
  int n = 0, at[2 * MOST];
  for (int i = 0; i < t.type->n_keys; i++) at[n++] = fl_type_field_find(t.type->elem, t.type->keys[i]);
  if (c->n_rest > MOST) {
    fl_sema_error(s, FL_E0210, c->span, "`%s` takes at most %d columns", c->builtin->name, MOST);
    return -1;
  }
  for (int i = 0; i < c->n_rest; i++) {
    int k = fl_verb_column(s, t, c->rest[i].expr);
    if (k < 0 || !fl_verb_is_key(s, fl_val_field(s, t, k), c->rest[i].span, c->builtin->name)) return -1;
    bool twice = false;
    for (int j = 0; j < n; j++) twice = twice || at[j] == k;
    if (!twice) at[n++] = k;
  }
  for (int i = 0; i < n; i++) {
    names[i] = t.type->elem->fields[at[i]].name;
    keys[i] = fl_val_field(s, t, at[i]);
  }
  return n;
}

FlVal fl_builtin_value_counts(FlSema *s, FlCallSite *c) {
  const char *names[2 * MOST + 1];
  FlVal keys[2 * MOST + 1], t = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(t)) return t;
  if (t.type->kind == FL_TY_ARRAY && !c->n_rest) {
    if (!fl_verb_is_key(s, t, c->args[0].span, "value_counts")) return fl_val_error(s);
    names[0] = fl_intern_z(s->names, "value");
    keys[0] = t;
    return counted(s, 1, names, keys, NULL);
  }
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  if (!c->n_rest)
    return fl_sema_error(
        s, FL_E0210, c->span,
        "`value_counts` needs the columns whose values it counts, as in `value_counts(t, a)`");
  int n = named_columns(s, c, t, names, keys);
  if (n < 0) return fl_val_error(s);
  for (int i = 0; i < n; i++)
    if (strcmp(names[i], "count") == 0)
      return fl_sema_error(s, FL_E0619, c->span, "the column `count` would be there twice; `rename` yours");
  return counted(s, n, names, keys, fl_verb_grouping(s, t));
}

/* ---- complete
 * ----------------------------------------------------------------------------------------------- */

/* MAP over n: from the position, or from the elements of x there. */
typedef FlValue *NumberFn(FlSema *s, FlValue *i, void *env);
static FlValue *numbers(FlSema *s, FlValue *n, NumberFn *f, void *env) {
  FlSemaMap map = fl_sema_map(s, 1, &n, FL_I64);
  return fl_sema_map_end(s, &map, f(s, map.index[0], env));
}

typedef struct Combined {
  int n;
  FlGrouping key[MOST];
  FlValue *stride[MOST]; /* how many combinations of the later keys there are */
  FlValue *left, *right; /* of the join: combinations, rows of the table */
  int at;
} Combined;

static FlValue *position(FlSema *s, FlValue *i, void *env) {
  (void)s;
  (void)env;
  return i;
}

/* Which combination a row has. */
static FlValue *combination(FlSema *s, FlValue *i, void *env) {
  const Combined *k = env;
  FlValue *sum = fl_sema_i64(s, 0);
  for (int j = 0; j < k->n; j++) {
    FlValue *group = fl_ir_load(&s->b, k->key[j].group_of, 1, &i, true);
    sum = fl_sema_op2(s, FL_OP_WRAP_ADD, sum, fl_sema_op2(s, FL_OP_WRAP_MUL, group, k->stride[j]));
  }
  return sum;
}

/* The row of the table whose value of key `at` a row of the result has: its own (equal keys may be written
 * differently, as -0.0 and 0.0), or the first with this key where the combination has none. */
static FlValue *key_row(FlSema *s, FlValue *i, void *env) {
  const Combined *k = env;
  const FlGrouping *g = &k->key[k->at];
  FlValue *combined = fl_ir_load(&s->b, k->left, 1, &i, true);
  FlValue *group = fl_sema_op2(s, FL_OP_FLOORDIV, combined, k->stride[k->at]);
  group = fl_sema_op2(s, FL_OP_MOD, group, g->groups);
  FlValue *first = fl_ir_load(&s->b, g->first, 1, &group, true);
  FlValue *own = fl_ir_load(&s->b, k->right, 1, &i, true);
  return fl_ir_select(&s->b, fl_sema_op2(s, FL_OP_LT, own, fl_sema_i64(s, 0)), first, own);
}

FlVal fl_builtin_complete(FlSema *s, FlCallSite *c) {
  const char *names[2 * MOST];
  FlVal keys[2 * MOST], t;
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  if (!c->n_rest)
    return fl_sema_error(s, FL_E0210, c->span,
                         "`complete` needs the columns whose values it combines, as in `complete(t, a, b)`");
  Combined k = {.n = named_columns(s, c, t, names, keys)};
  if (k.n < 0) return fl_val_error(s);
  FlColumns columns = fl_columns_of(s, t);
  FlValue *all = fl_sema_i64(s, 1);
  for (int i = k.n - 1; i >= 0; i--) {
    k.key[i] = fl_verb_group_op(s, 1, &keys[i], fl_val_rows(t));
    k.stride[i] = all;
    all = fl_sema_op2(s, FL_OP_MUL, all, k.key[i].groups);
  }
  fl_sema_mark_size(s, all);
  FlValue *sides[2] = {numbers(s, all, position, NULL),
                       numbers(s, fl_sema_size(s, fl_val_rows(t)), combination, &k)};
  static const FlColumnAttr columns_of[2] = {{0}};
  FlType1 types[3] = {fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1), fl_t_array(FL_I64, 1)};
  FlOp *join = fl_ir_op(&s->b, FL_OP_JOIN, 2, sides, 3, types, 0);
  join->attrs.s = "left";
  fl_ir_set_columns(s->arena, join, 2, columns_of);
  k.left = join->results[1];
  k.right = join->results[2];
  FlValue *rows = join->results[0];
  FlVal has = fl_verb_has_row(s, k.right, c->span);
  for (int i = 0; i < columns.n; i++) {
    k.at = 0;
    while (k.at < k.n && names[k.at] != columns.names[i]) k.at++;
    FlVal x = columns.values[i];
    if (x.type->kind != FL_TY_ARRAY || x.type->rank != 1)
      return fl_sema_error(s, FL_E0618, c->span,
                           "the column `%s` is %s, which cannot be null where a combination has no row",
                           columns.names[i], fl_val_text(s, x));
    columns.values[i] = k.at < k.n ? fl_sema_take(s, x, numbers(s, rows, key_row, &k), 0)
                                   : fl_verb_take_or_null(s, x, k.right, has, columns.names[i], c->span);
  }
  return fl_columns_table(s, &columns, rows);
}
