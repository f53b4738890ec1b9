/* lifetime.c: see lifetime.h. One walk finds the op of its own region that uses each array value last; the
 * lists of what dies where follow from that. */
#include "opt/lifetime.h"

typedef FlVec(FlValue *) ValueList;

struct FlLifetime {
  FlArena *arena;
  FlOp **last;            /* by value id: the last op of the value's region that uses it, NULL: none */
  unsigned char *yielded; /* by value id: its own region yields it */
  FlMap *dead_after;      /* op -> ValueList */
  FlMap *dead_at_start;   /* region -> ValueList */
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

static void place(FlLifetime *l, FlValue *v) {
  if (!owned(v) || l->yielded[v->id]) return;
  FlOp *last = l->last[v->id];
  if (!last && !v->op) {
    add(l, l->dead_at_start, v->region, v);
    return;
  }
  if (last)
    for (int i = 0; i < last->n_args; i++)
      if (last->args[i] == v && fl_lifetime_consumes(l, last, i)) return;
  add(l, l->dead_after, last ? last : v->op, v);
}

static void place_all(FlLifetime *l, const FlRegion *r) {
  for (int i = 0; i < r->n_params; i++) place(l, r->params[i]);
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_results; i++) place(l, op->results[i]);
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
  return owned(v) && !l->yielded[v->id] && l->last[v->id] == op;
}

bool fl_lifetime_consumes(const FlLifetime *l, const FlOp *op, int arg) {
  int first = op->code == FL_OP_FOR ? 2 : 0;
  if (op->code != FL_OP_FOR && op->code != FL_OP_WHILE && !(op->code == FL_OP_STORE && arg == 0))
    return false;
  FlValue *v = op->args[arg];
  if (arg < first || !fl_lifetime_dies_after(l, op, v)) return false;
  for (int i = 0; i < op->n_args; i++)
    if (i != arg && op->args[i] == v) return false;
  for (int i = 0; i < op->n_regions; i++)
    if (fl_ir_uses(op->regions[i], v)) return false;
  return true;
}

bool fl_lifetime_moves(const FlLifetime *l, const FlRegion *r, int index) {
  (void)l;
  FlValue *v = r->yields[index];
  if (!owned(v) || v->region != r) return false;
  for (int i = 0; i < index; i++)
    if (r->yields[i] == v) return false;
  return true;
}
