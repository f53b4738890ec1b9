/* part.c: scratch memory, loops over the pool, errors and columns: the ground on which the bulk operators
 * stand.
 *
 * Comes in: contexts, operator descriptions, slots. Goes out: memory, columns, recorded errors.
 * Always holds: whatever fl_part_alloc gave is released by fl_part_mem_reset, on success and on failure. */
#include "part/part_internal.h"

static void *alloc(FlPartMem *m, int64_t count, size_t size, bool near) {
  if (m->n_arrays == m->capacity) {
    int32_t capacity = m->capacity == 0 ? 32 : m->capacity * 2;
    FlArray **arrays = realloc(m->arrays, (size_t)capacity * sizeof *arrays);
    if (arrays == NULL) {
      (void)fl_fail(m->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0});
      return NULL;
    }
    m->arrays = arrays;
    m->capacity = capacity;
  }
  int64_t bytes = fl_part_max(count * (int64_t)size, 1);
  FlArray *a = near ? fl_array_new_near(m->ctx, FL_U8, 1, &bytes) : fl_array_new(m->ctx, FL_U8, 1, &bytes);
  if (a == NULL) return NULL;
  m->arrays[m->n_arrays++] = a;
  fl_part_note_disk(m, a);
  return a->data;
}

void *fl_part_alloc(FlPartMem *m, int64_t count, size_t size) { return alloc(m, count, size, m->near); }

void *fl_part_near(FlPartMem *m, int64_t count, size_t size) { return alloc(m, count, size, true); }

void *fl_part_zalloc(FlPartMem *m, int64_t count, size_t size) {
  void *p = fl_part_alloc(m, count, size);
  if (p != NULL && count > 0) memset(p, 0, (size_t)count * size);
  return p;
}

void fl_part_release(FlPartMem *m, const void *p) {
  for (int32_t k = m->n_arrays - 1; k >= 0; k--) {
    if (m->arrays[k]->data != p) continue;
    fl_array_unref(m->arrays[k]);
    m->arrays[k] = m->arrays[--m->n_arrays];
    return;
  }
}

FlArray *fl_part_keep(FlPartMem *m, const void *p, FlDtype dtype, int64_t count) {
  int64_t bytes = count * (int64_t)fl_dtype_info[dtype].bytes;
  for (int32_t k = 0; k < m->n_arrays; k++) {
    FlArray *from = m->arrays[k];
    if (from->data != p) continue;
    bool wasteful = bytes < fl_array_bytes(from) / 4 * 3;
    FlArray *out = wasteful ? fl_array_new(m->ctx, dtype, 1, &count)
                            : fl_array_over(m->ctx, from->buffer, from->data, dtype, 1, &count);
    if (out != NULL && wasteful && bytes > 0) memcpy(out->data, p, (size_t)bytes);
    if (out != NULL) fl_part_release(m, p);
    return out;
  }
  return NULL;
}

void fl_part_note_disk(FlPartMem *m, const FlArray *a) {
  /* A column that is used where it lies in a file of the user is nothing that the step keeps. */
  if (a != NULL && a->buffer->kind == FL_BUFFER_SPILLED) m->on_disk += fl_array_bytes(a);
}

void fl_part_mem_reset(FlPartMem *m) {
  if (m->on_disk > 0 && m->desc != NULL) fl_ctx_note_disk(m->ctx, m->desc->site, m->on_disk);
  m->on_disk = 0;
  for (int32_t k = 0; k < m->n_arrays; k++) fl_array_unref(m->arrays[k]);
  free(m->arrays);
  m->arrays = NULL;
  m->n_arrays = m->capacity = 0;
}

FlStatus fl_part_give(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, int32_t n,
                      FlPartBody *body) {
  FlPartMem mem = {.ctx = ctx, .desc = desc};
  FlArray *out[FL_PART_MOST_GIVEN] = {NULL};
  FlStatus status = body(&mem, desc, args, out);
  for (int32_t k = 0; k < n; k++) fl_part_note_disk(&mem, out[k]);
  fl_part_mem_reset(&mem);
  for (int32_t k = 0; k < n; k++) {
    if (status != 0) fl_array_unref(out[k]);
    results[k].a = status == 0 ? out[k] : NULL;
  }
  return status;
}

bool fl_part_is_told(FlCtx *ctx, int64_t rows, int64_t unit, double cost, int32_t of_rows) {
  FlOpPart *part = fl_ctx_op_part(ctx);
  if (part == NULL || part->from >= 0) return false;
  part->rows = rows;
  part->unit = unit;
  part->cost = cost;
  part->of_rows = of_rows;
  for (int32_t i = 0; i < FL_SWEEP_ROWS; i++) part->in_place[i] = -1;
  return true;
}

