/* plot.c: plots: plot.scatter, plot.line, plot.bar, plot.hist make one of a table's columns, plot.layers
 * joins some, write_plot writes one.
 *
 * In: calls whose x, y and color see the columns of their table, as the arguments of a verb. Out: a value of
 * type Plot (plot.h). What always holds: coordinates are f64, days and seconds since 1970 for dates and
 * datetimes, positions among their layer's texts for texts; what is null is nan. */
#include "sema/builtins/builtin.h"
#include "sema/builtins/plot.h"
#include "sema/call.h"
#include "sema/category.h"
#include "sema/expr.h"
#include "sema/files/paths.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/verbs.h"

#include <math.h>
#include <strings.h>

enum { LONGEST_LABEL = 40, MOST_BINS = 10000 };

/* ---- the type ---- */

static const FlType *tuple_of(FlSema *s, int n, const char *const *names, const FlType *const *types,
                              const char *name) {
  FlTyField *fields = FL_NEW_ARRAY(s->arena, FlTyField, n);
  for (int i = 0; i < n; i++) fields[i] = (FlTyField){fl_intern_z(s->names, names[i]), types[i]};
  return fl_type_tuple(s->types, n, fields, name ? fl_intern_z(s->names, name) : NULL);
}

enum { N_LAYER = 8, N_PLOT = 7 };
static const char *const point_names[] = {"x", "y", "color"};
static const char *const layer_names[N_LAYER] = {"kind",     "points",       "x",   "y", "color",
                                                 "x_levels", "color_levels", "bins"};
static const char *const plot_names[N_PLOT] = {"title",  "x_label", "y_label", "color_label",
                                               "layers", "levels",  "points"};

const FlType *fl_plot_type(FlSema *s) {
  const FlType *text = fl_type_scalar(s->types, FL_TEXT, false),
               *f64 = fl_type_scalar(s->types, FL_F64, false);
  const FlType *i64 = fl_type_scalar(s->types, FL_I64, false);
  const FlType *point[] = {f64, f64, f64}, *layer[] = {text, i64, text, text, text, i64, i64, i64};
  const FlType *layers = fl_type_table(s->types, tuple_of(s, N_LAYER, layer_names, layer, NULL));
  const FlType *points = fl_type_table(s->types, tuple_of(s, 3, point_names, point, NULL));
  const FlType *parts[] = {text,  text, text, text, layers, fl_type_array(s->types, FL_TEXT, false, 1),
                           points};
  return tuple_of(s, N_PLOT, plot_names, parts, "Plot");
}

bool fl_plot_member(FlSema *s, const FlExpr *base, FlName name, FlVal *found) {
  static const char *const members[] = {"scatter", "line", "bar", "hist", "layers"};
  if (base->kind != FL_EXPR_NAME || strcmp(base->name.text, "plot") != 0 || fl_scope_find(s, base->name.text))
    return false;
  FlClosure c = {.builtin = fl_builtin_find(s, fl_arena_printf(s->arena, "plot.%s", name.text))};
  if (c.builtin) {
    *found = (FlVal){.type = s->types->func, .fn = fl_arena_copy(s->arena, &c, sizeof c)};
    return true;
  }
  FlDiag *d = fl_sema_report(s, FL_E0205, name.span, "the module `plot` has no `%s`", name.text);
  const char *near = fl_closest(name.text, members, sizeof members / sizeof *members);
  if (near) fl_diag_meant(s->sink, d, name.span, "plot.", near);
  else fl_diag_help(s->sink, d, "it has scatter, line, bar, hist and layers");
  *found = fl_val_error(s);
  return true;
}

bool fl_plot_help(FlSema *s, FlDiag *d, const char *name, FlSpan at) {
  if (strcmp(name, "plot") == 0) {
    fl_diag_help(s->sink, d,
                 "plots are made by `plot.scatter`, `plot.line`, `plot.bar`, `plot.hist` and `plot.layers`");
    return true;
  }
  const char *full = fl_arena_printf(s->arena, "plot.%s", name);
  if (!fl_builtin_find(s, full)) return false;
  fl_diag_meant(s->sink, d, at, "plot.", name);
  d->edit.text = full;
  return true;
}

