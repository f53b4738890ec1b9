/* forms.c: functions of one name that differ by the declared type of their first parameter, as `predict` of
 * the models of a module.
 *
 * In: the functions as they are declared, and a call. Out: the form that the call means. Always: each form's
 * first parameter is written as a type that `type` declares, of which no two are the same, so that at most
 * one form fits whatever the other arguments are; a value without such a type means none. */
#include "sema/call.h"
#include "sema/forms.h"
#include "sema/type_expr.h"

/* The name of the declared type that the first parameter is written with, sizes left out; NULL: it is none.
 */
static const FlTypeExpr *named_type(const FlBinding *fn) {
  if (fn->decl->kind == FL_STMT_EXTERN || fn->decl->fn.params.n == 0) return NULL;
  const FlTypeExpr *t = fn->decl->fn.params.at[0].type;
  if (t && t->kind == FL_TE_ARRAY) t = t->array.element;
  FlDtype d;
  if (!t || t->kind != FL_TE_NAME || (!t->name.module.text && fl_dtype_find(t->name.name.text, &d)))
    return NULL;
  return t;
}

bool fl_forms_add(FlBinding *first, FlBinding *more) {
  const FlTypeExpr *own = named_type(more);
  if (first->kind != FL_BIND_FN || more->kind != FL_BIND_FN || !own) return false;
  FlBinding *last = first;
  for (FlBinding *f = first; f; f = f->form) {
    const FlTypeExpr *other = named_type(f);
    if (!other ||
        (other->name.name.text == own->name.name.text && other->name.module.text == own->name.module.text))
      return false;
    last = f;
  }
  last->form = more;
  return true;
}

/* The argument of the first parameter: the one by its name, else the first by position; -1: there is none. */
static int deciding(const FlBinding *fn, int n, const FlActual *args) {
  int at = -1;
  for (int i = n - 1; i >= 0; i--)
    if (!args[i].name.text) at = i;
  for (const FlBinding *f = fn; f; f = f->form)
    for (int i = 0; i < n; i++)
      if (args[i].name.text && args[i].name.text == f->decl->fn.params.at[0].name.text) at = i;
  return at;
}

static const FlType *type_of_form(FlSema *s, const FlBinding *f) {
  FlCallPlace place = fl_call_go_into(s, f->file, s->pure);
  s->scope = f->file->scope;
  const FlType *t = fl_type_of_expr(s, f->decl->fn.params.at[0].type);
  fl_call_come_back(s, place);
  return t;
}

FlBinding *fl_form_of(FlSema *s, FlBinding *fn, int n, FlActual *args) {
  if (!fn->form) return fn;
  int at = deciding(fn, n, args);
  if (at < 0) return fn; /* which reports what is missing */
  for (int i = 0; i <= at; i++)
    if (fl_val_bad(fl_actual_value(s, &args[i], NULL))) return NULL;
  FlVal v = args[at].value;
  FlText1 known = {0};
  for (FlBinding *f = fn; f; f = f->form) {
    const FlType *t = type_of_form(s, f);
    if (!t || t->kind == FL_TY_ERROR) {
      fl_text_reset(&known);
      return NULL;
    }
    if (t == v.type ||
        (t->kind == FL_TY_TUPLE && v.type->kind == FL_TY_TUPLE && t->name && t->name == v.type->name)) {
      fl_text_reset(&known);
      f->chosen = true;
      return f;
    }
    const char *between = f == fn ? "" : f->form ? ", " : " and ";
    fl_text_addf(&known, "%s`%s`", between, t->name ? t->name : fl_type_brief(s->types, t));
  }
  const char *is = v.type->kind == FL_TY_TUPLE && v.type->name
                       ? fl_arena_printf(s->arena, "a `%s`", v.type->name)
                       : fl_val_text(s, v);
  FlDiag *d = fl_sema_report(s, FL_E0223, args[at].span, "`%s` is there for %s, and this is %s", fn->name,
                             known.s, is);
  fl_diag_note(s->sink, d, fn->span, "the first of them is declared here");
  fl_text_reset(&known);
  return NULL;
}
