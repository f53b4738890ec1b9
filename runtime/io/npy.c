/* npy.c: one array from and to an NPY file (numpy.lib.format, versions 1 to 3); its times: npy_time.c.
 *
 * file := "\x93NUMPY" major:u8 minor:u8 length:u16le (u32le from version 2) header data
 * header := "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }" and blanks, ending with a line end
 *
 * What always holds: nothing is allocated before the sizes in the header were checked against the file's; an
 * element is read exactly or widened without loss (integers to wider ones and to f64, f32 to f64); a time
 * that is missing is null, or an error. */
#include "io/arrays.h"
#include "io/npy.h"
#include "data/data.h"
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FL_NPY_HEADER_MAX = 1 << 16, FL_NPY_PIECE = 1 << 18 };

/* ---- the header --------------------------------------------------------------------------------------- */

typedef struct FlScanner {
  const char *at, *end;
} FlScanner;

static void skip_blanks(FlScanner *s) {
  while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t')) s->at++;
}

static bool take(FlScanner *s, const char *word) {
  skip_blanks(s);
  size_t n = strlen(word);
  if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0) return false;
  s->at += n;
  return true;
}

static bool take_text(FlScanner *s, char *out, size_t room) {
  skip_blanks(s);
  if (s->at == s->end || (*s->at != '\'' && *s->at != '"')) return false;
  char quote = *s->at++;
  size_t n = 0;
  for (; s->at < s->end && *s->at != quote; s->at++) {
    if (n + 1 >= room) return false;
    out[n++] = *s->at;
  }
  out[n] = 0;
  return s->at++ < s->end;
}

static bool take_size(FlScanner *s, int64_t *out) {
  skip_blanks(s);
  int64_t x = 0;
  const char *begin = s->at;
  for (; s->at < s->end && (unsigned char)(*s->at - '0') < 10; s->at++) {
    if (__builtin_mul_overflow(x, (int64_t)10, &x) || __builtin_add_overflow(x, (int64_t)(*s->at - '0'), &x))
      return false;
  }
  *out = x;
  return s->at > begin;
}

static bool take_shape(FlScanner *s, FlNpy *h) {
  h->rank = 0;
  if (!take(s, "(")) return false;
  while (!take(s, ")")) {
    if (h->rank == FL_MAX_RANK || !take_size(s, &h->dims[h->rank++])) return false;
    if (!take(s, ",")) return take(s, ")");
  }
  return true;
}

/* U12: 12 code points of 4 bytes; S12: 12 bytes. */
static bool take_text_type(const char *text, FlNpy *h) {
  FlScanner s = {text + 1, text + strlen(text)};
  int64_t n;
  h->unit = *text == 'U' ? 4 : 1;
  if (*s.at == ' ' || !take_size(&s, &n) || s.at != s.end || n > INT32_MAX / 4) return false;
  h->dtype = FL_TEXT;
  h->size = (int32_t)n * h->unit;
  return true;
}

/* *why: of types that flow might have what is wrong with this one; else NULL. */
static bool take_type(const char *text, FlNpy *h, const char **why) {
  static const struct {
    const char *code;
    FlDtype dtype;
    int32_t size;
  } types[] = {{"b1", FL_BOOL, 1}, {"i1", FL_I8, 1},  {"i2", FL_I16, 2}, {"i4", FL_I32, 4},
               {"i8", FL_I64, 8},  {"u1", FL_U8, 1},  {"u2", FL_U16, 2}, {"u4", FL_U32, 4},
               {"u8", FL_U64, 8},  {"f4", FL_F32, 4}, {"f8", FL_F64, 8}};
  *why = NULL;
  if (!*text || !strchr("<>|=", *text)) return false;
  h->big_endian = *text == '>';
  if (text[1] == 'M' || text[1] == 'm') return fl_npy_time_type(text + 1, h, why);
  if (text[1] == 'U' || text[1] == 'S') return take_text_type(text + 1, h);
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    if (strcmp(text + 1, types[k].code) != 0) continue;
    h->dtype = types[k].dtype;
    h->size = types[k].size;
    return true;
  }
  return false;
}

