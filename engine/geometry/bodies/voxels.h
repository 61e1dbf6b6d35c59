// Many points become fewer: one for each occupied cell of a grid, in the middle of the box about
// the cell's points.
//
// No point is farther from the one that stands for it than half the diagonal of a cell, and
// `farthest` is by how much the farthest one is: balls about the points of a radius r lie within
// the balls about the fewer ones of radius r + farthest. O(n), by a table of cells.
#pragma once

#include <span>
#include <vector>

#include "spatial/vec3.h"

namespace robosim {

struct MergedPoints {
  std::vector<Vec3d> points;  // in the order in which their cells were first met
  double farthest = 0;        // [m], rounded up
};

// InputError unless edge [m] is positive and finite, coordinates are finite, and none of them is
// 2^52 cells or more from the origin.
MergedPoints merged_points(std::span<const Vec3d> points, double edge);

}  // namespace robosim
