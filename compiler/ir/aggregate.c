/* aggregate.c: the table of aggregates as data. */
#include "ir/ir.h"

#include <string.h>

const FlAggregateInfo fl_aggregate_info[FL_N_AGGREGATES] = {
#define FL_AGG_ROW(NAME, text, COLUMNS, RESULT, NULLS, STATE, SWEEP, SLOPE, SETTING, ROLLS)                  \
  {#text,                                                                                                    \
   COLUMNS,                                                                                                  \
   FL_RESULT_##RESULT,                                                                                       \
   FL_NULLS_##NULLS,                                                                                         \
   FL_STATE_##STATE,                                                                                         \
   FL_SWEEP_##SWEEP,                                                                                         \
   FL_SLOPE_##SLOPE,                                                                                         \
   FL_SETTING_##SETTING,                                                                                     \
   FL_ROLLS_##ROLLS},
#include "flow/aggregates.def"
#undef FL_AGG_ROW
};

FlAggregate fl_aggregate_find(const char *name) {
  int k = 0;
  while (k < FL_N_AGGREGATES && strcmp(fl_aggregate_info[k].name, name) != 0) k++;
  return (FlAggregate)k;
}

FlAggregate fl_ir_aggregate(const FlOp *op) { return fl_aggregate_find(op->attrs.s); }
