/* sweep.c: finds what is needed and removes the rest: ops, single results of loops and branches, carried
 * values, columns of readers, and (before the key) parameters and results of stages.
 *
 * Marking starts at what stays for its own sake (opt.h says what) and at the results of scripts and tests,
 * and follows values backwards: a result of a MAP needs only its own yield, a parameter of a stage only the
 * arguments at its calls. Two ways to run: before the key, an unused value goes even if computing it could
 * fail (canon); after it an op that may fault is a root of its own, and signatures stay as the key saw them.
 *
 * A KEEP (canon) is no use of its values. It follows them backwards to what may fail, and that is needed in
 * full; what cannot fail is not computed for it. A CHECK or KEEP of a unit counts once an op of the unit is
 * needed. */
#include "opt/opt_internal.h"

typedef struct FuncLive {
  FlFunc *func;
  unsigned char *live; /* by value id */
  FlVec(FlOp *) calls; /* needed calls of it */
  bool reached;
} FuncLive;

typedef struct Sweep {
  FlArena *arena; /* of this pass only */
  FlModule *module;
  FlMap *funcs;  /* FlFunc -> FuncLive */
  FlMap *needed; /* FlOp -> itself */
  FlVec(FlValue *) work;
  FlMap *units; /* FlUnit -> UnitLive */
  FlMap *kept;  /* values that a KEEP has followed */
  bool keep_faults;
} Sweep;

typedef struct UnitLive {
  bool live;
  FlVec(FlOp *) waiting; /* its checks */
} UnitLive;

static FuncLive *info_of(Sweep *s, const FlFunc *f) { return fl_map_get(s->funcs, f); }

static bool is_live(Sweep *s, const FlValue *v) { return info_of(s, v->region->func)->live[v->id]; }
static bool is_needed(Sweep *s, const FlOp *op) { return fl_map_get(s->needed, op) != NULL; }

static void mark(Sweep *s, FlValue *v) {
  unsigned char *live = &info_of(s, v->region->func)->live[v->id];
  if (*live) return;
  *live = 1;
  fl_vec_push(s->arena, &s->work, v);
}

static bool any_live(Sweep *s, const FlOp *op) {
  for (int i = 0; i < op->n_results; i++)
    if (is_live(s, op->results[i])) return true;
  return false;
}

bool fl_opt_own_fault(const FlOp *op) {
  if (!(fl_op_info[op->code].flags & FL_OPF_FAULT)) return false;
  if (op->n_regions == 0) return fl_ir_may_fault(op);
  if (op->code != FL_OP_REDUCE) return false;
  FlOp alone = *op; /* the reduction itself, without its body */
  alone.n_regions = 0;
  return fl_ir_may_fault(&alone);
}

/* The unit that decides whether the op counts; NULL: it does wherever it stands. */
static UnitLive *unit_of(Sweep *s, const FlOp *op) {
  FlUnit *unit = op->unit;
  while (unit && unit->plain) unit = unit->outer;
  if (!unit || s->keep_faults) return NULL;
  UnitLive *u = fl_map_get(s->units, unit);
  if (!u) fl_map_set(s->units, unit, u = FL_NEW(s->arena, UnitLive));
  return u;
}

static bool is_root(const Sweep *s, const FlOp *op) {
  if (fl_op_info[op->code].flags & (FL_OPF_EFFECT | FL_OPF_NOTE)) return true;
  int64_t v;
  if (op->code == FL_OP_CHECK) return !(fl_ir_const_value_i(op->args[0], &v) && v);
  if (op->code == FL_OP_COMPRESS && op->attrs.counts) return true;
  if (op->code == FL_OP_KEEP || (op->code == FL_OP_FAIL && op->n_results == 0)) return true;
  if (op->code == FL_OP_WITHIN) return op->parent->owner && fl_ir_may_fault(op->parent->owner);
  return s->keep_faults && fl_opt_own_fault(op);
}

/* What its regions hold counts once the op does. */
static bool waits(const FlOp *op) {
  return fl_opt_is_loop(op) || (fl_op_info[op->code].flags & FL_OPF_GROUPS);
}

/* Whether rows of arrays lose what nobody reads: not where the operator may find an error in it. */
static bool trims_rows(const Sweep *s, const FlOp *op) { return !s->keep_faults || !fl_ir_may_fault(op); }

