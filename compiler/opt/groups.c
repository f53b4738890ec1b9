/* groups.c: tables that are grouped move with their keys where the groups do not fit in memory: GROUP, the
 * AGGREGATEs of its groups and the TAKE of their first rows stand behind a GROUP_ROWS, which does all of it
 * at once there.
 *
 *   %g, %id, %first = group %k             %done, %g1, %v1, %t1 = group_rows %k, %x, %k
 *   %v = aggregate %g, %id, %x       ->    %g, %v, %t = if %done { yield %g1, %v1, %t1 } {
 *   %t = take %first, %k                     ... as it was }
 *
 * In: a GROUP whose numbers and first rows nobody else reads, of columns with a value a row. What always
 * holds: where all fits, or something fails, it is done as it was, so no bit changes and no error. */
#include "opt/opt_internal.h"

enum { MOST_AGGREGATES = 64 };

typedef struct Grouping {
  FlArena *arena;
  const FlUses *uses;
  FlOp *group, *last;
  FlVec(FlOp *) ops; /* AGGREGATEs, then TAKEs */
  int n_aggregating, n_aggregates;
  FlMap *own;     /* the group and the ops */
  FlMap *between; /* what stands from the group to the last of the ops */
} Grouping;

static bool is_plain(const FlValue *v) {
  return v->type.rank == 1 && v->type.depth == 0 && v->type.dtype != FL_LIST;
}

static bool aggregates(const FlOp *op, const FlValue *id) {
  bool one = op->code == FL_OP_AGGREGATE && op->attrs.i == 0;
  if ((!one && op->code != FL_OP_AGGREGATES) || op->args[1] != id) return false;
  for (int i = 2; i < op->n_args; i++)
    if (op->args[i] == id || !is_plain(op->args[i])) return false;
  return is_plain(op->results[0]);
}

static bool takes(const FlOp *op, const FlValue *first) {
  if (op->code != FL_OP_TAKE || op->attrs.i != FL_TAKE_PROVEN || op->args[0] != first) return false;
  for (int i = 1; i < op->n_args; i++)
    if (op->args[i] == first || !is_plain(op->args[i])) return false;
  return true;
}

/* Who reads the numbers of the groups, and the first rows: AGGREGATEs and TAKEs of the same region alone. */
static bool find_ops(Grouping *g) {
  const FlOp *group = g->group;
  for (int i = 0; i < group->n_args; i++)
    if (!is_plain(group->args[i])) return false;
  for (int r = 1; r <= 2; r++) {
    const FlValue *v = group->results[r];
    for (uint32_t k = 0; k < fl_opt_n_uses(g->uses, v); k++) {
      FlOp *op = fl_opt_use(g->uses, v, k);
      if (!op || op->parent != group->parent) return false;
      if (!(r == 1 ? aggregates(op, v) : takes(op, v))) return false;
      if (r == 1) g->n_aggregates += op->code == FL_OP_AGGREGATES ? op->attrs.n_columns : 1;
      fl_vec_push(g->arena, &g->ops, op);
      fl_map_set(g->own, op, op);
    }
    if (r == 1) g->n_aggregating = g->ops.n;
  }
  return g->n_aggregating > 0 && g->n_aggregates <= MOST_AGGREGATES;
}

/* Where the last of them stands. */
static void find_last(Grouping *g) {
  int left = g->ops.n;
  for (FlOp *op = g->group; left > 0; op = op->next) {
    fl_map_set(g->between, op, op);
    left -= fl_map_get(g->own, op) != NULL;
    g->last = op;
  }
}

/* The op, or the one around it, that stands in the region of the group. */
static const FlOp *around(const Grouping *g, const FlOp *op) {
  while (op && op->parent != g->group->parent) op = op->parent->owner;
  return op;
}

