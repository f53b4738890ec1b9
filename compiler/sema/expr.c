/* expr.c: expressions other than operators, calls, comprehensions and subscripts: literals, names, texts,
 * tuples, arrays, fields, and the dispatch over all kinds. */
#include "sema/builtins/builtin.h"
#include "sema/builtins/plot.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/habits.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/row_help.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"

/* ---- names ---- */

static FlVal closure_of(FlSema *s, FlClosure c) {
  FlVal v = {.type = s->types->func, .fn = fl_arena_copy(s->arena, &c, sizeof c)};
  return v;
}

static FlVal value_of_binding(FlSema *s, FlBinding *b, FlSpan span) {
  fl_witness_name(s, span, b);
  switch (b->kind) {
  case FL_BIND_VALUE:
  case FL_BIND_VAR:
  case FL_BIND_COLUMN: return fl_binding_value(s, b);
  case FL_BIND_FN: b->used = true; return closure_of(s, (FlClosure){.named = b});
  case FL_BIND_TYPE: {
    FlDiag *d = fl_sema_report(s, FL_E0204, span, "`%s` is a type, not a value", b->name);
    if (fl_habit_says(s->arena, b->name)) fl_diag_help(s->sink, d, "%s", fl_habit_says(s->arena, b->name));
    return fl_val_error(s);
  }
  case FL_BIND_MODULE:
    return fl_sema_error(s, FL_E0204, span, "`%s` is a module; write `%s.name` for something in it", b->name,
                         b->name);
  }
  return fl_val_error(s);
}

FlVal fl_sema_unknown(FlSema *s, FlName unknown) {
  const char *name = unknown.text;
  FlSpan span = unknown.span;
  FlScope *columns = s->scope;
  while (columns && columns->kind != FL_SCOPE_COLUMNS) columns = columns->parent;
  FlDiag *d = columns ? fl_sema_report(s, FL_E0601, span, "there is no column and no name `%s`", name)
                      : fl_sema_report(s, FL_E0201, span, "there is no `%s`", name);
  if (fl_habit_arrow(s, d, unknown)) return fl_val_error(s);
  const char *near = fl_scope_closest(s, name);
  if (!near && fl_sema_in_library(s, name)) {
    fl_diag_help(s->sink, d, "a module of the library: write `import %s` at the top", name);
    fl_habit_import(s, d, name);
    return fl_val_error(s);
  }
  if (!near && fl_habit_help(s, d, name, span, false)) return fl_val_error(s);
  if (!near && fl_plot_help(s, d, name, span)) return fl_val_error(s);
  const char *const *names = NULL;
  int n = columns ? fl_scope_list(s, columns, &names) : 0;
  fl_sema_help_names(s, d, span, near, n, names, "the columns are");
  return fl_val_error(s);
}

static FlVal name_value(FlSema *s, FlName name) {
  FlBinding *b = fl_scope_find(s, name.text);
  if (!b) {
    const FlBuiltin *bi = fl_builtin_find(s, name.text);
    if (bi) fl_witness_builtin(s, name.span, bi);
    if (bi) return closure_of(s, (FlClosure){.builtin = bi});
    return fl_sema_unknown(s, name);
  }
  if (fl_sema_is_script_var(s, b))
    return fl_sema_error(s, FL_E0222, name.span,
                         "`%s` is a variable of the script, and a function sees only what is bound once; "
                         "pass it as an argument",
                         name.text);
  if (b->kind == FL_BIND_COLUMN) {
    /* The same name outside of the verb would be silently hidden. */
    FlScope *scope = s->scope;
    while (scope->kind != FL_SCOPE_COLUMNS || !fl_scope_find_in(scope, name.text)) scope = scope->parent;
    for (scope = scope->parent; scope; scope = scope->parent) {
      FlBinding *other = fl_scope_find_in(scope, name.text);
      if (!other || other->lost || (other->kind != FL_BIND_VALUE && other->kind != FL_BIND_VAR)) continue;
      FlDiag *d =
          fl_sema_report(s, FL_E0602, name.span, "`%s` is both a column and a name of the script", name.text);
      fl_diag_note(s->sink, d, other->span, "the name is from here");
      fl_diag_help(s->sink, d, "write `col.%s` for the column or `outer.%s` for the name", name.text,
                   name.text);
      return fl_val_error(s);
    }
  }
  return value_of_binding(s, b, name.span);
}

