/* join_where.c: joins with a condition: pairs of rows with equal keys of which it is true.
 *
 * In: two tables, their keys, if any, and a condition that names the columns of the joined table. Out: JOIN
 * or JOIN_RANGE, which finds pairs by what the condition says of one table, and by comparisons of a value of
 * each; the rest of it is computed for these pairs alone, and JOIN_REST then adds the rows without a partner.
 * What always holds: `and` goes from left to right: what may fail is asked of no pair for which what stands
 * before it is not true. But the values that are compared are computed for each row of their table where
 * nothing but such comparisons stands before. */
#include "sema/category.h"
#include "sema/choose.h"
#include "sema/decimal.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/join.h"

enum { MOST = 2 * FL_JOIN_KEYS, MOST_BOUNDS = 16, LEFT = 1, RIGHT = 2 };

typedef struct Where {
  FlJoin *j;
  FlVal side[2]; /* the tables, columns named as in the joined table */
  int n_keys, n_bounds;
  FlVal key[2][MOST], bound[2][MOST_BOUNDS];
  const char *sign[MOST_BOUNDS];
  FlVal mask[2];      /* which rows may match; no type: all */
  const FlExpr *rest; /* what is asked of pairs; or NULL */
  bool closed;        /* and all that follows, too: some of it may fail */
} Where;

/* ---- names -----------------------------------------------------------------------------------------------
 */

/* The tables as the condition sees them: a right column has the name that it has in the result. */
static bool name_sides(FlSema *s, Where *w, FlSpan span) {
  FlColumns right = {0};
  const FlType *left_row = w->j->left.type->elem, *row = w->j->right.type->elem;
  for (int i = 0; i < row->n_fields; i++) {
    const char *name = fl_join_right_name(s, w->j, i);
    if (fl_type_field_find(left_row, name) >= 0)
      continue; /* reported where it stays, and else a key that is the left's */
    if (!fl_columns_add(s, &right, name, fl_val_field(s, w->j->right, i), span)) return false;
  }
  w->side[0] = w->j->left;
  w->side[1] = fl_columns_table(s, &right, fl_val_rows(w->j->right));
  return true;
}

typedef struct Names {
  FlSema *s;
  const Where *w;
  bool known;
} Names;

static bool is_known(void *env, const FlExpr *e) {
  Names *n = env;
  if (e->kind != FL_EXPR_NAME) return true;
  bool column = false;
  for (int k = 0; k < 2; k++)
    column = column || fl_type_field_find(n->w->side[k].type->elem, e->name.text) >= 0;
  n->known = n->known && (column || fl_scope_find(n->s, e->name.text) || fl_builtin_find(n->s, e->name.text));
  return true;
}

/* The sides of which e names columns; 0, too, where it has names that are nothing but in it. */
static int sides_of(FlSema *s, const Where *w, const FlExpr *e) {
  int sides = 0;
  Names names = {s, w, true};
  fl_syntax_walk_expr(&(FlWalker){.env = &names, .expr = is_known}, e);
  for (int k = 0; k < 2; k++) {
    const FlType *row = w->side[k].type->elem;
    bool *named = FL_NEW_ARRAY(s->arena, bool, row->n_fields + 1);
    fl_named_columns(row, e, named);
    for (int i = 0; i < row->n_fields; i++)
      if (named[i]) sides |= k ? RIGHT : LEFT;
  }
  return names.known ? sides : 0;
}

/* ---- values that are compared ----------------------------------------------------------------------------
 */

typedef enum Fit { NO_FIT, WEAK, STRONG } Fit; /* WEAK: it holds of pairs of which the comparison does not */

static FlVal as_dtype(FlSema *s, FlVal v, FlDtype d, FlSpan span) {
  if (fl_val_is_decimal(v)) return fl_decimal_to_real(s, v, span);
  return fl_val_coerce(s, v, fl_type_array(s->types, d, v.type->nullable, 1), span, "the condition");
}

/* Not every value is a float. */
static bool is_wide(FlDtype d) { return d == FL_I64 || d == FL_U64 || fl_dtype_is_decimal(d); }

