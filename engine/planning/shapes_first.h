// Shapes first: where shapes stand for meshes, a search among the shapes takes a tenth of the time of one among the meshes.
//
// What is free among the shapes is free among the meshes (geometry/bodies/collision_geometry.h), so a path that is found there is valid. The
// converse does not hold: pairs whose shapes overlap at the start or a goal are decided by their meshes all along, and a search that finds nothing
// in a certain number of iterations begins anew among the meshes alone.
#pragma once

#include <cstddef>
#include <vector>

#include "planning/edge_check.h"

namespace robosim {

// Has a checker go by shapes as long as it lives.
class ShapesFirst {
 public:
  // As EdgeChecker::decide_by_shapes.
  ShapesFirst(EdgeChecker& checker, const double* q, std::size_t n, const std::vector<int>& columns) : checker_(checker) {
    checker_.decide_by_shapes(q, n, columns);
  }
  ~ShapesFirst() { checker_.decide_by_bodies(); }
  ShapesFirst(const ShapesFirst&) = delete;
  ShapesFirst& operator=(const ShapesFirst&) = delete;

 private:
  EdgeChecker& checker_;
};

}  // namespace robosim
