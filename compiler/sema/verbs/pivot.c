/* pivot.c: rows become columns and columns rows: pivot(t, name = k, value = v, into = (a, b)) and
 * unpivot(t, a, b, name = k, value = v).
 *
 * In: a table and the columns that are made, which are known while compiling. Out of pivot: one row for each
 * combination of the keys (the keys of the groups, else all columns that `name =` and `value =` do not
 * mention), by ascending keys, and for each name of `into =` a column, null where no row has it. Out of
 * unpivot: each row once for each of the columns, rows in their order. */
#include "data/name_text.h"
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/known_values.h"
#include "sema/verbs/groups.h"
#include "sema/verbs/verbs.h"

enum { MAX_INTO = 1000 };

/* ---- pivot: its arguments ---- */

typedef struct Pivot {
  FlVal t;
  FlVal text, valid; /* of each row: its name as text; valid: no type when it is never null */
  const FlType *name_type;
  const char *name; /* of the column where names stand, for messages */
  int n_into;
  const char **into; /* names of the columns that are made */
  FlValue **is;      /* their names among the rows, texts */
  bool drop;         /* rows with other names */
  FlValue *code;     /* i32[rows]: which of `into` */
  int n_keys;
  int *key; /* columns of t */
} Pivot;

static bool read_name(FlSema *s, Pivot *p, FlActual *a) {
  p->name = a->expr && a->expr->kind == FL_EXPR_NAME ? a->expr->name.text : "name";
  FlVal v = fl_verb_as_column(s, fl_verb_expr(s, p->t, a, FL_AGG_SPREAD), fl_val_rows(p->t), a->span, "name");
  if (fl_val_bad(v) || !fl_verb_is_key(s, v, a->span, "pivot")) return false;
  p->name_type = v.type;
  FlValue *valid = fl_val_valid(s, v);
  if (valid) p->valid = fl_val_array(s, FL_BOOL, 1, valid);
  p->text = fl_sema_to_text(s, fl_val_plain(s, v), NULL, a->span);
  return !fl_val_bad(p->text);
}

/* One name of `into`: a bare name or text stands for itself, `column = value` for a value of another text. */
static bool read_item(FlSema *s, Pivot *p, FlName name, const FlExpr *e) {
  FlActual a = {.expr = e, .span = e->span};
  const char *text = e->kind == FL_EXPR_NAME ? e->name.text : NULL;
  int at = p->n_into++;
  if (!name.text && !text && (e->kind != FL_EXPR_TEXT || !fl_actual_const_text(s, &a, &text))) {
    FlDiag *d = fl_sema_report(s, FL_E0644, e->span, "`into =` takes names, which become columns");
    fl_diag_help(s->sink, d,
                 "for a value that is no name, say what its column is called: `into = (y2026 = 2026)`");
    return false;
  }
  p->into[at] = name.text ? name.text : fl_intern_z(s->names, text);
  for (int i = 0; i < at; i++)
    if (p->into[i] == p->into[at]) {
      fl_sema_error(s, FL_E0619, e->span, "the column `%s` would be there twice", p->into[at]);
      return false;
    }
  if (!name.text) {
    p->is[at] = fl_ir_const_t(&s->b, text, (int)strlen(text));
    return true;
  }
  bool texts = p->name_type->dtype == FL_TEXT || p->name_type->dtype == FL_CATEGORY;
  const FlType *want = fl_type_scalar(s->types, texts ? FL_TEXT : p->name_type->dtype, false);
  FlVal v = fl_val_coerce(s, fl_actual_value(s, &a, want), want, e->span, "this name");
  if (!fl_val_bad(v)) v = fl_sema_to_text(s, v, NULL, e->span);
  if (fl_val_bad(v)) return false;
  p->is[at] = v.parts[0];
  return true;
}

