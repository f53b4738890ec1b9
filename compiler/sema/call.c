/* call.c: calls of user functions, lambdas, stages and externs.
 *
 * In: a call. Out: its value. Always: a function's body is elaborated anew for each call, with what the call
 * brings, as long as that is not too much (budget.c); a stage, or a function that calls itself, becomes an IR
 * function of its own (instance.c). */
#include "sema/builtins/builtin.h"
#include "sema/builtins/derivative.h"
#include "sema/builtins/plot.h"
#include "sema/call.h"
#include "sema/choose.h"
#include "sema/expr.h"
#include "sema/forms.h"
#include "sema/habits.h"
#include "sema/lift.h"
#include "sema/scope.h"
#include "sema/type_expr.h"
#include "sema/uncalled.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"

static FlVal run_actual(FlSema *s, void *actual) { return fl_actual_value(s, actual, NULL); }
static FlVal run_null(FlSema *s, void *unused) {
  (void)unused;
  return (FlVal){.type = s->types->null};
}

FlVal fl_actual_value(FlSema *s, FlActual *a, const FlType *want) {
  if (a->only) {
    FlActual *only = a->only;
    FlVal condition = fl_actual_value(s, only, NULL);
    if (!fl_val_bad(condition) && condition.type->nullable)
      condition = fl_val_plain(s, condition); /* false underneath */
    FlVarList vars = {0};
    if (a->expr) fl_vars_of_expr(s, &vars, a->expr);
    a->only = NULL;
    FlVal v = fl_sema_choose(s, condition, only->span, &vars, (FlThunk){run_actual, a, a->span},
                             (FlThunk){run_null, NULL, a->span});
    a->expr = NULL;
    return a->value = v;
  }
  if (!a->expr) return a->groups ? a->value : fl_sema_refuse_groups(s, a->value, a->span, a->taker);
  a->value = fl_sema_expr_or_groups(s, a->expr, want);
  if (!a->groups) a->value = fl_sema_refuse_groups(s, a->value, a->span, a->taker);
  a->expr = NULL;
  if (a->value.type->kind == FL_TY_NONE)
    a->value = fl_sema_error(s, FL_E0309, a->span, "this gives no value");
  return a->value;
}

/* ---- which argument is which parameter ---- */

FlDiag *fl_sema_no_param(FlSema *s, const char *of, FlName name, int n, const char *const *known) {
  FlDiag *d = fl_sema_report(s, FL_E0209, name.span, "`%s` has no parameter `%s`", of, name.text);
  if (fl_habit_param(s, d, name, n, known)) return d;
  const char *near = fl_closest(name.text, known, n);
  if (near) {
    fl_diag_meant(s->sink, d, name.span, "", near);
    return d;
  }
  FlText1 list = {0};
  for (int k = 0; k < n; k++) fl_text_addf(&list, "%s%s", k ? ", " : "", known[k]);
  if (n) fl_diag_help(s->sink, d, n == 1 ? "its only parameter is %s" : "its parameters are %s", list.s);
  else fl_diag_help(s->sink, d, "its arguments have no names");
  if (!n) fl_habit_left_out(s, d, name);
  fl_text_reset(&list);
  return d;
}

/* No parameter of a function that a script declares has this name. */
static void no_such_param(FlSema *s, const FlStmt *decl, FlName name) {
  const FlFnParamList *params = &decl->fn.params;
  const char **known = FL_NEW_ARRAY(s->arena, const char *, params->n + 1);
  for (int i = 0; i < params->n; i++) known[i] = params->at[i].name.text;
  fl_sema_no_param(s, decl->fn.name.text, name, params->n, known);
}

