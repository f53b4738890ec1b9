/* fmt_type.c: types and patterns, formatted. In: trees. Out: text, on one line but for fields that do not
 * fit. */
#include "syntax/fmt_internal.h"

#include <inttypes.h>

static void number(FlFmt *f, int64_t n) {
  char text[32];
  snprintf(text, sizeof text, "%" PRId64, n);
  fl_fmt_put(f, text);
}

static void dim(FlFmt *f, const FlDim *d) {
  if (d->any) {
    fl_fmt_put(f, "_");
  } else if (!d->name.text) {
    number(f, d->constant);
  } else {
    fl_fmt_name(f, d->name);
    if (!d->constant) return;
    fl_fmt_put(f, d->constant < 0 ? " - " : " + ");
    number(f, d->constant < 0 ? -d->constant : d->constant);
  }
}

static void field(FlFmt *f, const void *items, int i) {
  const FlTypeItem *item = &((const FlTypeItem *)items)[i];
  if (item->name.text) {
    fl_fmt_name(f, item->name);
    fl_fmt_put(f, ": ");
  }
  fl_fmt_type(f, item->type);
}

static uint32_t field_start(const void *items, int i) { return ((const FlTypeItem *)items)[i].span.start; }

static void tuple(FlFmt *f, const FlTypeExpr *t, bool broken) {
  const FlTypeItemList *fields = &t->tuple.fields;
  FlFmtList list = {.open = "(",
                    .close = ")",
                    .n = fields->n,
                    .items = fields->at,
                    .item = field,
                    .start = field_start,
                    .end = t->span.start + t->span.len,
                    .tail = t->tuple.open ? ".." : NULL};
  list.comma = fields->n == 1 && !fields->at[0].name.text && !t->tuple.open;
  fl_fmt_list(f, &list, broken);
}

/* Is T? or T[n] of this type wrong without brackets? */
static bool needs_brackets(const FlTypeExpr *t) { return t->kind == FL_TE_FUNCTION || t->brackets; }

static void bracketed(FlFmt *f, const FlTypeExpr *t, bool brackets);

static void plain(FlFmt *f, const FlTypeExpr *t) {
  switch (t->kind) {
  case FL_TE_ERROR: break;
  case FL_TE_NAME:
    if (t->name.module.text) {
      fl_fmt_name(f, t->name.module);
      fl_fmt_put(f, ".");
    }
    fl_fmt_name(f, t->name.name);
    if (t->name.sized) {
      fl_fmt_put(f, "(");
      number(f, (int64_t)t->name.digits);
      fl_fmt_put(f, ", ");
      number(f, (int64_t)t->name.scale);
      fl_fmt_put(f, ")");
    }
    break;
  case FL_TE_ANY: fl_fmt_put(f, "_"); break;
  case FL_TE_OPTION:
    bracketed(f, t->inner, needs_brackets(t->inner) || t->inner->kind == FL_TE_OPTION);
    fl_fmt_put(f, "?");
    break;
  case FL_TE_ARRAY:
    bracketed(f, t->array.element, needs_brackets(t->array.element));
    fl_fmt_put(f, "[");
    for (int i = 0; i < t->array.dims.n; i++) {
      if (i) fl_fmt_put(f, ", ");
      dim(f, &t->array.dims.at[i]);
    }
    fl_fmt_put(f, "]");
    break;
  case FL_TE_TUPLE: {
    FlFmt copy;
    bool fits = true;
    if (fl_fmt_begin_measure(f, &copy, fl_fmt_room(f))) {
      tuple(&copy, t, false);
      fits = !copy.overflow && !fl_fmt_has_comment(f, t->span.start, t->span.start + t->span.len);
    }
    tuple(f, t, !fits);
    break;
  }
  case FL_TE_FUNCTION: {
    const FlTypeList *params = &t->function.params;
    if (params->n == 1) bracketed(f, params->at[0], needs_brackets(params->at[0]));
    else fl_fmt_put(f, "(");
    for (int i = 0; i < params->n && params->n != 1; i++) {
      if (i) fl_fmt_put(f, ", ");
      bracketed(f, params->at[i], params->at[i]->brackets);
    }
    if (params->n != 1) fl_fmt_put(f, ")");
    fl_fmt_put(f, " -> ");
    fl_fmt_type(f, t->function.result);
    break;
  }
  case FL_TE_TYPEOF: {
    fl_fmt_put(f, "typeof(");
    bool flat = f->flat;
    f->flat = true;
    fl_fmt_expr(f, t->of);
    f->flat = flat;
    fl_fmt_put(f, ")");
    break;
  }
  }
}

static void bracketed(FlFmt *f, const FlTypeExpr *t, bool brackets) {
  if (brackets) fl_fmt_put(f, "(");
  plain(f, t);
  if (brackets) fl_fmt_put(f, ")");
}

void fl_fmt_type(FlFmt *f, const FlTypeExpr *t) { bracketed(f, t, t->brackets); }

static void bound(FlFmt *f, const FlExpr *e) {
  if (e) fl_fmt_expr(f, e);
}

void fl_fmt_pattern(FlFmt *f, const FlPat *p) {
  switch (p->kind) {
  case FL_PAT_ERROR: break;
  case FL_PAT_ANY: fl_fmt_put(f, "_"); break;
  case FL_PAT_NAME: fl_fmt_name(f, p->name); break;
  case FL_PAT_TUPLE:
    fl_fmt_put(f, "(");
    for (int i = 0; i < p->tuple.n; i++) {
      if (i) fl_fmt_put(f, ", ");
      fl_fmt_pattern(f, p->tuple.at[i]);
    }
    fl_fmt_put(f, ")");
    break;
  case FL_PAT_VALUE: fl_fmt_expr(f, p->value); break;
  case FL_PAT_RANGE:
    bound(f, p->range.lo);
    fl_fmt_put(f, "..");
    bound(f, p->range.hi);
    break;
  }
}
