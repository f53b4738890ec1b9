/* fuse.c: vertical fusion. A MAP over a kernel region whose elements are read by other loops is computed
 * where it is read: its region takes the place of the LOADs, and the array is never made.
 *
 * What always holds: no error is added or dropped, and the first one stays the first.
 *  - A MAP that cannot fail may be computed anywhere its elements are read, as long as the reads are within
 * bounds. It moves when that repeats no work (each element is read at most once), when it is trivial (a view:
 * one element read, indices computed, converted), when a few loops read it and computing it in each is
 * cheaper than keeping it, or when it stands in the body of a loop and its few operations are the price of
 * turning that body into a kernel.
 *  - A MAP that may fail moves only as a whole, to the start of the one loop that reads all of its elements,
 * each at its own index; nothing that may fail or acts on the world stands between the two. Its operations
 * then come first in program order, as before. Inside other loops, where errors are found element by element,
 * the reading loop must not be able to fail itself.
 *  - Where the body of a loop may become a kernel by it, order.c has the last word.
 *
 * One forward walk a round: a MAP is met before its readers, so a chain collapses in one round. A round that
 * fused something may have made room for more (a MAP that may fail no longer stands between two others). */
#include "opt/columns.h"

enum { MAX_ROUNDS = 32, TRIVIAL_OPS = 16, LOCAL_OPS = 256, MOST_AGAIN = 12, MOST_OPS = 1000 };

typedef FlVec(FlOp *) OpList;

typedef struct Fuse {
  FlArena *arena; /* of one round */
  FlFunc *func;
  OpList *users;          /* by value id, arrays only: ops that have it as an argument, in program order */
  unsigned char *escapes; /* by value id: a region yields it */
  FlSubst subst;
  bool changed;
} Fuse;

/* LOADs that one copy of the producer's region serves: they read at the same indices. */
typedef struct Site {
  FlRegion *region;
  FlOp *before; /* NULL: the start of `region` */
  FlValue *const *index;
  OpList loads;
} Site;

typedef struct Producer {
  FlOp *map;
  int rank;
  FlVec(Site) sites;
  bool stays; /* something needs the array itself */
} Producer;

static void find_users(Fuse *z, const FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (!fl_t_is_scalar(op->args[i]->type)) fl_vec_push(z->arena, &z->users[op->args[i]->id], op);
    for (int i = 0; i < op->n_regions; i++) find_users(z, op->regions[i]);
  }
  for (int i = 0; i < r->n_yields; i++) z->escapes[r->yields[i]->id] = 1;
}

/* ---- asking ------------------------------------------------------------------------------------------- */

/* At most one element is read for each that is computed, and nothing but indices is computed besides. */
static bool is_trivial(const FlRegion *r) {
  int n_loads = 0, n = 0;
  for (const FlOp *op = r->first; op; op = op->next, n++) {
    switch (op->code) {
    case FL_OP_LOAD: n_loads++; break;
    case FL_OP_CONST:
    case FL_OP_DIM:
    case FL_OP_CONVERT:
    case FL_OP_SELECT:
    case FL_OP_WRAP_ADD:
    case FL_OP_WRAP_SUB:
    case FL_OP_WRAP_MUL: break;
    case FL_OP_FLOORDIV:
    case FL_OP_MOD:
    case FL_OP_MIN:
    case FL_OP_MAX:
      if (op->args[0]->type.dtype != FL_I64) return false;
      break;
    case FL_OP_ADD:
    case FL_OP_SUB:
    case FL_OP_MUL:
    case FL_OP_NEG:
    case FL_OP_ABS:
    case FL_OP_DIV:
    case FL_OP_POW:
    case FL_OP_SIGN:
    case FL_OP_FMA:
    case FL_OP_SQRT:
    case FL_OP_AND:
    case FL_OP_OR:
    case FL_OP_NOT:
    case FL_OP_IS_NAN:
    case FL_OP_IS_FINITE:
    case FL_OP_ARRAY:
    case FL_OP_PICK:
    case FL_OP_STORE:
    case FL_OPS_ORDER:
    case FL_OPS_MATHS:
    case FL_OPS_RANDOM:
    case FL_OPS_FUNCTIONS:
    case FL_OPS_LOOPS:
    case FL_OPS_CONTROL:
    case FL_OPS_CALLS:
    case FL_OPS_CHECKS:
    case FL_OPS_RUNTIME: return false;
    }
  }
  return n_loads <= r->n_yields && n <= TRIVIAL_OPS;
}

