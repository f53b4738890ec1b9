/* hdf5.c: HDF5 files as named arrays: the run's side; see hdf5_internal.h. And the operator read_hdf5.
 *
 * In: a path and names. Out: arrays. A first child tells types and sizes, a second one fills memory that was
 * made for them here. What always holds: nothing that a child says is believed: sizes are compared with the
 * file's before memory is asked for, texts are checked to be UTF-8, bools and nans are made what they are in
 * a run; a child that crashes, hangs or says nonsense is an error about the file. One thread of a run waits
 * for a child at a time. */
#include "io/child.h"
#include "io/hdf5_internal.h"
#include "data/data.h"
#include "data/value_type.h"
#include "exec/exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FL_RATIO = 2000 };
static const int64_t FL_MOST_MEMORY = (int64_t)4 << 30, FL_MOST_SECONDS = 20, FL_SLOWEST = 1 << 20;

typedef struct Hdf5 {
  FlCtx *ctx;
  FlFiles *files; /* locked; NULL: there is one thread */
  FlHdf5Job job;
  struct stat found;
} Hdf5;

static bool bad(const Hdf5 *h, const char *what, FlIoError *e) {
  return fl_io_error(e, FL_E_HDF5, "`%s` is no %s file that can be read: %s", h->job.path,
                     h->job.matlab ? "MAT" : "HDF5", what);
}

static bool no_memory(const Hdf5 *h, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", h->job.path);
}

static bool look_at_file(Hdf5 *h, FlIoError *e) {
  static const char mark[] = "\x89HDF\r\n\x1a\n";
  char magic[8] = "", matlab[8] = "";
  int fd = fl_input_ordinary(h->job.path, &h->found, e);
  if (fd < 0) return false;
  ssize_t n = pread(fd, magic, sizeof magic, 0), m = pread(fd, matlab, sizeof matlab, 512);
  close(fd);
  if (n == 0) return fl_io_error(e, FL_E_EMPTY, "`%s` is empty", h->job.path);
  if (!(n == 8 && memcmp(magic, mark, 8) == 0) && !(m == 8 && memcmp(matlab, mark, 8) == 0))
    return bad(h, "it does not begin as one", e);
  int64_t size = h->found.st_size;
  h->job.most = size > INT64_MAX / FL_RATIO / 2 ? INT64_MAX / 2 : size * FL_RATIO;
  return true;
}

static bool begin(Hdf5 *h, FlCtx *ctx, const char *path, bool matlab, FlIoError *e) {
  *h = (Hdf5){.ctx = ctx, .files = ctx ? fl_ctx_files(ctx) : NULL, .job = {.path = path, .matlab = matlab}};
  fl_files_lock_library(h->files);
  return look_at_file(h, e) && fl_hdf5_library(e);
}

static bool end(Hdf5 *h, bool ok, FlIoError *e) {
  struct stat now;
  fl_files_unlock_library(h->files);
  if (ok && (stat(h->job.path, &now) != 0 || !fl_input_same(&h->found, &now)))
    return fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", h->job.path);
  return ok;
}

/* bytes: of the arrays that it fills. */
static bool run_child(Hdf5 *h, FlChildFn *fn, int64_t bytes, FlBytes *answer, FlIoError *e) {
  int64_t size = h->found.st_size, some = INT64_MAX / 64;
  size = size < some ? size : some;
  bytes = bytes < some ? bytes : some;
  FlChild child = {.fn = fn,
                   .env = &h->job,
                   .label = h->job.path,
                   .library = "libhdf5",
                   .most = h->job.most < INT64_MAX / 4 ? h->job.most + FL_SLOWEST : INT64_MAX / 4,
                   .memory = FL_MOST_MEMORY + 8 * size + bytes,
                   .seconds = FL_MOST_SECONDS + (size + bytes) / FL_SLOWEST};
  return fl_child_run(h->ctx, &child, FL_E_HDF5, answer, e);
}

/* ---- what a child says -------------------------------------------------------------------------------- */

typedef struct Answer {
  const char *at;
  int64_t left;
} Answer;

static const char *take(Answer *a, int64_t n) {
  if (n < 0 || n > a->left) return NULL;
  const char *at = a->at;
  a->at += n;
  a->left -= n;
  return at;
}

static bool take_into(Answer *a, void *to, size_t n) {
  const char *at = take(a, (int64_t)n);
  if (at) memcpy(to, at, n);
  return at != NULL;
}

static bool nonsense(const Hdf5 *h, FlIoError *e) { return bad(h, "it is damaged", e); }

/* Takes off what stands at the end of an answer: that all is well, or the error. */
static bool take_end(const Hdf5 *h, Answer *a, FlIoError *e) {
  FlHdf5Told last;
  FlIoError said;
  int64_t bytes = (int64_t)(sizeof last + sizeof said);
  if (a->left < bytes) return nonsense(h, e);
  a->left -= bytes;
  memcpy(&last, a->at + a->left, sizeof last);
  memcpy(&said, a->at + a->left + sizeof last, sizeof said);
  if (last.dtype != FL_HDF5_END || said.code < 0) return nonsense(h, e);
  if (!said.code) return true;
  said.message[sizeof said.message - 1] = said.help[sizeof said.help - 1] = '\0';
  said.line = said.row = 0;
  said.column[0] = said.value[0] = '\0';
  *e = said;
  return false;
}

