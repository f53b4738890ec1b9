/* hdf5.c: HDF5 files as named arrays, by libhdf5; see hdf5_internal.h. And the operator read_hdf5.
 *
 * What always holds: nothing outside of the file is read (external links and storage, virtual datasets) and
 * no filter is loaded from elsewhere; one thread of a run is in the library at a time, which has no locks of
 * its own; sizes are checked against the file's before memory is asked for. */
#include "io/hdf5_internal.h"
#include "io/opened.h"
#include "data/data.h"
#include "data/value_type.h"
#include "exec/exec.h"

#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FL_RATIO = 2000, FL_READ_ONLY = 0 }; /* H5F_ACC_RDONLY, without the call in it */

typedef struct Hdf5Api {
#define FL_SYMBOL(name) __typeof__(&H5##name) name;
#include "io/hdf5.def"
#undef FL_SYMBOL
  const hid_t *native[FL_N_DTYPES]; /* the types of memory; NULL: none */
} Hdf5Api;

typedef struct Hdf5 {
  Hdf5Api api;
  FlFiles *files; /* locked; NULL: there is one thread */
  const char *path;
  bool matlab;
  hid_t file;
  struct stat found;
} Hdf5;

static bool bad(const Hdf5 *h, const char *what, FlIoError *e) {
  return fl_io_error(e, FL_E_HDF5, "`%s` is no %s file that can be read: %s", h->path,
                     h->matlab ? "MAT" : "HDF5", what);
}

static bool no_memory(const Hdf5 *h, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", h->path);
}

/* ---- the library and the file ------------------------------------------------------------------------- */

static bool open_api(Hdf5Api *api, FlIoError *e) {
  const FlOpenedSymbol symbols[] = {
#define FL_SYMBOL(name) {"H5" #name, &api->name},
#include "io/hdf5.def"
#undef FL_SYMBOL
      {"H5T_NATIVE_INT8_g", &api->native[FL_I8]},    {"H5T_NATIVE_INT16_g", &api->native[FL_I16]},
      {"H5T_NATIVE_INT32_g", &api->native[FL_I32]},  {"H5T_NATIVE_INT64_g", &api->native[FL_I64]},
      {"H5T_NATIVE_UINT8_g", &api->native[FL_U8]},   {"H5T_NATIVE_UINT16_g", &api->native[FL_U16]},
      {"H5T_NATIVE_UINT32_g", &api->native[FL_U32]}, {"H5T_NATIVE_UINT64_g", &api->native[FL_U64]},
      {"H5T_NATIVE_FLOAT_g", &api->native[FL_F32]},  {"H5T_NATIVE_DOUBLE_g", &api->native[FL_F64]}};
  memset(api, 0, sizeof *api);
  return fl_io_open_library("libhdf5_serial.so.103", "libhdf5-103-1", "reading HDF5 files", symbols,
                            sizeof symbols / sizeof *symbols, e);
}

static bool open_file(Hdf5 *h, FlIoError *e) {
  char magic[8] = "", matlab[8] = "";
  int fd = fl_input_fd(h->path, &h->found, e);
  if (fd < 0) return false;
  ssize_t n = pread(fd, magic, sizeof magic, 0), m = pread(fd, matlab, sizeof matlab, 512);
  close(fd);
  if (n == 0) return fl_io_error(e, FL_E_EMPTY, "`%s` is empty", h->path);
  static const char mark[] = "\x89HDF\r\n\x1a\n";
  if (!(n == 8 && memcmp(magic, mark, 8) == 0) && !(m == 8 && memcmp(matlab, mark, 8) == 0))
    return bad(h, "it does not begin as one", e);
  if (!open_api(&h->api, e)) return false;
  if (h->api.open() < 0 || h->api.Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0 ||
      h->api.PLset_loading_state(0) < 0)
    return bad(h, "its library does not start", e);
  h->file = h->api.Fopen(h->path, FL_READ_ONLY, H5P_DEFAULT);
  return h->file >= 0 || bad(h, "it is damaged or cut off", e);
}