/* How it is called: its parameters, those with a default with `=`. */
static void say_params(FlSema *s, FlDiag *d, const FlStmt *decl) {
  const FlFnParamList *params = &decl->fn.params;
  FlText1 list = {0};
  for (int p = 0; p < params->n; p++)
    fl_text_addf(&list, "%s%s%s", p ? ", " : "", params->at[p].name.text,
                 params->at[p].fallback ? " = .." : "");
  fl_diag_help(s->sink, d, "it is called as `%s(%s)`", decl->fn.name.text, list.s);
  fl_text_reset(&list);
}

bool fl_call_match(FlSema *s, const FlStmt *decl, int n, FlActual *args, FlActual **bound, FlSpan span) {
  const FlFnParamList *params = &decl->fn.params;
  int next = 0;
  bool ok = true;
  for (int i = 0; i < n; i++) {
    int k = -1;
    if (args[i].name.text) {
      for (int p = 0; p < params->n; p++)
        if (params->at[p].name.text == args[i].name.text) k = p;
      if (k < 0) {
        no_such_param(s, decl, args[i].name);
        ok = false;
        continue;
      }
    } else {
      while (next < params->n && bound[next]) next++;
      k = next;
      if (k >= params->n) {
        FlDiag *d =
            fl_sema_report(s, FL_E0210, args[i].span, "`%s` takes %d argument%s, and this is one more",
                           decl->fn.name.text, params->n, params->n == 1 ? "" : "s");
        fl_diag_note(s->sink, d, decl->fn.name.span, "it is declared here");
        return false;
      }
    }
    if (bound[k]) {
      fl_sema_error(s, FL_E0211, args[i].span, "the parameter `%s` is given twice", params->at[k].name.text);
      ok = false;
    }
    bound[k] = &args[i];
  }
  for (int p = 0; p < params->n && ok; p++)
    if (!bound[p] && !params->at[p].fallback) {
      FlDiag *d = fl_sema_report(s, FL_E0210, span, "`%s` needs an argument for `%s`", decl->fn.name.text,
                                 params->at[p].name.text);
      fl_diag_note(s->sink, d, params->at[p].span, "it is declared here, without a default");
      say_params(s, d, decl);
      ok = false;
    }
  return ok;
}

/* ---- recursion ---- */

/* A function, and those of its file that its body names; found once. Which of them reach themselves is found
 * for all that it reaches at once: those that reach each other (Tarjan, 1972). */
typedef struct FlCallees {
  FlVec(const FlStmt *) list;
  int number, low; /* when it was reached, 0: not yet; the first that it reaches and that is open */
  bool open, recursive;
} FlCallees;

typedef struct Names {
  FlSema *s;
  const FlFile *file;
  FlCallees *to;
} Names;

static bool add_callee(void *env, const FlExpr *e) {
  Names *n = env;
  if (e->kind != FL_EXPR_NAME) return true;
  const FlBinding *b = fl_scope_find_in(n->file->scope, e->name.text);
  if (!b || b->kind != FL_BIND_FN) return true;
  for (; b; b = b->form) fl_vec_push(n->s->arena, &n->to->list, b->decl);
  return true;
}

static FlCallees *callees_of(FlSema *s, const FlFile *file, const FlStmt *decl) {
  if (!s->callees) s->callees = fl_map_make(s->arena);
  FlCallees *c = fl_map_get(s->callees, decl);
  if (c) return c;
  c = FL_NEW(s->arena, FlCallees);
  FlWalker w = {&(Names){s, file, c}, add_callee, NULL};
  if (decl->fn.body) fl_syntax_walk_expr(&w, decl->fn.body);
  fl_map_set(s->callees, decl, c);
  return c;
}

typedef struct Reached {
  FlSema *s;
  const FlFile *file;
  int n;
  FlVec(FlCallees *) open; /* a stack */
} Reached;

