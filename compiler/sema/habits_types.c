/* habits_types.c: what other languages write alike for several types, and flow by the type.
 *
 * In: a value whose type is known, in a message about it. Out: the edit that says it for that type. */
#include "sema/habits.h"
#include "sema/scope.h"

static const char *text_of(FlSema *s, FlSpan at) {
  return fl_arena_strndup(s->arena, fl_sources_get(s->sources, at.file)->text + at.start, at.len);
}

static void put(FlDiag *d, FlSpan at, const char *by) {
  d->edit.span = at;
  d->edit.text = by;
}

void fl_habit_call(FlSema *s, FlDiag *d, FlSpan argument, const char *name, const char *by) {
  const uint32_t n = (uint32_t)strlen(name);
  const char *file = fl_sources_get(s->sources, argument.file)->text;
  if (argument.start <= n || file[argument.start - 1] != '(') return;
  if (strncmp(file + argument.start - 1 - n, name, n) != 0) return;
  put(d, (FlSpan){.file = argument.file, .start = argument.start - 1 - n, .len = n}, by);
}

void fl_habit_truth(FlSema *s, FlDiag *d, FlVal v, FlSpan condition) {
  const bool scalar = v.type->kind == FL_TY_SCALAR && !v.type->nullable,
             text = scalar && v.type->dtype == FL_TEXT;
  if (!scalar || !(text || v.type->dtype == FL_I64 || v.type->dtype == FL_F64)) return;
  const char *by = fl_arena_printf(s->arena, text ? "%s != \"\"" : "%s != 0", text_of(s, condition));
  fl_diag_help(s->sink, d, "say what is asked: `%s`", by);
  put(d, condition, by);
}

void fl_habit_length(FlSema *s, FlDiag *d, FlSpan argument) {
  fl_diag_help(s->sink, d, "the length of a text is `n_chars(...)`");
  fl_habit_call(s, d, argument, "len", "n_chars");
}

void fl_habit_rows(FlSema *s, FlVal t, const FlExpr *value) {
  const bool one = value && value->kind == FL_EXPR_CALL && value->call.args.n == 1;
  const FlExpr *f = one ? value->call.func : NULL;
  const FlExpr *of = f ? value->call.args.at[0].value : NULL;
  if (!f || f->kind != FL_EXPR_NAME || strcmp(f->name.text, "len") != 0 || of->kind != FL_EXPR_NAME) return;
  const FlType *row = fl_type_row(t.type);
  const bool other = fl_scope_find(s, "len") || fl_type_is_grouped(t.type);
  const int k = other ? -1 : fl_type_field_find(row, of->name.text);
  if (k < 0 || row->fields[k].type->kind != FL_TY_SCALAR || row->fields[k].type->dtype != FL_TEXT) return;
  FlDiag *d = fl_report(s->sink, FL_W0004, value->span, "this is the number of rows, the same in each row");
  fl_diag_help(s->sink, d, "the length of each text is `n_chars(%s)`", of->name.text);
  put(d, f->span, "n_chars");
}

/* Does a name stand for a column of a table without groups, one value a row? */
static bool of_each_row(FlSema *s, const FlExpr *e) {
  const FlBinding *b = e->kind == FL_EXPR_NAME ? fl_scope_find(s, e->name.text) : NULL;
  const bool column = e->kind == FL_EXPR_COL || (b && b->kind == FL_BIND_COLUMN);
  return column && s->agg && s->agg->mode == FL_AGG_SPREAD && !s->agg->group_of && !s->agg->some_rows;
}

void fl_habit_part(FlSema *s, const FlExpr *e, FlVal part, FlVal of, FlVal out) {
  const FlExpr *right = e->binary.right;
  const bool array = of.type->kind == FL_TY_ARRAY && of.type->rank == 1;
  const bool texts = (array || of.type->kind == FL_TY_SCALAR) && of.type->dtype == FL_TEXT;
  if (!texts || part.type->kind != FL_TY_SCALAR || part.type->dtype != FL_TEXT) return;
  if (array && !of_each_row(s, right)) return;
  FlDiag *d = s->sink->diags.n ? s->sink->diags.at[s->sink->diags.n - 1] : NULL;
  if (!out.parts && (!d || d->code != FL_E0312)) return;
  if (out.parts)
    d = fl_report(s->sink, FL_W0005, e->span,
                  "this asks whether any row is this text, the same for each row");
  const char *by = fl_arena_printf(s->arena, "contains(%s, %s)", text_of(s, right->span),
                                   text_of(s, e->binary.left->span));
  fl_diag_help(s->sink, d, "in flow: `%s` says whether a text holds a part", by);
  put(d, e->span, by);
}