/* Reads an array of fewer dimensions than the loop, at some of its indices: that stays near. */
static bool reads_line(const FlRegion *r, const FlOp *load) {
  if (load->n_args > r->n_params) return false;
  for (int i = 1; i < load->n_args; i++)
    if (load->args[i]->region != r || load->args[i]->op) return false;
  return true;
}

/* Elementary operations that computing an element costs; -1: more than it costs to keep the element for
 * later. Each element that is read is read at its own position. */
static int plain_cost(const FlRegion *r, int *n_loads) {
  int cost = 0;
  *n_loads = 0;
  for (const FlOp *op = r->first; op; op = op->next) {
    switch (op->code) {
    case FL_OP_CONST:
    case FL_OP_DIM: break;
    case FL_OP_LOAD:
      if (reads_line(r, op)) break;
      if (op->n_args != r->n_params + 1) return -1;
      for (int i = 0; i < r->n_params; i++)
        if (op->args[i + 1] != r->params[i]) return -1;
      ++*n_loads;
      break;
    case FL_OP_DIV:
    case FL_OP_SQRT: cost += 4; break;
    case FL_OP_ADD:
    case FL_OP_SUB:
    case FL_OP_MUL:
    case FL_OP_WRAP_ADD:
    case FL_OP_WRAP_SUB:
    case FL_OP_WRAP_MUL:
    case FL_OP_NEG:
    case FL_OP_ABS:
    case FL_OP_FMA:
    case FL_OP_MIN:
    case FL_OP_MAX:
    case FL_OP_EQ:
    case FL_OP_NE:
    case FL_OP_LT:
    case FL_OP_LE:
    case FL_OP_GT:
    case FL_OP_GE:
    case FL_OP_AND:
    case FL_OP_OR:
    case FL_OP_NOT:
    case FL_OP_SELECT:
    case FL_OP_CONVERT: cost++; break;
    case FL_OP_FLOORDIV:
    case FL_OP_MOD:
    case FL_OP_POW:
    case FL_OP_SIGN:
    case FL_OP_IS_NAN:
    case FL_OP_IS_FINITE:
    case FL_OP_ARRAY:
    case FL_OP_PICK:
    case FL_OP_STORE:
    case FL_OPS_MATHS:
    case FL_OPS_RANDOM:
    case FL_OPS_FUNCTIONS:
    case FL_OPS_LOOPS:
    case FL_OPS_CONTROL:
    case FL_OPS_CALLS:
    case FL_OPS_CHECKS:
    case FL_OPS_RUNTIME: return -1;
    }
  }
  return cost;
}

/* The number of operations of straight code; -1: there are loops or branches. */
static int straight_ops(const FlRegion *r) {
  int n = 0;
  for (const FlOp *op = r->first; op; op = op->next, n++)
    if (op->n_regions) return -1;
  return n;
}

/* The loop around `load`, below the producer, that reads every element at its own index; NULL: none. */
static FlOp *identity_loop(const Producer *p, const FlOp *load) {
  for (FlRegion *r = load->parent; r != p->map->parent; r = r->owner->parent) {
    FlOp *loop = r->owner;
    if (!fl_opt_is_loop(loop) || fl_opt_n_sizes(loop) != p->rank) continue;
    bool same = true;
    for (int i = 0; i < p->rank && same; i++)
      same = load->args[i + 1] == r->params[i] && fl_opt_same_size(loop->args[i], p->map->args[i]);
    if (same) return loop;
  }
  return NULL;
}

/* The region parameter that `index` is, shifted by something that the producer could see; else NULL. */
static const FlValue *shifted_param(const Producer *p, const FlValue *index) {
  if (!index->op) return index;
  int code = (int)index->op->code;
  if (code != FL_OP_WRAP_ADD && code != FL_OP_WRAP_SUB && code != FL_OP_ADD && code != FL_OP_SUB) return NULL;
  for (int i = 0; i < 2; i++) {
    const FlValue *by = index->op->args[1 - i], *v = index->op->args[i];
    bool fixed = (by->op && by->op->code == FL_OP_CONST) || fl_ir_inside(p->map->parent, by->region);
    if (fixed && !v->op) return v;
  }
  return NULL;
}

static bool has_index(const Producer *p, const Site *s, const FlValue *param) {
  for (int i = 0; i < p->rank; i++)
    if (shifted_param(p, s->index[i]) == param) return true;
  return false;
}