static FlCallees *reach(Reached *r, const FlStmt *decl) {
  FlCallees *c = callees_of(r->s, r->file, decl);
  if (c->number) return c;
  c->number = c->low = ++r->n;
  c->open = true;
  int at = r->open.n;
  fl_vec_push(r->s->arena, &r->open, c);
  for (int i = 0; i < c->list.n; i++) {
    const FlCallees *to = reach(r, c->list.at[i]);
    if (to == c) c->recursive = true;
    if (to->open && to->low < c->low) c->low = to->low;
  }
  if (c->low < c->number) return c;
  for (int i = at; i < r->open.n; i++) {
    r->open.at[i]->open = false;
    r->open.at[i]->recursive |= r->open.n - at > 1;
  }
  r->open.n = at;
  return c;
}

bool fl_call_is_recursive(FlSema *s, const FlBinding *fn) {
  return reach(&(Reached){.s = s, .file = fn->file}, fn->decl)->recursive;
}

/* ---- elaborating a body ---- */

FlCallPlace fl_call_go_into(FlSema *s, FlFile *file, const char *pure) {
  FlCallPlace p = {s->scope, s->file, s->pure, s->agg, s->loop_break, s->loop_skip, s->binding_signature};
  s->file = file;
  s->pure = pure;
  s->agg = NULL;
  s->loop_break = s->loop_skip = NULL;
  s->binding_signature = false;
  return p;
}

void fl_call_come_back(FlSema *s, FlCallPlace p) {
  s->scope = p.scope;
  s->file = p.file;
  s->pure = p.pure;
  s->agg = p.agg;
  s->loop_break = p.loop_break;
  s->loop_skip = p.loop_skip;
  s->binding_signature = p.signature;
}

/* What messages call an argument, or what a function gives: made once for each parameter or declaration, as
 * calls are many. */
static const char *called(FlSema *s, const void *key, const char *what, const char *name,
                          const FlStmt *decl) {
  const char *known = fl_map_get(s->called, key);
  if (known) return known;
  char *text = name ? fl_arena_printf(s->arena, "%s `%s` of `%s`", what, name, decl->fn.name.text)
                    : fl_arena_printf(s->arena, "%s of `%s`", what, decl->fn.name.text);
  fl_map_set(s->called, key, text);
  return text;
}

bool fl_call_bind_params(FlSema *s, const FlStmt *decl, FlVal *values, const FlSpan *spans) {
  const FlFnParamList *params = &decl->fn.params;
  int before = s->sink->n_raised;
  FlScope *scope = s->scope;
  FlBinding **made = FL_NEW_ARRAY(s->arena, FlBinding *, params->n + 1);
  for (int p = 0; p < params->n; p++) { /* values first, so that a size can be a parameter that comes later */
    const FlFnParam *param = &params->at[p];
    made[p] = fl_scope_bind(s, scope, FL_BIND_VALUE, param->name.text, param->name.span, values[p]);
    made[p]->used = true;
    made[p]->open = fl_val_bad(values[p]);
  }
  s->binding_signature = true;
  for (int p = 0; p < params->n; p++) {
    const FlFnParam *param = &params->at[p];
    made[p]->val.literal = FL_LIT_NONE,
    made[p]->val.exact = NULL; /* only what is written where it is used may take another type */
    if (made[p]->open && param->type) fl_names_bind_sizes(s, param->type);
    if (!param->type || made[p]->open) continue;
    const char *what = called(s, param, "the argument", param->name.text, decl);
    FlVal v = fl_bind_type(s, param->type, values[p], spans[p], what);
    v.literal = FL_LIT_NONE, v.exact = NULL;
    made[p]->val = v;
  }
  s->binding_signature = false;
  return s->sink->n_raised == before;
}

