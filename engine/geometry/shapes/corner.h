// A corner of a polytope, by its place and by its number among the shape's own.
#pragma once

#include <concepts>

#include "spatial/vec3.h"

namespace robosim {

struct Corner {
  Vec3d p;
  int number;
};

// A polytope whose corners have numbers: 0 to n_corners() - 1.
template <class Core>
concept HasCorners = requires(const Core& core, const Vec3d& d, int i) {
  { core.corner_towards(d) } -> std::same_as<Corner>;  // the farthest
  { core.corner(i) } -> std::same_as<Vec3d>;
  { core.n_corners() } -> std::same_as<int>;
};

}  // namespace robosim
