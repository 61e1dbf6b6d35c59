// Reads and writes the numbers of each kind of parameter in the parts of a world
// (parameter_kinds.h).
#include <cmath>
#include <limits>
#include <variant>

#include "base/index.h"
#include "geometry/shapes/shape_sizes.h"
#include "spatial/lie.h"
#include "step/parameter_kinds.h"
#include "step/world.h"

namespace robosim {

WorldParts::WorldParts(const World& world, double step)
    : model(world.model()),
      pairs(world.scene().pairs()),
      materials(world.materials()),
      motors(world.motors()),
      closures(world.closures()),
      dt(step) {
  const std::vector<SceneObject>& objects = world.scene().objects();
  for (std::size_t i = model.colliders.size(); i < objects.size(); ++i)
    extras.push_back({objects[i].name, objects[i].geometry, objects[i].body, objects[i].X_BO});
}

namespace detail {
namespace {

constexpr int moments[6][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}};

// Pose moved by a twist (linear, angular) in its own frame. A zero twist returns the pose
// unchanged, to the bit.
SE3d moved_along(const SE3d& X, const double* twist) {
  if (std::all_of(twist, twist + 6, [](double x) { return x == 0; })) return X;
  return X * exp_motion(Motion<double>{vec3_at(twist + 3), vec3_at(twist)});
}

// Call use(shape, object, part) for each piece with vertices, in the order of VertexRows. part:
// index among the parts of a compound, or -1.
template <class Use>
void for_each_mesh(const WorldParts& parts, const Use& use) {
  for (int i = 0; i < parts.n_objects(); ++i) {
    const CollisionGeometry& geometry = parts.geometry(i);
    if (!geometry.compound) {
      if (geometry.shape.has_vertices()) use(geometry.shape, i, -1);
      continue;
    }
    const std::vector<Compound::Part>& all = geometry.compound->parts();
    for (std::size_t k = 0; k < all.size(); ++k)
      if (const Shape* shape = std::get_if<Shape>(&all[k].geometry); shape && shape->has_vertices())
        use(*shape, i, static_cast<int>(k));
  }
}

}  // namespace

void write_poses(WorldParts& parts, int owners, const double* x) {
  for (int i = 0; i < owners; ++i) parts.pose(i) = moved_along(parts.pose(i), x + 6 * i);
}

void read_object_sizes(const WorldParts& parts, int owners, double* x) {
  for (int i = 0; i < owners; ++i, x += max_shape_sizes) {
    const CollisionGeometry& geometry = parts.geometry(i);
    std::fill_n(x, max_shape_sizes,
                geometry.compound ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    if (!geometry.compound) read_sizes(geometry.shape, x);
  }
}

void write_object_sizes(WorldParts& parts, int owners, const double* x) {
  for (int i = 0; i < owners; ++i, x += max_shape_sizes) {
    CollisionGeometry& geometry = parts.geometry(i);
    if (geometry.compound) continue;
    double before[max_shape_sizes] = {};
    read_sizes(geometry.shape, before);
    if (!std::equal(before, before + max_shape_sizes, x)) geometry = with_sizes(geometry.shape, x);
  }
}

void read_object_scales(const WorldParts& parts, int owners, double* x) {
  for (int i = 0; i < owners; ++i)
    x[i] = parts.geometry(i).compound ? std::numeric_limits<double>::quiet_NaN() : 1.0;
}

void write_object_scales(WorldParts& parts, int owners, const double* x) {
  for (int i = 0; i < owners; ++i) {
    CollisionGeometry& geometry = parts.geometry(i);
    if (!geometry.compound && x[i] != 1) geometry = scaled(geometry.shape, x[i]);
  }
}

void read_vertices(const WorldParts& parts, int, double* x) {
  for_each_mesh(parts, [&](const Shape& shape, int, int) {
    for (const Vec3d& p : vertices_of(shape))
      for (int k = 0; k < 3; ++k) *x++ = p[k];
  });
}

void write_vertices(WorldParts& parts, int, const double* x) {
  std::vector<std::pair<int, int>> places;
  std::vector<Shape> shapes;
  for_each_mesh(parts, [&](const Shape& shape, int object, int part) {
    std::vector<Vec3d> vertices = vertices_of(shape);
    bool is_changed = false;
    for (Vec3d& p : vertices)
      for (int k = 0; k < 3; ++k, ++x) {
        is_changed |= p[k] != *x;
        p[k] = *x;
      }
    if (!is_changed) return;
    places.emplace_back(object, part);
    shapes.push_back(with_vertices(shape, vertices));
  });
  // Replace the changed shapes.
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    CollisionGeometry& geometry = parts.geometry(places[i].first);
    if (places[i].second < 0) {
      geometry = shapes[i];
      continue;
    }
    std::vector<Compound::Part> changed = geometry.compound->parts();
    changed[places[i].second].geometry = shapes[i];
    geometry = std::make_shared<const Compound>(std::move(changed));
  }
}

void write_closure_frames(WorldParts& parts, int owners, const double* x) {
  for (int i = 0; i < owners; ++i, x += 12) {
    double twist[2][6];
    for (int k = 0; k < 6; ++k) {
      twist[0][k] = x[2 * k];
      twist[1][k] = x[2 * k + 1];
    }
    FrameClosure& closure = parts.closures.frames[i];
    closure.X_AF = moved_along(closure.X_AF, twist[0]);
    closure.X_BG = moved_along(closure.X_BG, twist[1]);
  }
}

void read_coefficients(const WorldParts& parts, int owners, double* x) {
  for (int i = 0; i < owners; ++i)
    x = std::copy_n(parts.closures.joints[i].coefficients, JointEquality::terms, x);
}

void write_coefficients(WorldParts& parts, int owners, const double* x) {
  for (int i = 0; i < owners; ++i)
    std::copy_n(x + JointEquality::terms * i, JointEquality::terms,
                parts.closures.joints[i].coefficients);
}

void read_com(const WorldParts& parts, int owners, double* x) {
  for (int i = 0; i < owners; ++i)
    for (int k = 0; k < 3; ++k) x[3 * i + k] = parts.model.inertias[i + 1].com[k];
}

void write_com(WorldParts& parts, int owners, const double* x) {
  for (int i = 0; i < owners; ++i) parts.model.inertias[i + 1].com = vec3_at(x + 3 * i);
}

void read_moments(const WorldParts& parts, int owners, double* x) {
  for (int i = 0; i < owners; ++i)
    for (const auto [r, s] : moments) *x++ = parts.model.inertias[i + 1].I_com(r, s);
}

void write_moments(WorldParts& parts, int owners, const double* x) {
  for (int i = 0; i < owners; ++i) {
    Mat3d& I = parts.model.inertias[i + 1].I_com;
    for (const auto [r, s] : moments) I(r, s) = I(s, r) = *x++;
  }
}

void write_placements(WorldParts& parts, int owners, const double* x) {
  for (int i = 0; i < owners; ++i) {
    Joint& joint = parts.model.joints[i + 1];
    joint.X_PJ = moved_along(joint.X_PJ, x + 6 * i);
    joint.prepare();
  }
}

void read_gravity(const WorldParts& parts, int, double* x) {
  for (int k = 0; k < 3; ++k) x[k] = parts.model.gravity[k];
}

void write_gravity(WorldParts& parts, int, const double* x) { parts.model.gravity = vec3_at(x); }

}  // namespace detail
}  // namespace robosim
