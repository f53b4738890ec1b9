/* shifts.c: reads at a loop variable and a distance that is the same in all turns: a[i + k], a[n - 1 + i, j],
 * z[r, c - h].
 *
 * What always holds: the distance is computed in host code, where nothing can fail; that the index is within
 * the array is for whoever uses it to ask. */
#include "ad/ad_internal.h"

/* A value of the nest as host code has it, NULL: it depends on a loop. */
static FlValue *lifted(FlAdFrame *host, const FlOp *top, FlValue *v) {
  if (!fl_ir_made_within(v, top)) return fl_ad_at(host, v);
  const FlOp *op = v->op;
  if (!op || v->type.dtype != FL_I64 || !fl_t_is_scalar(v->type)) return NULL;
  int code = (int)op->code;
  if (code == FL_OP_CONST) return fl_ad_i64(&host->b, op->attrs.i);
  if (code == FL_OP_DIM && !fl_ir_made_within(op->args[0], top))
    return fl_ir_dim(&host->b, fl_ad_at(host, op->args[0]), (int)op->attrs.i);
  if (code == FL_OP_ADD) code = FL_OP_WRAP_ADD;
  if (code == FL_OP_SUB) code = FL_OP_WRAP_SUB;
  if (code == FL_OP_MUL) code = FL_OP_WRAP_MUL;
  if (code != FL_OP_WRAP_ADD && code != FL_OP_WRAP_SUB && code != FL_OP_WRAP_MUL) return NULL;
  FlValue *x = lifted(host, top, op->args[0]), *y = x ? lifted(host, top, op->args[1]) : NULL;
  return y ? fl_ir_binary(&host->b, (FlOpcode)code, x, y) : NULL;
}

static int loop_of(const FlAdFrame *f, const FlAdNest *l, FlValue *source) {
  if (source->op) return -1;
  FlValue *v = fl_ad_at(f, source);
  for (int k = 0; k < l->n; k++)
    if (f->index[k] == v) return k;
  return -1;
}

/* index = loop variable `axis` + shift. */
static bool shifted(FlAdFrame *host, const FlAdFrame *f, const FlAdNest *l, FlValue *index, int *axis,
                    FlValue **shift) {
  const FlOp *op = index->op;
  *shift = NULL;
  *axis = loop_of(f, l, index);
  if (*axis >= 0) return true;
  if (!op || op->n_args != 2) return false;
  bool minus = op->code == FL_OP_SUB || op->code == FL_OP_WRAP_SUB;
  if (!minus && op->code != FL_OP_ADD && op->code != FL_OP_WRAP_ADD) return false;
  const FlAdNest *outermost = l;
  while (outermost->parent) outermost = outermost->parent;
  for (int side = 0; side < (minus ? 1 : 2); side++) {
    *axis = loop_of(f, l, op->args[side]);
    if (*axis < 0) continue;
    *shift = lifted(host, outermost->op, op->args[1 - side]);
    if (*shift && minus) *shift = fl_ir_binary(&host->b, FL_OP_WRAP_SUB, fl_ad_i64(&host->b, 0), *shift);
    return *shift != NULL;
  }
  return false;
}

bool fl_ad_shifts(FlAdFrame *host, const FlAdFrame *f, const FlAdNest *l, const FlAdSink *s, int *axes,
                  FlValue **shifts) {
  bool taken[FL_MAX_RANK] = {0};
  if (s->n != s->load->n_args - 1) return false;
  for (int a = 0; a < s->n; a++) {
    if (!shifted(host, f, l, s->load->args[a + 1], &axes[a], &shifts[a]) || taken[axes[a]]) return false;
    taken[axes[a]] = true;
  }
  return true;
}
