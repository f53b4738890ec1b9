/* reader.c: tables from files of any format (flow/formats.def), and read_npy.
 *
 * In: files (file.c). Out: READ_TABLE ops and typed values. The type of what is read
 * comes from the file itself where its path is known while compiling (a constant, or the default of a param),
 * else from the type that is wanted around. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/column_origin.h"
#include "sema/files/reader.h"
#include "sema/place.h"
#include "sema/row_help.h"
#include "sema/type_expr.h"
#include "sema/value.h"
#include "sema/verbs/verbs.h"

/* Positions in the parameters of a reader of tables; `path` stands behind its options. */
enum { SOURCE, TYPES, OPTIONS };

/* ---- options ---- */

/* An option behind those before it, which the format looks at. */
static bool add_option(FlSema *s, const FlFormatInfo *format, FlOptionVec *options, FlOptionAttr o,
                       FlSpan span) {
  FlIoError e = {0};
  FlIoCheckFn *check = fl_io_check_of(format->name);
  fl_vec_push(s->arena, options, o);
  if (!check || check((FlOptions){options->at, options->n}, &e)) return true;
  options->n--;
  fl_reader_report(s, span, &e);
  return false;
}

static bool add_text(FlSema *s, const FlFormatInfo *format, FlOptionVec *options, const char *name,
                     FlActual *a) {
  const char *text;
  return fl_actual_const_text(s, a, &text) &&
         add_option(s, format, options, (FlOptionAttr){.name = name, .text = text}, a->span);
}

static bool add_texts(FlSema *s, const FlFormatInfo *format, FlOptionVec *options, const char *name,
                      FlActual *a) {
  if (!a->expr || a->expr->kind != FL_EXPR_ARRAY) return add_text(s, format, options, name, a);
  const FlExprList *items = &a->expr->array;
  if (!items->n) {
    fl_sema_error(s, FL_E0324, a->span, "at least one text that means null stands here");
    return false;
  }
  bool ok = true;
  for (int i = 0; i < items->n; i++) {
    FlActual item = {.expr = items->at[i], .span = items->at[i]->span};
    ok = add_text(s, format, options, name, &item) && ok;
  }
  return ok;
}

static bool read_option(FlSema *s, const FlFormatInfo *format, FlOptionVec *options, const FlFormatOption *o,
                        FlActual *a) {
  FlOptionAttr option = {.name = o->name};
  bool yes = false;
  switch (o->type) {
  case FL_OPTION_TEXT: return add_text(s, format, options, o->name, a);
  case FL_OPTION_TEXTS: return add_texts(s, format, options, o->name, a);
  case FL_OPTION_BOOL:
    if (!fl_actual_const_bool(s, a, &yes)) return false;
    option.number = yes;
    break;
  case FL_OPTION_LINES:
    if (!fl_actual_const_i(s, a, &option.number)) return false;
    break;
  }
  return add_option(s, format, options, option, a->span);
}

bool fl_reader_options(FlSema *s, const FlFormatInfo *format, FlActual *a, FlOptionVec *options) {
  bool ok = true;
  for (const FlFormatOption *o = format->options; o->name; o++, a++)
    if (fl_actual_given(a)) ok = read_option(s, format, options, o, a) && ok;
  return ok;
}

