/* rows.c: which rows an operation needs of what it takes, for a row of what it gives; see FlRows in plan.h.
 */
#include "opt/bounds.h"
#include "plan/plan_internal.h"

const char *const fl_rows_names[FL_N_ROWS] = {"none", "own", "near", "fold", "move", "any"};

/* ---- loops: where the leading index stands beside the loop's own --------------------------------------- */

enum { DEPTH = 8, FARTHEST = 1 << 20 }; /* rows, of a neighbourhood */
static const int64_t FAR = INT64_MAX;   /* -FAR and FAR: no bound is known */

typedef struct Near {
  int64_t lo, hi; /* own row + lo <= index <= own row + hi */
} Near;

/* As a distance, and as one that is no bound where it is far. */
static int64_t lower(int64_t v) { return v < -FARTHEST ? -FAR : v < FARTHEST ? v : FARTHEST; }
static int64_t upper(int64_t v) { return v > FARTHEST ? FAR : v > -FARTHEST ? v : -FARTHEST; }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static Near near(const FlOp *loop, const FlValue *v, int depth);

/* What is added or taken away has bounds of its own: a constant, or the index of a loop between constants. */
static Near shifted(const FlOp *loop, const FlOp *op, int depth) {
  static const FlLearnt nothing = {0};
  bool minus = op->code == FL_OP_SUB || op->code == FL_OP_WRAP_SUB;
  for (int k = 0; k < (minus ? 1 : 2); k++) {
    const FlValue *by = op->args[1 - k];
    int64_t c;
    bool known = fl_ir_const_value_i(by, &c);
    if (!known && by->op) continue;
    FlBounds b = known ? (FlBounds){.lo = c, .hi = c} : fl_opt_bounds(&nothing, by);
    int64_t lo = lower(b.lo), hi = upper(b.hi);
    Near x = near(loop, op->args[k], depth);
    if (x.lo == -FAR && x.hi == FAR) continue;
    if (minus) {
      int64_t other = lo == -FAR ? FAR : -lo;
      lo = hi == FAR ? -FAR : -hi;
      hi = other;
    }
    return (Near){x.lo == -FAR || lo == -FAR ? -FAR : lower(x.lo + lo),
                  x.hi == FAR || hi == FAR ? FAR : upper(x.hi + hi)};
  }
  return (Near){-FAR, FAR};
}

/* An index and a size are never below 0, and the own row is below the size of the loop: so clamped neighbours
 * stay near. */
static Near near(const FlOp *loop, const FlValue *v, int depth) {
  const FlRegion *r = loop->regions[0];
  Near far = {-FAR, FAR}, a, b;
  int64_t c;
  if (v == r->params[0]) return (Near){0, 0};
  if (fl_ir_const_value_i(v, &c)) return (Near){-FAR, upper(c)};
  if (fl_opt_same_size(v, loop->args[0])) return (Near){1, FAR};
  const FlOp *op = v->op;
  if (!op || depth >= DEPTH) return far;
  bool sum = op->code == FL_OP_ADD || op->code == FL_OP_SUB || op->code == FL_OP_WRAP_ADD ||
             op->code == FL_OP_WRAP_SUB;
  if (sum) return shifted(loop, op, depth + 1);
  if (op->code != FL_OP_MIN && op->code != FL_OP_MAX && op->code != FL_OP_SELECT) return far;
  bool select = op->code == FL_OP_SELECT;
  a = near(loop, op->args[select], depth + 1);
  b = near(loop, op->args[select + 1], depth + 1);
  if (op->code == FL_OP_MIN) return (Near){least(a.lo, b.lo), least(a.hi, b.hi)};
  if (op->code == FL_OP_MAX) return (Near){most(a.lo, b.lo), most(a.hi, b.hi)};
  return (Near){least(a.lo, b.lo), most(a.hi, b.hi)};
}

/* ---- loops: captures ----------------------------------------------------------------------------------- */

typedef struct Captures {
  FlArena *arena;
  const FlOp *loop, *fold; /* fold: as FlPlanKernel.fold */
  FlMap *index;           /* value -> 1 + its place in `uses` */
  FlVec(FlUse) uses;
} Captures;