/* Brings both to one type whose order is that of the comparison; WEAK: up to equality, as floats. */
static Fit match(FlSema *s, FlVal pair[2], bool equal, FlSpan span) {
  FlDtype d[2] = {pair[0].type->dtype, pair[1].type->dtype}, common;
  if (fl_val_is_category(pair[0]) || fl_val_is_category(pair[1])) {
    if (!fl_val_is_category(pair[0]) || !fl_val_is_category(pair[1])) return NO_FIT;
    if (!fl_levels_same(s, fl_val_levels(pair[0]), fl_val_levels(pair[1]), span)) return NO_FIT;
    for (int k = 0; k < 2; k++) pair[k] = fl_category_codes(s, pair[k]);
    return STRONG;
  }
  if (d[0] == d[1]) return d[0] == FL_FILE || (d[0] == FL_BOOL && !equal) ? NO_FIT : STRONG;
  for (int k = 0; k < 2; k++)
    if (!fl_dtype_is_number(d[k]) && !fl_dtype_is_decimal(d[k])) return NO_FIT;
  bool ints = fl_dtype_is_int(d[0]) && fl_dtype_is_int(d[1]);
  if (ints && (!fl_promote(d[0], d[1], &common) || !fl_dtype_is_int(common))) return NO_FIT;
  for (int k = 0; k < 2; k++) pair[k] = as_dtype(s, pair[k], ints ? common : FL_F64, span);
  return ints || (!is_wide(d[0]) && !is_wide(d[1])) ? STRONG : WEAK;
}

static FlVal both(FlSema *s, FlVal a, FlVal b, FlSpan span) {
  return a.type ? fl_sema_lift_op(s, span, FL_OP_AND, 2, (FlVal[]){a, b}, FL_BOOL, NULL) : b;
}

/* v with a value only where `ok`. */
static FlVal only_where(FlSema *s, FlVal v, FlVal ok, FlSpan span) {
  FlValue *valid = fl_val_valid(s, v);
  if (valid) ok = both(s, fl_val_array(s, FL_BOOL, 1, valid), ok, span);
  return fl_val_with(s, fl_type_with_null(s->types, v.type, true), (FlValue *[]){v.parts[0], ok.parts[0]}, v);
}

static FlVal no_nan(FlSema *s, FlVal v,
                    FlSpan span) { /* as a key NaN equals itself, and in a condition nothing */
  if (!fl_dtype_is_float(v.type->dtype)) return v;
  FlVal plain = fl_val_plain(s, v);
  return only_where(s, v, fl_sema_lift_op(s, span, FL_OP_EQ, 2, (FlVal[]){plain, plain}, FL_BOOL, NULL),
                    span);
}

/* Where e is computed for each row of one table: is it a column there? fails: some row may stop the run. */
static FlVal of_side(FlSema *s, const Where *w, int side, const FlExpr *e, bool *fails) {
  FlActual a = {.expr = e, .span = e->span};
  FlLazyMark mark = fl_lazy_mark(s);
  FlVal v = fl_verb_expr(s, w->side[side], &a, FL_AGG_SPREAD);
  *fails = fl_lazy_fails(s, mark);
  return v;
}

static bool is_column(FlVal v) { return v.type->kind == FL_TY_ARRAY && v.type->rank == 1; }

static const char *sign_of(FlBinaryOp op, bool turned, bool weak) {
  bool less = (op == FL_BIN_LT || op == FL_BIN_LE) != turned,
       equal = weak || op == FL_BIN_LE || op == FL_BIN_GE;
  return less ? equal ? "<=" : "<" : equal ? ">=" : ">";
}

