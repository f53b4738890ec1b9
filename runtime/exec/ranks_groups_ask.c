/* ranks_groups_ask.c: which aggregates of which groups are asked of a table that is in parts between ranks.
 *
 * In: GROUP_ROWS, or an AGGREGATE of all rows. Out: the states that the aggregates have, and the arrays of
 * the partial that makes them (part/partial.c). What always holds: the same at all ranks. */
#include "exec/ranks_groups.h"

#include <stdlib.h>

static FlType1 column_of(int32_t dtype) { return (FlType1){.dtype = (uint8_t)dtype, .rank = 1}; }

static int32_t want(FlGroups *g, const char *made, int32_t value, int32_t valid) {
  g->states[g->n_states] =
      (FlGroupState){.made = made, .kind = fl_agg_state(made), .value = value, .valid = valid};
  return g->n_states++;
}

/* How many values there are: of all rows, where the column has no nulls; of bool, of which a count is of
 * trues, that of the rows that are valid. */
static int32_t want_count_of_mean(FlGroups *g, int32_t value, int32_t valid, int32_t dtype) {
  if (valid < 0) return want(g, "count", -1, -1);
  return dtype == FL_BOOL ? want(g, "count", valid, -1) : want(g, "count", value, valid);
}

/* The aggregate `made`, of a column that begins at argument *at. */
static void read_aggregate(FlGroups *g, const char *made, double f, const FlColumnAttr *c, int32_t *at) {
  FlGroupWanted *w = &g->wanted[g->n_wanted++];
  FlAggState kind = fl_agg_state(made);
  *w = (FlGroupWanted){.made = made, .f = f, .count = -1};
  int32_t value = c->flags & FL_COLUMN_NONE ? -1 : (*at)++, valid = fl_groups_null(c) ? (*at)++ : -1;
  int32_t dtype = value < 0 ? FL_I64 : g->args[value].a->dtype;
  if (kind == FL_STATE_MEAN) {
    w->state = want(g, "sum", value, valid);
    w->count = want_count_of_mean(g, value, valid, dtype);
  } else if (kind == FL_STATE_COUNT && valid < 0 && dtype != FL_BOOL) {
    w->state = want(g, "count", -1, -1);
  } else {
    w->state = want(g, made, value, valid);
  }
}

static int32_t sum_type(int32_t d) {
  if (fl_dtype_is_float(d)) return FL_F64;
  return fl_dtype_is_decimal(d) ? d : d == FL_U64 ? FL_U64 : FL_I64;
}

/* What the partial gives. States of a sum of floats may need rows of their own, where the others have
 * nothing. */
static void lay_out(FlGroups *g) {
  bool terms = false;
  for (int32_t k = 0; k < g->n_states; k++) {
    const FlGroupState *s = &g->states[k];
    terms |= s->kind == FL_STATE_SUM && fl_dtype_is_float(g->args[s->value].a->dtype);
  }
  for (int32_t k = 0; k < g->n_key_args; k++) g->types[1 + g->n_arrays++] = g->desc->arg_types[k];
  for (int32_t k = 0; k < g->n_states; k++) {
    FlGroupState *s = &g->states[k];
    int32_t d = s->value < 0 ? FL_I64 : g->args[s->value].a->dtype;
    s->says = s->kind == FL_STATE_PICK && (terms || s->valid >= 0);
    s->at = g->n_arrays;
    g->types[1 + g->n_arrays++] = column_of(s->kind == FL_STATE_COUNT  ? FL_I64
                                            : s->kind == FL_STATE_PICK ? d
                                                                       : sum_type(d));
    if (s->says) g->types[1 + g->n_arrays++] = column_of(FL_BOOL);
    g->columns[g->n_keys + k] =
        (FlColumnAttr){.made = s->made,
                       .flags = (s->says ? FL_COLUMN_SAYS : 0) | (s->value < 0 ? FL_COLUMN_NONE : 0) |
                                (s->valid >= 0 ? FL_COLUMN_NULLS : 0)};
  }
}

static bool make_room(FlGroups *g) {
  const FlOpDesc *desc = g->desc;
  size_t most = (size_t)desc->n_args + (size_t)desc->n_columns + 1;
  g->wanted = calloc(most, sizeof *g->wanted);
  g->states = calloc(2 * most, sizeof *g->states);
  g->columns = calloc(3 * most, sizeof *g->columns);
  g->types = calloc(5 * most, sizeof *g->types);
  g->mine = calloc(5 * most, sizeof *g->mine);
  g->joined = calloc(5 * most, sizeof *g->joined);
  return g->wanted && g->states && g->columns && g->types && g->mine && g->joined;
}

static void read_groups(FlGroups *g) {
  const FlOpDesc *desc = g->desc;
  int32_t at = 0;
  for (; g->n_keys < desc->n_columns && !desc->columns[g->n_keys].made; g->n_keys++) {
    g->columns[g->n_keys] = desc->columns[g->n_keys];
    at += 1 + fl_groups_null(&desc->columns[g->n_keys]);
  }
  g->n_key_args = at;
  for (int32_t k = g->n_keys; k < desc->n_columns; k++) {
    double f = g->args[at++].f;
    read_aggregate(g, desc->columns[k].made, f, &desc->columns[k], &at);
  }
  g->first_taken = at;
  g->n_taken = desc->n_args - at;
  lay_out(g);
}

/* AGGREGATE: of all rows, of which it has one column, behind a number of groups and whose they are. */
static void read_all_rows(FlGroups *g) {
  int32_t at = 2;
  read_aggregate(g, g->desc->s, g->desc->f, &g->desc->columns[0], &at);
  lay_out(g);
}

FlStatus fl_groups_read(FlGroups *g) {
  if (!make_room(g)) return FL_STATUS_MEMORY;
  (g->desc->s ? read_all_rows : read_groups)(g);
  return 0;
}

void fl_groups_reset(FlGroups *g) {
  for (int32_t j = 0; j < g->n_arrays; j++) {
    if (g->mine) fl_array_unref(g->mine[j].a);
    if (g->joined) fl_array_unref(g->joined[j].a);
  }
  free(g->wanted);
  free(g->states);
  free(g->columns);
  free(g->types);
  free(g->mine);
  free(g->joined);
}
