/* category.c: values of type category: codes with the levels that they are positions of.
 *
 * In: typed values. Out: values whose codes and levels fit each other. What always holds: a value's levels
 * are one SSA value that is defined where all its users see it, so equal SSA values prove equal levels and a
 * check is made only where they differ; work on levels and on single texts stands outside of loops and is
 * never an error by itself, the check of its outcome stands where the program has it. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/column_names.h"
#include "sema/expr.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/value.h"

FlValue *fl_val_levels(FlVal v) { return fl_val_is_category(v) ? v.parts[v.type->n_parts - 1] : NULL; }

FlVal fl_val_with(FlSema *s, const FlType *type, FlValue *const *parts, FlVal like) {
  FlVal v = {.type = type, .parts = FL_NEW_ARRAY(s->arena, FlValue *, type->n_parts + 1)};
  int n = fl_type_element_parts(type);
  memcpy(v.parts, parts, sizeof *parts * (size_t)n);
  if (fl_val_is_category(v)) v.parts[n] = fl_val_levels(like);
  return v;
}

static const FlType *type_like(FlSema *s, const FlType *t, FlDtype d) {
  return t->kind == FL_TY_SCALAR ? fl_type_scalar(s->types, d, t->nullable)
                                 : fl_type_array(s->types, d, t->nullable, t->rank);
}

FlVal fl_category_codes(FlSema *s, FlVal v) { return fl_val_make(s, type_like(s, v.type, FL_I32), v.parts); }

FlVal fl_category_of(FlSema *s, FlVal codes, FlValue *levels) {
  FlVal like = {.type = fl_type_scalar(s->types, FL_CATEGORY, false), .parts = (FlValue *[]){NULL, levels}};
  return fl_val_with(s, type_like(s, codes.type, FL_CATEGORY), codes.parts, like);
}

/* ---- where things are made ---- */

/* The outermost place of the function where these values are there. */
static FlBuilder outermost(FlSema *s, int n, FlValue *const *values) {
  FlBuilder at = s->b;
  for (; at.region->owner; at.before = at.region->owner, at.region = at.region->owner->parent)
    for (int i = 0; i < n; i++)
      if (fl_ir_made_inside(values[i], at.region)) return at;
  return at;
}

static const FlOp *const_text(const FlValue *v) {
  return v->op && v->op->code == FL_OP_CONST && v->type.dtype == FL_TEXT ? v->op : NULL;
}

/* Are the levels written in the program? */
static bool are_const(const FlValue *levels) {
  if (!levels->op || levels->op->code != FL_OP_ARRAY) return false;
  for (int i = 0; i < levels->op->n_args; i++)
    if (!const_text(levels->op->args[i])) return false;
  return true;
}

static bool same_const(const FlValue *a, const FlValue *b) {
  const FlOp *x = const_text(a), *y = const_text(b);
  return x->attrs.s_len == y->attrs.s_len && memcmp(x->attrs.s, y->attrs.s, (size_t)x->attrs.s_len) == 0;
}

static int find_const(const FlValue *levels, const FlValue *text) {
  for (int i = 0; i < levels->op->n_args; i++)
    if (same_const(levels->op->args[i], text)) return i;
  return -1;
}

/* Constant levels as a value outside of all loops. */
static FlValue *const_outside(FlSema *s, FlValue *levels) {
  FlBuilder at = outermost(s, 0, NULL);
  int n = levels->op->n_args;
  if (levels->region == at.region) return levels;
  FlValue **texts = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  for (int i = 0; i < n; i++) {
    const FlOp *text = const_text(levels->op->args[i]);
    texts[i] = fl_ir_const_t(&at, text->attrs.s, text->attrs.s_len);
  }
  FlType1 type = fl_t_array(FL_TEXT, 1);
  return fl_ir_op(&at, FL_OP_ARRAY, n, texts, 1, &type, 0)->results[0];
}

FlValue *fl_levels_none(FlSema *s) {
  FlBuilder at = outermost(s, 0, NULL);
  FlType1 type = fl_t_array(FL_TEXT, 1);
  return fl_ir_op(&at, FL_OP_ARRAY, 0, NULL, 1, &type, 0)->results[0];
}

