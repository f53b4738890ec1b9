/* value.c: making, cutting and converting typed values, and the sizes they have.
 *
 * In: values whose parts are in the current function. Out: the same, with conversion ops at the builder's
 * place. Always: the value under an invalid part is zero (or the empty text). */
#include "sema/builtins/builtin.h"
#include "sema/decimal.h"
#include "sema/category.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/row_help.h"
#include "sema/scope.h"
#include "sema/value.h"

#include <math.h>
#include <stdlib.h>

/* ---- making and cutting ---- */

FlVal fl_val_make(FlSema *s, const FlType *type, FlValue *const *parts) {
  FlVal v = {.type = type};
  if (type->n_parts) v.parts = fl_arena_copy(s->arena, parts, sizeof *parts * (size_t)type->n_parts);
  return v;
}

FlVal fl_val_error(FlSema *s) { return (FlVal){.type = s->types->error}; }
FlVal fl_val_none(FlSema *s) { return (FlVal){.type = s->types->none}; }
FlVal fl_val_refused(FlSema *s, FlSpan span) {
  FlTypeRefusal why = s->types->refused;
  s->types->refused = FL_REFUSED_NONE;
  switch (why) {
  case FL_REFUSED_RANK:
    return fl_sema_error(s, FL_E0403, span, "an array has at most %d dimensions", FL_MAX_RANK);
  case FL_REFUSED_COLUMN:
    return fl_sema_error(s, FL_E0403, span,
                         "an array has at most %d dimensions, and the rows are one of those of a column",
                         FL_MAX_RANK);
  case FL_REFUSED_DEPTH:
    return fl_sema_error(s, FL_E0206, span, "tuples and lists are nested at most %d deep", FL_TYPE_DEPTH);
  case FL_REFUSED_PARTS:
    return fl_sema_error(s, FL_E0206, span, "this value would have more than %d fields", FL_TYPE_PARTS);
  case FL_REFUSED_NONE: break;
  }
  return fl_val_error(s);
}

const char *fl_val_text(FlSema *s, FlVal v) {
  if (v.type->kind != FL_TY_FUNC) return fl_type_brief(s->types, v.type);
  /* A column that is not there may have the name of one, as `year` */
  const char *name = v.fn == NULL    ? NULL
                     : v.fn->builtin ? v.fn->builtin->name
                     : v.fn->named   ? v.fn->named->name
                                     : v.fn->name;
  return name ? fl_arena_printf(s->arena, "the function `%s`", name) : "a function";
}

FlVal fl_val_scalar(FlSema *s, FlDtype d, FlValue *v) {
  return fl_val_make(s, fl_type_scalar(s->types, d, false), &v);
}

FlVal fl_val_array(FlSema *s, FlDtype d, int rank, FlValue *v) {
  return fl_val_make(s, fl_type_array(s->types, d, false, rank), &v);
}

FlVal fl_val_i64(FlSema *s, int64_t v) { return fl_val_scalar(s, FL_I64, fl_sema_i64(s, v)); }
FlVal fl_val_bool(FlSema *s, bool v) { return fl_val_scalar(s, FL_BOOL, fl_ir_const_i(&s->b, FL_BOOL, v)); }

FlVal fl_val_textz(FlSema *s, const char *text) {
  return fl_val_scalar(s, FL_TEXT, fl_ir_const_t(&s->b, text, (int)strlen(text)));
}

FlVal fl_val_field(FlSema *s, FlVal v, int field) {
  const FlType *row = fl_type_row(v.type);
  const FlType *ft = row->fields[field].type;
  if (v.type->kind == FL_TY_TABLE) ft = fl_type_many(s->types, ft);
  if (!v.parts) return (FlVal){.type = ft}; /* only types are compared */
  FlValue *const *parts = v.parts + fl_type_field_part(v.type, field);
  if (ft->kind == FL_TY_TABLE &&
      v.type->kind == FL_TY_TABLE) { /* a column of tuples is a table of as many rows */
    FlValue **own = FL_NEW_ARRAY(s->arena, FlValue *, ft->n_parts);
    own[0] = fl_val_rows(v);
    memcpy(own + 1, parts, sizeof *own * (size_t)(ft->n_parts - 1));
    parts = own;
  }
  FlVal out = fl_val_make(s, ft, parts);
  out.spelling = fl_val_sample(v, out);
  return out;
}

const char *fl_val_sample(FlVal from, FlVal to) {
  bool files = (to.type->kind == FL_TY_SCALAR || to.type->kind == FL_TY_ARRAY) && to.type->dtype == FL_FILE;
  const FlType *row = fl_type_row(to.type);
  for (int i = 0; row && i < row->n_fields; i++) {
    const FlType *t = row->fields[i].type;
    files = files || (t->dtype == FL_FILE && (t->kind == FL_TY_SCALAR || t->kind == FL_TY_ARRAY));
  }
  return files && !from.literal ? from.spelling : NULL;
}

