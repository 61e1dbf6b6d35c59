#include "step/vertex_rows.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <variant>

namespace robosim {
namespace {

int n_vertices(const Shape& shape) {
  if (shape.mesh) return static_cast<int>(shape.mesh->vertices.size());
  return shape.has_vertices() ? static_cast<int>(std::size(shape.vertex)) : 0;
}

}  // namespace

VertexRows::VertexRows(const std::vector<SceneObject>& objects) {
  const auto add = [&](std::size_t object, int piece, const Shape& shape) {
    if (const int count = n_vertices(shape); count > 0)
      meshes_.push_back({static_cast<int>(object), piece, size(), count});
  };
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const CollisionGeometry& geometry = objects[i].geometry;
    if (!geometry.compound) {
      add(i, 0, geometry.shape);
      continue;
    }
    for (const Compound::Part& part : geometry.compound->parts())
      if (const Shape* shape = std::get_if<Shape>(&part.geometry)) add(i, part.first, *shape);
  }
}

int VertexRows::first(int object, int piece) const {
  const auto found = std::lower_bound(meshes_.begin(), meshes_.end(), std::tuple(object, piece),
                                      [](const Mesh& mesh, const std::tuple<int, int>& of) {
                                        return std::tuple(mesh.object, mesh.piece) < of;
                                      });
  return found != meshes_.end() && found->object == object && found->piece == piece ? found->first
                                                                                    : -1;
}

}  // namespace robosim