bool fl_levels_are_none(const FlValue *levels) {
  return levels->op && (levels->op->code == FL_OP_FAIL || (are_const(levels) && !levels->op->n_args));
}

/* ---- the same levels ---- */

bool fl_levels_equal(const FlValue *a, const FlValue *b) {
  if (a == b || fl_levels_are_none(a) || fl_levels_are_none(b)) return true;
  if (!are_const(a) || !are_const(b) || a->op->n_args != b->op->n_args) return false;
  for (int i = 0; i < a->op->n_args; i++)
    if (!same_const(a->op->args[i], b->op->args[i])) return false;
  return true;
}

static void report_difference(FlSema *s, const FlValue *a, const FlValue *b, FlSpan span) {
  const FlValue *side[2] = {a, b};
  static const char *const names[2] = {"first", "second"};
  FlDiag *d = fl_sema_report(s, FL_E0262, span, "these categories have different levels");
  for (int k = 1; k >= 0; k--)
    for (int i = 0; i < side[1 - k]->op->n_args; i++) {
      const FlValue *text = side[1 - k]->op->args[i];
      if (find_const(side[k], text) >= 0) continue;
      fl_diag_note(s->sink, d, (FlSpan){0}, "the %s lacks \"%s\"", names[k], text->op->attrs.s);
      return;
    }
  fl_diag_note(s->sink, d, (FlSpan){0}, "they are the same in another order");
}

FlValue *fl_levels_same(FlSema *s, FlValue *a, FlValue *b, FlSpan span) {
  if (fl_levels_equal(a, b)) return fl_levels_are_none(a) ? b : a;
  if (are_const(a) && are_const(b)) {
    report_difference(s, a, b, span);
    return NULL;
  }
  FlValue *pair[2] = {a, b};
  FlBuilder at = outermost(s, 2, pair);
  at.span = span;
  FlType1 types[2] = {fl_t_scalar(FL_BOOL), fl_t_scalar(FL_TEXT)};
  FlOp *op = fl_ir_op(&at, FL_OP_SAME_LEVELS, 2, pair, 2, types, 0);
  FlSpan outer = s->b.span;
  s->b.span = span;
  fl_ir_op(&s->b, FL_OP_CHECK, 2, op->results, 0, NULL, 0)->attrs.i = FL_FAULT_LEVELS;
  s->b.span = outer;
  return are_const(b) ? b : a;
}

FlVal fl_levels_adopt(FlSema *s, FlVal v, FlVal like, FlSpan span) {
  int n = v.type->n_parts;
  const bool *levels = v.type->levels;
  FlVal out = fl_val_make(s, v.type, v.parts);
  out.fn = v.fn;
  for (int p = 0; p < n; p++) {
    if (!levels[p] || v.parts[p] == like.parts[p]) continue;
    if (fl_levels_are_none(like.parts[p]) && !fl_levels_are_none(v.parts[p])) {
      FlDiag *d =
          fl_sema_report(s, FL_E0262, span, "a null without levels cannot become a category with levels");
      fl_diag_help(s->sink, d, "start with a null that has them: `category(null, levels = [...])`");
      return fl_val_error(s);
    }
    if (!fl_levels_same(s, like.parts[p], v.parts[p], span)) return fl_val_error(s);
    out.parts[p] = like.parts[p];
  }
  return out;
}

/* ---- values made for each element ---- */

int fl_val_cut(FlVal v, FlValue **out) {
  int n = 0;
  for (int p = 0; p < v.type->n_parts; p++)
    if (!v.type->levels[p]) {
      if (out) out[n] = v.parts[p];
      n++;
    }
  return n;
}

FlVal fl_val_join(FlSema *s, const FlType *type, FlValue *rows, FlValue *const *parts, FlVal v) {
  int lead = type->kind == FL_TY_TABLE && v.type->kind != FL_TY_TABLE ? 1 : 0;
  FlVal out = {.type = type, .parts = FL_NEW_ARRAY(s->arena, FlValue *, type->n_parts + 1)};
  if (lead) out.parts[0] = rows;
  for (int p = 0, at = 0; p < v.type->n_parts; p++)
    out.parts[p + lead] = v.type->levels[p] ? v.parts[p] : parts[at++];
  return out;
}

