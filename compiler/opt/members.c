/* members.c: `x in column` for rows of an array is looked up, not compared with each element of the column.
 *
 *   %m = map %n {                                   %s = key_set<i=2> %c
 *     %x = load %a, %i                              %q = in_keys<i=2> %s, %a, %c
 *     %r = reduce any %k { %x == %c[j] }    ->      %m = map %n {
 *     yield %r }                                      %r = load %q, %i
 *                                                     yield %r }
 *
 * In: loops whose elements compare one of an array, at their own index, with all of another array; not in
 * rounds of other loops, which may be few. With a few constants, as of `x in ["a", "b"]`, each is compared by
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

/* The column among whose elements the REDUCE looks for what *own_load has; NULL: it does something else. */
static FlValue *asked_of(const FlOp *any, const FlOp *loop, const FlOp **own_load) {
  FlValue *x, *list = list_of(any, &x);
  const FlOp *own = list ? x->op : NULL;
  if (!list || !is_column(list, loop) || (list->op && list->op->code == FL_OP_ARRAY)) return NULL;
  if (!is_proven(own) || own->args[1] != loop->regions[0]->params[0] || !is_column(own->args[0], loop))
    return NULL;
  *own_load = own;
  return list;
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
    const FlOp *own;
    FlValue *few = op->code == FL_OP_REDUCE ? among_few(op) : NULL;
    if (few) {
      fl_ir_replace_in(loop->regions[0], op->results[0], few);
      fl_ir_remove(op);
      continue;
    }
    FlValue *list = op->code == FL_OP_REDUCE ? asked_of(op, loop, &own) : NULL;
    for (int i = 0; !list && i < op->n_regions; i++) look_in(m, loop, op->regions[i]);
    if (!list) continue;
    FlValue *mask = mask_of(m, loop, own->args[0], list);
    FlBuilder b = fl_opt_before(op);
    FlValue *is = fl_ir_load(&b, mask, 1, loop->regions[0]->params, true);
    is->op->attrs.i = own->attrs.i;
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