/* What the op gives is read behind the last of them; what the group gives also by themselves. */
static bool is_read_later(const Grouping *g, const FlOp *op) {
  for (int r = 0; r < op->n_results; r++) {
    for (uint32_t k = 0; k < fl_opt_n_uses(g->uses, op->results[r]); k++) {
      const FlOp *use = fl_opt_use(g->uses, op->results[r], k);
      if (!use) continue;
      if (op != g->group && fl_map_get(g->own, use)) return false; /* not by a WITHIN in its region */
      use = around(g, use);
      if (!use || (fl_map_get(g->between, use) && !fl_map_get(g->own, use))) return false;
    }
  }
  return true;
}

/* They may all stand where the last one does: nothing between them reads what they give, and no error becomes
 * the first that was not. */
static bool may_move(const Grouping *g) {
  bool fails = false;
  for (const FlOp *op = g->group; op != g->last->next; op = op->next) {
    if (fl_map_get(g->own, op)) {
      if (!is_read_later(g, op)) return false;
      fails |= fl_ir_may_fault(op);
    } else if (op != g->group && fails &&
               (fl_ir_may_fault(op) || fl_ir_is_effect(op) || fl_opt_has_note(op))) {
      return false;
    }
  }
  return is_read_later(g, g->group);
}

/* ---- the operation ------------------------------------------------------------------------------------- */

typedef struct Call {
  FlVec(FlValue *) args, gives; /* gives: what it does in place of */
  FlVec(FlColumnAttr) columns;
  FlVec(FlSpan) places;
} Call;

/* The number of aggregate k of the operation's call. */
static double setting_of(const FlOp *op, int k) {
  if (op->code == FL_OP_AGGREGATE) return op->attrs.f;
  FlAggregate kind = fl_aggregate_find(op->attrs.columns[k].made);
  return fl_aggregate_info[kind].setting == FL_SETTING_DDOF ? op->attrs.f : 0.0;
}

static void add_aggregate(const Grouping *g, FlBuilder *b, Call *c, const FlOp *op, int k, int *at) {
  bool one = op->code == FL_OP_AGGREGATE;
  int n = one ? op->attrs.n_columns : 1;
  fl_vec_push(g->arena, &c->args, fl_ir_const_f(b, FL_F64, setting_of(op, k)));
  FlColumnAttr none = {.made = one ? op->attrs.s : NULL, .flags = FL_COLUMN_NONE};
  if (n == 0) fl_vec_push(g->arena, &c->columns, none);
  for (int j = 0; j < n; j++) {
    FlColumnAttr column = op->attrs.columns[one ? j : k];
    if (one) column.made = j == 0 ? op->attrs.s : NULL;
    int values = column.flags & FL_COLUMN_NONE ? 0 : column.flags & FL_COLUMN_NULLS ? 2 : 1;
    for (int i = 0; i < values; i++) fl_vec_push(g->arena, &c->args, op->args[(*at)++]);
    fl_vec_push(g->arena, &c->columns, column);
  }
  for (int r = 0; r < 2; r++) {
    fl_vec_push(g->arena, &c->gives, op->results[2 * k + r]);
    fl_vec_push(g->arena, &c->places, fl_ir_place(op, 2 * k + r));
  }
}

static void describe(const Grouping *g, FlBuilder *b, Call *c) {
  const FlOp *group = g->group;
  for (int i = 0; i < group->n_args; i++) fl_vec_push(g->arena, &c->args, group->args[i]);
  for (int k = 0; k < group->attrs.n_columns; k++) {
    FlColumnAttr key = {.flags = group->attrs.columns[k].flags};
    fl_vec_push(g->arena, &c->columns, key);
  }
  fl_vec_push(g->arena, &c->gives, group->results[0]);
  fl_vec_push(g->arena, &c->places, group->span);
  for (int i = 0; i < g->n_aggregating; i++) {
    const FlOp *op = g->ops.at[i];
    int at = 2, n = op->code == FL_OP_AGGREGATES ? op->attrs.n_columns : 1;
    for (int k = 0; k < n; k++) add_aggregate(g, b, c, op, k, &at);
  }
  for (int i = g->n_aggregating; i < g->ops.n; i++) {
    const FlOp *op = g->ops.at[i];
    for (int r = 0; r < op->n_results; r++) {
      fl_vec_push(g->arena, &c->args, op->args[r + 1]);
      fl_vec_push(g->arena, &c->gives, op->results[r]);
      fl_vec_push(g->arena, &c->places, fl_ir_place(op, r));
    }
  }
}