bool fl_levels_outside(FlSema *s, FlVal *v, const FlRegion *r) {
  bool all = true;
  FlVal out = fl_val_make(s, v->type, v->parts);
  for (int p = 0; p < v->type->n_parts; p++) {
    if (!v->type->levels[p]) continue;
    if (are_const(out.parts[p])) out.parts[p] = const_outside(s, out.parts[p]);
    all = all && !fl_ir_made_inside(out.parts[p], r);
  }
  if (all) v->parts = out.parts;
  return all;
}

bool fl_levels_need_outside(FlSema *s, FlVal *v, const FlRegion *r, FlSpan span) {
  if (fl_levels_outside(s, v, r)) return true;
  FlDiag *d = fl_sema_report(s, FL_E0264, span, "each of these elements has levels of its own");
  fl_diag_help(s->sink, d, "make the levels before: `let l = ...`, then `category(x, levels = l)` here");
  return false;
}

/* ---- texts ---- */

static FlVal text_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)env;
  (void)n;
  (void)span;
  FlVal v = args[0];
  FlValue *valid = fl_val_valid(s, v), *levels = fl_val_levels(v);
  if (!valid) {
    FlValue *at = fl_ir_convert(&s->b, v.parts[0], FL_I64);
    return fl_val_scalar(s, FL_TEXT, fl_ir_load(&s->b, levels, 1, &at, true));
  }
  FlType1 type = fl_t_scalar(FL_TEXT); /* where all is null there may be no level */
  FlOp *branch = fl_ir_op(&s->b, FL_OP_IF, 1, &valid, 1, &type, 2);
  FlRegion *yes = fl_ir_region(&s->b, branch, 0, 0, NULL), *no = fl_ir_region(&s->b, branch, 1, 0, NULL);
  FlSavedPlace saved = fl_sema_enter(s, yes);
  FlValue *at = fl_ir_convert(&s->b, v.parts[0], FL_I64), *text = fl_ir_load(&s->b, levels, 1, &at, true);
  fl_ir_yield(yes, s->module, 1, &text);
  fl_sema_leave(s, saved);
  saved = fl_sema_enter(s, no);
  text = fl_val_zero(s, FL_TEXT);
  fl_ir_yield(no, s->module, 1, &text);
  fl_sema_leave(s, saved);
  return fl_val_make(s, fl_type_scalar(s->types, FL_TEXT, true), (FlValue *[]){branch->results[0], valid});
}

FlVal fl_category_texts(FlSema *s, FlVal v, FlSpan span) {
  return fl_sema_lift(s, span, 1, &v, text_element, NULL);
}

/* The code of one text, -1 when it is no level, and then in *message why. */
static FlValue *code_of(FlSema *s, FlValue *levels, FlValue *text, FlValue **message, FlSpan span) {
  FlValue *pair[2] = {levels, text};
  if (const_text(text)) { /* a literal can be there everywhere */
    FlBuilder top = outermost(s, 0, NULL);
    pair[1] = fl_ir_const_t(&top, text->op->attrs.s, text->op->attrs.s_len);
  }
  FlBuilder at = outermost(s, 2, pair);
  at.span = span;
  FlType1 types[2] = {fl_t_scalar(FL_I32), fl_t_scalar(FL_TEXT)};
  FlOp *op = fl_ir_op(&at, FL_OP_LEVEL_CODE, 2, pair, 2, types, 0);
  *message = op->results[1];
  return op->results[0];
}