static FlVal column_value(FlSema *s, FlName name, bool outer) {
  FlScope *scope = s->scope;
  while (scope && scope->kind != FL_SCOPE_COLUMNS) scope = scope->parent;
  if (!scope && !outer)
    return fl_sema_error(s, FL_E0603, name.span, "`col.%s` stands for a column, but we are not inside a verb",
                         name.text);
  if (!outer) {
    FlBinding *b = fl_scope_find_in(scope, name.text);
    return b ? value_of_binding(s, b, name.span) : fl_sema_unknown(s, name);
  }
  FlScope *inner = s->scope;
  if (scope) s->scope = scope->parent;
  FlVal v = name_value(s, name);
  s->scope = inner;
  return v;
}

/* ---- text ---- */

/* The texts of the elements as one text: [1, 2], [[1, 2], [3, 4]]. */
static FlVal array_text(FlSema *s, FlVal texts) {
  if (texts.type->rank > 1) { /* of each row */
    FlValue *rows = fl_sema_dim(s, texts, 0);
    FlSemaMap map = fl_sema_map(s, 1, &rows, FL_TEXT);
    FlVal row = array_text(s, fl_sema_at(s, texts, map.index[0], true));
    texts = fl_val_array(s, FL_TEXT, 1, fl_sema_map_end(s, &map, row.parts[0]));
  }
  FlType1 text = fl_t_scalar(FL_TEXT);
  FlValue *args[2] = {texts.parts[0], fl_ir_const_t(&s->b, ", ", 2)};
  FlValue *all = fl_ir_op(&s->b, FL_OP_JOIN_TEXT, 2, args, 1, &text, 0)->results[0];
  all = fl_ir_binary(&s->b, FL_OP_TEXT_CONCAT, fl_ir_const_t(&s->b, "[", 1), all);
  return fl_val_scalar(s, FL_TEXT, fl_ir_binary(&s->b, FL_OP_TEXT_CONCAT, all, fl_ir_const_t(&s->b, "]", 1)));
}

static FlVal text_value(FlSema *s, const FlExpr *e) {
  const FlTextParts *parts = &e->text.parts;
  if (parts->n == 0) return fl_val_scalar(s, FL_TEXT, fl_ir_const_t(&s->b, "", 0));
  FlVal all = {0};
  for (int i = 0; i < parts->n; i++) {
    const FlTextPart *p = &parts->at[i];
    FlVal v;
    if (p->value) {
      v = fl_sema_in_text(s, fl_sema_expr(s, p->value, NULL), p->format,
                          p->format ? p->format_span : p->value->span);
      if (fl_val_bad(v)) return v;
    } else {
      v = fl_val_scalar(s, FL_TEXT, fl_ir_const_t(&s->b, p->bytes, (int)p->len));
    }
    all = i == 0 ? v : fl_sema_lift_op(s, e->span, FL_OP_TEXT_CONCAT, 2, (FlVal[]){all, v}, FL_TEXT, NULL);
    if (fl_val_bad(all)) return all;
  }
  return all;
}

typedef struct ToText {
  const char *format;
  bool keeps_null; /* else null is the text "null" */
} ToText;

static FlVal to_text_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)n;
  (void)span;
  ToText *t = env;
  FlVal v = args[0];
  FlValue *valid = fl_val_valid(s, v);
  FlAttrs attrs = {.s = t->format};
  if (t->keeps_null)
    return fl_sema_scalar_op(s, FL_OP_TO_TEXT, &v, 1, fl_type_scalar(s->types, FL_TEXT, false), &attrs);
  FlVal plain = fl_val_plain(s, v);
  FlVal out =
      plain.type->dtype == FL_TEXT && !t->format[0]
          ? plain
          : fl_sema_scalar_op(s, FL_OP_TO_TEXT, &plain, 1, fl_type_scalar(s->types, FL_TEXT, false), &attrs);
  if (!valid) return out;
  return fl_val_scalar(s, FL_TEXT, fl_ir_select(&s->b, valid, out.parts[0], fl_ir_const_t(&s->b, "null", 4)));
}