static void need(Sweep *s, FlOp *op);
static void reach(Sweep *s, FlFunc *f);
static void keep(Sweep *s, FlValue *v);
static void use_unit(Sweep *s, FlOp *op);

static void keep_all(Sweep *s, FlValue *const *values, int n) {
  for (int i = 0; i < n; i++) keep(s, values[i]);
}

/* What result i of an op that cannot fail is made of. */
static void keep_sources(Sweep *s, const FlOp *op, int i) {
  const FlRegion *body = op->n_regions ? op->regions[0] : NULL;
  switch (op->code) {
  case FL_OP_TAKE:
    keep(s, op->args[0]);
    keep(s, op->args[1 + i]);
    return;
  case FL_OP_COMPRESS:
    keep(s, op->args[0]);
    if (i > 0) keep(s, op->args[i]);
    return;
  case FL_OP_ROW_PART:
    keep_all(s, op->args, 2);
    if (i > 0) keep(s, op->args[1 + i]);
    return;
  case FL_OP_MAP:
  case FL_OP_COLLECT:
    keep_all(s, op->args, op->n_args);
    if (op->code == FL_OP_COLLECT) keep(s, body->yields[0]);
    keep(s, body->yields[i]);
    return;
  case FL_OP_IF:
    keep(s, op->args[0]);
    for (int k = 0; k < 2; k++) keep(s, op->regions[k]->yields[i]);
    return;
  case FL_OP_FOR:
    keep_all(s, op->args, 2);
    keep(s, op->args[2 + i]);
    keep(s, body->yields[i]);
    return;
  case FL_OP_WHILE:
    keep(s, op->args[i]);
    keep(s, body->yields[0]);
    keep(s, body->yields[1 + i]);
    return;
  case FL_OP_SCAN:
    keep(s, op->args[0]);
    keep(s, op->args[1 + i]);
    keep(s, body->yields[i]);
    return;
  case FL_OP_REDUCE:
  case FL_OP_ROWS:
  case FL_OP_CONCAT:
  case FL_OPS_SCALAR:
  case FL_OPS_ACCESS:
  case FL_OPS_CALLS:
  case FL_OPS_CHECKS:
  case FL_OPS_LISTS:
  case FL_OPS_MATRIX:
  case FL_OPS_ARRAYS:
  case FL_OPS_TABLES:
  case FL_OPS_READING:
  case FL_OPS_WORLD: break;
  }
  keep_all(s, op->args, op->n_args);
  for (int k = 0; k < op->n_regions; k++) keep_all(s, op->regions[k]->yields, op->regions[k]->n_yields);
}

static void keep(Sweep *s, FlValue *v) {
  if (is_live(s, v) || fl_map_get(s->kept, v)) return;
  fl_map_set(s->kept, v, v);
  FlOp *op = v->op;
  if (op) use_unit(s, op);
  FlOp *owner = v->region->owner;
  if (op && !(fl_op_info[op->code].flags & FL_OPF_TOTAL || !fl_ir_may_fault(op))) {
    mark(s, v);
  } else if (op) {
    keep_sources(s, op, v->index);
  } else if (owner && (fl_ir_is_rounds(owner) || owner->code == FL_OP_SCAN)) {
    int first = owner->code == FL_OP_WHILE ? 0 : 1, k = v->index - first;
    if (k < 0) return;
    keep(s, owner->args[(owner->code == FL_OP_FOR ? 2 : owner->code == FL_OP_SCAN ? 1 : 0) + k]);
    keep(s, v->region->yields[(owner->code == FL_OP_WHILE ? 1 : 0) + k]);
  }
}

/* A check or statement that is evaluated. */
static void root(Sweep *s, FlOp *op) {
  if (op->code != FL_OP_KEEP) {
    need(s, op);
    return;
  }
  for (int i = 0; i < op->n_args; i++) keep(s, op->args[i]);
}

/* An op of the unit is needed: its checks count. */
static void use_unit(Sweep *s, FlOp *op) {
  if (op->code == FL_OP_CONST || op->code == FL_OP_DIM || !op->n_results) return;
  UnitLive *u = unit_of(s, op);
  if (!u || u->live) return;
  u->live = true;
  for (int i = 0; i < u->waiting.n; i++) root(s, u->waiting.at[i]);
}