/* ---- coordinates ---- */

/* What stands along an axis or a scale of colours. */
typedef struct Axis {
  const char *kind; /* none number date datetime text */
  FlValue *at;      /* f64[rows] */
  FlValue *levels;  /* text: text[k]; else NULL */
  const char *label;
} Axis;

static FlVal constant(FlSema *s, FlDtype d, int64_t v) {
  return fl_val_scalar(s, d, fl_ir_const_i(&s->b, d, v));
}

static FlVal number_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)env;
  (void)n;
  const FlType *f64 = fl_type_scalar(s->types, FL_F64, false),
               *gap = fl_type_scalar(s->types, FL_DURATION, false);
  FlValue *valid = fl_val_valid(s, args[0]);
  FlVal v = fl_val_plain(s, args[0]);
  FlDtype d = v.type->dtype;
  if (d == FL_DATE || d == FL_DATETIME) {
    FlVal since = fl_sema_scalar_op(s, d == FL_DATE ? FL_OP_DATE_DIFF : FL_OP_DATETIME_DIFF,
                                    (FlVal[]){v, constant(s, d, 0)}, 2, gap, NULL);
    FlVal unit = constant(s, FL_DURATION, d == FL_DATE ? INT64_C(86400000000) : 1000000);
    v = fl_sema_scalar_op(s, FL_OP_DURATION_RATIO, (FlVal[]){since, unit}, 2, f64, NULL);
  } else if (d == FL_BOOL) {
    v = fl_val_scalar(
        s, FL_F64,
        fl_ir_select(&s->b, v.parts[0], fl_ir_const_f(&s->b, FL_F64, 1), fl_ir_const_f(&s->b, FL_F64, 0)));
  } else {
    v = fl_val_coerce(s, v, f64, span, "this coordinate");
  }
  if (valid && !fl_val_bad(v))
    v = fl_val_scalar(s, FL_F64,
                      fl_ir_select(&s->b, valid, v.parts[0], fl_ir_const_f(&s->b, FL_F64, (double)NAN)));
  return v;
}

static FlValue *numbers(FlSema *s, FlVal v, FlSpan span) { /* NULL: reported */
  FlVal out = fl_sema_lift(s, span, 1, &v, number_element, NULL);
  return fl_val_bad(out) ? NULL : out.parts[0];
}

/* The texts that occur, in the order in which they first do. */
static FlValue *first_seen(FlSema *s, FlVal texts) {
  FlColumnAttr key = fl_ir_column(false);
  FlValue *valid = fl_val_valid(s, texts);
  if (valid) texts = fl_val_plain(s, fl_sema_compress(s, texts, valid));
  FlType1 rows = fl_t_array(FL_I64, 1);
  FlOp *op = fl_ir_op(&s->b, FL_OP_DISTINCT, 1, texts.parts, 1, &rows, 0);
  fl_ir_set_columns(s->arena, op, 1, &key);
  return fl_sema_take(s, texts, op->results[0], 0).parts[0];
}

static FlValue *text_array(FlSema *s, int n, const char *const *texts) {
  FlValue *parts[2];
  FlType1 type = fl_t_array(FL_TEXT, 1);
  for (int i = 0; i < n; i++) parts[i] = fl_ir_const_t(&s->b, texts[i], (int)strlen(texts[i]));
  return fl_ir_op(&s->b, FL_OP_ARRAY, n, parts, 1, &type, 0)->results[0];
}

