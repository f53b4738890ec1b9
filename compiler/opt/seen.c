/* seen.c: values are seen as columns (FlSeen) where they are made once in a run at most: in the script, and
 * in stages that it calls at one place; but not in loops. So what a record says of a place is what that gave,
 * and nothing that runs often asks.
 *
 * In: a module behind all passes. Out: values that are seen as less. What always holds: of functions that
 * stand at one place of the source, as those for several types do, none is seen; nor is what a branch or loop
 * makes of values from outside, which may never come to it. */
#include "opt/opt_internal.h"

/* Where a function is called. */
typedef struct Called {
  int n;
  bool in_loop;
  const FlFunc *by;
} Called;

typedef struct Once {
  FlArena *arena;
  const FlModule *module;
  FlMap *called; /* FlFunc -> Called */
  FlMap *texts;  /* by interned place of a function: the first function there */
  FlMap *again;  /* functions of a place that has several */
} Once;

static void count_calls(Once *o, const FlFunc *f, const FlRegion *r, bool in_loop) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->attrs.func) {
      Called *c = fl_map_get(o->called, op->attrs.func);
      if (!c) fl_map_set(o->called, op->attrs.func, c = FL_NEW(o->arena, Called));
      *c = (Called){c->n + 1, in_loop || op->code != FL_OP_STAGE, f};
    }
    for (int i = 0; i < op->n_regions; i++)
      count_calls(o, f, op->regions[i], in_loop || op->code != FL_OP_IF);
  }
}

static void note_place(Once *o, FlInterner *places, const FlFunc *f) {
  const uint32_t place[] = {f->span.file, f->span.start};
  const char *key = fl_intern(places, (const char *)place, sizeof place);
  const FlFunc *first = fl_map_get(o->texts, key);
  if (!first) {
    fl_map_set(o->texts, key, (void *)(uintptr_t)f);
    return;
  }
  fl_map_set(o->again, f, (void *)(uintptr_t)f);
  fl_map_set(o->again, first, (void *)(uintptr_t)f);
}

/* The way up ends: who calls itself is marked as such. */
static bool runs_once(const Once *o, const FlFunc *f) {
  while (f != o->module->main) {
    const Called *c = fl_map_get(o->called, f);
    if (!c || c->n != 1 || c->in_loop || f->recursive || fl_map_get(o->again, f)) return false;
    f = c->by;
  }
  return true;
}

/* Who makes `v` runs only where the branch `r` of `op` is taken, or says by its first result whether the
 * others are any: so it is seen there. */
static bool is_of_branch(const FlOp *op, const FlRegion *r, const FlValue *v) {
  const FlOp *first = op->args[0]->op;
  bool says = v->op && v->op == first && v->op->results[0] == op->args[0] && r == op->regions[0];
  return v->op && (v->region == r || (says && fl_op_info[v->op->code].op_class == FL_CLASS_RUNTIME));
}

/* What a branch gives is seen where that is made: operators of the runtime say it at no cost. */
static void see_in_branches(FlArena *arena, FlOp *op) {
  for (int k = 0; k < op->n_results; k++) {
    FlValue *v = op->results[k];
    if (!v->seen || !is_of_branch(op, op->regions[0], op->regions[0]->yields[k]) ||
        !is_of_branch(op, op->regions[1], op->regions[1]->yields[k]))
      continue;
    for (int i = 0; i < 2; i++) {
      FlValue *made = op->regions[i]->yields[k];
      for (const FlSeen *s = v->seen; s; s = s->next) {
        FlSeen seen = *s;
        seen.if_first = made->region != op->regions[i];
        fl_ir_see(arena, made, &seen);
      }
    }
    v->seen = NULL;
  }
}

/* Of the value, which is made at that depth: not of steps that are further inside. */
static void see_from(FlArena *arena, FlValue *v, int depth) {
  const FlSeen *all = v->seen, *inner = all;
  while (inner && inner->depth <= depth) inner = inner->next;
  if (!inner) return;
  v->seen = NULL;
  for (; all; all = all->next)
    if (all->depth <= depth) fl_ir_see(arena, v, all);
}

static void see_region(FlArena *arena, FlRegion *r, int depth) {
  for (FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_results; i++) see_from(arena, op->results[i], depth);
    bool branch = op->code == FL_OP_IF;
    if (branch) see_in_branches(arena, op);
    for (int i = 0; i < op->n_regions; i++) {
      if (branch) see_region(arena, op->regions[i], depth + 1);
      else fl_ir_unsee(op->regions[i]);
    }
  }
}

void fl_opt_seen(FlModule *m) {
  Once o = {.arena = fl_arena_new(), .module = m};
  FlInterner *places = fl_interner_make(o.arena);
  o.called = fl_map_make(o.arena);
  o.texts = fl_map_make(o.arena);
  o.again = fl_map_make(o.arena);
  for (const FlFunc *f = m->first; f; f = f->next) {
    count_calls(&o, f, f->body, false);
    note_place(&o, places, f);
  }
  for (FlFunc *f = m->first; f; f = f->next) {
    if (runs_once(&o, f)) {
      for (int i = 0; i < f->body->n_params; i++) see_from(m->arena, f->body->params[i], 0);
      see_region(m->arena, f->body, 0);
      continue;
    }
    for (int i = 0; i < f->body->n_params; i++) f->body->params[i]->seen = NULL;
    fl_ir_unsee(f->body);
  }
  fl_arena_free(o.arena);
}
