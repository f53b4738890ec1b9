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
 * too (earlier.c). Then joins ask of rows in memory (join-order.md): filters that stand before them, and
 * joins before these, which give a row that is not asked for a null key:
 *
 *   %j, %l, %r = join %a, %k                   %q = in_keys (key_set %m), %b
 *   %d = take %l, %b                   ->      %j, %l, %r = join<null> %a, %q, %k
 *   join %d, %m                                ...
 *
 * What a filter keeps of the other side is a set of the keys before it, where the filter's mask says which
 * are valid: so two filters may each ask for what the other one keeps. Groups that a join asks for are made
 * of rows that a filter of their own keeps (reread.c).
 */
#include "opt/asks.h"

#include <stdlib.h>
#include <string.h>

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static void look(FlAsks *a) {
  intptr_t n = 0;
  a->uses = fl_opt_uses(a->func);
  a->position = fl_map_make(a->arena);
  for (FlOp *op = a->func->body->first; op; op = op->next) fl_map_set(a->position, op, (void *)++n);
}

/* ---- where the key comes from -------------------------------------------------------------------------- */

/* Where rows can be dropped: a COMPRESS of rows of the reader, or this itself; in memory a COMPRESS, or a
 * JOIN, to which rows of that side have a null key then. */
typedef struct Place {
  FlOp *op, *reader;
  int side;
  FlValue *key[2]; /* of the rows that are dropped: the key, and of one with nulls which are valid */
  FlOp *group;     /* whose rows are of a reader of their own then; NULL: they are already */
} Place;

/* The reader of a column that at most filters lie between; NULL: none, or one that is read as a whole. */
static FlOp *reader_of(const FlAsks *a, const FlValue *v) {
  while (v->op && v->op->code == FL_OP_COMPRESS && v->index > 0) v = v->op->args[v->index];
  FlOp *op = v->op;
  return op && v->index > 0 && op->parent == a->func->body && fl_opt_is_parted(op) ? op : NULL;
}

/* One step back from the column v to that of the rows which it was taken from, `from`; what takes is `step`.
 * NULL: it is not taken, or rows cannot be dropped before. */
static FlValue *taken_from(const FlValue *v, FlAsksStep *step) {
  const FlOp *take = v->op;
  if (!take || take->code != FL_OP_TAKE || fl_ir_may_fault(take)) return NULL;
  FlOp *by = take->args[0]->op;
  FlValue *from = take->args[v->index + 1];
  if (!by || by->parent != take->parent) return NULL;
  if (by->code == FL_OP_JOIN && take->args[0]->index > 0) {
    *step = (FlAsksStep){by, take->args[0]->index - 1};
    return fl_asks_carries(by, step->side) ? from : NULL;
  }
  *step = (FlAsksStep){by, 0};
  return by->code == FL_OP_GROUP && take->args[0]->index == 2 && fl_asks_is_arg(by, 0, from) ? from : NULL;
}

/* Where rows of the reader are dropped for the step. */
static Place reader_place(FlAsks *a, FlOp *reader, FlValue *v, const FlAsksStep *next) {
  FlOp *group = next->op;
  if (v->index == 0 || !fl_opt_is_parted(reader)) return (Place){0};
  if (fl_asks_is_alone(a, reader, next)) return (Place){.op = reader, .reader = reader, .key = {v}};
  bool again = a->again && group->code == FL_OP_GROUP && fl_asks_may_reread(a, reader, group);
  return again ? (Place){.op = reader, .reader = reader, .key = {v}, .group = group} : (Place){0};
}

/* The furthest place up from where the step sees its key v. */
static Place place_of(FlAsks *a, FlValue *v, FlAsksStep next) {
  while (v && v->op && v->op->parent == a->func->body && v->type.rank == 1 && !v->type.depth) {
    FlOp *op = v->op, *reader = reader_of(a, v);
    if (op->code == FL_OP_READ_TABLE) return reader_place(a, op, v, &next);
    if (op->code == FL_OP_COMPRESS && v->index > 0) {
      if (!fl_asks_is_alone(a, op, &next)) break;
      v = op->args[v->index];
      if (reader) return (Place){.op = op, .reader = reader, .key = {v}};
      next = (FlAsksStep){op, 0};
      continue;
    }
    FlAsksStep step;
    v = taken_from(v, &step);
    if (!v || !fl_asks_is_alone(a, step.op, &next)) break;
    next = step;
  }
  return (Place){0};
}

/* A row of that side is in no row of what the join gives where its key is null. */
static bool loses(const FlOp *op, int side) {
  return op->code == FL_OP_JOIN && op->attrs.i != 1 &&
         (is(op->attrs.s, "inner") || (side == 0 && is(op->attrs.s, "semi")));
}

