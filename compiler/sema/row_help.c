/* row_help.c: what messages say about the fields of rows: which there are, which one was meant, how two rows
 * differ. */
#include "sema/row_help.h"
#include "sema/value.h"

enum { MOST_SHOWN = 24 };

/* "a, b, c", or the first of many; arena text. */
static const char *listed(FlSema *s, int n, const char *const *names) {
  FlText1 all = {0};
  for (int i = 0; i < n && i < MOST_SHOWN; i++) fl_text_addf(&all, i ? ", %s" : "%s", names[i]);
  if (n > MOST_SHOWN) fl_text_addf(&all, " and %d more", n - MOST_SHOWN);
  const char *text = fl_arena_strndup(s->arena, all.s ? all.s : "", all.len);
  fl_text_reset(&all);
  return text;
}

void fl_sema_help_names(FlSema *s, FlDiag *d, FlSpan at, const char *meant, int n, const char *const *names,
                        const char *these_are) {
  if (meant && n) fl_diag_note(s->sink, d, (FlSpan){0}, "%s %s", these_are, listed(s, n, names));
  if (meant) fl_diag_meant(s->sink, d, at, "", meant);
  else if (n) fl_diag_help(s->sink, d, "%s %s", these_are, listed(s, n, names));
}

void fl_sema_help_field(FlSema *s, FlDiag *d, const FlType *row, FlName name, const char *these_are) {
  const char **names = FL_NEW_ARRAY(s->arena, const char *, row->n_fields + 1);
  for (int i = 0; i < row->n_fields; i++) names[i] = row->fields[i].name;
  fl_sema_help_names(s, d, name.span, fl_sema_closest_field(s, row, name.text), row->n_fields, names,
                     these_are);
}

/* A field of another type than is wanted, the first. */
static bool explain_field(FlSema *s, FlDiag *d, const FlType *have, const FlType *want, bool table) {
  for (int i = 0; i < want->n_fields; i++) {
    const FlTyField *w = &want->fields[i];
    const FlType *t = have->fields[fl_type_field_find(have, w->name)].type;
    if (fl_val_fits(s, (FlVal){.type = t}, w->type)) continue;
    fl_diag_note(s->sink, d, (FlSpan){0}, "`%s` is %s, where %s is wanted", w->name,
                 fl_type_brief(s->types, t), fl_type_brief(s->types, w->type));
    bool null =
        table && t->kind == FL_TY_SCALAR && w->type->kind == FL_TY_SCALAR && t->dtype == w->type->dtype;
    if (null)
      fl_diag_help(s->sink, d, "fill it, `fill_null(%s = ...)`, or drop those rows, `drop_null(%s)`", w->name,
                   w->name);
    return true;
  }
  return false;
}

void fl_sema_explain_rows(FlSema *s, FlDiag *d, const FlType *from, const FlType *to) {
  const FlType *have = fl_type_row(from), *want = fl_type_row(to);
  bool table = from->kind == FL_TY_TABLE;
  for (int i = 0; i < want->n_fields; i++) {
    const char *name = want->fields[i].name;
    if (fl_type_field_find(have, name) >= 0) continue;
    const char *near = fl_sema_closest_field(s, have, name);
    fl_diag_note(s->sink, d, (FlSpan){0}, "there is no `%s`", name);
    if (near) fl_diag_help(s->sink, d, "it has `%s`", near);
    return;
  }
  if (explain_field(s, d, have, want, table)) return;
  const char **more = FL_NEW_ARRAY(s->arena, const char *, have->n_fields + 1);
  int n = 0;
  for (int i = 0; i < have->n_fields; i++)
    if (fl_type_field_find(want, have->fields[i].name) < 0) more[n++] = have->fields[i].name;
  if (!n) return;
  fl_diag_note(s->sink, d, (FlSpan){0}, "it has %s more: %s", n == 1 ? "one" : "some", listed(s, n, more));
  if (table) fl_diag_help(s->sink, d, "leave %s out: `drop(%s)`", n == 1 ? "it" : "them", listed(s, n, more));
}