FlVal fl_call_run_body(FlSema *s, const FlStmt *decl) {
  fl_map_set(s->elaborated, decl, s->elaborated);
  const FlType *want = decl->fn.result ? fl_type_of_expr(s, decl->fn.result) : NULL;
  FlVal v = fl_sema_expr_or_groups(s, decl->fn.body, want);
  if (fl_val_bad(v)) return v;
  if (v.type->kind == FL_TY_NONE)
    return fl_sema_error(s, FL_E0309, decl->fn.body->span, "`%s` must end with the value that it gives",
                         decl->fn.name.text);
  if (decl->fn.result) {
    FlSpan span = decl->fn.body->span;
    if (decl->fn.body->kind == FL_EXPR_BLOCK && decl->fn.body->block.n)
      span = decl->fn.body->block.at[decl->fn.body->block.n - 1]->span;
    s->binding_result = true; /* a size that only the data knows */
    v = fl_bind_type(s, decl->fn.result, v, span, called(s, decl, "the result", NULL, decl));
    s->binding_result = false;
  }
  return v;
}

/* From here on operations come from within a call: what is set back when it is done. */
static uint32_t enter_call(FlSema *s, FlSpan span, const char *callee) {
  uint32_t outer = s->b.call;
  s->b.call = fl_sources_call(s->sources, fl_sema_place(s, span), callee);
  return outer;
}

void fl_call_note_body(FlSema *s, FlFrame *frame, const FlStmt *decl) {
  if (!frame->body_set) frame->body_set = fl_map_make(s->arena);
  if (fl_map_get(frame->body_set, decl)) return;
  fl_map_set(frame->body_set, decl, frame);
  fl_vec_push(s->arena, &frame->bodies, decl);
}

static FlVal run_body_called(FlSema *s, const FlStmt *decl, FlSpan span) {
  fl_call_note_body(s, s->frame, decl);
  uint32_t outer = enter_call(s, span, decl->fn.name.text);
  FlVal v = fl_call_run_body(s, decl);
  s->b.call = outer;
  return v;
}

static FlVal open_call(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span) {
  const FlStmt *decl = fn->decl;
  FlActive active = {decl, span, s->active};
  FlCallPlace place = fl_call_go_into(s, fn->file, "a function");
  s->active = &active;
  s->scope = fl_scope_push(s, fn->file->scope, FL_SCOPE_PLAIN);
  FlVal v = !fl_call_bind_params(s, decl, values, spans) ? fl_val_error(s)
            : decl->kind == FL_STMT_EXTERN               ? fl_sema_extern(s, fn)
                                                         : run_body_called(s, decl, span);
  s->active = active.up;
  fl_call_come_back(s, place);
  v.literal = FL_LIT_NONE, v.exact = NULL;
  return v;
}

void fl_call_check(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans) {
  bool outer = s->open;
  s->open = true;
  open_call(s, fn, values, spans, fn->decl->fn.name.span);
  s->open = outer;
}

static FlVal inline_call(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span) {
  if (fl_derivative_is_own(s, fn)) return fl_derivative_own(s, fn, values, spans, span, open_call);
  return fl_call_within_budget(s, fn, values, spans, span, open_call);
}

/* ---- elementwise calls of functions on scalars ---- */

typedef struct LiftCall {
  const FlBinding *fn;
  FlVal *values; /* all parameters */
  const FlSpan *spans;
  const int *which; /* which parameters the elements are */
} LiftCall;

static FlVal call_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  LiftCall *c = env;
  int n_params = c->fn->decl->fn.params.n;
  FlVal *values = fl_arena_copy(s->arena, c->values, sizeof *values * (size_t)(n_params + 1));
  for (int i = 0; i < n; i++) values[c->which[i]] = args[i];
  return inline_call(s, c->fn, values, c->spans, span);
}

/* Parameters declared scalar that got arrays. */
static int lifted_params(FlSema *s, const FlBinding *fn, const FlVal *values, int *which, FlVal *arrays) {
  int n = 0;
  FlCallPlace place = fl_call_go_into(s, fn->file, s->pure);
  s->scope = fn->file->scope;
  for (int p = 0; p < fn->decl->fn.params.n; p++) {
    const FlTypeExpr *t = fn->decl->fn.params.at[p].type;
    bool scalar = t && (t->kind == FL_TE_NAME || t->kind == FL_TE_OPTION);
    if (!scalar || values[p].type->kind != FL_TY_ARRAY) continue;
    const FlType *want = fl_type_of_expr(s, t);
    if (!want || want->kind != FL_TY_SCALAR) continue;
    which[n] = p;
    arrays[n++] = values[p];
  }
  fl_call_come_back(s, place);
  return n;
}