/* Whether there can be such an array, of the file's size. */
static bool is_possible(const Hdf5 *h, const FlHdf5Told *t) {
  int64_t count = 1;
  bool none = false, fits = t->rank >= 0 && t->rank <= FL_MAX_RANK;
  for (int32_t k = 0; fits && k < t->rank; k++) {
    none = none || t->dims[k] == 0;
    fits = t->dims[k] >= 0;
  }
  for (int32_t k = 0; fits && !none && k < t->rank; k++)
    fits = !__builtin_mul_overflow(count, t->dims[k], &count);
  return fits && (none || count <= h->job.most) && t->dtype >= 0 && t->dtype <= FL_N_DTYPES &&
         t->dtype != FL_FILE && t->dtype != FL_LIST && t->dtype != FL_CATEGORY;
}

static bool add_told(const Hdf5 *h, const FlHdf5Told *t, const char *name, const char *why, FlIoArrays *out,
                     FlIoError *e) {
  char *named = strndup(name, (size_t)t->name), *said = strndup(why, (size_t)t->why);
  bool ok = named && said;
  ok = ok && fl_io_arrays_add(out, named, (FlDtype)t->dtype, t->rank, t->dims,
                              t->dtype == FL_N_DTYPES ? said : NULL);
  free(named);
  free(said);
  return ok || no_memory(h, e);
}

/* All that a first child has told. */
static bool take_all_told(const Hdf5 *h, Answer a, FlIoArrays *out, FlIoError *e) {
  bool ok = take_end(h, &a, e);
  while (ok && a.left) {
    FlHdf5Told t;
    bool whole = take_into(&a, &t, sizeof t) && is_possible(h, &t);
    const char *name = whole ? take(&a, t.name) : NULL, *why = name ? take(&a, t.why) : NULL;
    ok = (why && fl_utf8_check(name, t.name) == t.name) || nonsense(h, e);
    ok = ok && add_told(h, &t, name, why, out, e);
  }
  return ok;
}

static bool tell(Hdf5 *h, FlIoArrays *out, FlIoError *e) {
  FlBytes answer;
  bool ok = run_child(h, fl_hdf5_tell, 0, &answer, e) &&
            take_all_told(h, (Answer){answer.at, (int64_t)answer.len}, out, e);
  fl_bytes_reset(&answer);
  return ok;
}

bool fl_hdf5_arrays(const char *path, bool matlab, FlIoArrays *out, FlIoError *e) {
  Hdf5 h;
  memset(e, 0, sizeof *e);
  *out = (FlIoArrays){0};
  bool ok = begin(&h, NULL, path, matlab, e) && tell(&h, out, e);
  ok = ok && (out->n || fl_io_error(e, FL_E_EMPTY, "`%s` holds no arrays", path));
  ok = end(&h, ok, e);
  if (!ok) fl_io_arrays_reset(out);
  return ok;
}

/* ---- elements ----------------------------------------------------------------------------------------- */

static void settle(FlArray *a) {
  int64_t n = fl_array_count(a);
  double *f = a->data;
  float *g = a->data;
  uint8_t *b = a->data;
  for (int64_t k = 0; a->dtype == FL_F64 && k < n; k++)
    if (f[k] != f[k]) f[k] = (double)NAN;
  for (int64_t k = 0; a->dtype == FL_F32 && k < n; k++)
    if (g[k] != g[k]) g[k] = NAN;
  for (int64_t k = 0; a->dtype == FL_BOOL && k < n; k++) b[k] = b[k] != 0;
}

/* One array that is read. */
typedef struct Part {
  FlArray *a; /* in the file's order */
  FlType1 type;
} Part;

static bool take_texts(const Hdf5 *h, Answer *from, FlArray *a, FlIoError *e) {
  FlHeap *heap = fl_heap_new(h->ctx);
  FlText *out = a->data;
  bool ok = fl_array_keep(h->ctx, a, heap, NULL, 0) == 0 || no_memory(h, e);
  for (int64_t k = 0, n = fl_array_count(a); ok && k < n; k++) {
    int64_t len = 0;
    const char *text = take_into(from, &len, sizeof len) ? take(from, len) : NULL;
    ok = text || nonsense(h, e);
    if (ok && fl_utf8_check(text, len) != len)
      ok = fl_io_error(e, FL_E_UTF8, "`%s` holds a text that is not UTF-8", h->job.path);
    if (!ok || !len) continue;
    out[k] = fl_heap_text(heap, text, len);
  }
  fl_heap_unref(heap);
  return ok;
}

