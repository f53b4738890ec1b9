/* guard.c: scalars and whole arrays that the elements of a branch read, where it is taken element by element:
 * `if x > 0 { x } else { x / max(y) }`.
 *
 * In: a MAP whose body has the branch, complete, and the ops beside the MAP that the branch was elaborated
 * into. Out: what of these may fail, and what is made of that, is evaluated when an element takes the branch,
 * and else not. Cheap scalars move into the branch: no pass over the elements is needed before. Everything
 * else is evaluated once, in an IF before the MAP, whose condition is a REDUCE: does any element take the
 * branch? Its body is the way to the branch in the body of the MAP, so that it asks, and fails, as the MAP
 * does. What reads an array behind a check that moves goes with it: the check is what makes its place valid.
 *
 * A branch within a branch made such an IF before. Where only elements of the outer branch read what it
 * gives, its condition becomes the way to these reads. What cannot fail stays where it is, computed once. */
#include "sema/guard.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"

enum { CHEAP = 8 }; /* nanoseconds an element, as ops.def has them */

typedef enum Fate { STAYS, MOVES, LATE, GONE } Fate;
enum { BEHIND = 2 }; /* of no branch: what compares sizes */

/* An op beside the MAP. */
typedef struct Part {
  FlOp *op;
  int of;                 /* which branch, or BEHIND */
  bool outside;           /* others than the branch need it */
  bool live, live_beside; /* it is needed; by another than the MAP */
  Fate fate;
} Part;

typedef struct Guard {
  FlSema *s;
  FlArena *arena; /* of what is found out here */
  FlOp *map;
  int side; /* the branch that we look at */
  FlRegion *branch;
  FlVec(Part) parts; /* in their order */
  FlMap *at;         /* op -> 1 + its position in parts */
} Guard;

bool fl_guard_is_cheap(const FlOp *op) {
  for (int i = 0; i < op->n_results; i++)
    if (!fl_t_is_scalar(op->results[i]->type)) return false;
  if (op->code == FL_OP_IF) {
    for (int i = 0; i < op->n_regions; i++)
      for (const FlOp *in = op->regions[i]->first; in; in = in->next)
        if (!fl_guard_is_cheap(in)) return false;
    return true;
  }
  if (fl_op_info[op->code].op_class == FL_CLASS_SCALAR) return fl_op_info[op->code].cost <= CHEAP;
  return op->code == FL_OP_CONST || op->code == FL_OP_DIM || op->code == FL_OP_LOAD ||
         op->code == FL_OP_CHECK;
}

/* ---- what is used where ---- */

static bool is_ours(const Guard *k, const Part *p) {
  return (p->of == k->side || p->of == BEHIND) && p->fate != GONE;
}

static Part *part_of(const Guard *k, const FlValue *v) {
  intptr_t at = v->op ? (intptr_t)fl_map_get(k->at, v->op) : 0;
  return at && is_ours(k, &k->parts.at[at - 1]) ? &k->parts.at[at - 1] : NULL;
}

typedef void Visit(Guard *k, Part *p, FlRegion *from, void *env);

static void visit_region(Guard *k, FlRegion *r, Visit *f, void *env) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) {
      Part *p = part_of(k, op->args[i]);
      if (p) f(k, p, r, env);
    }
    for (int i = 0; i < op->n_regions; i++) visit_region(k, op->regions[i], f, env);
  }
  for (int i = 0; i < r->n_yields; i++) {
    Part *p = part_of(k, r->yields[i]);
    if (p) f(k, p, r, env);
  }
}

/* The parts that an op reads, also in its regions; of a LATE one not its condition, which will be another. */
static void visit_op(Guard *k, FlOp *op, bool late, Visit *f, void *env) {
  for (int i = late; i < op->n_args; i++) {
    Part *p = part_of(k, op->args[i]);
    if (p) f(k, p, op->parent, env);
  }
  for (int i = 0; i < op->n_regions; i++) visit_region(k, op->regions[i], f, env);
}

