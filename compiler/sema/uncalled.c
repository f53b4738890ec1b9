/* uncalled.c: functions that nothing calls are checked with what their signatures say.
 *
 * In: a file whose statements are elaborated. Out: messages, and what a witness is told; no IR. What always
 * holds: a parameter without a type is open: it may be anything, and what depends on it says nothing. */
#include "sema/attributes.h"
#include "sema/builtins/derivative.h"
#include "sema/call.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/type_expr.h"
#include "sema/uncalled.h"
#include "sema/value.h"

/* Has its body been checked? To be named is not to be called. */
static bool was_seen(const FlSema *s, const FlBinding *b) {
  return b->decl->kind == FL_STMT_EXTERN ? b->used : fl_map_get(s->elaborated, b->decl) != NULL;
}

typedef struct Mention {
  const FlFnParamList *params;
  bool found;
} Mention;

static bool mentions(void *env, const FlExpr *e) {
  Mention *m = env;
  for (int p = 0; p < m->params->n; p++)
    m->found |= e->kind == FL_EXPR_NAME && e->name.text == m->params->at[p].name.text;
  return true;
}

/* typeof(x) of a parameter x is open as x is. */
static bool is_of_parameter(const FlTypeExpr *t, const FlFnParamList *params) {
  while (t->kind == FL_TE_ARRAY || t->kind == FL_TE_OPTION)
    t = t->kind == FL_TE_ARRAY ? t->array.element : t->inner;
  Mention m = {.params = params};
  if (t->kind == FL_TE_TYPEOF) fl_syntax_walk_expr(&(FlWalker){.env = &m, .expr = mentions}, t->of);
  return m.found;
}

/* A value of which only the type is known; an error where that is open. */
static FlVal parameter(FlSema *s, const FlFnParamList *params, int p) {
  const FlTypeExpr *written = params->at[p].type;
  const FlType *t = written && !is_of_parameter(written, params) ? fl_type_of_expr(s, written) : NULL;
  if (!t || t->kind == FL_TY_FUNC || t->kind == FL_TY_ERROR) return fl_val_error(s);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, t->n_parts + 1);
  FlValue **parts = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts + 1);
  fl_type_parts(t, types);
  for (int k = 0; k < t->n_parts; k++) parts[k] = fl_ir_param(s->b.func->body, types[k]);
  return fl_val_make(s, t, parts);
}

static void check_function(FlSema *s, FlBinding *b) {
  const FlFnParamList *params = &b->decl->fn.params;
  FlActual *args = FL_NEW_ARRAY(s->arena, FlActual, params->n + 1);
  FlVal *values = FL_NEW_ARRAY(s->arena, FlVal, params->n + 1);
  FlSpan *spans = FL_NEW_ARRAY(s->arena, FlSpan, params->n + 1);
  bool known = true;
  for (int p = 0; p < params->n; p++) {
    values[p] = parameter(s, params, p);
    spans[p] = params->at[p].span;
    args[p] = (FlActual){.value = values[p], .span = spans[p]};
    known = known && !fl_val_bad(values[p]);
    if (b->decl->kind == FL_STMT_STAGE && !params->at[p].type) {
      fl_call_no_type(s, params->at[p].span);
      return;
    }
  }
  if (known) fl_sema_call_binding(s, b, params->n, args, b->decl->fn.name.span);
  else if (b->decl->kind != FL_STMT_EXTERN) fl_call_check(s, b, values, spans);
}

/* In a function of the IR that the caller takes back. */
static void check_apart(FlSema *s, FlBinding *b) {
  FlFrame *frame = FL_NEW(s->arena, FlFrame), *outer_frame = s->frame;
  FlBuilder outer = s->b;
  const char *pure = s->pure;
  frame->outer = s->frame;
  frame->func = fl_ir_func_make(s->module, "unused", FL_FUNC_PLAIN, b->span);
  s->frame = frame;
  s->b = (FlBuilder){.module = s->module, .func = frame->func, .region = frame->func->body, .span = b->span};
  s->pure = "a function";
  check_function(s, b);
  s->pure = pure;
  s->frame = outer_frame;
  s->b = outer;
}

void fl_uncalled_check(FlSema *s, FlFile *file) {
  FlVec(FlBinding *) all = {0};
  for (int i = 0; i < file->scope->names.n; i++) {
    FlBinding *first = file->scope->names.at[i];
    if (first->kind == FL_BIND_TYPE) fl_type_declared(s, first);
    if (first->kind != FL_BIND_FN) continue;
    for (FlBinding *b = first; b; b = b->form)
      if (fl_attributes_check(s, b->decl)) fl_derivative_check(s, b);
    for (FlBinding *b = first; b; b = b->form)
      if (!was_seen(s, b)) fl_vec_push(s->arena, &all, b);
  }
  for (int i = all.n - 1; i >= 0; i--) {
    FlBinding *b = all.at[i];
    if (was_seen(s, b)) continue; /* one that nothing calls, behind it, did, with all that it calls */
    if (b->decl->kind == FL_STMT_EXTERN && !fl_sema_extern_check(s, b)) continue;
    check_apart(s, b);
  }
  fl_names_check(s, file);
}
