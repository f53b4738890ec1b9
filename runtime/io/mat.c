/* mat.c: MATLAB files as named arrays, and the operator read_mat.
 *
 *   file    := text:116 0:8 version:u16 order:u16 element*            version 0x0100; 0x0200 is an HDF5 file
 *   element := type:u32 size:u32 data:size, filled up to 8 bytes      or size:u16 type:u16 data:4, for up to
 * 4 data    := of type 14, a matrix: elements flags, dims, name, real part, ...; of 15: a zlib stream of a
 * matrix
 *
 * Source: MAT-File Format, MathWorks, chapter 1. What always holds: an element lies within what holds it; a
 * matrix is no larger than a thousand times what it is packed in; a value is read exactly. */
#include "io/hdf5_internal.h"
#include "io/mat_internal.h"
#include "io/npy.h"
#include "data/data.h"
#include "exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { FL_HEAD = 128, FL_RATIO = 1032, FL_BEGINNING = 4096, FL_PIECE = 1 << 14 };

uint64_t fl_mat_load(const char *at, int bytes, bool big) {
  uint64_t v = 0;
  for (int k = 0; k < bytes; k++) v |= (uint64_t)(unsigned char)at[big ? bytes - 1 - k : k] << (8 * k);
  return v;
}

bool fl_mat_element(FlMatBytes from, bool partly, FlMatElement *out) {
  if (from.n < 8) return false;
  uint32_t first = (uint32_t)fl_mat_load(from.at, 4, from.big),
           n = (uint32_t)fl_mat_load(from.at + 4, 4, from.big);
  if (first >> 16) { /* the small form */
    *out = (FlMatElement){first & 0xffff, {from.at + 4, first >> 16, from.big}, 8};
    return out->data.n <= 4;
  }
  *out = (FlMatElement){first, {from.at + 8, n, from.big}, 8 + (int64_t)n};
  if (first != FL_MAT_PACKED) out->whole = (out->whole + 7) / 8 * 8;
  if ((int64_t)n <= from.n - 8) return true;
  out->data.n = from.n - 8;
  return partly;
}

FlMatBytes fl_mat_behind(FlMatBytes from, const FlMatElement *e) {
  int64_t n = e->whole < from.n ? e->whole : from.n;
  return (FlMatBytes){from.at + n, from.n - n, from.big};
}

/* ---- matrices ----------------------------------------------------------------------------------------- */

/* Sets form and dtype. */
static void find_class(FlMatrix *m, uint64_t flags) {
  static const FlDtype classes[] = {FL_F64, FL_F32, FL_I8,  FL_U8,  FL_I16,
                                    FL_U16, FL_I32, FL_U32, FL_I64, FL_U64};
  uint64_t class = flags & 0xff;
  bool logical = flags & 0x200, complex = flags & 0x800;
  m->form = class == 1 ? FL_MAT_CELLS : class == 4 ? FL_MAT_CHARS : FL_MAT_NUMBERS;
  if (m->form != FL_MAT_NUMBERS) m->dtype = FL_TEXT;
  else if (class < 6 || class > 15 || complex) m->dtype = FL_N_DTYPES;
  else m->dtype = logical ? FL_BOOL : classes[class - 6];
}

/* The numbers 1 to 13 of stored types; FL_N_DTYPES: none. */
static FlDtype stored_dtype(uint32_t type) {
  static const FlDtype types[] = {FL_N_DTYPES, FL_I8,       FL_U8,  FL_I16,      FL_U16,      FL_I32, FL_U32,
                                  FL_F32,      FL_N_DTYPES, FL_F64, FL_N_DTYPES, FL_N_DTYPES, FL_I64, FL_U64};
  return type < sizeof types / sizeof *types ? types[type] : FL_N_DTYPES;
}

