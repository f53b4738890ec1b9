/* linalg_lapack.c: what all decompositions need around LAPACK: checks of what comes in, the turn from rows to
 * columns, the signs of vectors, memory to work in.
 *
 * Always holds: LAPACK never sees NaN or infinity, on which some of its loops do not end. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "part/linalg_internal.h"

/* The one function of the Fortran runtime that LAPACK calls: it joins the characters of an option's name. By
 * it executables need no Fortran library. Both texts one after the other, cut or filled with blanks to `len`.
 */
void fl_linalg_join_names(size_t len, char *to, size_t len_a, const char *a, size_t len_b,
                          const char *b) __asm__("_gfortran_concat_string");
void fl_linalg_join_names(size_t len, char *to, size_t len_a, const char *a, size_t len_b, const char *b) {
  for (size_t i = 0; i < len; i++) to[i] = i < len_a ? a[i] : i - len_a < len_b ? b[i - len_a] : ' ';
}

void fl_linalg_flip(const void *from, void *to, int64_t n, int64_t m, int32_t dtype) {
  enum { TILE = 32 };
  for (int64_t i0 = 0; i0 < n; i0 += TILE) {
    for (int64_t j = 0; j < m; j++) {
      for (int64_t i = i0; i < fl_part_min(i0 + TILE, n); i++) {
        if (dtype == FL_F64) {
          ((double *)to)[j * n + i] = ((const double *)from)[i * m + j];
        } else {
          ((float *)to)[j * n + i] = ((const float *)from)[i * m + j];
        }
      }
    }
  }
}

/* ---- checks ------------------------------------------------------------------------------------------- */

typedef struct Finite {
  const FlArray *a;
  _Atomic int64_t first;
} Finite;

/* Whether any of n elements is NaN or infinite, by vectors. */
#define ANY_ODD(NAME, T, MOST)                                                                               \
  static bool NAME(const T *x, int64_t n) {                                                                  \
    int odd = 0;                                                                                             \
    for (int64_t i = 0; i < n; i++) odd |= !(x[i] >= -MOST && x[i] <= MOST);                                 \
    return odd;                                                                                              \
  }
ANY_ODD(any_odd_f64, double, DBL_MAX)
ANY_ODD(any_odd_f32, float, FLT_MAX)

static int32_t finite_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Finite *f = (Finite *)(uintptr_t)env;
  const void *x = f->a->data;
  int32_t dtype = f->a->dtype;
  (void)ctx;
  if (!(dtype == FL_F64 ? any_odd_f64((const double *)x + begin, end - begin)
                        : any_odd_f32((const float *)x + begin, end - begin)))
    return 0;
  while (isfinite(fl_linalg_at(x, begin, dtype))) begin++;
  fl_part_first(&f->first, begin);
  return 0;
}

int64_t fl_linalg_first_odd(FlPartMem *mem, const FlArray *a) {
  enum { FEW = 1024 }; /* elements, of which handing them out costs more than looking at them */
  Finite f = {a, INT64_MAX};
  int64_t elements = fl_array_count(a);
  if (elements <= FEW) (void)finite_body(mem->ctx, &f, 0, elements);
  else (void)fl_part_for(mem->ctx, finite_body, &f, elements, 0.5);
  return atomic_load(&f.first);
}

FlStatus fl_linalg_finite(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a, const char *of) {
  int64_t at = fl_linalg_first_odd(mem, a), index[3] = {0};
  if (at == INT64_MAX) return 0;
  double v = fl_linalg_at(a->data, at, a->dtype);
  const char *what = isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
  char where[80];
  for (int k = a->rank - 1; k >= 0; k--) {
    index[k] = at % a->dims[k];
    at /= a->dims[k];
  }
  for (int k = 0, n = 0; k < a->rank; k++)
    n += snprintf(where + n, sizeof where - (size_t)n, k > 0 ? ", %lld" : "%lld", (long long)index[k]);
  return fl_fail_op(mem->ctx, desc, FL_CODE(977), "element [%s]%s is %s, and %s takes finite numbers", where,
                    of, what, fl_linalg_name(desc));
}