static FlVal to_text(FlSema *s, FlVal v, ToText t, FlSpan span) {
  bool plain = v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY;
  if (plain && v.type->dtype == FL_FILE) {
    FlDiag *d = fl_sema_report(s, FL_E0301, span,
                               "a file is its content, and its path is not to be seen: a text "
                               "cannot hold %s",
                               fl_val_text(s, v));
    fl_diag_help(s->sink, d, "keep the path beside the file: `files(...)` gives both");
    return fl_val_error(s);
  }
  if (!plain) {
    FlDiag *d = fl_sema_report(
        s, FL_E0301, span, "a text can hold a number, text, date or bool, but this is %s", fl_val_text(s, v));
    fl_diag_help(s->sink, d, "use `show(...)` to see it");
    return fl_val_error(s);
  }
  if (fl_val_is_category(v)) v = fl_category_texts(s, v, span);
  if (t.format[0]) {
    const char *why = fl_sema_check_format(s, t.format, v.type->dtype);
    if (why) return fl_sema_error(s, FL_E0308, span, "%s", why);
  }
  if (t.keeps_null && v.type->dtype == FL_TEXT) return v;
  return fl_sema_lift(s, span, 1, &v, to_text_element, &t);
}

FlVal fl_sema_to_text(FlSema *s, FlVal v, const char *format, FlSpan span) {
  if (fl_val_bad(v)) return v;
  if (v.type->kind == FL_TY_NULL) return fl_val_textz(s, "null");
  return to_text(s, v, (ToText){format ? format : "", false}, span);
}

FlVal fl_sema_in_text(FlSema *s, FlVal v, const char *format, FlSpan span) {
  v = fl_sema_to_text(s, v, format, span);
  return !fl_val_bad(v) && v.type->kind == FL_TY_ARRAY && !s->agg ? array_text(s, v) : v;
}

FlVal fl_builtin_to_text(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v) || v.type->kind == FL_TY_NULL) return v;
  return to_text(s, v, (ToText){"", true}, c->args[0].span);
}

/* ---- tuples and arrays ---- */

static FlVal tuple_value(FlSema *s, const FlExpr *e, const FlType *want) {
  int n = e->tuple.n;
  const FlType *row = want && want->kind == FL_TY_TUPLE ? want : NULL;
  const char **names = FL_NEW_ARRAY(s->arena, const char *, n + 1);
  FlVal *values = FL_NEW_ARRAY(s->arena, FlVal, n + 1);
  bool bad = false, open = s->open_nulls == e;
  for (int i = 0; i < n; i++) {
    const FlTupleItem *f = &e->tuple.at[i];
    s->open_nulls = open ? f->value : NULL;
    names[i] = f->name.text ? f->name.text : fl_intern_z(s->names, fl_arena_printf(s->arena, "%d", i));
    for (int k = 0; k < i; k++)
      if (names[k] == names[i]) {
        fl_sema_error(s, FL_E0305, f->span, "the field `%s` is there twice", names[i]);
        bad = true;
      }
    int at = row ? fl_type_field_find(row, names[i]) : -1;
    FlSavedUnit unit = fl_sema_unit(s); /* a field that nobody uses is not evaluated */
    values[i] = fl_sema_expr(s, f->value, at >= 0 ? row->fields[at].type : NULL);
    values[i] = fl_sema_unit_end(s, unit, values[i]);
    if (values[i].type->kind == FL_TY_NONE)
      values[i] = fl_sema_error(s, FL_E0309, f->value->span, "this gives no value");
    if (values[i].type->kind == FL_TY_NULL && at >= 0 && row->fields[at].type->kind == FL_TY_SCALAR)
      values[i] = fl_val_null_of(s, row->fields[at].type);
    if (values[i].type->kind == FL_TY_NULL && !open)
      values[i] = fl_sema_error(s, FL_E0503, f->value->span, "nothing says which type this null has");
    bad = bad || fl_val_bad(values[i]);
    if (at >= 0 && !fl_val_bad(values[i]) && fl_val_fits(s, values[i], row->fields[at].type))
      values[i] = fl_val_coerce(s, values[i], row->fields[at].type, f->value->span, "the field");
  }
  if (bad) return fl_val_error(s);
  FlVal v = fl_val_tuple(s, n, names, values, NULL);
  for (int i = 0; i < n; i++) /* functions as fields: kept only when there is one */
    if (values[i].fn)
      return fl_sema_error(s, FL_E0310, e->tuple.at[i].value->span, "a function cannot be stored in a tuple");
  return v;
}