FlVal fl_call_no_type(FlSema *s, FlSpan parameter) {
  return fl_sema_error(s, FL_E0215, parameter,
                       "a stage needs the types of its parameters; `_[n]` is any table");
}

static FlVal call_form(FlSema *s, const FlBinding *fn, int n, FlActual *args, FlSpan span) {
  const FlStmt *decl = fn->decl;
  int n_params = decl->fn.params.n;
  FlActual **bound = FL_NEW_ARRAY(s->arena, FlActual *, n_params + 1);
  FlVal *values = FL_NEW_ARRAY(s->arena, FlVal, n_params + 1);
  FlSpan *spans = FL_NEW_ARRAY(s->arena, FlSpan, n_params + 1);
  bool ok = fl_call_match(s, decl, n, args, bound, span);
  /* Arguments in the order they are written, then defaults. */
  for (int i = 0; i < n; i++) {
    const FlType *want = NULL;
    for (int p = 0; p < n_params; p++)
      if (bound[p] == &args[i] && decl->fn.params.at[p].type) {
        FlCallPlace place = fl_call_go_into(s, fn->file, s->pure);
        s->scope = fn->file->scope;
        const FlTypeExpr *t = decl->fn.params.at[p].type;
        if (t->kind != FL_TE_TYPEOF) want = fl_type_of_expr(s, t);
        fl_call_come_back(s, place);
      }
    if (want && want->kind == FL_TY_FUNC) want = NULL;
    args[i].groups = true; /* what a type is written for refuses them */
    FlVal v = fl_actual_value(s, &args[i], want);
    ok = ok && !fl_val_bad(v);
  }
  if (!ok) return fl_val_error(s);
  for (int p = 0; p < n_params; p++) {
    const FlFnParam *param = &decl->fn.params.at[p];
    spans[p] = bound[p] ? bound[p]->span : span;
    if (bound[p]) {
      values[p] = bound[p]->value;
    } else {
      FlCallPlace place = fl_call_go_into(s, fn->file, s->pure);
      s->scope = fl_scope_push(s, fn->file->scope, FL_SCOPE_PLAIN);
      for (int k = 0; k < p; k++)
        fl_scope_bind(s, s->scope, FL_BIND_VALUE, decl->fn.params.at[k].name.text, param->span, values[k])
            ->used = true;
      uint32_t outer = enter_call(s, span, decl->fn.name.text);
      values[p] = fl_sema_expr(s, param->fallback, param->type ? fl_type_of_expr(s, param->type) : NULL);
      s->b.call = outer;
      fl_call_come_back(s, place);
    }
    if (fl_val_bad(values[p])) return values[p];
    fl_sema_keep(s, values[p]);
  }
  if (decl->kind == FL_STMT_STAGE) {
    for (int p = 0; p < n_params; p++)
      if (!decl->fn.params.at[p].type) return fl_call_no_type(s, decl->fn.params.at[p].span);
    return fl_call_instance(s, fn, values, spans, span);
  }
  int *which = FL_NEW_ARRAY(s->arena, int, n_params + 1);
  FlVal *arrays = FL_NEW_ARRAY(s->arena, FlVal, n_params + 1);
  int lifted = lifted_params(s, fn, values, which, arrays);
  bool recursive = decl->kind != FL_STMT_EXTERN && fl_call_is_recursive(s, fn);
  if (lifted && !recursive) {
    LiftCall env = {fn, values, spans, which};
    return fl_sema_lift(s, span, lifted, arrays, call_element, &env);
  }
  if (recursive && fl_derivative_is_own(s, fn))
    return fl_derivative_own(s, fn, values, spans, span, fl_call_instance);
  if (recursive) return fl_call_instance(s, fn, values, spans, span);
  return inline_call(s, fn, values, spans, span);
}