static bool bad_header(const char *path, const char *what, FlIoError *e) {
  return fl_io_error(e, FL_E_NPY, "`%s` is not an NPY file that can be read: %s", path, what);
}

static bool parse_header(const char *path, const char *text, int64_t len, FlNpy *h, FlIoError *e) {
  FlScanner s = {text, text + len};
  bool descr = false, order = false, shape = false;
  char key[32], type[64] = "";
  const char *why;
  if (!take(&s, "{")) return bad_header(path, "its header is damaged", e);
  while (!take(&s, "}")) {
    if (!take_text(&s, key, sizeof key) || !take(&s, ":"))
      return bad_header(path, "its header is damaged", e);
    bool ok = false;
    if (strcmp(key, "descr") == 0 && !descr) {
      descr = ok = take_text(&s, type, sizeof type);
      if (!ok) return bad_header(path, "its elements are records, or their type is too long", e);
    } else if (strcmp(key, "fortran_order") == 0 && !order) {
      h->fortran = take(&s, "True");
      order = ok = h->fortran || take(&s, "False");
    } else if (strcmp(key, "shape") == 0 && !shape) {
      shape = ok = take_shape(&s, h);
      if (!ok) return bad_header(path, "its shape is damaged, or has more than 8 dimensions", e);
    }
    if (!ok) return bad_header(path, "its header is damaged", e);
    if (!take(&s, ",") && !(s.at < s.end && *s.at == '}'))
      return bad_header(path, "its header is damaged", e);
  }
  if (!descr || !order || !shape)
    return bad_header(path, "its header lacks the type, the order or the shape", e);
  for (char *c = type; *c; c++) {
    if (*c < ' ' || *c > '~') *c = '?';
  }
  snprintf(h->type, sizeof h->type, "%s", type);
  if (!take_type(type, h, &why)) {
    fl_io_error(e, FL_E_NPY, "`%s` has elements of a type that flow does not have: `%s`", path, type);
    if (why) fl_io_help(e, "%s", why);
    else
      fl_io_help(e, "in Python: numpy.save(path, x.astype(\"f8\")) for numbers, x.astype(\"U\") for texts");
    return false;
  }
  return true;
}