static bool text_axis(FlSema *s, FlVal v, FlSpan span, Axis *out) {
  static const char *const truth[] = {"false", "true"};
  out->kind = "text";
  if (v.type->dtype == FL_BOOL) {
    out->levels = text_array(s, 2, truth);
  } else if (fl_val_is_category(v)) {
    out->levels = fl_val_levels(v);
    v = fl_category_codes(s, v);
  } else {
    FlValue *args[3] = {v.parts[0]}, *valid = fl_val_valid(s, v), *codes[2];
    int n = 1;
    if (valid) args[n++] = valid;
    args[n++] = out->levels = first_seen(s, v);
    FlType1 type = fl_t_array(FL_I32, 1);
    FlOp *op = fl_ir_op(&s->b, FL_OP_ENCODE_LEVELS, n, args, 1, &type, 0);
    FlColumnAttr key = fl_ir_column(valid);
    fl_ir_set_columns(s->arena, op, 1, &key);
    codes[0] = op->results[0];
    codes[1] = valid;
    v = fl_val_make(s, fl_type_array(s->types, FL_I32, valid != NULL, 1), codes);
  }
  out->at = numbers(s, v, span);
  return out->at != NULL;
}

/* The column that an expression names, or its text when that is short; else "". */
static const char *label_of(FlSema *s, const FlExpr *e) {
  if (!e || e->kind == FL_EXPR_TEXT) return "";
  if (e->kind == FL_EXPR_NAME || e->kind == FL_EXPR_COL) return e->name.text;
  const FlSource *from = fl_sources_get(s->sources, e->span.file);
  if (!from || e->span.len > LONGEST_LABEL) return "";
  const char *text = fl_arena_strndup(s->arena, from->text + e->span.start, e->span.len);
  return strchr(text, '\n') ? "" : text;
}

/* What may stand along which axis. */
typedef enum Texts { NUMBERS, NO_TEXT, CATEGORIES, ALL_TEXT, ONLY_TEXT } Texts;

static bool cannot_stand(FlSema *s, FlCallSite *c, FlActual *a, FlVal v, const char *name, Texts texts) {
  FlDtype d = v.type->dtype;
  if (texts == ONLY_TEXT) {
    FlDiag *diag = fl_sema_report(s, FL_E0289, a->span, "`%s` has a colour for each group, and `%s` is %s",
                                  c->builtin->name, name, fl_val_text(s, v));
    fl_diag_help(s->sink, diag, "groups are texts: `%s = text(...)`", name);
    return false;
  }
  FlDiag *diag = fl_sema_report(s, FL_E0289, a->span, "`%s` of `%s` must be numbers%s, and this is %s", name,
                                c->builtin->name, texts == NUMBERS ? "" : " or dates", fl_val_text(s, v));
  if (d == FL_DURATION) fl_diag_help(s->sink, diag, "say in which unit: `d / hours(1)` is a number");
  else if (d == FL_TEXT && texts == CATEGORIES)
    fl_diag_help(s->sink, diag,
                 "`parse_f64(...)` reads numbers; `category(...)` gives each text a place of its own");
  else if (d == FL_TEXT) fl_diag_help(s->sink, diag, "`parse_f64(...)` reads numbers");
  else if (d == FL_BOOL) fl_diag_help(s->sink, diag, "`if_else(..., 1, 0)` makes numbers of it");
  return false;
}

/* One of x, y, color as the call brings it. false: reported. */
static bool read_axis(FlSema *s, FlCallSite *c, FlVal t, int k, const char *name, Texts texts, Axis *out) {
  FlActual *a = &c->args[k];
  out->label = label_of(s, a->expr);
  FlVal v = fl_verb_as_column(s, fl_verb_expr(s, t, a, FL_AGG_SPREAD), fl_val_rows(t), a->span, name);
  if (fl_val_bad(v)) return false;
  FlDtype d = v.type->dtype;
  bool column = v.type->kind == FL_TY_ARRAY && v.type->rank == 1 && d != FL_FILE;
  bool text = d == FL_TEXT || d == FL_CATEGORY || (d == FL_BOOL && texts >= ALL_TEXT);
  bool number = fl_dtype_is_number(d) || (texts != NUMBERS && (d == FL_DATE || d == FL_DATETIME));
  bool fits =
      text ? texts >= ALL_TEXT || (texts == CATEGORIES && d == FL_CATEGORY) : number && texts != ONLY_TEXT;
  if (!column || !fits) return cannot_stand(s, c, a, v, name, texts);
  if (text) return text_axis(s, v, a->span, out);
  out->kind = d == FL_DATE ? "date" : d == FL_DATETIME ? "datetime" : "number";
  out->at = numbers(s, v, a->span);
  return out->at != NULL;
}