FlVal fl_sema_call_binding(FlSema *s, FlBinding *fn, int n, FlActual *args, FlSpan span) {
  const FlBinding *form = fl_form_of(s, fn, n, args);
  return form ? call_form(s, form, n, args, span) : fl_val_error(s);
}

/* ---- function values ---- */

/* A lambda that stands within the call that calls it, as in `fold((a, b) => a + b, 0, x)`, is where it is
 * called. */
static bool stands_within(FlSpan part, FlSpan whole) {
  return part.file == whole.file && part.start >= whole.start &&
         part.start + part.len <= whole.start + whole.len;
}

static FlVal call_lambda(FlSema *s, const FlClosure *c, int n, const FlVal *args, FlSpan span) {
  const FlPatList *params = &c->lambda->lambda.params;
  if (params->n != n) {
    FlDiag *d = fl_sema_report(s, FL_E0210, span, "this function takes %d argument%s, but gets %d", params->n,
                               params->n == 1 ? "" : "s", n);
    fl_diag_note(s->sink, d, c->lambda->span, "it is written here");
    return fl_val_error(s);
  }
  FlCallPlace place = fl_call_go_into(s, s->file, s->pure ? s->pure : "a function");
  s->scope = fl_scope_push(s, c->scope, FL_SCOPE_PLAIN);
  if (c->frame == s->frame) s->agg = c->agg; /* as the columns, they are those of where it is written */
  if (n > 1) fl_sema_bound_once(s, params);
  for (int i = 0; i < n; i++) fl_sema_bind_pattern(s, params->at[i], args[i], FL_BIND_VALUE, NULL);
  for (int i = 0; s->agg && s->agg->group_of && i < s->scope->names.n; i++)
    s->scope->names.at[i]->by_row = true;
  uint32_t outer = s->b.call;
  if (!stands_within(c->lambda->span, span)) enter_call(s, span, c->name ? c->name : "");
  FlVal v = fl_sema_expr_or_groups(s, c->lambda->lambda.body, NULL);
  s->b.call = outer;
  fl_call_come_back(s, place);
  if (v.type->kind == FL_TY_NONE)
    return fl_sema_error(s, FL_E0309, c->lambda->lambda.body->span, "this function gives no value");
  return v;
}

FlVal fl_call_value(FlSema *s, const FlClosure *c, int n, FlActual *args, FlSpan span, const FlType *want) {
  if (c->derived) return fl_derivative_call(s, c, n, args, span);
  if (c->builtin) return fl_sema_call_builtin(s, c->builtin, n, args, span, want);
  if (c->named) return fl_sema_call_binding(s, c->named, n, args, span);
  FlVal *values = FL_NEW_ARRAY(s->arena, FlVal, n + 1);
  for (int i = 0; i < n; i++) {
    if (args[i].name.text)
      return fl_sema_error(s, FL_E0209, args[i].name.span,
                           "the parameters of a lambda are given by position");
    args[i].groups = true;
    bool column = c->agg && c->agg->group_of && s->agg == c->agg;
    values[i] = column ? fl_sema_column_argument(s, &args[i]) : fl_actual_value(s, &args[i], NULL);
    if (fl_val_bad(values[i])) return values[i];
    fl_sema_keep(s, values[i]);
  }
  return call_lambda(s, c, n, values, span);
}

FlVal fl_sema_apply(FlSema *s, FlClosure *fn, int n, const FlVal *args, FlSpan span) {
  FlActual *actuals = FL_NEW_ARRAY(s->arena, FlActual, n + 1);
  for (int i = 0; i < n; i++) actuals[i] = (FlActual){.value = args[i], .span = span};
  return fl_call_value(s, fn, n, actuals, span, NULL);
}

