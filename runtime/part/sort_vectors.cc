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
#include <hwy/highway.h>

#include <hwy/contrib/sort/traits-inl.h>
#include <hwy/contrib/sort/vqsort-inl.h>

#include "part/sort_vectors.h"

/* The seed of the pivots: 24 bytes. */
void hwy::Sorter::Fill24Bytes(const void *, size_t n, void *bytes) {
  const uint64_t seed[3] = {(n + 1) * 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu};
  memcpy(bytes, seed, sizeof seed);
}

namespace {
namespace vectors = hwy::HWY_NAMESPACE;

/* The order of integers is the library's. */
template <typename T> struct Ascending : vectors::detail::OrderAscending<T> {};

/* Of floats the library takes the largest finite one for the last, and what is an epsilon less for the one
 * before, which is right around 1 alone. */
template <typename T> struct AscendingFloats : vectors::detail::OrderAscending<T> {
  template <class D> vectors::Vec<D> FirstValue(D d) const { return vectors::Neg(LastValue(d)); }
  template <class D> vectors::Vec<D> LastValue(D d) const { return vectors::Set(d, T{__builtin_inff()}); }
  template <class D> vectors::Vec<D> PrevValue(D d, vectors::Vec<D> v) const {
    const vectors::RebindToSigned<D> bits;
    const auto x = vectors::BitCast(bits, v), one = vectors::Set(bits, 1);
    const auto negative = vectors::BroadcastSignBit(x); /* -1, or 0: of those the bits of the one before are more */
    const auto before = vectors::BitCast(d, vectors::Sub(vectors::Sub(x, one), vectors::Add(negative, negative)));
    const auto below_zero = vectors::BitCast(d, vectors::Or(one, vectors::SignBit(bits)));
    return vectors::IfThenElse(vectors::Eq(v, vectors::Zero(d)), below_zero, before);
  }
};
template <> struct Ascending<float> : AscendingFloats<float> {};
template <> struct Ascending<double> : AscendingFloats<double> {};

template <typename T> void sort(void *values, size_t n) {
  const vectors::SortTag<T> tag;
  const vectors::detail::SharedTraits<vectors::detail::TraitsLane<Ascending<T>>> ascending;
  vectors::Sort(tag, ascending, static_cast<T *>(values), n, static_cast<T *>(nullptr));
}
} // namespace

extern "C" void fl_vectors_sort(FlLane lane, void *values, size_t n) {
  if (n < 2) return;
  switch (lane) {
  case FL_LANE_I16: return sort<int16_t>(values, n);
  case FL_LANE_U16: return sort<uint16_t>(values, n);
  case FL_LANE_I32: return sort<int32_t>(values, n);
  case FL_LANE_U32: return sort<uint32_t>(values, n);
  case FL_LANE_F32: return sort<float>(values, n);
  case FL_LANE_I64: return sort<int64_t>(values, n);
  case FL_LANE_U64: return sort<uint64_t>(values, n);
  case FL_LANE_F64: return sort<double>(values, n);
  }
}
