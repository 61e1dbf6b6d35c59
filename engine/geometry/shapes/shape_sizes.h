// Sizes of a shape as numbers, in the order in which the constructor of its type has them: full
// sizes, radii, and the rounding last. Derivatives count them alike (contact_derivatives.h).
#pragma once

#include <vector>

#include "geometry/shape.h"

namespace robosim {

inline constexpr int max_shape_sizes = 4;

int n_sizes(ShapeType type);
// Writes n_sizes numbers [m].
void read_sizes(const Shape& shape, double* sizes);
// The same type of shape with these sizes. Throws InputError where one is out of its range.
Shape with_sizes(const Shape& shape, const double* sizes);

// Larger by a factor about its origin, rounding included. Throws InputError where a size leaves its
// range.
Shape scaled(const Shape& shape, double factor);

// The vertices of a convex mesh or a triangle; none of another shape.
std::vector<Vec3d> vertices_of(const Shape& shape);
// The same shape with these vertices. Throws InputError where one of a convex mesh is no corner of
// their hull.
Shape with_vertices(const Shape& shape, const std::vector<Vec3d>& vertices);

}  // namespace robosim
