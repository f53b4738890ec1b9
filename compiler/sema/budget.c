/* budget.c: which calls of functions become part of the caller, and which call an instance that all share.
 *
 * In: a call of a plain function with the values of its parameters. Out: its value. A body is elaborated anew
 * for each call, which knows most: sizes, constants, lambdas. Functions that call functions twice would so be
 * elaborated 2^depth times, and a large one once a line. So each function of the IR has a budget of values
 * for calls of what it called before; a call beyond it is a call of an instance (instance.c), which is made
 * once for the same types, functions and constants; a function that gets ever other constants has one that
 * takes them as arguments.
 *
 * What is only checked (tests, functions that nobody calls) has no budget: nobody runs it.
 *
 * What always holds: results have the same bits either way. Only calls that could not know more when
 * elaborated here are shared: of scalars, arrays, tuples of these and functions, with scalars, arrays or
 * tuples of these as the result, whose sizes, in a loop, are known there. Where an instance cannot be made
 * (it has errors that the body here has not), the body is elaborated here. What cannot be shared has a limit
 * with a message: it ends before the memory does. */
#include "sema/call.h"

enum {
  TINY = 10,            /* values of a function whose call takes as long as its body */
  SMALL = 40,           /* values of a function that always becomes part of the caller */
  BUDGET = 20000,       /* values of repeated calls, of the script, a stage or a test, or in a loop */
  SHARED_BUDGET = 1000, /* of an instance */
  MOST_CONSTANTS =
      64,            /* calls of one function that differ in more than types: then constants are arguments */
  FEW_CONSTANTS = 4, /* the same of what is only checked */
  MOST_ALIKE = 128,  /* such calls in all that are told apart */
  MOST_VALUES = 2000000 /* of repeated calls: some 2 GB */
};

/* What calls of a function with like arguments cost, in one function of the IR. */
struct FlSpent {
  int n;                  /* how many of this function came before */
  FlVal *values;          /* the arguments of the first of these calls */
  bool known;             /* constants are among what is alike */
  bool any;               /* functions are not: for all beyond a number, which are not shared */
  uint32_t cost;          /* of the last of them, and 1; 0: there was none */
  bool sharable, refused; /* known once one was elaborated; an instance could not be made */
  FlSpent *next;
};

/* Of which instances are parameters or results. */
static bool is_plain(const FlType *t) {
  if (t->kind == FL_TY_TUPLE) {
    for (int i = 0; i < t->n_fields; i++)
      if (!is_plain(t->fields[i].type)) return false;
    return true;
  }
  if (t->kind != FL_TY_SCALAR && t->kind != FL_TY_ARRAY) return false;
  return t->dtype != FL_CATEGORY && t->dtype != FL_FILE;
}

static bool is_argument(FlVal v) {
  if (v.type->kind == FL_TY_FUNC) return v.fn && !v.fn->derived && !v.fn->agg;
  if (!is_plain(v.type) || v.fail || v.stretch) return false;
  return !(v.spelling && v.type->dtype == FL_TEXT); /* of a file */
}

static bool may_share(FlSema *s, const FlStmt *decl, const FlVal *values) {
  if (decl->kind != FL_STMT_FN || s->deriving || s->agg || s->by_element) return false;
  for (int i = 0; i < decl->fn.params.n; i++)
    if (!is_argument(values[i])) return false;
  return true;
}

static bool is_alike(const FlSpent *c, const FlVal *values, int n) {
  for (int i = 0; i < n; i++)
    if (c->values[i].type != values[i].type ||
        (!c->any && !fl_call_same_function(c->values[i].fn, values[i].fn)) ||
        (c->known && !fl_call_same_constants(c->values[i], values[i])))
      return false;
  return true;
}