/* A comparison of a value of either table. false: reported. */
static bool compares(FlSema *s, Where *w, const FlExpr *e, bool turned, bool *used, bool *fails) {
  FlBinaryOp op = e->binary.op;
  bool equal = op == FL_BIN_EQ, may[2];
  FlVal pair[2];
  for (int k = 0; k < 2; k++) {
    pair[k] = of_side(s, w, k, (k == 1) != turned ? e->binary.right : e->binary.left, &may[k]);
    if (fl_val_bad(pair[k])) return false;
  }
  *fails = may[0] || may[1];
  bool guarded = *fails && (w->rest || w->mask[0].type || w->mask[1].type);
  if (op == FL_BIN_NE || guarded || !is_column(pair[0]) || !is_column(pair[1])) return true;
  if (equal ? w->n_keys == MOST : w->n_bounds == MOST_BOUNDS) return true;
  Fit fit = match(s, pair, equal, e->span);
  if (fl_val_bad(pair[0]) || fl_val_bad(pair[1])) return false;
  *used = fit == STRONG;
  if (fit == NO_FIT) return true;
  for (int k = 0; k < 2; k++) {
    if (equal) w->key[k][w->n_keys] = fit == STRONG ? no_nan(s, pair[k], e->span) : pair[k];
    else w->bound[k][w->n_bounds] = pair[k];
  }
  if (equal) w->n_keys++;
  else w->sign[w->n_bounds++] = sign_of(op, turned, fit == WEAK);
  return true;
}

/* A condition on one table. */
static bool restricts(FlSema *s, Where *w, int side, const FlExpr *e, bool *used, bool *fails) {
  FlVal v = of_side(s, w, side, e, fails);
  if (fl_val_bad(v)) return false;
  if (*fails || !is_column(v) || v.type->dtype != FL_BOOL) return true;
  w->mask[side] =
      both(s, w->mask[side], fl_val_plain(s, v), e->span); /* a null condition is false underneath */
  *used = true;
  return true;
}

static bool is_comparison(const FlExpr *e) {
  return e->kind == FL_EXPR_BINARY &&
         (e->binary.op == FL_BIN_EQ || e->binary.op == FL_BIN_NE || e->binary.op == FL_BIN_LT ||
          e->binary.op == FL_BIN_LE || e->binary.op == FL_BIN_GT || e->binary.op == FL_BIN_GE);
}

/* Reads e, which `and` joins to what was read. false: reported. */
static bool read(FlSema *s, Where *w, const FlExpr *e) {
  if (e->kind == FL_EXPR_BINARY && e->binary.op == FL_BIN_AND)
    return read(s, w, e->binary.left) && read(s, w, e->binary.right);
  bool used = e->kind == FL_EXPR_BOOL && e->boolean, fails = true;
  int sides = w->closed ? 0 : sides_of(s, w, e);
  if (sides == LEFT + RIGHT && is_comparison(e)) {
    int left = sides_of(s, w, e->binary.left), right = sides_of(s, w, e->binary.right);
    if (left && right && left + right == LEFT + RIGHT && !compares(s, w, e, left == RIGHT, &used, &fails))
      return false;
  }
  if ((sides == LEFT || sides == RIGHT) && !restricts(s, w, sides == RIGHT, e, &used, &fails)) return false;
  if (used) return true;
  w->closed = w->closed || fails;
  FlExpr *all = FL_NEW(s->arena, FlExpr);
  *all = (FlExpr){.kind = FL_EXPR_BINARY, .span = e->span, .height = e->height};
  if (w->rest && w->rest->height >= all->height) all->height = w->rest->height;
  all->height++;
  all->binary.op = FL_BIN_AND;
  all->binary.left = (FlExpr *)(uintptr_t)w->rest;
  all->binary.right = (FlExpr *)(uintptr_t)e;
  all->binary.op_span = e->span;
  w->rest = w->rest ? all : e;
  return true;
}

/* ---- pairs -----------------------------------------------------------------------------------------------
 */

static FlValue *mask_of(FlSema *s, const Where *w, int side, FlSpan span) {
  FlVal v = w->mask[side].type ? w->mask[side] : fl_val_bool(s, true);
  return fl_verb_as_column(s, v, fl_val_rows(w->side[side]), span, "condition").parts[0];
}

static void give(FlJoin *j, const FlOp *op) {
  j->rows = op->results[0];
  j->left_row = op->results[1];
  j->right_row = op->results[2];
}

