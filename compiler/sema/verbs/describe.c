/* describe.c: describe(t): what is in each column of a table.
 *
 * In: a table without groups. Out: a table with a row a column; null where a figure has no meaning for the
 * column's type, or the column has no value for it. */
#include "sema/builtins/builtin.h"
#include "sema/expr.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"
#include "sema/verbs/verbs.h"

typedef struct Figures {
  int n, rows;
  const char *names[16];
  FlVal *cells[16]; /* [rows] scalars of one type, or null */
} Figures;

static FlVal none(FlSema *s, FlDtype d) { return fl_val_null_of(s, fl_type_scalar(s->types, d, false)); }

/* A scalar of f64?, whatever the aggregate gives. */
static FlVal number(FlSema *s, FlVal t, const char *kind, double setting, FlVal x, FlSpan span) {
  FlVal v = fl_sema_aggregate_of(s, t, kind, setting, x, span);
  return fl_val_bad(v) ? v
                       : fl_val_coerce(s, v, fl_type_scalar(s->types, FL_F64, true), span, "the aggregate");
}

/* The least or greatest as text. */
static FlVal end(FlSema *s, FlVal t, const char *kind, FlVal x, FlSpan span) {
  FlVal v = fl_sema_aggregate_of(s, t, kind, 0, x, span);
  if (fl_val_bad(v)) return v;
  FlValue *valid = fl_val_valid(s, v);
  FlVal text = fl_sema_to_text(s, fl_val_plain(s, v), "", span);
  if (fl_val_bad(text) || !valid) return fl_val_bad(text) ? text : fl_val_nullable(s, text);
  FlValue *parts[2] = {fl_ir_select(&s->b, valid, text.parts[0], fl_val_zero(s, FL_TEXT)), valid};
  return fl_val_make(s, fl_type_scalar(s->types, FL_TEXT, true), parts);
}

static void put(FlSema *s, Figures *f, int row, const char *name, FlVal v) {
  int k = 0;
  while (k < f->n && strcmp(f->names[k], name) != 0) k++;
  if (k == f->n) {
    f->names[f->n] = fl_intern_z(s->names, name);
    f->cells[f->n++] = FL_NEW_ARRAY(s->arena, FlVal, f->rows);
  }
  f->cells[k][row] = v;
}

/* false: reported. */
static bool describe_column(FlSema *s, Figures *f, int row, FlVal t, FlSpan span) {
  static const struct {
    const char *name, *kind;
    double setting;
  } spread[] = {{"mean", "mean", 0}, {"std", "std", 1}},
    quartiles[] = {{"q25", "quantile", 0.25}, {"median", "quantile", 0.5}, {"q75", "quantile", 0.75}};
  FlVal x = fl_val_field(s, t, row);
  bool flat = x.type->kind == FL_TY_ARRAY && x.type->rank == 1 && x.type->dtype != FL_FILE;
  FlDtype d = x.type->dtype;
  bool numeric = flat && (fl_dtype_is_number(d) || fl_dtype_is_decimal(d)), ordered = flat && d != FL_BOOL;
  const FlType *type = flat ? fl_type_scalar(s->types, d, x.type->nullable) : x.type;
  FlVal rows = fl_val_scalar(s, FL_I64, fl_sema_size(s, fl_val_rows(t))), count = rows;
  if (flat && x.type->nullable) {
    FlVal valid = fl_val_array(s, FL_BOOL, 1, fl_val_valid(s, x));
    count = fl_sema_aggregate_of(s, t, "count", 0, valid, span);
  }
  put(s, f, row, "column", fl_val_textz(s, t.type->elem->fields[row].name));
  put(s, f, row, "type", fl_val_textz(s, fl_type_text(s->types, type)));
  put(s, f, row, "count", count);
  put(s, f, row, "nulls", fl_sema_binary(s, FL_BIN_SUB, rows, count, span, span, span));
  put(s, f, row, "distinct",
      fl_val_nullable(s, flat ? fl_sema_aggregate_of(s, t, "n_distinct", 0, x, span) : none(s, FL_I64)));
  for (int k = 0; k < 2; k++) {
    bool fits = numeric || (k == 0 && flat && d == FL_BOOL);
    put(s, f, row, spread[k].name,
        fits ? number(s, t, spread[k].kind, spread[k].setting, x, span) : none(s, FL_F64));
  }
  put(s, f, row, "min", ordered ? end(s, t, "min", x, span) : none(s, FL_TEXT));
  for (int k = 0; k < 3; k++)
    put(s, f, row, quartiles[k].name,
        numeric ? number(s, t, quartiles[k].kind, quartiles[k].setting, x, span) : none(s, FL_F64));
  put(s, f, row, "max", ordered ? end(s, t, "max", x, span) : none(s, FL_TEXT));
  for (int k = 0; k < f->n; k++)
    if (fl_val_bad(f->cells[k][row])) return false;
  return true;
}

/* Scalars of one type as an array. */
static FlVal column_of(FlSema *s, const FlVal *cells, int n) {
  const FlType *type = cells[0].type;
  FlValue *parts[2] = {0};
  for (int p = 0; p < type->n_parts; p++) {
    FlValue **values = FL_NEW_ARRAY(s->arena, FlValue *, n);
    for (int i = 0; i < n; i++) values[i] = cells[i].parts[p];
    FlType1 out = fl_t_array((FlDtype)values[0]->type.dtype, 1);
    parts[p] = fl_ir_op(&s->b, FL_OP_ARRAY, n, values, 1, &out, 0)->results[0];
  }
  return fl_val_make(s, fl_type_array(s->types, type->dtype, type->nullable, 1), parts);
}

FlVal fl_builtin_describe(FlSema *s, FlCallSite *c) {
  FlVal t;
  if (!fl_verb_table(s, c, &t)) return fl_val_error(s);
  Figures f = {.rows = t.type->elem->n_fields};
  for (int i = 0; i < f.rows; i++)
    if (!describe_column(s, &f, i, t, c->span)) return fl_val_error(s);
  FlVal columns[16];
  for (int k = 0; k < f.n; k++) columns[k] = column_of(s, f.cells[k], f.rows);
  return fl_val_table(s, fl_sema_i64(s, f.rows), f.n, f.names, columns);
}
