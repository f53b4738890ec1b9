/* lists.c: joining arrays along the leading dimension, and lists of arrays.
 *
 * Comes in: arrays of one type and rank whose trailing sizes agree, or lists of such. Goes out: one array.
 * Always holds: SHAPE names the first pair of sizes that differ; texts keep the bytes of every source. */
#include "part/part_internal.h"

typedef struct Copy {
  FlArray *const *from;
  const int64_t *place; /* [n + 1] first element of each source in the result */
  FlArray *to;
} Copy;

static int32_t copy_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Copy *c = env;
  (void)ctx;
  size_t size = (size_t)fl_dtype_info[c->to->dtype].bytes;
  for (int64_t k = begin; k < end; k++) {
    int64_t count = c->place[k + 1] - c->place[k];
    if (count == 0) continue;
    char *to = (char *)c->to->data + c->place[k] * (int64_t)size;
    if (c->to->dtype == FL_LIST) {
      FlArray *const *from = c->from[k]->data;
      for (int64_t i = 0; i < count; i++) ((FlArray **)(void *)to)[i] = fl_array_ref(from[i]);
    } else {
      memcpy(to, c->from[k]->data, (size_t)count * size);
    }
  }
  return 0;
}

/* Joins sources whose shapes were checked, into an array of these sizes. */
static FlStatus join(FlPartMem *m, FlArray *const *from, int64_t n, int32_t dtype, int32_t rank,
                     const int64_t *dims, FlArray **out) {
  int64_t *place = fl_part_alloc(m, n + 1, sizeof *place);
  *out = fl_array_new(m->ctx, dtype, rank, dims);
  if (place == NULL || *out == NULL) return 1;
  place[0] = 0;
  for (int64_t k = 0; k < n; k++) place[k + 1] = place[k] + fl_array_count(from[k]);
  if (fl_dtype_is_text(dtype)) {
    for (int64_t k = 0; k < n; k += 1 << 20) {
      int32_t some = (int32_t)fl_part_min(n - k, 1 << 20);
      if (fl_array_keep(m->ctx, *out, NULL, from + k, some) != 0) return 1;
    }
  }
  Copy copy = {from, place, *out};
  double bytes = (double)place[n] * fl_dtype_info[dtype].bytes;
  return fl_part_for(m->ctx, copy_body, &copy, n, 20.0 + 0.1 * bytes / (double)fl_part_max(n, 1));
}

/* Whether the sizes from `axis` on agree with the first source's. */
static FlStatus check_sizes(FlCtx *ctx, const FlOpDesc *desc, FlArray *const *from, int64_t n, int32_t axis) {
  for (int64_t k = 1; k < n; k++) {
    for (int32_t d = axis; d < from[0]->rank; d++) {
      if (from[k]->dims[d] != from[0]->dims[d]) {
        return fl_part_fail_shape(ctx, desc, from[0]->dims[d], from[k]->dims[d]);
      }
    }
  }
  return 0;
}

static FlStatus concat(FlPartMem *m, const FlOpDesc *desc, FlArray *const *from, int64_t n, FlArray **out) {
  int64_t dims[FL_MAX_RANK] = {0};
  FlType1 type = desc->result_types[0];
  int32_t dtype = type.depth > 0 ? FL_LIST : type.dtype, rank = type.depth > 0 ? 1 : type.rank;
  if (n > 0) memcpy(dims, from[0]->dims, sizeof dims);
  if (check_sizes(m->ctx, desc, from, n, 1) != 0) return 1;
  for (int64_t k = 1; k < n; k++) { /* rows without elements may be more than there are numbers */
    if (__builtin_add_overflow(dims[0], from[k]->dims[0], &dims[0])) {
      dims[0] = -1;
      break;
    }
  }
  return join(m, from, n, dtype, rank, dims, out);
}

static FlStatus concat_arrays(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  FlArray **from = fl_part_alloc(m, desc->n_args, sizeof *from);
  for (int32_t k = 0; from != NULL && k < desc->n_args; k++) from[k] = args[k].a;
  return from == NULL ? 1 : concat(m, desc, from, desc->n_args, out);
}

FlStatus fl_rt_concat(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, concat_arrays);
}

/* Of no size along any dimension, as what a loop without rounds gave, which had no element to say more. */
static bool is_nothing(const FlArray *a) {
  for (int32_t d = 0; d < a->rank; d++)
    if (a->dims[d] != 0) return false;
  return true;
}

/* Pieces that are nothing fit between any others, and are left out. */
static FlStatus concat_list(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  FlArray *const *from = args[0].a->data;
  int64_t n = args[0].a->dims[0], n_some = 0;
  for (int64_t k = 0; k < n; k++) n_some += !is_nothing(from[k]);
  if (n_some > 0 && n_some < n) {
    FlArray **some = fl_part_alloc(m, n_some, sizeof *some);
    if (some == NULL) return 1;
    for (int64_t k = 0, at = 0; k < n; k++)
      if (!is_nothing(from[k])) some[at++] = from[k];
    from = some;
    n = n_some;
  }
  if (n != 1) return concat(m, desc, from, n, out);
  *out = fl_array_ref(from[0]);
  return 0;
}

FlStatus fl_rt_list_concat(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, concat_list);
}

/* Whether they lie behind each other and nothing else is there, as tasks lay what is only stacked. */
static bool is_laid(FlArray *const *from, int64_t n) {
  const FlBuffer *buffer = n > 0 ? from[0]->buffer : NULL;
  int64_t bytes = n > 0 ? fl_array_bytes(from[0]) : 0;
  if (bytes == 0 || fl_dtype_is_text(from[0]->dtype) || buffer->bytes / bytes != n ||
      buffer->bytes % bytes != 0)
    return false;
  for (int64_t k = 0; k < n; k++)
    if (from[k]->buffer != buffer || from[k]->data != (char *)buffer->data + k * bytes) return false;
  return true;
}

static FlStatus stack(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  FlArray *const *from = args[0].a->data;
  FlType1 type = desc->result_types[0];
  int64_t n = args[0].a->dims[0], dims[FL_MAX_RANK] = {n};
  for (int32_t d = 1; d < type.rank; d++) dims[d] = n > 0 ? from[0]->dims[d - 1] : 0;
  if (check_sizes(m->ctx, desc, from, n, 0) != 0) return 1;
  if (!is_laid(from, n)) return join(m, from, n, type.dtype, type.rank, dims, out);
  *out = fl_array_over(m->ctx, from[0]->buffer, from[0]->buffer->data, type.dtype, type.rank, dims);
  return *out == NULL;
}

FlStatus fl_rt_list_stack(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, stack);
}

FlStatus fl_rt_list_of(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  int64_t n = desc->n_args;
  FlArray *list = fl_array_new(ctx, FL_LIST, 1, &n);
  if (list == NULL) return 1;
  FlArray **items = list->data;
  for (int64_t k = 0; k < n; k++) items[k] = fl_array_ref(args[k].a);
  results[0].a = list;
  return 0;
}