/* Whether the reader of the column v asks for the keys of the join already, which are its arguments from
 * `other` on. */
static bool is_asked_there(const FlValue *v, const FlOp *join, int other, int n) {
  const FlOp *loop = v->op && fl_asks_is_of_parts(v->op) ? v->op->args[0]->op : NULL;
  for (const FlOp *op = loop ? loop->regions[0]->first : NULL; op; op = op->next) {
    const FlOp *set = op->code == FL_OP_IN_KEYS ? op->args[0]->op : NULL;
    bool same = set && set->code == FL_OP_KEY_SET && set->n_args == n;
    for (int i = 0; same && i < n; i++) same = set->args[i] == join->args[other + i];
    if (same) return true;
  }
  return false;
}

/* The same in memory: the furthest one up. Of keys of which none were dropped it has a join behind it, as
 * what the next join drops is dropped soon. `filtered`: some were. */
static Place joins_place_of(FlAsks *a, FlValue *v, FlAsksStep next, int other, int n, bool filtered) {
  enum { FURTHEST = 32 };
  const FlOp *join = next.op;
  bool behind = a->chosen || filtered;
  Place place = {0};
  for (int steps = 0; steps < FURTHEST; steps++) {
    FlOp *op = v->op;
    if (!op || op->parent != a->func->body || v->type.rank != 1 || v->type.depth) break;
    FlAsksStep step = {op, 0};
    bool filter = op->code == FL_OP_COMPRESS && v->index > 0;
    FlValue *from = filter ? op->args[v->index] : taken_from(v, &step);
    if (!from || !fl_asks_is_alone(a, step.op, &next)) break;
    bool group = step.op->code == FL_OP_GROUP && (a->chosen || filtered);
    behind = behind || step.op->code == FL_OP_JOIN;
    if (behind && (filter || loses(step.op, step.side)))
      place = (Place){.op = step.op, .side = step.side, .key = {from}};
    else if (group && fl_asks_may_regroup(a, step.op, from))
      place = (Place){.op = step.op, .key = {from}, .group = step.op};
    v = from;
    next = step;
  }
  return is_asked_there(v, join, other, n) ? (Place){0} : place;
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
      int other = op->args[0]->index == 1 ? fl_asks_key_at(by, by->attrs.n_columns / 2) : 0;
      if (is_filtered(by->args[other], depth + 1)) return true;
    }
    v = op->args[v->index + 1];
  }
  return false;
}

typedef FlVec(FlOp *) Moving;

static bool precedes(FlAsks *a, FlValue *v, const FlOp *place, FlMap *seen, Moving *moving);

