/* sort_vectors.cc: sorting by vectors, as the library Highway does it, for processors with AVX-512.
 *
 * Comes in: values of one type. Goes out: the same in ascending order, where they were. Always holds: no
 * memory is taken, nothing is thrown; the result depends on the values alone, wherever the pivots are drawn.
 *
 * Method: M. Blacher, J. Giesen, P. Sanders, J. Wassenberg, Vectorized and performance-portable quicksort,
 * 2022 (arXiv:2205.05982). Values of 64 bits are parted here, down to twice as many as the library sorts by a
 * network, and these are merged. The library is compiled in, in a namespace of its own, so that a program
 * that embeds flow may hold another version of it. C++ because it is; by clang, whose code is three times as
 * fast here as that of gcc 12. */
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

/* How pairs of lanes are put in order: as the library does it, by the lesser and the greater of both. */
template <typename T, size_t bytes = sizeof(T), bool is_float = hwy::IsFloat<T>()>
struct Pairs : vectors::detail::SharedTraits<vectors::detail::TraitsLane<Ascending<T>>> {};

/* Of whole numbers of 64 bits each of these is two steps, which one unit of a processor alone takes; so they
 * are chosen by one comparison. */
template <typename T>
struct Pairs<T, 8, false> : vectors::detail::SharedTraits<vectors::detail::TraitsLane<Ascending<T>>> {
  template <class D> HWY_INLINE void Sort2(D, vectors::Vec<D> &a, vectors::Vec<D> &b) const {
    const auto a_was = a;
    const auto falls = vectors::Gt(a, b);
    a = vectors::IfThenElse(falls, b, a);
    b = vectors::IfThenElse(falls, a_was, b);
  }
  /* Within a vector: of each lane and the one in its place in `other`, the lesser, in the lanes `last` the
   * greater. */
  template <class V> static HWY_INLINE V exchange(V v, V other, uint8_t last) {
    auto takes = vectors::Gt(v, other);
    takes.raw = static_cast<__mmask8>(takes.raw ^ last);
    return vectors::IfThenElse(takes, other, v);
  }
  template <class D> HWY_INLINE vectors::Vec<D> SortPairsDistance1(D d, vectors::Vec<D> v) const {
    return exchange(v, this->ReverseKeys2(d, v), 0xaa);
  }
  template <class D> HWY_INLINE vectors::Vec<D> SortPairsDistance2(D d, vectors::Vec<D> v) const {
    return exchange(v, this->SwapAdjacentPairs(d, v), 0xcc);
  }
  template <class D> HWY_INLINE vectors::Vec<D> SortPairsDistance4(D d, vectors::Vec<D> v) const {
    return exchange(v, this->SwapAdjacentQuads(d, v), 0xf0);
  }
  template <class D> HWY_INLINE vectors::Vec<D> SortPairsReverse4(D d, vectors::Vec<D> v) const {
    return exchange(v, this->ReverseKeys4(d, v), 0xcc);
  }
  template <class D> HWY_INLINE vectors::Vec<D> SortPairsReverse8(D d, vectors::Vec<D> v) const {
    return exchange(v, this->ReverseKeys8(d, v), 0xf0);
  }
};

/* By the library, which sorts up to NETWORK values of 64 bits by one network. */
template <typename T> void sort_by_library(T *values, size_t n) {
  const vectors::SortTag<T> tag;
  const Pairs<T> ascending;
#if OLD
  vectors::Sort(tag, ascending, values, n, static_cast<T *>(nullptr));
#else
  vectors::Sort(tag, ascending, values, n);
#endif
}

/* ---- values of 64 bits ----------------------------------------------------------------------------------
 */

/* The library parts them until NETWORK are left, of which the last time costs as much as four others. So
 * twice as many are merged from two networks here, and parted here before. */
enum : size_t { LANES = 8, ROWS = 16, NETWORK = ROWS * LANES, MERGED = 2 * NETWORK, AHEAD = 8 };

template <typename T> using Wide = vectors::FixedTag<T, LANES>;
template <typename T> using WideVec = vectors::Vec<Wide<T>>;

/* NETWORK values that rise and then fall, or the other way round. */
template <typename T> HWY_INLINE void straighten(WideVec<T> (&row)[ROWS]) {
  const Wide<T> d;
  const Pairs<T> ascending;
  for (size_t far = ROWS / 2; far > 0; far /= 2)
    for (size_t i = 0; i < ROWS; i++)
      if ((i & far) == 0) ascending.Sort2(d, row[i], row[i + far]);
  for (auto &v : row) {
    v = ascending.SortPairsDistance4(d, v);
    v = ascending.SortPairsDistance2(d, v);
    v = ascending.SortPairsDistance1(d, v);
  }
}

/* NETWORK values in order and n others, at most as many, behind them in no order. */
template <typename T> void merge(T *values, size_t n) {
  const Wide<T> d;
  const Pairs<T> ascending;
  alignas(64) T behind[NETWORK];
  WideVec<T> low[ROWS], high[ROWS];
  sort_by_library(values + NETWORK, n);
  for (size_t i = 0; i < NETWORK; i += LANES) vectors::Store(ascending.LastValue(d), d, behind + i);
  memcpy(behind, values + NETWORK, n * sizeof *values);
  for (size_t i = 0; i < ROWS; i++) {
    low[i] = vectors::LoadU(d, values + i * LANES);
    high[i] = vectors::Reverse(d, vectors::Load(d, behind + (ROWS - 1 - i) * LANES));
    ascending.Sort2(d, low[i], high[i]);
  }
  straighten<T>(low);
  for (size_t i = 0; i < ROWS; i++) vectors::StoreU(low[i], d, values + i * LANES);
  straighten<T>(high);
  for (size_t i = 0; i < ROWS; i++) vectors::Store(high[i], d, behind + i * LANES);
  memcpy(values + NETWORK, behind, n * sizeof *values);
}

