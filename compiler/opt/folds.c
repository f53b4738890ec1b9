/* folds.c: aggregates go into the reader: where aggregates are all that sees the rows of a part, it yields
 * states of its groups instead of its rows (runtime/part/partial.c), and the aggregates take the states of
 * all parts.
 *
 * In the part stands a PARTIAL of the keys and columns, whose results are joined over all parts. Behind it
 * the operations stay and read the joined states: GROUP the keys, TAKE the keys, an aggregate its state, by
 * its own kind but for a count, which is now the sum of the counts.
 *
 * A mean is of sums and counts (mean_of). What always holds: only aggregates with states that merge to the
 * same bits (exact sums; first, last, least, greatest in the order of parts); the operations stay where they
 * are, and so do their errors.
 */
#include "opt/parts_internal.h"

/* ---- what can be folded ------------------------------------------------------------------------------- */

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }
static FlAggState state_of(const char *kind) { return fl_aggregate_info[fl_aggregate_find(kind)].state; }

static bool is_column(const FlParts *p, const FlValue *v, const FlPartSpace *space) {
  return v->type.rank == 1 && v->type.depth == 0 && fl_part_space(p, v) == space;
}

static bool is_nullable(const FlOp *op) { return op->attrs.columns[0].flags & FL_COLUMN_NULLS; }

/* An aggregate with states, of columns of the space. */
static bool is_foldable(const FlParts *p, const FlOp *op, const FlPartSpace *space) {
  FlAggState state = state_of(op->attrs.s);
  if (state == FL_STATE_NONE || op->attrs.n_columns > 1) return false;
  if (state == FL_STATE_MEAN && op->results[0]->type.dtype != FL_F64) return false;
  if (op->attrs.n_columns == 0) return state == FL_STATE_COUNT && op->attrs.i == 0;
  for (int i = 2; i < op->n_args; i++)
    if (!is_column(p, op->args[i], space)) return false;
  return op->n_args == 3 + is_nullable(op);
}

static bool has_arg(const FlOp *op, int from, int to, const FlValue *v) {
  for (int i = from; i < to; i++)
    if (op->args[i] == v) return true;
  return false;
}

/* The op gathers keys of the group. */
static bool takes_keys(const FlOp *op, const FlOp *group) {
  if (op->code != FL_OP_TAKE || op->args[0] != group->results[2]) return false;
  for (int i = 1; i < op->n_args; i++)
    if (!has_arg(group, 0, group->n_args, op->args[i])) return false;
  return true;
}

static bool aggregates(const FlParts *p, const FlOp *op, const FlOp *group, const FlPartSpace *space) {
  return op->code == FL_OP_AGGREGATE && op->attrs.i == 0 && op->args[0] == group->results[0] &&
         op->args[1] == group->results[1] && !has_arg(op, 2, op->n_args, group->results[1]) &&
         is_foldable(p, op, space);
}

static FlPartFold *new_fold(FlParts *p, FlOp *group, FlPartSpace *space) {
  FlPartFold *fold = FL_NEW(p->arena, FlPartFold);
  *fold = (FlPartFold){.group = group, .space = space, .state_of = fl_map_make(p->arena)};
  return fold;
}

/* All who use the group of each row aggregate by it, and are put to the fold. */
static bool find_aggregates(FlParts *p, FlPartFold *fold) {
  FlOp *group = fold->group;
  for (uint32_t k = 0; k < fl_opt_n_uses(p->uses, group->results[1]); k++) {
    FlOp *op = fl_opt_outermost(fl_opt_use(p->uses, group->results[1], k), group->parent);
    if (!op || !aggregates(p, op, group, fold->space)) return false;
    bool again = fold->ops.n && fold->ops.at[fold->ops.n - 1] == op; /* something in it does, too */
    if (!again) fl_vec_push(p->arena, &fold->ops, op);
  }
  return true;
}

/* All who use the first rows of the groups take keys by them, which are put to the fold, or aggregate. */
static bool find_keys(FlParts *p, FlPartFold *fold) {
  FlOp *group = fold->group;
  for (uint32_t k = 0; k < fl_opt_n_uses(p->uses, group->results[2]); k++) {
    FlOp *op = fl_opt_outermost(fl_opt_use(p->uses, group->results[2], k), group->parent);
    bool takes = op && takes_keys(op, group);
    if (!takes && !(op && aggregates(p, op, group, fold->space))) return false;
    if (takes) fl_vec_push(p->arena, &fold->ops, op);
  }
  return true;
}