static bool read_dims(const FlMatElement *e, FlMatrix *m) {
  int64_t n = e->data.n / 4;
  if (e->type != 5 || n < 2 || e->data.n % 4) return false;
  if (n > FL_MAX_RANK) m->dtype = FL_N_DTYPES;
  m->rank = n > FL_MAX_RANK ? 0 : (int32_t)n;
  m->count = 1;
  bool none = false;
  for (int32_t k = 0; k < m->rank; k++) {
    m->dims[k] = (int32_t)fl_mat_load(e->data.at + 4 * k, 4, e->data.big);
    if (m->dims[k] < 0) return false;
    none = none || m->dims[k] == 0;
  }
  for (int32_t k = 0; !none && k < m->rank; k++)
    if (__builtin_mul_overflow(m->count, m->dims[k], &m->count)) return false;
  if (none) m->count = 0;
  return true;
}

bool fl_mat_matrix(FlMatBytes from, bool partly, FlMatrix *m) {
  FlMatElement flags, dims, name, data;
  if (!fl_mat_element(from, false, &flags) || flags.type != 6 || flags.data.n < 8) return false;
  find_class(m, fl_mat_load(flags.data.at, 4, from.big));
  from = fl_mat_behind(from, &flags);
  if (!fl_mat_element(from, false, &dims) || !read_dims(&dims, m)) return false;
  from = fl_mat_behind(from, &dims);
  if (!fl_mat_element(from, false, &name) || name.data.n >= (int64_t)sizeof m->name) return false;
  memcpy(m->name, name.data.at, (size_t)name.data.n);
  m->name[name.data.n] = '\0';
  m->ill_named = false; /* zeros may fill it up, and then nothing follows */
  for (int64_t k = (int64_t)strlen(m->name); k < name.data.n; k++) m->ill_named |= m->name[k] != '\0';
  if (m->dtype == FL_N_DTYPES) return true;
  from = fl_mat_behind(from, &name);
  if (m->form == FL_MAT_CELLS) {
    m->data = from;
    return partly || m->count <= from.n / 8; /* each is a matrix of its own */
  }
  if (!fl_mat_element(from, partly, &data)) return m->count == 0 && from.n == 0;
  m->type = data.type;
  m->data = data.data;
  if (m->form == FL_MAT_CHARS) return true; /* mat_text.c looks at them */
  FlDtype stored = stored_dtype(data.type);
  if (stored == FL_N_DTYPES) return false;
  return partly || data.data.n / fl_dtype_info[stored].bytes >= m->count;
}

/* ---- packed matrices ---------------------------------------------------------------------------------- */

/* Unpacks up to `room` bytes; -1: damaged. Less: there are no more. whole: that is all, and the sum is right.
 */
static int64_t unpack(FlMatBytes from, char *to, int64_t room, bool *whole) {
  z_stream z = {.next_in = (Bytef *)(uintptr_t)from.at, .avail_in = (uInt)from.n};
  int64_t got = 0;
  int status = Z_OK;
  *whole = false;
  if (inflateInit(&z) != Z_OK) return -1;
  while (status == Z_OK && got < room) {
    uInt some = (uInt)(room - got < 1 << 30 ? room - got : 1 << 30);
    z.next_out = (Bytef *)to + got;
    z.avail_out = some;
    status = inflate(&z, Z_NO_FLUSH);
    got += some - z.avail_out;
  }
  if (status == Z_OK) { /* what remains is the sum */
    char none[1];
    z.next_out = (Bytef *)none;
    z.avail_out = 1;
    status = inflate(&z, Z_NO_FLUSH);
    if (z.avail_out == 0) status = Z_OK;
  }
  *whole = status == Z_STREAM_END;
  inflateEnd(&z);
  return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR ? got : -1;
}

/* ---- the file ----------------------------------------------------------------------------------------- */

typedef struct File {
  const char *path;
  FlInput in;
  bool big, hdf5;
} File;

static bool bad(const File *f, const char *what, FlIoError *e) {
  return fl_io_error(e, FL_E_HDF5, "`%s` is no MAT file that can be read: %s", f->path, what);
}

static bool no_memory(const File *f, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
}