static bool region_precedes(FlAsks *a, const FlRegion *r, const FlOp *whole, const FlOp *place, FlMap *seen,
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
static bool may_move(const FlAsks *a, const FlOp *op, const FlOp *place) {
  if (a->earlier && (fl_asks_is_part_loop(op) || op->code == FL_OP_LIST_CONCAT)) return true;
  if (a->earlier && op->code == FL_OP_TABLE_PARTS) return fl_asks_may_open(op, place);
  if (fl_ir_is_effect(op) || fl_opt_has_note(op)) return false;
  if (fl_op_info[op->code].flags & FL_OPF_TOTAL || op->code == FL_OP_COMPRESS) return true;
  if (op->code == FL_OP_JOIN) return op->attrs.i == 0;
  return !fl_ir_may_fault(op) && fl_op_info[op->code].family != FL_FAMILY_READING &&
         fl_op_info[op->code].family != FL_FAMILY_CALLS;
}

/* The value is there before the place, or when what is moving has moved: in the order of `moving`. */
static bool precedes(FlAsks *a, FlValue *v, const FlOp *place, FlMap *seen, Moving *moving) {
  FlOp *op = v->op;
  if (v->region != a->func->body || !op || fl_asks_position(a, op) < fl_asks_position(a, place)) return true;
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
static FlOp *filter_reader(FlAsks *a, FlOp *reader, FlValue *mask) {
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

/* Rows of that side which are not in the mask have a null key. */
static void mask_key(FlOp *join, int side, FlValue *mask) {
  FlArena *arena = join->parent->func->module->arena;
  int n = join->attrs.n_columns, column = side * n / 2, at = fl_asks_key_at(join, column) + 1;
  if (join->attrs.columns[column].flags & FL_COLUMN_NULLS) {
    join->args[at] = mask;
    return;
  }
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, join->n_args + 1);
  for (int i = 0; i < join->n_args; i++) args[i + (i >= at)] = join->args[i];
  args[at] = mask;
  join->args = args;
  join->n_args++;
  FlColumnAttr *columns = fl_arena_copy(arena, join->attrs.columns, sizeof *columns * (size_t)n);
  columns[column].flags |= FL_COLUMN_NULLS;
  join->attrs.columns = columns;
}

/* Which rows there are, as the place says it already; NULL: all. */
static FlValue *mask_at(const Place *p) {
  const FlOp *op = p->op;
  if (op->code == FL_OP_COMPRESS) return op->args[0];
  int column = op->code == FL_OP_JOIN ? p->side * op->attrs.n_columns / 2 : 0;
  bool nulls = op->code == FL_OP_JOIN && op->attrs.columns[column].flags & FL_COLUMN_NULLS;
  return nulls ? op->args[fl_asks_key_at(op, column) + 1] : NULL;
}

/* The other side's key: what a set is made of. */
typedef struct Keys {
  FlValue *at[2]; /* and of one with nulls which are valid */
  FlColumnAttr column;
  int n;
} Keys;

/* Those that the join has as its arguments from `other` on. In memory those that a filter chose from, of
 * which its mask says which are valid. */
static Keys keys_of(const FlAsks *a, const FlOp *join, const FlColumnAttr *others, int other) {
  Keys keys = {.column = *others, .n = fl_ir_column_width(others)};
  for (int i = 0; i < keys.n; i++) keys.at[i] = join->args[other + i];
  const FlOp *filter = keys.at[0]->op;
  bool kept = filter && filter->code == FL_OP_COMPRESS && keys.at[0]->index > 0;
  if (!a->joins || !kept || keys.n > 1) return keys;
  keys.at[1] = filter->args[0];
  keys.at[0] = filter->args[keys.at[0]->index];
  keys.column.flags |= FL_COLUMN_NULLS;
  keys.n = 2;
  return keys;
}

/* The set of the keys; in memory one that says yes to all where it would be of many rows beside those which
 * are asked. */
static FlValue *set_of(const FlAsks *a, FlBuilder *b, const Place *p, const Keys *keys) {
  FlType1 type = fl_t_array(FL_I64, 1);
  FlValue *args[3];
  int n = 0;
  bool counted = a->joins && !a->chosen;
  if (counted) args[n++] = p->group ? p->reader->args[1] : fl_opt_dim(b, p->key[0], 0);
  for (int i = 0; i < keys->n; i++) args[n++] = keys->at[i];
  FlOp *set = fl_ir_op(b, FL_OP_KEY_SET, n, args, 1, &type, 0);
  set->attrs.i = counted;
  fl_ir_set_columns(b->module->arena, set, 1, &keys->column);
  return set->results[0];
}

/* A key of the join, which `own` describes, is asked at the place. */
static void ask(FlAsks *a, const Place *p, const FlOp *join, const FlColumnAttr *own, const Keys *keys) {
  FlBuilder b = fl_opt_before(p->reader ? p->reader : p->op);
  FlType1 mask_type = fl_t_array(FL_BOOL, 1);
  FlValue *args[4], *mask = mask_at(p);
  int n = 0;
  b.span = join->span;
  args[n++] = set_of(a, &b, p, keys);
  if (mask) args[n++] = mask;
  for (int i = 0; i < fl_ir_column_width(own); i++) args[n++] = p->key[i];
  b = fl_opt_before(p->op == p->reader ? p->reader->next : p->op);
  b.span = join->span;
  FlOp *in = fl_ir_op(&b, FL_OP_IN_KEYS, n, args, 1, &mask_type, 0);
  in->attrs.i = mask != NULL;
  fl_ir_set_columns(b.module->arena, in, 1, own);
  FlOp *op = p->op;
  if (op->code == FL_OP_JOIN) mask_key(op, p->side, in->results[0]);
  else if (mask) op->args[0] = in->results[0];
  else op = filter_reader(a, p->reader, in->results[0]);
  fl_vec_push(a->arena, &a->asked, ((FlAsked){op, join}));
}

/* Texts are hashed, which is less than a join does with them, and more than a reader. */
static bool is_asked(const FlAsks *a, const FlValue *key, const FlValue *other) {
  int32_t d = key->type.dtype;
  return other->type.dtype == d && (a->joins || !fl_dtype_is_text(d)) && d != FL_CATEGORY && d != FL_LIST;
}

/* Where the key of the join, and which of its values are valid, are asked. */
static Place key_place(FlAsks *a, FlOp *join, int side, const FlColumnAttr *own, int at, int other, int n,
                       bool filtered) {
  Place found[2] = {{0}};
  bool nulls = own->flags & FL_COLUMN_NULLS;
  for (int i = 0; i < 1 + nulls; i++) {
    FlAsksStep step = {join, side};
    found[i] = a->joins ? joins_place_of(a, join->args[at + i], step, other, n, filtered)
                        : place_of(a, join->args[at + i], step);
  }
  found[0].key[1] = found[1].key[0];
  bool same =
      found[1].op == found[0].op && found[1].group == found[0].group && found[1].side == found[0].side;
  return !nulls || same ? found[0] : (Place){0};
}

/* The next one that is possible is asked; of FLOW_JOINS by its bit. */
static bool is_chosen(FlAsks *a) {
  enum { MOST = 200 }; /* that ask in memory: each looks at the whole function */
  int at = a->n_asks++;
  return a->chosen ? a->bits >> at % 64 & 1 : !a->joins || at < MOST;
}

static bool try_key(FlAsks *a, FlOp *join, int side, int k) {
  int half = join->attrs.n_columns / 2, mine = side * half + k, theirs = (1 - side) * half + k;
  const FlColumnAttr *own = &join->attrs.columns[mine], *others = &join->attrs.columns[theirs];
  int at = fl_asks_key_at(join, mine), other = fl_asks_key_at(join, theirs);
  if (!is_asked(a, join->args[at], join->args[other])) return false;
  bool filtered = is_filtered(join->args[other], 0);
  if (!a->joins && !a->chosen && !filtered) return false;
  Place place = key_place(a, join, side, own, at, other, fl_ir_column_width(others), filtered);
  if (!place.op || (place.group != NULL) != a->again) return false;
  Keys keys = keys_of(a, join, others, other);
  Moving moving = {0};
  FlMap *seen = fl_map_make(a->arena);
  FlOp *before = place.group ? place.group : place.reader ? place.reader : place.op;
  for (int i = 0; i < keys.n; i++)
    if (!precedes(a, keys.at[i], before, seen, &moving)) return false;
  bool opens = false;
  for (int i = 0; i < moving.n; i++) opens = opens || moving.at[i]->code == FL_OP_TABLE_PARTS;
  if ((opens != a->earlier && !a->joins) || !is_chosen(a)) return false;
  for (int i = 0; i < moving.n; i++) {
    fl_ir_move_before(moving.at[i], before);
    if (moving.at[i]->code == FL_OP_TABLE_PARTS) fl_asks_open_quietly(moving.at[i]);
  }
  if (place.group) {
    place.op = place.reader = a->joins ? fl_asks_regroup(a, place.group, place.key)
                                       : fl_asks_reread(a, place.reader, place.group, place.key);
  }
  ask(a, &place, join, own, &keys);
  return true;
}

static void try_join(FlAsks *a, FlOp *join) {
  for (int side = 0; side < 2; side++) {
    if (!fl_asks_drops(join, side) || !fl_asks_only_gathers(a, join, side)) continue;
    for (int k = 0; k < join->attrs.n_columns / 2; k++) {
      if (!try_key(a, join, side, k)) continue;
      fl_opt_uses_reset(&a->uses);
      look(a);
    }
  }
}

static void ask_joins(FlAsks *a) {
  FlVec(FlOp *) joins = {0};
  for (FlOp *op = a->func->body->first; op; op = op->next)
    if (op->code == FL_OP_JOIN) fl_vec_push(a->arena, &joins, op);
  if (!joins.n) return;
  look(a);
  for (int pass = 0; pass < (a->earlier && !a->joins ? 1 : 2); pass++) {
    /* Of readers what is asked of other rows first; in memory groups, as what they are of is there before. */
    a->again = a->joins ? pass == 0 : pass > 0;
    for (int i = 0; i < joins.n; i++) try_join(a, joins.at[a->joins ? joins.n - 1 - i : i]);
  }
  fl_opt_uses_reset(&a->uses);
}

static void ask_all(FlModule *m, bool earlier, bool joins) {
  const char *chosen = getenv("FLOW_JOINS");
  uint64_t bits = 0;
  if (chosen) bits = is(chosen, "always") ? UINT64_MAX : strtoull(chosen, NULL, 0); /* never: 0 */
  for (FlFunc *f = m->first; f; f = f->next) {
    FlAsks a = {.arena = fl_arena_new(), .func = f, .earlier = earlier, .joins = joins};
    a.chosen = chosen != NULL;
    a.bits = bits;
    ask_joins(&a);
    if (a.asked.n) fl_asks_unsee(f, &a.asked);
    fl_arena_free(a.arena);
  }
}

void fl_opt_asks(FlModule *m) { ask_all(m, false, false); }

void fl_opt_asks_earlier(FlModule *m) { ask_all(m, true, false); }

void fl_opt_asks_joins(FlModule *m) { ask_all(m, true, true); }