static const FlTyField *make_fields(FlSema *s, int n, const char *const *names, const FlVal *values,
                                    bool elements) {
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, n ? n : 1);
  for (int i = 0; i < n; i++) {
    const FlType *t = values[i].type;
    if (elements && t->kind == FL_TY_ARRAY)
      t = t->rank == 1 ? fl_type_scalar(s->types, t->dtype, t->nullable)
                       : fl_type_array(s->types, t->dtype, t->nullable, t->rank - 1);
    else if (elements && (t->kind == FL_TY_TABLE || t->kind == FL_TY_LIST)) t = t->elem;
    fields[i] = (FlTyField){names[i], t};
  }
  return fields;
}

static const char *sample_of(int n, const FlVal *values) {
  for (int i = 0; i < n; i++)
    if (fl_val_sample(values[i], values[i])) return values[i].spelling;
  return NULL;
}

FlVal fl_val_tuple(FlSema *s, int n, const char *const *names, const FlVal *values, const char *nominal) {
  const FlType *t = fl_type_tuple(s->types, n, make_fields(s, n, names, values, false), nominal);
  if (t == s->types->error) return fl_val_error(s);
  FlVal v = {.type = t, .parts = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts ? t->n_parts : 1)};
  v.spelling = sample_of(n, values);
  for (int i = 0, at = 0; i < n; i++)
    for (int k = 0; k < values[i].type->n_parts; k++) v.parts[at++] = values[i].parts[k];
  return v;
}

FlVal fl_val_table(FlSema *s, FlValue *rows, int n, const char *const *names, const FlVal *columns) {
  const FlType *row = fl_type_tuple(s->types, n, make_fields(s, n, names, columns, true), NULL);
  const FlType *t = fl_type_table(s->types, row);
  if (t == s->types->error || row == s->types->error) return fl_val_error(s);
  FlVal v = {.type = t, .parts = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts)};
  int at = 0;
  v.spelling = sample_of(n, columns);
  v.parts[at++] = rows;
  for (int i = 0; i < n; i++) { /* of a column of tuples without its own number of rows */
    int first = columns[i].type->kind == FL_TY_TABLE ? 1 : 0;
    for (int k = first; k < columns[i].type->n_parts; k++) v.parts[at++] = columns[i].parts[k];
  }
  return v;
}

FlValue *fl_val_rows(FlVal table) { return table.parts[0]; }

FlValue *fl_val_valid(FlSema *s, FlVal v) {
  (void)s;
  return (v.type->kind == FL_TY_SCALAR || v.type->kind == FL_TY_ARRAY) && v.type->nullable ? v.parts[1]
                                                                                           : NULL;
}

FlVal fl_val_plain(FlSema *s, FlVal v) {
  if (!fl_val_valid(s, v)) return v;
  return fl_val_with(s, fl_type_with_null(s->types, v.type, false), v.parts, v);
}

static FlValue *filled(FlSema *s, FlVal like, FlValue *value) { /* an array of one value, sized as `like` */
  FlValue *sizes[FL_MAX_RANK] = {0};
  int rank = like.type->rank;
  for (int i = 0; i < rank; i++) sizes[i] = fl_sema_dim(s, like, i);
  FlSemaMap map = fl_sema_map(s, rank, sizes, (FlDtype)value->type.dtype);
  return fl_sema_map_end(s, &map, value);
}

FlVal fl_val_nullable(FlSema *s, FlVal v) {
  if (fl_val_valid(s, v) || (v.type->kind != FL_TY_SCALAR && v.type->kind != FL_TY_ARRAY)) return v;
  FlValue *yes = fl_ir_const_i(&s->b, FL_BOOL, 1);
  if (v.type->kind == FL_TY_ARRAY) yes = filled(s, v, yes);
  return fl_val_with(s, fl_type_with_null(s->types, v.type, true), (FlValue *[]){v.parts[0], yes}, v);
}

FlValue *fl_val_zero(FlSema *s, FlDtype d) {
  if (fl_dtype_is_text(d)) return fl_ir_const_t(&s->b, "", 0);
  if (fl_dtype_is_float(d)) return fl_ir_const_f(&s->b, d, 0.0);
  return fl_ir_const_i(&s->b, fl_dtype_stored(d), 0);
}

FlVal fl_val_null_of(FlSema *s, const FlType *t) {
  FlValue *parts[3] = {fl_val_zero(s, t->dtype), fl_ir_const_i(&s->b, FL_BOOL, 0)};
  if (fl_type_is_category(t)) parts[2] = fl_levels_none(s);
  return fl_val_make(s, fl_type_with_null(s->types, t, true), parts);
}

