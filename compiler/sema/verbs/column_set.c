/* column_set.c: sets of columns in the arguments of verbs, and each(set, f).
 *
 * In: a table, whose columns are known, and arguments as they are written. Out: arguments that name single
 * columns: `col.a` for a column of a set, `f(col.a)` for a column of each(set, f), so that no verb needs to
 * know of sets. What always holds: a set is in the order of the table, and an empty one is an error. */
#include "sema/builtins/builtin.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/verbs/column_set.h"
#include "sema/verbs/verbs.h"

typedef enum SetKind { NO_SET, SET_ALL, SET_NUMERIC, SET_COLS, SET_EXCEPT } SetKind;

/* ---- what is a set ---- */

/* Is e a call of this builtin, which no function of the script hides? */
static bool calls(FlSema *s, const FlExpr *e, const char *name) {
  if (!e || e->kind != FL_EXPR_CALL || e->call.func->kind != FL_EXPR_NAME ||
      strcmp(e->call.func->name.text, name) != 0)
    return false;
  for (FlScope *scope = s->scope; scope; scope = scope->parent)
    for (int i = 0; i < scope->names.n; i++)
      if (scope->names.at[i]->name == e->call.func->name.text && scope->names.at[i]->kind == FL_BIND_FN)
        return false;
  return true;
}

static SetKind set_kind(FlSema *s, const FlExpr *e) {
  if (calls(s, e, "all"))
    return e->call.args.n == 0 || e->call.args.at[0].name.text ? SET_ALL : NO_SET; /* all(x): are all true? */
  return calls(s, e, "numeric")  ? SET_NUMERIC
         : calls(s, e, "cols")   ? SET_COLS
         : calls(s, e, "except") ? SET_EXCEPT
                                 : NO_SET;
}

bool fl_is_column_set(FlSema *s, const FlExpr *e) {
  if (set_kind(s, e) != NO_SET) return true;
  if (!e || e->kind != FL_EXPR_TUPLE || !e->tuple.n) return false;
  for (int i = 0; i < e->tuple.n; i++) {
    const FlExpr *item = e->tuple.at[i].value;
    bool column = item->kind == FL_EXPR_NAME || item->kind == FL_EXPR_COL;
    if (e->tuple.at[i].name.text || !(column || fl_is_column_set(s, item))) return false;
  }
  return true;
}

/* ---- which columns ---- */