static FlVal encode_const(FlSema *s, FlValue *text, FlValue *levels, FlSpan span) {
  int k = find_const(levels, text), n = levels->op->n_args;
  bool told = s->witness && s->witness->among;
  const char **names = k < 0 || told ? FL_NEW_ARRAY(s->arena, const char *, n + 1) : NULL;
  for (int i = 0; names && i < n; i++) names[i] = levels->op->args[i]->op->attrs.s;
  if (told) s->witness->among(s->witness->env, span, n, names);
  if (k >= 0) return fl_val_scalar(s, FL_I32, fl_ir_const_i(&s->b, FL_I32, k));
  FlDiag *d = fl_sema_report(s, FL_E0261, span, "\"%s\" is not one of the levels", text->op->attrs.s);
  FlText1 all = {0};
  for (int i = 0; i < n && i < 24; i++) fl_text_addf(&all, i ? ", \"%s\"" : "\"%s\"", names[i]);
  const char *near = fl_closest(text->op->attrs.s, names, n);
  if (near) fl_diag_meant_text(s->sink, d, span, near);
  else if (n) fl_diag_help(s->sink, d, "the levels are %s", all.s);
  fl_text_reset(&all);
  return fl_val_error(s);
}

static void check_found(FlSema *s, FlValue *ok, FlValue *message, FlSpan span) {
  FlSpan outer = s->b.span;
  s->b.span = span;
  fl_ir_op(&s->b, FL_OP_CHECK, 2, (FlValue *[]){ok, message}, 0, NULL, 0)->attrs.i = FL_FAULT_LEVEL;
  s->b.span = outer;
}

/* Codes of an array of texts with its validity; -1 for what is no level when `unknown` is allowed. */
static FlValue *encode_array(FlSema *s, FlVal text, FlValue *levels, bool unknown, FlSpan span) {
  FlValue *args[3] = {text.parts[0]}, *valid = fl_val_valid(s, text);
  FlColumnAttr key = fl_ir_column(valid);
  int n = 1;
  if (valid) args[n++] = valid;
  args[n++] = levels;
  FlType1 type = fl_t_array(FL_I32, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_ENCODE_LEVELS, n, args, 1, &type, 0);
  op->span = fl_sema_place(s, span);
  op->attrs.i = unknown;
  fl_ir_set_columns(s->arena, op, 1, &key);
  return op->results[0];
}

FlVal fl_category_encode(FlSema *s, FlVal text, FlValue *levels, FlSpan span) {
  if (text.type->kind == FL_TY_ARRAY)
    return fl_val_array(s, FL_I32, 1, encode_array(s, text, levels, false, span));
  if (const_text(text.parts[0]) && are_const(levels)) return encode_const(s, text.parts[0], levels, span);
  FlValue *message, *code = code_of(s, levels, text.parts[0], &message, span);
  check_found(s, fl_sema_op2(s, FL_OP_GE, code, fl_ir_const_i(&s->b, FL_I32, 0)), message, span);
  return fl_val_scalar(s, FL_I32, code);
}

/* ---- category(x, levels =, unknown =) ---- */

static FlVal known_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) { /* -1 is null */
  (void)env;
  (void)n;
  (void)span;
  FlValue *zero = fl_ir_const_i(&s->b, FL_I32, 0), *valid = fl_val_valid(s, args[0]);
  FlValue *known = fl_sema_op2(s, FL_OP_GE, args[0].parts[0], zero);
  FlValue *parts[2] = {fl_sema_op2(s, FL_OP_MAX, args[0].parts[0], zero),
                       valid ? fl_sema_op2(s, FL_OP_AND, valid, known) : known};
  return fl_val_make(s, fl_type_scalar(s->types, FL_I32, true), parts);
}

static FlVal encode_given(FlSema *s, FlVal x, FlValue *levels, bool unknown_is_null, FlSpan span) {
  FlVal codes;
  FlValue *valid = fl_val_valid(s, x);
  if (x.type->kind == FL_TY_ARRAY) {
    FlValue *parts[2] = {encode_array(s, x, levels, unknown_is_null, span), valid};
    codes = fl_val_make(s, type_like(s, x.type, FL_I32), parts);
  } else if (!unknown_is_null && !valid) {
    codes = fl_category_encode(s, x, levels, span);
    if (fl_val_bad(codes)) return codes;
  } else {
    FlValue *zero = fl_ir_const_i(&s->b, FL_I32, 0), *message;
    FlValue *code = code_of(s, levels, x.parts[0], &message, span);
    if (valid) code = fl_ir_select(&s->b, valid, code, zero);
    if (!unknown_is_null) check_found(s, fl_sema_op2(s, FL_OP_GE, code, zero), message, span);
    codes = fl_val_make(s, type_like(s, x.type, FL_I32), (FlValue *[]){code, valid});
  }
  if (unknown_is_null) codes = fl_sema_lift(s, span, 1, &codes, known_element, NULL);
  return fl_category_of(s, codes, levels);
}