/* The fold of a GROUP; NULL: something sees the groups of rows, or an aggregate has no states. */
static FlPartFold *fold_of_group(FlParts *p, FlOp *group) {
  FlPartSpace *space = group->n_args ? fl_part_space(p, group->args[0]) : NULL;
  if (space && space->index == 0 && p->rows) return NULL; /* there is nothing to spare by parts of it */
  for (int i = 0; i < group->n_args; i++)
    if (!space || !is_column(p, group->args[i], space)) return NULL;
  if (!space) return NULL;
  FlPartFold *fold = new_fold(p, group, space);
  return find_aggregates(p, fold) && find_keys(p, fold) ? fold : NULL;
}

/* Puts an aggregate of all rows with the others of its space. */
static void fold_all_rows(FlParts *p, FlOp *op) {
  FlPartSpace *space = op->n_args > 2 ? fl_part_space(p, op->args[2]) : NULL;
  if (!space || op->attrs.i != 1 || !is_column(p, op->args[1], space) || !is_foldable(p, op, space)) return;
  if (!space->fold) {
    space->fold = new_fold(p, NULL, space);
    fl_vec_push(p->arena, &p->folds, space->fold);
  }
  fl_vec_push(p->arena, &space->fold->ops, op);
}

static void mark(FlParts *p, const FlPartFold *fold, void *as) {
  if (fold->group) fl_map_set(p->moves, fold->group, as);
  for (int i = 0; i < fold->ops.n; i++) fl_map_set(p->moves, fold->ops.at[i], as);
}

void fl_parts_find_folds(FlParts *p) {
  for (FlOp *op = p->reader->next; op; op = op->next) {
    FlPartFold *fold = op->code == FL_OP_GROUP ? fold_of_group(p, op) : NULL;
    if (fold) fl_vec_push(p->arena, &p->folds, fold);
    if (op->code == FL_OP_AGGREGATE) fold_all_rows(p, op);
  }
  for (int i = 0; i < p->folds.n; i++) mark(p, p->folds.at[i], p->folds.at[i]);
}

static bool sees_more(const FlPartFold *fold, const FlOp *op, const FlPartValues *exits, const FlParts *p) {
  for (int i = 0; i < op->n_args; i++) {
    bool kept = fl_part_space(p, op->args[i]) != fold->space || !op->args[i]->type.rank;
    if (!kept && !(exits->has && fl_map_get(exits->has, op->args[i]))) return true;
  }
  return false;
}

void fl_parts_drop_folds(FlParts *p, const FlPartValues *exits) {
  int n = 0;
  for (int i = 0; i < p->folds.n; i++) {
    FlPartFold *fold = p->folds.at[i];
    bool spares = fold->group && sees_more(fold, fold->group, exits, p);
    for (int k = 0; k < fold->ops.n; k++) spares = spares || sees_more(fold, fold->ops.at[k], exits, p);
    if (spares) p->folds.at[n++] = fold;
    else mark(p, fold, NULL);
  }
  p->folds.n = n;
}

/* ---- states ------------------------------------------------------------------------------------------- */

static const void *column_key(const FlPartFold *fold, const FlValue *value) {
  return value ? (const void *)value : (const void *)fold;
}

static FlPartState *find_state(const FlPartFold *fold, const char *kind, const FlValue *value,
                               const FlValue *valid) {
  int k = (int)(intptr_t)fl_map_get(fold->state_of, column_key(fold, value));
  for (; k > 0; k = fold->states.at[k - 1].before) {
    FlPartState *s = &fold->states.at[k - 1];
    if (is(s->kind, kind) && s->valid == valid) return s;
  }
  return NULL;
}

static void want_state(FlParts *p, FlPartFold *fold, const char *kind, FlValue *value, FlValue *valid) {
  if (find_state(fold, kind, value, valid)) return;
  const void *key = column_key(fold, value);
  int before = (int)(intptr_t)fl_map_get(fold->state_of, key);
  FlPartState s = {.kind = kind, .value = value, .valid = valid, .before = before};
  fl_vec_push(p->arena, &fold->states, s);
  fl_map_set(fold->state_of, key, (void *)(intptr_t)fold->states.n);
}