/* These rows are read, too. */
static void widen(FlUse *u, FlRows rows, int64_t lo, int64_t hi) {
  bool first = u->rows == FL_ROWS_NONE, around = u->rows <= FL_ROWS_NEAR && rows <= FL_ROWS_NEAR;
  u->lo = first ? lo : least(lo, u->lo);
  u->hi = first ? hi : most(hi, u->hi);
  if (first || rows == u->rows) u->rows = rows;
  else u->rows = around ? FL_ROWS_NEAR : FL_ROWS_ANY;
}

/* The LOAD reads the array that u is of. */
static void add_load(const Captures *c, FlUse *u, const FlOp *load) {
  const FlRegion *r = c->loop->regions[0];
  bool own = load->n_args == r->n_params + 1;
  for (int i = 0; own && i < r->n_params; i++) own = load->args[i + 1] == r->params[i];
  u->element = u->element && own;
  if (c->fold && load->args[1] == c->fold->regions[0]->params[0]) {
    widen(u, FL_ROWS_FOLD, 0, 0);
    return;
  }
  Near at = near(c->loop, load->args[1], 0);
  if (at.lo < -FARTHEST || at.hi > FARTHEST) widen(u, FL_ROWS_ANY, 0, 0);
  else widen(u, at.lo == 0 && at.hi == 0 ? FL_ROWS_OWN : FL_ROWS_NEAR, at.lo, at.hi);
}

/* op, or the yields of a region when it is NULL, names v. */
static void add_use(Captures *c, const FlValue *v, const FlOp *op, int arg) {
  int at = (int)(intptr_t)fl_map_get(c->index, v);
  if (!at) {
    if ((v->op && v->op->code == FL_OP_CONST) || fl_ir_inside(v->region, c->loop->regions[0])) return;
    fl_vec_push(c->arena, &c->uses, ((FlUse){.value = v, .element = !fl_t_is_scalar(v->type)}));
    fl_map_set(c->index, v, (void *)(intptr_t)(at = c->uses.n));
  }
  FlUse *u = &c->uses.at[at - 1];
  if (fl_t_is_scalar(v->type) || (op && op->code == FL_OP_DIM)) return;
  if (op && op->code == FL_OP_LOAD && arg == 0 && c->loop->code != FL_OP_SCAN) {
    add_load(c, u, op);
    return;
  }
  u->element = false;
  widen(u, FL_ROWS_ANY, 0, 0);
}

static void add_region(Captures *c, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) add_use(c, op->args[i], op, i);
    for (int i = 0; i < op->n_regions; i++) add_region(c, op->regions[i]);
  }
  for (int i = 0; i < r->n_yields; i++) add_use(c, r->yields[i], NULL, 0);
}

const FlUse *fl_plan_captures(FlPlanner *m, const FlOp *loop, const FlOp *fold, int *n) {
  Captures c = {.arena = m->plan->arena, .loop = loop, .fold = fold, .index = fl_map_make(m->plan->arena)};
  add_region(&c, loop->regions[0]);
  for (int i = 0; i < c.uses.n; i++)
    c.uses.at[i].dies = fl_lifetime_dies_after(m->func->life, loop, c.uses.at[i].value);
  *n = c.uses.n;
  return c.uses.at;
}

/* ---- runtime operators --------------------------------------------------------------------------------- */

/* Of the operators whose row says ROLES: a letter an argument, the last one for all that follow: o its own
 * row, f fold, m move, a any. */
static const char *roles_of_matrix(const FlOp *op) {
  bool folds = op->attrs.i & 1; /* the first factor is transposed: its rows are summed over */
  if (op->code == FL_OP_MATMUL_ADD) return folds ? "aff" : "ooa";
  if (op->code == FL_OP_MATMUL) return folds || op->args[0]->type.rank == 1 ? "ff" : "oa";
  return op->args[0]->type.rank > 1 ? "o" : "a"; /* transforms, along the last axis */
}