static void mark_outside(Guard *k, Part *p, FlRegion *from, void *env) {
  (void)k, (void)from, (void)env;
  p->outside = true;
}
static void mark_live(Guard *k, Part *p, FlRegion *from, void *env) {
  (void)env;
  p->live = true;
  p->outside = p->outside || !fl_ir_inside(from, k->branch);
}
static void mark_beside(Guard *k, Part *p, FlRegion *from, void *env) {
  (void)k, (void)from, (void)env;
  p->live = p->live_beside = true;
}
static void is_moved(Guard *k, Part *p, FlRegion *from, void *env) {
  (void)k, (void)from;
  bool *moved = env;
  *moved = *moved || p->fate != STAYS;
}

static bool is_root(const FlOp *op) {
  return fl_ir_is_check(op) || op->code == FL_OP_FAIL || op->code == FL_OP_WITHIN;
}

/* A size that differs is an error of what is written, found whether or not it is needed, where it can be. */
static bool is_size(const FlOp *op) { return op->code == FL_OP_CHECK && op->attrs.i == FL_FAULT_SHAPE; }

static void find_live(Guard *k) {
  for (int i = 0; i < k->parts.n; i++) {
    Part *p = &k->parts.at[i];
    p->live = p->live_beside = is_root(p->op);
  }
  visit_region(k, k->map->regions[0], mark_live, NULL);
  for (int i = k->parts.n - 1; i >= 0; i--) {
    Part *p = &k->parts.at[i];
    if (!is_ours(k, p)) continue;
    if (p->live) visit_op(k, p->op, p->fate == LATE, mark_beside, NULL);
    if (p->outside) visit_op(k, p->op, false, mark_outside, NULL);
  }
}

/* May it be evaluated although a check before it was not? */
static bool needs_no_check(const FlOp *op) {
  return op->code == FL_OP_CONST || op->code == FL_OP_DIM || fl_op_info[op->code].op_class == FL_CLASS_SCALAR;
}

/* Which IFs of branches within this one the elements alone read, and what else moves. false: nothing. */
static bool decide(Guard *k) {
  find_live(k);
  for (int i = 0; i < k->parts.n; i++) {
    Part *p = &k->parts.at[i];
    bool inner = is_ours(k, p) && fl_map_get(k->s->guards, p->op) != NULL;
    if (inner && p->live && !p->live_beside && !p->outside) p->fate = LATE;
  }
  find_live(k);
  bool any = false, checked = false; /* a check before it moves */
  for (int i = 0; i < k->parts.n; i++) {
    Part *p = &k->parts.at[i];
    if (!is_ours(k, p)) continue;
    bool moved = p->fate == LATE;
    if (!moved && p->live && !p->outside) {
      moved = fl_ir_may_fault(p->op) && !is_size(p->op);
      if (!moved && checked) moved = !needs_no_check(p->op);
      if (!moved) visit_op(k, p->op, false, is_moved, &moved);
      if (moved) p->fate = MOVES;
    }
    checked = checked || (moved && fl_ir_is_check(p->op));
    any = any || moved;
  }
  return any;
}

/* ---- the way to a branch ---- */

/* Builds, in the current region, whether region `to` is reached from region `at` around it; what is read of
 * the regions on the way is not made here yet. */
static FlValue *way(FlSema *s, const FlRegion *at, FlRegion *to);

/* The same in a new region of `iff`, with what is read of region `from` copied into it. */
static void way_on(FlSema *s, FlOp *iff, int side, FlRegion *from, FlRegion *to) {
  FlRegion *r = fl_ir_region(&s->b, iff, side, 0, NULL);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlValue *reached = way(s, from, to);
  fl_ir_yield(r, s->module, 1, &reached);
  s->b.before = r->first;
  fl_ir_inline_read(&s->b, from, NULL, r);
  fl_sema_leave(s, saved);
}

