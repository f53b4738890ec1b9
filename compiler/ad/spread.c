/* spread.c: a FOR or WHILE in a loop over elements becomes one of host code, each of whose rounds is a loop
 * over the elements.
 *
 * In: a loop over elements with the FOR or WHILE directly in it. Out: before the loop, the FOR or WHILE with
 * arrays in place of what it handed on; in the loop, reads of what these are at the end. An element whose
 * rounds have ended hands its values on as they are. */
#include "ad/normalize.h"
#include "ad/rules/rules.h"

typedef struct Spread {
  FlNorm *p;
  FlOp *loop;
  int n;       /* how many values are handed on */
  int n_sizes; /* of the elements */
  FlValue *const *sizes, **start;
  FlNormSaved kept;
  FlValue *lo, *count; /* FOR: the first position where it is one for all, else NULL; the most rounds */
} Spread;

static FlValue *array_of(const Spread *s, const FlValue *v) {
  for (int i = 0; i < s->kept.of.n; i++)
    if (s->kept.of.at[i] == v) return s->kept.arrays[i];
  return NULL;
}

/* How many rounds an element has. */
static FlValue *rounds_of(FlBuilder *b, FlValue *const *index, void *env) {
  const Spread *s = env;
  FlValue *lo = fl_ir_load(b, array_of(s, s->loop->args[0]), s->n_sizes, index, true);
  FlValue *hi = fl_ir_load(b, array_of(s, s->loop->args[1]), s->n_sizes, index, true);
  return fl_ir_binary(b, FL_OP_WRAP_SUB, hi, lo);
}

/* A frame in a loop over the elements, with what an element hands on. */
static FlAdFrame at_element(const Spread *s, const FlAdLoop *m, FlBuilder b, FlValue *const *arrays) {
  FlAdFrame f = fl_ad_frame(s->p->ad, NULL, b, false, NULL);
  FlRegion *r = s->loop->regions[0], *around = s->p->top->regions[0];
  FlValue *const *index = m->region->params;
  for (int i = 0; i < s->n_sizes; i++) fl_ad_put(&f, around->params[i], index[i]);
  fl_norm_put_kept(s->p, &f, &s->kept, index);
  int skip = r->n_params - s->n;
  for (int i = 0; i < s->n; i++)
    fl_ad_put(&f, r->params[skip + i], fl_ir_load(&f.b, arrays[i], s->n_sizes, index, true));
  return f;
}

/* The yields of the round where c holds, else `no`, and what is handed on as it is. */
static void round_where(const Spread *s, FlAdFrame *f, FlValue *c, FlValue *no, FlValue **out) {
  FlRegion *r = s->loop->regions[0];
  FlArena *arena = s->p->ad->arena;
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, r->n_yields + 1);
  int skip = r->n_params - s->n, says = r->n_yields - s->n;
  for (int i = 0; i < r->n_yields; i++) types[i] = r->yields[i]->type;
  FlOp *choice = fl_ir_op(&f->b, FL_OP_IF, 1, &c, r->n_yields, types, 2);
  FlBuilder b = fl_norm_into(s->p, fl_ir_region(&f->b, choice, 0, 0, NULL));
  FlAdFrame in = fl_ad_frame(s->p->ad, f, b, false, NULL);
  for (int i = 0; i < r->n_yields; i++) out[i] = fl_norm_pull(&in, s->p->top, r->yields[i]);
  fl_ir_yield(choice->regions[0], b.module, r->n_yields, out);
  fl_ir_region(&f->b, choice, 1, 0, NULL);
  if (says) out[0] = no;
  for (int i = 0; i < s->n; i++) out[says + i] = fl_ad_at(f, r->params[skip + i]);
  fl_ir_yield(choice->regions[1], b.module, r->n_yields, out);
  for (int i = 0; i < r->n_yields; i++) out[i] = choice->results[i];
}

static FlValue **spread_for(Spread *s) {
  FlBuilder *b = &s->p->b;
  FlArena *arena = s->p->ad->arena;
  FlRegion *source = s->loop->regions[0];
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, s->n + 2), **out = FL_NEW_ARRAY(arena, FlValue *, s->n + 1);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, s->n + 1);
  args[0] = s->lo ? s->lo : fl_ad_i64(b, 0);
  args[1] = s->count;
  types[0] = fl_t_scalar(FL_I64);
  for (int i = 0; i < s->n; i++) {
    args[2 + i] = s->start[i];
    types[1 + i] = s->start[i]->type;
  }
  FlOp *op = fl_ir_op(b, FL_OP_FOR, s->n + 2, args, s->n, types + 1, 1);
  FlRegion *r = fl_ir_region(b, op, 0, s->n + 1, types);
  FlBuilder in = fl_norm_into(s->p, r);
  FlAdLoop m = fl_norm_map(s->p, &in, s->n_sizes, s->sizes);
  FlAdFrame f = at_element(s, &m, in, r->params + 1);
  if (s->lo) {
    fl_ad_put(&f, source->params[0], r->params[0]);
    for (int i = 0; i < s->n; i++) out[i] = fl_norm_pull(&f, s->p->top, source->yields[i]);
  } else {
    FlValue *lo = fl_ad_at(&f, s->loop->args[0]);
    FlValue *own = fl_ir_binary(&f.b, FL_OP_WRAP_SUB, fl_ad_at(&f, s->loop->args[1]), lo);
    fl_ad_put(&f, source->params[0], fl_ir_binary(&f.b, FL_OP_WRAP_ADD, lo, r->params[0]));
    round_where(s, &f, fl_ir_binary(&f.b, FL_OP_LT, r->params[0], own), NULL, out);
  }
  fl_ad_loop_end(&in, &m, s->n, out);
  fl_ir_yield(r, b->module, s->n, m.op->results);
  return op->results;
}