static const char *roles_of(const FlOp *op) {
  switch (op->code) {
  case FL_OP_TAKE: return "om";
  case FL_OP_COMPRESS: return "o";
  case FL_OPS_MATRIX: return roles_of_matrix(op);
  case FL_OPS_ARRAYS: return op->code == FL_OP_NEAREST_MOVED ? "faaff" : "fa";
  case FL_OPS_TABLES: return op->n_args > 2 ? "ooa" : "oa"; /* levels stand last */
  case FL_OPS_READING:                                      /* which files */
  case FL_OP_ROWS:
  case FL_OP_CONCAT:
  case FL_OPS_LISTS:
  case FL_OPS_WORLD:
  case FL_OPS_NOT_RUNTIME: break;
  }
  return "a";
}

static FlRows rows_of(const FlOp *op, int arg) {
  static const FlRows by_dist[] = {[FL_DIST_NONE] = FL_ROWS_ANY,
                                   [FL_DIST_ROW] = FL_ROWS_OWN,
                                   [FL_DIST_FOLD] = FL_ROWS_FOLD,
                                   [FL_DIST_ALL] = FL_ROWS_ANY,
                                   [FL_DIST_SHUFFLE] = FL_ROWS_MOVE};
  FlDist dist = fl_op_info[op->code].dist;
  if (fl_t_is_scalar(op->args[arg]->type)) return FL_ROWS_NONE;
  if (dist != FL_DIST_ROLES) return by_dist[dist];
  const char *roles = roles_of(op);
  int last = (int)strlen(roles) - 1;
  char role = roles[arg < last ? arg : last];
  return role == 'o' ? FL_ROWS_OWN : role == 'f' ? FL_ROWS_FOLD : role == 'm' ? FL_ROWS_MOVE : FL_ROWS_ANY;
}

const FlUse *fl_plan_args(FlPlanner *m, const FlOp *op) {
  FlUse *uses = FL_NEW_ARRAY(m->plan->arena, FlUse, op->n_args);
  for (int i = 0; i < op->n_args; i++)
    uses[i] = (FlUse){.value = op->args[i],
                      .rows = rows_of(op, i),
                      .dies = fl_lifetime_dies_after(m->func->life, op, op->args[i])};
  return uses;
}

const uint8_t *fl_plan_row_bytes(FlArena *arena, int n, const FlUse *uses) {
  uint8_t *rows = FL_NEW_ARRAY(arena, uint8_t, n + 1);
  for (int i = 0; i < n; i++) rows[i] = (uint8_t)uses[i].rows;
  return rows;
}

bool fl_plan_by_rows(const FlPlan *p, const FlPlanStep *s) {
  const FlOp *op = s->op;
  const FlUse *uses = s->kernel ? s->kernel->uses : s->uses;
  int n = s->kernel ? s->kernel->n_uses : s->uses ? op->n_args : 0, n_own = 0;
  const FlOpInfo *info = &fl_op_info[op->code];
  /* How BLAS is asked for the rows of a product, and so their bits, depends on how many there are. */
  bool tiles = info->flags & FL_OPF_BLAS && info->dist == FL_DIST_ROLES;
  if (s->kernel ? s->kernel->form != FL_KERNEL_ELEMENTS : !s->uses || tiles || info->flags & FL_OPF_COUNTS)
    return false;
  for (int i = 0; i < n; i++) {
    if (uses[i].rows != FL_ROWS_NONE && uses[i].rows != FL_ROWS_OWN && uses[i].rows != FL_ROWS_ANY)
      return false;
    n_own += uses[i].rows == FL_ROWS_OWN;
  }
  for (int i = 0; i < op->n_results; i++)
    if (!fl_plan_may_part(p, op->results[i])) return false;
  return n_own && op->n_results;
}

bool fl_plan_crosses_parts(const FlPlanStep *s) {
  const FlUse *uses = s->kernel ? s->kernel->uses : s->uses;
  int n = s->kernel ? s->kernel->n_uses : s->uses ? s->op->n_args : 0;
  for (int i = 0; i < n; i++)
    if (uses[i].rows > FL_ROWS_OWN) return true;
  bool counts = fl_op_info[s->op->code].flags & FL_OPF_COUNTS; /* rows of all parts */
  return counts || (s->kernel && s->kernel->form == FL_KERNEL_BLOCKS);
}