/* A name that is a function, in a verb that has a column whose name is spelt like it. */
static const char *column_like(FlSema *s, const FlExpr *e, FlVal v) {
  const FlScope *columns = s->scope;
  const char *const *names = NULL;
  if (e->kind != FL_EXPR_NAME || v.type->kind != FL_TY_FUNC) return NULL;
  while (columns && columns->kind != FL_SCOPE_COLUMNS) columns = columns->parent;
  const int n = columns ? fl_scope_list(s, columns, &names) : 0;
  return fl_closest(e->name.text, names, n);
}

/* One row's value, or one of a column in a verb, that is never null. */
static bool one_value(FlSema *s, FlVal v) {
  return !v.type->nullable && (v.type->kind == FL_TY_SCALAR || (v.type->kind == FL_TY_ARRAY && s->agg));
}

/* What stands in a text for an operand of `+`; NULL: it cannot stand there. literal: one is written out. */
static const char *piece(FlSema *s, const FlExpr *e, FlVal v, bool *literal) {
  const char *plain = fl_habit_plain_text(e);
  if (plain && *plain && !plain[strspn(plain, "-.0123456789")]) return NULL; /* a number may be meant */
  if (e->kind == FL_EXPR_INT) return text_of(s, e->span);
  *literal = *literal || e->kind == FL_EXPR_TEXT;
  if (e->kind == FL_EXPR_BINARY && e->binary.op == FL_BIN_ADD && v.type->dtype == FL_TEXT) {
    const char *left = piece(s, e->binary.left, v, literal), *right = piece(s, e->binary.right, v, literal);
    return left && right ? fl_arena_printf(s->arena, "%s%s", left, right) : NULL;
  }
  const char *text = text_of(s, e->span);
  const size_t n = strlen(text);
  if (e->kind == FL_EXPR_TEXT && n > 1 && text[0] == '"' && strncmp(text, "\"\"\"", 3) != 0)
    return fl_arena_strndup(s->arena, text + 1, n - 2);
  return one_value(s, v) && !strpbrk(text, ":!\n") ? fl_arena_printf(s->arena, "{%s}", text) : NULL;
}

/* `"x is " + p` */
static bool joined(FlSema *s, FlDiag *d, const FlExpr *e, FlVal a, FlVal b) {
  const bool texts = a.type->dtype == FL_TEXT || b.type->dtype == FL_TEXT;
  if (e->binary.op != FL_BIN_ADD || !texts || !one_value(s, a) || !one_value(s, b)) return false;
  bool literal = false; /* else a text may be meant to be read as a number */
  const char *left = piece(s, e->binary.left, a, &literal), *right = piece(s, e->binary.right, b, &literal);
  if (!left || !right || !literal) return false;
  const char *by = fl_arena_printf(s->arena, "\"%s%s\"", left, right);
  fl_diag_help(s->sink, d, "in flow: `%s`", by);
  put(d, e->span, by);
  return true;
}

void fl_habit_operands(FlSema *s, const FlExpr *e, FlVal a, FlVal b) {
  FlDiag *d = s->sink->diags.n ? s->sink->diags.at[s->sink->diags.n - 1] : NULL;
  const FlExpr *left = e->binary.left, *right = e->binary.right;
  const bool steps = e->binary.op == FL_BIN_ADD || e->binary.op == FL_BIN_SUB,
             day = a.type->kind == FL_TY_SCALAR || a.type->kind == FL_TY_ARRAY ? a.type->dtype == FL_DATE
                                                                               : false;
  if (!d || d->code != FL_E0312 || d->edit.text || joined(s, d, e, a, b)) return;
  if (steps && day && b.type->kind == FL_TY_SCALAR && b.type->dtype == FL_I64) {
    const char *by = fl_arena_printf(s->arena, "days(%s)", text_of(s, right->span));
    fl_diag_help(s->sink, d, "in flow: `%s %s %s`, a step in time is a duration", text_of(s, left->span),
                 text_of(s, e->binary.op_span), by);
    put(d, right->span, by);
    return;
  }
  const char *first = column_like(s, left, a), *near = first ? first : column_like(s, right, b);
  if (near) fl_diag_meant(s->sink, d, first ? left->span : right->span, "", near);
}

