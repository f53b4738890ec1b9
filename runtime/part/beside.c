/* beside.c: the operator beside: columns of numbers become the rows of a matrix.
 *
 * In: k arrays of n numbers of one type. Out: [n, k], element (i, j) of which is element i of array j; or
 * rows of it, where a part is asked for (FlOpPart). What always holds: values move as they are. */
#include "data/lay.h"
#include "part/part_internal.h"

typedef struct Beside {
  const FlSlot *columns;
  int64_t k, size;  /* columns; bytes of a number */
  int64_t from, to; /* rows */
  int64_t strip;    /* rows that are written at a time */
  char *out;        /* row `from` */
} Beside;

static int32_t lay_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Beside *b = env;
  (void)ctx;
  for (int64_t s = begin; s < end; s++) {
    int64_t row = b->from + s * b->strip, n = fl_part_min(b->strip, b->to - row);
    char *out = b->out + s * b->strip * b->k * b->size;
    for (int64_t j = 0; j < b->k; j++)
      fl_lay((const char *)b->columns[j].a->data + row * b->size, n, b->size, b->k, out + j * b->size);
  }
  return 0;
}

static FlStatus lay_all(FlCtx *ctx, Beside b) {
  b.strip = fl_lay_strip(b.k * b.size);
  int64_t strips = (b.to - b.from + b.strip - 1) / b.strip;
  return fl_part_for(ctx, lay_body, &b, strips, 0.5 * (double)(b.strip * b.k));
}

FlStatus fl_rt_beside(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlOpPart *part = fl_ctx_op_part(ctx);
  int32_t dtype = desc->result_types[0].dtype;
  int64_t n = args[0].a->dims[0], dims[2] = {n, desc->n_args};
  Beside b = {.columns = args, .k = desc->n_args, .size = fl_dtype_info[dtype].bytes, .to = n};
  if (part && part->from < 0) {
    part->rows = part->dims[0] = n;
    part->width = part->dims[1] = b.k;
    part->unit = 1;
    part->cost = 0.5 * (double)b.k;
    return 0;
  }
  if (part) {
    b.from = part->from;
    b.to = part->to;
    b.out = part->out;
    return lay_all(ctx, b);
  }
  FlArray *out = fl_array_new(ctx, dtype, 2, dims);
  if (!out) return 1;
  b.out = out->data;
  FlStatus s = lay_all(ctx, b);
  if (s) fl_array_unref(out);
  else results[0].a = out;
  return s;
}
