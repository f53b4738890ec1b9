/* reader.c: tables and arrays from files: read_csv, read_json, read_arrow, read_parquet, read_npy.
 *
 * In: files (file.c). Out: READ_... ops and typed values. The type of what is read
 * comes from the file itself where its path is known while compiling (a constant, or the default of a param),
 * else from the type that is wanted around. */
#include "sema/reader.h"

/* ---- options of CSV files ---- */

static bool add_option(FlSema *s, FlTexts *options, const char *name, const char *value, FlSpan span) {
  const char *text = fl_arena_printf(s->arena, "%s=%s", name, value);
  FlIoError e = {0};
  if (!fl_io_check_option(text, &e)) {
    fl_reader_report(s, span, &e);
    return false;
  }
  fl_vec_push(s->arena, options, text);
  return true;
}

static bool add_text(FlSema *s, FlTexts *options, const char *name, FlActual *a) {
  const char *text;
  return fl_actual_const_text(s, a, &text) && add_option(s, options, name, text, a->span);
}

static bool add_bool(FlSema *s, FlTexts *options, const char *name, FlActual *a) {
  bool yes;
  return fl_actual_const_bool(s, a, &yes) && add_option(s, options, name, yes ? "true" : "false", a->span);
}

static bool add_nulls(FlSema *s, FlTexts *options, FlActual *a) {
  if (!a->expr || a->expr->kind != FL_EXPR_ARRAY) return add_text(s, options, "null", a);
  const FlExprList *items = &a->expr->array;
  if (!items->n) {
    fl_sema_error(s, FL_E0324, a->span, "at least one text that means null stands here");
    return false;
  }
  bool ok = true;
  for (int i = 0; i < items->n; i++) {
    FlActual item = {.expr = items->at[i], .span = items->at[i]->span};
    ok = add_text(s, options, "null", &item) && ok;
  }
  return ok;
}

/* Positions in the parameters of read_csv. */
enum {
  SOURCE,
  TYPES,
  SEP,
  QUOTE,
  HEADER,
  SKIP,
  COMMENT,
  NULLS,
  DECIMAL,
  DATES,
  ENCODING,
  DUPLICATES,
  ON_ERROR,
  PATH
};

static bool read_options(FlSema *s, FlCallSite *c, FlTexts *options) {
  FlActual *a = c->args;
  bool ok = true;
  int64_t skip;
  if (fl_actual_given(&a[SEP])) ok = add_text(s, options, "sep", &a[SEP]) && ok;
  if (fl_actual_given(&a[QUOTE])) ok = add_text(s, options, "quote", &a[QUOTE]) && ok;
  if (fl_actual_given(&a[HEADER])) ok = add_bool(s, options, "header", &a[HEADER]) && ok;
  if (fl_actual_given(&a[SKIP]))
    ok = fl_actual_const_i(s, &a[SKIP], &skip) &&
         add_option(s, options, "skip", fl_arena_printf(s->arena, "%lld", (long long)skip), a[SKIP].span) &&
         ok;
  if (fl_actual_given(&a[COMMENT])) ok = add_text(s, options, "comment", &a[COMMENT]) && ok;
  if (fl_actual_given(&a[NULLS])) ok = add_nulls(s, options, &a[NULLS]) && ok;
  if (fl_actual_given(&a[DECIMAL])) ok = add_text(s, options, "decimal", &a[DECIMAL]) && ok;
  if (fl_actual_given(&a[DATES])) ok = add_text(s, options, "dates", &a[DATES]) && ok;
  if (fl_actual_given(&a[ENCODING])) ok = add_text(s, options, "encoding", &a[ENCODING]) && ok;
  if (fl_actual_given(&a[DUPLICATES])) ok = add_text(s, options, "duplicates", &a[DUPLICATES]) && ok;
  if (fl_actual_given(&a[ON_ERROR])) ok = add_text(s, options, "on_error", &a[ON_ERROR]) && ok;
  return ok;
}

