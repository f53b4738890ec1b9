/* members.c: `x in column` for rows of an array is looked up, not compared with each element of the column.
 *
 *   %m = map %n {                                   %s = key_set<i=2> %c
 *     %x = load %a, %i                              %q = in_keys<i=2> %s, %a, %c
 *     %r = reduce any %k { %x == %c[j] }    ->      %m = map %n {
 *     yield %r }                                      %r = load %q, %i
 *                                                     yield %r }
 *
 * In: loops whose elements compare one of an array, at their own index, or what they compute without being
 * able to fail, which is computed before then, with all of another array; not in rounds of other loops, which
 * may be few. With a few constants, as of `x in ["a", "b"]`, each is compared by
 * itself, so that code is made for its length. What always holds: IN_KEYS says what == says, of texts and
 * NaN, too. */
#include "opt/opt_internal.h"

typedef struct Member {
  const FlRegion *region;
  const FlValue *values, *list;
  FlValue *mask;
} Member;

typedef struct Members {
  FlArena *arena;
  FlVec(Member) made; /* in the regions around what is looked at */
} Members;

static bool is_column(const FlValue *v, const FlOp *loop) {
  int32_t d = v->type.dtype;
  return v->type.rank == 1 && !v->type.depth && !fl_ir_made_within(v, loop) && d != FL_CATEGORY &&
         (fl_dtype_is_text(d) || d == FL_BOOL || fl_dtype_info[d].kind != FL_KIND_REF);
}

static bool is_proven(const FlOp *load) {
  return load && load->code == FL_OP_LOAD && load->n_args == 2 && load->attrs.i != 0;
}

/* The list of which the REDUCE asks whether some element is *x, its whole and only question; NULL: it asks
 * something else. */
static FlValue *list_of(const FlOp *any, FlValue **x) {
  const FlRegion *r = any->n_regions ? any->regions[0] : NULL;
  if (!r || !fl_ir_reduces(any, FL_RED_ANY) || any->n_args != 1 || fl_ir_reduction(any, 0).keep >= 0)
    return NULL;
  const FlOp *load = r->first, *same = load ? load->next : NULL;
  if (!is_proven(load) || !same || same->next || same->code != FL_OP_EQ || r->yields[0] != same->results[0])
    return NULL;
  FlValue *list = load->args[0];
  *x = same->args[same->args[0] == load->results[0]];
  return load->args[1] == r->params[0] && (*x)->region != r && fl_opt_is_dim(any->args[0], list, 0) ? list
                                                                                                    : NULL;
}

/* The column among whose elements the REDUCE looks for *x; NULL: it does something else. */
static FlValue *asked_of(const FlOp *any, const FlOp *loop, FlValue **x) {
  FlValue *list = list_of(any, x);
  if (!list || !is_column(list, loop) || (list->op && list->op->code == FL_OP_ARRAY)) return NULL;
  return list;
}

/* ---- what is looked for ------------------------------------------------------------------------------- */

typedef struct Slice {
  const FlOp *loop;
  FlVec(FlOp *) ops; /* that compute a value of each element, in their order */
} Slice;

/* The LOAD is within bounds whatever the loop's checks say. */
static bool is_safe(const FlOp *load, const FlOp *loop) {
  return load->attrs.i == 2 || (load->n_args == 2 && load->args[1] == loop->regions[0]->params[0] &&
                                fl_opt_is_dim(loop->args[0], load->args[0], 0));
}

/* The value follows from the loop's index and from what is there before, and nothing on the way can fail. */
static bool add_to(Members *m, Slice *s, const FlValue *v) {
  enum { MOST = 64 };
  FlOp *op = v->op;
  if (!fl_ir_made_within(v, s->loop)) return true;
  if (!op) return v == s->loop->regions[0]->params[0];
  for (int i = 0; i < s->ops.n; i++)
    if (s->ops.at[i] == op) return true;
  if (op->n_regions || fl_ir_may_fault(op) || fl_ir_is_effect(op) || fl_opt_has_note(op) ||
      s->ops.n >= MOST || (op->code == FL_OP_LOAD && !is_safe(op, s->loop)))
    return false;
  for (int i = 0; i < op->n_args; i++)
    if (!add_to(m, s, op->args[i])) return false;
  fl_vec_push(m->arena, &s->ops, op);
  return true;
}

/* x of each element of the loop, computed before it; NULL: it cannot be. */
static FlValue *before_loop(Members *m, FlOp *loop, FlValue *x) {
  Slice s = {.loop = loop};
  if (x->type.rank || x->type.depth || !add_to(m, &s, x) || !s.ops.n) return NULL;
  FlBuilder b = fl_opt_before(loop);
  FlType1 type = fl_t_array(x->type.dtype, 1), index = fl_t_scalar(FL_I64);
  b.span = x->op->span;
  FlOp *map = fl_ir_op(&b, FL_OP_MAP, 1, loop->args, 1, &type, 1);
  FlRegion *body = fl_ir_region(&b, map, 0, 1, &index);
  FlBuilder in = {.module = b.module, .func = b.func, .region = body, .span = b.span};
  FlSubst subst = {0};
  fl_subst_set(&subst, loop->regions[0]->params[0], body->params[0]);
  for (int i = 0; i < s.ops.n; i++) {
    const FlOp *op = s.ops.at[i];
    FlType1 *types = FL_NEW_ARRAY(m->arena, FlType1, op->n_results);
    for (int k = 0; k < op->n_results; k++) types[k] = op->results[k]->type;
    in.span = op->span;
    FlOp *copy = fl_ir_op(&in, op->code, op->n_args, op->args, op->n_results, types, 0);
    copy->attrs = op->attrs;
    fl_subst_args(&subst, copy);
    for (int k = 0; k < op->n_results; k++) fl_subst_set(&subst, op->results[k], copy->results[k]);
  }
  FlValue *value = fl_subst_get(&subst, x);
  fl_ir_yield(body, b.module, 1, &value);
  fl_subst_reset(&subst);
  return map->results[0];
}

