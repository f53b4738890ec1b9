/* ir.c: making modules, functions, regions and ops, and editing them. See ir.h for what always holds. */
#include "ir/ir_internal.h"

#include <stdlib.h>

/* ---- making ---- */

FlModule *fl_ir_module_make(FlArena *arena, const char *name) {
  FlModule *m = FL_NEW(arena, FlModule);
  m->arena = arena;
  m->name = fl_arena_strndup(arena, name, strlen(name));
  m->doc = "";
  return m;
}

FlFunc *fl_ir_func_make(FlModule *m, const char *name, FlFuncKind kind, FlSpan span) {
  FlFunc *f = FL_NEW(m->arena, FlFunc);
  f->callee = f->name = fl_arena_strndup(m->arena, name, strlen(name));
  f->kind = kind;
  f->span = span;
  f->module = m;
  f->body = FL_NEW(m->arena, FlRegion);
  f->body->func = f;
  if (m->last) m->last->next = f;
  else m->first = f;
  m->last = f;
  if (kind == FL_FUNC_MAIN) m->main = f;
  return f;
}

FlValue *fl_ir_value_make(FlFunc *f, FlType1 type, FlOp *op, FlRegion *region, int index) {
  FlValue *v = FL_NEW(f->module->arena, FlValue);
  *v = (FlValue){type, f->next_id++, op, region, index, NULL};
  return v;
}

FlValue *fl_ir_param(FlRegion *r, FlType1 type) {
  int n = r->n_params;
  if ((n & (n - 1)) == 0) { /* full at 0 and at each power of two */
    FlValue **grown = FL_NEW_ARRAY(r->func->module->arena, FlValue *, n ? n * 2 : 1);
    if (n) memcpy(grown, r->params, (size_t)n * sizeof *grown);
    r->params = grown;
  }
  FlValue *v = fl_ir_value_make(r->func, type, NULL, r, n);
  r->params[r->n_params++] = v;
  return v;
}

FlOp *fl_ir_op(FlBuilder *b, FlOpcode code, int n_args, FlValue *const *args, int n_results,
               const FlType1 *types, int n_regions) {
  int n_lists = n_args + n_results + n_regions;
  FlOp *op = fl_arena_bytes(b->module->arena, sizeof(FlOp) + sizeof(void *) * (size_t)n_lists +
                                                  sizeof(FlValue) * (size_t)n_results);
  FlValue *values = (FlValue *)(op + 1); /* its results, and then its lists */
  memset(op, 0, sizeof *op);             /* the lists are all written */
  op->code = code;
  op->span = b->span;
  op->unit = b->unit;
  op->n_args = n_args;
  op->n_results = n_results;
  op->n_regions = n_regions;
  if (!op->span.call) op->span.call = b->call;
  op->args = (FlValue **)(values + n_results);
  for (int i = 0; i < n_args; i++) op->args[i] = args[i];
  op->results = op->args + n_args;
  if (n_regions) op->regions = memset(op->results + n_results, 0, sizeof *op->regions * (size_t)n_regions);
  fl_ir_link(b->region, op, b->before);
  for (int i = 0; i < n_results; i++) {
    values[i] = (FlValue){types[i], b->func->next_id++, op, b->region, i, NULL};
    op->results[i] = &values[i];
  }
  return op;
}

FlRegion *fl_ir_region(FlBuilder *b, FlOp *op, int index, int n_params, const FlType1 *types) {
  FlRegion *r = FL_NEW(b->module->arena, FlRegion);
  r->owner = op;
  r->func = b->func;
  op->regions[index] = r;
  for (int i = 0; i < n_params; i++) fl_ir_param(r, types[i]);
  return r;
}

void fl_ir_yield(FlRegion *r, FlModule *m, int n, FlValue *const *values) {
  r->n_yields = n;
  r->yields = fl_arena_copy(m->arena, values, (size_t)n * sizeof *values);
}