static FlVal code_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) { /* group, validity */
  (void)env;
  (void)span;
  FlValue *code = fl_ir_convert(&s->b, args[0].parts[0], FL_I32);
  if (n == 1) return fl_val_scalar(s, FL_I32, code);
  FlValue *valid = args[1].parts[0];
  code = fl_ir_select(&s->b, valid, code, fl_ir_const_i(&s->b, FL_I32, 0));
  return fl_val_make(s, fl_type_scalar(s->types, FL_I32, true), (FlValue *[]){code, valid});
}

/* The levels are the texts that occur, in their order: the groups of the texts, but for null's. */
FlVal fl_category_found(FlSema *s, FlVal x, FlSpan span) {
  FlColumnAttr key = fl_ir_column(x.type->nullable);
  FlType1 i64s = fl_t_array(FL_I64, 1), types[3] = {fl_t_scalar(FL_I64), i64s, i64s};
  FlOp *group = fl_ir_op(&s->b, FL_OP_GROUP, x.type->n_parts, x.parts, 3, types, 0);
  fl_ir_set_columns(s->arena, group, 1, &key);
  FlValue *first = group->results[2];
  FlVal args[2] = {fl_val_array(s, FL_I64, 1, group->results[1])};
  if (x.type->nullable) {
    args[1] = fl_val_array(s, FL_BOOL, 1, x.parts[1]);
    FlVal proper = fl_sema_take(s, args[1], first, 0);
    first = fl_sema_compress(s, fl_val_array(s, FL_I64, 1, first), proper.parts[0]).parts[0];
  }
  FlVal levels = fl_sema_take(s, fl_val_array(s, FL_TEXT, 1, x.parts[0]), first, 0);
  FlVal codes = fl_sema_lift(s, span, x.type->nullable ? 2 : 1, args, code_element, NULL);
  return fl_val_bad(codes) ? codes : fl_category_of(s, codes, levels.parts[0]);
}

/* The levels that `levels =` gives; NULL: reported. */
static FlValue *read_levels(FlSema *s, FlActual *a) {
  const FlType *texts = fl_type_array(s->types, FL_TEXT, false, 1);
  FlVal v = fl_actual_value(s, a, texts);
  if (fl_val_bad(v)) return NULL;
  v = fl_val_coerce(s, v, texts, a->span, "`levels`");
  if (fl_val_bad(v)) return NULL;
  FlValue *levels = v.parts[0];
  if (!are_const(levels)) return levels;
  for (int i = 0; i < levels->op->n_args; i++)
    if (find_const(levels, levels->op->args[i]) != i) {
      fl_sema_error(s, FL_E0266, a->span, "the level \"%s\" is there twice",
                    levels->op->args[i]->op->attrs.s);
      return NULL;
    }
  return const_outside(s, levels);
}

static bool read_unknown(FlSema *s, FlActual *a, bool *is_null) {
  const char *word;
  if (!fl_actual_given(a)) return true;
  if (!fl_actual_const_text(s, a, &word)) return false;
  *is_null = strcmp(word, "null") == 0;
  if (*is_null || strcmp(word, "error") == 0) return true;
  FlDiag *d = fl_sema_report(s, FL_E0617, a->span, "`unknown` has no meaning \"%s\"", word);
  fl_diag_help(s->sink, d, "it is \"error\" or \"null\"");
  return false;
}