void fl_habit_begins_whole(FlSema *s, FlVal v, const FlBinding *b) {
  const bool floats = v.type->kind == FL_TY_SCALAR && fl_dtype_is_float(v.type->dtype) && !v.type->nullable;
  if (!floats || b->val.type->kind != FL_TY_SCALAR || b->val.type->dtype != FL_I64 || !s->sink->diags.n)
    return;
  FlDiag *d = s->sink->diags.at[s->sink->diags.n - 1];
  const char *text = fl_sources_get(s->sources, b->span.file)->text + b->span.start + b->span.len;
  const size_t sign = strspn(text, " "), gap = text[sign] == '=' ? strspn(text + sign + 1, " ") : 0,
               from = sign + 1 + gap, n = strspn(text + from, "0123456789");
  static const char converts[] = "convert it", divides[] = "`/` gives a float";
  const bool quotient = d->help && strncmp(d->help, divides, strlen(divides)) == 0;
  if (!d->help || (!quotient && strncmp(d->help, converts, strlen(converts)) != 0)) return; /* it says more */
  if (d->code != FL_E0301 || text[sign] != '=' || !n || !strchr("\n;", text[from + n])) return;
  const FlSpan number = {
      .file = b->span.file, .start = b->span.start + b->span.len + (uint32_t)from, .len = (uint32_t)n};
  const char *by = fl_arena_printf(s->arena, "%s.0", text_of(s, number));
  fl_diag_help(s->sink, d, "it begins with an integer: `var %s = %s`%s", b->name, by,
               quotient ? "; the quotient of integers that is rounded down is written `//`" : "");
  put(d, number, by);
}

void fl_habit_rounded(FlSema *s, FlDiag *d, FlVal t, FlSpan call, FlSpan table, FlSpan digits) {
  static const char name[] = "round(";
  const FlType *row = fl_type_row(t.type);
  const char *by = "", *n = text_of(s, digits);
  if (strncmp(text_of(s, call), name, strlen(name)) != 0 || table.start != call.start + strlen(name)) return;
  for (int k = 0; k < row->n_fields; k++) {
    const FlTyField *c = &row->fields[k];
    if (c->type->kind == FL_TY_SCALAR && fl_dtype_is_float(c->type->dtype))
      by = fl_arena_printf(s->arena, "%s, %s = round(%s, digits = %s)", by, c->name, c->name, n);
  }
  if (!*by) return;
  by = fl_arena_printf(s->arena, "derive(%s%s)", text_of(s, table), by);
  fl_diag_help(s->sink, d, "its columns of floats are rounded one by one: `%s`", by);
  put(d, call, by);
}

bool fl_habit_shape(FlSema *s, FlDiag *d, FlVal v, const FlExpr *field) {
  if (strcmp(field->field.name.text, "shape") != 0) return false;
  const char *of = text_of(s, field->field.base->span), *by = NULL;
  const FlExprKind kind = field->field.base->kind;
  if (kind != FL_EXPR_NAME && kind != FL_EXPR_FIELD && kind != FL_EXPR_CALL && kind != FL_EXPR_INDEX)
    return false;
  if (v.type->kind == FL_TY_TABLE)
    by = fl_arena_printf(s->arena, "[len(%s), %d]", of, fl_type_row(v.type)->n_fields);
  if (v.type->kind == FL_TY_ARRAY && v.type->rank == 1) by = fl_arena_printf(s->arena, "[len(%s)]", of);
  if (v.type->kind == FL_TY_ARRAY && v.type->rank == 2)
    by = fl_arena_printf(s->arena, "[len(%s), len(%s')]", of, of);
  if (!by) return false;
  fl_diag_help(s->sink, d, "in flow: `%s`", by);
  put(d, field->span, by);
  return true;
}
