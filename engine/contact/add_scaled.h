// to += factor * from, of so few numbers that asking whether the two overlap would take as long as the sum.
#pragma once

namespace robosim {

inline void add_scaled(double factor, const double* __restrict from, int count, double* __restrict to) {
  for (int i = 0; i < count; ++i) to[i] += factor * from[i];
}

}  // namespace robosim