static int count_options(const FlFormatInfo *format) {
  int n = 0;
  while (format->options[n].name) n++;
  return n;
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
static const FlType *row_of_file(FlSema *s, const FlFormatInfo *format, const char *path,
                                 FlOptionVec *options, FlSpan span) {
  FlIoSchema schema;
  FlIoError e = {0};
  fl_reader_remember(s, path, FL_INPUT_DATA);
  FlOptions given = {options->at, options->n};
  if (!s->world->schema(s->world->env, format->name, path, given, &schema, &e)) {
    fl_reader_report(s, span, &e);
    return NULL;
  }
  fl_column_origin_keep(s, path, &schema);
  for (int i = 0; i < schema.n_found; i++) {
    FlOptionAttr found = fl_io_found_option(&schema.found[i]);
    if (found.text) found.text = fl_arena_strndup(s->arena, found.text, strlen(found.text));
    fl_vec_push(s->arena, options, found);
  }
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
    for (int before = 0; before < i; before++)
      if (items->at[before].name.text == item->name.text) {
        fl_sema_error(s, FL_E0305, item->span, "the column `%s` is there twice", item->name.text);
        ok = false;
      }
    int k = fl_type_field_find(row, item->name.text);
    const FlType *t = fl_type_of_expr(s, item->type);
    if (k < 0) {
      FlDiag *d = fl_sema_report(s, FL_E0601, item->name.span, "there is no column `%s`", item->name.text);
      const char *near = fl_sema_closest_field(s, row, item->name.text);
      if (near) fl_diag_meant(s->sink, d, item->name.span, "", near);
    } else if (!t || (t->kind != FL_TY_SCALAR && t->kind != FL_TY_ERROR)) {
      fl_sema_error(s, FL_E0947, item->type->span,
                    "`types` gives a column one value a row: a number, a text, a date, a duration, a bool or "
                    "a category");
    }
    ok = ok && k >= 0 && t && t->kind == FL_TY_SCALAR;
    if (!ok) continue;
    changed = changed || fields[k].type != t;
    fields[k].type = t;
  }
  if (!ok) return NULL;
  return changed ? fl_type_tuple(s->types, row->n_fields, fields, NULL) : row;
}

