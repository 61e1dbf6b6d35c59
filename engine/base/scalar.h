// What a kernel may ask of its scalar S beside arithmetic: fused products, a choice without a
// branch, sine and cosine at once, and the plain number inside.
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

// a b + c and c - a b. In one rounding where the scalar has that (Lanes on a processor with FMA),
// in two for double, so that everything compiled for double has the same bits on every machine.
ROBOSIM_INLINE double mul_add(double a, double b, double c) { return a * b + c; }
ROBOSIM_INLINE double nmul_add(double a, double b, double c) { return c - a * b; }

// The larger and the smaller number, and the other where one is none (IEEE 754-2008, maxNum and
// minNum). std::fmax and std::fmin are calls into the library, around which every register goes to
// memory: a tenth of GJK's time.
ROBOSIM_INLINE double max_number(double a, double b) { return a > b || b != b ? a : b; }
ROBOSIM_INLINE double min_number(double a, double b) { return a < b || b != b ? a : b; }

inline void sin_cos(double x, double& s, double& c) { s = std::sin(x), c = std::cos(x); }

// The nearest whole number; locally constant.
inline double nearest(double x) { return std::nearbyint(x); }

inline double value_of(double x) { return x; }

}  // namespace robosim