/* Statements keep their roots; a loop that computes values only once it is needed itself. */
static void find_roots(Sweep *s, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    UnitLive *u = fl_ir_is_check(op) ? unit_of(s, op) : NULL;
    if (is_root(s, op)) {
      if (u && !u->live) fl_vec_push(s->arena, &u->waiting, op);
      else root(s, op);
    }
    if (s->keep_faults || !waits(op))
      for (int i = 0; i < op->n_regions; i++) find_roots(s, op->regions[i]);
  }
}

static void need_args(Sweep *s, FlOp *op, int from, int to) {
  for (int i = from; i < to; i++) mark(s, op->args[i]);
}

static void need_call(Sweep *s, FlOp *op) {
  FlFunc *f = op->attrs.func;
  FuncLive *info = info_of(s, f);
  reach(s, f);
  fl_vec_push(s->arena, &info->calls, op);
  for (int i = 0; i < op->n_args; i++)
    if (info->live[f->body->params[i]->id]) mark(s, op->args[i]);
}

static void need(Sweep *s, FlOp *op) {
  if (is_needed(s, op)) return;
  fl_map_set(s->needed, op, op);
  if (op->parent->owner) need(s, op->parent->owner);
  use_unit(s, op);
  bool by_value = any_live(s, op);
  FlRegion *body = op->n_regions ? op->regions[0] : NULL;
  switch (op->code) {
  case FL_OP_FOR: need_args(s, op, 0, 2); break;
  case FL_OP_WHILE: mark(s, body->yields[0]); break;
  case FL_OP_SCAN:
    need_args(s, op, 0, 1);
    if (!by_value) mark(s, op->results[0]);
    break;
  case FL_OP_MAP:
    need_args(s, op, 0, op->n_args);
    if (!by_value) mark(s, op->results[0]);
    break;
  case FL_OP_COLLECT:
    need_args(s, op, 0, op->n_args);
    mark(s, body->yields[0]);
    break;
  case FL_OP_REDUCE:
    need_args(s, op, 0, op->n_args);
    for (int i = 0; i < body->n_yields; i++) mark(s, body->yields[i]);
    break;
  case FL_OP_TAKE:
  case FL_OP_COMPRESS: need_args(s, op, 0, by_value && trims_rows(s, op) ? 1 : op->n_args); break;
  case FL_OP_ROW_PART: need_args(s, op, 0, by_value ? 2 : op->n_args); break;
  case FL_OP_CALL:
  case FL_OP_STAGE: need_call(s, op); break;
  case FL_OP_IF:
  case FL_OP_CUSTOM:
  case FL_OP_EXTERN:
  case FL_OP_ROWS:
  case FL_OP_CONCAT:
  case FL_OPS_SCALAR:
  case FL_OPS_ACCESS:
  case FL_OPS_CHECKS:
  case FL_OPS_LISTS:
  case FL_OPS_MATRIX:
  case FL_OPS_ARRAYS:
  case FL_OPS_TABLES:
  case FL_OPS_READING:
  case FL_OPS_WORLD: need_args(s, op, 0, op->n_args);
  }
  if (body && waits(op)) find_roots(s, body);
}

