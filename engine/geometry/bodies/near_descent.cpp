#include "geometry/bodies/near_descent.h"

#include "base/cpu.h"

namespace robosim {

bool descend_near(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
                  const double& limit, FunctionRef<bool(int, int)> visit) {
  static detail::DescendNear& chosen = for_kernel_isa(
      [](auto isa) -> detail::DescendNear& { return detail::compiled_descend_near<isa>(); });
  return chosen(A, B, X_AB, slack, limit, visit);
}

}  // namespace robosim
