/* mat_internal.h: the parts of MATLAB files of version 5, which mat.c takes apart; texts are mat_text.c. */
#ifndef FL_MAT_INTERNAL_H
#define FL_MAT_INTERNAL_H

#include "io/arrays.h"

enum { FL_MAT_MATRIX = 14, FL_MAT_PACKED = 15 }; /* types of elements */

/* Bytes with the order of the file. */
typedef struct FlMatBytes {
  const char *at;
  int64_t n;
  bool big;
} FlMatBytes;

typedef struct FlMatElement {
  uint32_t type;
  FlMatBytes data;
  int64_t whole; /* with its tag and what fills it up */
} FlMatElement;

typedef enum FlMatForm {
  FL_MAT_NUMBERS,
  FL_MAT_CHARS, /* rows of characters */
  FL_MAT_CELLS  /* matrices, perhaps of characters */
} FlMatForm;

typedef struct FlMatrix {
  char name[FL_MAX_RANK * 8];
  bool ill_named; /* its name has a zero byte */
  FlMatForm form;
  FlDtype dtype; /* FL_N_DTYPES: of a class that is no array of real numbers or texts */
  int32_t rank;
  int64_t dims[FL_MAX_RANK], count;
  uint32_t type;   /* of the stored elements, which may be smaller than those of the class */
  FlMatBytes data; /* of cells: the matrices, one after the other */
} FlMatrix;

/* An unsigned number. */
uint64_t fl_mat_load(const char *at, int bytes, bool big);
/* The element that `from` begins with; `partly`: its data may go on behind what is there. */
bool fl_mat_element(FlMatBytes from, bool partly, FlMatElement *out);
/* What follows an element. */
FlMatBytes fl_mat_behind(FlMatBytes from, const FlMatElement *e);
/* The parts of a matrix; `partly`: only its beginning is there. */
bool fl_mat_matrix(FlMatBytes from, bool partly, FlMatrix *m);

/* Rank and sizes of a whole matrix of texts as values: rank 0 for one text. NULL, or why it is none. */
const char *fl_mat_text_shape(const FlMatrix *m, int32_t *rank, int64_t dims[FL_MAX_RANK]);
/* The texts of a whole matrix; of rank 1 with one element for a single one. NULL: e. */
FlArray *fl_mat_texts(FlCtx *ctx, const char *path, const FlMatrix *m, FlType1 type, FlIoError *e);

#endif
