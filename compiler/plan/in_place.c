/* in_place.c: see in_place.h. `origin` follows a value back through what hands it on; everything else asks
 * where that ends. */
#include "plan/in_place.h"

struct FlInPlace {
  FlArena *arena;
  const FlLifetime *life;
  FlMap *shared; /* array -> YES: something reads it without handing it on */
  FlMap *chain;  /* region parameter of a loop -> YES or NO */
  FlMap *unique; /* value -> YES or NO; NO while it is being found */
  FlMap *origin; /* value -> value */
};

/* What the maps hold: any two addresses, of nothing that is written. */
static const char answers[2];
#define YES ((void *)(uintptr_t)&answers[1])
#define NO ((void *)(uintptr_t)&answers[0])

/* ---- alone --------------------------------------------------------------------------------------------- */

static bool hands_on(const FlInPlace *p, const FlOp *op, int arg) {
  switch (op->code) {
  case FL_OP_LOAD:
  case FL_OP_PICK:
  case FL_OP_DIM: return true;
  case FL_OP_STORE:
  case FL_OP_FOR:
  case FL_OP_WHILE: return fl_lifetime_consumes(p->life, op, arg);
  case FL_OP_CONST:
  case FL_OP_ARRAY:
  case FL_OP_IF:
  case FL_OPS_LOOPS:
  case FL_OPS_CALLS:
  case FL_OPS_CHECKS:
  case FL_OPS_NOT_STRUCT: break;
  }
  return false;
}

static bool is_array(const FlValue *v) {
  return v->type.rank > 0 && v->type.depth == 0 && !fl_dtype_is_text(v->type.dtype);
}

/* Marks the arrays of a region that something reads without handing them on. */
static void mark_shared(FlInPlace *p, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (is_array(op->args[i]) && !hands_on(p, op, i)) fl_map_set(p->shared, op->args[i], YES);
    for (int i = 0; i < op->n_regions; i++) mark_shared(p, op->regions[i]);
  }
  for (int i = 0; i < r->n_yields; i++)
    if (is_array(r->yields[i]) && !fl_lifetime_moves(p->life, r, i)) fl_map_set(p->shared, r->yields[i], YES);
}

static bool is_alone(const FlInPlace *p, const FlValue *v) {
  return is_array(v) && (v->op || v->region->owner) && !fl_map_get(p->shared, v);
}

FlInPlace *fl_in_place_make(FlArena *arena, const FlLifetime *life, const FlFunc *func) {
  FlInPlace *p = FL_NEW(arena, FlInPlace);
  *p = (FlInPlace){.arena = arena,
                   .life = life,
                   .shared = fl_map_make(arena),
                   .chain = fl_map_make(arena),
                   .unique = fl_map_make(arena),
                   .origin = fl_map_make(arena)};
  mark_shared(p, func->body);
  return p;
}

/* ---- back to where an array comes from ----------------------------------------------------------------- */

static int first_carried(const FlOp *op) { return op->code == FL_OP_FOR ? 2 : 0; }

static FlValue *carried_param(const FlOp *op, int index) {
  return op->regions[0]->params[index + (op->code == FL_OP_FOR ? 1 : 0)];
}

static int carried_yield(const FlOp *op, int index) { return index + (op->code == FL_OP_WHILE ? 1 : 0); }

static bool keeps_object(FlInPlace *p, const FlOp *op, int index);

static const FlValue *origin(FlInPlace *p, const FlValue *v);

/* The value that v, the result of `op`, is the same object as, if that is unique where it is handed on; NULL:
 * none. */
static const FlValue *handed_by(FlInPlace *p, const FlOp *op, const FlValue *v) {
  if (op->code == FL_OP_STORE)
    return fl_lifetime_consumes(p->life, op, 0) && is_alone(p, op->args[0]) ? op->args[0] : NULL;
  if (fl_ir_is_rounds(op)) {
    int arg = first_carried(op) + v->index;
    bool takes = fl_lifetime_consumes(p->life, op, arg) && is_alone(p, op->args[arg]);
    return takes && keeps_object(p, op, v->index) ? op->args[arg] : NULL;
  }
  if (op->code != FL_OP_IF) return NULL;
  const FlValue *from[2];
  for (int k = 0; k < 2; k++) {
    const FlValue *y = op->regions[k]->yields[v->index];
    if (!fl_lifetime_moves(p->life, op->regions[k], v->index) || !is_alone(p, y)) return NULL;
    from[k] = origin(p, y);
  }
  return from[0] == from[1] ? from[0] : NULL;
}

/* The first of the values that are v's object, if that is unique where it is handed on. */
static const FlValue *origin(FlInPlace *p, const FlValue *v) {
  const FlValue *known = fl_map_get(p->origin, v);
  if (known) return known;
  const FlValue *before = v->op && is_alone(p, v) ? handed_by(p, v->op, v) : NULL;
  const FlValue *first = before ? origin(p, before) : v;
  fl_map_set(p->origin, v, (void *)(uintptr_t)first);
  return first;
}

/* Is what the loop yields the object that it was given in this round, provided that this is unique? */
static bool keeps_object(FlInPlace *p, const FlOp *op, int index) {
  const FlValue *param = carried_param(op, index);
  const char *known = fl_map_get(p->chain, param);
  if (known) return known == YES;
  const FlRegion *r = op->regions[0];
  int at = carried_yield(op, index);
  bool keeps = is_alone(p, param) && fl_lifetime_moves(p->life, r, at) && is_alone(p, r->yields[at]) &&
               origin(p, r->yields[at]) == param;
  fl_map_set(p->chain, param, keeps ? YES : NO);
  return keeps;
}

