/* pivot.c: which row stands in which cell of a table that is turned.
 *
 * Comes in: of each row its group and its column. Goes out: for each column, one after the other, the row of
 * each group, -1 where there is none. Always holds: a cell has one row; two are an error that names the pair
 * with the lowest second row, whatever the schedule. */
#include "part/part_internal.h"

typedef struct Cells {
  const int64_t *group;
  const int32_t *column;
  int64_t g, k;
  _Atomic int64_t *cell; /* [k * g] the lowest row, INT64_MAX: none */
  _Atomic int64_t twice; /* the lowest row that is not the first of its cell */
  _Atomic int64_t outside;
} Cells;

static int32_t clear_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Cells *c = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) atomic_init(&c->cell[i], INT64_MAX);
  return 0;
}

static inline int64_t cell_of(const Cells *c, int64_t row) { return c->column[row] * c->g + c->group[row]; }

static int32_t place_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Cells *c = (Cells *)(uintptr_t)env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    bool inside = c->group[i] >= 0 && c->group[i] < c->g && c->column[i] >= 0 && c->column[i] < c->k;
    if (inside) fl_part_first(&c->cell[cell_of(c, i)], i);
    else fl_part_first(&c->outside, i);
  }
  return 0;
}

static int32_t check_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Cells *c = (Cells *)(uintptr_t)env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++)
    if (atomic_load_explicit(&c->cell[cell_of(c, i)], memory_order_relaxed) != i) {
      fl_part_first(&c->twice, i);
      break;
    }
  return 0;
}

static int32_t absent_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Cells *c = env;
  (void)ctx;
  for (int64_t i = begin; i < end; i++)
    if (atomic_load_explicit(&c->cell[i], memory_order_relaxed) == INT64_MAX) atomic_init(&c->cell[i], -1);
  return 0;
}

static FlStatus fail_twice(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, Cells *c, int64_t second) {
  int64_t cell = cell_of(c, second), first = atomic_load(&c->cell[cell]);
  const int64_t *number = desc->n_args > 4 ? args[4].a->data : NULL;
  FlStatus status =
      fl_fail_op(ctx, desc, FL_CODE(646),
                 "two rows, %lld and %lld, have a value for the column `%s` of one row of the result",
                 (long long)(number ? number[first] : first), (long long)(number ? number[second] : second),
                 desc->list[c->column[second]]);
  fl_fail_help(ctx, "say what becomes of several values: `value = sum(...)`, `mean(...)`, `first(...)`");
  return status;
}

FlStatus fl_rt_pivot_rows(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  Cells c = {.group = args[1].a->data, .column = args[2].a->data, .g = args[0].i, .k = args[3].i};
  int64_t n = args[1].a->dims[0], size;
  if (args[2].a->dims[0] != n) return fl_part_fail_shape(ctx, desc, n, args[2].a->dims[0]);
  if (c.k != desc->n_list) return fl_part_fail_shape(ctx, desc, c.k, desc->n_list);
  if (c.g < 0 || __builtin_mul_overflow(c.k, c.g, &size))
    return fl_fail(ctx, FL_FAULT_DOMAIN, desc->site, FL_I64, args[0], (FlSlot){0});
  FlArray *out = fl_array_new(ctx, FL_I64, 1, &size);
  if (out == NULL) return 1;
  c.cell = out->data;
  atomic_init(&c.twice, INT64_MAX);
  atomic_init(&c.outside, INT64_MAX);
  FlStatus status = fl_part_for(ctx, clear_body, &c, size, 0.3);
  if (status == 0) status = fl_part_for(ctx, place_body, &c, n, 3.0);
  int64_t outside = atomic_load(&c.outside);
  if (status == 0 && outside != INT64_MAX) status = fl_part_fail_index(ctx, desc, c.column[outside], c.k);
  if (status == 0) status = fl_part_for(ctx, check_body, &c, n, 2.0);
  int64_t twice = atomic_load(&c.twice);
  if (status == 0 && twice != INT64_MAX) status = fail_twice(ctx, desc, args, &c, twice);
  if (status == 0) status = fl_part_for(ctx, absent_body, &c, size, 0.3);
  if (status != 0) fl_array_unref(out);
  results[0].a = status == 0 ? out : NULL;
  return status;
}