static bool open_file(FlCtx *ctx, const char *path, File *f, FlIoError *e) {
  *f = (File){.path = path};
  if (!fl_input_open(ctx, path, &f->in, e)) return false;
  const char *s = f->in.data;
  if (f->in.size == 0) return fl_io_error(e, FL_E_EMPTY, "`%s` is empty", path);
  if (f->in.size < FL_HEAD || memcmp(s, "MATLAB", 6) != 0)
    return bad(f, "it does not begin as one of version 5 or later", e);
  f->big = memcmp(s + 126, "MI", 2) == 0;
  uint64_t version = fl_mat_load(s + 124, 2, f->big);
  if (!f->big && memcmp(s + 126, "IM", 2) != 0) return bad(f, "its header is damaged", e);
  f->hdf5 = version == 0x0200;
  return f->hdf5 || version == 0x0100 || bad(f, "its version is unknown", e);
}

/* The next matrix behind *at; whole: all of it, in memory of its own in *own (NULL: it is in the file), which
 * counts against --memory. 1: there is one; 0: the file ends; -1: e. */
static int next_matrix(FlCtx *ctx, const File *f, int64_t *at, bool whole, FlMatrix *m, FlBuffer **own,
                       FlIoError *e) {
  char beginning[FL_BEGINNING];
  FlMatElement outer, inner;
  FlMatBytes rest = {f->in.data + *at, f->in.size - *at, f->big};
  *own = NULL;
  *m = (FlMatrix){.dtype = FL_N_DTYPES};
  if (rest.n <= 0) return 0;
  if (!fl_mat_element(rest, false, &outer)) return bad(f, "it is cut off", e) - 1;
  *at += outer.whole;
  if (outer.type == FL_MAT_MATRIX) {
    if (fl_mat_matrix(outer.data, false, m)) return 1;
    return bad(f, "a variable is damaged", e) - 1;
  }
  if (outer.type != FL_MAT_PACKED) return 1; /* what has no name */
  bool ended;
  int64_t got = unpack(outer.data, beginning, sizeof beginning, &ended);
  FlMatBytes begins = {beginning, got, f->big};
  if (got < 0 || !fl_mat_element(begins, true, &inner)) return bad(f, "a variable is damaged", e) - 1;
  if (inner.type != FL_MAT_MATRIX) return 1;
  if (!whole) {
    if (fl_mat_matrix(inner.data, !ended, m)) return 1;
    return bad(f, "a variable is damaged", e) - 1;
  }
  if (inner.whole > (outer.data.n + 1) * FL_RATIO)
    return bad(f, "a variable is larger than it can be", e) - 1;
  *own = fl_buffer_new(ctx, inner.whole + 8);
  if (!*own) return no_memory(f, e) - 1;
  got = unpack(outer.data, (*own)->data, inner.whole, &ended);
  if (ended && fl_mat_element((FlMatBytes){(*own)->data, got, f->big}, false, &inner) &&
      fl_mat_matrix(inner.data, false, m))
    return 1;
  fl_buffer_unref(*own);
  *own = NULL;
  return bad(f, "a variable is damaged", e) - 1;
}

/* Adds a variable; `here`: where it is, to be read whole when it holds texts, which show then whether they
 * are some. */
static bool add_matrix(const File *f, int64_t here, const FlMatrix *m, FlIoArrays *out, FlIoError *e) {
  FlMatrix all;
  FlBuffer *own = NULL;
  int32_t rank = m->rank;
  int64_t dims[FL_MAX_RANK];
  const char *why = m->dtype == FL_N_DTYPES ? "it is no array of real numbers or texts" : NULL;
  memcpy(dims, m->dims, sizeof dims);
  const int64_t len = (int64_t)strlen(m->name);
  if (m->ill_named || fl_utf8_check(m->name, len) != len)
    return bad(f, "the name of a variable is not UTF-8 text, or has a zero byte", e);
  if (!len) return true; /* not for people */
  for (int32_t k = 0; k < out->n; k++)
    if (strcmp(out->at[k].name, m->name) == 0)
      return fl_io_error(e, FL_E_HDF5, "two variables of `%s` are called `%.100s`", f->path, m->name);
  if (m->dtype == FL_TEXT) {
    if (next_matrix(NULL, f, &here, true, &all, &own, e) < 0) return false;
    why = fl_mat_text_shape(&all, &rank, dims);
    fl_buffer_unref(own);
  }
  return fl_io_arrays_add(out, m->name, why ? FL_N_DTYPES : m->dtype, why ? 0 : rank, dims, why) ||
         no_memory(f, e);
}