/* ---- one layer ---- */

static bool read_label(FlSema *s, FlActual *a, const char *otherwise, FlVal *out) {
  const FlType *text = fl_type_scalar(s->types, FL_TEXT, false);
  *out = fl_actual_given(a) ? fl_val_coerce(s, fl_actual_value(s, a, text), text, a->span, "this label")
                            : fl_val_textz(s, otherwise);
  return !fl_val_bad(*out);
}

static FlVal one(FlSema *s, FlDtype d, FlValue *v) { /* an array of one element */
  FlType1 type = fl_t_array(d, 1);
  return fl_val_array(s, d, 1, fl_ir_op(&s->b, FL_OP_ARRAY, 1, &v, 1, &type, 0)->results[0]);
}

static FlVal one_text(FlSema *s, const char *text) {
  return one(s, FL_TEXT, fl_ir_const_t(&s->b, text, (int)strlen(text)));
}

static FlVal how_many(FlSema *s, FlValue *levels) {
  return one(s, FL_I64, levels ? fl_ir_dim(&s->b, levels, 0) : fl_sema_i64(s, 0));
}

static FlValue *all_levels(FlSema *s, FlValue *x, FlValue *color) {
  FlType1 type = fl_t_array(FL_TEXT, 1);
  if (x && color) return fl_ir_op(&s->b, FL_OP_CONCAT, 2, (FlValue *[]){x, color}, 1, &type, 0)->results[0];
  return x ? x : color ? color : text_array(s, 0, NULL);
}

static void intern_names(FlSema *s, int n, const char *const *names, const char **out) {
  for (int i = 0; i < n; i++) out[i] = fl_intern_z(s->names, names[i]);
}

static FlVal nothing(FlSema *s, FlValue *rows, double x) { /* the same number on every row */
  FlSemaMap map = fl_sema_map(s, 1, &rows, FL_F64);
  return fl_val_array(s, FL_F64, 1, fl_sema_map_end(s, &map, fl_ir_const_f(&s->b, FL_F64, x)));
}

static bool read_bins(FlSema *s, FlActual *a, FlValue **out) { /* 0: as the data say */
  *out = fl_sema_i64(s, 0);
  if (!fl_actual_given(a)) return true;
  if (!fl_actual_i64(s, a, out)) return false;
  FlValue *some = fl_sema_op2(s, FL_OP_GE, *out, fl_sema_i64(s, 1));
  FlValue *few = fl_sema_op2(s, FL_OP_LE, *out, fl_sema_i64(s, MOST_BINS));
  FlOp *check =
      fl_ir_op(&s->b, FL_OP_CHECK, 2, (FlValue *[]){fl_sema_op2(s, FL_OP_AND, some, few), *out}, 0, NULL, 0);
  check->span = fl_sema_place(s, a->span);
  check->attrs.i = FL_FAULT_DOMAIN;
  check->attrs.s = "a histogram has 1 to 10000 bins, and `bins` is {a}";
  return true;
}