static FlValue *way(FlSema *s, const FlRegion *at, FlRegion *to) {
  if (at == to) return fl_ir_const_i(&s->b, FL_BOOL, 1);
  FlRegion *next = to;
  while (next->owner->parent != at) next = next->owner->parent;
  int side = next == next->owner->regions[1];
  FlType1 type = fl_t_scalar(FL_BOOL);
  FlOp *iff = fl_ir_op(&s->b, FL_OP_IF, 1, next->owner->args, 1, &type, 2);
  way_on(s, iff, side, next, to);
  FlRegion *other = fl_ir_region(&s->b, iff, 1 - side, 0, NULL);
  FlSavedPlace saved = fl_sema_enter(s, other);
  FlValue *no = fl_ir_const_i(&s->b, FL_BOOL, 0);
  fl_ir_yield(other, s->module, 1, &no);
  fl_sema_leave(s, saved);
  return iff->results[0];
}

/* Does any element of the MAP reach region `to` of its body? */
static FlValue *any_reaches(FlSema *s, FlOp *map, FlRegion *to) {
  FlRegion *body = map->regions[0];
  FlType1 type = fl_t_scalar(FL_BOOL), *i64s = FL_NEW_ARRAY(s->arena, FlType1, body->n_params + 1);
  for (int i = 0; i < body->n_params; i++) i64s[i] = fl_t_scalar(FL_I64);
  FlOp *any = fl_ir_op(&s->b, FL_OP_REDUCE, map->n_args, map->args, 1, &type, 1);
  fl_ir_set_reduction(any, FL_RED_ANY, false);
  FlRegion *r = fl_ir_region(&s->b, any, 0, body->n_params, i64s);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlValue *reached = way(s, body, to);
  fl_ir_yield(r, s->module, 1, &reached);
  s->b.before = r->first;
  fl_ir_inline_read(&s->b, body, r->params, r);
  fl_sema_leave(s, saved);
  fl_by_group_say_loop(s, any, r);
  return any->results[0];
}

/* The innermost region, on a way of IFs alone, in which all uses of the part are. */
typedef struct Uses {
  const Part *part;
  FlRegion *all;
} Uses;

static void find_use(Guard *k, Part *p, FlRegion *from, void *env) {
  Uses *u = env;
  if (p != u->part) return;
  FlRegion *at = from;
  for (FlRegion *r = from; r != k->map->regions[0]; r = r->owner->parent)
    if (r->owner->code != FL_OP_IF) at = r->owner->parent;
  if (!u->all) u->all = at;
  while (!fl_ir_inside(at, u->all)) u->all = u->all->owner->parent;
}

/* ---- moving ---- */

static void put(FlRegion *to, FlOp *before, FlOp *op) {
  fl_ir_unlink(op);
  fl_ir_link(to, op, before);
  for (int i = 0; i < op->n_results; i++) op->results[i]->region = to;
}

static bool has_nothing(FlType1 t) { return !t.depth && t.dtype != FL_FILE && t.dtype != FL_LIST; }

FlValue *fl_guard_nothing(FlSema *s, FlType1 t) {
  FlDtype d = (FlDtype)t.dtype;
  if (!has_nothing(t)) return NULL;
  if (!t.rank) return fl_val_zero(s, d);
  FlValue *sizes[FL_MAX_RANK];
  for (int i = 0; i < t.rank; i++) sizes[i] = fl_sema_i64(s, 0);
  FlSemaMap map = fl_sema_map(s, t.rank, sizes, d);
  return fl_sema_map_end(s, &map, fl_val_zero(s, d));
}

typedef FlVec(FlValue *) Values;

static bool late_uses(const Guard *k, const FlValue *v) {
  for (int i = 0; i < k->parts.n; i++) {
    const Part *p = &k->parts.at[i];
    for (int r = 0; p->fate == LATE && r < p->op->n_regions; r++)
      if (fl_ir_uses(p->op->regions[r], v)) return true;
  }
  return false;
}

/* What others read of what moves. Is it all that a branch may do without: none of it is a list? *cheap: it
 * may as well be computed for each element. */