/* The elements side by side; as_list: a list of them, also where they could be one array or table. */
static FlVal array_of(FlSema *s, FlVal *items, int n, const FlType *t, bool as_list, FlSpan span) {
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  if (t->kind == FL_TY_SCALAR && !as_list) {
    FlValue *parts[2] = {0};
    FlType1 types[2] = {fl_t_array(fl_dtype_stored(t->dtype), 1), fl_t_array(FL_BOOL, 1)};
    for (int p = 0; p < fl_type_element_parts(t); p++) {
      for (int i = 0; i < n; i++) args[i] = items[i].parts[p];
      parts[p] = fl_ir_op(&s->b, FL_OP_ARRAY, n, args, 1, &types[p], 0)->results[0];
    }
    return fl_val_with(s, fl_type_array(s->types, t->dtype, t->nullable, 1), parts,
                       n ? items[0] : fl_val_null_of(s, t));
  }
  const FlType *many = as_list ? fl_type_list(s->types, t) : fl_type_many(s->types, t);
  if (s->types->refused) return fl_val_refused(s, span);
  FlVal out = {.type = many, .parts = FL_NEW_ARRAY(s->arena, FlValue *, many->n_parts + 1)};
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, many->n_parts + 1);
  fl_type_parts(many, types);
  if (t->kind == FL_TY_ARRAY && !as_list)
    for (int i = 1; i < n; i++)
      for (int k = 0; k < t->rank; k++)
        if (!fl_sema_same_size(
                s, fl_sema_dim(s, items[0], k), fl_sema_dim(s, items[i], k), span,
                "the rows of an array must have one size, but one has {a} elements and another {b}"))
          return fl_val_error(s);
  int at = 0;
  if (many->kind == FL_TY_TABLE) out.parts[at++] = fl_sema_i64(s, n);
  for (int p = 0; p < t->n_parts; p++, at++) {
    for (int i = 0; i < n; i++) args[i] = items[i].parts[p];
    if (many->levels[at]) {
      out.parts[at] = n ? args[0] : fl_levels_none(s);
      continue;
    }
    if (types[at].rank == 1 && types[at].depth == 0) {
      out.parts[at] = fl_ir_op(&s->b, FL_OP_ARRAY, n, args, 1, &types[at], 0)->results[0];
      continue;
    }
    FlType1 list = n ? args[0]->type : types[at];
    list.depth++;
    FlValue *l = fl_ir_op(&s->b, FL_OP_LIST_OF, n, args, 1, &list, 0)->results[0];
    if (many->kind == FL_TY_LIST) {
      out.parts[at] = l;
      continue;
    }
    FlValue *stacked = out.parts[at] = fl_ir_op(&s->b, FL_OP_LIST_STACK, 1, &l, 1, &types[at], 0)->results[0];
    fl_sema_alias(s, fl_ir_dim(&s->b, stacked, 0), fl_sema_i64(s, n));
    for (int k = 1; n && k < types[at].rank; k++)
      fl_sema_alias(s, fl_ir_dim(&s->b, stacked, k), fl_ir_dim(&s->b, args[0], k - 1));
  }
  return out;
}

