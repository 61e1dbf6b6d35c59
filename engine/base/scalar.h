// Functions that kernels require of their scalar S besides arithmetic: fused products, branch-free
// selection, sine and cosine together, and the value as a plain number.
//
// A scalar that is not double (Dual; Lanes, several robots side by side) offers the same functions
// in this namespace, and sin, cos, sqrt and atan2 where argument-dependent lookup finds them.
#pragma once

#include <cmath>

#include "base/inline.h"

namespace robosim {

ROBOSIM_INLINE double select(bool condition, double if_true, double if_false) {
  return condition ? if_true : if_false;
}

// a b + c and c - a b. Rounded once where the scalar supports it (Lanes on a processor with FMA),
// and twice for double, so that all code compiled for double has the same bits on every machine.
ROBOSIM_INLINE double mul_add(double a, double b, double c) { return a * b + c; }
ROBOSIM_INLINE double nmul_add(double a, double b, double c) { return c - a * b; }

// Maximum and minimum; if one argument is NaN, the other one (IEEE 754-2008, maxNum and minNum).
// std::fmax and std::fmin are library calls, around which all registers are saved to memory: a
// tenth of GJK's time.
ROBOSIM_INLINE double max_number(double a, double b) { return a > b || b != b ? a : b; }
ROBOSIM_INLINE double min_number(double a, double b) { return a < b || b != b ? a : b; }

inline void sin_cos(double x, double& s, double& c) {
  s = std::sin(x);
  c = std::cos(x);
}

// Nearest integer; its derivative is zero.
inline double nearest(double x) { return std::nearbyint(x); }

inline double value_of(double x) { return x; }

}  // namespace robosim
