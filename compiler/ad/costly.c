/* costly.c: elements that take long to compute are kept, too.
 *
 * In: the body of a loop whose rounds are kept. Out: the operations in its loops over elements (`exp`, `tanh`
 * and such) whose results the way back reads instead of computing them again: the loop over elements of a
 * round gives them as arrays beside its own results. Those that the way back has no use for are not kept.
 * Always: the kept values have the bits that computing them again would have. */
#include "ad/rounds.h"
#include "ad/rules/rules.h"

enum { MOST_OF_ONE = 8 }; /* as many arrays may one loop over elements give besides its own */

static bool takes_long(const FlOp *op) {
  return op->n_results == 1 && fl_dtype_is_float(op->results[0]->type.dtype) &&
         ((fl_op_info[op->code].flags & FL_OPF_MATHS) || op->code == FL_OP_RANDOM ||
          op->code == FL_OP_RANDOM_NORMAL);
}

const FlOp *fl_rounds_elements(const FlAdRounds *k, const FlOp *read) {
  const FlOp *map = read->parent->owner;
  return map->code == FL_OP_MAP && map->parent == k->body ? map : NULL;
}

FlType1 fl_rounds_read_type(const FlAdRounds *k, int i) {
  const FlOp *read = k->reads.at[i], *map = fl_rounds_elements(k, read);
  FlType1 type = read->results[0]->type;
  if (map) type.rank = (uint8_t)map->n_args;
  return type;
}

void fl_rounds_keep_costly(FlAdRounds *k) {
  for (FlOp *map = k->body->first; map && !k->scan; map = map->next) {
    /* One that stands for another in derivatives gives what that one gives. */
    bool copy = fl_map_get(k->f->ad->original, map) != NULL;
    if (map->code != FL_OP_MAP || copy || !fl_ad_nest_takes(k->f->ad, map)) continue;
    if (!fl_rounds_size_known(k, map->results[0])) continue;
    int n = 0;
    for (FlOp *op = map->regions[0]->first; op && n < MOST_OF_ONE; op = op->next) {
      if (!takes_long(op)) continue;
      fl_vec_push(k->f->ad->arena, &k->reads, op);
      n++;
    }
  }
}

/* Is the i-th read kept, and of the MAP's elements? */
static bool is_of(const FlAdRounds *k, int i, const FlOp *map) {
  return fl_rounds_uses(k, i) && fl_rounds_elements(k, k->reads.at[i]) == map;
}

static bool gives_any(const FlAdRounds *k, const FlOp *map) {
  for (int i = 0; i < k->reads.n; i++)
    if (is_of(k, i, map)) return true;
  return false;
}

bool fl_rounds_run_elements(const FlAdRounds *k, FlAdFrame *in, const FlOp *map, FlValue **reads) {
  if (map->code != FL_OP_MAP || !gives_any(k, map)) return false;
  FlArena *arena = k->f->ad->arena;
  const FlRegion *from = map->regions[0];
  FlValue **values = FL_NEW_ARRAY(arena, FlValue *, map->n_args + from->n_yields + k->reads.n + 1);
  for (int i = 0; i < map->n_args; i++) values[i] = fl_ad_at(in, map->args[i]);
  FlAdLoop m = fl_ad_loop(&in->b, FL_OP_MAP, map->n_args, values);
  m.op->attrs = map->attrs;
  m.op->span = map->span;
  FlAdFrame f = fl_ad_frame(in->ad, in, in->b, false, NULL);
  for (int i = 0; i < from->n_params; i++) fl_ad_put(&f, from->params[i], m.region->params[i]);
  for (const FlOp *op = from->first; op; op = op->next) fl_ad_clone(&f, op);
  int n = from->n_yields;
  for (int i = 0; i < n; i++) values[i] = fl_ad_at(&f, from->yields[i]);
  int *at = FL_NEW_ARRAY(arena, int, k->reads.n + 1);
  for (int i = 0; i < k->reads.n; i++) {
    if (!is_of(k, i, map)) continue;
    FlValue *v = fl_ad_at(&f, k->reads.at[i]->results[0]);
    for (at[i] = 0; at[i] < n && values[at[i]] != v;) at[i]++;
    if (at[i] == n) values[n++] = v;
  }
  fl_ad_loop_end(&in->b, &m, n, values);
  for (int i = 0; i < from->n_yields; i++) fl_ad_put(in, map->results[i], m.op->results[i]);
  for (int i = 0; i < k->reads.n; i++)
    if (is_of(k, i, map)) reads[i] = m.op->results[at[i]];
  return true;
}

/* ---- what is of use ---- */

typedef struct Uses {
  FlArena *arena;
  FlMap *seen;
  FlVec(FlValue *) work;
} Uses;

static void use(Uses *u, FlValue *v) {
  if (fl_map_get(u->seen, v)) return;
  fl_map_set(u->seen, v, v);
  fl_vec_push(u->arena, &u->work, v);
}

/* What is there for its own sake: checks. */
static void use_checks(Uses *u, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args && !op->n_results; i++) use(u, op->args[i]);
    for (int i = 0; i < op->n_regions; i++) use_checks(u, op->regions[i]);
  }
}

static void follow(Uses *u, const FlValue *v) {
  const FlOp *op = v->op;
  if (!op) return;
  bool by_result = op->code == FL_OP_MAP || op->code == FL_OP_IF;
  for (int i = 0; i < op->n_args; i++) use(u, op->args[i]);
  for (int i = 0; i < op->n_regions; i++) {
    const FlRegion *r = op->regions[i];
    if (by_result) use(u, r->yields[v->index]);
    for (int y = 0; y < r->n_yields && !by_result; y++) use(u, r->yields[y]);
  }
}

void fl_rounds_find_unused(FlAdRounds *k, const FlRegion *r) {
  FlArena *arena = k->f->ad->arena;
  Uses u = {.arena = arena, .seen = fl_map_make(arena)};
  for (int y = 0; y < r->n_yields; y++) use(&u, r->yields[y]);
  use_checks(&u, r);
  while (u.work.n) follow(&u, u.work.at[--u.work.n]);
  k->unused = FL_NEW_ARRAY(arena, bool, k->reads.n + 1);
  /* Zeros that stand for scalars may be folded away: these are kept. Of what is not kept sizes may be read.
   */
  for (int i = 0; i < k->reads.n; i++) {
    k->unused[i] = !fl_t_is_scalar(k->stands[i]->type) && !fl_map_get(u.seen, k->stands[i]);
    if (k->unused[i]) fl_map_set(k->left, k->reads.at[i], NULL);
  }
}