static FlVal array_value(FlSema *s, const FlExpr *e, const FlType *want) {
  int n = e->array.n;
  const FlType *elem = NULL;
  bool as_list = want && want->kind == FL_TY_LIST;
  if (want && want->kind == FL_TY_ARRAY)
    elem = want->rank == 1 ? fl_type_scalar(s->types, want->dtype, want->nullable)
                           : fl_type_array(s->types, want->dtype, want->nullable, want->rank - 1);
  else if (want && (want->kind == FL_TY_TABLE || want->kind == FL_TY_LIST)) elem = want->elem;
  if (n == 0) {
    if (!elem)
      return fl_sema_error(s, FL_E0311, e->span,
                           "nothing says what this empty array holds; write `let x: f64[_] = []`");
    return array_of(s, NULL, 0, elem, as_list, e->span);
  }
  FlVal *items = FL_NEW_ARRAY(s->arena, FlVal, n);
  FlSpan *spans = FL_NEW_ARRAY(s->arena, FlSpan, n);
  for (int i = 0; i < n; i++) {
    s->open_nulls = e->array.at[i];
    items[i] = fl_sema_expr(s, e->array.at[i], elem);
    spans[i] = e->array.at[i]->span;
    if (fl_val_bad(items[i])) return items[i];
    if (items[i].type->kind == FL_TY_NONE || items[i].type->kind == FL_TY_FUNC)
      return fl_sema_error(s, FL_E0309, spans[i], "this gives no value that an array could hold");
  }
  const FlType *t;
  if (!fl_val_unify(s, items, n, spans, "the elements of an array", &t)) return fl_val_error(s);
  if (elem && elem->kind == FL_TY_SCALAR && t->kind == FL_TY_SCALAR) {
    bool fits = true;
    for (int i = 0; i < n; i++) fits = fits && fl_val_fits(s, items[i], elem);
    if (fits) t = elem;
  }
  if (t->kind == FL_TY_NULL)
    return fl_sema_error(s, FL_E0503, e->span, "nothing says which type these nulls have");
  int first = 0; /* whose levels all have: not a null's */
  for (int i = 0; i < n; i++) {
    items[i] = fl_val_coerce(s, items[i], t, spans[i], "an element");
    if (fl_val_bad(items[i])) return items[i];
    FlValue *levels = fl_val_levels(items[first]);
    if (levels && fl_levels_are_none(levels)) first = i;
  }
  for (int i = 0; i < n && t->kind != FL_TY_TABLE && t->kind != FL_TY_LIST; i++) {
    items[i] = fl_levels_adopt(s, items[i], items[first], spans[i]);
    if (fl_val_bad(items[i])) return items[i];
  }
  return array_of(s, items, n, t, as_list, e->span);
}

/* ---- fields ---- */

const char *fl_sema_closest_field(FlSema *s, const FlType *row, const char *name) {
  const char **names = FL_NEW_ARRAY(s->arena, const char *, row->n_fields + 1);
  for (int i = 0; i < row->n_fields; i++) names[i] = row->fields[i].name;
  return fl_closest(name, names, row->n_fields);
}

/* Which names a module has: those that the name is part of, else the first ones. */
static void say_members(FlSema *s, FlDiag *d, const char *name, int n, const char *const *names) {
  enum { MOST = 12 };
  int like = 0, said = 0;
  for (int i = 0; i < n; i++) like += strcasestr(names[i], name) != NULL;
  FlText1 list = {0};
  for (int i = 0; i < n && said < MOST; i++)
    if (!like || strcasestr(names[i], name)) fl_text_addf(&list, "%s%s", said++ ? ", " : "", names[i]);
  bool more = said < (like ? like : n);
  if (said) fl_diag_help(s->sink, d, "it has %s%s", list.s, more ? " .." : "");
  fl_text_reset(&list);
}

