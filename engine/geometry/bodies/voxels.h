// Downsampling of points: one point for each occupied cell of a grid, in the middle of the box
// around the cell's points.
//
// No point is farther from its representative than half the diagonal of a cell. The largest of
// these distances is `farthest`: balls of radius r about the points lie within balls of radius r +
// farthest about their representatives. O(n), by a table of cells.
#pragma once

#include <span>
#include <vector>

#include "spatial/vec3.h"

namespace robosim {

struct MergedPoints {
  std::vector<Vec3d> points;  // in the order in which their cells first occur
  double farthest = 0;        // [m], rounded up
};

// Merge the points of each cell. InputError unless edge [m] is positive and finite, coordinates are
// finite, and none of them is 2^52 cells or more from the origin.
MergedPoints merged_points(std::span<const Vec3d> points, double edge);

}  // namespace robosim
