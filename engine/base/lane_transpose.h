// From states that follow each other in memory to lanes, and back.
#pragma once

#include <cstring>

#include "base/lanes.h"

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

// The reverse, for the first `count` lanes; the states' `size` numbers follow each other from `to`.
template <int W, Isa isa>
void scatter(const Lanes<W, isa>* in, int size, int count, double* to) {
  using Vector = typename Lanes<W, isa>::Vector;
  int k = 0;
  for (; k + W <= size; k += W) {
    Vector x[W];
    for (int l = 0; l < W; ++l) x[l] = in[k + l].v;
    detail::transpose_rounds<W / 2>(x);
    for (int l = 0; l < count; ++l) std::memcpy(to + static_cast<std::ptrdiff_t>(l) * size + k, &x[l], sizeof(Vector));
  }
  for (; k < size; ++k)
    for (int l = 0; l < count; ++l) to[static_cast<std::ptrdiff_t>(l) * size + k] = in[k][l];
}

}  // namespace robosim
