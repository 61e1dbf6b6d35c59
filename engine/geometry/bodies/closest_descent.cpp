#include "geometry/bodies/closest_descent.h"

#include "base/cpu.h"

namespace robosim {

bool descend_closest(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
                     NearestSoFar& known, FunctionRef<bool(int, int)> visit) {
  static detail::DescendClosest& chosen = for_kernel_isa(
      [](auto isa) -> detail::DescendClosest& { return detail::compiled_descend_closest<isa>(); });
  return chosen(A, B, X_AB, slack, known, visit);
}

}  // namespace robosim
