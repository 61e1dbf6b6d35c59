// What a kernel may ask of its scalar S beside arithmetic: a choice without a branch, and the plain number inside.
//
// A scalar that is not double (Dual, or several robots side by side) offers the same functions in this namespace, and
// sin, cos, sqrt and atan2 where argument-dependent lookup finds them.
#pragma once

#include <cmath>

namespace robosim {

inline double select(bool condition, double if_true, double if_false) { return condition ? if_true : if_false; }

// The nearest whole number; locally constant.
inline double nearest(double x) { return std::nearbyint(x); }

inline double value_of(double x) { return x; }

}  // namespace robosim