FlStatus fl_linalg_square(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a) {
  int64_t rows = a->dims[a->rank - 2], columns = a->dims[a->rank - 1];
  if (rows == columns) return 0;
  return fl_fail_op(mem->ctx, desc, FL_FAULT_SHAPE,
                    "the matrix has %lld rows and %lld columns, expected a square one", (long long)rows,
                    (long long)columns);
}

FlStatus fl_linalg_symmetric(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a) {
  int64_t n = a->dims[0];
  double most = 0, tolerance = a->dtype == FL_F64 ? 0x1p-26 : 0x1p-11;
  for (int64_t i = 0; i < n * n; i++) most = fmax(most, fabs(fl_linalg_at(a->data, i, a->dtype)));
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i + 1; j < n; j++) {
      double x = fl_linalg_at(a->data, i * n + j, a->dtype), y = fl_linalg_at(a->data, j * n + i, a->dtype);
      if (fabs(x - y) <= tolerance * most) continue;
      return fl_fail_op(mem->ctx, desc, FL_CODE(978),
                        "the matrix is not symmetric: [%lld, %lld] is %g and [%lld, %lld] is %g",
                        (long long)i, (long long)j, x, (long long)j, (long long)i, y);
    }
  }
  return 0;
}

FlStatus fl_linalg_ready_symmetric(FlPartMem *mem, const FlOpDesc *desc, const FlArray *a) {
  return fl_linalg_square(mem, desc, a) != 0 || fl_linalg_fits(mem, desc, a->dims[0], a->dims[0]) != 0 ||
         fl_linalg_finite(mem, desc, a, "") != 0 || fl_linalg_symmetric(mem, desc, a) != 0;
}

FlStatus fl_linalg_fits(FlPartMem *mem, const FlOpDesc *desc, int64_t m, int64_t n) {
  enum { MOST = 20000 }; /* LAPACK counts the elements of its work in 32 bits */
  if (fl_part_max(m, n) <= INT_MAX && fl_part_min(m, n) <= MOST) return 0;
  return fl_fail_op(mem->ctx, desc, FL_CODE_RESOURCE,
                    "%s of a matrix of %lld rows and %lld columns: the smaller number may be up to %d",
                    fl_linalg_name(desc), (long long)m, (long long)n, MOST);
}

FlStatus fl_linalg_stuck(FlPartMem *mem, const FlOpDesc *desc) {
  return fl_fail_op(mem->ctx, desc, FL_CODE(979), "%s does not converge on this matrix",
                    fl_linalg_name(desc));
}

/* ---- signs and memory -------------------------------------------------------------------------------- */

bool fl_linalg_points_down(const void *v, int64_t n, int64_t step, int32_t dtype) {
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(fl_linalg_at(v, i * step, dtype)));
  for (int64_t i = 0; i < n; i++) {
    double x = fl_linalg_at(v, i * step, dtype);
    if (fabs(x) >= 0.999 * most) return x < 0;
  }
  return false;
}

void fl_linalg_negate(void *v, int64_t n, int64_t step, int32_t dtype) {
  for (int64_t i = 0; i < n; i++) {
    if (dtype == FL_F64) ((double *)v)[i * step] = -((double *)v)[i * step];
    else ((float *)v)[i * step] = -((float *)v)[i * step];
  }
}

void *fl_linalg_work(FlPartMem *mem, const FlOpDesc *desc, const void *asked, int *lwork) {
  double want = fl_linalg_at(asked, 0, desc->arg_types[0].dtype);
  want = fmax(ceil(want * (1 + 0x1p-20)), 1); /* a float may have rounded it down */
  if (want > INT_MAX) {
    (void)fl_fail_op(mem->ctx, desc, FL_CODE_RESOURCE, "%s of a matrix of this size needs too much memory",
                     fl_linalg_name(desc));
    return NULL;
  }
  *lwork = (int)want;
  return fl_part_alloc(mem, *lwork, sizeof(double));
}