const char *fl_ir_arg_name(const FlFunc *f, int index) {
  for (int i = 0; i < f->n_arg_names; i++)
    if (f->arg_names[i].param == f->body->params[index]) return f->arg_names[i].name;
  return "";
}

/* ---- editing ---- */

void fl_ir_link(FlRegion *r, FlOp *op, FlOp *before) {
  op->parent = r;
  op->next = before;
  op->prev = before ? before->prev : r->last;
  if (op->prev) op->prev->next = op;
  else r->first = op;
  if (before) before->prev = op;
  else r->last = op;
}

void fl_ir_unlink(FlOp *op) {
  FlRegion *r = op->parent;
  if (op->prev) op->prev->next = op->next;
  else r->first = op->next;
  if (op->next) op->next->prev = op->prev;
  else r->last = op->prev;
  op->parent = NULL;
  op->prev = op->next = NULL;
}

void fl_ir_remove(FlOp *op) { fl_ir_unlink(op); }

void fl_ir_move_before(FlOp *op, FlOp *before) {
  if (op == before || op->next == before) return;
  fl_ir_unlink(op);
  fl_ir_link(before->parent, op, before);
  for (int i = 0; i < op->n_results; i++) op->results[i]->region = before->parent;
}

void fl_ir_replace_in(FlRegion *r, const FlValue *from, FlValue *to) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (op->args[i] == from) op->args[i] = to;
    for (int i = 0; i < op->n_regions; i++) fl_ir_replace_in(op->regions[i], from, to);
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] == from) r->yields[i] = to;
}

void fl_ir_replace(FlFunc *f, FlValue *from, FlValue *to) { fl_ir_replace_in(f->body, from, to); }

static bool is_seen_as(const FlValue *v, const FlSeen *x) {
  for (const FlSeen *s = v->seen; s; s = s->next)
    if (s->at.file == x->at.file && s->at.start == x->at.start && s->at.call == x->at.call &&
        s->let == x->let && s->column == x->column && s->part == x->part)
      return true;
  return false;
}

void fl_ir_see(FlArena *arena, FlValue *v, const FlSeen *seen) {
  if (is_seen_as(v, seen)) return;
  FlSeen *copy = FL_NEW(arena, FlSeen);
  *copy = *seen;
  copy->next = v->seen;
  v->seen = copy;
}

void fl_ir_see_instead(const FlValue *from, FlValue *to) {
  bool same = from->type.dtype == to->type.dtype && from->type.rank == to->type.rank && !to->type.depth;
  FlArena *arena = to->region->func->module->arena;
  for (const FlSeen *s = same ? from->seen : NULL; s; s = s->next) fl_ir_see(arena, to, s);
}

int fl_ir_depth(const FlRegion *r) {
  int n = 0;
  for (; r->owner; r = r->owner->parent) n++;
  return n;
}

bool fl_ir_sees(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_results; i++)
      if (op->results[i]->seen) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (fl_ir_sees(op->regions[i])) return true;
  }
  return false;
}

void fl_ir_unsee(FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_results; i++) op->results[i]->seen = NULL;
    for (int i = 0; i < op->n_regions; i++) fl_ir_unsee(op->regions[i]);
  }
}

static void transpose_factors(FlOp *product) {
  for (int i = 0; i < 2; i++) {
    for (FlOp *view; (view = product->args[i]->op) && view->code == FL_OP_TRANSPOSE;) {
      if (product->args[i]->type.rank != 2) break;
      product->args[i] = view->args[0];
      product->attrs.i ^= 1 << i;
    }
  }
}

void fl_ir_read_transposed(FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_MATMUL) transpose_factors(op);
    for (int i = 0; i < op->n_regions; i++) fl_ir_read_transposed(op->regions[i]);
  }
}

/* ---- copying ---- */

/* From values of the copied region to their copies; a dense table over the ids that the region defines. */
typedef struct Copy {
  FlBuilder *b;
  const FlFunc *source;
  uint32_t lo, hi; /* ids in [lo, hi) */
  FlValue **to;
  uint32_t call; /* the copies are within it; 0: they stay in the same function */
  int depth;     /* of the call */
} Copy;