FlBinding *fl_sema_member(FlSema *s, FlBinding *m, FlName name) {
  FlBinding *b = fl_scope_find_in(m->file->scope, name.text);
  if (b && b->kind != FL_BIND_MODULE) {
    if (!fl_sema_is_private(name.text)) return b;
    fl_sema_private_error(s, m, name);
    return NULL;
  }
  if (m->file->lost) return NULL;
  const char *names[512];
  int n = 0;
  for (int i = 0; i < m->file->scope->names.n && n < 512; i++) {
    const FlBinding *known = m->file->scope->names.at[i];
    if (!fl_sema_is_private(known->name) && known->kind != FL_BIND_MODULE) names[n++] = known->name;
  }
  FlDiag *d = fl_sema_report(s, FL_E0205, name.span, "the module `%s` has no `%s`", m->name, name.text);
  const char *near = fl_closest(name.text, names, n);
  if (fl_habit_member(s, d, m->file->name, m->name, name, names, n)) return NULL;
  if (near) fl_diag_meant(s->sink, d, name.span, fl_arena_printf(s->arena, "%s.", m->name), near);
  else say_members(s, d, name.text, n, names);
  return NULL;
}

FlBinding *fl_sema_module_of(FlSema *s, const FlExpr *e) {
  if (e->kind != FL_EXPR_NAME) return NULL;
  FlBinding *b = fl_scope_find(s, e->name.text);
  if (!b || b->kind != FL_BIND_MODULE) return NULL;
  b->used = true;
  fl_witness_name(s, e->span, b);
  return b;
}

static FlVal field_value(FlSema *s, const FlExpr *e) {
  FlBinding *m = fl_sema_module_of(s, e->field.base);
  if (m) {
    FlBinding *member = fl_sema_member(s, m, e->field.name);
    return member ? value_of_binding(s, member, e->field.name.span) : fl_val_error(s);
  }
  FlVal drawing;
  if (fl_plot_member(s, e->field.base, e->field.name, &drawing)) return drawing;
  FlVal v = fl_sema_expr(s, e->field.base, NULL);
  if (fl_val_bad(v)) fl_habit_method(s, e);
  if (fl_val_bad(v)) return v;
  const FlType *row = fl_type_row(v.type);
  if (!row && v.type->kind == FL_TY_LIST) row = fl_type_row(v.type->elem);
  FlName name = e->field.name;
  if (!row) {
    FlDiag *d = fl_sema_report(s, FL_E0604, name.span, "%s has no fields", fl_val_text(s, v));
    if (!fl_habit_shape(s, d, v, e) && !fl_habit_field(s, d, name.text)) fl_habit_method(s, e);
    return fl_val_error(s);
  }
  int k = fl_type_field_find(row, name.text);
  if (k < 0) {
    bool table = v.type->kind == FL_TY_TABLE;
    FlDiag *d =
        fl_sema_report(s, FL_E0601, name.span, "there is no %s `%s`", table ? "column" : "field", name.text);
    if (!fl_habit_shape(s, d, v, e) && !fl_habit_field(s, d, name.text))
      fl_sema_help_field(s, d, row, name, "it has");
    return fl_val_error(s);
  }
  if (v.type->kind != FL_TY_LIST) return fl_val_field(s, v, k);
  /* A list of tuples or tables: the list of that field. */
  const FlType *ft = row->fields[k].type;
  if (v.type->elem->kind == FL_TY_TABLE) ft = fl_type_many(s->types, ft);
  const FlType *list =
      ft->kind == FL_TY_ARRAY || ft->kind == FL_TY_TABLE || ft->kind == FL_TY_LIST || ft->kind == FL_TY_TUPLE
          ? fl_type_list(s->types, ft)
          : fl_type_many(s->types, ft);
  return fl_val_make(s, list, v.parts + fl_type_field_part(v.type->elem, k));
}

/* ---- literals ---- */

static FlVal int_value(FlSema *s, const FlExpr *e, const FlType *want) {
  FlVal v = {.literal = FL_LIT_INT, .magnitude = e->integer.value, .spelling = e->integer.spelling};
  FlDtype plain = v.magnitude > INT64_MAX ? FL_U64 : FL_I64, d = plain;
  if (want && want->kind == FL_TY_SCALAR && fl_dtype_is_number(want->dtype)) d = want->dtype;
  v.type = fl_type_scalar(s->types, plain, false);
  v.parts = FL_NEW_ARRAY(s->arena, FlValue *, 1);
  v.parts[0] = fl_ir_const_i(&s->b, plain, (int64_t)v.magnitude);
  return d == plain ? v : fl_val_as_literal_type(s, v, d, e->span);
}

