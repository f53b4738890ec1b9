/* asks.c: rows of a file that a join will drop are dropped while the file is read, so that what is joined,
 * and copied for that, is hardly more than what the join gives.
 *
 *   %n, %a, %b = read_table F                  %s = key_set %k
 *   %m = map %n { ... a[i] ... }               %n, %a, %b = read_table F
 *   %c, %d = compress %m, %b           ->      %m = map %n { ... a[i] ... }
 *   %k = ...                                   %q = in_keys %s, %m, %b
 *   %j, %l, %r = join %d, %k                   %c, %d = compress %q, %b
 *
 * Where nothing filters the rows of the file, there is a COMPRESS for this alone. parts.c then moves what is
 * asked into the reader. What always holds: rows that are dropped are seen by nothing but filters, joins and
 * groups that would drop them, or by what cannot fail and computes each row of its own; the join stays as it
 * is, so a set may say yes too often. What computes the other keys moves before the reader, and cannot fail.
 *
 * Behind parts.c, where the other keys are of a file that the script names later, its parts are read before,
 * too (earlier.c).
 */
#include "opt/asks.h"

#include <string.h>

typedef struct Asks {
  FlArena *arena;
  FlFunc *func;
  FlUses uses;
  FlMap *position; /* of the operations of the function's body, from 1 on */
  bool again;      /* readers may be read again */
  bool earlier;    /* files that are named later may be read earlier, and only for these it asks */
} Asks;

/* An operation that makes other rows of some: a COMPRESS, GROUP, or a JOIN of this side. */
typedef struct Step {
  FlOp *op;
  int side;
} Step;

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static void look(Asks *a) {
  intptr_t n = 0;
  a->uses = fl_opt_uses(a->func);
  a->position = fl_map_make(a->arena);
  for (FlOp *op = a->func->body->first; op; op = op->next) fl_map_set(a->position, op, (void *)++n);
}

static intptr_t position_of(const Asks *a, const FlOp *op) { return (intptr_t)fl_map_get(a->position, op); }

/* ---- joins --------------------------------------------------------------------------------------------- */

/* Rows of that side without a partner are in no row of the result. */
static bool drops(const FlOp *join, int side) {
  const char *how = join->attrs.s;
  if (join->attrs.i == 1) return false; /* it says the row that has too many partners */
  if (is(how, "inner") || is(how, "semi")) return true;
  return side == 0 ? is(how, "right") : is(how, "left") || is(how, "anti");
}

/* A row of that side decides about rows of the result that are made of it, and about no others. */
static bool carries(const FlOp *join, int side) {
  const char *how = join->attrs.s;
  if (join->attrs.i == 1) return false;
  if (is(how, "inner")) return true;
  return side == 0 && (is(how, "semi") || is(how, "anti") || is(how, "left"));
}

/* The first argument of the key. */
static int key_at(const FlOp *join, int column) {
  int at = 0;
  for (int i = 0; i < column; i++) at += fl_ir_column_width(&join->attrs.columns[i]);
  return at;
}

/* Which side the argument is a key of. */
static int side_of(const FlOp *join, int arg) { return arg >= key_at(join, join->attrs.n_columns / 2); }

/* ---- who sees rows ------------------------------------------------------------------------------------- */

/* The operation of the function's body that op is, or is in. */
static FlOp *outermost(const Asks *a, FlOp *op) {
  while (op && op->parent != a->func->body) op = op->parent->owner;
  return op;
}

static bool is_arg(const FlOp *op, int from, const FlValue *v) {
  for (int i = from; i < op->n_args; i++)
    if (op->args[i] == v) return true;
  return false;
}

/* The numbers by which rows of what the step makes are taken from what it has. */
static FlValue *numbers_of(const Step *s) {
  if (s->op->code == FL_OP_JOIN) return s->op->results[1 + s->side];
  return s->op->code == FL_OP_GROUP ? s->op->results[2] : NULL;
}

typedef struct Seen {
  FlVec(FlValue *) todo;
  FlMap *has;
  FlVec(const FlOp *) maps; /* that compute some */
} Seen;

