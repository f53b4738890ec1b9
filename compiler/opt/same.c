/* same.c: whether two operations compute the same: the same operator, attributes and arguments, and regions
 * that are equal up to the names of what they define. Values that stand for each other are compared by
 * identity, so the caller has put one for all before. See opt_internal.h. */
#include "opt/opt_internal.h"

/* Whether a LOAD is proven, a REDUCE known to have elements, or a loop goes by position makes no difference
 * to its value: the second one of two does not fail. */
static int64_t attr_i(const FlOp *op) {
  if (op->code == FL_OP_LOAD) return 0;
  if (op->code == FL_OP_REDUCE) return 0;
  return op->attrs.i & ~(int64_t)(fl_opt_is_loop(op) ? FL_LOOP_BY_POSITION : 0);
}

static uint64_t bits_of(double v) {
  uint64_t u;
  memcpy(&u, &v, sizeof u);
  return u;
}

static uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 1099511628211U; }

enum { HASHED_DEPTH = 3 }; /* regions within regions: ops that differ further down only are rare, too */

/* What comes from outside of `of` counts as itself; what is defined inside by how it is made, near by: two
 * ops that differ in no more than what an argument inside is are rare. */
static uint64_t hash_value(const FlOp *of, const FlValue *v) {
  bool inside = false;
  const FlOp *owner = v->region->owner;
  for (int up = 0; owner && up < HASHED_DEPTH && !inside; up++, owner = owner->parent->owner)
    inside = owner == of;
  if (!inside) return v->id;
  return v->op ? mix((uint64_t)v->op->code * 31 + 7, (uint64_t)v->index) : (uint64_t)v->index + 11;
}

static uint64_t hash_text(uint64_t h, const char *s, int32_t len) {
  size_t n = len ? (size_t)len : s ? strlen(s) : 0;
  for (size_t i = 0; i < n; i++) h = mix(h, (unsigned char)s[i]);
  return h;
}

static uint64_t hash_op(const FlOp *of, const FlOp *op, int depth) {
  uint64_t h = mix((uint64_t)op->code * 31, op->n_results ? op->results[0]->type.dtype : 0);
  h = mix(mix(h, (uint64_t)attr_i(op)), bits_of(op->attrs.f));
  h = hash_text(h, op->attrs.s, op->attrs.s_len);
  for (int i = 0; i < op->attrs.n_list; i++) h = hash_text(h, op->attrs.list[i], 0);
  for (int i = 0; i < op->attrs.n_reductions; i++) h = mix(h, (uint64_t)op->attrs.reductions[i].kind);
  for (int i = 0; i < op->attrs.n_columns; i++)
    h = hash_text(mix(h, (uint64_t)op->attrs.columns[i].flags), op->attrs.columns[i].name, 0);
  for (int i = 0; i < op->n_args; i++) h = mix(h, hash_value(of, op->args[i]));
  for (int k = 0; k < op->n_regions && depth < HASHED_DEPTH; k++)
    for (const FlOp *in = op->regions[k]->first; in; in = in->next) h = mix(h, hash_op(of, in, depth + 1));
  return h ^ (h >> 29);
}

uint64_t fl_opt_hash(const FlOp *op) { return hash_op(op, op, 0); }

static bool same_text(const FlOp *a, const FlOp *b) {
  const char *s = a->attrs.s, *t = b->attrs.s;
  if (!s || !t) return s == t;
  if (a->attrs.s_len != b->attrs.s_len) return false;
  return a->attrs.s_len ? memcmp(s, t, (size_t)a->attrs.s_len) == 0 : strcmp(s, t) == 0;
}

static bool same_attrs(const FlOp *a, const FlOp *b) {
  if (attr_i(a) != attr_i(b) || bits_of(a->attrs.f) != bits_of(b->attrs.f) || !same_text(a, b)) return false;
  if (a->attrs.func != b->attrs.func || a->attrs.n_list != b->attrs.n_list) return false;
  for (int i = 0; i < a->attrs.n_list; i++)
    if (strcmp(a->attrs.list[i], b->attrs.list[i]) != 0) return false;
  return fl_ir_same_reductions(&a->attrs, &b->attrs) && fl_ir_same_columns(&a->attrs, &b->attrs) &&
         fl_ir_same_options(&a->attrs, &b->attrs) && fl_ir_same_library(a->attrs.library, b->attrs.library);
}

/* `of_b`: what is defined inside b -> its like in a; NULL while nothing is. */
static bool same_value(const FlMap *of_b, FlValue *a, FlValue *b) {
  FlValue *like = of_b ? fl_map_get(of_b, b) : NULL;
  return a == (like ? like : b);
}

static bool same_op(FlArena *arena, FlMap *of_b, const FlOp *a, const FlOp *b);

static bool same_region(FlArena *arena, FlMap *of_b, const FlRegion *a, const FlRegion *b) {
  if (a->n_params != b->n_params || a->n_yields != b->n_yields) return false;
  for (int i = 0; i < a->n_params; i++) {
    if (!fl_t_same(a->params[i]->type, b->params[i]->type)) return false;
    fl_map_set(of_b, b->params[i], a->params[i]);
  }
  const FlOp *x = a->first, *y = b->first;
  for (; x && y; x = x->next, y = y->next) {
    if (!same_op(arena, of_b, x, y)) return false;
    for (int i = 0; i < x->n_results; i++) fl_map_set(of_b, y->results[i], x->results[i]);
  }
  if (x || y) return false;
  for (int i = 0; i < a->n_yields; i++)
    if (!same_value(of_b, a->yields[i], b->yields[i])) return false;
  return true;
}

static bool same_op(FlArena *arena, FlMap *of_b, const FlOp *a, const FlOp *b) {
  if (a->code != b->code || a->n_args != b->n_args || a->n_results != b->n_results) return false;
  if (a->n_regions != b->n_regions || !same_attrs(a, b)) return false;
  for (int i = 0; i < a->n_args; i++)
    if (!same_value(of_b, a->args[i], b->args[i])) return false;
  for (int i = 0; i < a->n_results; i++)
    if (!fl_t_same(a->results[i]->type, b->results[i]->type)) return false;
  for (int k = 0; k < a->n_regions; k++) {
    if (!of_b) of_b = fl_map_make(arena);
    if (!same_region(arena, of_b, a->regions[k], b->regions[k])) return false;
  }
  return true;
}

bool fl_opt_same(const FlOp *a, const FlOp *b) {
  FlArena *arena = a->n_regions && a->code == b->code ? fl_arena_new() : NULL;
  bool same = same_op(arena, NULL, a, b);
  if (arena) fl_arena_free(arena);
  return same;
}