static FlVal float_value(FlSema *s, const FlExpr *e, const FlType *want) {
  FlDtype d = want && want->kind == FL_TY_SCALAR && want->dtype == FL_F32 ? FL_F32 : FL_F64;
  FlVal v = fl_val_scalar(s, FL_F64, fl_ir_const_f(&s->b, FL_F64, e->real.value));
  v.literal = FL_LIT_FLOAT;
  v.real = e->real.value;
  v.spelling = e->real.spelling;
  return d == FL_F64 ? v : fl_val_as_literal_type(s, v, d, e->span);
}

static bool has_var(const FlScope *scope) {
  bool any = false;
  for (int i = 0; i < scope->names.n && !any; i++) any = scope->names.at[i]->kind == FL_BIND_VAR;
  return any;
}

/* A lambda sees the names around it, and variables, as they are now. */
static FlScope *snapshot(FlSema *s, FlScope *scope) {
  if (!scope) return NULL;
  FlScope *outer = snapshot(s, scope->parent);
  if (!has_var(scope)) {
    FlScope *now = fl_scope_as_now(s, scope);
    now->parent = outer;
    return now;
  }
  FlScope *copy = fl_scope_push(s, outer, scope->kind);
  copy->columns = scope->columns;
  for (int i = 0; i < scope->names.n; i++) {
    FlBinding *b = fl_arena_copy(s->arena, scope->names.at[i], sizeof *b);
    if (b->kind == FL_BIND_VAR) b->kind = FL_BIND_VALUE;
    else b = scope->names.at[i];
    fl_scope_add(s, copy, b);
  }
  return copy;
}

static FlVal range_value(FlSema *s, const FlExpr *e) {
  FlRangeVal r;
  if (!fl_sema_range(s, e, &r)) return fl_val_error(s);
  FlSemaMap map = fl_sema_map(s, 1, &r.count, FL_I64);
  return fl_val_array(s, FL_I64, 1, fl_sema_map_end(s, &map, fl_sema_range_at(s, &r, map.index[0])));
}

static FlVal transpose_value(FlSema *s, const FlExpr *e) {
  FlVal v = fl_sema_expr(s, e->operand, NULL);
  if (fl_val_bad(v)) return v;
  if (v.type->kind != FL_TY_ARRAY || v.type->rank != 2)
    return fl_sema_error(s, FL_E0403, e->span,
                         "only an array of two dimensions has a transpose, and this is %s",
                         fl_val_text(s, v));
  FlValue *parts[2];
  for (int p = 0; p < fl_type_element_parts(v.type); p++)
    parts[p] = fl_ir_op(&s->b, FL_OP_TRANSPOSE, 1, &v.parts[p], 1, &v.parts[p]->type, 0)->results[0];
  return fl_val_with(s, v.type, parts, v);
}