/* The copy at this site would compute some element more than once: a loop between the producer and it does
 * not move the index. */
static bool repeats(const Producer *p, const Site *s) {
  for (const FlRegion *r = s->region; r != p->map->parent; r = r->owner->parent) {
    const FlOp *op = r->owner;
    if (op->code == FL_OP_IF) continue;
    if (op->code != FL_OP_FOR && !fl_opt_is_loop(op)) return true;
    int n = op->code == FL_OP_FOR ? 1 : fl_opt_n_sizes(op);
    for (int i = 0; i < n; i++)
      if (!has_index(p, s, r->params[i])) return true;
  }
  return false;
}

/* ---- sites -------------------------------------------------------------------------------------------- */

static bool comes_before(const FlOp *a, const FlOp *b) {
  for (const FlOp *op = a->next; op; op = op->next)
    if (op == b) return true;
  return false;
}

static void add_load(Fuse *z, Producer *p, FlOp *load) {
  FlOp *loop = identity_loop(p, load);
  Site site = {load->parent, load, load->args + 1, {0}};
  if (loop) site = (Site){loop->regions[0], NULL, loop->regions[0]->params, {0}};
  Site *s = NULL;
  for (int i = 0; i < p->sites.n && !s; i++) {
    Site *at = &p->sites.at[i];
    if (at->region == site.region && !at->before == !site.before &&
        memcmp(at->index, site.index, (size_t)p->rank * sizeof *site.index) == 0)
      s = at;
  }
  if (!s) {
    fl_vec_push(z->arena, &p->sites, site);
    s = &p->sites.at[p->sites.n - 1];
  } else if (s->before && comes_before(load, s->before)) {
    s->before = load;
    s->index = load->args + 1;
  }
  fl_vec_push(z->arena, &s->loads, load);
}

static void find_sites(Fuse *z, Producer *p) {
  for (int k = 0; k < p->map->n_results; k++) {
    const FlValue *v = p->map->results[k];
    if (z->escapes[v->id]) p->stays = true;
    const OpList *users = &z->users[v->id];
    for (int i = 0; i < users->n; i++) {
      FlOp *op = users->at[i];
      if (op->code == FL_OP_LOAD && fl_opt_in_bounds(op)) add_load(z, p, op);
      else p->stays = true;
    }
  }
}

static int count_up_to(const FlRegion *r, int most) {
  int n = 0;
  for (const FlOp *op = r->first; op && n < most; op = op->next) {
    n++;
    for (int i = 0; i < op->n_regions && n < most; i++) n += count_up_to(op->regions[i], most - n);
  }
  return n;
}

/* No body grows past MOST_OPS: a longer kernel costs more to compile than its arrays cost to keep. */
static bool has_room(const Producer *p) {
  int own = count_up_to(p->map->regions[0], MOST_OPS);
  for (int i = 0; i < p->sites.n; i++) {
    const FlRegion *r = p->sites.at[i].region;
    if (own + count_up_to(r, MOST_OPS) >= MOST_OPS) return false;
  }
  return true;
}

/* ---- moving ------------------------------------------------------------------------------------------- */

/* The body of a MAP that is read nowhere else. */
static void move_body(Fuse *z, FlRegion *body, FlRegion *to, FlOp *before, FlValue *const *index) {
  for (int i = 0; i < body->n_params; i++) fl_subst_set(&z->subst, body->params[i], index[i]);
  for (FlOp *op = body->first, *next; op; op = next) {
    next = op->next;
    fl_ir_unlink(op);
    fl_ir_link(to, op, before);
    for (int i = 0; i < op->n_results; i++) op->results[i]->region = to;
  }
}

static void compute_at(Fuse *z, Producer *p, const Site *s) {
  FlOp *before = s->before ? s->before : s->region->first;
  FlRegion *body = p->map->regions[0];
  FlValue **yields = body->yields;
  if (p->sites.n == 1 && !p->stays) {
    move_body(z, body, s->region, before, s->index);
  } else {
    FlBuilder b = {.module = z->func->module,
                   .func = z->func,
                   .region = s->region,
                   .before = before,
                   .span = p->map->span};
    yields = FL_NEW_ARRAY(z->arena, FlValue *, body->n_yields);
    fl_ir_inline_region(&b, body, s->index, yields);
  }
  for (int i = 0; i < s->loads.n; i++) {
    FlOp *load = s->loads.at[i];
    fl_subst_set(&z->subst, load->results[0], yields[load->args[0]->index]);
    fl_ir_remove(load);
  }
  fl_subst_region(&z->subst, s->region);
  z->changed = true;
}