/* `v` is live and is a result: what that result alone needs. */
static void follow_result(Sweep *s, FlValue *v) {
  FlOp *op = v->op;
  int i = v->index;
  need(s, op);
  switch (op->code) {
  case FL_OP_MAP:
  case FL_OP_COLLECT: mark(s, op->regions[0]->yields[i]); break;
  case FL_OP_TAKE: mark(s, op->args[1 + i]); break;
  case FL_OP_COMPRESS:
    if (i > 0) mark(s, op->args[i]);
    break;
  case FL_OP_ROW_PART:
    if (i > 0) mark(s, op->args[1 + i]);
    break;
  case FL_OP_IF:
    mark(s, op->regions[0]->yields[i]);
    mark(s, op->regions[1]->yields[i]);
    break;
  case FL_OP_FOR:
    mark(s, op->args[2 + i]);
    mark(s, op->regions[0]->yields[i]);
    break;
  case FL_OP_WHILE:
    mark(s, op->args[i]);
    mark(s, op->regions[0]->yields[1 + i]);
    break;
  case FL_OP_SCAN:
    mark(s, op->args[1 + i]);
    mark(s, op->regions[0]->yields[i]);
    break;
  case FL_OP_CALL:
  case FL_OP_STAGE: mark(s, op->attrs.func->body->yields[i]); break;
  case FL_OP_REDUCE:
  case FL_OP_CUSTOM:
  case FL_OP_EXTERN:
  case FL_OP_ROWS:
  case FL_OP_CONCAT:
  case FL_OPS_SCALAR:
  case FL_OPS_ACCESS:
  case FL_OPS_CHECKS:
  case FL_OPS_LISTS:
  case FL_OPS_MATRIX:
  case FL_OPS_ARRAYS:
  case FL_OPS_TABLES:
  case FL_OPS_READING:
  case FL_OPS_WORLD: break;
  }
}

static void follow_param(Sweep *s, FlValue *v) {
  FlOp *owner = v->region->owner;
  int i = v->index;
  if (!owner) {
    FuncLive *info = info_of(s, v->region->func);
    for (int c = 0; c < info->calls.n; c++) mark(s, info->calls.at[c]->args[i]);
  } else if (owner->code == FL_OP_WHILE) {
    mark(s, owner->args[i]);
    mark(s, v->region->yields[1 + i]);
  } else if ((owner->code == FL_OP_FOR || owner->code == FL_OP_SCAN) && i > 0) {
    mark(s, owner->args[owner->code == FL_OP_FOR ? 1 + i : i]);
    mark(s, v->region->yields[i - 1]);
  }
}

static void reach(Sweep *s, FlFunc *f) {
  FuncLive *info = info_of(s, f);
  if (info->reached) return;
  info->reached = true;
  bool whole = s->keep_faults || f->kind == FL_FUNC_MAIN || f->kind == FL_FUNC_TEST;
  if (whole) {
    for (int i = 0; i < f->body->n_params; i++) mark(s, f->body->params[i]);
    for (int i = 0; i < f->body->n_yields; i++) mark(s, f->body->yields[i]);
  }
  find_roots(s, f->body);
}

/* ---- removing ---- */

/* Keeps the values whose flag is set, renumbers, gives the new count. */
static int compress(FlValue **values, int n, const bool *keep, bool renumber) {
  int out = 0;
  for (int i = 0; i < n; i++) {
    if (!keep[i]) continue;
    values[out] = values[i];
    if (renumber) values[out]->index = out;
    out++;
  }
  return out;
}

/* Results, carried parameters, initial values and yields of a FOR, WHILE or SCAN stay or go together. */
static void trim_carried(Sweep *s, FlOp *op, bool *keep) {
  FlRegion *body = op->regions[0];
  int first_param = op->code == FL_OP_WHILE ? 0 : 1, first_yield = op->code == FL_OP_WHILE ? 1 : 0;
  int first_arg = op->code == FL_OP_FOR ? 2 : op->code == FL_OP_SCAN ? 1 : 0;
  int n = op->n_results;
  for (int i = 0; i < n; i++)
    keep[i] = is_live(s, op->results[i]) || is_live(s, body->params[first_param + i]);
  op->n_results = compress(op->results, n, keep, true);
  op->n_args = first_arg + compress(op->args + first_arg, n, keep, false);
  body->n_yields = first_yield + compress(body->yields + first_yield, n, keep, false);
  compress(body->params + first_param, n, keep, false);
  body->n_params = first_param + op->n_results;
  for (int i = 0; i < body->n_params; i++) body->params[i]->index = i;
}

/* A reader's columns are values, or values and which are valid, and the levels of categories are its last
 * results: unused columns are not read. Behind the first n columns stands what it is given. */