/* Parameters: 0 t, 1 x, 2 y or bins, 3 color, 4 title, 5 x_label, 6 y_label, 7 color_label. */
FlVal fl_builtin_plot(FlSema *s, FlCallSite *c) {
  const char *kind = c->builtin->data, *names[N_LAYER];
  bool hist = strcmp(kind, "hist") == 0, scatter = strcmp(kind, "scatter") == 0,
       bar = strcmp(kind, "bar") == 0;
  FlVal t, plot[N_PLOT], layer[N_LAYER], point[3];
  FlValue *bins = fl_sema_i64(s, 0);
  Axis x = {0}, y = {.kind = "number", .label = "count"}, color = {.kind = "none", .label = ""};
  if (!fl_verb_table(s, c, &t)) return fl_val_error(s);
  FlValue *rows = fl_val_rows(t);
  bool ok = read_axis(s, c, t, 1, "x", bar ? ALL_TEXT : hist ? NO_TEXT : CATEGORIES, &x);
  ok = (hist ? read_bins(s, &c->args[2], &bins) : read_axis(s, c, t, 2, "y", bar ? NUMBERS : NO_TEXT, &y)) &&
       ok;
  if (fl_actual_given(&c->args[3]))
    ok = read_axis(s, c, t, 3, "color", scatter ? ALL_TEXT : ONLY_TEXT, &color) && ok;
  const char *labels[4] = {"", x.label, y.label, color.label};
  for (int i = 0; i < 4; i++) ok = read_label(s, &c->args[4 + i], labels[i], &plot[i]) && ok;
  if (!ok) return fl_val_error(s);

  layer[0] = one_text(s, kind);
  layer[1] = one(s, FL_I64, rows);
  layer[2] = one_text(s, x.kind);
  layer[3] = one_text(s, y.kind);
  layer[4] = one_text(s, color.kind);
  layer[5] = how_many(s, x.levels);
  layer[6] = how_many(s, color.levels);
  layer[7] = one(s, FL_I64, bins);
  point[0] = fl_val_array(s, FL_F64, 1, x.at);
  point[1] = y.at ? fl_val_array(s, FL_F64, 1, y.at) : nothing(s, rows, 0);
  point[2] = color.at ? fl_val_array(s, FL_F64, 1, color.at) : nothing(s, rows, 0);
  intern_names(s, N_LAYER, layer_names, names);
  plot[4] = fl_val_table(s, fl_sema_i64(s, 1), N_LAYER, names, layer);
  plot[5] = fl_val_array(s, FL_TEXT, 1, all_levels(s, x.levels, color.levels));
  intern_names(s, 3, point_names, names);
  plot[6] = fl_val_table(s, rows, 3, names, point);
  intern_names(s, N_PLOT, plot_names, names);
  return fl_val_tuple(s, N_PLOT, names, plot, fl_intern_z(s->names, "Plot"));
}

/* ---- several layers ---- */

static bool is_plot(FlSema *s, FlCallSite *c, FlActual *a, FlVal *out) {
  const FlType *type = fl_plot_type(s);
  *out = fl_actual_value(s, a, type);
  if (fl_val_bad(*out)) return false;
  if (out->type == type) return true;
  FlDiag *d = fl_sema_report(s, FL_E0290, a->span, "`%s` takes plots, and this is %s", c->builtin->name,
                             fl_val_text(s, *out));
  fl_diag_help(s->sink, d, "`plot.scatter`, `plot.line`, `plot.bar` and `plot.hist` make them");
  return false;
}

/* a, or b where that is empty. */
static FlVal first_text(FlSema *s, FlVal a, FlVal b) {
  FlValue *none = fl_sema_op2(s, FL_OP_EQ, a.parts[0], fl_ir_const_t(&s->b, "", 0));
  return fl_val_scalar(s, FL_TEXT, fl_ir_select(&s->b, none, b.parts[0], a.parts[0]));
}

static FlVal first_of_many(FlSema *s, FlVal texts) {
  FlValue *args[3] = {fl_sema_i64(s, 0), fl_sema_dim(s, texts, 0), fl_ir_const_t(&s->b, "", 0)};
  FlType1 text = fl_t_scalar(FL_TEXT), in[2] = {fl_t_scalar(FL_I64), text};
  FlOp *loop = fl_ir_op(&s->b, FL_OP_FOR, 3, args, 1, &text, 1);
  FlRegion *r = fl_ir_region(&s->b, loop, 0, 2, in);
  FlSavedPlace saved = fl_sema_enter(s, r);
  FlVal one = fl_val_scalar(s, FL_TEXT, fl_ir_load(&s->b, texts.parts[0], 1, r->params, true));
  FlVal next = first_text(s, fl_val_scalar(s, FL_TEXT, r->params[1]), one);
  fl_ir_yield(r, s->module, 1, next.parts);
  fl_sema_leave(s, saved);
  return fl_val_scalar(s, FL_TEXT, loop->results[0]);
}