static bool begin(Hdf5 *h, FlCtx *ctx, const char *path, bool matlab, FlIoError *e) {
  *h = (Hdf5){.path = path, .matlab = matlab, .file = -1, .files = ctx ? fl_ctx_files(ctx) : NULL};
  fl_files_lock_library(h->files);
  return open_file(h, e);
}

static bool end(Hdf5 *h, bool ok, FlIoError *e) {
  struct stat now;
  if (h->file >= 0) h->api.Fclose(h->file);
  fl_files_unlock_library(h->files);
  if (ok && (stat(h->path, &now) != 0 || !fl_input_same(&h->found, &now)))
    return fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", h->path);
  return ok;
}

/* ---- datasets ----------------------------------------------------------------------------------------- */

/* An open dataset. */
typedef struct Dataset {
  hid_t set, type, space;
  FlDtype dtype;
  int32_t rank;
  int64_t dims[FL_MAX_RANK], count; /* as the program sees them */
} Dataset;

/* What MATLAB says that a variable is; "": nothing. */
static void matlab_class(const Hdf5 *h, hid_t set, char out[32]) {
  memset(out, 0, 32);
  if (h->api.Aexists(set, "MATLAB_class") <= 0) return;
  hid_t a = h->api.Aopen(set, "MATLAB_class", H5P_DEFAULT), type = a < 0 ? -1 : h->api.Aget_type(a);
  bool text = type >= 0 && h->api.Tget_class(type) == H5T_STRING && h->api.Tget_size(type) < 32;
  if (text && h->api.Aread(a, type, out) < 0) memset(out, 0, 32);
  if (type >= 0) h->api.Tclose(type);
  if (a >= 0) h->api.Aclose(a);
}

static FlDtype int_dtype(size_t size, bool sign) {
  static const FlDtype wide[2][4] = {{FL_U8, FL_U16, FL_U32, FL_U64}, {FL_I8, FL_I16, FL_I32, FL_I64}};
  for (int k = 0; k < 4; k++)
    if (size == (size_t)1 << k) return wide[sign][k];
  return FL_N_DTYPES;
}

static FlDtype dtype_of(const Hdf5 *h, const Dataset *d) {
  size_t size = h->api.Tget_size(d->type);
  char class[32];
  if (h->matlab) {
    matlab_class(h, d->set, class);
    if (strcmp(class, "logical") == 0) return size == 1 ? FL_BOOL : FL_N_DTYPES;
    if (strcmp(class, "char") == 0 || strcmp(class, "cell") == 0) return FL_N_DTYPES;
  }
  switch ((int)h->api.Tget_class(d->type)) {
  case H5T_INTEGER: return int_dtype(size, h->api.Tget_sign(d->type) == H5T_SGN_2);
  case H5T_FLOAT: return size <= 4 ? FL_F32 : size == 8 ? FL_F64 : FL_N_DTYPES;
  case H5T_ENUM: return size == 1 && h->api.Tget_nmembers(d->type) == 2 ? FL_BOOL : FL_N_DTYPES;
  }
  return FL_N_DTYPES;
}

static void close_dataset(const Hdf5 *h, Dataset *d) {
  if (d->space >= 0) h->api.Sclose(d->space);
  if (d->type >= 0) h->api.Tclose(d->type);
  if (d->set >= 0) h->api.Dclose(d->set);
}

/* NULL: it can be read; else why not. */
static const char *shape_of(const Hdf5 *h, Dataset *d) {
  hsize_t dims[H5S_MAX_RANK];
  int rank = h->api.Sget_simple_extent_ndims(d->space);
  if (h->api.Sget_simple_extent_type(d->space) == H5S_NULL) return "it has no elements";
  if (rank < 0 || rank > FL_MAX_RANK) return "it has more than 8 dimensions";
  if (rank && h->api.Sget_simple_extent_dims(d->space, dims, NULL) < 0) return "it is damaged";
  d->rank = rank;
  d->count = 1;
  int64_t most = h->found.st_size > INT64_MAX / FL_RATIO / 2 ? INT64_MAX / 2 : h->found.st_size * FL_RATIO;
  bool none = false;
  for (int k = 0; k < rank; k++) none = none || dims[k] == 0;
  for (int k = 0; k < rank; k++) {
    if (dims[k] > (hsize_t)INT64_MAX) return "its size is not explained by the file's";
    d->dims[h->matlab ? rank - 1 - k : k] = (int64_t)dims[k];
    if (!none && __builtin_mul_overflow(d->count, (int64_t)dims[k], &d->count))
      return "its size is not explained by the file's";
  }
  if (none) d->count = 0;
  return d->count <= most ? NULL : "its size is not explained by the file's";
}

