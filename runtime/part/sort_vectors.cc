/* sort_vectors.cc: sorting by vectors, as the library Highway does it, for processors with AVX-512.
 *
 * Comes in: values of one type. Goes out: the same in ascending order, where they were. Always holds: no
 * memory is taken, nothing is thrown; the result depends on the values alone, wherever the pivots are drawn.
 *
 * Method: M. Blacher, J. Giesen, P. Sanders, J. Wassenberg, Vectorized and performance-portable quicksort,
 * 2022 (arXiv:2205.05982). The library is compiled in, in a namespace of its own, so that a program that
 * embeds flow may hold another version of it. C++ because it is; by clang, whose code is three times as fast
 * here as that of gcc 12. */
#define hwy fl_hwy
#define VQSORT_ONLY_STATIC 1
#include <hwy/highway.h>

#include <hwy/contrib/sort/traits-inl.h>
#include <hwy/contrib/sort/vqsort-inl.h>

#include "part/sort_vectors.h"

#include <stdlib.h>

/* Version 1.0 takes room for its work from the caller, and draws pivots by a seed of 24 bytes from its shared
 * library; of later ones a check of theirs ends there. */
#define OLD (HWY_MAJOR == 1 && HWY_MINOR == 0)
#if OLD
void hwy::Sorter::Fill24Bytes(const void *, size_t n, void *bytes) {
  const uint64_t seed[3] = {(n + 1) * 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu};
  memcpy(bytes, seed, sizeof seed);
}
#else
HWY_NORETURN void hwy::Abort(const char *, int, const char *, ...) { abort(); }
#endif

namespace {
namespace vectors = hwy::HWY_NAMESPACE;

/* The order of integers is the library's. */
template <typename T> struct Ascending : vectors::detail::OrderAscending<T> {};

/* Of floats version 1.0 takes the largest finite one for the last, and what is an epsilon less for the one
 * before, which is right around 1 alone. */
template <typename T> struct AscendingFloats : vectors::detail::OrderAscending<T> {
  template <class D> vectors::Vec<D> FirstValue(D d) const { return vectors::Neg(LastValue(d)); }
  template <class D> vectors::Vec<D> LastValue(D d) const { return vectors::Set(d, T{__builtin_inff()}); }
  template <class D> vectors::Vec<D> PrevValue(D d, vectors::Vec<D> v) const {
    const vectors::RebindToSigned<D> bits;
    const auto x = vectors::BitCast(bits, v), one = vectors::Set(bits, 1);
    const auto negative =
        vectors::BroadcastSignBit(x); /* -1, or 0: of those the bits of the one before are more */
    const auto before =
        vectors::BitCast(d, vectors::Sub(vectors::Sub(x, one), vectors::Add(negative, negative)));
    const auto below_zero = vectors::BitCast(d, vectors::Or(one, vectors::SignBit(bits)));
    return vectors::IfThenElse(vectors::Eq(v, vectors::Zero(d)), below_zero, before);
  }
};
template <> struct Ascending<float> : AscendingFloats<float> {};
template <> struct Ascending<double> : AscendingFloats<double> {};

template <typename T> void sort(void *values, size_t n) {
  const vectors::SortTag<T> tag;
  const vectors::detail::SharedTraits<vectors::detail::TraitsLane<Ascending<T>>> ascending;
#if OLD
  vectors::Sort(tag, ascending, static_cast<T *>(values), n, static_cast<T *>(nullptr));
#else
  vectors::Sort(tag, ascending, static_cast<T *>(values), n);
#endif
}

/* Calls done(side, mask, values) for a few values and each side that they may be of. */
template <class D, typename T, class Done>
void by_side(D d, vectors::Mask<D> wanted, vectors::Vec<D> v, const T *cuts, int n_cuts, Done done) {
  for (int side = 0; side < n_cuts; side++) {
    const auto upto = vectors::AndNot(vectors::Gt(v, vectors::Set(d, cuts[side])), wanted);
    done(side, upto, v);
    wanted = vectors::AndNot(upto, wanted);
  }
  done(n_cuts, wanted, v);
}

template <typename T, class Done>
void each_side(const T *values, size_t n, const T *cuts, int n_cuts, Done done) {
  const vectors::ScalableTag<T> d;
  const size_t lanes = vectors::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    by_side(d, vectors::FirstN(d, lanes), vectors::LoadU(d, values + i), cuts, n_cuts, done);
  if (i == n) return;
  const auto rest = vectors::FirstN(d, n - i);
  by_side(d, rest, vectors::MaskedLoad(rest, d, values + i), cuts, n_cuts, done);
}

template <typename T>
void count(const void *values, size_t n, const void *cuts, int n_cuts, int64_t *counts) {
  const vectors::ScalableTag<T> d;
  each_side(
      static_cast<const T *>(values), n, static_cast<const T *>(cuts), n_cuts,
      [=](int side, auto mask, auto) { counts[side] += static_cast<int64_t>(vectors::CountTrue(d, mask)); });
}

template <typename T>
void spread(const void *values, size_t n, const void *cuts, int n_cuts, int64_t *at, void *to) {
  const vectors::ScalableTag<T> d;
  each_side(static_cast<const T *>(values), n, static_cast<const T *>(cuts), n_cuts,
            [=](int side, auto mask, auto v) {
              at[side] += static_cast<int64_t>(
                  vectors::CompressBlendedStore(v, mask, d, static_cast<T *>(to) + at[side]));
            });
}
} // namespace

#define BY_LANE(F, ...)                                                                                      \
  switch (lane) {                                                                                            \
  case FL_LANE_I16: return F<int16_t>(__VA_ARGS__);                                                          \
  case FL_LANE_U16: return F<uint16_t>(__VA_ARGS__);                                                         \
  case FL_LANE_I32: return F<int32_t>(__VA_ARGS__);                                                          \
  case FL_LANE_U32: return F<uint32_t>(__VA_ARGS__);                                                         \
  case FL_LANE_F32: return F<float>(__VA_ARGS__);                                                            \
  case FL_LANE_I64: return F<int64_t>(__VA_ARGS__);                                                          \
  case FL_LANE_U64: return F<uint64_t>(__VA_ARGS__);                                                         \
  case FL_LANE_F64: return F<double>(__VA_ARGS__);                                                           \
  }

extern "C" void fl_vectors_sort(FlLane lane, void *values, size_t n) {
  if (n > 1) BY_LANE(sort, values, n)
}

extern "C" void fl_vectors_count(FlLane lane, const void *values, size_t n, const void *cuts, int n_cuts,
                                 int64_t *counts) {
  BY_LANE(count, values, n, cuts, n_cuts, counts)
}

extern "C" void fl_vectors_spread(FlLane lane, const void *values, size_t n, const void *cuts, int n_cuts,
                                  int64_t *at, void *to) {
  BY_LANE(spread, values, n, cuts, n_cuts, at, to)
}
