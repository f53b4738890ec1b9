/* lifetime.c: see lifetime.h. One walk finds the op of its own region that uses each array value last; the
 * lists of what dies where follow from that. What an IF takes over is followed into its branches. */
#include "plan/lifetime.h"

typedef FlVec(FlValue *) ValueList;

/* A value that a branch of an IF took over: what `last` and `yielded` are for the region it is defined in. */
typedef struct Taken {
  const FlValue *v;
  FlOp *last;
  bool yielded;
} Taken;
typedef FlVec(Taken) TakenList;

struct FlLifetime {
  FlArena *arena;
  FlOp **last;            /* by value id: the last op of the value's region that uses it, NULL: none */
  unsigned char *yielded; /* by value id: its own region yields it */
  FlMap *dead_after;      /* op -> ValueList */
  FlMap *dead_at_start;   /* region -> ValueList */
  FlMap *taken;           /* region -> TakenList */
};

static void use(FlLifetime *l, FlValue *v, FlOp *op) {
  if (fl_t_is_scalar(v->type)) return;
  while (op && op->parent != v->region) op = op->parent->owner;
  if (op) l->last[v->id] = op;
}

static void find_last(FlLifetime *l, const FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) use(l, op->args[i], op);
    for (int i = 0; i < op->n_regions; i++) find_last(l, op->regions[i]);
  }
  for (int i = 0; i < r->n_yields; i++) {
    FlValue *v = r->yields[i];
    if (fl_t_is_scalar(v->type)) continue;
    if (v->region == r) l->yielded[v->id] = 1;
    else if (r->owner) use(l, v, r->owner);
  }
}

static bool owned(const FlValue *v) {
  if (fl_t_is_scalar(v->type)) return false;
  return v->op || v->region->owner; /* not a parameter of the function */
}

static void add(FlLifetime *l, FlMap *map, const void *key, FlValue *v) {
  ValueList *list = fl_map_get(map, key);
  if (!list) {
    list = FL_NEW(l->arena, ValueList);
    fl_map_set(map, key, list);
  }
  fl_vec_push(l->arena, list, v);
}

/* ---- what branches take over --------------------------------------------------------------------------- */

static const Taken *taken_by(const FlLifetime *l, const FlRegion *r, const FlValue *v) {
  const TakenList *list = fl_map_get(l->taken, r);
  for (int i = 0; list && i < list->n; i++)
    if (list->at[i].v == v) return &list->at[i];
  return NULL;
}

/* Does region r, its own or one that took it over, own v? */
static bool owns(const FlLifetime *l, const FlRegion *r, const FlValue *v) {
  return owned(v) && (v->region == r || taken_by(l, r, v));
}

static FlOp *last_in(const FlLifetime *l, const FlRegion *r, const FlValue *v) {
  return v->region == r ? l->last[v->id] : taken_by(l, r, v)->last;
}

static bool yielded_in(const FlLifetime *l, const FlRegion *r, const FlValue *v) {
  return v->region == r ? l->yielded[v->id] : taken_by(l, r, v)->yielded;
}

static bool op_uses(const FlOp *op, const FlValue *v) {
  for (int i = 0; i < op->n_args; i++)
    if (op->args[i] == v) return true;
  for (int i = 0; i < op->n_regions; i++)
    if (fl_ir_uses(op->regions[i], v)) return true;
  return false;
}

static Taken uses_in(const FlRegion *r, const FlValue *v) {
  Taken t = {.v = v};
  for (FlOp *op = r->last; op && !t.last; op = op->prev)
    if (op_uses(op, v)) t.last = op;
  for (int i = 0; i < r->n_yields; i++) t.yielded |= r->yields[i] == v;
  return t;
}

/* Is there something that the branch could do with v as its owner that it could not do with what it borrows?
 */
static bool wants(const FlRegion *r, const FlValue *v) {
  Taken t = uses_in(r, v);
  if (t.yielded) return true;
  if (!t.last) return false;
  switch (t.last->code) {
  case FL_OP_STORE: return t.last->args[0] == v;
  case FL_OP_FOR:
  case FL_OP_WHILE:
  case FL_OP_MAP: return true;
  case FL_OP_IF: return wants(t.last->regions[0], v) || wants(t.last->regions[1], v);
  case FL_OP_CONST:
  case FL_OP_ARRAY:
  case FL_OP_DIM:
  case FL_OP_LOAD:
  case FL_OP_PICK:
  case FL_OP_REDUCE:
  case FL_OP_SCAN:
  case FL_OP_COLLECT:
  case FL_OPS_CALLS:
  case FL_OPS_CHECKS:
  case FL_OPS_NOT_STRUCT: break;
  }
  return false;
}

