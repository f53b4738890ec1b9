/* moved.c: see moved.h. What always holds: nothing is guessed; what cannot be said makes all of it -1. */
#include "exec/moved.h"

#include "data/data.h"
#include "flow/dtypes.h"

static int64_t bytes_of(const FlArray *a) {
  FlKind kind = fl_dtype_info[a->dtype].kind;
  if (kind == FL_KIND_TEXT || kind == FL_KIND_REF || fl_array_cut(a)) return -1;
  return a->buffer ? fl_array_bytes(a) : 0;
}

static bool add(int64_t *sum, int64_t bytes) {
  if (bytes >= 0) *sum += bytes;
  return bytes >= 0;
}

/* Of an array that a loop captures; one of several axes is unknown, as the loop may go over a part of each
 * row. */
static int64_t read_by(FlRows rows, const FlArray *a, int64_t n) {
  if (rows == FL_ROWS_NONE) return 0;
  bool swept = rows == FL_ROWS_FOLD ? a->dims[0] == n : rows <= FL_ROWS_NEAR && a->dims[0] >= n;
  int64_t bytes = swept && a->rank == 1 ? bytes_of(a) : -1;
  return bytes > 0 ? bytes / a->dims[0] * n : bytes;
}

int64_t fl_moved_by_kernel(const FlKernel *k, const FlSlot *env, int64_t n) {
  const FlSlot *results = env + k->n_uses + k->n_sizes + k->n_places;
  int64_t sum = 0;
  for (int32_t i = 0; i < k->n_uses; i++)
    if (k->rows[i] != FL_ROWS_NONE && !add(&sum, read_by((FlRows)k->rows[i], env[i].a, n))) return -1;
  for (int32_t i = 0; i < k->n_results; i++) {
    const FlArray *a = results[i].a;
    if (!a || fl_array_count(a) != n || !add(&sum, bytes_of(a))) return -1;
  }
  return sum;
}

static bool is_array(FlType1 t) { return t.rank > 0 && t.depth == 0; }

int64_t fl_moved_to_op(const FlOpDesc *desc, const FlSlot *args) {
  if (desc->passes == FL_PASSES_UNKNOWN || desc->passes == FL_PASSES_FEWER) return -1;
  int64_t sum = 0;
  for (int32_t i = 0; i < (desc->passes == FL_PASSES_PICKS ? 1 : desc->n_args); i++) {
    if (desc->arg_types[i].depth) return -1;
    if (is_array(desc->arg_types[i]) && args[i].a && !add(&sum, bytes_of(args[i].a))) return -1;
  }
  return sum;
}

int64_t fl_moved_by_op(const FlOpDesc *desc, int64_t given, const FlSlot *results) {
  int64_t gave = 0;
  if (given < 0) return -1;
  for (int32_t i = 0; i < desc->n_results; i++)
    if (is_array(desc->result_types[i]) && results[i].a && !add(&gave, bytes_of(results[i].a))) return -1;
  return given + (desc->passes == FL_PASSES_PICKS ? 2 : 1) * gave;
}