/* Nothing between the producer and the loop may fail, print or note. */
static bool nothing_between(const FlOp *map, const FlOp *loop) {
  for (const FlOp *op = map->next; op != loop; op = op->next)
    if (!op || fl_ir_may_fault(op) || fl_ir_is_effect(op) || fl_opt_has_note(op)) return false;
  return true;
}

/* Sums along columns of host code, which are swept row by row where they stand alone. */
static bool stands_alone(const FlOp *map) {
  return !fl_opt_in_loop(map->parent) && fl_opt_column_fold(map) != NULL;
}

static void move_faulting(Fuse *z, Producer *p) {
  if (p->stays || p->sites.n != 1 || p->sites.at[0].before) return;
  const FlRegion *body = p->sites.at[0].region;
  FlOp *loop = body->owner;
  if (loop->parent != p->map->parent || !fl_ir_is_kernel(body)) return;
  if (p->map->attrs.i & FL_LOOP_BY_POSITION || stands_alone(p->map)) return;
  bool by_position =
      loop->code == FL_OP_SCAN || (loop->attrs.i & FL_LOOP_BY_POSITION) || fl_opt_in_loop(loop->parent);
  if (by_position && fl_ir_region_may_fault(body)) return;
  if (!nothing_between(p->map, loop) || !fl_opt_same_within(p->map, loop)) return;
  compute_at(z, p, &p->sites.at[0]);
  fl_ir_remove(p->map);
}

/* Computing the elements at each of the places where they are read moves fewer bytes than storing them once
 * (a store also reads the line) and reading them there. */
static bool is_cheap_again(const Producer *p) {
  int loads, sites = p->sites.n, cost = plain_cost(p->map->regions[0], &loads);
  if (cost < 0 || cost * (sites - 1) > MOST_AGAIN || loads * sites > 2 + loads + sites) return false;
  for (int i = 0; i < sites; i++)
    if (repeats(p, &p->sites.at[i])) return false;
  return true;
}

static bool worth_moving(const Producer *p) {
  const FlRegion *body = p->map->regions[0];
  if (stands_alone(p->map)) return false;
  if (is_trivial(body)) return true;
  if (p->stays) return false;
  if (p->sites.n == 1 && !repeats(p, &p->sites.at[0])) return true;
  if (is_cheap_again(p)) return true;
  int n = straight_ops(body);
  return n >= 0 && n * p->sites.n <= LOCAL_OPS && fl_opt_in_loop(p->map->parent);
}

static void fuse_map(Fuse *z, FlOp *map) {
  if (!fl_ir_is_kernel(map->regions[0])) return;
  Producer p = {.map = map, .rank = map->n_args};
  find_sites(z, &p);
  if (p.sites.n == 0 || !has_room(&p) || !fl_opt_may_turn(map->parent)) return;
  if (fl_ir_may_fault(map)) {
    move_faulting(z, &p);
    return;
  }
  (void)fl_opt_within(map); /* which is not to go where something else may fail */
  if (!worth_moving(&p)) return;
  for (int i = 0; i < p.sites.n; i++) compute_at(z, &p, &p.sites.at[i]);
  if (!p.stays) fl_ir_remove(map);
}

static void fuse_region(Fuse *z, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    for (int i = 0; i < op->n_regions; i++) fuse_region(z, op->regions[i]);
    FlOp *prev = op->prev;
    if (op->code == FL_OP_MAP) fuse_map(z, op);
    next = op->parent ? op->next : prev ? prev->next : r->first; /* reads behind it may be gone, too */
  }
}

static bool one_round(FlFunc *f) {
  Fuse z = {.arena = fl_arena_new(), .func = f};
  z.users = FL_NEW_ARRAY(z.arena, OpList, f->next_id + 1);
  z.escapes = FL_NEW_ARRAY(z.arena, unsigned char, f->next_id + 1);
  find_users(&z, f->body);
  fuse_region(&z, f->body);
  fl_subst_reset(&z.subst);
  fl_arena_free(z.arena);
  return z.changed;
}

void fl_opt_fuse(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next)
    for (int i = 0; i < MAX_ROUNDS && one_round(f); i++) {}
}