/* The array for what was told, and what the child is to know of it. */
static bool make_part(Hdf5 *h, const FlIoArray *told, FlType1 type, Part *p, FlHdf5Wanted *w, FlIoError *e) {
  static const int64_t one = 1;
  if (told->why)
    return fl_io_error(e, FL_E_NO_ARRAY, "the array `%.100s` of `%s` cannot be read: %s", told->name,
                       h->job.path, told->why);
  bool text = told->dtype == FL_TEXT;
  int32_t rank = told->rank == 0 && text && h->job.matlab && type.rank == 1 ? 1 : told->rank;
  if (!fl_io_array_fits(h->job.path, told->name, told->dtype, rank, type, e)) return false;
  const int64_t *dims = told->rank ? told->dims : &one;
  int32_t held = told->rank ? told->rank : 1;
  p->type = type;
  p->a = text ? fl_array_zeros(h->ctx, FL_TEXT, held, dims)
              : fl_array_new_shared(h->ctx, type.dtype, held, dims);
  if (!p->a) return no_memory(h, e);
  *w = (FlHdf5Wanted){.has = told->dtype,
                      .dtype = (FlDtype)type.dtype,
                      .rank = told->rank,
                      .count = fl_array_count(p->a),
                      .data = text ? NULL : p->a->data};
  memcpy(w->dims, told->dims, sizeof w->dims);
  return true;
}

/* The value as the run has it: its order of elements, single values as such. */
static bool finish(const Hdf5 *h, Part *p, FlSlot *result, FlIoError *e) {
  FlArray *a = p->a;
  if (h->job.matlab && a->rank > 1) {
    FlArray *turned = fl_array_new(h->ctx, a->dtype, a->rank, a->dims);
    if (!turned || (a->dtype == FL_TEXT && fl_array_keep(h->ctx, turned, NULL, &a, 1) != 0)) {
      fl_array_unref(turned);
      return no_memory(h, e);
    }
    fl_transpose_bytes(h->ctx, a->data, turned->data, a->rank, a->dims, fl_dtype_info[a->dtype].bytes);
    fl_array_unref(a);
    p->a = a = turned;
  }
  p->a = NULL;
  *result = fl_io_arrays_value(h->ctx, a, p->type);
  return true;
}

static bool fetch(Hdf5 *h, Part *parts, FlSlot *results, FlIoError *e) {
  FlBytes answer;
  int64_t bytes = 0;
  for (int32_t k = 0; k < h->job.n; k++) bytes += fl_array_bytes(parts[k].a);
  bool ok = run_child(h, fl_hdf5_fetch, bytes, &answer, e);
  for (int32_t k = 0; k < h->job.n; k++)
    if (parts[k].a->dtype != FL_TEXT) fl_buffer_end_sharing(parts[k].a->buffer);
  Answer a = {answer.at, (int64_t)answer.len};
  ok = ok && take_end(h, &a, e);
  for (int32_t k = 0; ok && k < h->job.n; k++) {
    if (parts[k].a->dtype == FL_TEXT) ok = take_texts(h, &a, parts[k].a, e);
    else settle(parts[k].a);
  }
  ok = ok && (!a.left || nonsense(h, e));
  for (int32_t k = 0; ok && k < h->job.n; k++) ok = finish(h, &parts[k], &results[k], e);
  fl_bytes_reset(&answer);
  return ok;
}

bool fl_hdf5_read(FlCtx *ctx, const char *path, bool matlab, const char *const *names, int32_t n,
                  const FlType1 *types, FlSlot *results, FlIoError *e) {
  Hdf5 h;
  FlIoArrays told = {0};
  Part *parts = calloc((size_t)n + 1, sizeof *parts);
  FlHdf5Wanted *wanted = calloc((size_t)n + 1, sizeof *wanted);
  bool ok = begin(&h, ctx, path, matlab, e) && ((parts && wanted) || no_memory(&h, e));
  h.job.names = names;
  h.job.n = n;
  h.job.wanted = wanted;
  ok = ok && tell(&h, &told, e) && (told.n == n || nonsense(&h, e));
  for (int32_t k = 0; ok && k < n; k++)
    ok = (strcmp(told.at[k].name, names[k]) == 0 || nonsense(&h, e)) &&
         make_part(&h, &told.at[k], types[k], &parts[k], &wanted[k], e);
  ok = ok && fetch(&h, parts, results, e);
  for (int32_t k = 0; parts && k < n; k++) fl_array_unref(parts[k].a);
  free(parts);
  free(wanted);
  fl_io_arrays_reset(&told);
  return end(&h, ok, e);
}

/* ---- the operator ------------------------------------------------------------------------------------- */

bool fl_io_hdf5_arrays(const char *path, FlIoArrays *out, FlIoError *e) {
  return fl_hdf5_arrays(path, false, out, e);
}

static bool read_hdf5(FlCtx *ctx, const char *path, const FlArraysWanted *w, FlIoError *e) {
  return fl_hdf5_read(ctx, path, false, w->names, w->n, w->types, w->values, e);
}

FlStatus fl_rt_read_hdf5(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_read_arrays(ctx, desc, args, results, read_hdf5);
}