bool fl_val_const_i(FlVal v, int64_t *out) {
  return v.type->kind == FL_TY_SCALAR && !v.type->nullable && fl_ir_const_value_i(v.parts[0], out);
}

const char *fl_val_const_text(FlVal v) {
  bool text = v.type->kind == FL_TY_SCALAR && v.type->dtype == FL_TEXT && !v.type->nullable;
  const FlOp *op = text ? v.parts[0]->op : NULL;
  if (!op || op->code != FL_OP_CONST || strlen(op->attrs.s) != (size_t)op->attrs.s_len) return NULL;
  return op->attrs.s;
}

/* ---- numbers ---- */

static int int_bits(FlDtype d) { return 8 * fl_dtype_info[d].bytes; }

static FlDtype int_of(bool is_signed, int bits) {
  if (is_signed) return bits <= 8 ? FL_I8 : bits <= 16 ? FL_I16 : bits <= 32 ? FL_I32 : FL_I64;
  return bits <= 8 ? FL_U8 : bits <= 16 ? FL_U16 : bits <= 32 ? FL_U32 : FL_U64;
}

bool fl_promote(FlDtype a, FlDtype b, FlDtype *out) {
  if (a == b) {
    *out = a;
    return true;
  }
  bool left = fl_dtype_is_decimal(a), right = fl_dtype_is_decimal(b);
  if (left || right) { /* the larger scale; with a float f64, as of integers */
    *out = fl_dtype_is_float(a) || fl_dtype_is_float(b) ? FL_F64 : !left ? b : !right || a > b ? a : b;
    return (left || fl_dtype_is_number(a)) && (right || fl_dtype_is_number(b));
  }
  if (!fl_dtype_is_number(a) || !fl_dtype_is_number(b)) return false;
  if (fl_dtype_is_float(a) || fl_dtype_is_float(b)) { /* integers and f32 go to f64 */
    *out = FL_F64;
    return true;
  }
  bool sa = fl_dtype_is_signed(a), sb = fl_dtype_is_signed(b);
  int ba = int_bits(a), bb = int_bits(b);
  if (sa == sb) {
    *out = int_of(sa, ba > bb ? ba : bb);
    return true;
  }
  int bits_u = sa ? bb : ba, bits_s = sa ? ba : bb;
  if (bits_u == 64) return false;
  *out = int_of(true, bits_s > bits_u ? bits_s : bits_u * 2);
  return true;
}

static bool literal_int_fits(FlVal v, FlDtype to) {
  if (fl_dtype_is_signed(to)) {
    uint64_t top = (uint64_t)1 << (int_bits(to) - 1);
    return v.negative ? v.magnitude <= top : v.magnitude < top;
  }
  if (v.negative) return v.magnitude == 0;
  return int_bits(to) == 64 || v.magnitude < (uint64_t)1 << int_bits(to);
}

static FlVal literal_as(FlSema *s, FlVal v, FlDtype to) {
  FlVal out;
  int64_t units = 0;
  if (fl_dtype_is_decimal(to) && fl_decimal_literal(v, to, &units))
    return fl_val_scalar(s, to, fl_ir_const_i(&s->b, to, units));
  if (fl_dtype_is_float(to)) {
    double d = v.literal == FL_LIT_FLOAT ? v.real : (double)v.magnitude * (v.negative ? -1 : 1);
    if (to == FL_F32 && v.literal == FL_LIT_FLOAT && v.spelling) {
      d = (double)strtof(v.spelling, NULL);
      if (signbit(v.real)) d = -fabs(d);
    }
    out = fl_val_scalar(s, to, fl_ir_const_f(&s->b, to, d));
  } else {
    uint64_t bits = v.negative ? 0 - v.magnitude : v.magnitude;
    out = fl_val_scalar(s, to, fl_ir_const_i(&s->b, to, (int64_t)bits));
  }
  out.literal = v.literal;
  out.negative = v.negative;
  out.magnitude = v.magnitude;
  out.real = v.real;
  out.spelling = v.spelling;
  return out;
}

static bool literal_fits(FlVal v, FlDtype to) {
  int64_t units;
  if (fl_dtype_is_decimal(to)) return fl_decimal_literal(v, to, &units);
  if (!fl_dtype_is_number(to)) return false;
  if (v.literal == FL_LIT_FLOAT) return fl_dtype_is_float(to);
  if (fl_dtype_is_int(to)) return literal_int_fits(v, to);
  if (v.magnitude > (uint64_t)1 << 63) return false;
  return to == FL_F32 ? (uint64_t)(float)v.magnitude == v.magnitude
                      : (uint64_t)(double)v.magnitude == v.magnitude;
}

