#include "geometry/distance/lane_core.h"

namespace robosim {

LaneCore lane_core(const Shape& shape) {
  LaneCore out;
  out.type = shape.type;
  if (shape.type == ShapeType::half_space || shape.type == ShapeType::triangle) return out;
  out.is_known = true;
  visit(shape, [&](const auto& core) {
    if constexpr (requires { core.curved; }) {
      out.is_curved = core.curved;
      out.rounding = core.rounding();
      out.center = core.center();
    }
  });
  out.half = shape.half_extents;
  if (shape.type == ShapeType::capsule || shape.type == ShapeType::cylinder ||
      shape.type == ShapeType::cone)
    out.half = {shape.radius, shape.radius, shape.half_length};
  if (shape.mesh)
    out.points = shape.mesh->support_table.of(shape.mesh->vertices).view(shape.mesh->vertices);
  return out;
}

}  // namespace robosim
