/* lapack.h: the LAPACK routines of OpenBLAS that linalg_*.c call, in both precisions.
 *
 * Fortran's convention: every argument by pointer, matrices by columns, and behind the arguments the length
 * of each character argument. Matrices are `void *` here: of double for d..., of float for s... */
#ifndef FL_PART_LAPACK_H
#define FL_PART_LAPACK_H

#include <stddef.h>

#define FL_LAPACK(p)                                                                                         \
  void p##gesv_(const int *n, const int *sides, void *a, const int *lda, int *pivots, void *b,               \
                const int *ldb, int *info);                                                                  \
  void p##getrf_(const int *m, const int *n, void *a, const int *lda, int *pivots, int *info);               \
  void p##potrf_(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t);                \
  void p##geqrf_(const int *m, const int *n, void *a, const int *lda, void *tau, void *work,                 \
                 const int *lwork, int *info);                                                               \
  void p##orgqr_(const int *m, const int *n, const int *k, void *a, const int *lda, const void *tau,         \
                 void *work, const int *lwork, int *info);                                                   \
  void p##gesdd_(const char *job, const int *m, const int *n, void *a, const int *lda, void *s, void *u,     \
                 const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork, int *iwork,        \
                 int *info, size_t);                                                                         \
  void p##gelsd_(const int *m, const int *n, const int *sides, void *a, const int *lda, void *b,             \
                 const int *ldb, void *s, const void *rcond, int *rank, void *work, const int *lwork,        \
                 int *iwork, int *info);                                                                     \
  void p##syevd_(const char *job, const char *uplo, const int *n, void *a, const int *lda, void *w,          \
                 void *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t, size_t);    \
  void p##geev_(const char *left, const char *right, const int *n, void *a, const int *lda, void *re,        \
                void *im, void *vl, const int *ldvl, void *vr, const int *ldvr, void *work,                  \
                const int *lwork, int *info, size_t, size_t);
FL_LAPACK(d)
FL_LAPACK(s)
#undef FL_LAPACK

/* Calls d<name>_ or s<name>_ by the type of the elements. */
#define FL_LAPACK_CALL(dtype, name, ...)                                                                     \
  ((dtype) == FL_F64 ? d##name##_(__VA_ARGS__) : s##name##_(__VA_ARGS__))

#endif
