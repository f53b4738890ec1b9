/* aggregates.h: columns of aggregates.def that the compiler and the runtime both read. */
#ifndef FLOW_AGGREGATES_H
#define FLOW_AGGREGATES_H

typedef enum FlAggState {
  FL_STATE_NONE,
  FL_STATE_COUNT,
  FL_STATE_SUM,
  FL_STATE_MEAN,
  FL_STATE_PICK
} FlAggState;
typedef enum FlAggSweep {
  FL_SWEEP_ALONE,
  FL_SWEEP_COUNT,
  FL_SWEEP_SUM,
  FL_SWEEP_LEAST,
  FL_SWEEP_GREATEST,
  FL_SWEEP_SPREAD
} FlAggSweep;

#endif