static void span_ids(const FlRegion *r, uint32_t *lo, uint32_t *hi) {
  for (int i = 0; i < r->n_params; i++) {
    uint32_t id = r->params[i]->id;
    if (id < *lo) *lo = id;
    if (id >= *hi) *hi = id + 1;
  }
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_results; i++) {
      uint32_t id = op->results[i]->id;
      if (id < *lo) *lo = id;
      if (id >= *hi) *hi = id + 1;
    }
    for (int i = 0; i < op->n_regions; i++) span_ids(op->regions[i], lo, hi);
  }
}

static FlValue *copied(const Copy *c, FlValue *v) {
  if (v->region->func == c->source && v->id >= c->lo && v->id < c->hi && c->to[v->id - c->lo])
    return c->to[v->id - c->lo];
  return v;
}

static void set_copy(Copy *c, const FlValue *from, FlValue *to) { c->to[from->id - c->lo] = to; }

static void copy_ops(Copy *c, FlRegion *into, FlOp *before, const FlRegion *from);

static FlSpan within(const Copy *c, FlSpan span) {
  span.call = fl_sources_call_within(c->b->module->sources, span.call, c->call);
  return span;
}

/* What is called once more is seen at another place; copies within a function are of other rows, or rounds.
 */
static void see_within(const Copy *c, const FlValue *from, FlValue *to) {
  for (const FlSeen *s = c->call ? from->seen : NULL; s; s = s->next) {
    FlSeen seen = *s;
    seen.at = within(c, s->at);
    seen.depth += c->depth;
    fl_ir_see(c->b->module->arena, to, &seen);
  }
}

static void put_within(const Copy *c, FlOp *op) {
  op->span = within(c, op->span);
  if (!op->places) return;
  FlSpan *places = FL_NEW_ARRAY(c->b->module->arena, FlSpan, op->n_results);
  for (int i = 0; i < op->n_results; i++) places[i] = within(c, op->places[i]);
  op->places = places;
}

static void copy_region(Copy *c, FlOp *op, int index, const FlRegion *from) {
  FlRegion *r = fl_ir_region(c->b, op, index, 0, NULL);
  for (int i = 0; i < from->n_params; i++)
    set_copy(c, from->params[i], fl_ir_param(r, from->params[i]->type));
  copy_ops(c, r, NULL, from);
  r->n_yields = from->n_yields;
  r->yields = FL_NEW_ARRAY(c->b->module->arena, FlValue *, from->n_yields);
  for (int i = 0; i < from->n_yields; i++) r->yields[i] = copied(c, from->yields[i]);
}

static void copy_op(Copy *c, FlRegion *into, FlOp *before, const FlOp *op) {
  FlArena *arena = c->b->module->arena;
  FlOp *fresh = FL_NEW(arena, FlOp);
  *fresh = *op;
  if (c->call) put_within(c, fresh);
  fresh->args = FL_NEW_ARRAY(arena, FlValue *, op->n_args);
  for (int i = 0; i < op->n_args; i++) fresh->args[i] = copied(c, op->args[i]);
  fresh->results = FL_NEW_ARRAY(arena, FlValue *, op->n_results);
  fl_ir_link(into, fresh, before);
  for (int i = 0; i < op->n_results; i++) {
    fresh->results[i] = fl_ir_value_make(c->b->func, op->results[i]->type, fresh, into, i);
    set_copy(c, op->results[i], fresh->results[i]);
    see_within(c, op->results[i], fresh->results[i]);
  }
  if (op->n_regions) fresh->regions = FL_NEW_ARRAY(arena, FlRegion *, op->n_regions);
  for (int i = 0; i < op->n_regions; i++) copy_region(c, fresh, i, op->regions[i]);
}

static void copy_ops(Copy *c, FlRegion *into, FlOp *before, const FlRegion *from) {
  for (const FlOp *op = from->first; op; op = op->next) copy_op(c, into, before, op);
}

