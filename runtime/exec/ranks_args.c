/* ranks_args.c: the arguments of an operator of which it works on rows that may be in parts between ranks.
 *
 * In: an operator and what it is given. Out: by which cut it is run, and the rows that a rank lacks for the
 * units that it runs. What always holds: who needs other rows than those has whole arrays. */
#include "exec/ranks_args.h"

static const FlCut *cut_of(const FlRowArgs *a, int32_t i) {
  return fl_type_is_array(a->desc->arg_types[i]) ? fl_array_cut(a->args[i].a) : NULL;
}

bool fl_row_args_has(const FlRowArgs *a, int32_t i) {
  return a->rows >= 0 && fl_type_is_array(a->desc->arg_types[i]) && a->desc->rows[i] == a->how &&
         a->args[i].a->dims[0] == a->rows;
}

FlStatus fl_row_args_lay(FlCtx *ctx, const FlRowArgs *a, const FlCut **cut) {
  FlStatus s = 0;
  *cut = NULL;
  for (int32_t i = 0; i < a->desc->n_args && !*cut; i++)
    if (fl_row_args_has(a, i)) *cut = cut_of(a, i);
  for (int32_t i = 0; i < a->desc->n_args && !s; i++) {
    const FlCut *its = cut_of(a, i);
    if (its && (its != *cut || !fl_row_args_has(a, i))) s = fl_rows_gather(ctx, a->desc->site, a->args[i].a);
  }
  return s;
}

FlStatus fl_row_args_bring(const FlRowArgs *a, const FlBorders *borders) {
  FlStatus s = 0;
  for (int32_t i = 0; i < a->desc->n_args; i++) {
    if (!fl_row_args_has(a, i) || !cut_of(a, i)) continue;
    FlStatus its = fl_borders_bring(borders, a->args[i].a);
    if (!s) s = its;
  }
  return s;
}

void fl_row_args_shut(const FlRowArgs *a) {
  for (int32_t i = 0; i < a->desc->n_args; i++)
    if (fl_row_args_has(a, i) && cut_of(a, i)) fl_array_shut(a->args[i].a);
}
