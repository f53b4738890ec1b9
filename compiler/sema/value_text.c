/* value_text.c: see value_text.h. */
#include "sema/state.h"
#include "sema/value_text.h"

#include "data/value_type.h"

static const FlType *print(FlText1 *out, const FlType *t);

/* The fields of a tuple or row, with their names or without. */
static const FlType *print_fields(FlText1 *out, const FlType *t, bool named) {
  const FlType *bad = NULL;
  if (t->name) fl_text_addz(out, t->name);
  fl_text_addc(out, '(');
  for (int i = 0; i < t->n_fields && !bad; i++) {
    if (i) fl_text_addz(out, ", ");
    if (named) {
      fl_type_add_name(out, t->fields[i].name);
      fl_text_addz(out, ": ");
    }
    bad = print(out, t->fields[i].type);
  }
  fl_text_addc(out, ')');
  return bad;
}

/* NULL: all of it was printed; else what cannot be. */
static const FlType *print(FlText1 *out, const FlType *t) {
  const FlType *bad = NULL;
  switch (t->kind) {
  case FL_TY_SCALAR:
  case FL_TY_ARRAY:
    if (t->dtype == FL_FILE) return t;
    fl_text_addf(out, "%s%s", fl_dtype_name(t->dtype), t->nullable ? "?" : "");
    for (int i = 0; t->kind == FL_TY_ARRAY && i < t->rank; i++) fl_text_addz(out, i ? ", _" : "[_");
    if (t->kind == FL_TY_ARRAY) fl_text_addc(out, ']');
    return NULL;
  case FL_TY_TUPLE: return print_fields(out, t, fl_type_has_names(t));
  case FL_TY_TABLE:
    for (int i = 0; i < t->elem->n_fields; i++) {
      FlTyKind kind = t->elem->fields[i].type->kind;
      if (kind != FL_TY_SCALAR && kind != FL_TY_ARRAY) return t->elem->fields[i].type;
    }
    bad = print_fields(out, t->elem, true);
    fl_text_addz(out, "[_]");
    return bad;
  case FL_TY_LIST:
    fl_text_addc(out, '[');
    bad = print(out, t->elem);
    fl_text_addc(out, ']');
    return bad;
  case FL_TY_ERROR:
  case FL_TY_NONE:
  case FL_TY_NEVER:
  case FL_TY_NULL:
  case FL_TY_FUNC: break;
  }
  return t;
}

const char *fl_value_text(FlSema *s, const FlType *t, const FlType **part) {
  FlText1 text = {0};
  *part = print(&text, t);
  const char *out = *part ? NULL : fl_arena_strndup(s->arena, text.s, text.len);
  fl_text_reset(&text);
  return out;
}

static const FlType *build(FlSema *s, const FlValueType *v) {
  switch (v->kind) {
  case FL_VALUE_SCALAR: return fl_type_scalar(s->types, v->dtype, v->nullable);
  case FL_VALUE_ARRAY: return fl_type_array(s->types, v->dtype, v->nullable, v->rank);
  case FL_VALUE_TABLE: return fl_type_table(s->types, build(s, v->fields));
  case FL_VALUE_LIST: return fl_type_list(s->types, build(s, v->fields));
  case FL_VALUE_TUPLE: break;
  }
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, v->n_fields + 1);
  for (int i = 0; i < v->n_fields; i++) {
    const char *name = v->fields[i].name;
    fields[i].name = fl_intern_z(s->names, name ? name : fl_arena_printf(s->arena, "%d", i));
    fields[i].type = build(s, &v->fields[i]);
  }
  return fl_type_tuple(s->types, v->n_fields, fields, v->nominal ? fl_intern_z(s->names, v->nominal) : NULL);
}

const FlType *fl_value_text_type(FlSema *s, const char *text) {
  FlValueType *v = fl_value_type_new(text, strlen(text));
  const FlType *t = v ? build(s, v) : NULL;
  fl_value_type_free(v);
  if (!s->types->refused) return t;
  s->types->refused = FL_REFUSED_NONE;
  return NULL;
}