/* What is defined in a region, from the lowest to the highest id. */
static Copy start_copy(FlBuilder *b, const FlRegion *from, FlValue *const *args, uint32_t call) {
  Copy c = {b, from->func, UINT32_MAX, 0, NULL, call, call ? fl_ir_depth(b->region) : 0};
  span_ids(from, &c.lo, &c.hi);
  if (c.lo > c.hi) c.lo = c.hi;
  c.to = fl_piece_new((size_t)(c.hi - c.lo) + 1, sizeof *c.to);
  for (int i = 0; i < from->n_params; i++) {
    set_copy(&c, from->params[i], args[i]);
    see_within(&c, from->params[i], args[i]);
  }
  return c;
}

static void copy_body(FlBuilder *b, const FlRegion *from, FlValue *const *args, FlValue **yields_out,
                      uint32_t call) {
  Copy c = start_copy(b, from, args, call);
  copy_ops(&c, b->region, b->before, from);
  for (int i = 0; i < from->n_yields; i++) yields_out[i] = copied(&c, from->yields[i]);
  fl_piece_free(c.to);
}

/* Marks the values of `from` that op reads, also in its regions. */
static void mark_reads(const Copy *c, const FlRegion *from, const FlOp *op, bool *read);

static void mark_reads_of(const Copy *c, const FlRegion *from, const FlRegion *r, bool *read) {
  for (const FlOp *op = r->first; op; op = op->next) mark_reads(c, from, op, read);
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i]->region == from) read[r->yields[i]->id - c->lo] = true;
}

static void mark_reads(const Copy *c, const FlRegion *from, const FlOp *op, bool *read) {
  for (int i = 0; i < op->n_args; i++)
    if (op->args[i]->region == from) read[op->args[i]->id - c->lo] = true;
  for (int i = 0; i < op->n_regions; i++) mark_reads_of(c, from, op->regions[i], read);
}

static void read_copies(const Copy *c, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) op->args[i] = copied(c, op->args[i]);
    for (int i = 0; i < op->n_regions; i++) read_copies(c, op->regions[i]);
  }
  for (int i = 0; i < r->n_yields; i++) r->yields[i] = copied(c, r->yields[i]);
}

void fl_ir_inline_read(FlBuilder *b, const FlRegion *from, FlValue *const *args, FlRegion *reader) {
  Copy c = start_copy(b, from, args, 0);
  bool *read = fl_piece_new((size_t)(c.hi - c.lo) + 1, sizeof *read);
  mark_reads_of(&c, from, reader, read);
  for (const FlOp *op = from->last; op; op = op->prev)
    for (int i = 0; i < op->n_results; i++)
      if (read[op->results[i]->id - c.lo]) mark_reads(&c, from, op, read);
  for (const FlOp *op = from->first; op; op = op->next) {
    bool any = false;
    for (int i = 0; i < op->n_results; i++) any = any || read[op->results[i]->id - c.lo];
    if (any) copy_op(&c, b->region, b->before, op);
  }
  read_copies(&c, reader);
  fl_piece_free(read);
  fl_piece_free(c.to);
}

void fl_ir_inline_region(FlBuilder *b, const FlRegion *from, FlValue *const *args, FlValue **yields_out) {
  copy_body(b, from, args, yields_out, 0);
}

void fl_ir_inline_call(FlBuilder *b, const FlOp *call, FlValue **yields_out) {
  const FlFunc *f = call->attrs.func;
  FlSources *sources = b->module->sources;
  copy_body(b, f->body, call->args, yields_out,
            sources ? fl_sources_call(sources, call->span, f->callee) : 0);
}

const char *fl_ir_run_name(const FlOp *op) {
  const FlOp *mask = op->code == FL_OP_COMPRESS ? op->args[0]->op : NULL;
  bool asked = mask && mask->code == FL_OP_IN_KEYS && mask->attrs.i != 2;
  return asked ? "compress_asked" : fl_op_info[op->code].name;
}