static bool list(const File *f, FlIoArrays *out, FlIoError *e) {
  int64_t at = FL_HEAD, here = at;
  FlMatrix m;
  FlBuffer *own;
  for (int got; (got = next_matrix(NULL, f, &at, false, &m, &own, e)) != 0; here = at)
    if (got < 0 || !add_matrix(f, here, &m, out, e)) return false;
  return out->n || fl_io_error(e, FL_E_EMPTY, "`%s` holds no variables", f->path);
}

bool fl_io_mat_arrays(const char *path, FlIoArrays *out, FlIoError *e) {
  File f;
  *out = (FlIoArrays){0};
  memset(e, 0, sizeof *e);
  bool ok = open_file(NULL, path, &f, e);
  bool hdf5 = ok && f.hdf5;
  ok = ok && (hdf5 || list(&f, out, e)) && fl_input_check(&f.in, path, e);
  fl_input_close(&f.in);
  if (ok && hdf5) return fl_hdf5_arrays(path, true, out, e);
  if (!ok) fl_io_arrays_reset(out);
  return ok;
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

typedef struct Numbers {
  const FlMatrix *m;
  FlDtype stored, to; /* as in the file; of the array */
  char *out;          /* in the order of the file */
  bool misfit;
} Numbers;

/* Number k as one of the wanted type; false: it is no such number. */
static bool convert(const Numbers *n, int64_t k) {
  int size = fl_dtype_info[n->stored].bytes, wide = fl_dtype_info[n->to].bytes;
  uint64_t bits = fl_mat_load(n->m->data.at + k * size, size, n->m->data.big);
  FlKind kind = fl_dtype_info[n->stored].kind;
  int shift = 64 - 8 * size;
  int64_t i = kind == FL_KIND_SIGNED ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
  double x;
  float narrow;
  uint32_t low = (uint32_t)bits;
  if (n->stored == FL_F64) memcpy(&x, &bits, 8);
  else if (n->stored == FL_F32) memcpy(&narrow, &low, 4), x = (double)narrow;
  else x = kind == FL_KIND_UNSIGNED ? (double)bits : (double)i;
  if (x != x) x = (double)NAN;
  if (n->to == FL_F64) {
    memcpy(n->out + k * 8, &x, 8);
  } else if (n->to == FL_F32) {
    narrow = (float)x;
    memcpy(n->out + k * 4, &narrow, 4);
  } else if (n->to == FL_BOOL) {
    n->out[k] = x != 0;
  } else {
    bool whole = kind != FL_KIND_FLOAT;
    int bits_to = 8 * wide;
    bool is_signed = fl_dtype_is_signed(n->to);
    bool fits =
        bits_to == 64 || (is_signed ? i >= -(INT64_C(1) << (bits_to - 1)) && i < INT64_C(1) << (bits_to - 1)
                                    : (uint64_t)i >> bits_to == 0);
    if (kind == FL_KIND_UNSIGNED && is_signed && i < 0) fits = false;
    if (kind == FL_KIND_SIGNED && !is_signed && i < 0) fits = false;
    memcpy(n->out + k * wide, &i, (size_t)wide);
    return whole && fits;
  }
  return true;
}

static void convert_pieces(void *env, int64_t begin, int64_t end, int worker) {
  Numbers *n = env;
  (void)worker;
  int64_t last = end * FL_PIECE < n->m->count ? end * FL_PIECE : n->m->count;
  for (int64_t k = begin * FL_PIECE; k < last; k++)
    if (!convert(n, k))
      __atomic_store_n(&n->misfit, true, __ATOMIC_RELAXED); /* read after the loop has joined */
}

static FlArray *take(FlCtx *ctx, const File *f, const FlMatrix *m, FlType1 type, FlIoError *e) {
  if (!fl_io_array_fits(f->path, m->name, m->dtype, m->rank, type, e)) return NULL;
  FlArray *a = fl_array_new(ctx, type.dtype, m->rank, m->dims);
  int bytes = fl_dtype_info[type.dtype].bytes;
  FlBuffer *room = fl_buffer_new(ctx, m->count * bytes);
  Numbers n = {m, stored_dtype(m->type), (FlDtype)type.dtype, room ? room->data : NULL, false};
  bool ok = (a && n.out) || no_memory(f, e);
  if (ok && m->count) {
    fl_parallel_for(ctx, (m->count + FL_PIECE - 1) / FL_PIECE, 1, convert_pieces, &n);
    fl_transpose_bytes(ctx, n.out, a->data, m->rank, m->dims, bytes);
    ok = !n.misfit || bad(f, "a variable is damaged", e);
  }
  fl_buffer_unref(room);
  if (ok) return a;
  fl_array_unref(a);
  return NULL;
}

static bool read_one(FlCtx *ctx, const File *f, const char *name, FlType1 type, FlSlot *result,
                     FlIoError *e) {
  int64_t at = FL_HEAD;
  FlMatrix m;
  FlBuffer *own;
  for (int got;;) {
    int64_t here = at;
    if ((got = next_matrix(ctx, f, &at, false, &m, &own, e)) < 0) return false;
    if (got == 0) break;
    if (strcmp(m.name, name) != 0) continue;
    if (m.dtype == FL_N_DTYPES)
      return fl_io_error(e, FL_E_NO_ARRAY, "`%s` of `%s` is no array of real numbers or texts", name,
                         f->path);
    if (next_matrix(ctx, f, &here, true, &m, &own, e) < 0) return false;
    FlArray *a = m.dtype == FL_TEXT ? fl_mat_texts(ctx, f->path, &m, type, e) : take(ctx, f, &m, type, e);
    fl_buffer_unref(own);
    if (a) *result = fl_io_arrays_value(ctx, a, type);
    return a != NULL;
  }
  FlIoArrays all = {0};
  FlIoError ignored;
  const char **names = list(f, &all, &ignored) ? malloc((size_t)all.n * sizeof *names) : NULL;
  for (int32_t k = 0; names && k < all.n; k++) names[k] = all.at[k].name;
  fl_io_no_array(f->path, name, names, names ? all.n : 0, e);
  free(names);
  fl_io_arrays_reset(&all);
  return false;
}

static bool read_mat(FlCtx *ctx, const char *path, const FlArraysWanted *w, FlIoError *e) {
  File f;
  bool ok = open_file(ctx, path, &f, e);
  bool hdf5 = ok && f.hdf5;
  for (int32_t k = 0; ok && !hdf5 && k < w->n; k++) {
    ok = w->types[k].rank || w->types[k].dtype == FL_TEXT ||
         fl_io_error(e, FL_E_NPY_TYPE,
                     "`%s` of `%s` is an array, but a single value is wanted: every "
                     "variable of MATLAB has two dimensions or more",
                     w->names[k], path);
    ok = ok && read_one(ctx, &f, w->names[k], w->types[k], &w->values[k], e);
  }
  ok = ok && fl_input_check(&f.in, path, e);
  fl_input_close(&f.in);
  return ok && (!hdf5 || fl_hdf5_read(ctx, path, true, w->names, w->n, w->types, w->values, e));
}

FlStatus fl_rt_read_mat(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_read_arrays(ctx, desc, args, results, read_mat);
}