static void pairs_op(FlSema *s, Where *w, FlOpcode code, const char *how, bool one, FlValue *limit,
                     FlSpan span) {
  FlValue *args[3 + 4 * (MOST + MOST_BOUNDS)];
  FlColumnAttr columns[2 * (MOST + MOST_BOUNDS)];
  FlType1 types[3] = {fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1), fl_t_array(FL_I64, 1)};
  FlText1 words = {0};
  int n = 0, n_columns = 2 * w->n_keys;
  fl_text_addf(&words, "%s", how);
  if (code == FL_OP_JOIN_RANGE) {
    args[n++] = limit;
    for (int side = 0; side < 2; side++) args[n++] = mask_of(s, w, side, span);
  }
  for (int side = 0; side < 2; side++) {
    if (code == FL_OP_JOIN && w->mask[side].type)
      w->key[side][0] = only_where(s, w->key[side][0], w->mask[side], span);
    n += fl_verb_keys(s, w->n_keys, w->key[side], args + n, columns + side * w->n_keys);
  }
  for (int i = 0; i < w->n_bounds; i++) {
    fl_text_addf(&words, " %s", w->sign[i]);
    for (int side = 0; side < 2; side++)
      n += fl_verb_keys(s, 1, &w->bound[side][i], args + n, columns + n_columns++);
  }
  FlOp *op = fl_ir_op(&s->b, code, n, args, 3, types, 0);
  op->attrs.s = fl_arena_printf(s->arena, "%s", words.s);
  op->attrs.i = one;
  fl_ir_set_columns(s->arena, op, n_columns, columns);
  fl_text_reset(&words);
  give(w->j, op);
}

/* The pairs of which the rest of the condition is true. */
static bool keep_pairs(FlSema *s, Where *w, FlSpan span) {
  FlJoin *j = w->j;
  FlColumns columns = {0}, rows = {0};
  for (int side = 0; side < 2; side++) {
    const FlType *row = w->side[side].type->elem;
    for (int i = 0; i < row->n_fields; i++)
      fl_columns_set(s, &columns, row->fields[i].name,
                     fl_sema_take(s, fl_val_field(s, w->side[side], i), side ? j->right_row : j->left_row,
                                  FL_TAKE_PROVEN));
  }
  FlActual a = {.expr = w->rest, .span = w->rest->span};
  FlVal v = fl_verb_expr(s, fl_columns_table(s, &columns, j->rows), &a, FL_AGG_SPREAD);
  if (fl_val_bad(v)) return false;
  bool fits = (v.type->kind == FL_TY_ARRAY || v.type->kind == FL_TY_SCALAR) && v.type->dtype == FL_BOOL;
  if (!fits) {
    fl_sema_error(s, FL_E0315, w->rest->span, "a condition must be bool, and this is %s", fl_val_text(s, v));
    return false;
  }
  v = fl_verb_as_column(s, fl_val_plain(s, v), j->rows, span, "condition");
  if (fl_val_bad(v)) return false;
  fl_columns_set(s, &rows, fl_intern_z(s->names, "left"), fl_val_array(s, FL_I64, 1, j->left_row));
  fl_columns_set(s, &rows, fl_intern_z(s->names, "right"), fl_val_array(s, FL_I64, 1, j->right_row));
  FlVal kept = fl_sema_compress(s, fl_columns_table(s, &rows, j->rows), v.parts[0]);
  j->rows = fl_val_rows(kept);
  j->left_row = fl_val_field(s, kept, 0).parts[0];
  j->right_row = fl_val_field(s, kept, 1).parts[0];
  return true;
}

static void add_rest(FlSema *s, Where *w, bool one) {
  FlJoin *j = w->j;
  FlValue *args[4] = {fl_sema_size(s, fl_val_rows(j->left)), fl_sema_size(s, fl_val_rows(j->right)),
                      j->left_row, j->right_row};
  FlType1 types[3] = {fl_t_scalar(FL_I64), fl_t_array(FL_I64, 1), fl_t_array(FL_I64, 1)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_JOIN_REST, 4, args, 3, types, 0);
  op->attrs.s = j->how;
  op->attrs.i = one;
  give(j, op);
}