/* Places of values between which nothing is needed any more. */
template <typename T> struct Room {
  T *values;
  size_t left, right; /* it ends; what is written goes there */
  size_t next, last;  /* what is not read yet */
};

/* Whether a value goes to the right: it is more than the pivot, or, with `equal`, as much. */
template <bool equal, typename T> HWY_INLINE auto goes_right(WideVec<T> v, WideVec<T> pivot) {
  return equal ? vectors::Not(vectors::Lt(v, pivot)) : vectors::Gt(v, pivot);
}

/* A vector to both ends of the room, which has room for two; or for this one and nothing else. */
template <bool equal, typename T> HWY_INLINE void put(Room<T> &r, WideVec<T> v, WideVec<T> pivot) {
  static_assert(vectors::CompressIsPartition<T>::value, "none of a vector is lost");
  const Wide<T> d;
  const auto right = goes_right<equal, T>(v, pivot);
  const auto parted = vectors::CompressNot(v, right);
  const size_t n_right = vectors::CountTrue(d, right);
  vectors::StoreU(parted, d, r.values + r.left);
  vectors::StoreU(parted, d, r.values + r.right - LANES);
  r.left += LANES - n_right;
  r.right -= n_right;
}

/* Reads `count` vectors from where there is less room, and puts them. It is a branch, so that processors
 * guess it and read on; and what comes behind them, where the guess was right, is asked for. */
template <bool equal, size_t count, typename T> HWY_INLINE void move_some(Room<T> &r, WideVec<T> pivot) {
  const Wide<T> d;
  WideVec<T> some[count];
  const T *from;
  if (r.next - r.left <= r.right - r.last) {
    from = r.values + r.next;
    r.next += count * LANES;
    for (size_t k = 0; k < count; k++) __builtin_prefetch(from + (count + k) * LANES);
  } else {
    r.last -= count * LANES;
    from = r.values + r.last;
    for (size_t k = 0; k < count; k++) __builtin_prefetch(from - (k + 1) * LANES);
  }
  for (size_t k = 0; k < count; k++) some[k] = vectors::LoadU(d, from + k * LANES);
  for (size_t k = 0; k < count; k++) put<equal, T>(r, some[k], pivot);
}

/* Values that do not go to the right come first; how many. */
template <bool equal, typename T> size_t part(T *values, size_t n, T by) {
  const Wide<T> d;
  const auto pivot = vectors::Set(d, by);
  const size_t rest = n % LANES; /* the last ones, which fill no vector, are put first */
  WideVec<T> first[AHEAD], last[AHEAD];
  Room<T> r = {values, 0, n, AHEAD * LANES, n - rest - AHEAD * LANES};
  const auto ends = vectors::LoadU(d, values + n - LANES);
  const auto rests = vectors::Not(vectors::FirstN(d, LANES - rest));
  const auto right = vectors::And(goes_right<equal, T>(ends, pivot), rests);
  for (size_t k = 0; k < AHEAD; k++) {
    first[k] = vectors::LoadU(d, values + k * LANES);
    last[k] = vectors::LoadU(d, values + r.last + k * LANES);
  }
  r.left += vectors::CompressBlendedStore(ends, vectors::AndNot(right, rests), d, values);
  r.right -= rest - r.left;
  vectors::CompressBlendedStore(ends, right, d, values + r.right);
  while (r.last - r.next >= AHEAD * LANES) move_some<equal, AHEAD, T>(r, pivot);
  while (r.last > r.next) move_some<equal, 1, T>(r, pivot);
  for (size_t k = 0; k < AHEAD; k++) {
    put<equal, T>(r, first[k], pivot);
    put<equal, T>(r, last[k], pivot);
  }
  return r.left;
}

/* About the middle one of them, by values that stand at equal distances. */
template <typename T> T pivot_of(const T *values, size_t n) {
  enum : size_t { FEW = 16, MORE = 64, MANY = 1 << 13 };
  T some[MORE];
  const size_t drawn = n < MANY ? FEW : MORE, each = n / drawn;
  for (size_t k = 0; k < drawn; k++) some[k] = values[k * each + each / 2];
  sort_by_library(some, drawn);
  return some[drawn / 2];
}

/* `depth`: how often they may be parted before the library, which knows how to, does what is not parted well.
 */
template <typename T> void sort_wide(T *values, size_t n, int depth) {
  while (n > MERGED) {
    if (depth-- == 0) return sort_by_library(values, n);
    const T pivot = pivot_of(values, n);
    const size_t left = part<false, T>(values, n, pivot);
    if (left == n) { /* the pivot is the last: only what is less is left to sort */
      n = part<true, T>(values, n, pivot);
    } else {
      sort_wide(values + left, n - left, depth);
      n = left;
    }
  }
  sort_by_library(values, n < NETWORK ? n : NETWORK);
  if (n > NETWORK) merge(values, n - NETWORK);
}

template <typename T> void sort(void *values, size_t n) {
  if constexpr (sizeof(T) == 8) sort_wide(static_cast<T *>(values), n, 2 * (64 - __builtin_clzll(n)));
  else sort_by_library(static_cast<T *>(values), n);
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