static FlVal dispatch(FlSema *s, const FlExpr *e, const FlType *want) {
  switch (e->kind) {
  case FL_EXPR_ERROR: return fl_val_error(s);
  case FL_EXPR_INT: return int_value(s, e, want);
  case FL_EXPR_FLOAT: return float_value(s, e, want);
  case FL_EXPR_BOOL: return fl_val_bool(s, e->boolean);
  case FL_EXPR_NULL:
    return want && want->kind == FL_TY_SCALAR && want->nullable ? fl_val_null_of(s, want)
                                                                : (FlVal){.type = s->types->null};
  case FL_EXPR_TEXT: return text_value(s, e);
  case FL_EXPR_NAME: return name_value(s, e->name);
  case FL_EXPR_COL: return column_value(s, e->name, false);
  case FL_EXPR_OUTER: return column_value(s, e->name, true);
  case FL_EXPR_TUPLE: return tuple_value(s, e, want);
  case FL_EXPR_ARRAY: return array_value(s, e, want);
  case FL_EXPR_COMPREHENSION: return fl_sema_comprehension(s, e);
  case FL_EXPR_REDUCE: return fl_sema_reduce_for(s, e);
  case FL_EXPR_BLOCK: return fl_sema_block(s, &e->block, want);
  case FL_EXPR_IF: return fl_sema_if(s, e, want);
  case FL_EXPR_MATCH: return fl_sema_match(s, e, want);
  case FL_EXPR_LAMBDA:
    return closure_of(
        s, (FlClosure){.lambda = e, .scope = snapshot(s, s->scope), .agg = s->agg, .frame = s->frame});
  case FL_EXPR_CALL: return fl_sema_call(s, e, NULL, e->span, want);
  case FL_EXPR_PIPE: {
    FlVal v = fl_sema_expr_or_groups(s, e->pipe.value, NULL);
    if (fl_val_bad(v)) return v;
    FlVal out = fl_sema_call(s, e->pipe.call, &v, e->pipe.value->span, want);
    fl_sema_see(s, e->pipe.call->span, out, false);
    if (s->witness) fl_witness_step(s, e->pipe.call->span, v, out);
    return out;
  }
  case FL_EXPR_INDEX: return fl_sema_index(s, e);
  case FL_EXPR_FIELD: return field_value(s, e);
  case FL_EXPR_TRANSPOSE: return transpose_value(s, e);
  case FL_EXPR_UNARY: {
    FlVal v = fl_sema_expr(s, e->unary.operand,
                           e->unary.op == FL_UN_NEG && e->unary.operand->kind == FL_EXPR_FLOAT ? want : NULL);
    if (fl_val_bad(v)) return v;
    FlVal out = e->unary.op == FL_UN_NEG ? fl_sema_negate(s, v, e->span) : fl_sema_not(s, v, e->span);
    if (out.literal && want && want->kind == FL_TY_SCALAR && fl_dtype_is_number(want->dtype))
      return fl_val_as_literal_type(s, out, want->dtype, e->span);
    return out;
  }
  case FL_EXPR_BINARY: return fl_sema_binary_expr(s, e, want);
  case FL_EXPR_RANGE: return range_value(s, e);
  case FL_EXPR_TYPE: return fl_sema_error(s, FL_E0204, e->span, "a type stands here where a value is wanted");
  }
  return fl_val_error(s);
}

FlVal fl_sema_expr_or_groups(FlSema *s, const FlExpr *e, const FlType *want) {
  FlVal v;
  if (s->depth > FL_SEMA_DEPTH) {
    v = fl_sema_error(s, FL_E0206, e->span, "calls and expressions are nested too deeply here");
    return v;
  }
  FlSpan outer = s->b.span;
  s->b.span = e->span;
  s->depth++;
  if (!s->agg || !fl_by_group(s, e, want, &v)) v = dispatch(s, e, want);
  if (s->types->refused) v = fl_val_refused(s, e->span);
  s->depth--;
  s->b.span = outer;
  if (s->witness) fl_witness_value(s, e->span, v);
  return v;
}

FlVal fl_sema_refuse_groups(FlSema *s, FlVal v, FlSpan span, const char *who) {
  if (!fl_type_is_grouped(v.type)) return v;
  const char *keys = fl_type_keys_text(s->types, v.type);
  FlDiag *d = who ? fl_sema_report(s, FL_E0612, span, "`%s` does not work on groups", who)
                  : fl_sema_report(s, FL_E0612, span, "only verbs take a table in groups, as this one is");
  fl_diag_note(s->sink, d, (FlSpan){0}, "the table is grouped by %s", keys);
  if (who && (strcmp(who, "split") == 0 || strcmp(who, "kfold") == 0))
    fl_diag_help(s->sink, d, "with `stratify = %s` every part has its share of each; or `ungroup` first",
                 v.type->keys[0]);
  else fl_diag_help(s->sink, d, "use it before `group_by`, or after `ungroup`");
  return fl_val_error(s);
}

FlVal fl_sema_expr(FlSema *s, const FlExpr *e, const FlType *want) {
  FlVal v = fl_sema_expr_or_groups(s, e, want);
  if (fl_type_is_grouped(v.type)) v = fl_sema_refuse_groups(s, v, e->span, NULL);
  return v;
}