/* A list of plots as one. */
static FlVal join_list(FlSema *s, FlVal list) {
  const FlType *row = list.type->elem;
  FlVal fields[N_PLOT];
  const char *names[N_PLOT];
  for (int k = 0; k < N_PLOT; k++) {
    const FlType *t = row->fields[k].type;
    FlValue **parts = list.parts + fl_type_field_part(row, k);
    fields[k] = t->kind == FL_TY_SCALAR
                    ? first_of_many(s, fl_val_make(s, fl_type_many(s->types, t), parts))
                    : fl_sema_concat_list(s, fl_val_make(s, fl_type_list(s->types, t), parts));
  }
  intern_names(s, N_PLOT, plot_names, names);
  return fl_val_tuple(s, N_PLOT, names, fields, fl_intern_z(s->names, "Plot"));
}

/* Parameters: 0 title, 1 x_label, 2 y_label, 3 color_label. */
FlVal fl_builtin_plot_layers(FlSema *s, FlCallSite *c) {
  int n = c->n_rest;
  if (!n) return fl_sema_error(s, FL_E0210, c->span, "`plot.layers` needs at least one plot");
  FlVal *layers = FL_NEW_ARRAY(s->arena, FlVal, n), fields[N_PLOT];
  FlActual *parts = FL_NEW_ARRAY(s->arena, FlActual, n);
  for (int i = 0; i < n; i++) {
    FlVal v = fl_actual_value(s, &c->rest[i], NULL);
    bool many = v.type->kind == FL_TY_LIST && v.type->elem == fl_plot_type(s);
    if (many) layers[i] = join_list(s, v);
    else if (!is_plot(s, c, &c->rest[i], &layers[i])) return fl_val_error(s);
  }
  for (int k = 0; k < 4; k++) {
    fields[k] = fl_val_field(s, layers[0], k);
    for (int i = 1; i < n; i++) fields[k] = first_text(s, fields[k], fl_val_field(s, layers[i], k));
    if (fl_actual_given(&c->args[k]) && !read_label(s, &c->args[k], "", &fields[k])) return fl_val_error(s);
  }
  for (int k = 4; k < N_PLOT; k++) {
    for (int i = 0; i < n; i++)
      parts[i] = (FlActual){.value = fl_val_field(s, layers[i], k), .span = c->span};
    fields[k] = fl_sema_call_builtin(s, fl_builtin_find(s, "concat"), n, parts, c->span, NULL);
    if (fl_val_bad(fields[k])) return fields[k];
  }
  const char *names[N_PLOT];
  intern_names(s, N_PLOT, plot_names, names);
  return fl_val_tuple(s, N_PLOT, names, fields, fl_intern_z(s->names, "Plot"));
}

/* ---- writing ---- */

static bool is_svg(const char *path) {
  size_t n = strlen(path);
  return n > 4 && strcasecmp(path + n - 4, ".svg") == 0;
}

FlVal fl_builtin_write_plot(FlSema *s, FlCallSite *c) {
  if (!fl_sema_effect_ok(s, c->builtin->name, c->span)) return fl_val_error(s);
  FlVal v;
  FlValue *args[64];
  if (!is_plot(s, c, &c->args[0], &v) || !fl_sema_target_path(s, &c->args[1], &args[0]))
    return fl_val_error(s);
  const char *path = fl_val_const_text(fl_val_scalar(s, FL_TEXT, args[0]));
  if (path && !is_svg(path)) {
    FlDiag *d = fl_sema_report(s, FL_E0287, c->args[1].span,
                               "`write_plot` writes SVG, and `%s` does not end in `.svg`", path);
    fl_diag_help(s->sink, d, "SVG is the only format there is; other programs make PNG or PDF of it");
    return fl_val_error(s);
  }
  memcpy(args + 1, v.parts, sizeof *args * (size_t)v.type->n_parts);
  fl_ir_op(&s->b, FL_OP_WRITE_PLOT, v.type->n_parts + 1, args, 0, NULL, 0)->span = fl_sema_place(s, c->span);
  return fl_val_none(s);
}