typedef struct Loop {
  FlCtx *ctx;
  FlKernelFn fn;
  const void *env;
  _Atomic int32_t failed;
} Loop;

static void loop_body(void *env, int64_t begin, int64_t end, int worker) {
  Loop *loop = env;
  (void)worker;
  if (loop->fn(loop->ctx, loop->env, begin, end) != 0) {
    atomic_store_explicit(&loop->failed, 1, memory_order_relaxed);
  }
}

FlStatus fl_part_for(FlCtx *ctx, FlKernelFn fn, const void *env, int64_t n, double cost) {
  enum { PIECE = 50000 };     /* nanoseconds: far above what handing over a piece costs */
  enum { TIGHT_MOST = 1024 }; /* items, each of which may touch pages of its own */
  Loop loop = {ctx, fn, env, 0};
  double grain = PIECE / (cost > 1e-3 ? cost : 1e-3);
  int64_t items = grain < 1.0 ? 1 : grain > 1e12 ? INT64_C(1000000000000) : (int64_t)grain;
  if (items > TIGHT_MOST && fl_pool_is_limited(ctx ? fl_ctx_pool(ctx) : NULL)) items = TIGHT_MOST;
  if (n > 0) fl_parallel_for(ctx, n, items, loop_body, &loop);
  return atomic_load(&loop.failed);
}

/* ---- results made slice by slice ---------------------------------------------------------------------- */

FlSlices fl_part_slices(FlCtx *ctx, const void *block, int64_t bytes, int64_t many) {
  return fl_slices(ctx ? fl_ctx_pool(ctx) : NULL, block, bytes, many * fl_ctx_workers(ctx));
}

/* ---- errors ------------------------------------------------------------------------------------------- */

FlStatus fl_part_fail_shape(FlCtx *ctx, const FlOpDesc *desc, int64_t a, int64_t b) {
  return fl_fail(ctx, FL_FAULT_SHAPE, desc->site, FL_I64, (FlSlot){.i = a}, (FlSlot){.i = b});
}

FlStatus fl_part_fail_index(FlCtx *ctx, const FlOpDesc *desc, int64_t index, int64_t size) {
  return fl_fail(ctx, FL_FAULT_INDEX, desc->site, FL_I64, (FlSlot){.i = index}, (FlSlot){.i = size});
}

FlStatus fl_part_fail_memory(FlPartMem *m) {
  return fl_fail(m->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0});
}

FlStatus fl_part_fail_scratch(FlPartMem *m, const FlScratch *s) {
  char folder[4096];
  int why = fl_scratch_why(s, folder, sizeof folder);
  if (why == 0) return fl_part_fail_memory(m);
  FlStatus status =
      fl_fail_text(m->ctx, -1, FL_CODE_RESOURCE,
                   "the disk of `%.400s` fails while this step keeps data there: %s", folder, strerror(why));
  fl_fail_help(m->ctx, "name a folder on another disk: --cache FOLDER, or TMPDIR=FOLDER before the command");
  return status;
}

/* ---- columns ------------------------------------------------------------------------------------------ */

FlStatus fl_part_col(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, int32_t *at,
                     const FlColumnAttr *attr, FlPartCol *out) {
  FlArray *a = args[(*at)++].a;
  *out = (FlPartCol){.dtype = a->dtype, .n = a->dims[0], .data = a->data, .array = a};
  if (!(attr->flags & FL_COLUMN_NULLS)) return 0;
  const FlArray *valid = args[(*at)++].a;
  if (valid->dims[0] != out->n) return fl_part_fail_shape(ctx, desc, out->n, valid->dims[0]);
  out->valid = valid->data;
  return 0;
}

#define READ(T, OUT)                                                                                         \
  {                                                                                                          \
    const T *v = (const T *)c->data + begin;                                                                 \
    for (int64_t i = 0; i < n; i++) out[i] = (OUT)v[i];                                                      \
    break;                                                                                                   \
  }
/* The cases of a switch over c->dtype that give the integers of c->data, of any width, as OUT. */
#define READ_INTEGERS(OUT)                                                                                   \
  case FL_BOOL:                                                                                              \
  case FL_U8: READ(uint8_t, OUT)                                                                             \
  case FL_I8: READ(int8_t, OUT)                                                                              \
  case FL_I16: READ(int16_t, OUT)                                                                            \
  case FL_I32:                                                                                               \
  case FL_DATE: READ(int32_t, OUT)                                                                           \
  case FL_I64:                                                                                               \
  case FL_DATETIME:                                                                                          \
  case FL_DURATION:                                                                                          \
  case FL_ANY_DECIMAL: READ(int64_t, OUT)                                                                    \
  case FL_U16: READ(uint16_t, OUT)                                                                           \
  case FL_U32: READ(uint32_t, OUT)                                                                           \
  case FL_U64: READ(uint64_t, OUT)