static bool read_into(FlSema *s, Pivot *p, const FlActual *a) {
  const FlExpr *e = a->expr;
  int n = e && e->kind == FL_EXPR_TUPLE ? e->tuple.n : 1;
  if (!e || !n || n > MAX_INTO) {
    fl_sema_error(s, FL_E0210, a->span, "`into =` takes 1 to %d names", MAX_INTO);
    return false;
  }
  p->into = FL_NEW_ARRAY(s->arena, const char *, n);
  p->is = FL_NEW_ARRAY(s->arena, FlValue *, n);
  if (e->kind != FL_EXPR_TUPLE) return read_item(s, p, (FlName){0}, e);
  for (int i = 0; i < n; i++)
    if (!read_item(s, p, e->tuple.at[i].name, e->tuple.at[i].value)) return false;
  return true;
}

typedef struct Mentions {
  const FlType *row;
  bool *at;
} Mentions;

static bool mention(void *env, const FlExpr *e) {
  Mentions *m = env;
  if (e->kind == FL_EXPR_CALL && e->call.func->kind == FL_EXPR_NAME) { /* a name before ( is a function */
    FlWalker w = {.env = env, .expr = mention};
    for (int i = 0; i < e->call.args.n; i++) fl_syntax_walk_expr(&w, e->call.args.at[i].value);
    return false;
  }
  int k = e->kind == FL_EXPR_NAME || e->kind == FL_EXPR_COL ? fl_type_field_find(m->row, e->name.text) : -1;
  if (k >= 0) m->at[k] = true;
  return true;
}

static bool find_keys(FlSema *s, Pivot *p, const FlActual *name, const FlActual *value) {
  const FlType *row = p->t.type->elem;
  Mentions m = {row, FL_NEW_ARRAY(s->arena, bool, row->n_fields + 1)};
  FlWalker w = {.env = &m, .expr = mention};
  p->key = FL_NEW_ARRAY(s->arena, int, row->n_fields + 1);
  for (int i = 0; i < p->t.type->n_keys; i++)
    p->key[p->n_keys++] = fl_type_field_find(row, p->t.type->keys[i]);
  if (name->expr) fl_syntax_walk_expr(&w, name->expr);
  if (value->expr) fl_syntax_walk_expr(&w, value->expr);
  for (int k = 0; !fl_type_is_grouped(p->t.type) && k < row->n_fields; k++)
    if (!m.at[k]) p->key[p->n_keys++] = k;
  for (int i = 0; i < p->n_keys; i++)
    if (!fl_verb_is_key(s, fl_val_field(s, p->t, p->key[i]), value->span, "pivot")) return false;
  return true;
}

/* ---- pivot: rows and cells ---- */

static FlVal known_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) { /* code [, validity] */
  (void)env;
  (void)span;
  FlValue *ok = fl_sema_op2(s, FL_OP_GE, args[0].parts[0], fl_ir_const_i(&s->b, FL_I32, 0));
  if (n == 2) ok = fl_sema_op2(s, FL_OP_AND, ok, args[1].parts[0]);
  return fl_val_scalar(s, FL_BOOL, ok);
}

static void check_name(FlSema *s, FlValue *ok, FlValue *text, const char *message) {
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, text ? 2 : 1, (FlValue *[]){ok, text}, 0, NULL, 0);
  check->attrs.i = FL_FAULT_LEVEL;
  check->attrs.s = message;
}

static FlVal check_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) { /* code, text [, valid] */
  (void)env;
  FlSpan outer = s->b.span;
  s->b.span = span;
  if (n == 3)
    check_name(
        s, args[2].parts[0], NULL,
        "a row has null where the name of its column stands; `unknown = \"drop\"` leaves such rows out");
  FlValue *zero = fl_ir_const_i(&s->b, FL_I32, 0);
  check_name(s, fl_sema_op2(s, FL_OP_GE, args[0].parts[0], zero), args[1].parts[0],
             "`into =` has no column for {a}; `unknown = \"drop\"` leaves such rows out");
  s->b.span = outer;
  return fl_val_scalar(s, FL_I32, args[0].parts[0]);
}

/* Finds the column of each row: p->code. Rows of other names are an error, or left out of p->t; then
 * `number` is the number that each row had. */
