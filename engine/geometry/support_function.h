// Type-erased support function, for code that is not compiled once per pair of shapes (EPA and the
// polish of curved shapes).
#pragma once

#include "geometry/distance/gjk.h"

namespace robosim {

struct SupportFunction {
  const void* difference;
  SupportPoint (*function)(const void*, const Vec3d&);

  template <class Difference>
  static SupportFunction of(const Difference& D) {
    return {&D, [](const void* d, const Vec3d& m) {
              return static_cast<const Difference*>(d)->support(m);
            }};
  }
  SupportPoint operator()(const Vec3d& m) const { return function(difference, m); }
  SupportPoint support(const Vec3d& m) const { return function(difference, m); }
};

}  // namespace robosim
