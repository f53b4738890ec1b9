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
  FlMap *index;            /* value -> 1 + its place in `uses` */
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
  bool part = op && op->code == FL_OP_ROW_PART && arg > 1 && c->loop->code == FL_OP_MAP &&
              op->args[0] == c->loop->regions[0]->params[0];
  widen(u, part ? FL_ROWS_OWN : FL_ROWS_ANY, 0, 0);
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
  case FL_OP_ROW_PART:
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

static const FlUse *uses_of(const FlPlanStep *s, int *n) {
  *n = s->kernel ? s->kernel->n_uses : s->uses ? s->op->n_args : 0;
  return s->kernel ? s->kernel->uses : s->uses;
}

/* Is each row that it gives made of that row of what it takes, and of what is whole? */
static bool works_by_rows(const FlPlanStep *s) {
  const FlOpInfo *info = &fl_op_info[s->op->code];
  /* How BLAS is asked for the rows of a product, and so their bits, depends on how many there are. */
  bool tiles = info->flags & FL_OPF_BLAS && info->dist == FL_DIST_ROLES;
  if (s->kernel ? s->kernel->form != FL_KERNEL_ELEMENTS : !s->uses || tiles || info->flags & FL_OPF_COUNTS)
    return false;
  int n, n_own = 0;
  const FlUse *uses = uses_of(s, &n);
  for (int i = 0; i < n; i++) {
    if (uses[i].rows == FL_ROWS_NEAR || uses[i].rows == FL_ROWS_FOLD) return false; /* MOVE: it is whole */
    n_own += uses[i].rows == FL_ROWS_OWN;
  }
  return n_own && s->op->n_results;
}

bool fl_plan_by_rows(const FlPlan *p, const FlPlanStep *s) {
  for (int i = 0; i < s->op->n_results; i++)
    if (!fl_plan_may_part(p, s->op->results[i])) return false;
  return works_by_rows(s);
}

/* Sums of floats, which are states that are joined by adding them. */
static bool are_sums(const FlOp *reduce) {
  for (int i = 0; i < reduce->n_results; i++) {
    FlReduction how = fl_ir_reduction(reduce, i);
    bool sum = how.kind == FL_RED_SUM || how.kind == FL_RED_SUM_PRODUCT;
    if (!sum || how.keep >= 0 || !fl_dtype_is_float((FlDtype)reduce->results[i]->type.dtype)) return false;
  }
  return !reduce->attrs.i;
}

static const FlUse *use_of(const FlPlanKernel *k, const FlValue *v) {
  for (int i = 0; i < k->n_uses; i++)
    if (k->uses[i].value == v) return &k->uses[i];
  return NULL;
}

/* Nothing in the region asks how many rows there are, or for the number of a row but to read it. */
static bool knows_no_rows(const FlPlanKernel *k, const FlRegion *r) {
  const FlValue *row = k->fold->regions[0]->params[0], *n = k->fold->args[0];
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) {
      const FlUse *u = use_of(k, op->args[i]);
      const FlUse *from = op->code == FL_OP_LOAD && i == 1 ? use_of(k, op->args[0]) : NULL;
      bool reads = from && from->rows == FL_ROWS_FOLD;
      if (op->args[i] == row && !reads) return false;
      if (op->args[i] == n && op != k->fold) return false;
      if (op->code == FL_OP_DIM && u && u->rows == FL_ROWS_FOLD) return false;
    }
    for (int i = 0; i < op->n_regions; i++)
      if (!knows_no_rows(k, op->regions[i])) return false;
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] == row || r->yields[i] == n) return false;
  return true;
}

int fl_plan_columns_size(const FlPlanKernel *k) {
  const FlOp *reduce = k->fold;
  if (k->form != FL_KERNEL_COLUMNS || k->faults || reduce->next || k->region->n_yields != reduce->n_results)
    return -1;
  for (int i = 0; i < reduce->n_results; i++)
    if (k->region->yields[i] != reduce->results[i]) return -1;
  const FlUse *n = use_of(k, reduce->args[0]);
  return n && are_sums(reduce) && knows_no_rows(k, k->region) ? (int)(n - k->uses) : -1;
}

static bool has_row_parts(const FlRegion *r, const FlValue *part) {
  bool some = false;
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) {
      if (op->args[i] != part) continue;
      if (op->code != FL_OP_ROW_PART || i != 0) return false;
      some = true;
    }
    for (int i = 0; i < op->n_regions; i++)
      if (fl_ir_uses(op->regions[i], part)) return false;
  }
  return some;
}