static bool find_codes(FlSema *s, Pivot *p, FlSpan span, FlValue **number) {
  FlColumnAttr texts_of = fl_ir_column(false);
  FlType1 texts = fl_t_array(FL_TEXT, 1), codes = fl_t_array(FL_I32, 1);
  FlValue *into = fl_ir_op(&s->b, FL_OP_ARRAY, p->n_into, p->is, 1, &texts, 0)->results[0];
  FlOp *encode = fl_ir_op(&s->b, FL_OP_ENCODE_LEVELS, 2, (FlValue *[]){p->text.parts[0], into}, 1, &codes, 0);
  fl_ir_set_columns(s->arena, encode, 1, &texts_of);
  encode->attrs.i = 1;
  FlVal args[3] = {fl_val_array(s, FL_I32, 1, encode->results[0]), p->valid};
  fl_sema_alias(s, fl_ir_dim(&s->b, encode->results[0], 0), fl_val_rows(p->t));
  if (p->drop) {
    FlVal known = fl_sema_lift(s, span, p->valid.type ? 2 : 1, args, known_element, NULL);
    if (fl_val_bad(known)) return false;
    FlValue *rows = fl_val_rows(p->t);
    FlSemaMap map = fl_sema_map(s, 1, &rows, FL_I64);
    FlValue *numbers = fl_sema_map_end(s, &map, map.index[0]);
    FlColumns all = fl_columns_of(s, p->t);
    const char *code = fl_intern_z(s->names, "into "), *at = fl_intern_z(s->names, "row "); /* no column's */
    fl_columns_set(s, &all, code, args[0]);
    fl_columns_set(s, &all, at, fl_val_array(s, FL_I64, 1, numbers));
    FlVal kept = fl_sema_compress(s, fl_columns_table(s, &all, rows), known.parts[0]);
    fl_sema_alias_rows(s, kept);
    FlColumns left = {0};
    for (int k = 0; k < p->t.type->elem->n_fields; k++)
      fl_columns_set(s, &left, p->t.type->elem->fields[k].name, fl_val_field(s, kept, k));
    p->t = fl_columns_table(s, &left, fl_val_rows(kept));
    p->code = fl_val_field(s, kept, left.n).parts[0];
    *number = fl_val_field(s, kept, left.n + 1).parts[0];
    return true;
  }
  args[1] = p->text;
  args[2] = p->valid;
  FlVal checked = fl_sema_lift(s, span, p->valid.type ? 3 : 2, args, check_element, NULL);
  if (fl_val_bad(checked)) return false;
  p->code = checked.parts[0];
  fl_sema_keep_value(s, p->code);
  return true;
}

static FlVal zero_rows(FlSema *s, FlValue *rows) {
  return fl_verb_as_column(s, fl_val_i64(s, 0), rows, s->b.span, "");
}

/* The group of each row by the keys; one group of all without keys. */
static FlGrouping group_keys(FlSema *s, const Pivot *p) {
  FlVal *keys = FL_NEW_ARRAY(s->arena, FlVal, p->n_keys + 1);
  for (int i = 0; i < p->n_keys; i++) keys[i] = fl_val_field(s, p->t, p->key[i]);
  if (p->n_keys) return fl_verb_group_op(s, p->n_keys, keys, fl_val_rows(p->t));
  FlGrouping one = {.groups = fl_sema_i64(s, 1), .group_of = zero_rows(s, fl_val_rows(p->t)).parts[0]};
  return one;
}

static FlValue *take_one(FlSema *s, FlValue *from, FlValue *rows) {
  return fl_ir_op(&s->b, FL_OP_TAKE, 2, (FlValue *[]){rows, from}, 1, &from->type, 0)->results[0];
}

/* For each name of `into`, one after the other, the element of `v` in each group: i64[names * groups]. v has
 * an element a row, or, being an aggregate, one for each of `cells`. */