static FlValue *column_of(const FlOp *op) { return op->attrs.n_columns ? op->args[2] : NULL; }
static FlValue *valid_of(const FlOp *op) { return op->n_args > 3 ? op->args[3] : NULL; }
/* A count of the rows where the column of a mean has values: of all of them, if it has no nulls; of bool, of
 * which a count is of trues, that of the rows that are valid. */
static bool counts_valid(const FlOp *op) { return valid_of(op) && column_of(op)->type.dtype == FL_BOOL; }
static FlValue *counted_of(const FlOp *op) {
  return counts_valid(op) ? valid_of(op) : valid_of(op) ? column_of(op) : NULL;
}
static FlValue *counted_valid_of(const FlOp *op) { return counts_valid(op) ? NULL : valid_of(op); }

static void find_states(FlParts *p, FlPartFold *fold) {
  for (int i = 0; i < fold->ops.n; i++) {
    const FlOp *op = fold->ops.at[i];
    if (op->code != FL_OP_AGGREGATE) continue;
    FlValue *column = column_of(op), *valid = valid_of(op);
    FlAggState kind = state_of(op->attrs.s);
    if (kind == FL_STATE_MEAN) {
      want_state(p, fold, "sum", column, valid);
      want_state(p, fold, "count", counted_of(op), counted_valid_of(op));
    } else if (kind == FL_STATE_COUNT && !valid && column && column->type.dtype != FL_BOOL) {
      want_state(p, fold, "count", NULL, NULL);
    } else {
      want_state(p, fold, op->attrs.s, column, valid);
    }
  }
}

/* States of a sum of floats may need rows of their own, where the others have nothing. */
static bool has_terms(const FlPartFold *fold) {
  for (int i = 0; i < fold->states.n; i++) {
    const FlPartState *s = &fold->states.at[i];
    if (state_of(s->kind) == FL_STATE_SUM && fl_dtype_is_float(s->value->type.dtype)) return true;
  }
  return false;
}

static FlType1 type_of(const FlPartState *s) {
  FlAggState kind = state_of(s->kind);
  if (kind == FL_STATE_COUNT) return fl_t_array(FL_I64, 1);
  if (kind == FL_STATE_PICK) return s->value->type;
  FlDtype d = (FlDtype)s->value->type.dtype;
  if (fl_dtype_is_decimal(d)) return fl_t_array(d, 1);
  return fl_t_array(fl_dtype_is_float(s->value->type.dtype) ? FL_F64 : d == FL_U64 ? FL_U64 : FL_I64, 1);
}

FlOp *fl_parts_make_partial(FlParts *p, FlPartFold *fold, FlBuilder *in, const FlSubst *subst,
                            FlValue *rows) {
  find_states(p, fold);
  FlArena *arena = in->module->arena;
  int n_keys = fold->group ? fold->group->n_args : 0,
      n_of_keys = fold->group ? fold->group->attrs.n_columns : 0;
  int n_args = 2 + n_keys, n = 1 + n_keys, n_states = fold->states.n;
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, n_args + 2 * n_states);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, n + 2 * n_states);
  FlColumnAttr *columns = FL_NEW_ARRAY(arena, FlColumnAttr, n_of_keys + n_states);
  args[0] = fl_subst_get(subst, fold->space->size);
  args[1] = rows;
  types[0] = fl_t_scalar(FL_BOOL);
  for (int i = 0; i < n_keys; i++) {
    args[2 + i] = fl_subst_get(subst, fold->group->args[i]);
    types[1 + i] = args[2 + i]->type;
  }
  for (int i = 0; i < n_of_keys; i++) columns[i] = fold->group->attrs.columns[i];
  bool terms = has_terms(fold);
  for (int i = 0; i < n_states; i++) {
    FlPartState *s = &fold->states.at[i];
    bool picks = state_of(s->kind) == FL_STATE_PICK;
    s->says_valid = picks && (terms || s->valid);
    s->at = n - 1;
    types[n++] = type_of(s);
    if (s->says_valid) types[n++] = fl_t_array(FL_BOOL, 1);
    if (s->value) args[n_args++] = fl_subst_get(subst, s->value);
    if (s->valid) args[n_args++] = fl_subst_get(subst, s->valid);
    columns[n_of_keys + i] =
        (FlColumnAttr){.made = s->kind,
                       .flags = (s->says_valid ? FL_COLUMN_SAYS : 0) | (s->value ? 0 : FL_COLUMN_NONE) |
                                (s->valid ? FL_COLUMN_NULLS : 0)};
  }
  fold->n_results = n - 1;
  FlOp *op = fl_ir_op(in, FL_OP_PARTIAL, n_args, args, n, types, 0);
  fl_ir_set_columns(arena, op, n_of_keys + n_states, columns);
  /* Rows that cost little to read stay rows unless states take much less room. */
  op->attrs.i = p->rows || p->reader->attrs.format->flags & FL_FORMAT_LAID ? 0 : 2;
  return op;
}