static FlSpent *find_spent(FlSema *s, const FlStmt *decl, const FlVal *values) {
  if (!s->tried && !s->frame->spent) s->frame->spent = fl_map_make(s->arena);
  FlMap *spent = s->tried ? s->tried : s->frame->spent;
  int n = decl->fn.params.n;
  FlSpent *first = fl_map_get(spent, decl);
  for (FlSpent *c = first; c; c = c->next)
    if (is_alike(c, values, n)) return c;
  FlSpent *c = FL_NEW(s->arena, FlSpent);
  c->n = first ? first->n + 1 : 0;
  c->values = fl_arena_copy(s->arena, values, sizeof *values * (size_t)(n + 1));
  c->known = c->n < (s->tried ? FEW_CONSTANTS : MOST_CONSTANTS);
  c->any = c->refused = c->n >= MOST_ALIKE;
  c->next = first;
  fl_map_set(spent, decl, c);
  return c;
}

static bool is_beyond(FlSema *s, const FlStmt *decl, const FlSpent *c) {
  if (c->refused) return false;
  if (s->frame->shared && fl_map_get(fl_call_sharing(s)->functions, decl)) return true;
  if (s->tried) return c->sharable && c->cost > TINY;
  if (!c->sharable || c->cost < SMALL) return false;
  uint32_t budget = s->frame->shared && !s->in_kernel ? SHARED_BUDGET : BUDGET;
  return s->frame->n_spent + c->cost > budget;
}

/* The call of an instance; an error without a message: there can be none. */
static FlVal call_shared(FlSema *s, const FlBinding *fn, const FlSpent *c, const FlVal *values,
                         const FlSpan *spans, FlSpan span) {
  int n_diags = s->sink->diags.n, n_errors = s->sink->n_errors, n_raised = s->sink->n_raised;
  FlVal *own = fl_arena_copy(s->arena, values, sizeof *own * (size_t)(fn->decl->fn.params.n + 1));
  FlSemaMark mark = fl_sema_mark(s);
  FlVal v = fl_call_shared(s, fn, own, spans, span, c->known);
  if (s->too_many_calls) return fl_val_error(s); /* as they would be here */
  if (s->sink->n_raised == n_raised) {
    if (fl_val_bad(v)) return v;
    fl_map_set(fl_call_sharing(s)->functions, fn->decl, (void *)fn);
    return v;
  }
  s->sink->diags.n = n_diags;
  s->sink->n_errors = n_errors;
  s->sink->n_raised = n_raised;
  fl_sema_take_back(s, mark);
  return fl_val_error(s);
}

static FlVal too_many(FlSema *s, const FlStmt *decl, FlSpan span) {
  if (s->too_many_calls && s->sink->n_errors) return fl_val_error(s);
  s->too_many_calls = true;
  FlDiag *d = fl_sema_report(s, FL_E0227, span,
                             "the calls of `%s` and of what calls it come to more than %d operations%s",
                             decl->fn.name.text, MOST_VALUES, s->deriving ? " within a derivative" : "");
  fl_diag_help(
      s->sink, d,
      "a function that calls another twice doubles what stands here: keep what a call gives in a `let`, "
      "and use its name");
  return fl_val_error(s);
}

FlVal fl_call_within_budget(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span,
                            FlCallBody *body) {
  FlFrame *frame = s->frame;
  FlSpent *c = find_spent(s, fn->decl, values);
  bool share = may_share(s, fn->decl, values), again = c->cost > 0;
  if (share && is_beyond(s, fn->decl, c)) {
    FlVal v = call_shared(s, fn, c, values, spans, span);
    if (!fl_val_bad(v) || s->too_many_calls) return v;
    c->refused = true;
  }
  if (again && s->n_repeated + c->cost > MOST_VALUES) return too_many(s, fn->decl, span);
  uint32_t before = frame->func->next_id, repeated = s->n_repeated;
  FlVal v = body(s, fn, values, spans, span);
  uint32_t cost = frame->func->next_id - before;
  if (again && share) frame->n_spent += cost;
  if (again && s->n_repeated < repeated + cost) s->n_repeated = repeated + cost;
  if (share) c->sharable = is_plain(v.type) && !v.fn && !v.fail && !v.stretch;
  c->cost = cost + 1;
  return v;
}
