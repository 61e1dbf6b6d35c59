// Shapes first: where shapes stand for meshes, a search among the shapes takes a tenth of the time
// of one among the meshes.
//
// What is free among the shapes is free among the meshes (geometry/bodies/collision_geometry.h), so
// a path that is found there is valid. The converse does not hold, so pairs of objects are decided
// by their meshes
//   whose shapes overlap at the start or a goal, all along;
//   whose shapes have blocked edges where the meshes are apart, from then on. Two links of the
//     robot, whose shapes may keep it from a whole range of
//   few joints, are looked at early, every few blocked edges, and go over if their meshes are apart
//     in half of these. What blocks the way beside an
//   obstacle mostly leaves another: such pairs are looked at after many edges, and go over at the
//     first.
// So a search that needs no meshes asks for none, and one that goes on for long ends among the
// meshes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planning/edge_check.h"

namespace robosim {

// Has a checker go by shapes as long as it lives.
class ShapesFirst {
 public:
  // As EdgeChecker::decide_by_shapes.
  ShapesFirst(EdgeChecker& checker, const double* q, std::size_t n,
              const std::vector<int>& columns);
  ~ShapesFirst() { checker_.decide_by_bodies(); }
  ShapesFirst(const ShapesFirst&) = delete;
  ShapesFirst& operator=(const ShapesFirst&) = delete;

  // What the checker has found on the line from q0 to q1.
  void is_blocked(const EdgeResult& found, const double* q0, const double* q1);

 private:
  struct Pair {
    int a, b;
    // Edges that its shapes have blocked, and those of them where its meshes are apart.
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