static const char *open_dataset(const Hdf5 *h, const char *name, Dataset *d) {
  *d = (Dataset){.set = -1, .type = -1, .space = -1, .dtype = FL_N_DTYPES};
  d->set = h->api.Dopen2(h->file, name, H5P_DEFAULT);
  if (d->set < 0) return "it is damaged, or no array";
  hid_t plan = h->api.Dget_create_plist(d->set);
  bool inside = plan >= 0 && h->api.Pget_layout(plan) != H5D_VIRTUAL && h->api.Pget_external_count(plan) <= 0;
  if (plan >= 0) h->api.Pclose(plan);
  if (!inside) return "its elements are in other files";
  d->type = h->api.Dget_type(d->set);
  d->space = h->api.Dget_space(d->set);
  if (d->type < 0 || d->space < 0) return "it is damaged";
  d->dtype = dtype_of(h, d);
  if (d->dtype == FL_N_DTYPES) return "it holds no numbers";
  const char *why = shape_of(h, d);
  if (why) d->dtype = FL_N_DTYPES;
  return why;
}

/* ---- what is there ------------------------------------------------------------------------------------ */

typedef struct Listing {
  const Hdf5 *h;
  FlIoArrays *out;
  bool no_memory;
} Listing;

static herr_t add_object(hid_t file, const char *name, const H5O_info_t *info, void *env) {
  Listing *l = env;
  Dataset d;
  (void)file;
  bool own = l->h->matlab && (name[0] == '#' || strchr(name, '/')); /* what cells and structs refer to */
  if (info->type != H5O_TYPE_DATASET || own ||
      fl_utf8_check(name, (int64_t)strlen(name)) != (int64_t)strlen(name))
    return 0;
  const char *why = open_dataset(l->h, name, &d);
  l->no_memory = !fl_io_arrays_add(l->out, name, d.dtype, why ? 0 : d.rank, d.dims, why);
  close_dataset(l->h, &d);
  return l->no_memory ? -1 : 0;
}

static bool list(const Hdf5 *h, FlIoArrays *out, FlIoError *e) {
  Listing l = {.h = h, .out = out};
  herr_t got = h->api.Ovisit2(h->file, H5_INDEX_NAME, H5_ITER_INC, add_object, &l, H5O_INFO_BASIC);
  if (l.no_memory) return no_memory(h, e);
  if (got < 0) return bad(h, "it is damaged", e);
  return out->n || fl_io_error(e, FL_E_EMPTY, "`%s` holds no arrays", h->path);
}

bool fl_hdf5_arrays(const char *path, bool matlab, FlIoArrays *out, FlIoError *e) {
  Hdf5 h;
  memset(e, 0, sizeof *e);
  *out = (FlIoArrays){0};
  bool ok = begin(&h, NULL, path, matlab, e) && list(&h, out, e);
  ok = end(&h, ok, e);
  if (!ok) fl_io_arrays_reset(out);
  return ok;
}

/* ---- elements ----------------------------------------------------------------------------------------- */