FlVal fl_val_as_literal_type(FlSema *s, FlVal v, FlDtype to, FlSpan span) {
  if (v.type->kind != FL_TY_SCALAR || v.type->dtype == to || !v.literal) return v;
  if (!literal_fits(v, to))
    return fl_dtype_is_decimal(to)
               ? fl_decimal_misfit(s, v, to, span)
               : fl_sema_error(s, FL_E0302, span, "this number does not fit %s", fl_dtype_name(to));
  return literal_as(s, v, to);
}

/* ---- implicit conversion ---- */

static bool dtype_widens(FlDtype from, FlDtype to) {
  FlDtype common;
  return from == to || (fl_promote(from, to, &common) && common == to);
}

bool fl_val_fits(FlSema *s, FlVal v, const FlType *want) {
  const FlType *t = v.type;
  if (t == want || t->kind == FL_TY_ERROR || t->kind == FL_TY_NEVER || want->kind == FL_TY_ERROR) return true;
  switch (want->kind) {
  case FL_TY_SCALAR:
    if (t->kind == FL_TY_NULL) return want->nullable;
    if (t->kind != FL_TY_SCALAR || (t->nullable && !want->nullable)) return false;
    if (v.exact && fl_dtype_is_decimal(want->dtype)) return literal_fits(v, want->dtype);
    return v.literal && (fl_dtype_is_number(want->dtype) || fl_dtype_is_decimal(want->dtype))
               ? literal_fits(v, want->dtype)
               : dtype_widens(t->dtype, want->dtype);
  case FL_TY_ARRAY:
    return t->kind == FL_TY_ARRAY && t->rank == want->rank && (!t->nullable || want->nullable) &&
           dtype_widens(t->dtype, want->dtype);
  case FL_TY_TUPLE:
    if (t->kind != FL_TY_TUPLE || t->n_fields != want->n_fields ||
        (t->name && want->name && t->name != want->name))
      return false;
    for (int i = 0; i < want->n_fields; i++) {
      int k = fl_type_field_find(t, want->fields[i].name);
      if (k < 0 || !fl_val_fits(s, fl_val_field(s, v, k), want->fields[i].type)) return false;
    }
    return true;
  case FL_TY_TABLE:
    if (t->kind != FL_TY_TABLE || t->elem->n_fields != want->elem->n_fields) return false;
    if (fl_type_is_grouped(t) || fl_type_is_grouped(want)) return false;
    for (int i = 0; i < want->elem->n_fields; i++) {
      int k = fl_type_field_find(t->elem, want->elem->fields[i].name);
      if (k < 0 || !fl_val_fits(s, fl_val_field(s, v, k), fl_type_many(s->types, want->elem->fields[i].type)))
        return false;
    }
    return true;
  case FL_TY_LIST: return fl_type_alike(t, want);
  case FL_TY_FUNC: return t->kind == FL_TY_FUNC;
  case FL_TY_NULL:
  case FL_TY_NONE:
  case FL_TY_NEVER:
  case FL_TY_ERROR: return false;
  }
  return false;
}

static FlVal convert_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)n;
  (void)span;
  FlDtype to = *(FlDtype *)env;
  FlVal v = args[0];
  FlValue *parts[2] = {fl_ir_convert(&s->b, v.parts[0], to), fl_val_valid(s, v)};
  return fl_val_make(s, fl_type_scalar(s->types, to, v.type->nullable), parts);
}

FlVal fl_val_raise(FlSema *s, FlValue *message) {
  FlOp *op = fl_ir_op(&s->b, FL_OP_FAIL, 1, &message, 0, NULL, 0);
  op->attrs.i = FL_FAULT_ERROR;
  return (FlVal){.type = s->types->never, .fail = op};
}

bool fl_val_one_message(FlSema *s, FlVal v, FlSpan span) {
  if (v.messages)
    fl_sema_error(s, FL_E0301, span, "the message must be text, but this is %s",
                  fl_val_text(s, v.messages->texts));
  return !v.messages;
}

