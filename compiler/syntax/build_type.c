/* build_type.c: the productions of patterns and types. In: tokens and parts. Out: trees with span and height.
 */
#include "syntax/syntax_internal.h"

#include <inttypes.h>

/* ---- patterns ---- */

static FlPat *make_pat(FlParser *p, FlPatKind kind, FlSpan span) {
  FlPat *pat = FL_NEW(p->arena, FlPat);
  pat->kind = kind;
  pat->span = span;
  pat->height = 1;
  return pat;
}

FlPat *fl_build_pat_error(FlParser *p, FlSpan span) { return make_pat(p, FL_PAT_ERROR, span); }

/* `inf`, `nan`, `pi` are numbers; in a pattern of match, too. */
FlPat *fl_build_pat_case_name(FlParser *p, FlTok name) {
  FlExpr *e = fl_build_name(p, name);
  return e->kind == FL_EXPR_NAME ? fl_build_pat_name(p, name) : fl_build_pat_value(p, e);
}

FlPat *fl_build_pat_name(FlParser *p, FlTok name) {
  FlPat *pat = make_pat(p, FL_PAT_NAME, name->span);
  pat->name = fl_build_binding(p, name);
  return pat;
}

FlPat *fl_build_pat_any(FlParser *p, FlTok t) { return make_pat(p, FL_PAT_ANY, t->span); }

FlPat *fl_build_pat_tuple(FlParser *p, FlTok first, FlPatList *items, FlTok last) {
  FlPat *pat = make_pat(p, FL_PAT_TUPLE, fl_span_join(first->span, last->span));
  uint16_t h = 0;
  for (int i = 0; i < items->n; i++) h = fl_higher(h, items->at[i]->height);
  if (fl_build_too_high(p, pat->span, h)) return fl_build_pat_error(p, pat->span);
  pat->tuple = *items;
  pat->height = (uint16_t)(h + 1);
  return pat;
}

FlPat *fl_build_pat_value(FlParser *p, FlExpr *value) {
  FlPat *pat = make_pat(p, FL_PAT_VALUE, value->span);
  pat->value = value;
  pat->height = (uint16_t)(value->height + 1);
  return pat;
}

FlPat *fl_build_pat_range(FlParser *p, FlExpr *lo, FlTok t, FlExpr *hi) {
  FlPat *pat = make_pat(p, FL_PAT_RANGE, fl_span_join(lo ? lo->span : t->span, hi ? hi->span : t->span));
  pat->range.lo = lo;
  pat->range.hi = hi;
  pat->height = 3;
  return pat;
}

/* ---- types ---- */

static FlTypeExpr *make_type(FlParser *p, FlTypeExprKind kind, FlSpan span, uint16_t below) {
  FlTypeExpr *t = FL_NEW(p->arena, FlTypeExpr);
  bool high = fl_build_too_high(p, span, below);
  t->kind = high ? FL_TE_ERROR : kind;
  t->span = span;
  t->height = high ? 1 : (uint16_t)(below + 1);
  return t;
}

FlTypeExpr *fl_build_type_name(FlParser *p, FlTok module, FlTok name) {
  FlSpan span = module ? fl_span_join(module->span, name->span) : name->span;
  FlTypeExpr *t = make_type(p, FL_TE_NAME, span, 0);
  if (module) t->name.module = (FlName){module->name, module->span};
  t->name.name = (FlName){name->name, name->span};
  return t;
}

/* decimal(12, 2): its name is all of it. */
FlTypeExpr *fl_build_type_decimal(FlParser *p, FlTok name, FlTok digits, FlTok scale, FlTok last) {
  FlTypeExpr *t = make_type(p, FL_TE_NAME, fl_span_join(name->span, last->span), 0);
  const char *whole = fl_arena_printf(p->arena, "%s(%" PRIu64 ", %" PRIu64 ")", name->name,
                                      digits->integer.value, scale->integer.value);
  t->name.name = (FlName){fl_intern_z(p->interner, whole), name->span};
  t->name.sized = true;
  t->name.digits = digits->integer.value;
  t->name.scale = scale->integer.value;
  return t;
}