/* What becomes of values that do not fit: the option on_error, of formats that have it. */
static bool on_error(const FlOptionVec *options, const char *what) {
  for (int i = 0; i < options->n; i++)
    if (strcmp(options->at[i].name, "on_error") == 0 && strcmp(options->at[i].text, what) == 0) return true;
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
static const FlType *row_of_table(FlSema *s, FlCallSite *c, const FlFormatInfo *format, const char *path,
                                  FlOptionVec *options, const char *without) {
  const FlType *row = wanted_row(c->want, on_error(options, "collect"));
  if (row && without) row = fl_reader_without(s, row, without);
  if (!row && fl_wants_unknown(c->want)) return NULL;
  if (!row && path) {
    row = row_of_file(s, format, path, options, c->args[SOURCE].span);
  } else if (!row) {
    FlDiag *d = fl_sema_report(s, FL_E0945, c->span, "the columns of this file are not known when compiling");
    fl_diag_help(s->sink, d,
                 "write the type of a row, `let t: Trip[_] = %s(f)`, or give the `file` param a default",
                 c->builtin->name);
    return NULL;
  }
  if (row && fl_actual_given(&c->args[TYPES])) row = override_types(s, &c->args[TYPES], row);
  for (int i = 0; row && i < row->n_fields; i++) {
    FlColumnAttr column;
    const FlType *type = row->fields[i].type;
    bool lasts = (format->flags & FL_FORMAT_DURATION) || type->dtype != FL_DURATION;
    if (fl_reader_column(&row->fields[i], format->flags & FL_FORMAT_ARRAYS, &column) && lasts) continue;
    fl_sema_error(s, FL_E0946, c->span, "the column `%s` is %s, which `%s` cannot read", row->fields[i].name,
                  fl_type_brief(s->types, row->fields[i].type), c->builtin->name);
    return NULL;
  }
  return row && on_error(options, "null") ? all_nullable(s, row) : row;
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

bool fl_reader_column(const FlTyField *f, bool arrays, FlColumnAttr *out) {
  const FlType *t = f->type;
  bool array = t->kind == FL_TY_ARRAY && t->rank == 1 && !t->nullable && t->dtype != FL_TEXT &&
               t->dtype != FL_CATEGORY;
  if (t->dtype == FL_FILE || (t->kind != FL_TY_SCALAR && !(array && arrays))) return false;
  int flags = FL_COLUMN_TYPED | (array ? FL_COLUMN_ARRAYS : t->nullable ? FL_COLUMN_NULLS : 0);
  *out = (FlColumnAttr){.name = f->name, .flags = flags, .dtype = (int32_t)t->dtype};
  return true;
}

/* A table from an operator that gives the levels of its categories last. */
static FlVal exact_table(FlSema *s, const FlType *table, const FlOp *op, int n_levels) {
  FlVal v = fl_val_make(s, table, op->results);
  v.parts = FL_NEW_ARRAY(s->arena, FlValue *, table->n_parts + 1);
  for (int p = 0, at = 0, level = op->n_results - n_levels; p < table->n_parts; p++)
    v.parts[p] = op->results[table->levels[p] ? level++ : at++];
  return v;
}

FlVal fl_builtin_read_table(FlSema *s, FlCallSite *c) {
  const FlFormatInfo *format = fl_format_find(c->builtin->data);
  const bool categories = (format->flags & FL_FORMAT_LEVELS) != 0; /* else they are made here */
  FlActual *path = &c->args[OPTIONS + count_options(format)];
  FlOptionVec options = {0};
  FlColumnVec list = {0};
  FlReadFrom source = fl_reader_source(s, c);
  const char *path_name = NULL;
  bool ok = fl_reader_options(s, format, &c->args[OPTIONS], &options);
  ok = fl_reader_path_name(s, c, path, &source, &path_name) && ok;
  if (fl_val_bad(source.file) || !ok) return fl_val_error(s);
  const FlType *row = row_of_table(s, c, format, source.file.spelling, &options, path_name);
  if (!row) return fl_val_error(s);
  if (path_name && fl_type_field_find(row, path_name) >= 0)
    return fl_sema_error(s, FL_E0619, path->span, "the column `%s` would be there twice", path_name);
  bool collect = on_error(&options, "collect");
  const FlType *table = fl_type_table(s->types, categories ? row : fl_category_text_row(s, row));
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, table->n_parts + 8);
  FlType1 *parts = FL_NEW_ARRAY(s->arena, FlType1, table->n_parts + 1);
  int n = 0, n_levels = 0;
  fl_type_parts(table, parts);
  for (int p = 0; p < table->n_parts; p++) {
    if (table->levels[p]) n_levels++;
    else types[n++] = parts[p];
  }
  for (int i = 0; i < row->n_fields; i++) {
    FlColumnAttr column;
    (void)fl_reader_column(&table->elem->fields[i], true, &column);
    fl_vec_push(s->arena, &list, column);
  }
  int path_index = n;
  if (path_name) { /* the number of the file of each row */
    types[n++] = fl_t_array(FL_I64, 1);
    fl_vec_push(s->arena, &list, ((FlColumnAttr){.flags = FL_COLUMN_FILE}));
  }
  for (int i = 0; i < n_levels; i++) types[n++] = fl_t_array(FL_TEXT, 1);
  if (collect) {
    types[n++] = fl_t_scalar(FL_I64);
    for (int i = 0; i < 5; i++) types[n++] = fl_t_array(i < 2 ? FL_I64 : FL_TEXT, 1);
  }
  FlOpcode code = collect ? FL_OP_READ_TABLE_SOME : FL_OP_READ_TABLE;
  FlOp *op = fl_ir_op(&s->b, code, 1, source.file.parts, n, types, 0);
  op->span = fl_sema_place(s, c->span);
  op->attrs.format = format;
  op->attrs.columns = list.at;
  op->attrs.n_columns = list.n;
  op->attrs.options = options.at;
  op->attrs.n_options = options.n;
  fl_sema_mark_size(s, op->results[0]); /* which is also the size of every column: fl_ir_dim knows */
  FlVal rows = categories ? exact_table(s, table, op, n_levels)
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

FlVal fl_builtin_read_npy(FlSema *s, FlCallSite *c) {
  FlVal file = fl_reader_file(s, c);
  if (fl_val_bad(file)) return file;
  bool wanted = c->want && c->want->kind == FL_TY_ARRAY && c->want->dtype != FL_FILE &&
                c->want->dtype != FL_CATEGORY && !fl_dtype_is_decimal(c->want->dtype);
  const FlType *type;
  if (file.spelling) {
    FlIoArray a; /* sizes of the file as it is now: the program must not rely on them */
    FlIoError e = {0};
    fl_reader_remember(s, file.spelling, FL_INPUT_DATA);
    if (!s->world->array(s->world->env, file.spelling, &a, &e)) {
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