bool fl_reader_write_options(FlSema *s, FlCallSite *c, FlTexts *options) {
  enum { TABLE, TO, WRITE_SEP, WRITE_QUOTE, WRITE_HEADER, WRITE_NULL, WRITE_DECIMAL };
  FlActual *a = c->args;
  bool ok = true;
  if (fl_actual_given(&a[WRITE_SEP])) ok = add_text(s, options, "sep", &a[WRITE_SEP]) && ok;
  if (fl_actual_given(&a[WRITE_QUOTE])) ok = add_text(s, options, "quote", &a[WRITE_QUOTE]) && ok;
  if (fl_actual_given(&a[WRITE_HEADER])) ok = add_bool(s, options, "header", &a[WRITE_HEADER]) && ok;
  if (fl_actual_given(&a[WRITE_NULL])) ok = add_text(s, options, "null", &a[WRITE_NULL]) && ok;
  if (fl_actual_given(&a[WRITE_DECIMAL])) ok = add_text(s, options, "decimal", &a[WRITE_DECIMAL]) && ok;
  return ok;
}

/* ---- row types ---- */

static const FlType *column_type(FlSema *s, const FlIoColumn *c) {
  return c->arrays ? fl_type_array(s->types, c->dtype, false, 1)
                   : fl_type_scalar(s->types, c->dtype, c->nullable);
}

const FlType *fl_reader_row(FlSema *s, FlIoSchema *schema) {
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, schema->n_columns + 1);
  for (int i = 0; i < schema->n_columns; i++) {
    const FlIoColumn *column = &schema->columns[i];
    fields[i] = (FlTyField){fl_intern(s->names, column->name, strlen(column->name)), column_type(s, column)};
  }
  const FlType *row = fl_type_tuple(s->types, schema->n_columns, fields, NULL);
  fl_io_schema_reset(schema);
  return row;
}

/* What the file itself shows of how it is written is added to the options. */
static const FlType *row_of_file(FlSema *s, const char *format, const char *path, FlTexts *options,
                                 FlSpan span) {
  FlIoSchema schema;
  FlIoError e = {0};
  fl_reader_remember(s, path, FL_INPUT_DATA);
  if (!fl_io_schema_of(format)(path, options->at, options->n, &schema, &e)) {
    fl_reader_report(s, span, &e);
    return NULL;
  }
  for (int i = 0; i < schema.n_found; i++)
    fl_vec_push(s->arena, options, fl_arena_strndup(s->arena, schema.found[i], strlen(schema.found[i])));
  return fl_reader_row(s, &schema);
}

/* The row with the columns that `types = (zip: text)` names replaced. */
static const FlType *override_types(FlSema *s, FlActual *a, const FlType *row) {
  if (!a->expr || a->expr->kind != FL_EXPR_TYPE || a->expr->type->kind != FL_TE_TUPLE) {
    FlDiag *d = fl_sema_report(s, FL_E0947, a->span, "`types` takes the types of columns by name");
    fl_diag_help(s->sink, d, "write it as `types = (zip: text, age: i64?)`");
    return NULL;
  }
  const FlTypeItemList *items = &a->expr->type->tuple.fields;
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, row->n_fields + 1);
  bool ok = true, changed = false;
  for (int i = 0; i < row->n_fields; i++) fields[i] = row->fields[i];
  for (int i = 0; i < items->n; i++) {
    const FlTypeItem *item = &items->at[i];
    if (!item->name.text) {
      fl_sema_error(s, FL_E0947, item->span, "this type needs the name of a column before it");
      ok = false;
      continue;
    }
    int k = fl_type_field_find(row, item->name.text);
    const FlType *t = fl_type_of_expr(s, item->type);
    if (k < 0) {
      FlDiag *d = fl_sema_report(s, FL_E0601, item->name.span, "there is no column `%s`", item->name.text);
      const char *near = fl_sema_closest_field(s, row, item->name.text);
      if (near) fl_diag_help(s->sink, d, "did you mean `%s`?", near);
    } else if (!t || (t->kind != FL_TY_SCALAR && t->kind != FL_TY_ERROR)) {
      fl_sema_error(s, FL_E0947, item->type->span,
                    "a column of a CSV file holds numbers, texts, dates or bool");
    }
    ok = ok && k >= 0 && t && t->kind == FL_TY_SCALAR;
    if (!ok) continue;
    changed = changed || fields[k].type != t;
    fields[k].type = t;
  }
  if (!ok) return NULL;
  return changed ? fl_type_tuple(s->types, row->n_fields, fields, NULL) : row;
}