/* ---- merging ------------------------------------------------------------------------------------------ */

/* An AGGREGATE of a joined state, in the place of `of`. */
static FlOp *aggregate(FlBuilder *b, const FlOp *of, const char *kind, const FlPartState *s,
                       FlValue *const *joined, FlType1 type) {
  FlArena *arena = b->module->arena;
  FlValue *args[4] = {of->args[0], of->attrs.i ? joined[s->at] : of->args[1], joined[s->at],
                      s->says_valid ? joined[s->at + 1] : NULL};
  FlType1 types[2] = {type, fl_t_array(FL_BOOL, 1)};
  FlColumnAttr column = fl_ir_column(s->says_valid);
  FlOp *op = fl_ir_op(b, FL_OP_AGGREGATE, 3 + s->says_valid, args, 2, types, of->n_regions);
  op->attrs = of->attrs;
  op->attrs.s = kind;
  fl_ir_set_columns(arena, op, 1, &column);
  return op;
}

/* The mean of the joined sums, each of as many values as its count says. */
static FlOp *mean_of(FlBuilder *b, const FlOp *mean, const FlPartState *sum, const FlPartState *count,
                     FlValue *const *joined) {
  FlValue *args[4] = {mean->args[0], mean->attrs.i ? joined[sum->at] : mean->args[1], joined[sum->at],
                      joined[count->at]};
  FlType1 types[2] = {mean->results[0]->type, mean->results[1]->type};
  FlOp *op = fl_ir_op(b, FL_OP_AGGREGATE, 4, args, 2, types, 0);
  op->attrs = mean->attrs;
  op->attrs.s = "mean_of";
  fl_ir_set_columns(b->module->arena, op, 2, (FlColumnAttr[2]){{0}});
  return op;
}

static void merge_aggregate(const FlPartFold *fold, FlOp *op, FlValue *const *joined, FlSubst *subst) {
  FlBuilder b = fl_opt_before(op);
  FlValue *column = column_of(op), *valid = valid_of(op);
  FlOp *merged;
  FlAggState kind = state_of(op->attrs.s);
  if (kind == FL_STATE_MEAN) {
    merged = mean_of(&b, op, find_state(fold, "sum", column, valid),
                     find_state(fold, "count", counted_of(op), counted_valid_of(op)), joined);
  } else if (kind == FL_STATE_COUNT) {
    FlPartState *state = find_state(fold, "count", column, valid);
    if (!state) state = find_state(fold, "count", NULL, NULL);
    merged = aggregate(&b, op, "sum", state, joined, op->results[0]->type);
  } else {
    merged = aggregate(&b, op, op->attrs.s, find_state(fold, op->attrs.s, column, valid), joined,
                       op->results[0]->type);
  }
  merged->places = op->places;
  if (merged->n_regions) fl_opt_move_within(op, merged);
  for (int k = 0; k < 2; k++) fl_subst_set(subst, op->results[k], merged->results[k]);
  fl_ir_remove(op);
}

void fl_parts_merge(FlPartFold *fold, FlValue *const *joined, FlSubst *subst) {
  for (int i = 0; i < fold->ops.n; i++) {
    FlOp *op = fold->ops.at[i];
    if (op->code == FL_OP_AGGREGATE) {
      merge_aggregate(fold, op, joined, subst);
      continue;
    }
    for (int k = 1; k < op->n_args; k++) {
      int key = 0;
      while (fold->group->args[key] != op->args[k]) key++;
      op->args[k] = joined[key];
    }
  }
  for (int k = 0; fold->group && k < fold->group->n_args; k++) fold->group->args[k] = joined[k];
}