typedef struct Stores {
  const FlValue *from;
  bool always;
  FlMap *seen; /* value -> YES or NO */
} Stores;

static bool stores_since(FlInPlace *p, Stores *s, const FlValue *v);

static bool find_stores(FlInPlace *p, Stores *s, const FlValue *v) {
  const FlOp *op = v->op;
  if (op->code == FL_OP_STORE) return true;
  if (fl_ir_is_rounds(op)) {
    Stores inner = {carried_param(op, v->index), s->always && op->code == FL_OP_FOR, fl_map_make(p->arena)};
    return stores_since(p, &inner, op->regions[0]->yields[carried_yield(op, v->index)]) ||
           stores_since(p, s, op->args[first_carried(op) + v->index]);
  }
  if (op->code != FL_OP_IF) return false;
  bool yes = stores_since(p, s, op->regions[0]->yields[v->index]);
  bool no = stores_since(p, s, op->regions[1]->yields[v->index]);
  return s->always ? yes && no : yes || no;
}

/* Is there a STORE on the way from v back to `from`? `always`: one that every round of the loop comes to, but
 * for inner loops that do not run; in a `while`, whose condition is an IF in it, any. */
static bool stores_since(FlInPlace *p, Stores *s, const FlValue *v) {
  if (v == s->from || !v->op) return false;
  const char *known = fl_map_get(s->seen, v);
  if (known) return known == YES;
  bool stores = find_stores(p, s, v);
  fl_map_set(s->seen, v, stores ? YES : NO);
  return stores;
}

/* ---- unique -------------------------------------------------------------------------------------------- */

static bool is_unique(FlInPlace *p, const FlValue *v);

/* Values that are one reference of a new buffer when they are made. */
static bool is_fresh(FlInPlace *p, const FlValue *o) {
  if (!o->op) {
    const FlOp *loop = o->region->owner;
    if (!loop || !fl_ir_is_rounds(loop)) return false;
    return fl_in_place_carry(p, loop, o->index - (loop->code == FL_OP_FOR ? 1 : 0)) != FL_CARRY_ANY;
  }
  switch (o->op->code) {
  case FL_OP_MAP:
  case FL_OP_ARRAY:
  case FL_OP_COLLECT:
  case FL_OP_SCAN:
  case FL_OP_STORE: return true;
  /* Made unique before the loop, which a `while` enters at least once. */
  case FL_OP_WHILE: return fl_in_place_carry(p, o->op, o->index) == FL_CARRY_MAKE;
  case FL_OP_IF:
    for (int k = 0; k < 2; k++) {
      const FlRegion *r = o->op->regions[k];
      if (!fl_lifetime_moves(p->life, r, o->index) || !is_unique(p, r->yields[o->index])) return false;
    }
    return true;
  case FL_OP_CONST:
  case FL_OP_DIM:
  case FL_OP_LOAD:
  case FL_OP_PICK:
  case FL_OP_REDUCE:
  case FL_OP_FOR:
  case FL_OPS_CALLS:
  case FL_OPS_CHECKS:
  case FL_OPS_NOT_STRUCT: break;
  }
  return false;
}

static bool is_unique(FlInPlace *p, const FlValue *v) {
  const char *known = fl_map_get(p->unique, v);
  if (known) return known == YES;
  if (!is_alone(p, v)) return false;
  fl_map_set(p->unique, v, NO);
  const FlValue *o = origin(p, v);
  bool unique = is_alone(p, o) && is_fresh(p, o);
  fl_map_set(p->unique, v, unique ? YES : NO);
  return unique;
}

FlCarry fl_in_place_carry(FlInPlace *p, const FlOp *op, int index) {
  if (!keeps_object(p, op, index)) return FL_CARRY_ANY;
  int arg = first_carried(op) + index;
  const FlValue *start = op->args[arg];
  bool taken = fl_lifetime_consumes(p->life, op, arg);
  if (taken && is_unique(p, start)) return FL_CARRY_SAME;
  Stores s = {carried_param(op, index), !taken && op->code == FL_OP_FOR, fl_map_make(p->arena)};
  const FlValue *y = op->regions[0]->yields[carried_yield(op, index)];
  return stores_since(p, &s, y) ? FL_CARRY_MAKE : FL_CARRY_ANY;
}

bool fl_in_place_branches(FlInPlace *p, const FlOp *op, int index) {
  for (int k = 0; k < 2; k++) {
    const FlRegion *r = op->regions[k];
    if (!fl_lifetime_moves(p->life, r, index) || !is_unique(p, r->yields[index])) return false;
  }
  return origin(p, op->regions[0]->yields[index]) == origin(p, op->regions[1]->yields[index]);
}

const FlValue *fl_in_place_object(FlInPlace *p, const FlValue *v) {
  for (;;) {
    if (!is_unique(p, v)) return v;
    v = origin(p, v);
    const FlOp *loop = v->op ? NULL : v->region->owner;
    if (!loop || !fl_ir_is_rounds(loop)) return v;
    int index = v->index - (loop->code == FL_OP_FOR ? 1 : 0);
    if (fl_in_place_carry(p, loop, index) != FL_CARRY_SAME) return v;
    v = loop->args[first_carried(loop) + index];
  }
}

bool fl_in_place_store(FlInPlace *p, const FlOp *op) {
  return fl_lifetime_consumes(p->life, op, 0) && is_unique(p, op->args[0]);
}