/* Whether each part of a path is in the file itself: no link leads out of it. */
static bool is_inside(const Hdf5 *h, const char *name) {
  char *prefix = strdup(name);
  bool ok = prefix != NULL;
  for (char *at = prefix; ok && at;) {
    at = strchr(at, '/');
    if (at) *at = '\0';
    H5L_info_t info;
    ok = !*prefix ||
         (h->api.Lget_info(h->file, prefix, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD);
    if (at) *at++ = '/';
  }
  free(prefix);
  return ok;
}

static bool no_dataset(const Hdf5 *h, const char *name, FlIoError *e) {
  FlIoArrays all = {0};
  FlIoError ignored = {0};
  const char **names = NULL;
  if (list(h, &all, &ignored)) names = malloc((size_t)all.n * sizeof *names);
  for (int32_t k = 0; names && k < all.n; k++) names[k] = all.at[k].name;
  fl_io_no_array(h->path, name, names, names ? all.n : 0, e);
  free(names);
  fl_io_arrays_reset(&all);
  return false;
}

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

static bool read_elements(const Hdf5 *h, const Dataset *d, FlArray *to) {
  if (!d->count) return true;
  if (to->dtype != FL_BOOL)
    return h->api.Dread(d->set, *h->api.native[to->dtype], H5S_ALL, H5S_ALL, H5P_DEFAULT, to->data) >= 0;
  hid_t native = h->api.Tget_native_type(d->type, H5T_DIR_ASCEND);
  bool ok = native >= 0 && h->api.Tget_size(native) == 1 &&
            h->api.Dread(d->set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, to->data) >= 0;
  if (native >= 0) h->api.Tclose(native);
  return ok;
}

static FlArray *read_dataset(FlCtx *ctx, const Hdf5 *h, const Dataset *d, FlType1 type, FlIoError *e) {
  static const int64_t one = 1;
  int32_t rank = d->rank ? d->rank : 1;
  const int64_t *dims = d->rank ? d->dims : &one;
  FlArray *a = fl_array_new(ctx, type.dtype, rank, dims);
  bool turn = h->matlab && rank > 1;
  FlArray *turned = a && turn ? fl_array_new(ctx, type.dtype, rank, dims) : NULL;
  bool ok = (a && (turned || !turn)) || no_memory(h, e);
  ok = ok &&
       (read_elements(h, d, a) || bad(h, "an array of it is damaged, or compressed in an unusual way", e));
  if (ok) settle(a);
  if (ok && turn) fl_transpose_bytes(ctx, a->data, turned->data, rank, dims, fl_dtype_info[type.dtype].bytes);
  if (turn || !ok) fl_array_unref(a);
  if (!ok) fl_array_unref(turned);
  return !ok ? NULL : turn ? turned : a;
}

static bool read_one(FlCtx *ctx, const Hdf5 *h, const char *name, FlType1 type, FlSlot *result,
                     FlIoError *e) {
  Dataset d;
  if (!is_inside(h, name)) return no_dataset(h, name, e);
  const char *why = open_dataset(h, name, &d);
  bool ok = !why || fl_io_error(e, FL_E_NO_ARRAY, "the array `%.100s` of `%s` cannot be read: %s", name,
                                h->path, why);
  ok = ok && fl_io_array_fits(h->path, name, d.dtype, d.rank, type, e);
  FlArray *a = ok ? read_dataset(ctx, h, &d, type, e) : NULL;
  close_dataset(h, &d);
  if (!a) return false;
  if (type.rank) {
    result->a = a;
    return true;
  }
  *result = fl_array_slot(a, 0);
  fl_array_unref(a);
  return true;
}

bool fl_hdf5_read(FlCtx *ctx, const char *path, bool matlab, const char *const *names, int32_t n,
                  const FlType1 *types, FlSlot *results, FlIoError *e) {
  Hdf5 h;
  bool ok = begin(&h, ctx, path, matlab, e);
  for (int32_t k = 0; ok && k < n; k++) ok = read_one(ctx, &h, names[k], types[k], &results[k], e);
  return end(&h, ok, e);
}

/* ---- the operator ------------------------------------------------------------------------------------- */

bool fl_io_hdf5_arrays(const char *path, FlIoArrays *out, FlIoError *e) {
  return fl_hdf5_arrays(path, false, out, e);
}

static bool read_hdf5(FlCtx *ctx, const char *path, const char *const *names, int32_t n, const FlType1 *types,
                      FlSlot *results, FlIoError *e) {
  return fl_hdf5_read(ctx, path, false, names, n, types, results, e);
}

FlStatus fl_rt_read_hdf5(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_read_arrays(ctx, desc, args, results, read_hdf5);
}
