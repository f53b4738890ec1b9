/* budget.c: which calls of functions become part of the caller, and which call an instance that all share.
 *
 * In: a call of a plain function with the values of its parameters. Out: its value. A body is elaborated anew
 * for each call, which knows most: sizes, constants, lambdas. Functions that call functions twice would so be
 * elaborated 2^depth times, and a large one once a line. So each function of the IR has a budget of values
 * for calls of what it called before; a call beyond it is a call of an instance (instance.c), which is made
 * once.
 *
 * What always holds: results have the same bits either way. Only calls that could not know more when
 * elaborated here are shared: of scalars and arrays that are no constants a type or a size could depend on,
 * with one scalar or array as the result, whose size, in a loop, is not asked for. Where an instance cannot
 * be made (it has errors that the body here has not), the body is elaborated here. */
#include "sema/call.h"

enum {
  SMALL = 40,           /* values of a function that always becomes part of the caller */
  BUDGET = 20000,       /* values of repeated calls, of the script, a stage or a test */
  SHARED_BUDGET = 1000, /* of an instance */
  LOOP_BUDGET = 100000  /* within loops, that are no kernels when they call an instance */
};

/* What calls of a function with like arguments cost, in one function of the IR. */
struct FlSpent {
  int n;
  const FlType **types;
  uint32_t values;
  bool sharable;
  FlSpent *next;
};

static bool is_plain(const FlType *t) {
  return (t->kind == FL_TY_SCALAR || t->kind == FL_TY_ARRAY) && t->dtype != FL_CATEGORY &&
         t->dtype != FL_FILE;
}

/* Nothing that is known when compiling is in it, but floats, on which no type depends. */
static bool is_unknown(FlVal v) {
  if (!is_plain(v.type) || v.fn || v.fail || v.stretch) return false;
  if (v.spelling && v.type->dtype == FL_TEXT) return false; /* of a file */
  for (int i = 0; i < v.type->n_parts; i++) {
    const FlOp *op = v.parts[i]->op;
    if (op && op->code == FL_OP_CONST && !fl_ir_is_float(v.parts[i]->type.dtype)) return false;
  }
  return true;
}

static bool may_share(FlSema *s, const FlStmt *decl, const FlVal *values) {
  if (decl->kind != FL_STMT_FN || s->deriving || s->agg || s->by_element) return false;
  for (int i = 0; i < decl->fn.params.n; i++)
    if (!is_unknown(values[i]) || (s->in_kernel && values[i].type->kind != FL_TY_SCALAR)) return false;
  return true;
}

static FlSpent *find_spent(FlSema *s, const FlStmt *decl, const FlVal *values) {
  if (!s->frame->spent) s->frame->spent = fl_map_make(s->arena);
  int n = decl->fn.params.n;
  for (FlSpent *c = fl_map_get(s->frame->spent, decl); c; c = c->next) {
    bool same = true;
    for (int i = 0; i < n && same; i++) same = c->types[i] == values[i].type;
    if (same) return c;
  }
  FlSpent *c = FL_NEW(s->arena, FlSpent);
  c->n = n;
  c->types = FL_NEW_ARRAY(s->arena, const FlType *, n + 1);
  for (int i = 0; i < n; i++) c->types[i] = values[i].type;
  c->next = fl_map_get(s->frame->spent, decl);
  fl_map_set(s->frame->spent, decl, c);
  return c;
}

static bool is_beyond(const FlSema *s, const FlStmt *decl, const FlSpent *c) {
  if (s->frame->shared && fl_map_get(s->shared, decl)) return true;
  if (!c->sharable || c->values < SMALL) return false;
  uint32_t budget = s->in_kernel ? LOOP_BUDGET : s->frame->shared ? SHARED_BUDGET : BUDGET;
  return s->frame->n_spent + c->values > budget;
}

/* The call of an instance; an error without a message: there can be none. */
static FlVal call_shared(FlSema *s, const FlBinding *fn, const FlVal *values, const FlSpan *spans,
                         FlSpan span) {
  int n_diags = s->sink->diags.n, n_errors = s->sink->n_errors, n_raised = s->sink->n_raised;
  FlVal *own = fl_arena_copy(s->arena, values, sizeof *own * (size_t)(fn->decl->fn.params.n + 1));
  int in_kernel = s->in_kernel;
  FlSemaMark mark = fl_sema_mark(s);
  s->in_kernel = 0;
  FlVal v = fl_call_instance(s, fn, own, spans, span);
  s->in_kernel = in_kernel;
  if (s->sink->n_raised == n_raised) {
    fl_map_set(s->shared, fn->decl, (void *)fn);
    return v;
  }
  s->sink->diags.n = n_diags;
  s->sink->n_errors = n_errors;
  s->sink->n_raised = n_raised;
  fl_sema_take_back(s, mark);
  return fl_val_error(s);
}

FlVal fl_call_within_budget(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span,
                            FlCallBody *body) {
  if (!may_share(s, fn->decl, values)) return body(s, fn, values, spans, span);
  FlSpent *c = find_spent(s, fn->decl, values);
  if (is_beyond(s, fn->decl, c)) {
    FlVal v = call_shared(s, fn, values, spans, span);
    if (!fl_val_bad(v)) return v;
    c->sharable = false;
  }
  FlFrame *frame = s->frame;
  uint32_t before = frame->func->next_id;
  bool again = c->values > 0;
  FlVal v = body(s, fn, values, spans, span);
  uint32_t cost = frame->func->next_id - before;
  if (again) frame->n_spent += cost;
  else c->sharable = is_plain(v.type) && !v.fn && !v.fail && !v.stretch;
  if (s->in_kernel && v.type->kind != FL_TY_SCALAR) c->sharable = false;
  c->values = cost + 1;
  return v;
}