static FlValue *cell_rows(FlSema *s, const Pivot *p, const FlGrouping *g, const FlGrouping *cells,
                          bool by_row, FlValue *number, FlSpan span) {
  FlValue *args[5] = {g->groups, g->group_of, p->code, fl_sema_i64(s, p->n_into), number};
  if (!by_row) {
    args[1] = take_one(s, g->group_of, cells->first);
    args[2] = take_one(s, p->code, cells->first);
  }
  FlType1 out = fl_t_array(FL_I64, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_PIVOT_ROWS, by_row && number ? 5 : 4, args, 1, &out, 0);
  op->attrs.list = p->into;
  op->attrs.n_list = p->n_into;
  op->span = fl_sema_place(s, span);
  fl_sema_keep_value(s, op->results[0]); /* two values for a cell are an error, whichever columns are used */
  return op->results[0];
}

/* What errors in a cell say: the keys of its row, and its name. */
static void name_cells(FlSema *s, const Pivot *p, FlGrouping *cells) {
  FlVal *keys = FL_NEW_ARRAY(s->arena, FlVal, p->n_keys + 1);
  const char **names = FL_NEW_ARRAY(s->arena, const char *, p->n_keys + 1);
  for (int i = 0; i < p->n_keys; i++) {
    keys[i] = fl_sema_take(s, fl_val_field(s, p->t, p->key[i]), cells->first, FL_TAKE_PROVEN);
    names[i] = p->t.type->elem->fields[p->key[i]].name;
  }
  FlType1 texts = fl_t_array(FL_TEXT, 1);
  FlValue *of[2] = {take_one(s, p->code, cells->first),
                    fl_ir_op(&s->b, FL_OP_ARRAY, p->n_into, p->is, 1, &texts, 0)->results[0]};
  keys[p->n_keys] = fl_val_make(s, fl_type_array(s->types, FL_CATEGORY, false, 1), of);
  names[p->n_keys] = p->name;
  cells->n_keys = p->n_keys + 1;
  cells->keys = keys;
  cells->names = names;
}

static FlVal pivoted(FlSema *s, Pivot *p, FlActual *value, FlValue *number, FlSpan span) {
  FlGrouping g = group_keys(s, p);
  FlVal cell[2] = {fl_val_array(s, FL_I64, 1, g.group_of), fl_val_array(s, FL_I32, 1, p->code)};
  FlGrouping cells = fl_verb_group_op(s, 2, cell, fl_val_rows(p->t));
  bool by_row = fl_verb_goes_by_row(s, p->t, value);
  if (!by_row) name_cells(s, p, &cells);
  FlVal v = fl_verb_expr_in(s, p->t, &cells, value, by_row ? FL_AGG_SPREAD : FL_AGG_SUMMARIZE);
  v = fl_verb_as_column(s, v, by_row ? fl_val_rows(p->t) : cells.groups, value->span, "value");
  if (fl_val_bad(v)) return v;
  FlValue *at = cell_rows(s, p, &g, &cells, by_row, number, span);
  FlColumns out = {0};
  const FlType *row = p->t.type->elem;
  for (int i = 0; i < p->n_keys; i++)
    fl_columns_set(s, &out, row->fields[p->key[i]].name,
                   fl_sema_take(s, fl_val_field(s, p->t, p->key[i]), g.first, 0));
  FlVal all = fl_val_array(s, FL_I64, 1, at);
  for (int i = 0; i < p->n_into; i++) {
    FlValue *from = fl_sema_op2(s, FL_OP_MUL, fl_sema_i64(s, i), g.groups),
            *to = fl_sema_op2(s, FL_OP_MUL, fl_sema_i64(s, i + 1), g.groups);
    FlVal rows = fl_sema_index_rows(s, all, from, to);
    FlVal has = fl_verb_has_row(s, rows.parts[0], span);
    FlVal column = fl_verb_take_or_null(s, v, rows.parts[0], has, p->into[i], span);
    if (fl_val_bad(column) || !fl_columns_add(s, &out, p->into[i], column, span)) return fl_val_error(s);
  }
  FlVal table = fl_columns_table(s, &out, g.groups);
  fl_sema_alias_rows(s, table);
  return table;
}