static void trim_columns(Sweep *s, FlOp *op, int n_columns, bool *keep) {
  FlAttrs *a = &op->attrs;
  int at = 1, n = 0, levels = op->n_results - (op->code == FL_OP_READ_TABLE ? fl_ir_n_levels(op) : 0);
  FlColumnAttr *columns = FL_NEW_ARRAY(s->module->arena, FlColumnAttr, a->n_columns + 1);
  bool matrix = false; /* the column before is used */
  keep[0] = true;
  for (int i = 0; i < n_columns; i++) {
    const FlColumnAttr *c = &a->columns[i];
    int width = fl_ir_column_width(c);
    bool used = false, category = levels < op->n_results && c->dtype == FL_CATEGORY;
    for (int k = 0; k < width; k++) used = used || is_live(s, op->results[at + k]);
    if (category) used = used || is_live(s, op->results[levels]);
    if (c->flags & FL_COLUMN_BESIDE) used = matrix;
    matrix = used;
    for (int k = 0; k < width; k++) keep[at + k] = used;
    if (category) keep[levels++] = used;
    at += width;
    if (used) columns[n++] = *c;
  }
  if (a->i) a->i = n;
  for (int i = n_columns; i < a->n_columns; i++) columns[n++] = a->columns[i];
  a->columns = columns;
  a->n_columns = n;
  op->n_results = compress(op->results, op->n_results, keep, true);
}

static void trim_call(Sweep *s, FlOp *op, bool *keep) {
  const FlRegion *body = op->attrs.func->body;
  const FuncLive *info = info_of(s, op->attrs.func);
  for (int i = 0; i < op->n_args; i++) keep[i] = info->live[body->params[i]->id];
  op->n_args = compress(op->args, op->n_args, keep, false);
}

static void trim_yields(Sweep *s, FlOp *op, bool *keep) {
  int n = op->n_results;
  for (int i = 0; i < n; i++) keep[i] = is_live(s, op->results[i]) || (op->code == FL_OP_COLLECT && i == 0);
  for (int i = 0; i < op->n_regions; i++)
    op->regions[i]->n_yields = compress(op->regions[i]->yields, n, keep, false);
  op->n_results = compress(op->results, n, keep, true);
}

/* Rows of arrays: each result, but for the count, comes of one argument. */
static void trim_rows(Sweep *s, FlOp *op, bool *keep) {
  int first = op->code == FL_OP_TAKE ? 0 : 1, n = op->n_results - first, n_kept = 0;
  int which = op->n_args - n; /* arguments that say which rows */
  bool *results = FL_NEW_ARRAY(s->arena, bool, op->n_results + 1);
  results[0] = true;
  for (int i = 0; i < n; i++) n_kept += results[first + i] = keep[i] = is_live(s, op->results[first + i]);
  if (!n_kept && !first) return; /* needed for the errors that it may find */
  op->n_args = which + compress(op->args + which, n, keep, false);
  op->n_results = compress(op->results, op->n_results, results, true);
}

static void trim_region(Sweep *s, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    if (!is_needed(s, op)) {
      fl_ir_remove(op);
      continue;
    }
    int widest = op->n_args > op->n_results ? op->n_args : op->n_results;
    bool *keep = FL_NEW_ARRAY(s->arena, bool, widest + 1);
    switch (op->code) {
    case FL_OP_MAP:
    case FL_OP_COLLECT:
    case FL_OP_IF: trim_yields(s, op, keep); break;
    case FL_OP_FOR:
    case FL_OP_WHILE:
    case FL_OP_SCAN: trim_carried(s, op, keep); break;
    case FL_OP_TAKE:
    case FL_OP_COMPRESS:
    case FL_OP_ROW_PART:
      if (trims_rows(s, op)) trim_rows(s, op, keep);
      break;
    case FL_OP_READ_TABLE:
      if (!s->keep_faults) trim_columns(s, op, op->attrs.n_columns, keep);
      break;
    case FL_OP_SQL:
      if (!s->keep_faults) trim_columns(s, op, (int)op->attrs.i, keep);
      break;
    case FL_OP_CALL:
    case FL_OP_STAGE:
      if (!s->keep_faults) trim_call(s, op, keep);
      break;
    case FL_OP_REDUCE:
    case FL_OP_CUSTOM:
    case FL_OP_EXTERN:
    case FL_OP_ROWS:
    case FL_OP_CONCAT:
    case FL_OP_READ_TABLE_SOME:
    case FL_OP_TABLE_PARTS:
    case FL_OP_TABLE_PART:
    case FL_OP_TABLE_END:
    case FL_OP_EXEC:
    case FL_OP_READ_NPY:
    case FL_OP_READ_NPZ:
    case FL_OP_READ_IMAGE:
    case FL_OP_READ_WAV:
    case FL_OP_READ_HDF5:
    case FL_OP_READ_MAT:
    case FL_OP_LOAD_VALUE:
    case FL_OPS_SCALAR:
    case FL_OPS_ACCESS:
    case FL_OPS_CHECKS:
    case FL_OPS_LISTS:
    case FL_OPS_MATRIX:
    case FL_OPS_ARRAYS:
    case FL_OPS_TABLES:
    case FL_OPS_WORLD: break;
    }
    for (int i = 0; i < op->n_regions; i++) trim_region(s, op->regions[i]);
  }
}