bool fl_npy_bytes(const FlNpySource *from, void *to, int64_t n, int64_t at) {
  char *bytes = to;
  if (from->bytes) {
    if (at > from->size || n > from->size - at) return false;
    if (n) memcpy(to, from->bytes + at, (size_t)n);
    return true;
  }
  while (n) {
    ssize_t got = pread(from->fd, bytes, (size_t)n, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    at += got;
    n -= got;
  }
  return true;
}

static uint64_t load_bits(const unsigned char *p, int32_t size, bool big_endian) {
  uint64_t x = 0;
  for (int32_t k = 0; k < size; k++) x |= (uint64_t)p[big_endian ? size - 1 - k : k] << (8 * k);
  return x;
}

static bool check_size(const char *path, FlNpy *h, int64_t file_size, FlIoError *e) {
  int64_t bytes = h->size;
  bool empty = false, fits = true;
  h->count = 1;
  for (int32_t k = 0; k < h->rank; k++) empty |= h->dims[k] == 0;
  for (int32_t k = 0; fits && k < h->rank; k++) { /* an empty one has no bytes, but its rows are counted */
    int64_t size = h->dims[k] ? h->dims[k] : 1;
    fits = !__builtin_mul_overflow(h->count, size, &h->count) &&
           (empty || !__builtin_mul_overflow(bytes, size, &bytes));
  }
  if (empty) h->count = bytes = 0;
  fits = fits && (h->size || h->count <= file_size); /* texts without any room: no more than bytes */
  if (fits && bytes <= file_size - h->data) return true;
  return bad_header(
      path, fits ? "it is shorter than its header says" : "no array is as large as its header says", e);
}

bool fl_npy_header(const char *path, const FlNpySource *from, FlNpy *h, FlIoError *e) {
  unsigned char start[12];
  int64_t file_size = from->size;
  memset(h, 0, sizeof *h);
  if (file_size < 12 || !fl_npy_bytes(from, start, 12, 0) || memcmp(start, "\x93NUMPY", 6) != 0)
    return bad_header(path, "it does not begin with the mark of such files", e);
  if (start[6] < 1 || start[6] > 3) return bad_header(path, "its version is unknown", e);
  bool wide = start[6] >= 2;
  int64_t len = start[8] | start[9] << 8;
  if (wide) len |= (int64_t)start[10] << 16 | (int64_t)start[11] << 24;
  int64_t at = wide ? 12 : 10;
  if (len > FL_NPY_HEADER_MAX || len > file_size - at)
    return bad_header(path, "its header is longer than the file", e);
  char *text = malloc((size_t)len + 1);
  if (!text) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  bool ok = fl_npy_bytes(from, text, len, at) || bad_header(path, "it cannot be read", e);
  h->data = at + len;
  ok = ok && parse_header(path, text, len, h, e) && check_size(path, h, file_size, e);
  free(text);
  return ok;
}

bool fl_npy_has_nat(const FlNpySource *from, const FlNpy *h) {
  unsigned char some[1 << 15];
  if (fl_dtype_info[h->dtype].kind != FL_KIND_TIME) return false;
  int64_t bytes = h->count * 8 < FL_NPY_LOOK ? h->count * 8 : FL_NPY_LOOK;
  for (int64_t at = 0, n; at < bytes; at += n) {
    n = bytes - at < (int64_t)sizeof some ? bytes - at : (int64_t)sizeof some;
    if (!fl_npy_bytes(from, some, n, h->data + at)) return false; /* what is there is looked at */
    for (int64_t k = 0; k < n; k += 8)
      if (load_bits(some + k, 8, h->big_endian) == (uint64_t)INT64_MIN) return true;
  }
  return false;
}

bool fl_io_npy_type(const char *path, FlIoArray *out, FlIoError *e) {
  struct stat found;
  FlNpy h;
  memset(e, 0, sizeof *e);
  int fd = fl_input_file(NULL, path, &found, e);
  if (fd < 0) return false;
  FlNpySource from = {.fd = fd, .size = found.st_size};
  bool ok = fl_npy_header(path, &from, &h, e);
  *out = (FlIoArray){.name = ""};
  if (ok) {
    *out = (FlIoArray){.name = "", .dtype = h.dtype, .rank = h.rank, .nullable = fl_npy_has_nat(&from, &h)};
    memcpy(out->dims, h.dims, sizeof h.dims);
  }
  close(fd);
  return ok;
}

bool fl_io_npy_arrays(const char *path, FlIoArrays *out, FlIoError *e) {
  FlIoArray a;
  *out = (FlIoArrays){0};
  if (!fl_io_npy_type(path, &a, e)) return false;
  if (!fl_io_arrays_add(out, "", a.dtype, a.rank, a.dims, NULL))
    return fl_io_error(e, FL_E_MEMORY, "out of memory");
  out->at[0].nullable = a.nullable;
  return true;
}

/* ---- the elements ------------------------------------------------------------------------------------- */

typedef struct FlNpyReading {
  const FlNpySource *from;
  const FlNpy *h;
  FlArray *out;
  uint8_t *valid;         /* NULL: no element may be missing */
  _Atomic bool changed;   /* the file became shorter or cannot be read */
  _Atomic int64_t misfit; /* the first element that does not fit, or the number of all */
} FlNpyReading;

/* One element of the file as the array's type. */
static FlNpyFit store_element(const FlNpy *h, const unsigned char *p, FlArray *out, int64_t at) {
  uint64_t bits = load_bits(p, h->size, h->big_endian);
  FlKind kind = fl_dtype_info[h->dtype].kind;
  FlNpyFit fit = FL_NPY_FITS;
  int shift = 64 - 8 * h->size;
  int64_t i = kind == FL_KIND_SIGNED ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
  if (kind == FL_KIND_BOOL) i = bits != 0;
  if (kind == FL_KIND_TIME) fit = fl_npy_time(h, i, &i);
  if (out->dtype == FL_F64) {
    double x;
    if (h->dtype == FL_F64) {
      memcpy(&x, &bits, 8);
    } else if (h->dtype == FL_F32) {
      uint32_t low = (uint32_t)bits;
      float f;
      memcpy(&f, &low, 4);
      x = (double)f;
    } else {
      x = kind == FL_KIND_UNSIGNED ? (double)bits : (double)i;
    }
    ((double *)out->data)[at] = x;
    return fit;
  }
  int32_t size = fl_dtype_info[out->dtype].bytes;
  memcpy((char *)out->data + at * size, &i, (size_t)size); /* little-endian: the low bytes */
  return fit;
}

int64_t fl_npy_place(const FlNpy *h, int64_t k) {
  if (!h->fortran) return k;
  int64_t at = 0, stride = 1, index[FL_MAX_RANK];
  for (int32_t d = 0; d < h->rank; d++) {
    index[d] = k % h->dims[d];
    k /= h->dims[d];
  }
  for (int32_t d = h->rank - 1; d >= 0; d--) {
    at += index[d] * stride;
    stride *= h->dims[d];
  }
  return at;
}

static void note_misfit(FlNpyReading *r, int64_t k) {
  int64_t first = atomic_load_explicit(&r->misfit, memory_order_relaxed);
  while (k < first && !atomic_compare_exchange_weak_explicit(&r->misfit, &first, k, memory_order_relaxed,
                                                             memory_order_relaxed)) {}
}

bool fl_npy_is_plain(const FlNpy *h, FlDtype dtype) {
  return !h->fortran && !h->big_endian && h->dtype == dtype && h->dtype != FL_BOOL && h->dtype != FL_TEXT &&
         fl_dtype_info[h->dtype].kind != FL_KIND_TIME && h->size == fl_dtype_info[h->dtype].bytes;
}

static void read_pieces(void *env, int64_t begin, int64_t end, int worker) {
  FlNpyReading *r = env;
  (void)worker;
  const FlNpy *h = r->h;
  int64_t from = begin * FL_NPY_PIECE, to = end * FL_NPY_PIECE < h->count ? end * FL_NPY_PIECE : h->count;
  bool ok = true, fits = true;
  if (fl_npy_is_plain(h, (FlDtype)r->out->dtype)) {
    char *at = (char *)r->out->data + from * h->size;
    ok = fl_npy_bytes(r->from, at, (to - from) * h->size, h->data + from * h->size);
    if (r->valid) memset(r->valid + from, 1, (size_t)(to - from));
  } else {
    unsigned char some[4096];
    int64_t step = (int64_t)sizeof some / h->size;
    for (int64_t k = from; ok && fits && k < to; k += step) {
      int64_t n = to - k < step ? to - k : step;
      ok = fl_npy_bytes(r->from, some, n * h->size, h->data + k * h->size);
      for (int64_t j = 0; ok && fits && j < n; j++) {
        int64_t place = fl_npy_place(h, k + j);
        FlNpyFit fit = store_element(h, some + j * h->size, r->out, place);
        if (r->valid) r->valid[place] = fit != FL_NPY_NAT;
        fits = fit == FL_NPY_FITS || (fit == FL_NPY_NAT && r->valid);
        if (!fits) note_misfit(r, k + j);
      }
    }
  }
  if (!ok)
    atomic_store_explicit(&r->changed, true, memory_order_relaxed); /* read after the loop has joined */
}

bool fl_io_widens(FlDtype from, FlDtype to) {
  FlKind a = fl_dtype_info[from].kind, b = fl_dtype_info[to].kind;
  int32_t n = fl_dtype_info[from].bytes, m = fl_dtype_info[to].bytes;
  if (from == to) return true;
  if (to == FL_F64) return a == FL_KIND_SIGNED || a == FL_KIND_UNSIGNED || a == FL_KIND_FLOAT;
  if (a == b) return (a == FL_KIND_SIGNED || a == FL_KIND_UNSIGNED) && n < m;
  return a == FL_KIND_UNSIGNED && b == FL_KIND_SIGNED && n < m;
}

static bool check_type(const char *path, const FlNpy *h, FlType1 want, FlIoError *e) {
  const char *has = fl_dtype_info[h->dtype].name, *wants = fl_dtype_info[want.dtype].name;
  if (h->rank != want.rank) {
    return fl_io_error(e, FL_E_NPY_TYPE, "`%s` holds an array of %d dimension%s, but one of %d is wanted",
                       path, h->rank, h->rank == 1 ? "" : "s", want.rank);
  }
  if (fl_io_widens(h->dtype, (FlDtype)want.dtype)) return true;
  fl_io_error(e, FL_E_NPY_TYPE, "`%s` holds an array of %s, but one of %s is wanted", path, has, wants);
  fl_io_help(e, "read it as %s and convert: %s(x)", has, wants);
  return false;
}

/* What is wrong with the first element that does not fit. */
static bool misfit(const char *path, const FlNpyReading *r, FlIoError *e) {
  unsigned char bytes[8];
  int64_t k = r->misfit, ignored;
  if (!fl_npy_bytes(r->from, bytes, 8, r->h->data + 8 * k)) return false;
  FlNpyFit why = fl_npy_time(r->h, (int64_t)load_bits(bytes, 8, r->h->big_endian), &ignored);
  fl_npy_misfit(path, r->h, k, why, e);
  return why != FL_NPY_FITS;
}

FlArray *fl_npy_array(FlCtx *ctx, const char *path, const FlNpySource *from, const FlNpy *h, FlType1 want,
                      FlArray **valid, FlIoError *e) {
  static const int64_t one = 1;
  FlNpyReading r = {.from = from, .h = h, .misfit = h->count};
  int32_t rank = want.rank ? want.rank : 1;
  if (!check_type(path, h, want, e)) return NULL;
  r.out = fl_array_new(ctx, want.dtype, rank, want.rank ? h->dims : &one);
  if (valid) *valid = fl_io_all_valid(ctx, rank, want.rank ? h->dims : &one);
  bool ok =
      (r.out && (!valid || *valid)) || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  if (ok && h->dtype == FL_TEXT) {
    memset(r.out->data, 0, (size_t)fl_array_bytes(r.out));
    ok = fl_npy_texts(ctx, path, from, h, r.out, e);
  } else if (ok) {
    if (valid) r.valid = (*valid)->data;
    fl_parallel_for(ctx, (h->count + FL_NPY_PIECE - 1) / FL_NPY_PIECE, 1, read_pieces, &r);
    ok = !r.changed && r.misfit == h->count;
    if (!ok && (r.changed || !misfit(path, &r, e)))
      fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", path);
  }
  if (ok) return r.out;
  fl_array_unref(r.out);
  if (valid) fl_array_unref(*valid);
  return NULL;
}

/* An FlTakeFn. */
static bool read_npy(FlCtx *ctx, const FlOpDesc *desc, const char *path, FlSlot *results, FlIoError *e) {
  FlType1 want = desc->result_types[0];
  struct stat before, after;
  FlNpy h;
  int fd = fl_input_file(ctx, path, &before, e);
  if (fd < 0) return false;
  FlNpySource from = {.fd = fd, .size = before.st_size};
  bool nullable = desc->n_results > 1;
  FlArray *valid = NULL, *out = NULL;
  if (fl_npy_header(path, &from, &h, e)) {
    if (!nullable) out = fl_npy_mapped(ctx, path, &before, &h, want, e);
    if (!out && !e->code) out = fl_npy_array(ctx, path, &from, &h, want, nullable ? &valid : NULL, e);
  }
  if (out && (fstat(fd, &after) != 0 || !fl_input_same(&before, &after))) {
    fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", path);
    fl_array_unref(out);
    fl_array_unref(valid);
    out = NULL;
  }
  close(fd);
  results[0].a = out;
  if (nullable) results[1].a = valid;
  return out != NULL;
}

FlStatus fl_rt_read_npy(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_io_read_file(ctx, desc, args[0].t, read_npy, results);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static const char *code_of(int32_t dtype) {
  switch ((FlDtype)dtype) {
  case FL_BOOL: return "|b1";
  case FL_I8: return "|i1";
  case FL_I16: return "<i2";
  case FL_I32: return "<i4";
  case FL_I64: return "<i8";
  case FL_U8: return "|u1";
  case FL_U16: return "<u2";
  case FL_U32: return "<u4";
  case FL_U64: return "<u8";
  case FL_F32: return "<f4";
  case FL_F64: return "<f8";
  case FL_DATE: return "<M8[D]";
  case FL_DATETIME: return "<M8[us]";
  case FL_DURATION: return "<m8[us]";
  case FL_TEXT: return "<U";
  case FL_ANY_DECIMAL: /* has no type there: the compiler refuses it */
  case FL_FILE:
  case FL_CATEGORY:
  case FL_LIST:
  case FL_N_DTYPES: break;
  }
  return NULL;
}

static bool write_data(FlOutput *out, const FlArray *a, int64_t n, int64_t width, FlIoError *e) {
  if (a->dtype == FL_TEXT) return fl_npy_put_texts(out, a->data, n, width, e);
  if (a->dtype != FL_DATE)
    return fl_output_write(out, a->data, (size_t)(n * fl_dtype_info[a->dtype].bytes), e);
  int64_t some[1024];
  const int32_t *days = a->data;
  for (int64_t k = 0; k < n; k += 1024) {
    int64_t m = n - k < 1024 ? n - k : 1024;
    for (int64_t j = 0; j < m; j++) some[j] = days[k + j];
    if (!fl_output_write(out, some, (size_t)m * sizeof *some, e)) return false;
  }
  return true;
}

bool fl_npy_put(FlOutput *out, const FlArray *a, int32_t rank, FlIoError *e) {
  const char *code = code_of(a->dtype);
  if (!code)
    return fl_io_error(e, FL_E_WRITE, "an array of %s cannot be an NPY file", fl_dtype_info[a->dtype].name);
  char head[512], length[24] = "";
  int64_t count = rank ? fl_array_count(a) : 1;
  int64_t width = a->dtype == FL_TEXT ? fl_npy_text_width(a->data, count) : 0;
  if (width) (void)snprintf(length, sizeof length, "%lld", (long long)width);
  int n = 10 + snprintf(head + 10, 400, "{'descr': '%s%s', 'fortran_order': False, 'shape': (", code, length);
  for (int32_t k = 0; k < rank; k++) n += snprintf(head + n, 40, "%lld, ", (long long)a->dims[k]);
  n += snprintf(head + n, 40, "), }");
  int padded = (n + 1 + 63) / 64 * 64;
  memset(head + n, ' ', (size_t)(padded - n));
  head[padded - 1] = '\n';
  memcpy(head, "\x93NUMPY\x01\x00", 8);
  head[8] = (char)((padded - 10) & 0xff);
  head[9] = (char)((padded - 10) >> 8);
  return fl_output_write(out, head, (size_t)padded, e) && write_data(out, a, count, width, e);
}

/* An FlPutFn of an array. */
static bool put_npy(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  const FlArray *a = what;
  (void)ctx;
  return fl_npy_put(out, a, a->rank, e);
}

/* An FlPutFn of the elements of an array of numbers alone. */
static bool put_bytes(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  const FlArray *a = what;
  (void)ctx;
  return write_data(out, a, fl_array_count(a), 0, e);
}

FlStatus fl_rt_write_npy(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  return fl_io_write_file(ctx, desc, args[0].t, desc->i != 0 ? put_bytes : put_npy, args[1].a);
}