static FlOp *make_rows(FlBuilder *b, const Call *c) {
  FlArena *arena = b->module->arena;
  int n = c->gives.n + 1;
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, n);
  FlSpan *places = FL_NEW_ARRAY(arena, FlSpan, n);
  types[0] = fl_t_scalar(FL_BOOL);
  places[0] = b->span;
  for (int k = 1; k < n; k++) {
    types[k] = c->gives.at[k - 1]->type;
    places[k] = c->places.at[k - 1];
  }
  FlOp *rows = fl_ir_op(b, FL_OP_GROUP_ROWS, c->args.n, c->args.at, n, types, 0);
  fl_ir_set_columns(arena, rows, c->columns.n, c->columns.at);
  rows->places = places;
  return rows;
}

/* The branches: what GROUP_ROWS has made, or the operations as they were. */
static FlOp *make_if(FlBuilder *b, const Grouping *g, const Call *c, const FlOp *rows) {
  FlModule *m = b->module;
  FlType1 *types = FL_NEW_ARRAY(m->arena, FlType1, c->gives.n);
  for (int k = 0; k < c->gives.n; k++) types[k] = c->gives.at[k]->type;
  FlOp *either = fl_ir_op(b, FL_OP_IF, 1, (FlValue *[]){rows->results[0]}, c->gives.n, types, 2);
  either->places = rows->places + 1;
  fl_ir_yield(fl_ir_region(b, either, 0, 0, NULL), m, c->gives.n, rows->results + 1);
  FlRegion *was = fl_ir_region(b, either, 1, 0, NULL);
  for (FlOp *op = g->group, *next; op != rows; op = next) { /* in their order */
    next = op->next;
    if (op == g->group || fl_map_get(g->own, op)) fl_ir_move_into(op->parent, op->prev, next, was);
  }
  bool counted = true;
  for (int i = 0; i < g->n_aggregating; i++) counted &= fl_opt_sweeps(g->ops.at[i]);
  g->group->attrs.i = counted ? FL_GROUP_COUNTED : 0;
  fl_ir_yield(was, m, c->gives.n, c->gives.at);
  return either;
}

static FlOp *replace(FlSubst *s, const Grouping *g) {
  for (FlOp *op = g->group; op != g->last->next; op = op->next) {
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) fl_subst_region(s, op->regions[i]);
  }
  FlBuilder b = fl_opt_before(g->last);
  b.before = g->last->next;
  b.span = g->group->span;
  Call c = {0};
  describe(g, &b, &c);
  FlOp *rows = make_rows(&b, &c), *either = make_if(&b, g, &c, rows);
  for (int k = 0; k < c.gives.n; k++) fl_subst_set(s, c.gives.at[k], either->results[k]);
  return either;
}

static void visit(FlSubst *s, const FlUses *uses, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, uses, op->regions[i]);
    if (op->code != FL_OP_GROUP) continue;
    Grouping g = {.arena = fl_arena_new(), .uses = uses, .group = op};
    g.own = fl_map_make(g.arena);
    g.between = fl_map_make(g.arena);
    if (find_ops(&g)) {
      find_last(&g);
      if (may_move(&g)) op = replace(s, &g);
    }
    fl_arena_free(g.arena);
  }
  fl_subst_yields(s, r);
}

void fl_opt_groups(FlModule *m) { fl_opt_each_body(m, visit); }
