/* reader.c: files as values, and what is read from them: file, read_csv, read_npy.
 *
 * In: a file value or a constant path. Out: FILE_OF, READ_CSV and READ_NPY ops and typed values. The type of
 * what is read comes from the file itself where its path is known while compiling (a constant, or the default
 * of a param), else from the type that is wanted around. The main function alone makes files from paths: a
 * constant path in another function becomes a file of the main function, which is captured like any other
 * name. */
#include "sema/sema_internal.h"

#include "io/io.h"

/* ---- reporting ---- */

static void report_io(FlSema *s, FlSpan span, const FlIoError *e) {
  FlDiagCode code;
  char name[16];
  snprintf(name, sizeof name, "E%04d", e->code);
  if (!fl_diag_find(name, &code)) code = FL_E0930;
  FlDiag *d = fl_sema_report(s, code, span, "%s", e->message);
  if (e->help[0]) fl_diag_help(s->sink, d, "%s", e->help);
}

static void remember_input(FlSema *s, const char *path) {
  for (int i = 0; i < s->inputs.n; i++)
    if (!s->inputs.at[i].is_source && strcmp(s->inputs.at[i].path, path) == 0) return;
  fl_vec_push(s->arena, &s->inputs, ((FlSemaInput){path, false}));
}

/* ---- files ---- */

static FlVal file_of(FlSema *s, FlBuilder *b, FlValue *path, const char *known) {
  FlType1 type = fl_t_scalar(FL_FILE);
  FlOp *op = fl_ir_op(b, FL_OP_FILE_OF, 1, &path, 1, &type, 0);
  FlVal v = fl_val_scalar(s, FL_FILE, op->results[0]);
  v.spelling = known;
  return v;
}

/* The file at a constant path. `text` is the path as a value of the current function. */
static FlVal constant_file(FlSema *s, FlValue *text, const char *path, FlSpan span) {
  if (!fl_sema_claim_path(s, path, span, false)) return fl_val_error(s);
  if (!s->frame->outer) return file_of(s, &s->b, text, path);
  FlScope *script = s->files.at[0]->scope;
  const char *key = fl_arena_printf(s->arena, "file:%s", path);
  const char *name = fl_intern(s->names, key, strlen(key));
  FlBinding *bound = fl_scope_find_in(script, name);
  if (!bound) {
    FlFrame *frame = s->frame;
    while (frame->outer) frame = frame->outer;
    FlRegion *body = frame->func->body;
    FlBuilder start = {
        .module = s->module, .func = frame->func, .region = body, .before = body->first, .span = span};
    FlVal v = file_of(s, &start, fl_ir_const_t(&start, path, (int)strlen(path)), path);
    bound = fl_scope_bind(s, script, FL_BIND_VALUE, name, span, v);
    bound->frame = frame;
  }
  return fl_binding_value(s, bound);
}

static bool is_scalar_of(FlVal v, FlDtype d) {
  return v.type->kind == FL_TY_SCALAR && v.type->dtype == d && !v.type->nullable;
}

FlVal fl_builtin_file(FlSema *s, FlCallSite *c) {
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v) || is_scalar_of(v, FL_FILE)) return v;
  if (!is_scalar_of(v, FL_TEXT))
    return fl_sema_error(s, FL_E0327, c->args[0].span, "`file` takes a path as text, and this is %s",
                         fl_val_text(s, v));
  const char *path = fl_val_const_text(v);
  if (path) return constant_file(s, v.parts[0], path, c->args[0].span);
  if (!s->pure) return file_of(s, &s->b, v.parts[0], NULL);
  FlDiag *d = fl_sema_report(s, FL_E0803, c->args[0].span,
                             "this path is computed, and %s cannot open files by name", s->pure);
  fl_diag_help(s->sink, d, "make the file at the top level of the script and pass it as a `file`");
  return fl_val_error(s);
}

/* The first argument as a file value, `spelling` its path while compiling or NULL; the ERROR value when
 * reported. */