FlTypeExpr *fl_build_type_any(FlParser *p, FlTok t) { return make_type(p, FL_TE_ANY, t->span, 0); }

FlTypeExpr *fl_build_type_option(FlParser *p, FlTypeExpr *inner, FlTok last) {
  FlTypeExpr *t = make_type(p, FL_TE_OPTION, fl_span_join(inner->span, last->span), inner->height);
  if (t->kind == FL_TE_OPTION) t->inner = inner;
  return t;
}

FlTypeExpr *fl_build_type_array(FlParser *p, FlTypeExpr *element, FlDimList *dims, FlTok last) {
  FlTypeExpr *t = make_type(p, FL_TE_ARRAY, fl_span_join(element->span, last->span), element->height);
  if (t->kind == FL_TE_ERROR) return t;
  t->array.element = element;
  t->array.dims = *dims;
  return t;
}

FlTypeExpr *fl_build_type_round(FlParser *p, FlTok first, FlTypeItemList *fields, bool comma, bool open,
                                FlTok last) {
  FlSpan span = fl_span_join(first->span, last->span);
  if (fields && fields->n == 1 && !fields->at[0].name.text && !comma) {
    FlTypeExpr *inner = fields->at[0].type;
    inner->brackets = true;
    inner->span = span;
    return inner;
  }
  uint16_t h = 0;
  for (int i = 0; fields && i < fields->n; i++) h = fl_higher(h, fields->at[i].type->height);
  FlTypeExpr *t = make_type(p, FL_TE_TUPLE, span, h);
  if (t->kind == FL_TE_ERROR) return t;
  if (fields) t->tuple.fields = *fields;
  t->tuple.open = open;
  return t;
}

/* (A, B) -> C takes two values; ((A, B)) -> C takes one, a tuple. */
FlTypeExpr *fl_build_type_function(FlParser *p, FlTypeExpr *params, FlTypeExpr *result) {
  FlSpan span = fl_span_join(params->span, result->span);
  FlTypeExpr *t = make_type(p, FL_TE_FUNCTION, span, fl_higher(params->height, result->height));
  if (t->kind == FL_TE_ERROR) return t;
  bool several = params->kind == FL_TE_TUPLE && !params->brackets && !params->tuple.open;
  for (int i = 0; several && i < params->tuple.fields.n; i++) several = !params->tuple.fields.at[i].name.text;
  if (several) {
    for (int i = 0; i < params->tuple.fields.n; i++)
      fl_vec_push(p->arena, &t->function.params, params->tuple.fields.at[i].type);
  } else {
    fl_vec_push(p->arena, &t->function.params, params);
  }
  t->function.result = result;
  return t;
}

FlTypeExpr *fl_build_type_of(FlParser *p, FlTok first, FlExpr *value, FlTok last) {
  FlTypeExpr *t = make_type(p, FL_TE_TYPEOF, fl_span_join(first->span, last->span), value->height);
  if (t->kind == FL_TE_TYPEOF) t->of = value;
  return t;
}

FlTypeItem *fl_build_type_field(FlParser *p, FlTok name, FlTypeExpr *type) {
  FlTypeItem *f = FL_NEW(p->arena, FlTypeItem);
  if (name) f->name = (FlName){name->name, name->span};
  f->type = type;
  f->span = name ? fl_span_join(name->span, type->span) : type->span;
  return f;
}

FlDim *fl_build_dim(FlParser *p, FlTok any, FlTok name, FlTok number, bool minus) {
  FlDim *d = FL_NEW(p->arena, FlDim);
  FlSpan none = {0};
  d->any = any != NULL;
  d->span = fl_span_join(any ? any->span : name ? name->span : none, number ? number->span : none);
  if (name) d->name = (FlName){name->name, name->span};
  if (!number) return d;
  if (number->integer.value > INT64_MAX) {
    if (!number->made) fl_report(p->sink, FL_E0007, number->span, "no dimension is so large");
    return d;
  }
  d->constant = minus ? -(int64_t)number->integer.value : (int64_t)number->integer.value;
  return d;
}
