// Transposition between consecutive states in memory and lanes.
#pragma once

#include <cstring>
#include <type_traits>

#include "base/lanes.h"
#include "base/streaming.h"

namespace robosim {

namespace detail {

// One round of a transposition: exchange blocks of `half` numbers between rows i and i + half.
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

// Fill out[k] with number k of each state: lane l is that of state l, which begins at from[l].
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

// Write in[at(k)] to number k of each state, for k below `size` and the first `count` states, which
// are consecutive from `to`. Two lanes at a time, with neighbors joined while they are loaded: this
// takes half the shuffles of a transposition of whole registers, and narrow stores, so that neither
// limits the speed.
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

// Reverse of gather, for the first `count` lanes; states of `size` numbers are consecutive from
// `to`. `streaming`: store past the caches where the alignment of the states allows; the caller
// then has to call end_streaming.
template <bool streaming, int W, Isa isa>
void scatter(const Lanes<W, isa>* in, int size, int count, double* to) {
  detail::scatter_from<streaming>(
      in, [](int k) { return k; }, size, count, to);
}

// Scatter in[entries[0]], in[entries[1]], ..., `size` in all.
template <bool streaming, int W, Isa isa>
void scatter(const Lanes<W, isa>* in, const int* entries, int size, int count, double* to) {
  detail::scatter_from<streaming>(
      in, [&](int k) { return entries[k]; }, size, count, to);
}

}  // namespace robosim