enum { MOST_PROPOSED = 24 };

/* Adds `into =` with the values of the column, where they are known. */
static void propose_into(FlSema *s, FlDiag *d, Pivot *p, FlCallSite *c) {
  const char **texts;
  if (!fl_actual_given(&c->args[1]) || !fl_actual_given(&c->args[2])) return;
  const FlExpr *e = c->args[1].expr;
  const char *name = e && (e->kind == FL_EXPR_NAME || e->kind == FL_EXPR_COL) ? e->name.text : "is";
  FlVal v = fl_verb_as_column(s, fl_verb_expr(s, p->t, &c->args[1], FL_AGG_SPREAD), fl_val_rows(p->t),
                              c->args[1].span, "name");
  int n = fl_val_bad(v) ? 0 : fl_known_values_of(s, v, &texts);
  if (!n || n > MOST_PROPOSED) return;
  bool number = v.type->dtype == FL_I64;
  FlBytes names = fl_piece_bytes();
  fl_bytes_add(&names, ", into = (", 10);
  for (int i = 0; i < n; i++) {
    if (i) fl_bytes_add(&names, ", ", 2);
    const char *called = number ? fl_arena_printf(s->arena, "%s_%s", name, texts[i]) : texts[i];
    fl_name_write(&names, called);
    if (!number) continue;
    fl_bytes_add(&names, " = ", 3);
    fl_bytes_add(&names, texts[i], strlen(texts[i]));
  }
  fl_bytes_add(&names, ")", 1);
  uint32_t end = 0;
  for (int i = 1; i <= 2; i++)
    if (c->args[i].span.start + c->args[i].span.len > end) end = c->args[i].span.start + c->args[i].span.len;
  d->edit.span = (FlSpan){.file = c->args[1].span.file, .start = end, .len = 0};
  d->edit.text = fl_arena_strndup(s->arena, names.at, names.len);
  fl_bytes_reset(&names);
  fl_diag_help(s->sink, d, "the values of the column: `%s`", d->edit.text + 2);
}

FlVal fl_builtin_pivot(FlSema *s, FlCallSite *c) {
  static const char *const choices[] = {"error", "drop"};
  Pivot p = {0};
  const char *unknown = "error";
  FlValue *number = NULL;
  if (!fl_verb_table(s, c, &p.t)) return fl_val_error(s);
  for (int i = 1; i <= 3; i++)
    if (!fl_actual_given(&c->args[i])) {
      FlDiag *d = fl_sema_report(s, FL_E0210, c->span, "`pivot` needs `%s =`", c->builtin->params[i].name);
      fl_diag_help(s->sink, d, "as in `pivot(name = month, value = sales, into = (jan, feb))`");
      fl_builtin_called(s, d, c->builtin);
      if (i == 3) propose_into(s, d, &p, c);
      return fl_val_error(s);
    }
  if (!find_keys(s, &p, &c->args[1], &c->args[2]) || !read_name(s, &p, &c->args[1]) ||
      !read_into(s, &p, &c->args[3]) || !fl_verb_word(s, &c->args[4], "unknown", choices, 2, &unknown))
    return fl_val_error(s);
  p.drop = strcmp(unknown, "drop") == 0;
  if (!find_codes(s, &p, c->args[1].span, &number)) return fl_val_error(s);
  return pivoted(s, &p, &c->args[2], number, c->span);
}

/* ---- unpivot ---- */

/* The name that an argument is, for a column that is made. */
static const char *read_new_name(FlSema *s, FlActual *a, const char *otherwise) {
  const char *text = otherwise;
  if (!fl_actual_given(a)) return fl_intern_z(s->names, otherwise);
  if (a->expr && a->expr->kind == FL_EXPR_NAME) return a->expr->name.text;
  if (a->expr && a->expr->kind == FL_EXPR_TEXT)
    return fl_actual_const_text(s, a, &text) ? fl_intern_z(s->names, text) : NULL;
  fl_sema_error(s, FL_E0645, a->span, "the name of the column that is made stands here");
  return NULL;
}

