/* sql.c: sql: a query that DuckDB runs over tables of the script, as a stage of its own.
 *
 * In: a query; tables, scalars and files by the names that the query knows them by; perhaps the type that is
 * wanted around. Out: a call of a stage whose only operator is SQL. The columns of the result are those that
 * are wanted, else those that DuckDB says while compiling, of a query that is known then. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/files/reader.h"
#include "sema/value.h"

enum { QUERY, PARALLEL }; /* positions in the parameters of sql */

typedef struct Sql {
  FlCallSite *call;
  FlVal query;
  const FlType *row; /* of the result; may have categories */
  FlVec(FlValue *) args;
  FlColumnVec inputs; /* as runtime/io/sql.c lists them */
  bool parallel;
  FlVec(const char *) paths; /* of the files; NULL: not known while compiling */
} Sql;

/* ---- inputs ---- */

static bool add_table(FlSema *s, Sql *q, const char *name, FlVal t, FlSpan span) {
  t = fl_category_text_table(s, t, span);
  if (fl_val_bad(t)) return false;
  const FlType *row = t.type->elem;
  fl_vec_push(s->arena, &q->inputs, ((FlColumnAttr){.name = name, .flags = FL_COLUMN_TABLE}));
  for (int i = 0; i < row->n_fields; i++) {
    FlColumnAttr column;
    if (!fl_reader_column(&row->fields[i], true, &column)) {
      fl_sema_error(s, FL_E0997, span, "the column `%s` of `%s` is %s, which DuckDB has no type for",
                    row->fields[i].name, name, fl_type_brief(s->types, row->fields[i].type));
      return false;
    }
    fl_vec_push(s->arena, &q->inputs, column);
  }
  for (int k = 0; k < t.type->n_parts; k++) fl_vec_push(s->arena, &q->args, t.parts[k]);
  return true;
}

static bool add_input(FlSema *s, Sql *q, FlActual *a) {
  const char *name = a->name.text;
  if (!name) {
    FlDiag *d = fl_sema_report(s, FL_E0997, a->span, "`sql` needs the name by which the query knows this");
    fl_diag_help(s->sink, d, "write `sql(\"select * from t\", t = ...)`");
    return false;
  }
  FlVal v = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v)) return false;
  if (v.type->kind == FL_TY_TABLE) return add_table(s, q, name, v, a->span);
  if (fl_val_is_category(v) && v.type->kind == FL_TY_SCALAR) v = fl_category_texts(s, v, a->span);
  bool file = v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_FILE;
  if (v.type->kind != FL_TY_SCALAR || v.type->dtype == FL_LIST) {
    FlDiag *d =
        fl_sema_report(s, FL_E0997, a->span, "a query is given tables, scalars and files, and `%s` is %s",
                       name, fl_val_text(s, v));
    if (v.type->kind == FL_TY_ARRAY) fl_diag_help(s->sink, d, "make a table of it: `table(x = %s)`", name);
    return false;
  }
  if (file) fl_vec_push(s->arena, &q->paths, v.spelling);
  int flags = FL_COLUMN_TYPED | FL_COLUMN_SCALAR | (v.type->nullable ? FL_COLUMN_NULLS : 0);
  FlColumnAttr scalar = {.name = name, .flags = flags, .dtype = (int32_t)v.type->dtype};
  fl_vec_push(s->arena, &q->inputs, file ? ((FlColumnAttr){.name = name, .flags = FL_COLUMN_FILE}) : scalar);
  for (int k = 0; k < v.type->n_parts; k++) fl_vec_push(s->arena, &q->args, v.parts[k]);
  return true;
}

static bool read_inputs(FlSema *s, Sql *q) {
  bool ok = true;
  for (int i = 0; i < q->call->n_rest; i++) ok = add_input(s, q, &q->call->rest[i]) && ok;
  FlActual *a = &q->call->args[PARALLEL];
  if (fl_actual_given(a)) ok = fl_actual_const_bool(s, a, &q->parallel) && ok;
  return ok;
}

/* ---- the result ---- */

/* What DuckDB says of the query; NULL: reported. */
static const FlType *ask_row(FlSema *s, const Sql *q, const char *query) {
  FlIoSchema schema;
  FlIoError e = {0};
  for (int i = 0; i < q->paths.n; i++) fl_reader_remember(s, q->paths.at[i], FL_INPUT_DATA);
  if (s->world->query(s->world->env, query, q->inputs.at, q->inputs.n, q->paths.at, &schema, &e))
    return fl_reader_row(s, &schema);
  fl_reader_report(s, q->call->args[QUERY].span, &e);
  return NULL;
}

static bool read_row(FlSema *s, Sql *q) {
  const FlType *want = q->call->want;
  const char *query = fl_val_const_text(q->query);
  bool known = query != NULL;
  for (int i = 0; i < q->paths.n; i++) known = known && q->paths.at[i];
  if (want && want->kind == FL_TY_TABLE) {
    q->row = want->elem;
  } else if (known) {
    q->row = ask_row(s, q, query);
  } else {
    FlDiag *d = fl_sema_report(s, FL_E0945, q->call->span,
                               "the columns of this query's result are not known when compiling");
    fl_diag_help(s->sink, d, "write the type of a row: `let r: (name: text?, n: i64?)[_] = sql(...)`");
  }
  for (int i = 0; q->row && i < q->row->n_fields; i++) {
    const FlTyField *f = &q->row->fields[i];
    FlColumnAttr column;
    if (fl_type_is_category(f->type) || fl_reader_column(f, true, &column)) continue;
    fl_sema_error(s, FL_E0997, q->call->span, "the column `%s` is %s, which no result of a query has",
                  f->name, fl_type_brief(s->types, f->type));
    return false;
  }
  return q->row != NULL;
}

static FlVal call_stage(FlSema *s, const Sql *q) {
  const FlType *row = fl_category_text_row(s, q->row);
  FlColumnVec list = {0};
  for (int i = 0; i < row->n_fields; i++) {
    FlColumnAttr column;
    (void)fl_reader_column(&row->fields[i], true, &column);
    fl_vec_push(s->arena, &list, column);
  }
  for (int i = 0; i < q->inputs.n; i++) fl_vec_push(s->arena, &list, q->inputs.at[i]);
  static const FlOptionAttr parallel = {.name = "parallel", .number = 1};
  FlAttrs attrs = {.i = row->n_fields, .columns = list.at, .n_columns = list.n};
  if (q->parallel) attrs.options = &parallel, attrs.n_options = 1;
  FlOwnStage stage = {"sql", FL_OP_SQL, &attrs, 0, q->args.n, q->args.at, row};
  return fl_category_table(s, fl_sema_own_stage(s, &stage, q->call->span), q->row, q->call->span);
}

FlVal fl_builtin_sql(FlSema *s, FlCallSite *c) {
  Sql q = {.call = c};
  const FlType *text = fl_type_scalar(s->types, FL_TEXT, false);
  q.query = fl_actual_value(s, &c->args[QUERY], text);
  q.query = fl_val_coerce(s, q.query, text, c->args[QUERY].span, "the query");
  if (fl_val_bad(q.query)) return q.query;
  fl_vec_push(s->arena, &q.args, q.query.parts[0]);
  return read_inputs(s, &q) && read_row(s, &q) ? call_stage(s, &q) : fl_val_error(s);
}