/* v fits `want`: do it. */
static FlVal convert(FlSema *s, FlVal v, const FlType *want, FlSpan span) {
  if (v.type == want || v.type->kind == FL_TY_ERROR || want->kind == FL_TY_ERROR) return v;
  if (v.type->kind == FL_TY_NEVER) { /* after an error(...): values that are never looked at */
    if (!fl_val_one_message(s, v, span)) return fl_val_error(s);
    FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, want->n_parts + 1);
    fl_type_parts(want, types);
    FlOp *fail = v.fail;
    if (!fail || fail->n_results || fail->code != FL_OP_FAIL || fail->parent != s->b.region)
      fail = fl_val_raise(s, fl_ir_const_t(&s->b, "unreachable", 11)).fail;
    fl_ir_add_results(&s->b, fail, want->n_parts, types);
    return fl_val_make(s, want, fail->results);
  }
  switch (want->kind) {
  case FL_TY_SCALAR:
    if (v.type->kind == FL_TY_NULL) return fl_val_null_of(s, want);
    if (v.literal) v = literal_as(s, v, want->dtype);
    /* fall through */
  case FL_TY_ARRAY: {
    FlDtype to = want->dtype;
    if (fl_dtype_is_decimal(to)) v = fl_decimal_as(s, v, to, span);
    else if (fl_val_is_decimal(v)) v = fl_decimal_to_real(s, v, span);
    if (v.type->dtype != to) v = fl_sema_lift(s, span, 1, &v, convert_element, &to);
    return want->nullable ? fl_val_nullable(s, v) : v;
  }
  case FL_TY_TUPLE:
  case FL_TY_TABLE: {
    const FlType *row = fl_type_row(want), *have = fl_type_row(v.type);
    FlVal out = {.type = want, .parts = FL_NEW_ARRAY(s->arena, FlValue *, want->n_parts + 1)};
    int at = 0;
    if (want->kind == FL_TY_TABLE) out.parts[at++] = v.parts[0];
    for (int i = 0; i < row->n_fields; i++) {
      const FlType *ft = row->fields[i].type;
      if (want->kind == FL_TY_TABLE) ft = fl_type_many(s->types, ft);
      FlVal f = convert(s, fl_val_field(s, v, fl_type_field_find(have, row->fields[i].name)), ft, span);
      for (int k = 0; k < f.type->n_parts; k++) out.parts[at++] = f.parts[k];
    }
    return out;
  }
  case FL_TY_LIST:
  case FL_TY_FUNC:
  case FL_TY_NULL:
  case FL_TY_NONE:
  case FL_TY_NEVER:
  case FL_TY_ERROR: break;
  }
  return (FlVal){.type = want, .parts = v.parts, .fn = v.fn};
}

/* How a value of one type becomes one of another, as a line; NULL: by no function alone. */
static const char *way(FlDtype from, FlDtype to) {
  const bool number = fl_dtype_is_number(from);
  if (to == FL_BOOL && fl_dtype_is_int(from)) return "compare it, as in `... != 0`";
  if (to == FL_TEXT && from != FL_FILE) return "write it as a text: `text(...)`";
  if (from == FL_BOOL && fl_dtype_is_int(to)) return "true as 1, false as 0: `i64(...)`";
  if (to == FL_DURATION && number) return "say the unit: `days(...)`, `hours(...)`, `seconds(...)`";
  if (from == FL_DURATION && fl_dtype_is_number(to)) return "divide by a unit: `... / days(1)`";
  if (to == FL_DATE && from == FL_DATETIME) return "take its day: `date(...)`";
  if (to == FL_DATETIME && from == FL_DATE) return "take the beginning of the day: `datetime(...)`";
  if (from != FL_TEXT) return NULL;
  if (to == FL_BOOL) return "compare it, as in `... == \"true\"`";
  if (fl_dtype_is_decimal(to)) return "read the number: `decimal(...)`";
  if (fl_dtype_is_float(to)) return "read the number: `parse_f64(...)`";
  if (fl_dtype_is_int(to)) return "read the number: `parse_i64(...)`";
  if (to == FL_DATE) return "read the date: `date(\"2026-05-17\")`, `parse_date(...)`";
  if (to == FL_DATETIME) return "read the time: `datetime(\"2026-05-17 10:00:00\")`, `parse_datetime(...)`";
  return NULL;
}

enum { QUOTIENT_DEPTH = 8 };

/* Is it made of integers alone, and whole numbers as written? *divides: by `/`, too. */
static bool of_integers(const FlValue *v, int depth, bool *divides) {
  const FlOp *op = v->op;
  if (!op || depth == QUOTIENT_DEPTH) return false;
  if (op->code == FL_OP_CONST) return fl_dtype_is_float(v->type.dtype) && floor(op->attrs.f) == op->attrs.f;
  if (op->code == FL_OP_CONVERT) return fl_dtype_is_int(op->args[0]->type.dtype);
  if (op->code == FL_OP_DIV) *divides = true;
  else if (op->code != FL_OP_ADD && op->code != FL_OP_SUB && op->code != FL_OP_MUL) return false;
  return of_integers(op->args[0], depth + 1, divides) && of_integers(op->args[1], depth + 1, divides);
}

static bool is_quotient(FlVal v) {
  bool divides = false;
  return v.type->kind == FL_TY_SCALAR && v.parts && of_integers(v.parts[0], 0, &divides) && divides;
}

