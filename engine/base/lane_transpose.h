// From states that follow each other in memory to lanes, and back.
#pragma once

#include <cstring>
#include <type_traits>

#include "base/lanes.h"
#include "base/streaming.h"

namespace robosim {

namespace detail {

// One round of a transposition: blocks of `half` numbers change places between rows i and i + half.
template <int half, class Vector, int... j>
ROBOSIM_INLINE void exchange(Vector& a, Vector& b, std::integer_sequence<int, j...>) {
  constexpr int W = sizeof...(j);
  const Vector low = __builtin_shufflevector(a, b, ((j & half) ? W + j - half : j)...);
  b = __builtin_shufflevector(a, b, ((j & half) ? W + j : j + half)...);
  a = low;
}

template <int half, int W, class Vector>
ROBOSIM_INLINE void transpose_rounds(Vector (&x)[W]) {
  if constexpr (half > 0) {
    for (int i = 0; i < W; ++i)
      if (!(i & half)) exchange<half>(x[i], x[i + half], std::make_integer_sequence<int, W>());
    transpose_rounds<half / 2>(x);
  }
}

}  // namespace detail

// out[k] holds in its lane l number k of state l, which begins at from[l].
template <int W, Isa isa>
void gather(const double* const (&from)[W], int size, Lanes<W, isa>* out) {
  using Vector = typename Lanes<W, isa>::Vector;
  int k = 0;
  for (; k + W <= size; k += W) {
    Vector x[W];
    for (int l = 0; l < W; ++l) std::memcpy(&x[l], from[l] + k, sizeof(Vector));
    detail::transpose_rounds<W / 2>(x);
    for (int l = 0; l < W; ++l) out[k + l].v = x[l];
  }
  for (; k < size; ++k)
    for (int l = 0; l < W; ++l) out[k].set(l, from[l][k]);
}

namespace detail {

// Number at(k) of all states becomes number k of each, for k below `size` and the first `count`
// states, whose numbers follow each other from `to`. Two lanes at a time, with neighbors joined
// while they are loaded: half the shuffles of transposing whole registers, and narrow stores, so
// that none of these is what the rest waits for.
template <bool streaming, int W, Isa isa, class At>
ROBOSIM_INLINE void scatter_from(const Lanes<W, isa>* in, At&& at, int size, int count,
                                 double* to) {
  typedef double Pair __attribute__((vector_size(16)));
  constexpr int block = W < 4 ? W : 4;
  const auto store = [](const auto& x, double* place) __attribute__((always_inline)) {
    if (streaming && can_stream<std::remove_cvref_t<decltype(x)>>(place))
      store_streaming(x, place);
    else
      std::memcpy(place, &x, sizeof(x));
  };
  int k = 0;
  for (; count == W && k + block <= size; k += block) {
    const double* from[block];
    for (int j = 0; j < block; ++j) from[j] = reinterpret_cast<const double*>(in + at(k + j));
    for (int l = 0; l < W; l += 2) {
      Pair x[block];
      for (int j = 0; j < block; ++j) std::memcpy(&x[j], from[j] + l, sizeof(Pair));
      double *first = to + static_cast<std::ptrdiff_t>(l) * size + k, *second = first + size;
      if constexpr (block == 4) {
        const auto even = __builtin_shufflevector(x[0], x[2], 0, 1, 2, 3),
                   odd = __builtin_shufflevector(x[1], x[3], 0, 1, 2, 3);
        store(__builtin_shufflevector(even, odd, 0, 4, 2, 6), first);
        store(__builtin_shufflevector(even, odd, 1, 5, 3, 7), second);
      } else {
        store(__builtin_shufflevector(x[0], x[1], 0, 2), first);
        store(__builtin_shufflevector(x[0], x[1], 1, 3), second);
      }
    }
  }
  for (; k < size; ++k)
    for (int l = 0; l < count; ++l) to[static_cast<std::ptrdiff_t>(l) * size + k] = in[at(k)][l];
}

}  // namespace detail

// The reverse, for the first `count` lanes; the states' `size` numbers follow each other from `to`.
// `streaming`: past the caches, where the states' begin allows for it; then end_streaming is due.
template <bool streaming, int W, Isa isa>
void scatter(const Lanes<W, isa>* in, int size, int count, double* to) {
  detail::scatter_from<streaming>(
      in, [](int k) { return k; }, size, count, to);
}

// The same of in[entries[0]], in[entries[1]], ..., `size` in all.
template <bool streaming, int W, Isa isa>
void scatter(const Lanes<W, isa>* in, const int* entries, int size, int count, double* to) {
  detail::scatter_from<streaming>(
      in, [&](int k) { return entries[k]; }, size, count, to);
}

}  // namespace robosim
