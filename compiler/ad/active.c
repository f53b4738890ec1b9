/* active.c: which values depend on what is derived by. In: a region and its float values. Out: the set of
 * active values, of all regions in it, and of texts that floats were written into: a float that is read from
 * one of them is active, and as no derivative goes through the reading, that is an error and no silent 0.
 * Always: the sets may hold a value too many, never one too few. */
#include "ad/ad_internal.h"

bool fl_ad_active(const FlAd *ad, const FlValue *v) { return fl_map_get(ad->active, v) != NULL; }

static bool carries(const FlAd *ad, const FlValue *v) {
  return fl_ad_active(ad, v) || fl_map_get(ad->texts, v) != NULL;
}

/* true: it was not yet. */
static bool mark(FlAd *ad, FlValue *v) {
  bool text = v->type.dtype == FL_TEXT;
  if ((!text && !fl_dtype_is_float(v->type.dtype)) || carries(ad, v)) return false;
  fl_map_set(text ? ad->texts : ad->active, v, v);
  return true;
}

static bool mark_region(FlAd *ad, FlRegion *r);

/* What a loop carries stands in its parameters, its yields and its results; `from`: how many come before it.
 */
static bool mark_carried(FlAd *ad, FlOp *op, int args, int params, int yields) {
  FlRegion *r = op->regions[0];
  bool more = false;
  for (int k = 0; k < op->n_results; k++) {
    bool active = carries(ad, op->args[args + k]) || carries(ad, r->yields[yields + k]);
    if (active && mark(ad, r->params[params + k])) more = true;
    if (active && mark(ad, op->results[k])) more = true;
  }
  return more;
}

static bool mark_op(FlAd *ad, FlOp *op) {
  bool more = false;
  for (int i = 0; i < op->n_regions; i++) more |= mark_region(ad, op->regions[i]);
  switch (op->code) {
  case FL_OP_FOR: return more | mark_carried(ad, op, 2, 1, 0);
  case FL_OP_SCAN: return more | mark_carried(ad, op, 1, 1, 0);
  case FL_OP_WHILE: return more | mark_carried(ad, op, 0, 0, 1);
  case FL_OP_IF:
    for (int k = 0; k < op->n_results; k++)
      if (carries(ad, op->regions[0]->yields[k]) || carries(ad, op->regions[1]->yields[k]))
        more |= mark(ad, op->results[k]);
    return more;
  case FL_OP_COMPRESS:
    for (int k = 1; k < op->n_results; k++)
      if (carries(ad, op->args[k])) more |= mark(ad, op->results[k]);
    return more;
  case FL_OP_TAKE:
    for (int k = 0; k < op->n_results; k++)
      if (carries(ad, op->args[k + 1])) more |= mark(ad, op->results[k]);
    return more;
  case FL_OP_MAP:
  case FL_OP_REDUCE:
  case FL_OP_COLLECT:
  case FL_OP_ROWS:
  case FL_OP_ROW_PART:
  case FL_OP_CONCAT:
  case FL_OPS_SCALAR:
  case FL_OPS_ACCESS:
  case FL_OPS_CALLS:
  case FL_OPS_CHECKS:
  case FL_OPS_LISTS:
  case FL_OPS_MATRIX:
  case FL_OPS_ARRAYS:
  case FL_OPS_TABLES:
  case FL_OPS_READING:
  case FL_OPS_WORLD: break;
  }
  bool any = false, text = false;
  for (int i = 0; i < op->n_args; i++) any = any || carries(ad, op->args[i]);
  for (int i = 0; i < op->n_regions; i++)
    for (int k = 0; k < op->regions[i]->n_yields; k++) {
      any = any || fl_ad_active(ad, op->regions[i]->yields[k]);
      text = text || carries(ad, op->regions[i]->yields[k]);
    }
  for (int k = 0; k < op->n_results; k++)
    if (any || (text && op->results[k]->type.dtype == FL_TEXT)) more |= mark(ad, op->results[k]);
  return more;
}

static bool mark_region(FlAd *ad, FlRegion *r) {
  bool more = false;
  for (FlOp *op = r->first; op; op = op->next) more |= mark_op(ad, op);
  return more;
}

void fl_ad_mark(FlAd *ad) {
  for (int k = 0; k < ad->n; k++) mark(ad, ad->by[k]);
  while (mark_region(ad, ad->region)) {}
}

bool fl_ad_touches(const FlAd *ad, const FlOp *op) {
  for (int i = 0; i < op->n_args; i++)
    if (fl_ad_active(ad, op->args[i])) return true;
  for (int i = 0; i < op->n_results; i++)
    if (fl_ad_active(ad, op->results[i])) return true;
  for (int i = 0; i < op->n_regions; i++) {
    const FlRegion *r = op->regions[i];
    for (const FlOp *in = r->first; in; in = in->next)
      if (fl_ad_touches(ad, in)) return true;
    for (int k = 0; k < r->n_yields; k++)
      if (fl_ad_active(ad, r->yields[k])) return true;
  }
  return false;
}