bool fl_plan_has_row_parts(const FlOp *loop) {
  const FlRegion *r = loop->regions[0];
  return loop->code == FL_OP_MAP && loop->n_args == 1 && has_row_parts(r, r->params[0]);
}

static FlInParts kernel_in_parts(const FlPlanKernel *k) {
  switch (k->form) {
  case FL_KERNEL_ELEMENTS: return FL_PARTS_ELEMENTS;
  case FL_KERNEL_KEPT: return FL_PARTS_KEPT;
  case FL_KERNEL_BLOCKS: return fl_plan_state_bytes(k) ? FL_PARTS_FOLD : FL_PARTS_NONE;
  case FL_KERNEL_COLUMNS: return fl_plan_columns_size(k) >= 0 ? FL_PARTS_COLUMNS : FL_PARTS_NONE;
  case FL_KERNEL_TASKS: return k->block || fl_plan_has_row_parts(k->op) ? FL_PARTS_TASKS : FL_PARTS_NONE;
  case FL_KERNEL_ROUNDS: break;
  }
  return FL_PARTS_NONE;
}

int fl_plan_state_bytes(const FlPlanKernel *k) {
  if (k->form != FL_KERNEL_BLOCKS || k->makes_texts) return 0;
  for (int i = 0; i < k->region->n_yields; i++)
    if (fl_dtype_is_text((FlDtype)k->region->yields[i]->type.dtype)) return 0;
  return k->op->n_results * FL_PARTIAL_BYTES;
}

static bool among(int n, FlValue *const *values, const FlValue *v) {
  for (int i = 0; i < n; i++)
    if (values[i] == v) return true;
  return false;
}

static bool has_state(const char *made, FlType1 result) {
  FlAggregate kind = made ? fl_aggregate_find(made) : FL_N_AGGREGATES;
  FlAggState state = kind == FL_N_AGGREGATES ? FL_STATE_NONE : fl_aggregate_info[kind].state;
  return state != FL_STATE_NONE && (state != FL_STATE_MEAN || result.dtype == FL_F64);
}

/* AGGREGATE: is it of all rows, and has states? */
static bool folds_all_rows(const FlOp *op) {
  const FlAttrs *a = &op->attrs;
  return a->i == 1 && a->n_columns == 1 && op->n_args == 2 + fl_ir_column_width(&a->columns[0]) &&
         has_state(a->s, op->results[0]->type);
}

/* GROUP_ROWS: does each aggregate have states (part/partial.c), and are the rows that it takes those of keys?
 */
static bool has_states(const FlOp *op) {
  int at = 0, k = 0, result = 2;
  for (; k < op->attrs.n_columns && !op->attrs.columns[k].made; k++)
    at += fl_ir_column_width(&op->attrs.columns[k]);
  int n_keys = at;
  for (; k < op->attrs.n_columns; k++, result += 2) {
    const FlColumnAttr *c = &op->attrs.columns[k];
    bool counts = c->flags & FL_COLUMN_NONE; /* without a column */
    if (!has_state(c->made, op->results[result]->type)) return false;
    at += 1 + (counts ? 0 : 1 + ((c->flags & FL_COLUMN_NULLS) != 0));
  }
  for (; at < op->n_args; at++)
    if (!among(n_keys, op->args, op->args[at])) return false;
  return true;
}

/* MATMUL: of floats, by rows of its result or as a fold of rows: both factors are read along these. */
static FlInParts product_in_parts(const FlPlanStep *s) {
  const FlOp *op = s->op;
  bool folds = s->uses[0].rows == FL_ROWS_FOLD, second = op->attrs.i & 2, own = op->attrs.i & 4;
  if (!fl_dtype_is_float((FlDtype)op->results[0]->type.dtype)) return FL_PARTS_NONE;
  return (folds ? second && op->args[1]->type.rank > 1 : own) ? FL_PARTS_NONE : FL_PARTS_PRODUCT;
}

static bool sweeps(const FlOp *op) {
  return op->code == FL_OP_SEGMENT_SUM || op->code == FL_OP_SEGMENT_COUNT || op->code == FL_OP_NEAREST ||
         op->code == FL_OP_NEAREST_MOVED;
}

/* Whose results lie by an order that all ranks make together. */
static bool sorts(const FlOp *op) {
  return op->code == FL_OP_SORT_PERM || op->code == FL_OP_SORT_VALUES || op->code == FL_OP_SORT_ROWS;
}