static bool has_option(const FlTexts *options, const char *text) {
  for (int i = 0; i < options->n; i++)
    if (strcmp(options->at[i], text) == 0) return true;
  return false;
}

/* With on_error = "null" any value may be missing, but texts, which every field is. */
static const FlType *all_nullable(FlSema *s, const FlType *row) {
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, row->n_fields + 1);
  for (int i = 0; i < row->n_fields; i++) {
    const FlType *t = row->fields[i].type;
    fields[i] =
        (FlTyField){row->fields[i].name, t->dtype == FL_TEXT ? t : fl_type_with_null(s->types, t, true)};
  }
  return fl_type_tuple(s->types, row->n_fields, fields, NULL);
}

/* The type of a table wanted around; that of (rows, rejected) with on_error = "collect". */
static const FlType *wanted_row(const FlType *want, bool collect) {
  if (collect && want && want->kind == FL_TY_TUPLE && want->n_fields == 2) want = want->fields[0].type;
  return want && want->kind == FL_TY_TABLE ? want->elem : NULL;
}

/* NULL: reported. */
static const FlType *row_of_table(FlSema *s, FlCallSite *c, const char *path, FlTexts *options,
                                  const char *without, FlActual *types, bool exact) {
  const bool durations = exact || strcmp(c->builtin->data, "csv") == 0;
  const FlType *row = wanted_row(c->want, has_option(options, "on_error=collect"));
  if (row && without) row = fl_reader_without(s, row, without);
  if (!row && fl_wants_unknown(c->want)) return NULL;
  if (!row && path) {
    row = row_of_file(s, c->builtin->data, path, options, c->args[SOURCE].span);
  } else if (!row) {
    FlDiag *d = fl_sema_report(s, FL_E0945, c->span, "the columns of this file are not known when compiling");
    fl_diag_help(s->sink, d,
                 "write the type of a row, `let t: Trip[_] = %s(f)`, or give the `file` param a default",
                 c->builtin->name);
    return NULL;
  }
  if (row && fl_actual_given(types)) row = override_types(s, types, row);
  for (int i = 0; row && i < row->n_fields; i++) {
    if (fl_reader_column(s, &row->fields[i], exact) &&
        (durations || row->fields[i].type->dtype != FL_DURATION))
      continue;
    fl_sema_error(s, FL_E0946, c->span, "the column `%s` is %s, which `%s` cannot read", row->fields[i].name,
                  fl_type_brief(s->types, row->fields[i].type), c->builtin->name);
    return NULL;
  }
  return row && has_option(options, "on_error=null") ? all_nullable(s, row) : row;
}

/* ---- reading ---- */

/* The table of the rows that were left out, from the last six results. */
static FlVal rejected_table(FlSema *s, FlOp *op, const FlReadFrom *source, const char *path_name) {
  static const char *const names[] = {"line", "column", "reason", "text"};
  FlValue **r = op->results + op->n_results - 6;
  FlColumns columns = {0};
  fl_sema_mark_size(s, r[0]);
  if (path_name) fl_columns_set(s, &columns, path_name, fl_reader_paths(s, source, r[1], r[0]));
  for (int i = 0; i < 4; i++)
    fl_columns_set(s, &columns, fl_intern_z(s->names, names[i]),
                   fl_val_array(s, i ? FL_TEXT : FL_I64, 1, r[2 + i]));
  return fl_columns_table(s, &columns, r[0]);
}

const char *fl_reader_column(FlSema *s, const FlTyField *f, bool exact) {
  const FlType *t = f->type;
  bool arrays = t->kind == FL_TY_ARRAY && t->rank == 1 && !t->nullable && t->dtype != FL_TEXT &&
                t->dtype != FL_CATEGORY;
  if (t->dtype == FL_FILE || (t->kind != FL_TY_SCALAR && !(arrays && exact))) return NULL;
  return fl_arena_printf(s->arena, "%s:%s%s", f->name, fl_dtype_name(t->dtype),
                         arrays        ? "[]"
                         : t->nullable ? "?"
                                       : "");
}

