/* split.c: rows at random into train and test: split(t, 0.8), kfold(t, 5), by strata and by groups.
 *
 * In: a table, how it is divided, a seed. Out: a pair (train, test), of kfold a list of them; rows keep their
 * order. With `stratify =` every part has its share of the rows of each value; with `group =` the rows of one
 * value stay together. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"
#include "sema/verbs/verbs.h"

static const char *const names[2] = {"train", "test"};

static FlVal pair_of(FlSema *s, FlVal train, FlVal test) {
  const char *fields[2] = {fl_intern_z(s->names, names[0]), fl_intern_z(s->names, names[1])};
  return fl_val_tuple(s, 2, fields, (FlVal[]){train, test}, NULL);
}

/* Numbers the values of a column: false: reported. */
static bool number_values(FlSema *s, FlVal t, FlActual *a, const char *what, FlGrouping *out) {
  FlVal v = fl_verb_expr(s, t, a, FL_AGG_NONE);
  if (!fl_verb_is_key(s, v, a->span, what) ||
      fl_val_bad(fl_verb_as_column(s, v, fl_val_rows(t), a->span, what)))
    return false;
  *out = fl_verb_group_op(s, 1, &v, fl_val_rows(t));
  return true;
}

/* What both take beside the table: t, fraction or k, seed, stratify, group. */
typedef struct Division {
  FlVal t;
  FlValue *seed;
  bool stratified, grouped;
  FlGrouping strata, groups;
} Division;

static bool read_division(FlSema *s, FlCallSite *c, Division *d) {
  d->stratified = fl_actual_given(&c->args[3]);
  d->grouped = fl_actual_given(&c->args[4]);
  d->seed = fl_sema_i64(s, 0);
  return (!fl_actual_given(&c->args[2]) || fl_actual_i64(s, &c->args[2], &d->seed)) &&
         (!d->stratified || number_values(s, d->t, &c->args[3], "stratify", &d->strata)) &&
         (!d->grouped || number_values(s, d->t, &c->args[4], "group", &d->groups));
}

/* The part that each row goes to with its group. */
static FlVal parts_of_groups(FlSema *s, const Division *d, FlValue *parts, FlValue *share, bool folds) {
  FlValue *args[6] = {d->groups.groups, d->groups.group_of, parts, share, d->seed, d->strata.group_of};
  FlType1 out = fl_t_array(FL_I64, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_GROUP_PARTS, d->stratified ? 6 : 5, args, 1, &out, 0);
  op->attrs.i = folds;
  fl_sema_alias(s, fl_ir_dim(&s->b, op->results[0], 0), fl_sema_size(s, fl_val_rows(d->t)));
  return fl_val_array(s, FL_I64, 1, op->results[0]);
}

/* The rows of the part, or those that are not in it. */
static FlVal rows_of_part(FlSema *s, const Division *d, FlVal parts, FlVal part, bool in, FlSpan span) {
  FlVal mask = fl_sema_lift_op(s, span, in ? FL_OP_EQ : FL_OP_NE, 2, (FlVal[]){parts, part}, FL_BOOL, NULL);
  return fl_val_bad(mask) ? mask : fl_sema_compress(s, d->t, mask.parts[0]);
}

FlVal fl_builtin_split(FlSema *s, FlCallSite *c) {
  Division d = {0};
  FlValue *fraction;
  if (!fl_verb_table(s, c, &d.t) || !fl_actual_f64(s, &c->args[1], &fraction) || !read_division(s, c, &d))
    return fl_val_error(s);
  const FlOp *constant = fraction->op && fraction->op->code == FL_OP_CONST ? fraction->op : NULL;
  if (constant && !(constant->attrs.f >= 0 && constant->attrs.f <= 1))
    return fl_sema_error(s, FL_E0615, c->args[1].span,
                         "`split` takes a share between 0 and 1, and this is %g", constant->attrs.f);
  if (d.grouped) {
    FlVal parts = parts_of_groups(s, &d, fl_sema_i64(s, 2), fraction, false), first = fl_val_i64(s, 0);
    FlVal train = rows_of_part(s, &d, parts, first, true, c->span);
    return pair_of(s, train, rows_of_part(s, &d, parts, first, false, c->span));
  }
  FlValue *args[4] = {fl_val_rows(d.t), fraction, d.seed, d.strata.group_of};
  FlType1 types[2] = {fl_t_array(FL_I64, 1), fl_t_array(FL_I64, 1)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_SPLIT_ROWS, d.stratified ? 4 : 3, args, 2, types, 0);
  return pair_of(s, fl_sema_take(s, d.t, op->results[0], 0), fl_sema_take(s, d.t, op->results[1], 0));
}

FlVal fl_builtin_kfold(FlSema *s, FlCallSite *c) {
  Division d = {0};
  FlValue *k;
  FlVal parts = {0};
  FlOp *op = NULL;
  if (!fl_verb_table(s, c, &d.t) || !fl_actual_i64(s, &c->args[1], &k) || !read_division(s, c, &d))
    return fl_val_error(s);
  if (d.grouped) {
    parts = parts_of_groups(s, &d, k, fl_ir_const_f(&s->b, FL_F64, 1.0), true);
  } else {
    FlValue *args[4] = {fl_val_rows(d.t), k, d.seed, d.strata.group_of};
    FlType1 types[2] = {{FL_I64, 1, 1, 0}, {FL_I64, 1, 1, 0}};
    op = fl_ir_op(&s->b, FL_OP_KFOLD_ROWS, d.stratified ? 4 : 3, args, 2, types, 0);
  }
  /* One task a fold takes its rows. */
  FlType1 in = fl_t_scalar(FL_I64);
  FlOp *map = fl_ir_op(&s->b, FL_OP_MAP, 1, &k, 0, NULL, 1);
  FlRegion *r = fl_ir_region(&s->b, map, 0, 1, &in);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlVal pair[2];
  for (int i = 0; i < 2; i++)
    pair[i] = d.grouped ? rows_of_part(s, &d, parts, fl_val_scalar(s, FL_I64, r->params[0]), i == 1, c->span)
                        : fl_sema_take(s, d.t, fl_ir_load(&s->b, op->results[i], 1, r->params, true), 0);
  FlVal fold = pair_of(s, pair[0], pair[1]);
  fl_ir_yield(r, s->module, fold.type->n_parts, fold.parts);
  fl_sema_leave(s, saved);
  const FlType *list = fl_type_list(s->types, fold.type);
  FlType1 *outs = FL_NEW_ARRAY(s->arena, FlType1, list->n_parts + 1);
  fl_type_parts(list, outs);
  fl_ir_add_results(&s->b, map, list->n_parts, outs);
  return fl_val_make(s, list, map->results);
}
