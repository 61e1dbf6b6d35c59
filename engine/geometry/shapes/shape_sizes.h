// Sizes of a shape as numbers, in the order of the constructor of its type: full sizes, radii, and
// the rounding last. Derivatives use the same order (contact_derivatives.h).
#pragma once

#include <vector>

#include "geometry/shape.h"

namespace robosim {

inline constexpr int max_shape_sizes = 4;

int n_sizes(ShapeType type);
// Write n_sizes numbers [m].
void read_sizes(const Shape& shape, double* sizes);
// Return a shape of the same type with these sizes. Throws InputError if a size is out of range.
Shape with_sizes(const Shape& shape, const double* sizes);

// Return the shape scaled by a factor about its origin, rounding included. Throws InputError if a
// size leaves its range.
Shape scaled(const Shape& shape, double factor);

// Vertices of a convex mesh or a triangle; empty for other shapes.
std::vector<Vec3d> vertices_of(const Shape& shape);
// Return the shape with these vertices. Throws InputError if a vertex of a convex mesh is not a
// corner of the vertices' hull.
Shape with_vertices(const Shape& shape, const std::vector<Vec3d>& vertices);

}  // namespace robosim