/* A table from an operator that gives the levels of its categories last. */
static FlVal exact_table(FlSema *s, const FlType *table, const FlOp *op, const bool *levels, int n_levels) {
  FlVal v = fl_val_make(s, table, op->results);
  v.parts = FL_NEW_ARRAY(s->arena, FlValue *, table->n_parts + 1);
  for (int p = 0, at = 0, level = op->n_results - n_levels; p < table->n_parts; p++)
    v.parts[p] = op->results[levels[p] ? level++ : at++];
  return v;
}

/* What a reader of tables has: which arguments give types and name the column of paths, who reads its options
 * (NULL: there are none), whether columns may be of any type; whether categories are made there, of what the
 * file has for them. */
typedef struct TableForm {
  int types, path;
  bool (*options)(FlSema *s, FlCallSite *c, FlTexts *options);
  bool exact, categories;
} TableForm;

static FlVal read_table(FlSema *s, FlCallSite *c, TableForm form) {
  FlTexts options = {0}, list = {0};
  FlReadFrom source = fl_reader_source(s, c);
  const char *path_name = NULL;
  bool ok = !form.options || form.options(s, c, &options);
  ok = fl_reader_path_name(s, c, &c->args[form.path], &source, &path_name) && ok;
  if (fl_val_bad(source.file) || !ok) return fl_val_error(s);
  const FlType *row =
      row_of_table(s, c, source.file.spelling, &options, path_name, &c->args[form.types], form.exact);
  if (!row) return fl_val_error(s);
  if (path_name && fl_type_field_find(row, path_name) >= 0)
    return fl_sema_error(s, FL_E0619, c->args[form.path].span, "the column `%s` would be there twice",
                         path_name);
  bool collect = has_option(&options, "on_error=collect");
  const FlType *table = fl_type_table(s->types, form.categories ? row : fl_category_text_row(s, row));
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, table->n_parts + 8);
  FlType1 *parts = FL_NEW_ARRAY(s->arena, FlType1, table->n_parts + 1);
  bool *levels = FL_NEW_ARRAY(s->arena, bool, table->n_parts + 1);
  int n = 0, n_levels = 0;
  fl_type_parts(table, parts);
  fl_type_levels(table, levels);
  for (int p = 0; p < table->n_parts; p++) {
    if (levels[p]) n_levels++;
    else types[n++] = parts[p];
  }
  for (int i = 0; i < row->n_fields; i++)
    fl_vec_push(s->arena, &list, fl_reader_column(s, &table->elem->fields[i], form.exact));
  int path_index = n;
  if (path_name) { /* the number of the file of each row */
    types[n++] = fl_t_array(FL_I64, 1);
    fl_vec_push(s->arena, &list, "/");
  }
  int n_columns = list.n;
  for (int i = 0; i < options.n; i++) fl_vec_push(s->arena, &list, options.at[i]);
  for (int i = 0; i < n_levels; i++) types[n++] = fl_t_array(FL_TEXT, 1);
  if (collect) {
    types[n++] = fl_t_scalar(FL_I64);
    for (int i = 0; i < 5; i++) types[n++] = fl_t_array(i < 2 ? FL_I64 : FL_TEXT, 1);
  }
  FlOpcode code = collect ? FL_OP_READ_CSV_SOME : c->builtin->op;
  FlOp *op = fl_ir_op(&s->b, code, 1, source.file.parts, n, types, 0);
  op->span = fl_sema_place(s, c->span);
  op->attrs.i = n_columns;
  op->attrs.list = list.at;
  op->attrs.n_list = list.n;
  fl_sema_mark_size(s, op->results[0]); /* which is also the size of every column: fl_ir_dim knows */
  FlVal rows = form.categories ? exact_table(s, table, op, levels, n_levels)
                               : fl_category_table(s, fl_val_make(s, table, op->results), row, c->span);
  if (fl_val_bad(rows)) return rows;
  if (path_name) {
    FlColumns columns = fl_columns_of(s, rows);
    FlValue *from = op->results[path_index];
    fl_columns_set(s, &columns, path_name, fl_reader_paths(s, &source, from, op->results[0]));
    rows = fl_columns_table(s, &columns, op->results[0]);
  }
  if (!collect) return rows;
  const char *names[2] = {fl_intern_z(s->names, "rows"), fl_intern_z(s->names, "rejected")};
  return fl_val_tuple(s, 2, names, (FlVal[]){rows, rejected_table(s, op, &source, path_name)}, NULL);
}