static void explain_misfit(FlSema *s, FlDiag *d, FlVal v, const FlType *want) {
  const FlType *t = v.type;
  bool both = (t->kind == FL_TY_SCALAR || t->kind == FL_TY_ARRAY) &&
              (want->kind == FL_TY_SCALAR || want->kind == FL_TY_ARRAY);
  if (both && t->nullable && !want->nullable)
    fl_diag_help(s->sink, d,
                 "it may be null: fill it with `?? value`, or drop those rows with `drop_null` or `where(not "
                 "is_null(...))`");
  else if (both && t->dtype == FL_TEXT && want->dtype == FL_CATEGORY)
    fl_diag_help(s->sink, d, "make a category of it: `category(..., levels = ...)`");
  else if (both && t->dtype == FL_CATEGORY && want->dtype == FL_TEXT)
    fl_diag_help(s->sink, d, "take the texts of the category: `text(...)`");
  else if (both && t->rank == want->rank && t->dtype != want->dtype && way(t->dtype, want->dtype))
    fl_diag_help(s->sink, d, "%s", way(t->dtype, want->dtype));
  else if (both && v.literal)
    ; /* a number as written: the message says it */
  else if (both && fl_dtype_is_int(want->dtype) && is_quotient(v))
    fl_diag_help(s->sink, d,
                 "`/` gives a float; the quotient of integers that is rounded down is written `//`");
  else if (both && fl_dtype_is_number(t->dtype) && fl_dtype_is_number(want->dtype) && t->kind == want->kind &&
           t->rank == want->rank)
    fl_diag_help(s->sink, d, "convert it with `%s(...)`", fl_dtype_name(want->dtype));
  else if (both && fl_dtype_is_decimal(want->dtype) &&
           (fl_dtype_is_float(t->dtype) || fl_dtype_is_decimal(t->dtype)))
    fl_diag_help(s->sink, d, "round it to so many digits behind the point: `%s(..., %d)`",
                 fl_dtype_is_float(t->dtype) ? "decimal" : "round", fl_decimal_scale(want->dtype));
  else if (both && t->kind == FL_TY_ARRAY && want->kind == FL_TY_ARRAY && t->rank != want->rank)
    fl_diag_note(s->sink, d, (FlSpan){0}, "one has %d dimension%s, the other %d", t->rank,
                 t->rank == 1 ? "" : "s", want->rank);
  else if (t->kind == FL_TY_TABLE && want->kind == FL_TY_ARRAY && want->rank == 2)
    fl_diag_help(s->sink, d, "columns become a matrix by `matrix(t, x, y)`, or `matrix(t, numeric())`");
  else if (t->kind == FL_TY_TABLE && want->kind == FL_TY_ARRAY)
    fl_diag_help(s->sink, d, "take a column, `t.x`");
  else if (fl_type_row(t) && fl_type_row(want)) fl_sema_explain_rows(s, d, t, want);
}

FlVal fl_val_coerce(FlSema *s, FlVal v, const FlType *want, FlSpan span, const char *what) {
  if (fl_val_fits(s, v, want)) return convert(s, v, want, span);
  FlDiag *d;
  bool by_name = v.type->name && want->name && v.type->name != want->name;
  bool amount = fl_dtype_is_number(want->dtype);
  bool scalar = want->kind == FL_TY_SCALAR && v.type->kind == FL_TY_SCALAR;
  if ((v.literal || v.exact) && scalar && fl_dtype_is_decimal(want->dtype))
    return fl_decimal_misfit(s, v, want->dtype, span);
  if (v.literal && want->kind == FL_TY_SCALAR && amount)
    d = fl_sema_report(s, FL_E0302, span, "this number does not fit %s", fl_type_text(s->types, want));
  else if (v.type->kind == FL_TY_NULL)
    d = fl_sema_report(s, FL_E0501, span, "%s must be %s and cannot be null", what,
                       fl_type_brief(s->types, want));
  else
    d = fl_sema_report(s, FL_E0301, span, "%s must be %s, but this is %s", what,
                       by_name ? want->name : fl_type_brief(s->types, want),
                       by_name ? v.type->name : fl_val_text(s, v));
  if (by_name)
    fl_diag_note(s->sink, d, (FlSpan){0}, "`%s` and `%s` are different types, even with equal fields",
                 v.type->name, want->name);
  explain_misfit(s, d, v, want);
  if (v.literal == FL_LIT_FLOAT && d->code == FL_E0302 && fl_dtype_is_int(want->dtype))
    fl_diag_help(s->sink, d, "it has digits behind the point: `f64` keeps them, `i64(round(x))` rounds");
  return fl_val_error(s);
}

/* ---- one type for several values ---- */

