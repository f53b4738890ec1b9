/* npy.h: arrays in NPY form, wherever their bytes are; private to the room. */
#ifndef FL_NPY_H
#define FL_NPY_H

#include "io/io_internal.h"

/* The bytes of one array: those of a file, or bytes in memory. */
typedef struct FlNpySource {
  int fd;
  const char *bytes; /* NULL: of fd */
  int64_t size;
} FlNpySource;

enum {
  FL_NPY_HEAD = (1 << 16) + 64, /* a header ends within so many bytes */
  FL_NPY_LOOK = 64 << 20        /* bytes of data that are looked at for times that are missing */
};

/* How the times of a file become days (dates) or microseconds: a value counts `months`, or `times` / `parts`
 * of them. */
typedef struct FlNpyUnit {
  int64_t months, times, parts;
} FlNpyUnit;

/* What the header says. */
typedef struct FlNpy {
  FlDtype dtype;
  int32_t size;  /* bytes of an element in the file: dates have 8; of texts any number, also none */
  int32_t unit;  /* of texts: 4 bytes a code point, or 1: UTF-8; else 0 */
  char type[32]; /* as it is written there */
  FlNpyUnit time;
  bool big_endian, fortran;
  int32_t rank;
  int64_t dims[FL_MAX_RANK];
  int64_t data, count; /* where the data begin; number of elements */
} FlNpy;

/* Reads the header, which messages say is in `label`. */
bool fl_npy_header(const char *label, const FlNpySource *from, FlNpy *h, FlIoError *e);
/* The array as the wanted type, of rank 1 with one element for a single value; NULL: e. valid: gets an array
 * of which elements are there; NULL: all must be. */
FlArray *fl_npy_array(FlCtx *ctx, const char *label, const FlNpySource *from, const FlNpy *h, FlType1 want,
                      FlArray **valid, FlIoError *e);
/* Whether the elements lie in the file as in an array of this type. */
bool fl_npy_is_plain(const FlNpy *h, FlDtype dtype);
/* The array of a file that was found so, used where it lies, if it is plain and does not fit in memory; NULL:
 * it is to be read, or e (npy_map.c). */
FlArray *fl_npy_mapped(FlCtx *ctx, const char *path, const struct stat *found, const FlNpy *h, FlType1 want,
                       FlIoError *e);
/* Whether a time is missing (NaT) in the first FL_NPY_LOOK bytes of the data. */
bool fl_npy_has_nat(const FlNpySource *from, const FlNpy *h);

/* ---- times: npy_time.c --------------------------------------------------------------------------------- */

/* The type of times that NumPy calls so, as "M8[25s]"; false: none, or one that flow cannot hold, and *why
 * (with the cast to take instead) says it. */
bool fl_npy_time_type(const char *text, FlNpy *h, const char **why);
/* A value of the file in days or microseconds; FL_NPY_FITS, or why not. */
typedef enum FlNpyFit { FL_NPY_FITS, FL_NPY_NAT, FL_NPY_PARTS, FL_NPY_FAR } FlNpyFit;
FlNpyFit fl_npy_time(const FlNpy *h, int64_t v, int64_t *out);
/* Element k of the file does not fit for that reason. Returns false. */
bool fl_npy_misfit(const char *label, const FlNpy *h, int64_t k, FlNpyFit why, FlIoError *e);
/* The same of texts: fills `out`, whose elements are empty. */
bool fl_npy_texts(FlCtx *ctx, const char *label, const FlNpySource *from, const FlNpy *h, FlArray *out,
                  FlIoError *e);
/* n bytes from `at` on; false: they are not there. */
bool fl_npy_bytes(const FlNpySource *from, void *to, int64_t n, int64_t at);
/* Where the k-th element of the file is in the array. */
int64_t fl_npy_place(const FlNpy *h, int64_t k);
/* Whether a value of type `from` is implicitly one of type `to`. */
bool fl_io_widens(FlDtype from, FlDtype to);
/* Writes header and data. rank: that of the array, or 0 for its first element alone. */
bool fl_npy_put(FlOutput *out, const FlArray *a, int32_t rank, FlIoError *e);
/* Of texts: code points of the longest, 1 at least; and the elements with that many each. false: too large,
 * or e. */
int64_t fl_npy_text_width(const FlText *texts, int64_t n);
bool fl_npy_put_texts(FlOutput *out, const FlText *texts, int64_t n, int64_t width, FlIoError *e);

#endif