/* Sums and counts by label, the nearest centers: other integers may not hold what a rank sums. */
static FlInParts sweep_in_parts(const FlOp *op) {
  FlDtype sum = (FlDtype)op->results[0]->type.dtype;
  bool fine = op->code != FL_OP_SEGMENT_SUM || fl_dtype_is_float(sum) || sum == FL_I64;
  return fine ? FL_PARTS_SWEEP : FL_PARTS_NONE;
}

/* Columns of one file of which any rows can be read, of scalars alone: levels, and the size of arrays in
 * rows, are found in all of it. */
static bool reads_rows(const FlOp *op) {
  if (op->code != FL_OP_READ_TABLE && op->code != FL_OP_TABLE_PART) return false;
  if (op->code == FL_OP_READ_TABLE && op->args[0]->type.rank) return false;
  for (int i = 0; i < op->attrs.n_columns; i++) {
    const FlColumnAttr *c = &op->attrs.columns[i];
    if (c->flags & (FL_COLUMN_FILE | FL_COLUMN_ARRAYS) || c->dtype == FL_CATEGORY) return false;
  }
  return op->attrs.format->flags & FL_FORMAT_COUNTED;
}

/* Neighbouring rows that are known to be few. */
static bool slices(const FlOp *op) {
  enum { FEW = 1 << 12 };
  int64_t from, to;
  return op->code == FL_OP_ROWS && fl_ir_const_value_i(op->args[1], &from) &&
         fl_ir_const_value_i(op->args[2], &to) && from >= 0 && to >= from && to - from <= FEW;
}

FlInParts fl_plan_parts_form(const FlPlanStep *s) {
  const FlOp *op = s->op;
  if (s->kernel) return kernel_in_parts(s->kernel);
  if (s->joins_parts) return FL_PARTS_JOIN;
  if (op->code == FL_OP_SUM_BEGIN || op->code == FL_OP_LIST_SUM) return FL_PARTS_SUMS;
  if (op->code == FL_OP_COMPRESS) return FL_PARTS_KEPT;
  if (op->code == FL_OP_MATMUL && s->uses) return product_in_parts(s);
  if (op->code == FL_OP_GROUP_ROWS) return has_states(op) ? FL_PARTS_GROUPS : FL_PARTS_NONE;
  if (op->code == FL_OP_AGGREGATE) return folds_all_rows(op) ? FL_PARTS_GROUPS : FL_PARTS_NONE;
  if (sweeps(op)) return sweep_in_parts(op);
  if (sorts(op)) return FL_PARTS_ORDER;
  if (op->code == FL_OP_BESIDE) return FL_PARTS_PRODUCT;
  if (reads_rows(op)) return FL_PARTS_READ;
  if (slices(op)) return FL_PARTS_SLICE;
  if (op->code == FL_OP_TAKE) return FL_PARTS_TAKE;
  if (op->code == FL_OP_JOIN) return FL_PARTS_PAIRS;
  return works_by_rows(s) ? FL_PARTS_ELEMENTS : FL_PARTS_NONE;
}

FlInParts fl_plan_in_parts(const FlPlan *p, const FlPlanStep *s) {
  const FlOp *op = s->op;
  FlInParts form = fl_plan_parts_form(s);
  /* Numbers of own rows can be sent to all where the result must be whole; texts are made by all. */
  for (int i = 0; (form == FL_PARTS_ELEMENTS || form == FL_PARTS_TAKE) && i < op->n_results; i++)
    if (fl_dtype_is_text((FlDtype)op->results[i]->type.dtype) && !fl_plan_may_part(p, op->results[i]))
      return FL_PARTS_NONE;
  return form;
}

const uint8_t *fl_plan_stays(FlArena *arena, const FlPlan *p, const FlOp *op, int *n) {
  uint8_t *stays = FL_NEW_ARRAY(arena, uint8_t, op->n_results + 1);
  *n = 0;
  for (int i = 0; i < op->n_results; i++)
    if (!fl_t_is_scalar(op->results[i]->type)) stays[(*n)++] = fl_plan_may_part(p, op->results[i]);
  return stays;
}

bool fl_plan_crosses_parts(const FlPlanStep *s) {
  const FlUse *uses = s->kernel ? s->kernel->uses : s->uses;
  int n = s->kernel ? s->kernel->n_uses : s->uses ? s->op->n_args : 0;
  for (int i = 0; i < n; i++)
    if (uses[i].rows > FL_ROWS_OWN) return true;
  bool counts = fl_op_info[s->op->code].flags & FL_OPF_COUNTS; /* rows of all parts */
  return counts || (s->kernel && s->kernel->form == FL_KERNEL_BLOCKS);
}