static FlVal source_of(FlSema *s, FlCallSite *c) {
  FlActual *a = &c->args[0];
  FlVal v = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v) || is_scalar_of(v, FL_FILE)) return v;
  const char *path = fl_val_const_text(v);
  if (path) return constant_file(s, v.parts[0], path, a->span);
  if (is_scalar_of(v, FL_TEXT)) {
    FlDiag *d =
        fl_sema_report(s, FL_E0327, a->span,
                       "`%s` takes a file or a constant path, and this text is computed", c->builtin->name);
    fl_diag_help(s->sink, d,
                 s->pure ? "pass a `file` that the top level of the script makes with `file(...)`"
                         : "make the file with `file(...)`");
    return fl_val_error(s);
  }
  return fl_sema_error(s, FL_E0327, a->span, "`%s` takes a file or a constant path, and this is %s",
                       c->builtin->name, fl_val_text(s, v));
}

/* ---- options of CSV files ---- */

typedef FlVec(const char *) Texts;

static bool add_option(FlSema *s, Texts *options, const char *name, const char *value, FlSpan span) {
  const char *text = fl_arena_printf(s->arena, "%s=%s", name, value);
  FlIoError e = {0};
  if (!fl_io_check_option(text, &e)) {
    report_io(s, span, &e);
    return false;
  }
  fl_vec_push(s->arena, options, text);
  return true;
}

static bool add_text(FlSema *s, Texts *options, const char *name, FlActual *a) {
  const char *text;
  return fl_actual_const_text(s, a, &text) && add_option(s, options, name, text, a->span);
}

static bool add_nulls(FlSema *s, Texts *options, FlActual *a) {
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
enum { SOURCE, TYPES, SEP, QUOTE, HEADER, SKIP, NULLS, DECIMAL, ON_ERROR };

static bool read_options(FlSema *s, FlCallSite *c, Texts *options) {
  FlActual *a = c->args;
  bool ok = true, header;
  int64_t skip;
  if (fl_actual_given(&a[SEP])) ok = add_text(s, options, "sep", &a[SEP]) && ok;
  if (fl_actual_given(&a[QUOTE])) ok = add_text(s, options, "quote", &a[QUOTE]) && ok;
  if (fl_actual_given(&a[HEADER]))
    ok = fl_actual_const_bool(s, &a[HEADER], &header) &&
         add_option(s, options, "header", header ? "true" : "false", a[HEADER].span) && ok;
  if (fl_actual_given(&a[SKIP]))
    ok = fl_actual_const_i(s, &a[SKIP], &skip) &&
         add_option(s, options, "skip", fl_arena_printf(s->arena, "%lld", (long long)skip), a[SKIP].span) &&
         ok;
  if (fl_actual_given(&a[NULLS])) ok = add_nulls(s, options, &a[NULLS]) && ok;
  if (fl_actual_given(&a[DECIMAL])) ok = add_text(s, options, "decimal", &a[DECIMAL]) && ok;
  if (fl_actual_given(&a[ON_ERROR])) ok = add_text(s, options, "on_error", &a[ON_ERROR]) && ok;
  return ok;
}

/* ---- row types ---- */

static const FlType *row_of_file(FlSema *s, const char *path, const Texts *options, FlSpan span) {
  FlIoSchema schema;
  FlIoError e = {0};
  remember_input(s, path);
  if (!fl_io_schema(path, options->at, options->n, &schema, &e)) {
    report_io(s, span, &e);
    return NULL;
  }
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, schema.n_columns + 1);
  for (int i = 0; i < schema.n_columns; i++) {
    const FlIoColumn *column = &schema.columns[i];
    fields[i] = (FlTyField){fl_intern(s->names, column->name, strlen(column->name)),
                            fl_type_scalar(s->types, column->dtype, column->nullable)};
  }
  const FlType *row = fl_type_tuple(s->types, schema.n_columns, fields, NULL);
  fl_io_schema_reset(&schema);
  return row;
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

static bool is_csv_column(const FlType *t) {
  return t->kind == FL_TY_SCALAR && t->dtype != FL_DURATION && t->dtype != FL_FILE;
}

/* NULL: reported. */
static const FlType *row_of_csv(FlSema *s, FlCallSite *c, const char *path, const Texts *options) {
  const FlType *row;
  if (c->want && c->want->kind == FL_TY_TABLE) {
    row = c->want->elem;
  } else if (path) {
    row = row_of_file(s, path, options, c->args[SOURCE].span);
  } else {
    FlDiag *d = fl_sema_report(s, FL_E0945, c->span, "the columns of this file are not known when compiling");
    fl_diag_help(s->sink, d,
                 "write the type of a row, `let t: Trip[_] = %s(f)`, or give the `file` param a default",
                 c->builtin->name);
    return NULL;
  }
  if (row && fl_actual_given(&c->args[TYPES])) row = override_types(s, &c->args[TYPES], row);
  for (int i = 0; row && i < row->n_fields; i++) {
    if (is_csv_column(row->fields[i].type)) continue;
    fl_sema_error(s, FL_E0946, c->span, "the column `%s` is %s, which cannot be read from a CSV file",
                  row->fields[i].name, fl_type_text(s->types, row->fields[i].type));
    return NULL;
  }
  return row;
}

/* ---- reading ---- */

FlVal fl_builtin_read_csv(FlSema *s, FlCallSite *c) {
  Texts options = {0}, list = {0};
  FlVal file = source_of(s, c);
  bool ok = read_options(s, c, &options);
  if (fl_val_bad(file) || !ok) return fl_val_error(s);
  const FlType *row = row_of_csv(s, c, file.spelling, &options);
  if (!row) return fl_val_error(s);
  const FlType *table = fl_type_table(s->types, row);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, table->n_parts);
  fl_type_parts(table, types);
  for (int i = 0; i < row->n_fields; i++) {
    const FlType *t = row->fields[i].type;
    fl_vec_push(s->arena, &list,
                fl_arena_printf(s->arena, "%s:%s%s", row->fields[i].name, fl_dtype_name(t->dtype),
                                t->nullable ? "?" : ""));
  }
  for (int i = 0; i < options.n; i++) fl_vec_push(s->arena, &list, options.at[i]);
  FlOp *op = fl_ir_op(&s->b, FL_OP_READ_CSV, 1, file.parts, table->n_parts, types, 0);
  op->span = c->span;
  op->attrs.i = row->n_fields;
  op->attrs.list = list.at;
  op->attrs.n_list = list.n;
  fl_sema_mark_size(s, op->results[0]); /* which is also the size of every column: fl_ir_dim knows */
  return fl_val_make(s, table, op->results);
}