FL_PART_WIDE void fl_part_read_f64(const FlPartCol *c, int64_t begin, int64_t n, double *out) {
  switch ((FlDtype)c->dtype) {
    READ_INTEGERS(double)
  case FL_F32: READ(float, double)
  case FL_F64: memcpy(out, (const double *)c->data + begin, (size_t)n * sizeof *out); break;
  case FL_TEXT:
  case FL_FILE:
  case FL_CATEGORY:
  case FL_LIST:
  case FL_N_DTYPES: memset(out, 0, (size_t)n * sizeof *out); break;
  }
  if (c->valid != NULL) fl_part_zero_nulls(c->valid + begin, n, out);
}

FL_PART_WIDE void fl_part_read_i64(const FlPartCol *c, int64_t begin, int64_t n, int64_t *out) {
  switch ((FlDtype)c->dtype) {
    READ_INTEGERS(int64_t)
  case FL_F32:
  case FL_F64:
  case FL_TEXT:
  case FL_FILE:
  case FL_CATEGORY:
  case FL_LIST:
  case FL_N_DTYPES: memset(out, 0, (size_t)n * sizeof *out); break;
  }
  if (c->valid != NULL) fl_part_zero_nulls(c->valid + begin, n, out);
}
#undef READ_INTEGERS
#undef READ

static inline uint64_t code_of_f64(double v) {
  uint64_t bits;
  v += 0.0; /* -0.0 becomes 0.0 */
  memcpy(&bits, &v, sizeof bits);
  uint64_t ordered = bits >> 63 ? ~bits : bits | (UINT64_C(1) << 63);
  return v != v ? UINT64_MAX : ordered;
}

static inline uint64_t code_of_f32(float v) {
  uint32_t bits;
  v += 0.0f;
  memcpy(&bits, &v, sizeof bits);
  uint32_t ordered = bits >> 31 ? ~bits : bits | (UINT32_C(1) << 31);
  return v != v ? UINT64_MAX : ordered;
}

FL_PART_WIDE void fl_part_read_code(const FlPartCol *c, int64_t begin, int64_t n, uint64_t *out) {
  if (c->dtype == FL_F64) {
    const double *v = (const double *)c->data + begin;
    for (int64_t i = 0; i < n; i++) out[i] = code_of_f64(v[i]);
  } else if (c->dtype == FL_F32) {
    const float *v = (const float *)c->data + begin;
    for (int64_t i = 0; i < n; i++) out[i] = code_of_f32(v[i]);
  } else {
    FlPartCol plain = *c;
    plain.valid = NULL;
    fl_part_read_i64(&plain, begin, n, (int64_t *)out);
    FlKind kind = fl_dtype_info[c->dtype].kind;
    if (kind == FL_KIND_BOOL || kind == FL_KIND_UNSIGNED) return;
    for (int64_t i = 0; i < n; i++) out[i] ^= UINT64_C(1) << 63;
  }
}

/* As below, or some value is zero: bits without the sign, less one, are more than those of infinity. */
FL_PART_WIDE static bool may_differ_f64(const double *v, int64_t n) {
  uint64_t most = 0, bits;
  for (int64_t i = 0; i < n; i++) {
    memcpy(&bits, &v[i], sizeof bits);
    bits = 2 * bits - 1;
    most = bits > most ? bits : most;
  }
  return most >= UINT64_C(0xffe) << 52;
}

FL_PART_WIDE static bool may_differ_f32(const float *v, int64_t n) {
  uint32_t most = 0, bits;
  for (int64_t i = 0; i < n; i++) {
    memcpy(&bits, &v[i], sizeof bits);
    bits = 2 * bits - 1;
    most = bits > most ? bits : most;
  }
  return most >= UINT32_C(0xff) << 24;
}

bool fl_part_differ(const FlPartCol *c, int64_t row, int64_t n) {
  bool found = false;
  if (c->dtype == FL_F64) {
    const double *v = (const double *)c->data + row;
    if (!may_differ_f64(v, n)) return false;
    for (int64_t i = 0; i < n; i++) found |= v[i] != v[i] || (v[i] == 0 && __builtin_signbit(v[i]));
  } else if (c->dtype == FL_F32) {
    const float *v = (const float *)c->data + row;
    if (!may_differ_f32(v, n)) return false;
    for (int64_t i = 0; i < n; i++) found |= v[i] != v[i] || (v[i] == 0 && __builtin_signbit(v[i]));
  }
  return found;
}