static void add(Asks *a, Seen *s, FlValue *v) {
  if (fl_map_get(s->has, v)) return;
  fl_map_set(s->has, v, v);
  fl_vec_push(a->arena, &s->todo, v);
}

bool fl_asks_is_local(const FlOp *map, const FlOp *maker) {
  return map->code == FL_OP_MAP && map->n_args == 1 && map->args[0] == maker->results[0] &&
         fl_ir_is_kernel(map->regions[0]) && !fl_ir_may_fault(map) && !fl_opt_has_note(map);
}

static bool reads_own(const FlOp *load, const FlOp *map, const FlValue *v) {
  return load->code == FL_OP_LOAD && load->args[0] == v && load->n_args == 2 &&
         load->args[1] == map->regions[0]->params[0];
}

/* The use of v, one of the rows that maker makes, is one that the step or rows made of it have, or what it
 * makes is put to those seen. */
static bool is_fine(Asks *a, Seen *s, const FlOp *maker, const Step *next, FlValue *v, FlOp *use) {
  FlOp *op = outermost(a, use);
  if (!op) return false;
  if (op == next->op) {
    for (int i = 0; op->code == FL_OP_JOIN && i < op->n_args; i++)
      if (op->args[i] == v && side_of(op, i) != next->side) return false;
    return true;
  }
  if (op->code == FL_OP_TAKE) {
    bool number = op->args[0] == v, own = false;
    if (fl_ir_may_fault(op) || (number && is_arg(op, 1, v))) return false;
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
    if (group != maker || is_arg(op, 2, v)) return false;
    for (int k = 0; k < op->n_results; k++) add(a, s, op->results[k]);
    return true;
  }
  if (op->code == FL_OP_IN_KEYS && v == op->args[1] && op->args[0] != v && !is_arg(op, 2, v)) {
    add(a, s, op->results[0]);
    return true;
  }
  if (!fl_asks_is_local(op, maker) || (use != op && !reads_own(use, op, v)) ||
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
static bool takes_rows(Asks *a, const Seen *s, const Step *next) {
  const FlOp *op = next->op;
  FlValue *numbers = numbers_of(next);
  int half = op->code == FL_OP_JOIN ? key_at(op, op->attrs.n_columns / 2) : op->n_args;
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

/* Nothing but the step sees the rows that maker makes, and it sees no others with them. */
static bool is_alone(Asks *a, const FlOp *maker, const Step *next) {
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

/* The numbers of the side's rows only gather these. */
static bool only_gathers(Asks *a, const FlOp *join, int side) {
  FlValue *numbers = join->results[1 + side];
  for (uint32_t k = 0; k < fl_opt_n_uses(&a->uses, numbers); k++) {
    const FlOp *use = fl_opt_use(&a->uses, numbers, k);
    if (!use || use->code != FL_OP_TAKE || use->parent != join->parent || is_arg(use, 1, numbers) ||
        fl_ir_may_fault(use))
      return false;
  }
  return true;
}

/* ---- where the key comes from -------------------------------------------------------------------------- */

/* Where rows can be dropped: a COMPRESS, or the reader itself, and which of its results is the key. */
typedef struct Place {
  FlOp *op, *reader;
  int index[2]; /* and, of a key with nulls, of which are valid */
  FlOp *group;  /* whose rows are of a reader of their own then; NULL: they are already */
} Place;

/* The reader of a column that at most filters lie between; NULL: none, or one that is read as a whole. */
static FlOp *reader_of(const Asks *a, const FlValue *v) {
  while (v->op && v->op->code == FL_OP_COMPRESS && v->index > 0) v = v->op->args[v->index];
  FlOp *op = v->op;
  return op && v->index > 0 && op->parent == a->func->body && fl_opt_is_parted(op) ? op : NULL;
}

/* One step back from the column v to that of the rows which it was taken from, `from`; what takes is `step`.
 * NULL: it is not taken, or rows cannot be dropped before. */
static FlValue *taken_from(const FlValue *v, Step *step) {
  const FlOp *take = v->op;
  if (!take || take->code != FL_OP_TAKE || fl_ir_may_fault(take)) return NULL;
  FlOp *by = take->args[0]->op;
  FlValue *from = take->args[v->index + 1];
  if (!by || by->parent != take->parent) return NULL;
  if (by->code == FL_OP_JOIN && take->args[0]->index > 0) {
    *step = (Step){by, take->args[0]->index - 1};
    return carries(by, step->side) ? from : NULL;
  }
  *step = (Step){by, 0};
  return by->code == FL_OP_GROUP && take->args[0]->index == 2 && is_arg(by, 0, from) ? from : NULL;
}

/* Where rows of the reader are dropped for the step. */
static Place reader_place(Asks *a, FlOp *reader, const FlValue *v, const Step *next) {
  FlOp *group = next->op;
  if (v->index == 0 || !fl_opt_is_parted(reader)) return (Place){0};
  if (is_alone(a, reader, next)) return (Place){reader, reader, {v->index}, NULL};
  bool again = a->again && group->code == FL_OP_GROUP && fl_asks_may_reread(reader, group);
  return again ? (Place){reader, reader, {v->index}, group} : (Place){0};
}

/* The furthest place up from where the step sees its key v. */
static Place place_of(Asks *a, FlValue *v, Step next) {
  while (v && v->op && v->op->parent == a->func->body && v->type.rank == 1 && !v->type.depth) {
    FlOp *op = v->op, *reader = reader_of(a, v);
    if (op->code == FL_OP_READ_TABLE) return reader_place(a, op, v, &next);
    if (op->code == FL_OP_COMPRESS && v->index > 0) {
      if (!is_alone(a, op, &next)) break;
      if (reader) return (Place){op, reader, {v->index}, NULL};
      v = op->args[v->index];
      next = (Step){op, 0};
      continue;
    }
    Step step;
    v = taken_from(v, &step);
    if (!v || !is_alone(a, step.op, &next)) break;
    next = step;
  }
  return (Place){0};
}

/* ---- the other side ------------------------------------------------------------------------------------ */

/* Some filter or join may have left fewer keys than the table has. */
static bool is_filtered(const FlValue *v, int depth) {
  enum { DEEPEST = 16 };
  for (; v->op && depth < DEEPEST; depth++) {
    const FlOp *op = v->op, *by = op->n_args ? op->args[0]->op : NULL;
    if (op->code == FL_OP_COMPRESS || op->code == FL_OP_ROWS || fl_asks_is_of_parts(op)) return true;
    if (op->code != FL_OP_TAKE || !by) return false;
    if (by->code == FL_OP_JOIN) {
      if (is(by->attrs.s, "anti")) return true;
      if (is(by->attrs.s, "full") || is(by->attrs.s, "left") || is(by->attrs.s, "right")) return false;
      int other = op->args[0]->index == 1 ? key_at(by, by->attrs.n_columns / 2) : 0;
      if (is_filtered(by->args[other], depth + 1)) return true;
    }
    v = op->args[v->index + 1];
  }
  return false;
}

typedef FlVec(FlOp *) Moving;

static bool precedes(Asks *a, FlValue *v, const FlOp *place, FlMap *seen, Moving *moving);

static bool region_precedes(Asks *a, const FlRegion *r, const FlOp *whole, const FlOp *place, FlMap *seen,
                            Moving *moving) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (!fl_ir_made_within(op->args[i], whole) && !precedes(a, op->args[i], place, seen, moving))
        return false;
    for (int i = 0; i < op->n_regions; i++)
      if (!region_precedes(a, op->regions[i], whole, place, seen, moving)) return false;
  }
  for (int i = 0; i < r->n_yields; i++)
    if (!fl_ir_made_within(r->yields[i], whole) && !precedes(a, r->yields[i], place, seen, moving))
      return false;
  return true;
}

/* It may stand anywhere from the place on where its arguments are. */
static bool may_move(const Asks *a, const FlOp *op, const FlOp *place) {
  if (a->earlier && (fl_asks_is_part_loop(op) || op->code == FL_OP_LIST_CONCAT)) return true;
  if (a->earlier && op->code == FL_OP_TABLE_PARTS) return fl_asks_may_open(op, place);
  if (fl_ir_is_effect(op) || fl_opt_has_note(op)) return false;
  if (fl_op_info[op->code].flags & FL_OPF_TOTAL || op->code == FL_OP_COMPRESS) return true;
  if (op->code == FL_OP_JOIN) return op->attrs.i == 0;
  return !fl_ir_may_fault(op) && fl_op_info[op->code].family != FL_FAMILY_READING &&
         fl_op_info[op->code].family != FL_FAMILY_CALLS;
}

/* The value is there before the place, or when what is moving has moved: in the order of `moving`. */
static bool precedes(Asks *a, FlValue *v, const FlOp *place, FlMap *seen, Moving *moving) {
  FlOp *op = v->op;
  if (v->region != a->func->body || !op || position_of(a, op) < position_of(a, place)) return true;
  if (fl_map_get(seen, op)) return true;
  if (op == place || !may_move(a, op, place)) return false;
  for (int i = 0; i < op->n_args; i++) {
    FlValue *arg = op->code == FL_OP_TABLE_PARTS ? fl_asks_path(op->args[i]) : op->args[i];
    if (!precedes(a, arg, place, seen, moving)) return false;
  }
  for (int i = 0; i < op->n_regions; i++)
    if (!region_precedes(a, op->regions[i], op, place, seen, moving)) return false;
  fl_map_set(seen, op, op);
  fl_vec_push(a->arena, moving, op);
  return true;
}

/* ---- rewriting ----------------------------------------------------------------------------------------- */

/* A COMPRESS of all columns of the reader, in place of these for all who see them. */
static FlOp *filter_reader(Asks *a, FlOp *reader, FlValue *mask) {
  FlBuilder b = fl_opt_before(mask->op->next);
  int n = reader->n_results;
  FlValue **args = FL_NEW_ARRAY(b.module->arena, FlValue *, n);
  FlType1 *types = FL_NEW_ARRAY(b.module->arena, FlType1, n);
  args[0] = mask;
  types[0] = fl_t_scalar(FL_I64);
  for (int k = 1; k < n; k++) {
    args[k] = reader->results[k];
    types[k] = args[k]->type;
  }
  b.span = reader->span;
  FlOp *op = fl_ir_op(&b, FL_OP_COMPRESS, n, args, n, types, 0);
  for (int k = 0; k < n; k++) fl_ir_replace(a->func, reader->results[k], op->results[k]);
  for (int i = 1; i < n; i++) op->args[i] = reader->results[i];
  for (int i = 1; i < mask->op->n_args; i++)
    for (int k = 1; k < n; k++)
      if (mask->op->args[i] == op->results[k]) mask->op->args[i] = reader->results[k];
  return op;
}

/* A key of the join is asked at the place; `own` and `others` say what it is on both sides, which the join
 * has as its arguments from `other` on. */
static void ask(Asks *a, const Place *p, const FlOp *join, const FlColumnAttr *own,
                const FlColumnAttr *others, int other) {
  FlBuilder b = fl_opt_before(p->reader);
  b.span = join->span;
  FlType1 set_type = fl_t_array(FL_I64, 1), mask_type = fl_t_array(FL_BOOL, 1);
  FlOp *set = fl_ir_op(&b, FL_OP_KEY_SET, fl_ir_column_width(others), join->args + other, 1, &set_type, 0);
  fl_ir_set_columns(b.module->arena, set, 1, others);
  bool filters = p->op->code == FL_OP_COMPRESS;
  FlValue *args[4] = {set->results[0]};
  int n = 1;
  if (filters) args[n++] = p->op->args[0];
  for (int i = 0; i < fl_ir_column_width(own); i++)
    args[n++] = filters ? p->op->args[p->index[i]] : p->op->results[p->index[i]];
  b = fl_opt_before(filters ? p->op : p->reader->next);
  b.span = join->span;
  FlOp *in = fl_ir_op(&b, FL_OP_IN_KEYS, n, args, 1, &mask_type, 0);
  in->attrs.i = filters;
  fl_ir_set_columns(b.module->arena, in, 1, own);
  if (filters) p->op->args[0] = in->results[0];
  else filter_reader(a, p->reader, in->results[0]);
}

static bool is_asked(const FlValue *key, const FlValue *other) {
  int32_t d = key->type.dtype;
  return other->type.dtype == d && !fl_dtype_is_text(d) && d != FL_CATEGORY && d != FL_LIST;
}

/* Where the key of the step, and which of its values are valid, are asked. */
static Place key_place(Asks *a, FlOp *join, int side, int at, const FlColumnAttr *own) {
  Place place = place_of(a, join->args[at], (Step){join, side});
  if (!place.op || !(own->flags & FL_COLUMN_NULLS)) return place;
  Place valid = place_of(a, join->args[at + 1], (Step){join, side});
  place.index[1] = valid.index[0];
  return valid.op == place.op && valid.group == place.group ? place : (Place){0};
}

static bool try_key(Asks *a, FlOp *join, int side, int k) {
  int half = join->attrs.n_columns / 2, mine = side * half + k, theirs = (1 - side) * half + k;
  const FlColumnAttr *own = &join->attrs.columns[mine], *others = &join->attrs.columns[theirs];
  int at = key_at(join, mine), other = key_at(join, theirs);
  if (!is_asked(join->args[at], join->args[other]) || !is_filtered(join->args[other], 0)) return false;
  Place place = key_place(a, join, side, at, own);
  if (!place.op || (place.group != NULL) != a->again) return false;
  Moving moving = {0};
  FlMap *seen = fl_map_make(a->arena);
  FlOp *before = place.group ? place.group : place.reader;
  for (int i = 0; i < fl_ir_column_width(others); i++)
    if (!precedes(a, join->args[other + i], before, seen, &moving)) return false;
  bool opens = false;
  for (int i = 0; i < moving.n; i++) opens = opens || moving.at[i]->code == FL_OP_TABLE_PARTS;
  if (opens != a->earlier) return false;
  for (int i = 0; i < moving.n; i++) {
    fl_ir_move_before(moving.at[i], before);
    if (moving.at[i]->code == FL_OP_TABLE_PARTS) fl_asks_open_quietly(moving.at[i]);
  }
  if (place.group) place.op = place.reader = fl_asks_reread(a->func, place.reader, place.group);
  ask(a, &place, join, own, others, other);
  return true;
}

static void try_join(Asks *a, FlOp *join) {
  for (int side = 0; side < 2; side++) {
    if (!drops(join, side) || !only_gathers(a, join, side)) continue;
    for (int k = 0; k < join->attrs.n_columns / 2; k++) {
      if (!try_key(a, join, side, k)) continue;
      fl_opt_uses_reset(&a->uses);
      look(a);
    }
  }
}

static void ask_all(FlModule *m, bool earlier) {
  for (FlFunc *f = m->first; f; f = f->next) {
    Asks a = {.arena = fl_arena_new(), .func = f, .earlier = earlier};
    FlVec(FlOp *) joins = {0};
    for (FlOp *op = f->body->first; op; op = op->next)
      if (op->code == FL_OP_JOIN) fl_vec_push(a.arena, &joins, op);
    if (joins.n) look(&a);
    for (int pass = 0; pass < 2 - earlier; pass++) { /* what is asked of other rows first */
      a.again = pass > 0;
      for (int i = 0; i < joins.n; i++) try_join(&a, joins.at[i]);
    }
    if (joins.n) fl_opt_uses_reset(&a.uses);
    fl_arena_free(a.arena);
  }
}

void fl_opt_asks(FlModule *m) { ask_all(m, false); }

void fl_opt_asks_earlier(FlModule *m) { ask_all(m, true); }