static bool results_of(const Guard *k, Values *out, bool *cheap) {
  *cheap = true;
  for (int i = 0; i < k->parts.n; i++) {
    const Part *p = &k->parts.at[i];
    if (p->fate != MOVES) continue;
    *cheap = *cheap && fl_guard_is_cheap(p->op);
    for (int j = 0; j < p->op->n_results; j++) {
      FlValue *v = p->op->results[j];
      bool late = late_uses(k, v);
      if (!late && !fl_ir_uses(k->map->regions[0], v)) continue;
      if (!has_nothing(v->type)) return false;
      *cheap = *cheap && !late;
      fl_vec_push(k->arena, out, v);
    }
  }
  return true;
}

/* The IF that evaluates what moves, before the MAP. */
static void guard_once(Guard *k, const Values *values) {
  FlSema *s = k->s;
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, values->n + 1);
  for (int i = 0; i < values->n; i++) types[i] = values->at[i]->type;
  FlValue *cond = any_reaches(s, k->map, k->branch);
  FlOp *iff = fl_ir_op(&s->b, FL_OP_IF, 1, &cond, values->n, types, 2);
  FlRegion *yes = fl_ir_region(&s->b, iff, 0, 0, NULL), *no = fl_ir_region(&s->b, iff, 1, 0, NULL);
  for (int i = 0; i < k->parts.n; i++)
    if (k->parts.at[i].fate == MOVES) put(yes, NULL, k->parts.at[i].op);
  fl_ir_yield(yes, s->module, values->n, values->at);
  FlSavedPlace saved = fl_sema_enter(s, no);
  FlValue **none = FL_NEW_ARRAY(s->arena, FlValue *, values->n + 1);
  for (int i = 0; i < values->n; i++) none[i] = fl_guard_nothing(s, types[i]);
  fl_ir_yield(no, s->module, values->n, none);
  fl_sema_leave(s, saved);
  for (int i = 0; i < values->n; i++) {
    fl_ir_replace_in(k->map->regions[0], values->at[i], iff->results[i]);
    for (int n = 0; n < k->parts.n; n++) {
      const Part *p = &k->parts.at[n];
      for (int r = 0; p->fate == LATE && r < p->op->n_regions; r++)
        fl_ir_replace_in(p->op->regions[r], values->at[i], iff->results[i]);
    }
  }
  fl_map_set(s->guards, iff, iff);
}

static void sink(Guard *k) {
  FlOp *before = k->branch->first;
  for (int i = 0; i < k->parts.n; i++)
    if (k->parts.at[i].fate == MOVES) put(k->branch, before, k->parts.at[i].op);
}

static void ask_again(Guard *k, const Part *p) {
  Uses uses = {.part = p};
  visit_region(k, k->map->regions[0], find_use, &uses);
  FlValue *cond = any_reaches(k->s, k->map, uses.all);
  fl_ir_move_before(p->op, k->map);
  p->op->args[0] = cond;
}

/* What nobody reads, as it was inlined, and reads what is not there any more. */
static void drop_dead(Guard *k) {
  for (int i = 0; i < k->parts.n; i++) {
    Part *p = &k->parts.at[i];
    if (!is_ours(k, p) || p->live || p->outside) continue;
    bool moved = false;
    visit_op(k, p->op, false, is_moved, &moved);
    if (!moved) continue;
    p->fate = MOVES;
    fl_ir_remove(p->op);
  }
}

static bool guard_side(Guard *k) {
  Values values = {0};
  bool cheap, some = false;
  if (!decide(k)) return false;
  if (!results_of(k, &values, &cheap)) { /* as it is */
    for (int i = 0; i < k->parts.n; i++)
      if (is_ours(k, &k->parts.at[i])) k->parts.at[i].fate = STAYS;
    return false;
  }
  for (int i = 0; i < k->parts.n; i++) some = some || k->parts.at[i].fate == MOVES;
  if (some && cheap) sink(k);
  else if (some) guard_once(k, &values);
  for (int i = 0; i < k->parts.n; i++)
    if (k->parts.at[i].fate == LATE) ask_again(k, &k->parts.at[i]);
  drop_dead(k);
  for (int i = 0; i < k->parts.n; i++)
    if (k->parts.at[i].fate != STAYS) k->parts.at[i].fate = GONE;
  return true;
}