/* What may take a column as an array. */
static bool takes_rows(void *env, const FlExpr *e) {
  FlSema *s = ((Names *)env)->s;
  bool *known = &((Names *)env)->known;
  switch (e->kind) {
  case FL_EXPR_INDEX:
  case FL_EXPR_REDUCE:
  case FL_EXPR_COMPREHENSION:
  case FL_EXPR_LAMBDA:
  case FL_EXPR_PIPE: *known = false; return false;
  case FL_EXPR_CALL: {
    const FlBuiltin *bi = e->call.func->kind == FL_EXPR_NAME && !fl_scope_find(s, e->call.func->name.text)
                              ? fl_builtin_find(s, e->call.func->name.text)
                              : NULL;
    bool each =
        bi && ((bi->kinds & FL_BUILTIN_SCALAR) ||
               ((bi->kinds & FL_BUILTIN_AGGREGATE) && e->call.args.n > 1 && !e->call.args.at[1].name.text));
    *known = *known && each;
    return each;
  }
  default: return *known;
  }
}

/* Does the condition look at nothing but the pair? What is not known to be of a row is, where it has no parts
 * that are not. */
static bool is_of_pair(FlSema *s, FlVal all, const FlActual *where) {
  FlGroupClass class = fl_verb_class(s, all, where);
  if (class != FL_GROUP_EACH) return class <= FL_GROUP_ROWS;
  Names n = {s, NULL, true};
  fl_syntax_walk_expr(&(FlWalker){.env = &n, .expr = takes_rows}, where->expr);
  return n.known;
}

static bool check_rows(FlSema *s, const Where *w, FlActual *where) {
  FlColumns all = fl_columns_of(s, w->side[0]);
  const FlType *row = w->side[1].type->elem;
  for (int i = 0; i < row->n_fields; i++)
    fl_columns_set(s, &all, row->fields[i].name, fl_val_field(s, w->side[1], i));
  if (is_of_pair(s, fl_columns_table(s, &all, fl_val_rows(w->side[0])), where)) return true;
  FlDiag *d = fl_sema_report(
      s, FL_E0648, where->span,
      "the condition of a join is asked for each pair of rows, and this is computed of more rows than one");
  fl_diag_help(s->sink, d, "compute it before the join, `derive(m = mean(x))`, and name the column here");
  return false;
}

/* The limit, or none where some keys must be equal. */
static FlValue *read_limit(FlSema *s, const Where *w, FlActual *limit) {
  FlValue *out = fl_sema_i64(s, w->n_keys ? -1 : FL_JOIN_MOST_PAIRS);
  if (!fl_actual_given(limit)) return out;
  if (!w->n_keys) return fl_actual_i64(s, limit, &out) ? out : NULL;
  FlDiag *d =
      fl_sema_report(s, FL_E0617, limit->span, "`limit =` is for joins in which no columns must be equal");
  fl_diag_help(s->sink, d, "leave it out");
  return NULL;
}

bool fl_join_where(FlSema *s, FlJoin *j, FlActual *where, FlActual *limit, bool one, FlSpan span) {
  Where *w = FL_NEW(s->arena, Where);
  *w = (Where){.j = j, .n_keys = j->n_keys};
  for (int i = 0; i < j->n_keys; i++) {
    w->key[0][i] = j->key[i].left_value;
    w->key[1][i] = j->key[i].right_value;
  }
  if (!name_sides(s, w, span) || !check_rows(s, w, where) || !read(s, w, where->expr)) return false;
  FlValue *most = read_limit(s, w, limit);
  if (!most) return false;
  bool whole = !w->rest; /* the first operation finds all */
  pairs_op(s, w, w->n_keys && !w->n_bounds ? FL_OP_JOIN : FL_OP_JOIN_RANGE, whole ? j->how : "inner",
           whole && one, most, span);
  if (whole) return true;
  if (!keep_pairs(s, w, span)) return false;
  if (one || strcmp(j->how, "inner") != 0) add_rest(s, w, one);
  return true;
}
