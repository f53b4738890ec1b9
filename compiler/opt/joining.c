/* joining.c: see joining.h.
 *
 * Of each region one walk finds which operations join which, a second one makes them one. In the first, each
 * value has the number of the operation that will give it, in program order, so that one comparison says
 * whether it is there before another operation. */
#include "opt/joining.h"

/* Operations that become one. */
typedef struct Group {
  FlVec(FlOp *) ops;
  int place; /* of the first of them */
} Group;

/* Of one code, attribute and leading arguments: the groups that may still grow, in program order. */
typedef struct Kin {
  const FlOp *one;
  FlVec(Group *) open;
  struct Kin *next; /* with the same last one of the leading arguments */
} Kin;

typedef struct Joiner {
  const FlJoining *kind;
  FlArena *arena; /* of one function */
  FlSubst subst;
  int *places;   /* by value id: of values of the region that is being looked at */
  FlMap *kin;    /* last of the leading arguments -> Kin; of that region; NULL: it has none yet */
  FlMap *groups; /* first operation -> Group of two or more */
} Joiner;

static bool are_kin(const FlJoining *kind, const FlOp *a, const FlOp *b) {
  if (a->code != b->code || a->attrs.i != b->attrs.i) return false;
  for (int i = 0; i < kind->common; i++)
    if (a->args[i] != b->args[i]) return false;
  return true;
}

static Kin *kin_of(Joiner *j, const FlOp *op) {
  if (!j->kin) j->kin = fl_map_make(j->arena);
  const FlValue *key = op->args[j->kind->common - 1];
  Kin *first = fl_map_get(j->kin, key);
  for (Kin *k = first; k; k = k->next)
    if (are_kin(j->kind, k->one, op)) return k;
  Kin *k = FL_NEW(j->arena, Kin);
  k->one = op;
  k->next = first;
  fl_map_set(j->kin, key, k);
  return k;
}

/* The place behind which all that the op reads is there, but for the leading arguments; -1: it is at the
 * start. */
static int read_at(const Joiner *j, const FlOp *op) {
  int last = -1;
  for (int i = j->kind->common; i < op->n_args; i++) {
    const FlValue *v = op->args[i];
    if (v->op && v->region == op->parent && j->places[v->id] > last) last = j->places[v->id];
  }
  return last;
}

static int first_behind(const Kin *k, int place) {
  int low = 0, high = k->open.n;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (k->open.at[middle]->place > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* The op joins a group, or begins one; the place of what it gives. */
static int enter(Joiner *j, FlOp *op, int place) {
  Kin *k = kin_of(j, op);
  int at = j->kind->joins(op) ? first_behind(k, read_at(j, op)) : k->open.n;
  if (at == k->open.n) {
    Group *g = FL_NEW(j->arena, Group);
    g->place = place;
    fl_vec_push(j->arena, &g->ops, op);
    fl_vec_push(j->arena, &k->open, g);
    return place;
  }
  Group *g = k->open.at[at];
  fl_vec_push(j->arena, &g->ops, op);
  if (g->ops.n == 2) fl_map_set(j->groups, g->ops.at[0], g);
  if (g->ops.n == j->kind->most) {
    k->open.n--;
    memmove(k->open.at + at, k->open.at + at + 1, sizeof(Group *) * (size_t)(k->open.n - at));
  }
  return g->place;
}

static void find_groups(Joiner *j, FlRegion *r) {
  int n = 0;
  j->kin = NULL;
  for (FlOp *op = r->first; op; op = op->next, n++) {
    int place = j->kind->begins(op) ? enter(j, op, n) : n;
    for (int i = 0; i < op->n_results; i++) j->places[op->results[i]->id] = place;
  }
}

static FlOp *make(Joiner *j, const Group *g) {
  for (int k = 1; k < g->ops.n; k++) fl_subst_args(&j->subst, g->ops.at[k]);
  FlOp *all = j->kind->make(g->ops.at, g->ops.n);
  for (int k = 0, at = 0; k < g->ops.n; k++) {
    FlOp *op = g->ops.at[k];
    for (int i = 0; i < op->n_results; i++) fl_subst_set(&j->subst, op->results[i], all->results[at++]);
    fl_ir_remove(op);
  }
  return all;
}

static void visit(Joiner *j, FlRegion *r) {
  find_groups(j, r);
  for (FlOp *op = r->first; op; op = op->next) {
    fl_subst_args(&j->subst, op);
    for (int i = 0; i < op->n_regions; i++) visit(j, op->regions[i]);
    const Group *g = fl_map_get(j->groups, op);
    if (g) op = make(j, g);
  }
  fl_subst_yields(&j->subst, r);
}

void fl_opt_join(FlModule *m, const FlJoining *kind) {
  for (FlFunc *f = m->first; f; f = f->next) {
    Joiner j = {.kind = kind, .arena = fl_arena_new()};
    j.places = FL_NEW_ARRAY(j.arena, int, f->next_id + 1);
    j.groups = fl_map_make(j.arena);
    visit(&j, f->body);
    fl_subst_reset(&j.subst);
    fl_arena_free(j.arena);
  }
}
