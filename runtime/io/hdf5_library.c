/* hdf5_library.c: what calls libhdf5, in a child process; see hdf5_internal.h.
 *
 * In: an FlHdf5Job. Out: what is in the file, said through the pipe; elements in shared memory. What always
 * holds: nothing outside of the file is read (external links and storage, virtual datasets) and no filter is
 * loaded from elsewhere; sizes are checked against the file's before memory is asked for. Nothing is closed:
 * the child ends with the job. */
#include "io/child.h"
#include "io/hdf5_internal.h"
#include "io/opened.h"

#define H5_USE_110_API 1 /* later versions keep its functions and types under these names */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

enum { FL_READ_ONLY = 0 }; /* H5F_ACC_RDONLY, without the call in it */

/* The library must be of the header's version. H5_VERS_MINOR 10 is Debian 12, 14 is Debian 13. */
#if H5_VERS_MINOR >= 14
#define LIBRARY_FILE "libhdf5_serial.so.310"
#define LIBRARY_PACKAGE "libhdf5-310"
#else
#define LIBRARY_FILE "libhdf5_serial.so.103"
#define LIBRARY_PACKAGE "libhdf5-103-1"
#endif

#define TEXT_OF(symbol) #symbol
#define SYMBOL_TEXT(symbol) TEXT_OF(symbol) /* of what the header makes of a name: H5Lget_info1 */

typedef struct Hdf5Api {
#define FL_SYMBOL(name) __typeof__(&H5##name) name;
#include "io/hdf5.def"
#undef FL_SYMBOL
  const hid_t *native[FL_N_DTYPES]; /* the types of memory; NULL: none */
} Hdf5Api;

typedef struct Hdf5 {
  Hdf5Api api;
  const FlHdf5Job *job;
  int to;
  hid_t file;
  FlIoError error;
} Hdf5;

static bool bad(Hdf5 *h, const char *what) {
  return fl_io_error(&h->error, FL_E_HDF5, "`%s` is no %s file that can be read: %s", h->job->path,
                     h->job->matlab ? "MAT" : "HDF5", what);
}

static bool no_memory(Hdf5 *h) {
  return fl_io_error(&h->error, FL_E_MEMORY, "out of memory while reading `%s`", h->job->path);
}

/* ---- the library and the file ------------------------------------------------------------------------- */

static bool open_api(Hdf5Api *api, FlIoError *e) {
  const FlOpenedSymbol symbols[] = {
#define FL_SYMBOL(name) {SYMBOL_TEXT(H5##name), &api->name},
#include "io/hdf5.def"
#undef FL_SYMBOL
      {"H5T_NATIVE_INT8_g", &api->native[FL_I8]},    {"H5T_NATIVE_INT16_g", &api->native[FL_I16]},
      {"H5T_NATIVE_INT32_g", &api->native[FL_I32]},  {"H5T_NATIVE_INT64_g", &api->native[FL_I64]},
      {"H5T_NATIVE_UINT8_g", &api->native[FL_U8]},   {"H5T_NATIVE_UINT16_g", &api->native[FL_U16]},
      {"H5T_NATIVE_UINT32_g", &api->native[FL_U32]}, {"H5T_NATIVE_UINT64_g", &api->native[FL_U64]},
      {"H5T_NATIVE_FLOAT_g", &api->native[FL_F32]},  {"H5T_NATIVE_DOUBLE_g", &api->native[FL_F64]}};
  memset(api, 0, sizeof *api);
  return fl_io_open_library(LIBRARY_FILE, LIBRARY_PACKAGE, "reading HDF5 files", symbols,
                            sizeof symbols / sizeof *symbols, e);
}

bool fl_hdf5_library(FlIoError *e) {
  Hdf5Api api;
  return open_api(&api, e);
}

static bool begin(Hdf5 *h) {
  if (!open_api(&h->api, &h->error)) return false;
  if (h->api.open() < 0 || h->api.Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0 ||
      h->api.PLset_loading_state(0) < 0)
    return bad(h, "its library does not start");
  h->file = h->api.Fopen(h->job->path, FL_READ_ONLY, H5P_DEFAULT);
  return h->file >= 0 || bad(h, "it is damaged or cut off");
}