const FlType *fl_type_common(FlSema *s, const FlVal *values, int n) {
  const FlType *t = NULL;
  bool null = false;
  bool literal = true; /* all so far were literals */
  for (int i = 0; i < n; i++) {
    const FlType *v = values[i].type;
    if (v->kind == FL_TY_ERROR) return v;
    if (v->kind == FL_TY_NEVER) continue;
    if (v->kind == FL_TY_NULL) {
      null = true;
      continue;
    }
    if (!t || v == t) {
      t = v;
      literal = literal && values[i].literal;
      continue;
    }
    bool plain =
        (t->kind == FL_TY_SCALAR || t->kind == FL_TY_ARRAY) && v->kind == t->kind && v->rank == t->rank;
    if (plain) {
      FlDtype d;
      if (values[i].literal && literal_fits(values[i], t->dtype) && !literal) d = t->dtype;
      else if (literal && values[i].type->kind == FL_TY_SCALAR && !values[i].literal &&
               (fl_dtype_is_decimal(v->dtype) ||
                (fl_dtype_is_number(v->dtype) && (fl_dtype_is_float(v->dtype) || fl_dtype_is_int(t->dtype)))))
        d = v->dtype;
      else if (!fl_promote(t->dtype, v->dtype, &d)) return NULL;
      bool nullable = t->nullable || v->nullable;
      t = t->kind == FL_TY_SCALAR ? fl_type_scalar(s->types, d, nullable)
                                  : fl_type_array(s->types, d, nullable, t->rank);
      literal = literal && values[i].literal;
    } else if (t->kind == FL_TY_TUPLE && v->kind == FL_TY_TUPLE && t->n_fields == v->n_fields) {
      FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, t->n_fields + 1);
      for (int k = 0; k < t->n_fields; k++) {
        int at = fl_type_field_find(v, t->fields[k].name);
        if (at < 0) return NULL;
        FlVal pair[2] = {{.type = t->fields[k].type}, {.type = v->fields[at].type}};
        fields[k] = (FlTyField){t->fields[k].name, fl_type_common(s, pair, 2)};
        if (!fields[k].type) return NULL;
      }
      t = fl_type_tuple(s->types, t->n_fields, fields, t->name == v->name ? t->name : NULL);
    } else if (!fl_val_fits(s, values[i], t)) {
      return NULL;
    }
  }
  if (!t) return null ? s->types->null : s->types->never;
  if (null) {
    if (t->kind != FL_TY_SCALAR) return NULL;
    t = fl_type_with_null(s->types, t, true);
  }
  return t;
}

/* The first field of a tuple that is null in all of its places, or NULL. */
static const char *open_field(const FlType *t) {
  for (int k = 0; t->kind == FL_TY_TUPLE && k < t->n_fields; k++) {
    if (t->fields[k].type->kind == FL_TY_NULL) return t->fields[k].name;
    const char *inner = open_field(t->fields[k].type);
    if (inner) return inner;
  }
  return NULL;
}

bool fl_val_unify(FlSema *s, FlVal *values, int n, const FlSpan *spans, const char *what,
                  const FlType **out) {
  const FlType *t = fl_type_common(s, values, n);
  if (!t) {
    int other = 1;
    while (other < n - 1 && fl_val_fits(s, values[other], values[0].type)) other++;
    FlDiag *d = fl_sema_report(s, FL_E0303, spans[other], "%s have different types: %s and %s", what,
                               fl_val_text(s, values[0]), fl_val_text(s, values[other]));
    fl_diag_note(s->sink, d, spans[0], "the other one is here");
    if (fl_val_is_category(values[0]) != fl_val_is_category(values[other]))
      fl_diag_help(s->sink, d, "make all of them categories with the same levels, or texts: `text(c)`");
    return false;
  }
  const char *open = open_field(t);
  if (open)
    fl_sema_error(s, FL_E0503, spans[0], "nothing says which type the field `%s` has, which is null here",
                  open);
  *out = t;
  return t->kind != FL_TY_ERROR && !open;
}

/* ---- sizes ---- */

void fl_sema_mark_size(FlSema *s, FlValue *v) { fl_map_set(s->sizes, v, v); }

bool fl_sema_is_size(FlSema *s, const FlValue *v) {
  int64_t c;
  if (fl_ir_const_value_i(v, &c)) return c >= 0;
  if (fl_map_get(s->sizes, v)) return true;
  if (!v->op) return false;
  FlOpcode code = v->op->code;
  if (code == FL_OP_MAX) return fl_sema_is_size(s, v->op->args[0]) || fl_sema_is_size(s, v->op->args[1]);
  if (code == FL_OP_MIN) return fl_sema_is_size(s, v->op->args[0]) && fl_sema_is_size(s, v->op->args[1]);
  return code == FL_OP_DIM || (fl_op_info[code].flags & FL_OPF_COUNTS && v->index == 0);
}

FlValue *fl_sema_i64(FlSema *s, int64_t v) { return fl_ir_const_i(&s->b, FL_I64, v); }

FlValue *fl_sema_op2(FlSema *s, FlOpcode code, FlValue *a, FlValue *b) {
  return fl_ir_binary(&s->b, code, a, b);
}

/* *checked: becomes true where a CHECK says that the two are equal. */
static FlValue *same_size_as(FlSema *s, FlValue *size, bool *checked) {
  int k;
  while ((k = (int)(intptr_t)fl_map_get(s->alias_of, size)) > 0) {
    const FlAlias *a = &s->aliases.at[k - 1];
    *checked = *checked || a->checked;
    size = a->to;
  }
  return size;
}