FlVal fl_call_unknown(FlSema *s, FlName name, FlSpan span) {
  bool habit = fl_habit_is_called(name.text);
  FlDiag *d = fl_sema_report(s, habit ? FL_E0228 : FL_E0201, span,
                             habit ? "there is no function `%s`, as it is called elsewhere"
                                   : "there is no function `%s`",
                             name.text);
  if (fl_habit_help(s, d, name.text, span, true)) return fl_val_error(s);
  if (fl_habit_shouted(s, d, name)) return fl_val_error(s);
  const char *module = fl_sema_module_with(s, name.text);
  if (module)
    fl_diag_help(s->sink, d, "the library has it: `%s.%s`, with `import %s` at the top", module, name.text,
                 module);
  if (module) return fl_val_error(s);
  const char *near = fl_plot_help(s, d, name.text, span) ? NULL : fl_builtin_closest(s, name.text);
  if (near) fl_diag_meant(s->sink, d, span, "", near);
  return fl_val_error(s);
}

FlVal fl_sema_callee(FlSema *s, const FlExpr *f) {
  if (f->kind != FL_EXPR_NAME) return fl_sema_expr(s, f, NULL);
  FlBinding *first = NULL;
  for (FlScope *scope = s->scope; scope; scope = scope->parent) {
    for (int i = fl_scope_last(scope, f->name.text); i >= 0; i = fl_scope_before(scope, i)) {
      FlBinding *b = scope->names.at[i];
      if (b->lost || b->open) return b->val;
      bool function = b->kind == FL_BIND_FN || (b->kind != FL_BIND_TYPE && b->kind != FL_BIND_MODULE &&
                                                b->val.type && b->val.type->kind == FL_TY_FUNC);
      if (!first) first = b;
      if (!function) continue;
      b->used = true;
      fl_witness_name(s, f->span, b);
      if (b->kind == FL_BIND_FN) {
        FlClosure c = {.named = b};
        return (FlVal){.type = s->types->func, .fn = fl_arena_copy(s->arena, &c, sizeof c)};
      }
      return b->val;
    }
    if (!first && scope->columns) first = fl_scope_find_in(scope, f->name.text);
  }
  const FlBuiltin *bi = fl_builtin_find(s, f->name.text);
  FlClosure c = {.builtin = bi};
  if (bi) fl_witness_builtin(s, f->span, bi);
  if (bi) return (FlVal){.type = s->types->func, .fn = fl_arena_copy(s->arena, &c, sizeof c)};
  if (first && first->kind != FL_BIND_TYPE && first->kind != FL_BIND_MODULE && fl_val_bad(first->val))
    return first->val;
  if (first) return fl_sema_error(s, FL_E0217, f->span, "`%s` is not a function", f->name.text);
  return fl_call_unknown(s, f->name, f->span);
}

FlVal fl_sema_call(FlSema *s, const FlExpr *call, const FlVal *piped, FlSpan piped_span, const FlType *want) {
  int n = call->call.args.n + (piped ? 1 : 0), at = 0;
  FlActual *args = FL_NEW_ARRAY(s->arena, FlActual, n + 1);
  if (piped) args[at++] = (FlActual){.value = *piped, .span = piped_span};
  for (int i = 0; i < call->call.args.n; i++) {
    const FlArg *a = &call->call.args.at[i];
    args[at++] = (FlActual){.name = a->name, .expr = a->value, .span = a->value->span};
  }
  FlVal f = fl_sema_callee(s, call->call.func);
  if (fl_val_bad(f)) fl_habit_method(s, call);
  if (fl_val_bad(f)) return f;
  if (f.type->kind != FL_TY_FUNC)
    return fl_sema_error(s, FL_E0217, call->call.func->span, "this is %s, not a function", fl_val_text(s, f));
  FlSpan outer = s->b.span;
  s->b.span = call->span;
  FlVal v = fl_call_value(s, f.fn, n, args, call->span, want);
  s->b.span = outer;
  return v;
}