FlVal fl_builtin_read_csv(FlSema *s, FlCallSite *c) {
  return read_table(s, c, (TableForm){.types = TYPES, .path = PATH, .options = read_options});
}

FlVal fl_builtin_read_json(FlSema *s, FlCallSite *c) {
  return read_table(s, c, (TableForm){.types = TYPES, .path = TYPES + 1});
}

FlVal fl_builtin_read_arrow(FlSema *s, FlCallSite *c) {
  return read_table(s, c, (TableForm){.types = TYPES, .path = TYPES + 1, .exact = true, .categories = true});
}

FlVal fl_builtin_read_parquet(FlSema *s, FlCallSite *c) {
  return read_table(s, c, (TableForm){.types = TYPES, .path = TYPES + 1, .exact = true});
}

/* Positions in the parameters of read_sqlite. */
enum { TABLE = 1, QUERY, SQLITE_TYPES, SQLITE_PATH };

static bool sqlite_options(FlSema *s, FlCallSite *c, FlTexts *options) {
  const char *text;
  FlActual *table = &c->args[TABLE], *query = &c->args[QUERY];
  if (fl_actual_given(table) && fl_actual_given(query)) {
    fl_sema_error(s, FL_E0963, query->span, "either `table` or `query` says what is read");
    return false;
  }
  FlActual *given = fl_actual_given(table) ? table : query;
  if (!fl_actual_given(given)) return true;
  if (!fl_actual_const_text(s, given, &text)) return false;
  fl_vec_push(s->arena, options, fl_arena_printf(s->arena, given == table ? "table=%s" : "query=%s", text));
  return true;
}

FlVal fl_builtin_read_sqlite(FlSema *s, FlCallSite *c) {
  return read_table(s, c, (TableForm){.types = SQLITE_TYPES, .path = SQLITE_PATH, .options = sqlite_options});
}

FlVal fl_builtin_read_npy(FlSema *s, FlCallSite *c) {
  FlVal file = fl_reader_file(s, c);
  if (fl_val_bad(file)) return file;
  bool wanted =
      c->want && c->want->kind == FL_TY_ARRAY && c->want->dtype != FL_FILE && c->want->dtype != FL_CATEGORY;
  const FlType *type;
  if (file.spelling) {
    FlIoArray a; /* sizes of the file as it is now: the program must not rely on them */
    FlIoError e = {0};
    fl_reader_remember(s, file.spelling, FL_INPUT_DATA);
    if (!fl_io_npy_type(file.spelling, &a, &e)) {
      fl_reader_report(s, c->args[0].span, &e);
      return fl_val_error(s);
    }
    if (!a.rank)
      return fl_sema_error(s, FL_E0941, c->args[0].span,
                           "`%s` holds a single %s, and `read_npy` reads arrays", file.spelling,
                           fl_dtype_name(a.dtype));
    type = fl_type_array(s->types, a.dtype, a.nullable || (wanted && c->want->nullable), a.rank);
  } else if (wanted) {
    type = c->want;
  } else {
    if (fl_wants_unknown(c->want)) return fl_val_error(s);
    FlDiag *d = fl_sema_report(s, FL_E0945, c->span,
                               "the type of the array in this file is not known when compiling");
    fl_diag_help(s->sink, d,
                 "write it: `let x: f64[_, _] = read_npy(f)`, or give the `file` param a default");
    return fl_val_error(s);
  }
  FlType1 parts[2];
  fl_type_parts(type, parts);
  FlOp *op = fl_ir_op(&s->b, FL_OP_READ_NPY, 1, file.parts, type->n_parts, parts, 0);
  op->span = fl_sema_place(s, c->span);
  return fl_val_make(s, type, op->results);
}
