/* category_table.c: tables with categories that come from outside or go there, where they are texts. */
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/value.h"

const FlType *fl_category_text_row(FlSema *s, const FlType *row) {
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, row->n_fields + 1);
  for (int i = 0; i < row->n_fields; i++) {
    const FlType *t = row->fields[i].type;
    fields[i] = row->fields[i];
    if (fl_type_is_category(t)) fields[i].type = fl_type_scalar(s->types, FL_TEXT, t->nullable);
  }
  return fl_type_tuple(s->types, row->n_fields, fields, row->name);
}

/* The table of `row` from t's columns, each category column or its texts made by `f`. */
static FlVal convert(FlSema *s, FlVal t, const FlType *row, FlVal (*f)(FlSema *, FlVal, FlSpan),
                     FlSpan span) {
  FlVal out = {.type = fl_type_table(s->types, row)};
  if (out.type == t.type) return t;
  out.parts = FL_NEW_ARRAY(s->arena, FlValue *, out.type->n_parts);
  int at = 0;
  out.parts[at++] = fl_val_rows(t);
  for (int i = 0; i < row->n_fields; i++) {
    FlVal column = fl_val_field(s, t, i);
    if (t.type->elem->fields[i].type != row->fields[i].type) column = f(s, column, span);
    if (fl_val_bad(column)) return column;
    for (int p = 0; p < column.type->n_parts; p++) out.parts[at++] = column.parts[p];
  }
  fl_sema_alias_rows(s, out);
  return out;
}

FlVal fl_category_table(FlSema *s, FlVal texts, const FlType *row, FlSpan span) {
  return convert(s, texts, row, fl_category_found, span);
}

FlVal fl_category_text_table(FlSema *s, FlVal t, FlSpan span) {
  return convert(s, t, fl_category_text_row(s, t.type->elem), fl_category_texts, span);
}