/* The end of all that is said. */
static void end(Hdf5 *h) {
  FlHdf5Told last = {.dtype = FL_HDF5_END};
  fl_child_say(h->to, &last, sizeof last);
  fl_child_say(h->to, &h->error, sizeof h->error);
}

/* ---- datasets ----------------------------------------------------------------------------------------- */

typedef enum Form {
  NUMBERS,
  TEXTS, /* of the library's own type */
  CHARS, /* of MATLAB: a row of code units is a text */
  CELLS  /* of MATLAB: references to CHARS of one row */
} Form;

/* An open dataset. */
typedef struct Dataset {
  hid_t set, type, space;
  Form form;
  FlDtype dtype;
  int32_t rank;
  int64_t dims[FL_MAX_RANK], count; /* as the program sees them */
  int64_t units;                    /* of a row of CHARS */
} Dataset;

/* What MATLAB says that a variable is; "": nothing. */
static void matlab_class(const Hdf5 *h, hid_t set, char out[32]) {
  memset(out, 0, 32);
  if (h->api.Aexists(set, "MATLAB_class") <= 0) return;
  hid_t a = h->api.Aopen(set, "MATLAB_class", H5P_DEFAULT), type = a < 0 ? -1 : h->api.Aget_type(a);
  bool text = type >= 0 && h->api.Tget_class(type) == H5T_STRING && h->api.Tis_variable_str(type) == 0 &&
              h->api.Tget_size(type) < 32;
  if (text && h->api.Aread(a, type, out) < 0) memset(out, 0, 32);
}

static FlDtype int_dtype(size_t size, bool sign) {
  static const FlDtype wide[2][4] = {{FL_U8, FL_U16, FL_U32, FL_U64}, {FL_I8, FL_I16, FL_I32, FL_I64}};
  for (int k = 0; k < 4; k++)
    if (size == (size_t)1 << k) return wide[sign][k];
  return FL_N_DTYPES;
}

static FlDtype number_dtype(const Hdf5 *h, const Dataset *d) {
  size_t size = h->api.Tget_size(d->type);
  H5T_class_t kind = h->api.Tget_class(d->type);
  if (kind == H5T_INTEGER) return int_dtype(size, h->api.Tget_sign(d->type) == H5T_SGN_2);
  if (kind == H5T_FLOAT) return size <= 4 ? FL_F32 : size == 8 ? FL_F64 : FL_N_DTYPES;
  if (kind == H5T_ENUM) return size == 1 && h->api.Tget_nmembers(d->type) == 2 ? FL_BOOL : FL_N_DTYPES;
  return FL_N_DTYPES;
}

/* Form and dtype. */
static void find_type(const Hdf5 *h, Dataset *d) {
  char class[32] = "";
  H5T_class_t kind = h->api.Tget_class(d->type);
  if (h->job->matlab) matlab_class(h, d->set, class);
  d->form = strcmp(class, "char") == 0 ? CHARS : strcmp(class, "cell") == 0 ? CELLS : NUMBERS;
  if (d->form == NUMBERS && kind == H5T_STRING && !h->job->matlab) d->form = TEXTS;
  if (strcmp(class, "logical") == 0) d->dtype = h->api.Tget_size(d->type) == 1 ? FL_BOOL : FL_N_DTYPES;
  else if (d->form == NUMBERS) d->dtype = number_dtype(h, d);
  else if (d->form == CHARS) d->dtype = kind == H5T_INTEGER ? FL_TEXT : FL_N_DTYPES;
  else if (d->form == CELLS)
    d->dtype =
        kind == H5T_REFERENCE && h->api.Tget_size(d->type) == sizeof(hobj_ref_t) ? FL_TEXT : FL_N_DTYPES;
  else d->dtype = FL_TEXT;
}