FlVal fl_builtin_read_npy(FlSema *s, FlCallSite *c) {
  FlVal file = source_of(s, c);
  if (fl_val_bad(file)) return file;
  FlDtype dtype;
  int32_t rank;
  if (file.spelling) {
    int64_t dims[FL_MAX_RANK]; /* of the file as it is now: the program must not rely on them */
    FlIoError e = {0};
    remember_input(s, file.spelling);
    if (!fl_io_npy_type(file.spelling, &dtype, &rank, dims, &e)) {
      report_io(s, c->args[0].span, &e);
      return fl_val_error(s);
    }
    if (!rank)
      return fl_sema_error(s, FL_E0941, c->args[0].span,
                           "`%s` holds a single %s, and `read_npy` reads arrays", file.spelling,
                           fl_dtype_name(dtype));
  } else if (c->want && c->want->kind == FL_TY_ARRAY && c->want->dtype != FL_TEXT &&
             c->want->dtype != FL_FILE) {
    dtype = c->want->dtype;
    rank = c->want->rank;
  } else {
    FlDiag *d = fl_sema_report(s, FL_E0945, c->span,
                               "the type of the array in this file is not known when compiling");
    fl_diag_help(s->sink, d,
                 "write it: `let x: f64[_, _] = read_npy(f)`, or give the `file` param a default");
    return fl_val_error(s);
  }
  FlType1 type = fl_t_array(dtype, rank);
  FlOp *op = fl_ir_op(&s->b, FL_OP_READ_NPY, 1, file.parts, 1, &type, 0);
  op->span = c->span;
  return fl_val_array(s, dtype, rank, op->results[0]);
}