/* Behind what is handed on stands whether the element goes on. */
static FlValue **spread_while(Spread *s) {
  FlBuilder *b = &s->p->b;
  FlArena *arena = s->p->ad->arena;
  int n = s->n;
  FlValue **args = FL_NEW_ARRAY(arena, FlValue *, n + 2), **out = FL_NEW_ARRAY(arena, FlValue *, n + 2);
  FlType1 *types = FL_NEW_ARRAY(arena, FlType1, n + 1);
  FlAdLoop all = fl_ad_loop(b, FL_OP_MAP, s->n_sizes, s->sizes);
  FlValue *yes = fl_ir_const_i(b, FL_BOOL, 1);
  fl_ad_loop_end(b, &all, 1, &yes);
  for (int i = 0; i < n; i++) args[i] = s->start[i];
  args[n] = all.op->results[0];
  for (int i = 0; i <= n; i++) types[i] = args[i]->type;
  FlOp *op = fl_ir_op(b, FL_OP_WHILE, n + 1, args, n + 1, types, 1);
  FlRegion *r = fl_ir_region(b, op, 0, n + 1, types);
  FlBuilder in = fl_norm_into(s->p, r);
  FlAdLoop m = fl_norm_map(s->p, &in, s->n_sizes, s->sizes);
  FlAdFrame f = at_element(s, &m, in, r->params);
  FlValue *on = fl_ir_load(&f.b, r->params[n], s->n_sizes, m.region->params, true);
  round_where(s, &f, on, on, out);
  fl_ad_loop_end(&in, &m, n + 1, out);
  FlAdLoop any = fl_ad_loop(&in, FL_OP_REDUCE, s->n_sizes, s->sizes);
  FlValue *one = fl_ir_load(&in, m.op->results[0], s->n_sizes, any.region->params, true);
  fl_ad_loop_end(&in, &any, 1, &one);
  fl_ir_set_reduction(any.op, FL_RED_ANY, false);
  out[0] = any.op->results[0];
  for (int i = 0; i < n; i++) out[1 + i] = m.op->results[1 + i];
  out[n + 1] = m.op->results[0];
  fl_ir_yield(r, b->module, n + 2, out);
  return op->results;
}

void fl_norm_spread(FlNorm *p, FlOp *loop) {
  bool counted = loop->code == FL_OP_FOR;
  int skip = counted ? 2 : 0;
  Spread s = {.p = p, .loop = loop, .n = loop->n_results, .n_sizes = p->top->n_args, .sizes = p->top->args};
  bool fixed =
      counted && fl_ad_size_is_fixed(p->top, loop->args[0]) && fl_ad_size_is_fixed(p->top, loop->args[1]);
  fl_norm_find_needed(p, &s.kept, loop);
  for (int i = fixed ? 2 : 0; i < loop->n_args; i++) fl_norm_need(p, &s.kept, loop->args[i]);
  fl_norm_keep(p, &s.kept);
  s.start = FL_NEW_ARRAY(p->ad->arena, FlValue *, s.n + 1);
  for (int i = 0; i < s.n; i++) s.start[i] = array_of(&s, loop->args[skip + i]);
  if (fixed) {
    FlAdFrame host = fl_ad_frame(p->ad, NULL, p->b, false, NULL);
    s.lo = fl_norm_pull(&host, p->top, loop->args[0]);
    s.count = fl_norm_pull(&host, p->top, loop->args[1]);
  } else if (counted) {
    s.count = fl_norm_most(p, &p->b, s.n_sizes, s.sizes, rounds_of, &s);
  }
  FlValue **results = counted ? spread_for(&s) : spread_while(&s);
  FlRegion *around = p->top->regions[0];
  FlBuilder b = fl_norm_before(p, loop);
  for (int i = 0; i < s.n; i++) {
    FlValue *v = fl_ir_load(&b, results[i], s.n_sizes, around->params, true);
    fl_ir_replace_in(around, loop->results[i], v);
  }
  fl_ir_remove(loop);
}
