/* reduction.c: the kinds of a REDUCE and where their values are among the yields; see ir.h. */
#include "ir/ir.h"

const char *const fl_reduce_names[FL_N_REDUCE_KINDS] = {
    [FL_RED_SUM] = "sum",      [FL_RED_PRODUCT] = "product", [FL_RED_SUM_PRODUCT] = "sum_product",
    [FL_RED_MIN] = "min",      [FL_RED_MAX] = "max",         [FL_RED_ANY] = "any",
    [FL_RED_ALL] = "all",      [FL_RED_COUNT] = "count",     [FL_RED_ARGMIN] = "argmin",
    [FL_RED_ARGMAX] = "argmax", [FL_RED_EACH] = "each"};

int fl_ir_n_reductions(const FlOp *op) { return op->attrs.n_list ? op->attrs.n_list : 1; }

static bool find_kind(const char *name, size_t len, FlReduceKind *out) {
  for (int k = 0; k < FL_N_REDUCE_KINDS; k++)
    if (strlen(fl_reduce_names[k]) == len && memcmp(fl_reduce_names[k], name, len) == 0) {
      *out = (FlReduceKind)k;
      return true;
    }
  return false;
}

bool fl_ir_reduction(const FlOp *op, int index, FlReduction *out) {
  bool one = op->attrs.n_list == 0;
  int at = 0;
  for (int i = 0; i <= index; i++) {
    const char *name = one ? op->attrs.s : op->attrs.list[i];
    size_t len = name ? strlen(name) : 0;
    bool filtered = one ? (op->attrs.i & FL_REDUCE_KEEP) != 0 : len > 0 && name[len - 1] == '?';
    if (!one && filtered) len--;
    if (!len || !find_kind(name, len, &out->kind)) return false;
    out->first = at;
    out->n_values = out->kind == FL_RED_SUM_PRODUCT ? 2 : 1;
    at += out->n_values;
    out->keep = filtered ? at++ : -1;
  }
  return true;
}
