/* asks_alone.c: who sees rows, before some of them are dropped for what alone decides about them.
 *
 * In: operations that make rows (readers, filters, joins, groups), and the next one on the way to a join.
 * Out: whether nothing else could tell that rows are missing which it would drop: all that sees them are
 * filters, joins and groups that have them as their own, or what cannot fail and computes each row of its
 * own. */
#include "opt/asks.h"

#include <string.h>

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* ---- joins --------------------------------------------------------------------------------------------- */

bool fl_asks_drops(const FlOp *join, int side) {
  const char *how = join->attrs.s;
  if (join->attrs.i == 1) return false; /* it says the row that has too many partners */
  if (is(how, "inner") || is(how, "semi")) return true;
  return side == 0 ? is(how, "right") : is(how, "left") || is(how, "anti");
}

bool fl_asks_carries(const FlOp *join, int side) {
  const char *how = join->attrs.s;
  if (join->attrs.i == 1) return false;
  if (is(how, "inner")) return true;
  return side == 0 && (is(how, "semi") || is(how, "anti") || is(how, "left"));
}

int fl_asks_key_at(const FlOp *join, int column) {
  int at = 0;
  for (int i = 0; i < column; i++) at += fl_ir_column_width(&join->attrs.columns[i]);
  return at;
}

/* Which side the argument is a key of. */
static int side_of(const FlOp *join, int arg) {
  return arg >= fl_asks_key_at(join, join->attrs.n_columns / 2);
}

/* ---- who sees rows ------------------------------------------------------------------------------------- */

bool fl_asks_is_arg(const FlOp *op, int from, const FlValue *v) {
  for (int i = from; i < op->n_args; i++)
    if (op->args[i] == v) return true;
  return false;
}

/* The numbers by which rows of what the step makes are taken from what it has. */
static FlValue *numbers_of(const FlAsksStep *s) {
  if (s->op->code == FL_OP_JOIN) return s->op->results[1 + s->side];
  return s->op->code == FL_OP_GROUP ? s->op->results[2] : NULL;
}

typedef struct Seen {
  FlVec(FlValue *) todo;
  FlMap *has;
  FlVec(const FlOp *) maps; /* that compute some */
} Seen;

static void add(FlAsks *a, Seen *s, FlValue *v) {
  if (fl_map_get(s->has, v)) return;
  fl_map_set(s->has, v, v);
  fl_vec_push(a->arena, &s->todo, v);
}

bool fl_asks_is_local(const FlOp *map, const FlValue *rows) {
  return map->code == FL_OP_MAP && map->n_args == 1 && map->args[0] == rows &&
         fl_ir_is_kernel(map->regions[0]) && !fl_ir_may_fault(map) && !fl_opt_has_note(map);
}

static bool reads_own(const FlOp *load, const FlOp *map, const FlValue *v) {
  return load->code == FL_OP_LOAD && load->args[0] == v && load->n_args == 2 &&
         load->args[1] == map->regions[0]->params[0];
}

/* The use of v, one of the rows that maker makes, is one that the step or rows made of it have, or what it
 * makes is put to those seen. */
static bool is_fine(FlAsks *a, Seen *s, const FlOp *maker, const FlAsksStep *next, FlValue *v, FlOp *use) {
  FlOp *op = fl_opt_outermost(use, a->func->body);
  if (!op) return false;
  if (op == next->op) {
    for (int i = 0; op->code == FL_OP_JOIN && i < op->n_args; i++)
      if (op->args[i] == v && side_of(op, i) != next->side) return false;
    return true;
  }
  if (op->code == FL_OP_TAKE) {
    bool number = op->args[0] == v, own = false;
    if (fl_ir_may_fault(op) || (number && fl_asks_is_arg(op, 1, v))) return false;
    if (!number) return op->args[0] == numbers_of(next);
    for (int k = maker->code == FL_OP_GROUP ? 2 : 1; k < maker->n_results; k++)
      own = own || maker->results[k] == v;
    for (int k = 0; own && k < op->n_results; k++) add(a, s, op->results[k]);
    return own;
  }
  if (op->code == FL_OP_AGGREGATE) {
    const FlOp *group = op->args[1]->op;
    if (!group || group->code != FL_OP_GROUP || op->attrs.i || op->n_regions || fl_ir_may_fault(op) ||
        op->args[0] != group->results[0] || op->args[1] != group->results[1])
      return false;
    if (group == next->op) return v != op->args[0] && v != op->args[1];
    if (group != maker || fl_asks_is_arg(op, 2, v)) return false;
    for (int k = 0; k < op->n_results; k++) add(a, s, op->results[k]);
    return true;
  }
  if (op->code == FL_OP_IN_KEYS && v == op->args[1] && op->args[0] != v && !fl_asks_is_arg(op, 2, v)) {
    add(a, s, op->results[0]);
    return true;
  }
  if (!fl_asks_is_local(op, maker->results[0]) || (use != op && !reads_own(use, op, v)) ||
      (use == op && v != maker->results[0]))
    return false;
  if (!fl_map_get(s->has, op->results[0])) fl_vec_push(a->arena, &s->maps, op);
  for (int k = 0; k < op->n_results; k++) add(a, s, op->results[k]);
  return true;
}

