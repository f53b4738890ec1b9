/* attributes.c: the attributes of functions and stages: one table of their names, places and arguments.
 *
 * In: declarations. Out: messages about attributes that mean nothing, since one that is misspelt would be
 * left out in silence; and what `@memo` says. */
#include "sema/attributes.h"
#include "sema/state.h"

#include <string.h>

typedef struct Known {
  const char *name;
  bool of_fn, of_stage, of_extern;
  const char *words[3]; /* the argument is one of these; none: see `takes_name` */
  bool takes_name;      /* any name; else there is no argument */
} Known;

static const Known known[] = {
    {"memo", .of_stage = true, .words = {"never", "always"}},
    {"inline", .of_fn = true},
    {"device", .of_stage = true, .words = {"cpu", "gpu"}},
    {"derivative", .of_fn = true, .of_stage = true, .of_extern = true, .takes_name = true},
};
enum { N_KNOWN = sizeof known / sizeof *known };

static const Known *find(const char *name) {
  for (int i = 0; i < N_KNOWN; i++)
    if (strcmp(known[i].name, name) == 0) return &known[i];
  return NULL;
}

static bool unknown(FlSema *s, const FlAttribute *a) {
  const char *names[N_KNOWN];
  for (int i = 0; i < N_KNOWN; i++) names[i] = known[i].name;
  FlDiag *d = fl_sema_report(s, FL_E0212, a->span, "there is no attribute `@%s`", a->name.text);
  const char *near = fl_closest(a->name.text, names, N_KNOWN);
  if (near) fl_diag_meant(s->sink, d, a->name.span, "@", near);
  return false;
}

static const char *argument(const FlAttribute *a) { /* its name; NULL: none, or something else */
  const FlExpr *e = a->args.n == 1 && !a->args.at[0].name.text ? a->args.at[0].value : NULL;
  return e && e->kind == FL_EXPR_NAME ? e->name.text : NULL;
}

static bool check_argument(FlSema *s, const FlAttribute *a, const Known *k) {
  if (k->takes_name) return true; /* fl_derivative_check says more about it */
  const char *word = argument(a);
  if (!k->words[0]) {
    if (!a->args.n) return true;
    fl_sema_error(s, FL_E0212, a->span, "`@%s` takes nothing in brackets", k->name);
    return false;
  }
  for (int i = 0; k->words[i]; i++)
    if (word && strcmp(word, k->words[i]) == 0) return true;
  fl_sema_error(s, FL_E0212, a->span, "`@%s` takes `%s` or `%s`", k->name, k->words[0], k->words[1]);
  return false;
}

static bool check_place(FlSema *s, const FlAttribute *a, const Known *k, FlStmtKind kind) {
  bool fits = kind == FL_STMT_STAGE ? k->of_stage : kind == FL_STMT_EXTERN ? k->of_extern : k->of_fn;
  if (fits) return true;
  const char *what = kind == FL_STMT_STAGE    ? "a stage"
                     : kind == FL_STMT_EXTERN ? "a C function"
                                              : "a function";
  FlDiag *d = fl_sema_report(s, FL_E0212, a->span, "`@%s` means nothing before %s", k->name, what);
  if (kind == FL_STMT_FN && k->of_stage)
    fl_diag_help(s->sink, d, "make it a `stage`: only stages are remembered and placed");
  return false;
}

bool fl_attributes_check(FlSema *s, const FlStmt *decl) {
  const FlAttributeList *list = &decl->fn.attributes;
  bool ok = true;
  for (int i = 0; i < list->n; i++) {
    const FlAttribute *a = &list->at[i];
    const Known *k = find(a->name.text);
    bool fine = k ? check_place(s, a, k, decl->kind) && check_argument(s, a, k) : unknown(s, a);
    for (int j = 0; fine && j < i; j++)
      if (strcmp(list->at[j].name.text, a->name.text) == 0) {
        fl_sema_error(s, FL_E0212, a->span, "`@%s` stands here twice", k->name);
        fine = false;
      }
    ok = ok && fine;
  }
  return ok;
}

const FlAttribute *fl_attributes_find(const FlStmt *decl, const char *name) {
  for (int i = 0; i < decl->fn.attributes.n; i++)
    if (strcmp(decl->fn.attributes.at[i].name.text, name) == 0) return &decl->fn.attributes.at[i];
  return NULL;
}

int fl_attributes_memo(const FlStmt *decl) {
  const FlAttribute *a = fl_attributes_find(decl, "memo");
  const char *word = a ? argument(a) : NULL;
  return !word ? 0 : strcmp(word, "never") == 0 ? -1 : 1;
}