static bool hand_over(FlLifetime *l, const FlOp *op, const FlValue *v) {
  if (op->code != FL_OP_IF || !(wants(op->regions[0], v) || wants(op->regions[1], v))) return false;
  for (int i = 0; i < op->n_regions; i++) {
    TakenList *list = fl_map_get(l->taken, op->regions[i]);
    if (!list) {
      list = FL_NEW(l->arena, TakenList);
      fl_map_set(l->taken, op->regions[i], list);
    }
    Taken t = uses_in(op->regions[i], v);
    fl_vec_push(l->arena, list, t);
  }
  return true;
}

/* ---- where values are given back ----------------------------------------------------------------------- */

/* v, which r owns. */
static void place(FlLifetime *l, const FlRegion *r, FlValue *v) {
  if (!owned(v) || yielded_in(l, r, v)) return;
  FlOp *last = last_in(l, r, v);
  bool made_here = v->op && v->region == r;
  if (!last && !made_here) {
    add(l, l->dead_at_start, r, v);
    return;
  }
  if (last) {
    for (int i = 0; i < last->n_args; i++)
      if (last->args[i] == v && fl_lifetime_consumes(l, last, i)) return;
    if (hand_over(l, last, v)) return;
  }
  add(l, l->dead_after, last ? last : v->op, v);
}

static void place_all(FlLifetime *l, const FlRegion *r) {
  const TakenList *taken = fl_map_get(l->taken, r);
  for (int i = 0; taken && i < taken->n; i++) place(l, r, (FlValue *)taken->at[i].v);
  for (int i = 0; i < r->n_params; i++) place(l, r, r->params[i]);
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_results; i++) place(l, r, op->results[i]);
    for (int i = 0; i < op->n_regions; i++) place_all(l, op->regions[i]);
  }
}

FlLifetime *fl_lifetime_make(FlArena *arena, const FlFunc *f) {
  FlLifetime *l = FL_NEW(arena, FlLifetime);
  l->arena = arena;
  l->last = FL_NEW_ARRAY(arena, FlOp *, f->next_id);
  l->yielded = FL_NEW_ARRAY(arena, unsigned char, f->next_id);
  l->dead_after = fl_map_make(arena);
  l->dead_at_start = fl_map_make(arena);
  l->taken = fl_map_make(arena);
  find_last(l, f->body);
  place_all(l, f->body);
  return l;
}

static int list_of(const FlMap *map, const void *key, FlValue *const **out) {
  const ValueList *list = fl_map_get(map, key);
  *out = list ? list->at : NULL;
  return list ? list->n : 0;
}

int fl_lifetime_dead_after(const FlLifetime *l, const FlOp *op, FlValue *const **out) {
  return list_of(l->dead_after, op, out);
}

int fl_lifetime_dead_at_start(const FlLifetime *l, const FlRegion *r, FlValue *const **out) {
  return list_of(l->dead_at_start, r, out);
}

bool fl_lifetime_dies_after(const FlLifetime *l, const FlOp *op, const FlValue *v) {
  const FlRegion *r = op->parent;
  return owns(l, r, v) && !yielded_in(l, r, v) && last_in(l, r, v) == op;
}

static bool uses(const FlOp *op, const FlValue *v) {
  for (int i = 0; i < op->n_args; i++)
    if (op->args[i] == v) return true;
  for (int i = 0; i < op->n_regions; i++)
    if (fl_ir_uses(op->regions[i], v)) return true;
  return false;
}

/* The same where the op may stand in branches: on the way out of these nothing uses v any more. */
static bool dies_in_branch(const FlLifetime *l, const FlOp *op, const FlValue *v) {
  while (op->parent != v->region) {
    const FlRegion *r = op->parent;
    if (!r->owner || r->owner->code != FL_OP_IF) return false;
    for (const FlOp *later = op->next; later; later = later->next)
      if (uses(later, v)) return false;
    for (int i = 0; i < r->n_yields; i++)
      if (r->yields[i] == v) return false;
    op = r->owner;
  }
  return fl_lifetime_dies_after(l, op, v);
}

bool fl_lifetime_consumes(const FlLifetime *l, const FlOp *op, int arg) {
  int first = op->code == FL_OP_FOR ? 2 : 0;
  if (!fl_ir_is_rounds(op) && !(op->code == FL_OP_STORE && arg == 0)) return false;
  FlValue *v = op->args[arg];
  if (arg < first || !dies_in_branch(l, op, v)) return false;
  for (int i = 0; i < op->n_args; i++)
    if (i != arg && op->args[i] == v) return false;
  for (int i = 0; i < op->n_regions; i++)
    if (fl_ir_uses(op->regions[i], v)) return false;
  return true;
}

bool fl_lifetime_moves(const FlLifetime *l, const FlRegion *r, int index) {
  FlValue *v = r->yields[index];
  if (!owns(l, r, v)) return false;
  for (int i = index + 1; i < r->n_yields; i++) /* the last one: until then it is where it was */
    if (r->yields[i] == v) return false;
  return true;
}