/* Parameters that nobody reads and results that no call uses go, here and at every call. Scripts keep theirs.
 */
static void trim_signature(Sweep *s, FuncLive *info) {
  FlFunc *f = info->func;
  if (f->kind == FL_FUNC_MAIN || f->kind == FL_FUNC_TEST || s->keep_faults) return;
  FlRegion *body = f->body;
  int widest = body->n_params > body->n_yields ? body->n_params : body->n_yields;
  bool *keep = FL_NEW_ARRAY(s->arena, bool, widest + 1);
  for (int i = 0; i < body->n_params; i++) keep[i] = info->live[body->params[i]->id];
  body->n_params = compress(body->params, body->n_params, keep, true);
  memset(keep, 0, (size_t)widest);
  for (int c = 0; c < info->calls.n; c++)
    for (int i = 0; i < body->n_yields; i++) keep[i] = keep[i] || is_live(s, info->calls.at[c]->results[i]);
  for (int c = 0; c < info->calls.n; c++)
    info->calls.at[c]->n_results = compress(info->calls.at[c]->results, body->n_yields, keep, true);
  if (f->result_type) {
    FlText1 text = {0};
    fl_text_addf(&text, "%s\n", f->result_type);
    for (int i = 0; i < body->n_yields; i++) fl_text_addc(&text, keep[i] ? '1' : '0');
    f->result_type = fl_arena_strndup(s->module->arena, text.s, text.len);
    fl_text_reset(&text);
  }
  body->n_yields = compress(body->yields, body->n_yields, keep, false);
}

static void drop_unreached(Sweep *s) {
  FlModule *m = s->module;
  FlFunc **link = &m->first;
  m->last = NULL;
  for (FlFunc *f = m->first; f; f = f->next) {
    if (!info_of(s, f)->reached) continue;
    *link = f;
    link = &f->next;
    m->last = f;
  }
  *link = NULL;
}

/* FOR and SCAN of which only effects are left may end without carried values; a SCAN keeps one (its need
 * marks it). */
void fl_opt_sweep(FlModule *m, bool keep_faults) {
  Sweep s = {.arena = fl_arena_new(), .module = m, .keep_faults = keep_faults};
  s.funcs = fl_map_make(s.arena);
  s.needed = fl_map_make(s.arena);
  s.units = fl_map_make(s.arena);
  s.kept = fl_map_make(s.arena);
  bool entry = false;
  for (FlFunc *f = m->first; f; f = f->next) {
    FuncLive *info = FL_NEW(s.arena, FuncLive);
    info->func = f;
    info->live = FL_NEW_ARRAY(s.arena, unsigned char, f->next_id + 1);
    fl_map_set(s.funcs, f, info);
    entry = entry || f->kind == FL_FUNC_MAIN || f->kind == FL_FUNC_TEST;
  }
  for (FlFunc *f = m->first; f; f = f->next)
    if (keep_faults || f->kind == FL_FUNC_MAIN || f->kind == FL_FUNC_TEST) reach(&s, f);
  while (s.work.n) {
    FlValue *v = s.work.at[--s.work.n];
    if (v->op) follow_result(&s, v);
    else follow_param(&s, v);
  }
  if (entry || keep_faults) {
    drop_unreached(&s);
    for (FlFunc *f = m->first; f; f = f->next) trim_region(&s, f->body);
    for (FlFunc *f = m->first; f; f = f->next) trim_signature(&s, info_of(&s, f));
  }
  fl_arena_free(s.arena);
}