/* Does the name fit a pattern in which * stands for any characters? */
static bool fits(const char *pattern, const char *name) {
  const char *star = NULL, *again = NULL;
  while (*name) {
    if (*pattern == '*') {
      star = ++pattern;
      again = name;
    } else if (*pattern == *name) {
      pattern++;
      name++;
    } else if (star) {
      pattern = star;
      name = ++again;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return !*pattern;
}

static bool is_numeric(const FlType *t) {
  return t->kind == FL_TY_SCALAR && (fl_dtype_is_number(t->dtype) || fl_dtype_is_decimal(t->dtype));
}

static bool empty(FlSema *s, const FlType *row, const FlExpr *e, const char *why) {
  FlDiag *d = fl_sema_report(s, FL_E0641, e->span, "%s", why);
  FlText1 all = {0};
  for (int i = 0; i < row->n_fields && i < 24; i++)
    fl_text_addf(&all, i ? ", %s" : "%s", row->fields[i].name);
  if (all.s) fl_diag_help(s->sink, d, "the columns are %s", all.s);
  fl_text_reset(&all);
  return false;
}

static void add(FlSema *s, FlColumnSet *set, int k) {
  if (set->has[k]) return;
  set->has[k] = true;
  fl_vec_push(s->arena, &set->list, k);
}

/* Marks the columns that fit one of cols' patterns. */
static bool mark_fitting(FlSema *s, const FlType *row, const FlArg *arg, bool *in) {
  FlActual a = {.expr = arg->value, .span = arg->value->span};
  const char *pattern;
  if (!fl_actual_const_text(s, &a, &pattern)) return false;
  bool some = false;
  for (int i = 0; i < row->n_fields; i++)
    if (fits(pattern, row->fields[i].name)) some = in[i] = true;
  return some || empty(s, row, arg->value,
                       fl_arena_printf(s->arena, "no column has a name that fits \"%s\"", pattern));
}

/* Takes the columns that `e` says out of `in`. */
static bool take_out(FlSema *s, FlVal t, const FlExpr *e, bool *in) {
  FlColumnSet out = {0};
  if (!fl_column_set(s, t, e, &out)) return false;
  for (int i = 0; i < out.list.n; i++) in[out.list.at[i]] = false;
  return true;
}

/* The columns of one call of a set. */
static bool read_set(FlSema *s, FlVal t, const FlExpr *e, SetKind kind, FlColumnSet *out) {
  const FlType *row = fl_type_row(t.type);
  const FlArgList *args = &e->call.args;
  bool *in = FL_NEW_ARRAY(s->arena, bool, row->n_fields + 1);
  const char *set = e->call.func->name.text;
  for (int i = 0; i < row->n_fields; i++)
    in[i] = kind == SET_ALL || kind == SET_EXCEPT || (kind == SET_NUMERIC && is_numeric(row->fields[i].type));
  int positional = 0;
  for (int i = 0; i < args->n; i++) {
    const FlArg *a = &args->at[i];
    if (a->name.text && (kind == SET_EXCEPT || strcmp(a->name.text, "except") != 0)) {
      fl_sema_no_param(s, set, a->name, kind != SET_EXCEPT, (const char *[]){"except"});
      return false;
    }
    if (a->name.text) continue;
    positional++;
    if (kind == SET_COLS && !mark_fitting(s, row, a, in)) return false;
    if (kind == SET_EXCEPT && !take_out(s, t, a->value, in)) return false;
    if (kind == SET_COLS || kind == SET_EXCEPT) continue;
    fl_sema_error(s, FL_E0210, a->value->span, "`%s()` takes nothing but `except =`", set);
    return false;
  }
  if (!positional && (kind == SET_COLS || kind == SET_EXCEPT)) {
    fl_sema_error(s, FL_E0210, e->span,
                  kind == SET_COLS ? "`cols` takes a pattern, as in `cols(\"q_*\")`"
                                   : "`except` takes the columns that it leaves out");
    return false;
  }
  for (int i = 0; i < args->n; i++)
    if (args->at[i].name.text && !take_out(s, t, args->at[i].value, in)) return false;
  bool some = false;
  for (int i = 0; i < row->n_fields; i++) {
    some = some || in[i];
    if (in[i]) add(s, out, i);
  }
  return some || empty(s, row, e,
                       kind == SET_NUMERIC ? "there is no column of numbers here" : "no column is left here");
}

bool fl_column_set(FlSema *s, FlVal t, const FlExpr *e, FlColumnSet *out) {
  if (!out->has) out->has = FL_NEW_ARRAY(s->arena, bool, fl_type_row(t.type)->n_fields + 1);
  SetKind kind = set_kind(s, e);
  if (kind != NO_SET) return read_set(s, t, e, kind, out);
  if (e && e->kind == FL_EXPR_TUPLE) {
    for (int i = 0; i < e->tuple.n; i++) {
      const FlTupleItem *item = &e->tuple.at[i];
      if (item->name.text) {
        fl_sema_error(s, FL_E0607, item->span, "the name of a column stands here");
        return false;
      }
      if (!fl_column_set(s, t, item->value, out)) return false;
    }
    return true;
  }
  int k = fl_verb_column(s, t, e);
  if (k >= 0) add(s, out, k);
  return k >= 0;
}

/* ---- arguments of verbs ---- */

static FlExpr *column_expr(FlSema *s, const char *name, FlSpan span) {
  FlExpr *e = FL_NEW(s->arena, FlExpr);
  *e = (FlExpr){.kind = FL_EXPR_COL, .span = span, .height = 1, .name = {name, span}};
  return e;
}

/* f(col.name), as if written where `at` stands. */
static FlExpr *call_expr(FlSema *s, FlExpr *f, const char *name, const FlExpr *at) {
  FlExpr *e = FL_NEW(s->arena, FlExpr);
  *e = (FlExpr){.kind = FL_EXPR_CALL, .span = at->span, .height = (uint16_t)(f->height + 1)};
  e->call.func = f;
  FlArg arg = {.value = column_expr(s, name, at->span)};
  fl_vec_push(s->arena, &e->call.args, arg);
  return e;
}

/* The name of a result: `pattern` with the column's name for *. */
static const char *result_name(FlSema *s, const char *pattern, const char *column) {
  FlText1 out = {0};
  for (; *pattern; pattern++) {
    if (*pattern == '*') fl_text_addz(&out, column);
    else fl_text_addc(&out, *pattern);
  }
  const char *name = fl_intern_z(s->names, out.s);
  fl_text_reset(&out);
  return name;
}

typedef struct Each {
  const FlExpr *set;
  FlExpr *function;    /* NULL: the columns themselves, by another name */
  const char *pattern; /* of the names of the results */
} Each;

static bool read_each(FlSema *s, const FlExpr *e, Each *out) {
  const FlArgList *args = &e->call.args;
  int n = 0;
  *out = (Each){.pattern = "*"};
  for (int i = 0; i < args->n; i++) {
    const FlArg *a = &args->at[i];
    if (!a->name.text) {
      if (n == 0) out->set = a->value;
      if (n == 1) out->function = a->value;
      n++;
      continue;
    }
    FlActual pattern = {.expr = a->value, .span = a->value->span};
    if (strcmp(a->name.text, "name") != 0) {
      fl_sema_no_param(s, "each", a->name, 1, (const char *[]){"name"});
      return false;
    }
    if (!fl_actual_const_text(s, &pattern, &out->pattern)) return false;
    if (!strchr(out->pattern, '*')) {
      FlDiag *d = fl_sema_report(s, FL_E0643, a->value->span, "this gives all columns one name");
      fl_diag_help(s->sink, d, "`*` stands for the name of the column, as in `name = \"*_%s\"`",
                   *out->pattern ? out->pattern : "z");
      return false;
    }
  }
  if (n == 2 || (n == 1 && strcmp(out->pattern, "*") != 0)) return true;
  FlDiag *d = fl_sema_report(s, FL_E0210, e->span, "`each` takes a set of columns and a function");
  fl_diag_help(s->sink, d, "as in `each(numeric(), x => x - mean(x))`");
  return false;
}

/* Is column k of t a key of its groups? */
static bool is_group_key(FlVal t, int k) {
  for (int i = 0; i < t.type->n_keys; i++)
    if (t.type->keys[i] == t.type->elem->fields[k].name) return true;
  return false;
}

typedef FlVec(FlActual) Actuals;

/* The calls that each(...) stands for. */
static bool expand_each(FlSema *s, FlVal t, const FlActual *a, Actuals *out) {
  Each each;
  FlColumnSet set = {0};
  if (!read_each(s, a->expr, &each) || !fl_column_set(s, t, each.set, &set)) return false;
  bool names =
      each.set->kind == FL_EXPR_NAME || each.set->kind == FL_EXPR_COL || each.set->kind == FL_EXPR_TUPLE;
  int n = out->n;
  for (int i = 0; i < set.list.n; i++) {
    int k = set.list.at[i];
    if (!names && is_group_key(t, k)) continue;
    const char *column = t.type->elem->fields[k].name;
    FlActual one = {.name = {result_name(s, each.pattern, column), a->span},
                    .expr = each.function ? call_expr(s, each.function, column, a->expr)
                                          : column_expr(s, column, a->expr->span),
                    .span = a->span,
                    .column = column};
    fl_vec_push(s->arena, out, one);
  }
  return out->n > n ||
         empty(s, t.type->elem, each.set, "no column is left here beside the keys of the groups");
}

static bool stands_alone(FlSema *s, const FlActual *a, const char *what) {
  if (!a->name.text) return true;
  FlDiag *d =
      fl_sema_report(s, FL_E0642, a->name.span, "%s stands for several columns, and this is one name", what);
  if (calls(s, a->expr, "each")) fl_diag_help(s->sink, d, "write `each(..., name = \"*_%s\")`", a->name.text);
  else fl_diag_help(s->sink, d, "columns of a set keep their names");
  return false;
}

bool fl_verb_expand(FlSema *s, FlVal t, FlCallSite *c) {
  const FlType *row = t.type->elem;
  Actuals out = {0};
  bool *there = FL_NEW_ARRAY(s->arena, bool, row->n_fields + 1); /* by name, or by a set before */
  for (int i = 0; i < c->n_rest; i++) {
    const FlExpr *e = c->rest[i].expr;
    if (!e || c->rest[i].name.text || (e->kind != FL_EXPR_NAME && e->kind != FL_EXPR_COL)) continue;
    int k = fl_type_field_find(row, e->name.text);
    if (k >= 0) there[k] = true;
  }
  for (int i = 0; i < c->n_rest; i++) {
    const FlActual *a = &c->rest[i];
    if (calls(s, a->expr, "each")) {
      if (!stands_alone(s, a, "`each`") || !expand_each(s, t, a, &out)) return false;
      continue;
    }
    bool down = calls(s, a->expr, "desc") && a->expr->call.args.n == 1;
    const FlExpr *e = down ? a->expr->call.args.at[0].value : a->expr;
    if (!fl_is_column_set(s, e)) {
      fl_vec_push(s->arena, &out, *a);
      continue;
    }
    FlColumnSet set = {0};
    if (!stands_alone(s, a, "a set of columns") || !fl_column_set(s, t, e, &set)) return false;
    for (int k = 0; k < set.list.n; k++) {
      int at = set.list.at[k];
      const char *name = row->fields[at].name;
      if (there[at]) continue;
      there[at] = true;
      FlActual one = {.expr =
                          down ? call_expr(s, a->expr->call.func, name, e) : column_expr(s, name, e->span),
                      .span = a->span};
      fl_vec_push(s->arena, &out, one);
    }
  }
  c->rest = out.at;
  c->n_rest = out.n;
  return true;
}

void fl_column_set_explain(FlSema *s, const FlActual *a, int n_diags) {
  for (int i = n_diags; a->column && i < s->sink->diags.n; i++)
    fl_diag_note(s->sink, s->sink->diags.at[i], (FlSpan){0}, "this is for the column `%s`", a->column);
}

/* ---- any and all over the columns of a row ---- */

bool fl_each_by_row(FlSema *s, FlCallSite *c, FlVal *out) {
  bool any = strcmp(c->builtin->name, "any") == 0, all = strcmp(c->builtin->name, "all") == 0;
  const FlExpr *e = c->args[0].expr;
  if ((!any && !all) || !s->agg || !s->agg->table || !calls(s, e, "each")) return false;
  Actuals calls_of = {0};
  *out = fl_val_error(s);
  FlActual whole = {.expr = e, .span = c->args[0].span};
  if (!expand_each(s, *s->agg->table, &whole, &calls_of)) return true;
  FlVal sum = {0};
  for (int i = 0; i < calls_of.n; i++) {
    int before = s->sink->diags.n;
    FlVal v = fl_actual_value(s, &calls_of.at[i], NULL);
    bool logic = (v.type->kind == FL_TY_ARRAY || v.type->kind == FL_TY_SCALAR) && v.type->dtype == FL_BOOL;
    if (!fl_val_bad(v) && !logic)
      v = fl_sema_error(s, FL_E0323, e->span, "`%s` takes bool values, and this is %s", c->builtin->name,
                        fl_val_text(s, v));
    if (!fl_val_bad(v) && sum.type)
      v = fl_sema_binary(s, any ? FL_BIN_OR : FL_BIN_AND, sum, v, c->span, e->span, e->span);
    fl_column_set_explain(s, &calls_of.at[i], before);
    if (fl_val_bad(v)) return true;
    sum = v;
  }
  *out = sum;
  return true;
}

/* all() numeric() cols() except() each() anywhere else. */
FlVal fl_builtin_column_set(FlSema *s, FlCallSite *c) {
  const char *name = c->builtin->name;
  if (strcmp(name, "each") == 0)
    return fl_sema_error(
        s, FL_E0640, c->span,
        "`each` stands among the arguments of a verb, or in `any(each(...))` and `all(each(...))` there");
  return fl_sema_error(
      s, FL_E0640, c->span,
      "`%s` stands for columns of a table among the arguments of a verb, and not in an expression", name);
}
