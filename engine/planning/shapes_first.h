// Search by enclosing shapes first. Where shapes stand for meshes, a search among the shapes takes
// a tenth of the time of a search among the meshes.
//
// A configuration that is free among the shapes is free among the meshes
// (geometry/bodies/collision_geometry.h), so a path found among the shapes is valid. The converse
// does not hold, so the meshes decide for pairs of objects
//
// - whose shapes overlap at the start or a goal: during the whole search
// - whose shapes have blocked edges where the meshes are apart: from then on
//
// Two links of the robot, whose shapes may exclude a whole range of a few joints, are examined
// early, every few blocked edges. Their meshes decide once they are apart at half of the examined
// edges. An edge blocked by an obstacle mostly leaves another way around it. Such pairs are
// examined after many blocked edges, and their meshes decide at the first one where they are apart.
// So a search that needs no meshes queries none, and a long search ends among the meshes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planning/edge_check.h"

namespace robosim {

// Makes a checker decide by shapes during the lifetime of this object.
class ShapesFirst {
 public:
  // Arguments as of EdgeChecker::decide_by_shapes.
  ShapesFirst(EdgeChecker& checker, const double* q, std::size_t n,
              const std::vector<int>& columns);
  ~ShapesFirst() { checker_.decide_by_bodies(); }
  ShapesFirst(const ShapesFirst&) = delete;
  ShapesFirst& operator=(const ShapesFirst&) = delete;

  // Report the collision that the checker has found on the line from q0 to q1.
  void is_blocked(const EdgeResult& found, const double* q0, const double* q1);

 private:
  struct Pair {
    int a, b;
    // Examined edges that the shapes have blocked, and those where the meshes are apart.
    int looked_at, apart;
  };

  EdgeChecker& checker_;
  bool is_active_;
  std::int64_t blocked_ = 0;
  std::vector<Pair> pairs_;
  Line line_;
  std::vector<double> q_;
};

}  // namespace robosim