typedef struct Places {
  FlValue *rows, *columns; /* how many; `columns` is a constant */
  FlValue *names;          /* text[columns] */
  FlValue *total;          /* rows * columns */
} Places;

typedef FlValue *PlaceOf(FlSema *s, const Places *p, FlValue *row, FlValue *column);
static FlValue *the_row(FlSema *s, const Places *p, FlValue *row, FlValue *column) {
  (void)s;
  (void)p;
  (void)column;
  return row;
}
static FlValue *in_columns(FlSema *s, const Places *p, FlValue *row, FlValue *column) { /* end to end */
  return fl_sema_op2(s, FL_OP_WRAP_ADD, fl_sema_op2(s, FL_OP_WRAP_MUL, column, p->rows), row);
}
static FlValue *the_name(FlSema *s, const Places *p, FlValue *row, FlValue *column) {
  (void)row;
  return fl_ir_load(&s->b, p->names, 1, &column, true);
}

/* What `of` gives for each row of the result. */
static FlValue *for_each_place(FlSema *s, const Places *p, PlaceOf *of, FlDtype d) {
  FlSemaMap map = fl_sema_map(s, 1, &p->total, d);
  FlValue *v = of(s, p, fl_sema_op2(s, FL_OP_FLOORDIV, map.index[0], p->columns),
                  fl_sema_op2(s, FL_OP_MOD, map.index[0], p->columns));
  return fl_sema_map_end(s, &map, v);
}

/* A column of numbers, truths or times, as it lies in memory: others keep what belongs to their rows. */
static bool is_plain(FlVal column) {
  const FlType *t = column.type;
  bool plain = t->kind == FL_TY_ARRAY && t->rank == 1;
  for (int p = 0; plain && p < fl_type_element_parts(t); p++)
    plain = !fl_dtype_is_text((FlDtype)column.parts[p]->type.dtype) &&
            column.parts[p]->type.dtype != FL_LIST && !column.parts[p]->type.depth;
  return plain;
}

static FlValue *reshaped(FlSema *s, FlValue *a, int rank, FlValue *const *sizes) {
  FlType1 type = fl_t_array((FlDtype)a->type.dtype, rank);
  FlValue *args[3] = {a, sizes[0], rank > 1 ? sizes[1] : NULL};
  return fl_ir_op(&s->b, FL_OP_RESHAPE, rank + 1, args, 1, &type, 0)->results[0];
}

/* A column whose rows stand once for each of the columns. */
static FlVal repeated(FlSema *s, const Places *p, FlVal column) {
  if (!is_plain(column)) return fl_sema_take(s, column, for_each_place(s, p, the_row, FL_I64), 0);
  FlValue *parts[2], *sizes[2] = {p->rows, p->columns};
  for (int k = 0; k < fl_type_element_parts(column.type); k++) {
    FlSemaMap map = fl_sema_map(s, 2, sizes, (FlDtype)column.parts[k]->type.dtype);
    FlValue *row = map.index[0];
    FlValue *grid = fl_sema_map_end(s, &map, fl_ir_load(&s->b, column.parts[k], 1, &row, true));
    parts[k] = reshaped(s, grid, 1, &p->total);
  }
  return fl_val_with(s, column.type, parts, column);
}

/* Columns that stand end to end, row by row. */
static FlVal row_by_row(FlSema *s, const Places *p, FlVal all) {
  if (!is_plain(all)) return fl_sema_take(s, all, for_each_place(s, p, in_columns, FL_I64), 0);
  FlValue *parts[2], *sizes[2] = {p->columns, p->rows};
  for (int k = 0; k < fl_type_element_parts(all.type); k++) {
    FlValue *grid = reshaped(s, all.parts[k], 2, sizes);
    grid = fl_ir_op(&s->b, FL_OP_TRANSPOSE, 1, &grid, 1, &grid->type, 0)->results[0];
    parts[k] = reshaped(s, grid, 1, &p->total);
  }
  return fl_val_with(s, all.type, parts, all);
}