/* Whether MATLAB says that a variable has no elements: the file then holds its sizes instead. */
static bool is_empty(const Hdf5 *h, const Dataset *d) {
  return h->job->matlab && h->api.Aexists(d->set, "MATLAB_empty") > 0;
}

/* The sizes of a variable without elements, which stand where these would. */
static const char *empty_shape(const Hdf5 *h, Dataset *d) {
  uint64_t dims[FL_MAX_RANK];
  bool sizes = d->rank == 1 && d->count <= FL_MAX_RANK &&
               h->api.Dread(d->set, *h->api.native[FL_U64], H5S_ALL, H5S_ALL, H5P_DEFAULT, dims) >= 0;
  if (!sizes) return "it is damaged";
  bool none = false;
  d->rank = (int32_t)d->count;
  for (int32_t k = 0; k < d->rank; k++) {
    if (dims[k] > INT32_MAX) return "it is damaged";
    none = none || dims[k] == 0;
    d->dims[k] = (int64_t)dims[k];
  }
  d->count = 0;
  return none ? NULL : "it is damaged";
}

/* NULL: it can be read; else why not. */
static const char *shape_of(const Hdf5 *h, Dataset *d) {
  static const char unexplained[] = "its size is not explained by the file's";
  hsize_t dims[H5S_MAX_RANK];
  int rank = h->api.Sget_simple_extent_ndims(d->space);
  if (h->api.Sget_simple_extent_type(d->space) == H5S_NULL) return "it has no elements";
  if (rank < 0 || rank > FL_MAX_RANK) return "it has more than 8 dimensions";
  if (rank && h->api.Sget_simple_extent_dims(d->space, dims, NULL) < 0) return "it is damaged";
  d->rank = rank;
  d->count = 1;
  bool none = false;
  for (int k = 0; k < rank; k++) none = none || dims[k] == 0;
  for (int k = 0; k < rank; k++) {
    if (dims[k] > (hsize_t)INT64_MAX) return unexplained;
    d->dims[h->job->matlab ? rank - 1 - k : k] = (int64_t)dims[k];
    if (!none && __builtin_mul_overflow(d->count, (int64_t)dims[k], &d->count)) return unexplained;
  }
  if (none) d->count = 0;
  return d->count <= h->job->most ? NULL : unexplained;
}

/* The texts of CHARS: one is a single value, else an array of them. */
static const char *rows_of(const Hdf5 *h, Dataset *d) {
  bool empty = is_empty(h, d);
  if (!empty && d->rank != 2) return "it is a text of more than two dimensions";
  int64_t rows = empty || d->count == 0 ? 1 : d->dims[0];
  d->units = empty ? 0 : d->count / rows;
  d->count = rows;
  d->rank = rows == 1 ? 0 : 1;
  d->dims[0] = rows;
  return NULL;
}

static const char *cells_of(const Hdf5 *h, const Dataset *d);

static const char *open_type(const Hdf5 *h, Dataset *d) {
  d->dtype = FL_N_DTYPES;
  d->type = h->api.Dget_type(d->set);
  d->space = h->api.Dget_space(d->set);
  if (d->type < 0 || d->space < 0) return "it is damaged";
  find_type(h, d);
  if (d->dtype == FL_N_DTYPES) return "it holds no numbers and no texts";
  const char *why = shape_of(h, d);
  if (!why && d->form == NUMBERS && is_empty(h, d)) why = empty_shape(h, d);
  if (!why && d->form == CHARS) why = rows_of(h, d);
  if (!why && d->form == CELLS) why = cells_of(h, d);
  if (why) d->dtype = FL_N_DTYPES;
  return why;
}

static void close_dataset(const Hdf5 *h, Dataset *d) {
  if (d->space >= 0) h->api.Sclose(d->space);
  if (d->type >= 0) h->api.Tclose(d->type);
  if (d->set >= 0) h->api.Dclose(d->set);
}

