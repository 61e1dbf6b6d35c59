// Sums over few numbers, as over the channels of a block or of an island. General loops, and checks
// for overlap of arrays, would take as long as these sums.
#pragma once

#include <cmath>
#include <cstddef>

#include "base/inline.h"
#include "base/lane_memory.h"
#include "base/lanes.h"

namespace robosim {

// to += factor * from.
inline void add_scaled(double factor, const double* __restrict from, int count,
                       double* __restrict to) {
  for (int i = 0; i < count; ++i) to[i] += factor * from[i];
}

// As add_scaled, with a count known at compile time.
template <int count>
inline void add_scaled(double factor, const double* __restrict from, double* __restrict to) {
  for (int i = 0; i < count; ++i) to[i] += factor * from[i];
}

// sum + low += x, sum rounded: Knuth's TwoSum ("The art of computer programming", volume 2, section
// 4.2.2). T: a number, or several side by side.
template <class T>
ROBOSIM_INLINE void add_exactly(const T& x, T& sum, T& low) {
  const T before = sum, after = before + x, of_x = after - before;
  low += (before - (after - of_x)) + (x - of_x);
  sum = after;
}

// sum + low += a b, with the rounding errors of product and sum in low.
inline void add_product(double a, double b, double& sum, double& low) {
  const double product = a * b;
  low += std::fma(a, b, -product);
  add_exactly(product, sum, low);
}

// Inner product by independent partial sums.
ROBOSIM_INLINE double dot(const double* a, const double* b, int n) {
  if (n == 6) {
    const double first = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    return first + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
  }
  if (n == 3) return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  double sum[4] = {};
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int j = 0; j < 4; ++j) sum[j] += a[i + j] * b[i + j];
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Compute to[i] = dot(factors, column i of `rows`, count), with the same order of sums, by two
// columns at once. rows: count rows, a stride apart.
template <int count>
inline void dots(const double* factors, const double* rows, std::ptrdiff_t stride, int columns,
                 double* to) {
  using Pair = Lanes<2, Isa::baseline>;
  const auto sum = [](const auto& product) __attribute__((always_inline)) {
    const auto part = [&](int first, int end) __attribute__((always_inline)) {
      auto x = product(first);
      for (int k = first + 1; k < end; ++k) x += product(k);
      return x;
    };
    if constexpr (count == 6)
      return part(0, 3) + part(3, count);
    else
      return part(0, count);
  };
  Pair by[count];
  for (int k = 0; k < count; ++k) by[k] = Pair(factors[k]);
  int i = 0;
  for (; i + Pair::width <= columns; i += Pair::width)
    store_lanes(sum([&](int k) __attribute__((always_inline)) {
                  return by[k] * load_lanes<Pair>(rows + k * stride + i);
                }),
                to + i);
  if (i < columns)
    to[i] =
        sum([&](int k) __attribute__((always_inline)) { return by[k][0] * rows[k * stride + i]; });
}

}  // namespace robosim