FlVal fl_builtin_unpivot(FlSema *s, FlCallSite *c) {
  FlVal t;
  FlColumnSet set = {0};
  if (!fl_verb_table(s, c, &t) || !fl_verb_expand(s, t, c)) return fl_val_error(s);
  const char *name = read_new_name(s, &c->args[1], "name"), *value = read_new_name(s, &c->args[2], "value");
  if (!name || !value) return fl_val_error(s);
  if (!c->n_rest) return fl_builtin_lacks(s, c, "the columns that become rows");
  for (int i = 0; i < c->n_rest; i++)
    if (!fl_column_set(s, t, c->rest[i].expr, &set)) return fl_val_error(s);
  int k = set.list.n;
  const FlType *row = t.type->elem;
  FlActual *joined = FL_NEW_ARRAY(s->arena, FlActual, k);
  FlVal *values = FL_NEW_ARRAY(s->arena, FlVal, k);
  FlSpan *spans = FL_NEW_ARRAY(s->arena, FlSpan, k);
  FlValue **names = FL_NEW_ARRAY(s->arena, FlValue *, k);
  for (int i = 0; i < k; i++) {
    const char *column = row->fields[set.list.at[i]].name;
    values[i] = fl_val_field(s, t, set.list.at[i]);
    spans[i] = c->rest[0].span;
    names[i] = fl_ir_const_t(&s->b, column, (int)strlen(column));
    if (values[i].type->kind != FL_TY_ARRAY)
      return fl_sema_error(s, FL_E0645, spans[i], "`unpivot` takes columns of single values, and `%s` is %s",
                           column, fl_val_text(s, values[i]));
  }
  const FlType *common = fl_type_common(s, values, k);
  if (!common) {
    int other = 1;
    while (other < k - 1 && fl_type_common(s, (FlVal[]){values[0], values[other]}, 2)) other++;
    FlDiag *d = fl_sema_report(s, FL_E0303, spans[other],
                               "the columns that become one have different types: `%s` is %s and `%s` is %s",
                               row->fields[set.list.at[0]].name, fl_val_text(s, values[0]),
                               row->fields[set.list.at[other]].name, fl_val_text(s, values[other]));
    fl_diag_help(s->sink, d, "make one type of them with `derive` before, as in `derive(each(..., text))`");
    return fl_val_error(s);
  }
  for (int i = 0; i < k; i++) joined[i] = (FlActual){.value = values[i], .span = spans[i]};
  FlVal all = fl_sema_call_builtin(s, fl_builtin_find(s, "concat"), k, joined, c->span, NULL);
  if (fl_val_bad(all)) return all;
  FlType1 texts = fl_t_array(FL_TEXT, 1);
  Places p = {.rows = fl_sema_size(s, fl_val_rows(t)),
              .columns = fl_sema_i64(s, k),
              .names = fl_ir_op(&s->b, FL_OP_ARRAY, k, names, 1, &texts, 0)->results[0]};
  p.total = fl_sema_op2(s, FL_OP_MUL, p.rows, p.columns);
  fl_sema_mark_size(s, p.total);
  FlColumns out = {0};
  for (int i = 0; i < row->n_fields; i++)
    if (!set.has[i]) fl_columns_set(s, &out, row->fields[i].name, repeated(s, &p, fl_val_field(s, t, i)));
  FlVal named = fl_val_array(s, FL_TEXT, 1, for_each_place(s, &p, the_name, FL_TEXT));
  all = row_by_row(s, &p, all);
  if (!fl_columns_add(s, &out, name, named, c->span) || !fl_columns_add(s, &out, value, all, c->span))
    return fl_val_error(s);
  FlVal table = fl_columns_table(s, &out, p.total);
  fl_sema_alias_rows(s, table);
  for (int i = 0; i < t.type->n_keys; i++)
    if (set.has[fl_type_field_find(row, t.type->keys[i])]) return table;
  return fl_verb_regroup(s, table, t);
}