/* ---- a choice by one condition ---- */

typedef FlVec(FlValue **) Reads;

/* Where r, or a region of it, reads what is made in region `from`. */
static void find_reads(FlSema *s, FlRegion *r, const FlRegion *from, Reads *out) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (op->args[i]->region == from) fl_vec_push(s->arena, out, &op->args[i]);
    for (int i = 0; i < op->n_regions; i++) find_reads(s, op->regions[i], from, out);
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i]->region == from) fl_vec_push(s->arena, out, &r->yields[i]);
}

static void yield_also(FlSema *s, FlRegion *r, FlValue *v) {
  FlValue **all = FL_NEW_ARRAY(s->arena, FlValue *, r->n_yields + 1);
  for (int i = 0; i < r->n_yields; i++) all[i] = r->yields[i];
  all[r->n_yields] = v;
  fl_ir_yield(r, s->module, r->n_yields + 1, all);
}

/* The result of the IF that is v where that side is taken. */
static FlValue *result_of(FlSema *s, FlOp *iff, int side, FlValue *v) {
  FlRegion *r = iff->regions[side], *other = iff->regions[1 - side];
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] == v) return iff->results[i];
  FlSavedPlace saved = fl_sema_enter(s, other);
  yield_also(s, other, fl_guard_nothing(s, v->type));
  fl_sema_leave(s, saved);
  yield_also(s, r, v);
  FlValue **results = FL_NEW_ARRAY(s->module->arena, FlValue *, r->n_yields);
  for (int i = 0; i < iff->n_results; i++) results[i] = iff->results[i];
  results[iff->n_results] = fl_ir_value_make(s->b.func, v->type, iff, iff->parent, iff->n_results);
  iff->results = results;
  return iff->results[iff->n_results++];
}

bool fl_guard_export(FlSema *s, FlOp *iff, FlOp *reader) {
  Reads reads[2] = {0};
  for (int side = 0; side < 2; side++) {
    find_reads(s, reader->regions[side], iff->regions[side], &reads[side]);
    for (int i = 0; i < reads[side].n; i++)
      if (!has_nothing((*reads[side].at[i])->type)) return false;
  }
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < reads[side].n; i++) *reads[side].at[i] = result_of(s, iff, side, *reads[side].at[i]);
  return true;
}

/* ---- both branches ---- */

bool fl_guard_branches(FlSema *s, FlOp *map, const FlBranch branches[2], int n, FlValue *const *outside) {
  FlOp *first = branches[0].first ? branches[0].first : branches[1].first;
  bool may = false;
  for (FlOp *op = first; op && op != map; op = op->next) {
    fl_ir_fold_op(op);
    may = may || fl_ir_may_fault(op);
  }
  if (!may) return false;
  FlArena *arena = fl_arena_new();
  Guard k = {.s = s, .arena = arena, .map = map, .at = fl_map_make(arena)};
  if (!s->guards) s->guards = fl_map_make(s->arena);
  int of = branches[0].first ? 0 : 1;
  for (FlOp *op = first; op != map; op = op->next) {
    if (op == branches[1].first) of = 1;
    fl_vec_push(arena, &k.parts, ((Part){.op = op, .of = of}));
    fl_map_set(k.at, op, (void *)(intptr_t)k.parts.n);
    if (of < BEHIND && op == branches[of].last) of = BEHIND;
  }
  FlSavedPlace saved = fl_sema_enter(s, map->parent);
  s->b.before = map;
  bool some = false;
  for (k.side = 0; k.side < 2; k.side++) {
    if (!branches[k.side].first) continue;
    k.branch = branches[k.side].region;
    for (int i = 0; i < k.parts.n; i++) k.parts.at[i].outside = false;
    for (int i = 0; i < n + map->n_args; i++) {
      Part *p = part_of(&k, i < n ? outside[i] : map->args[i - n]);
      if (p) p->outside = true;
    }
    some |= guard_side(&k);
  }
  fl_sema_leave(s, saved);
  fl_arena_free(arena);
  return some;
}