/* ---- all rows of one kind ------------------------------------------------------------------------------ */

static bool has_all(const Seen *s, const FlOp *op, int from, int to) {
  for (int i = from; i < to; i++)
    if (!fl_map_get(s->has, op->args[i])) return false;
  return true;
}

/* By the number of the row only columns of these rows are read. */
static bool reads_rows(const Seen *s, const FlRegion *r, const FlValue *row) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (op->args[i] == row && (op->code != FL_OP_LOAD || i != 1 || !fl_map_get(s->has, op->args[0])))
        return false;
    for (int i = 0; i < op->n_regions; i++)
      if (!reads_rows(s, op->regions[i], row)) return false;
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] == row) return false;
  return true;
}

/* Columns that the step takes rows of are of these rows. */
static bool takes_rows(FlAsks *a, const Seen *s, const FlAsksStep *next) {
  const FlOp *op = next->op;
  FlValue *numbers = numbers_of(next);
  int half = op->code == FL_OP_JOIN ? fl_asks_key_at(op, op->attrs.n_columns / 2) : op->n_args;
  if (!has_all(s, op, next->side ? half : 0, next->side ? op->n_args : half)) return false;
  for (uint32_t k = 0; numbers && k < fl_opt_n_uses(&a->uses, numbers); k++) {
    const FlOp *use = fl_opt_use(&a->uses, numbers, k);
    bool take = use && use->code == FL_OP_TAKE && use->args[0] == numbers;
    if (take && !has_all(s, use, 1, use->n_args)) return false;
  }
  FlValue *ids = op->code == FL_OP_GROUP ? op->results[1] : NULL;
  for (uint32_t k = 0; ids && k < fl_opt_n_uses(&a->uses, ids); k++) {
    const FlOp *use = fl_opt_use(&a->uses, ids, k);
    if (use && use->code == FL_OP_AGGREGATE && !has_all(s, use, 2, use->n_args)) return false;
  }
  return true;
}

bool fl_asks_is_alone(FlAsks *a, const FlOp *maker, const FlAsksStep *next) {
  Seen s = {.has = fl_map_make(a->arena)};
  for (int k = 0; k < maker->n_results; k++) add(a, &s, maker->results[k]);
  for (int i = 0; i < s.todo.n; i++) {
    FlValue *v = s.todo.at[i];
    for (uint32_t k = 0; k < fl_opt_n_uses(&a->uses, v); k++) {
      FlOp *use = fl_opt_use(&a->uses, v, k);
      if (!use || !is_fine(a, &s, maker, next, v, use)) return false;
    }
  }
  for (int i = 0; i < s.maps.n; i++)
    if (!reads_rows(&s, s.maps.at[i]->regions[0], s.maps.at[i]->regions[0]->params[0])) return false;
  return takes_rows(a, &s, next);
}

bool fl_asks_only_gathers(FlAsks *a, const FlOp *join, int side) {
  FlValue *numbers = join->results[1 + side];
  for (uint32_t k = 0; k < fl_opt_n_uses(&a->uses, numbers); k++) {
    const FlOp *use = fl_opt_use(&a->uses, numbers, k);
    if (!use || use->code != FL_OP_TAKE || use->parent != join->parent || fl_asks_is_arg(use, 1, numbers) ||
        fl_ir_may_fault(use))
      return false;
  }
  return true;
}
