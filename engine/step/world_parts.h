// WorldParts: what a world is made of, to be changed and put together again. A World itself is immutable.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "step/world.h"

namespace robosim {

struct WorldParts {
  Model model;
  std::vector<ExtraObject> extras;  // objects beside the model's colliders
  std::vector<std::pair<int, int>> pairs;
  std::vector<PairMaterial> materials;
  std::vector<Motor> motors;
  Closures closures;
  double dt;  // [s]

  WorldParts(const World& world, double dt);

  int n_objects() const { return static_cast<int>(model.colliders.size() + extras.size()); }
  const CollisionGeometry& geometry(int object) const { return const_cast<WorldParts*>(this)->geometry(object); }
  CollisionGeometry& geometry(int object) {
    const std::size_t i = static_cast<std::size_t>(object), n = model.colliders.size();
    return i < n ? model.colliders[i].geometry : extras[i - n].geometry;
  }
  SE3d& pose(int object) {
    const std::size_t i = static_cast<std::size_t>(object), n = model.colliders.size();
    return i < n ? model.colliders[i].X_BC : extras[i - n].X_BO;
  }
};

}  // namespace robosim