/* The array that has x at the index of each element; NULL: there is none. */
static FlValue *values_of(Members *m, FlOp *loop, FlValue *x) {
  const FlOp *own = x->op;
  bool column =
      is_proven(own) && own->args[1] == loop->regions[0]->params[0] && is_column(own->args[0], loop);
  return column ? own->args[0] : before_loop(m, loop, x);
}

/* The set stands right behind its column: what reads files asks what is there before. */
static FlValue *mask_of(Members *m, FlOp *loop, FlValue *values, FlValue *list) {
  for (int i = 0; i < m->made.n; i++) {
    Member *old = &m->made.at[i];
    if (old->region == loop->parent && old->values == values && old->list == list) return old->mask;
  }
  bool here = list->op && list->op->parent == loop->parent;
  FlBuilder b = fl_opt_before(here ? list->op->next : loop->parent->first);
  FlType1 set_type = fl_t_array(FL_I64, 1), mask_type = fl_t_array(FL_BOOL, 1);
  b.span = loop->span;
  FlOp *set = fl_ir_op(&b, FL_OP_KEY_SET, 1, &list, 1, &set_type, 0);
  b = fl_opt_before(loop);
  FlOp *in = fl_ir_op(&b, FL_OP_IN_KEYS, 3, (FlValue *[]){set->results[0], values, list}, 1, &mask_type, 0);
  set->attrs.i = in->attrs.i = 2;
  fl_ir_set_columns(b.module->arena, set, 1, &(FlColumnAttr){0});
  fl_ir_set_columns(b.module->arena, in, 1, &(FlColumnAttr){0});
  fl_vec_push(m->arena, &m->made, ((Member){loop->parent, values, list, in->results[0]}));
  return in->results[0];
}

/* A few constants are compared one by one: the value in place of the REDUCE; NULL: it asks something else. */
static FlValue *among_few(FlOp *any) {
  enum { FEW = 12 };
  FlValue *x, *list = list_of(any, &x), *is = NULL;
  const FlOp *array = list ? list->op : NULL;
  if (!array || array->code != FL_OP_ARRAY || array->n_args < 1 || array->n_args > FEW) return NULL;
  for (int i = 0; i < array->n_args; i++)
    if (!array->args[i]->op || array->args[i]->op->code != FL_OP_CONST) return NULL;
  FlBuilder b = fl_opt_before(any);
  for (int i = 0; i < array->n_args; i++) {
    FlValue *one = fl_ir_binary(&b, FL_OP_EQ, x, array->args[i]);
    is = is ? fl_ir_binary(&b, FL_OP_OR, is, one) : one;
  }
  return is;
}

static void look_in(Members *m, FlOp *loop, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    FlValue *x, *few = op->code == FL_OP_REDUCE ? among_few(op) : NULL;
    if (few) {
      fl_ir_replace_in(loop->regions[0], op->results[0], few);
      fl_ir_remove(op);
      continue;
    }
    FlValue *list = op->code == FL_OP_REDUCE ? asked_of(op, loop, &x) : NULL;
    FlValue *values = list ? values_of(m, loop, x) : NULL;
    for (int i = 0; !values && i < op->n_regions; i++) look_in(m, loop, op->regions[i]);
    if (!values) continue;
    FlValue *mask = mask_of(m, loop, values, list);
    FlBuilder b = fl_opt_before(op);
    FlValue *is = fl_ir_load(&b, mask, 1, loop->regions[0]->params, true);
    is->op->attrs.i = is_proven(x->op) && x->op->args[0] == values ? x->op->attrs.i : 2;
    fl_ir_replace_in(loop->regions[0], op->results[0], is);
    fl_ir_remove(op);
  }
}

static void visit(Members *m, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    bool loop = fl_opt_is_loop(op) && op->code != FL_OP_SCAN && fl_ir_is_kernel(op->regions[0]);
    if (loop && op->n_args == 1 && op->regions[0]->n_params == 1) look_in(m, op, op->regions[0]);
    for (int i = 0; op->code == FL_OP_IF && i < op->n_regions; i++) visit(m, op->regions[i]);
  }
}

void fl_opt_members(FlModule *module) {
  Members m = {.arena = fl_arena_new()};
  for (FlFunc *f = module->first; f; f = f->next) visit(&m, f->body);
  fl_arena_free(m.arena);
}
