// Corners of polytopes: position, and number among the shape's corners.
#pragma once

#include <concepts>

#include "spatial/vec3.h"

namespace robosim {

struct Corner {
  Vec3d p;
  int number;
};

// Polytope whose corners have the numbers 0 to n_corners() - 1.
template <class Core>
concept HasCorners = requires(const Core& core, const Vec3d& d, int i) {
  { core.corner_towards(d) } -> std::same_as<Corner>;  // the farthest corner
  { core.corner(i) } -> std::same_as<Vec3d>;
  { core.n_corners() } -> std::same_as<int>;
};

}  // namespace robosim