FlValue *fl_sema_size(FlSema *s, FlValue *size) {
  bool checked = false;
  return same_size_as(s, size, &checked);
}

static void add_alias(FlSema *s, FlAlias a) {
  a.before = (int)(intptr_t)fl_map_get(s->alias_of, a.from);
  fl_vec_push(s->arena, &s->aliases, a);
  fl_map_set(s->alias_of, a.from, (void *)(intptr_t)s->aliases.n);
}

void fl_sema_cut_aliases(FlSema *s, int n) {
  while (s->aliases.n > n) {
    const FlAlias *a = &s->aliases.at[--s->aliases.n];
    fl_map_set(s->alias_of, a->from, (void *)(intptr_t)a->before);
  }
}

static void alias(FlSema *s, FlValue *from, FlValue *to, bool checked) {
  from = same_size_as(s, from, &checked); /* representatives only, so that there are no circles */
  to = same_size_as(s, to, &checked);
  if (from != to) add_alias(s, (FlAlias){.from = from, .to = to, .checked = checked});
}

void fl_sema_alias(FlSema *s, FlValue *from, FlValue *to) { alias(s, from, to, false); }

void fl_sema_forget_checks(FlSema *s, int n_aliases) {
  int n = s->aliases.n;
  fl_sema_cut_aliases(s, n_aliases);
  for (int i = n_aliases; i < n; i++) { /* what was cut is still there, and never behind what is added */
    FlAlias a = s->aliases.at[i];
    if (!a.checked) add_alias(s, a);
  }
}

FlValue *fl_sema_dim(FlSema *s, FlVal v, int axis) {
  FlValue *size = v.type->kind == FL_TY_TABLE ? v.parts[0] : fl_ir_dim(&s->b, v.parts[0], axis);
  return fl_sema_size(s, size);
}

FlValue *fl_sema_product(FlSema *s, int n, FlValue *const *sizes) {
  FlValue *product = sizes[0], *none = NULL;
  for (int k = 1; k < n && n > 2; k++) { /* of two, a zero is a factor before anything overflows */
    FlValue *empty = fl_sema_op2(s, FL_OP_EQ, sizes[k], fl_sema_i64(s, 0));
    none = none ? fl_sema_op2(s, FL_OP_OR, none, empty) : empty;
  }
  if (none) product = fl_ir_select(&s->b, none, fl_sema_i64(s, 0), product);
  for (int k = 1; k < n; k++) product = fl_sema_op2(s, FL_OP_MUL, product, sizes[k]);
  return product;
}

static bool is_const(FlValue *v, int64_t *out) { return fl_ir_const_value_i(v, out); }

bool fl_sema_sizes_equal(FlSema *s, FlValue *a, FlValue *b) {
  int64_t ca, cb;
  a = fl_sema_size(s, a);
  b = fl_sema_size(s, b);
  return a == b || (is_const(a, &ca) && is_const(b, &cb) && ca == cb);
}

void fl_sema_known_failure(FlSema *s, FlDiagCode code, FlSpan span, const char *message, int64_t a,
                           int64_t b) {
  FlText1 text = {0};
  for (const char *p = message; *p; p++) {
    if (strncmp(p, "{a}", 3) == 0 || strncmp(p, "{b}", 3) == 0) {
      fl_text_addf(&text, "%lld", (long long)(p[1] == 'a' ? a : b));
      p += 2;
    } else {
      fl_text_addc(&text, *p);
    }
  }
  fl_sema_error(s, code, span, "%s", text.s ? text.s : "");
  fl_text_reset(&text);
}

bool fl_sema_same_size(FlSema *s, FlValue *a, FlValue *b, FlSpan span, const char *message) {
  a = fl_sema_size(s, a);
  b = fl_sema_size(s, b);
  if (a == b) return true;
  int64_t ca, cb;
  bool ka = is_const(a, &ca), kb = is_const(b, &cb);
  if (ka && kb) {
    if (ca == cb) return true;
    fl_sema_known_failure(s, FL_E0401, span, message, ca, cb);
    return false;
  }
  FlValue *args[3] = {fl_ir_binary(&s->b, FL_OP_EQ, a, b), a, b};
  FlSpan outer = s->b.span;
  s->b.span = span;
  FlOp *check = fl_ir_op(&s->b, FL_OP_CHECK, 3, args, 0, NULL, 0);
  s->b.span = outer;
  check->attrs.i = FL_FAULT_SHAPE;
  check->attrs.s = fl_arena_strndup(s->arena, message, strlen(message));
  if (kb) alias(s, a, b, true);
  else alias(s, b, a, true);
  return true;
}