static const char *open_dataset(const Hdf5 *h, const char *name, Dataset *d) {
  *d = (Dataset){.set = -1, .type = -1, .space = -1, .dtype = FL_N_DTYPES};
  d->set = h->api.Dopen2(h->file, name, H5P_DEFAULT);
  if (d->set < 0) return "it is damaged, or no array";
  hid_t plan = h->api.Dget_create_plist(d->set);
  bool inside = plan >= 0 && h->api.Pget_layout(plan) != H5D_VIRTUAL && h->api.Pget_external_count(plan) <= 0;
  if (plan >= 0) h->api.Pclose(plan);
  return inside ? open_type(h, d) : "its elements are in other files";
}

/* ---- elements ----------------------------------------------------------------------------------------- */

/* Reads all elements as the memory type of `as` (a native type, or one's own). */
static bool read_all(const Hdf5 *h, const Dataset *d, hid_t as, void *to) {
  return h->api.Dread(d->set, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0;
}

static bool read_numbers(const Hdf5 *h, const Dataset *d, const FlHdf5Wanted *w) {
  if (w->dtype != FL_BOOL) return read_all(h, d, *h->api.native[w->dtype], w->data);
  hid_t native = h->api.Tget_native_type(d->type, H5T_DIR_ASCEND);
  return native >= 0 && h->api.Tget_size(native) == 1 && read_all(h, d, native, w->data);
}

static void say_text(const Hdf5 *h, const char *text, int64_t n) {
  fl_child_say(h->to, &n, sizeof n);
  fl_child_say(h->to, text, (size_t)n);
}

static bool say_variable(Hdf5 *h, const Dataset *d) {
  char **texts = calloc((size_t)d->count, sizeof *texts);
  if (!texts) return no_memory(h);
  hid_t native = h->api.Tget_native_type(d->type, H5T_DIR_ASCEND);
  if (native < 0 || !read_all(h, d, native, texts)) return false;
  for (int64_t k = 0; k < d->count; k++)
    say_text(h, texts[k] ? texts[k] : "", texts[k] ? (int64_t)strlen(texts[k]) : 0);
  return true;
}

/* Texts of one size, filled up. */
static bool say_fixed(Hdf5 *h, const Dataset *d) {
  size_t size = h->api.Tget_size(d->type), bytes;
  H5T_str_t pad = h->api.Tget_strpad(d->type);
  if (!size || __builtin_mul_overflow(size, (size_t)d->count, &bytes) || bytes > (size_t)h->job->most)
    return false;
  char *all = malloc(bytes);
  if (!all) return no_memory(h);
  hid_t native = h->api.Tget_native_type(d->type, H5T_DIR_ASCEND);
  if (native < 0 || h->api.Tget_size(native) != size || !read_all(h, d, native, all)) return false;
  for (int64_t k = 0; k < d->count; k++) {
    const char *text = all + (size_t)k * size;
    size_t n = pad == H5T_STR_NULLTERM ? strnlen(text, size) : size;
    while (n && text[n - 1] == (pad == H5T_STR_SPACEPAD ? ' ' : '\0')) n--;
    say_text(h, text, (int64_t)n);
  }
  return true;
}

/* The rows of an array of code units, which lies column by column; blanks that fill several rows up are none
 * of theirs. */
static bool say_chars(Hdf5 *h, const Dataset *d) {
  int64_t all = d->count * d->units;
  uint32_t *units = calloc((size_t)all + 1, sizeof *units);
  char *row = calloc((size_t)d->units * 2 + 1, 2), *text = calloc((size_t)d->units + 1, 3);
  if (!units || !row || !text) return no_memory(h);
  if (all && !read_all(h, d, *h->api.native[FL_U32], units)) return false;
  for (int64_t r = 0; r < d->count; r++) {
    int64_t n = d->units;
    while (d->count > 1 && n && units[(n - 1) * d->count + r] == ' ') n--;
    for (int64_t k = 0; k < n; k++) {
      uint32_t unit = units[k * d->count + r];
      if (unit > 0xffff) return bad(h, "a text of it is damaged");
      row[2 * k] = (char)unit;
      row[2 * k + 1] = (char)(unit >> 8);
    }
    int64_t bytes = fl_utf8_of_units(row, n, 2, false, text);
    if (bytes < 0) return bad(h, "a text of it is no UTF-16");
    say_text(h, text, bytes);
  }
  free(text);
  free(row);
  free(units);
  return true;
}

/* What the cells refer to, on the heap; NULL: they cannot be read. */
static hobj_ref_t *references_of(const Hdf5 *h, const Dataset *d) {
  hobj_ref_t *at = calloc((size_t)d->count + 1, sizeof *at);
  if (at && d->count && !read_all(h, d, d->type, at)) {
    free(at);
    return NULL;
  }
  return at;
}

/* The text that a cell refers to; NULL: there it is. */
static const char *open_cell(const Hdf5 *h, const hobj_ref_t *at, Dataset *d) {
  *d = (Dataset){.set = -1, .type = -1, .space = -1};
  H5O_type_t kind;
  if (h->api.Rget_obj_type2(h->file, H5R_OBJECT, at, &kind) < 0 || kind != H5O_TYPE_DATASET)
    return "it is a cell array of other things than texts";
  d->set = h->api.Rdereference2(h->file, H5P_DEFAULT, H5R_OBJECT, at);
  char class[32] = "";
  if (d->set >= 0) matlab_class(h, d->set, class);
  if (strcmp(class, "char") != 0) return "it is a cell array of other things than texts";
  const char *why = open_type(h, d);
  return why ? why : d->rank ? "a cell of it holds a text of several rows" : NULL;
}

static const char *cells_of(const Hdf5 *h, const Dataset *d) {
  if (is_empty(h, d)) return "it has no elements";
  hobj_ref_t *at = references_of(h, d);
  const char *why = at ? NULL : "it is damaged";
  for (int64_t k = 0; !why && k < d->count; k++) {
    Dataset cell;
    why = open_cell(h, &at[k], &cell);
    close_dataset(h, &cell);
  }
  free(at);
  return why;
}

static bool say_cells(Hdf5 *h, const Dataset *d) {
  hobj_ref_t *at = references_of(h, d);
  bool ok = at != NULL;
  for (int64_t k = 0; ok && k < d->count; k++) {
    Dataset cell;
    ok = !open_cell(h, &at[k], &cell) && say_chars(h, &cell);
    close_dataset(h, &cell);
  }
  return ok;
}

static bool fetch_elements(Hdf5 *h, const Dataset *d, const FlHdf5Wanted *w) {
  if (!d->count) return true;
  switch (d->form) {
  case NUMBERS: return read_numbers(h, d, w);
  case TEXTS: return h->api.Tis_variable_str(d->type) > 0 ? say_variable(h, d) : say_fixed(h, d);
  case CHARS: return say_chars(h, d);
  case CELLS: return say_cells(h, d);
  }
  return false;
}

/* ---- what is there ------------------------------------------------------------------------------------ */

static void say_dataset(const Hdf5 *h, const char *name, const Dataset *d, const char *why) {
  FlHdf5Told told = {.dtype = (int32_t)d->dtype,
                     .rank = why ? 0 : d->rank,
                     .name = (int32_t)strlen(name),
                     .why = why ? (int32_t)strlen(why) : 0};
  for (int32_t k = 0; k < told.rank; k++) told.dims[k] = d->dims[k];
  fl_child_say(h->to, &told, sizeof told);
  fl_child_say(h->to, name, (size_t)told.name);
  fl_child_say(h->to, why, (size_t)told.why);
}

/* The name of what no script can name, as people may read it: a\xff. */
static const char *readable(const char *name, char *to, size_t room) {
  static const char digits[] = "0123456789abcdef";
  size_t n = 0;
  for (const char *at = name; *at && n + 5 < room; at++) {
    unsigned char c = (unsigned char)*at;
    if (c < 0x80) {
      to[n++] = *at;
      continue;
    }
    memcpy(to + n, (char[]){'\\', 'x', digits[c >> 4], digits[c & 15]}, 4);
    n += 4;
  }
  to[n] = '\0';
  return to;
}

/* The objects of a file, in order; what is not for people is left out. */
typedef struct Listing {
  Hdf5 *h;
  FlIoArrays *names; /* collects these alone; NULL: says each */
} Listing;

static herr_t add_object(hid_t file, const char *name, const H5O_info_t *info, void *env) {
  Listing *l = env;
  Dataset d;
  (void)file;
  bool own = l->h->job->matlab && (name[0] == '#' || strchr(name, '/')); /* what cells and structs refer to */
  if (info->type != H5O_TYPE_DATASET || own) return 0;
  if (fl_utf8_check(name, (int64_t)strlen(name)) != (int64_t)strlen(name)) {
    char text[256];
    if (!l->names)
      say_dataset(l->h, readable(name, text, sizeof text), &(Dataset){.dtype = FL_N_DTYPES},
                  "its name is not UTF-8");
    return 0;
  }
  if (l->names) return fl_io_arrays_add(l->names, name, FL_N_DTYPES, 0, NULL, NULL) ? 0 : -1;
  const char *why = open_dataset(l->h, name, &d);
  say_dataset(l->h, name, &d, why);
  close_dataset(l->h, &d);
  return 0;
}

static bool list(Hdf5 *h, FlIoArrays *names) {
  Listing l = {h, names};
  return h->api.Ovisit2(h->file, H5_INDEX_NAME, H5_ITER_INC, add_object, &l, H5O_INFO_BASIC) >= 0 ||
         bad(h, "it is damaged");
}

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

static bool no_dataset(Hdf5 *h, const char *name) {
  FlIoArrays all = {0};
  const char **names = list(h, &all) ? malloc((size_t)all.n * sizeof *names + 1) : NULL;
  for (int32_t k = 0; names && k < all.n; k++) names[k] = all.at[k].name;
  return fl_io_no_array(h->job->path, name, names, names ? all.n : 0, &h->error);
}

static bool tell_named(Hdf5 *h) {
  bool ok = true;
  for (int32_t k = 0; ok && k < h->job->n; k++) {
    Dataset d;
    const char *name = h->job->names[k];
    ok = is_inside(h, name) || no_dataset(h, name);
    if (!ok) break;
    const char *why = open_dataset(h, name, &d);
    say_dataset(h, name, &d, why);
    close_dataset(h, &d);
  }
  return ok;
}

void fl_hdf5_tell(void *job, int to) {
  Hdf5 h = {.job = job, .to = to, .file = -1};
  (void)(begin(&h) && (h.job->names ? tell_named(&h) : list(&h, NULL)));
  end(&h);
}

/* ---- fetching ----------------------------------------------------------------------------------------- */

/* Whether it still is what was told. */
static bool is_same(const Dataset *d, const FlHdf5Wanted *w) {
  bool same = d->dtype == w->has && d->rank == w->rank && d->count == w->count;
  for (int32_t k = 0; same && k < d->rank; k++) same = d->dims[k] == w->dims[k];
  return same;
}

static bool fetch_one(Hdf5 *h, const char *name, const FlHdf5Wanted *w) {
  Dataset d;
  if (!is_inside(h, name) || open_dataset(h, name, &d) || !is_same(&d, w))
    return fl_io_error(&h->error, FL_E_CHANGED, "`%s` changed while it was being read", h->job->path);
  if (!fetch_elements(h, &d, w))
    return h->error.code ? false : bad(h, "an array of it is damaged, or compressed in an unusual way");
  close_dataset(h, &d);
  return true;
}

void fl_hdf5_fetch(void *job, int to) {
  Hdf5 h = {.job = job, .to = to, .file = -1};
  bool ok = begin(&h);
  for (int32_t k = 0; ok && k < h.job->n; k++) ok = fetch_one(&h, h.job->names[k], &h.job->wanted[k]);
  end(&h);
}
