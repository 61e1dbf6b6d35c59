#include "geometry/bodies/overlap_descent.h"

#include "base/cpu.h"

namespace robosim {

bool any_pieces_meet(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack, FunctionRef<bool(int, int)> meet) {
  static detail::AnyPiecesMeet& chosen =
      for_kernel_isa([](auto isa) -> detail::AnyPiecesMeet& { return detail::any_pieces_meet<isa>(); });
  return chosen(A, B, X_AB, slack, meet);
}

}  // namespace robosim