FlVal fl_builtin_category(FlSema *s, FlCallSite *c) {
  FlVal x = fl_actual_value(s, &c->args[0], fl_type_scalar(s->types, FL_TEXT, true));
  FlValue *levels = NULL;
  bool unknown_is_null = false;
  if (fl_val_bad(x)) return x;
  if (fl_val_is_category(x)) x = fl_category_texts(s, x, c->args[0].span);
  bool plain = x.type->kind == FL_TY_SCALAR || (x.type->kind == FL_TY_ARRAY && x.type->rank == 1);
  if (!plain || x.type->dtype != FL_TEXT) {
    FlDiag *d = fl_sema_report(s, FL_E0265, c->args[0].span, "`category` takes texts, and this is %s",
                               fl_val_text(s, x));
    if (plain) fl_diag_help(s->sink, d, "make texts of it: `category(text(x))`");
    return fl_val_error(s);
  }
  if (fl_actual_given(&c->args[1]) && !(levels = read_levels(s, &c->args[1]))) return fl_val_error(s);
  if (!read_unknown(s, &c->args[2], &unknown_is_null)) return fl_val_error(s);
  if (levels) return encode_given(s, x, levels, unknown_is_null, c->args[0].span);
  if (x.type->kind == FL_TY_ARRAY) return fl_category_found(s, x, c->span);
  FlDiag *d = fl_sema_report(s, FL_E0210, c->span, "one text does not say what the levels are");
  fl_diag_help(s->sink, d, "write `category(x, levels = [...])`");
  return fl_val_error(s);
}

/* ---- levels, codes, one_hot ---- */

/* The argument as a category; reports otherwise. */
static bool category_argument(FlSema *s, FlCallSite *c, FlVal *out) {
  const FlExpr *e = c->args[0].expr;
  FlVal v = fl_actual_value(s, &c->args[0], NULL);
  if (fl_val_bad(v)) return false;
  *out = v;
  if (fl_val_is_category(v)) return true;
  FlDiag *d = fl_sema_report(s, FL_E0260, c->args[0].span, "`%s` takes a category, and this is %s",
                             c->builtin->name, fl_val_text(s, v));
  if (v.type->kind == FL_TY_ARRAY && v.type->dtype == FL_TEXT)
    fl_diag_help(s->sink, d, "make a category of it: `%s(category(%s))`", c->builtin->name,
                 e && e->kind == FL_EXPR_NAME ? e->name.text : "...");
  return false;
}

FlVal fl_builtin_levels(FlSema *s, FlCallSite *c) {
  FlVal v;
  if (!category_argument(s, c, &v)) return fl_val_error(s);
  return fl_val_array(s, FL_TEXT, 1, fl_val_levels(v));
}

FlVal fl_builtin_codes(FlSema *s, FlCallSite *c) {
  FlVal v;
  if (!category_argument(s, c, &v)) return fl_val_error(s);
  FlVal codes = fl_category_codes(s, v);
  return fl_val_coerce(s, codes, type_like(s, codes.type, FL_I64), c->span, "the code");
}

FlVal fl_builtin_one_hot(FlSema *s, FlCallSite *c) {
  FlVal v;
  if (!category_argument(s, c, &v)) return fl_val_error(s);
  if (v.type->kind != FL_TY_ARRAY || v.type->rank != 1)
    return fl_sema_error(s, FL_E0260, c->args[0].span,
                         "`one_hot` takes a column or an array of one dimension, and this is %s",
                         fl_val_text(s, v));
  if (v.type->nullable) {
    FlDiag *d = fl_sema_report(s, FL_E0501, c->args[0].span, "a null has no column in `one_hot`");
    fl_diag_help(s->sink, d, "fill it with a level, `?? \"...\"`, or drop those rows with `drop_null(...)`");
    return fl_val_error(s);
  }
  FlValue *sizes[2] = {fl_sema_dim(s, v, 0), fl_ir_dim(&s->b, fl_val_levels(v), 0)};
  FlSemaMap map = fl_sema_map(s, 2, sizes, FL_F64);
  FlValue *code = fl_ir_convert(&s->b, fl_ir_load(&s->b, v.parts[0], 1, map.index, true), FL_I64);
  FlValue *one = fl_ir_const_f(&s->b, FL_F64, 1), *none = fl_ir_const_f(&s->b, FL_F64, 0);
  FlValue *hot = fl_ir_select(&s->b, fl_sema_op2(s, FL_OP_EQ, code, map.index[1]), one, none);
  FlValue *all = fl_sema_map_end(s, &map, hot);
  fl_column_names_set(s, all, fl_val_levels(v));
  return fl_val_array(s, FL_F64, 2, all);
}
