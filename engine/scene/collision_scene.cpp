#include "scene/collision_scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "base/constants.h"

namespace robosim {
namespace {

// Depth of the box that covers a half-space: the largest coordinate of any object.
constexpr double half_space_depth = 1e6;
constexpr int max_balls = 12;
constexpr double standoff = 0.005;  // [m]
constexpr double rounding = 1e-9;   // [m]

// Cover of a geometry: tight for spheres, capsules and rounded shapes, otherwise the box.
Cover cover_of(const CollisionGeometry& geometry) {
  const Shape& shape = geometry.shape;
  if (!geometry.compound) {
    if (shape.type == ShapeType::sphere) return {{}, {}, shape.radius};
    if (shape.type == ShapeType::capsule) return {{}, {0, 0, shape.half_length}, shape.radius};
    if (shape.type == ShapeType::half_space)
      return {{0, 0, -half_space_depth}, {infinity, infinity, half_space_depth}, 0};
  }
  const Aabb box = bounding_box(geometry, SE3d());
  const double r = geometry.compound ? 0 : shape.rounding;
  return {0.5 * (box.lower + box.upper), 0.5 * (box.upper - box.lower) - Vec3d(r, r, r), r};
}

// Difference of the lengths of a box and of its rod's segment, relative to the width: the round
// ends of a rod reach farther than flat ones.
constexpr double shortened = 0.4;

// Axis of the longest side of a box.
int longest(const Vec3d& e) { return e.x >= e.y && e.x >= e.z ? 0 : (e.y >= e.z ? 1 : 2); }

// Half-length of the segment of a rod about a box. width: half-diagonal across the length.
double rod_length(double length, double width) { return std::max(length - shortened * width, 0.0); }

Rod rod_about(const Aabb& box) {
  const Vec3d e = 0.5 * (box.upper - box.lower);
  const int axis = longest(e);
  Vec3d along;
  along[axis] = 1;
  const double width = norm(e - e[axis] * along), half = rod_length(e[axis], width);
  return {0.5 * (box.lower + box.upper), half * along, std::hypot(width, e[axis] - half)};
}

// Set the rod of an object and its row of equal balls: about the axis of a capsule or cylinder,
// else along the longest side of the cover. A piece of half-length h and radius r is in a ball of
// radius sqrt(r^2 + h^2), which extends beyond the piece by about h^2 / (2 r). The number of balls
// makes that at most `standoff`, but is at most max_balls.
void fill_rod_and_balls(SceneObject& object) {
  const Shape& shape = object.geometry.shape;
  const bool is_shape = !object.geometry.compound;
  const Cover& cover = object.cover;
  const Vec3d& e = cover.half_extents;
  const bool is_capsule = is_shape && shape.type == ShapeType::capsule,
             is_cylinder = is_shape && shape.type == ShapeType::cylinder;
  const int axis = is_capsule || is_cylinder ? 2 : longest(e);
  Vec3d along;
  along[axis] = 1;
  const double length = e[axis];
  if (!std::isfinite(length)) return;
  // Largest distance of any point from the axis, and from the segment on the axis.
  double width = is_cylinder ? shape.radius : norm(e - length * along) + cover.radius;
  double half = is_capsule ? length : rod_length(length, width),
         radius = is_capsule ? width : std::hypot(width, length - half);
  // Tighten both by the vertices of a mesh.
  if (is_shape && shape.type == ShapeType::convex) {
    double squared_width = 0, squared_radius = 0;
    for (const Vec3d& vertex : shape.mesh->vertices) {
      const Vec3d d = vertex - cover.center;
      squared_width = std::max(squared_width, squared_norm(d) - d[axis] * d[axis]);
    }
    width = std::sqrt(squared_width);
    half = rod_length(length, width);
    for (const Vec3d& vertex : shape.mesh->vertices) {
      const Vec3d d = vertex - cover.center;
      squared_radius =
          std::max(squared_radius, squared_norm(d - std::clamp(d[axis], -half, half) * along));
    }
    radius = std::sqrt(squared_radius);
  }
  constexpr double rounded_up = 1 + 1e-12;
  object.rod = {object.X_BO * cover.center, object.X_BO.R * (half * along), radius * rounded_up};

  if (!is_shape) object.slack = object.ball_radius;  // hollows may be as large as the object
  // Row of balls.
  if (!(width > 0) || !(length > 0)) return;
  const double h = std::sqrt(2 * width * standoff);
  // The first and last ball of a capsule are about the ends of its axis and contain the caps.
  const int n =
      std::clamp(static_cast<int>(std::ceil(length / h)) + is_capsule, 1 + is_capsule, max_balls);
  const double ball_radius = std::hypot(width, length / (n - is_capsule)) * rounded_up;
  const double thinnest =
      is_capsule || is_cylinder ? shape.radius : std::min({e.x, e.y, e.z}) + cover.radius;
  if (is_shape) object.slack = 0.5 * (std::min(ball_radius, object.ball_radius) - thinnest);
  if (n == 1 || ball_radius >= object.ball_radius) return;  // no better than the single ball
  for (int i = 0; i < n; ++i) {
    const double at = is_capsule ? 2.0 * i / (n - 1) - 1 : (2 * i + 1.0) / n - 1;
    object.balls.push_back({object.X_BO * (cover.center + at * length * along), ball_radius});
  }
}

// Radius, or slightly less, of the largest ball about a point of O that lies within the geometry or
// the exact body that it stands for; -infinity for a point outside.
double core_at(const CollisionGeometry& geometry, const Vec3d& p) {
  Shape point;
  point.type = ShapeType::sphere;
  point.radius = 0;
  const SE3d X_OP{Mat3d::identity(), p};
  if (geometry.exact) {
    if (!geometry.exact->holds(p)) return -infinity;
    return std::abs(
               closest_pieces(Body(point), X_OP, geometry.exact_body(), SE3d()).witness.distance) -
           rounding;
  }
  Shape shape = geometry.shape;
  // Ignore the rounding of a mesh: its cores are stored with the mesh, for any rounding.
  if (shape.type == ShapeType::convex) shape.rounding = 0;
  const double radius = -signed_distance(point, X_OP, shape, SE3d()).distance - rounding;
  return radius > 0 ? radius : -infinity;
}

// Require that everything solid is inside the box of its pieces: proofs of edges rely on that.
void check_bounded(const std::string& name, const Compound& compound) {
  for (const Compound::Part& part : compound.parts()) {
    const auto* shape = std::get_if<Shape>(&part.geometry);
    if (shape && shape->type == ShapeType::half_space)
      throw std::invalid_argument(
          "'" + name + "' has a half-space among its pieces; give it as an obstacle of its own");
    const auto* surface = std::get_if<std::shared_ptr<const TriangleSurface>>(&part.geometry);
    if (surface && dynamic_cast<const HeightField*>(surface->get()))
      throw std::invalid_argument(
          "'" + name +
          "' is a height field, whose solid has no sides and no bottom; give it as a closed mesh");
  }
}

}  // namespace

CollisionScene::CollisionScene(const Model& model, std::vector<ExtraObject> extras,
                               std::vector<std::pair<int, int>> pairs, Tables tables)
    : model_(&model),
      pairs_(std::move(pairs)),
      tables_(std::move(tables)),
      apart_(pairs_.size(), 0) {
  objects_.reserve(model.colliders.size() + extras.size());
  for (const Collider& c : model.colliders) add_object(c.name, c.geometry, c.body, c.X_BC);
  for (const ExtraObject& e : extras) {
    if (e.body < 0 || e.body >= model.n_bodies())
      throw std::invalid_argument("object '" + e.name + "' is fixed to body " +
                                  std::to_string(e.body) + "; the model has bodies 0 to " +
                                  std::to_string(model.n_bodies() - 1));
    add_object(e.name, e.geometry, e.body, e.X_BO);
  }
  const int n = static_cast<int>(objects_.size());
  for (const auto& [a, b] : pairs_)
    if (a < 0 || b < 0 || a >= n || b >= n || a == b)
      throw std::invalid_argument("pair (" + std::to_string(a) + ", " + std::to_string(b) +
                                  ") does not name two different objects; there are " +
                                  std::to_string(n));
  if (!tables_.empty() && tables_.size() != pairs_.size())
    throw std::invalid_argument("tables has " + std::to_string(tables_.size()) +
                                " entries; there are " + std::to_string(pairs_.size()) + " pairs");
  for (std::size_t i = 0; i < tables_.size(); ++i)
    apart_[i] = tables_[i] && tables_[i]->is_free_everywhere();
  bound_bodies();
  sort_pairs();
  make_clusters();
}

void CollisionScene::add_object(const std::string& name, const CollisionGeometry& geometry,
                                int body, const SE3d& X_BO) {
  if (geometry.is_half_space() && body != 0)
    throw std::invalid_argument("half-space '" + name +
                                "' is attached to a moving body; only obstacles may be unbounded");
  if (const Compound* compound = geometry.exact_body().compound()) check_bounded(name, *compound);
  if (geometry.exact) has_exact_ = true;
  const Ball ball = bounding_ball(geometry);
  objects_.push_back({name,
                      geometry,
                      body,
                      X_BO,
                      X_BO * ball.center,
                      ball.radius,
                      {},
                      {},
                      -infinity,
                      {},
                      0,
                      cover_of(geometry)});
  SceneObject& object = objects_.back();
  fill_rod_and_balls(object);
  object.cores.assign(object.balls.size(), -infinity);
  if (geometry.compound || geometry.is_half_space()) return;
  const ShapeType type = geometry.shape.type;
  object.is_cover = !geometry.exact && (type == ShapeType::sphere || type == ShapeType::box ||
                                        type == ShapeType::capsule);
  if (body == 0) return;  // cores are needed only for moving objects
  const auto cores = [&] {
    std::vector<double> out{core_at(geometry, X_BO.inverse_times(object.rod.center))};
    for (const Ball& b : object.balls)
      out.push_back(core_at(geometry, X_BO.inverse_times(b.center)));
    return out;
  };
  // The rod and the balls of a mesh are the same in its frame for every object, so their cores are
  // stored with the mesh.
  std::vector<double> found = geometry.exact              ? geometry.cores->of(cores)
                              : type == ShapeType::convex ? geometry.shape.mesh->cores.of(cores)
                                                          : cores();
  if (found.size() != object.balls.size() + 1) found = cores();
  object.core = found[0];
  object.cores.assign(found.begin() + 1, found.end());
}

void CollisionScene::bound_bodies() {
  const Aabb nothing{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
  body_boxes_.assign(model_->n_bodies(), nothing);
  body_balls_.assign(body_boxes_.size(), {{}, -1});
  body_rods_.resize(body_boxes_.size());
  for (const SceneObject& object : objects_) {
    Aabb& box = body_boxes_[object.body];
    if (object.body != 0) box = hull(box, bounding_box(object.geometry, object.X_BO));
  }
  for (const SceneObject& object : objects_) {
    if (object.body == 0) continue;
    const Aabb& box = body_boxes_[object.body];
    Ball& ball = body_balls_[object.body];
    ball.center = 0.5 * (box.lower + box.upper);
    body_rods_[object.body] = rod_about(box);
    ball.radius = std::max(ball.radius, norm(object.p_BC - ball.center) + object.ball_radius);
  }
}

// Sort the single pairs by their bodies, those that never touch last, and cluster each run.
void CollisionScene::make_clusters() {
  for (Pair& pair : single_)
    if (object(pair.a).body < object(pair.b).body) std::swap(pair.a, pair.b);
  const auto key = [&](const Pair& p) {
    const int body_b = object(p.b).body;
    return std::array<int, 3>{object(p.a).body, body_b, body_b == 0 ? p.b : -1};
  };
  std::stable_sort(single_.begin(), single_.end(), [&](const Pair& p, const Pair& q) {
    return std::pair(key(p), is_apart(p.index)) < std::pair(key(q), is_apart(q.index));
  });
  for (std::size_t i = 0; i < single_.size(); ++i) {
    if (i == 0 || key(single_[i]) != key(single_[i - 1])) {
      const auto [body_a, body_b, b] = key(single_[i]);
      clusters_.push_back({body_a, body_b, b, static_cast<int>(i), 0, 0});
    }
    ++clusters_.back().count;
    clusters_.back().touchable += !is_apart(single_[i].index);
  }
}

void CollisionScene::sort_pairs() {
  // The moving object comes first; the obstacles of each moving object are collected.
  std::map<int, std::vector<int>> obstacles_of;  // moving object -> indices into pairs_
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    auto [a, b] = pairs_[i];
    if (object(a).body == object(b).body) {
      fixed_.push_back({a, b, static_cast<int>(i)});
      continue;
    }
    if (object(a).body == 0) std::swap(a, b);
    if (object(b).body == 0 && !is_apart(static_cast<int>(i)))
      obstacles_of[a].push_back(static_cast<int>(i));
    else
      single_.push_back({a, b, static_cast<int>(i)});
  }
  // Moving objects with the same set of many obstacles share one tree.
  std::map<std::vector<int>, int> tree_of;
  for (const auto& [a, indices] : obstacles_of) {
    std::vector<int> obstacles;
    for (const int i : indices) {
      const auto& pair = pairs_[i];
      obstacles.push_back(pair.first == a ? pair.second : pair.first);
    }
    if (static_cast<int>(obstacles.size()) <= group_threshold) {
      for (std::size_t k = 0; k < indices.size(); ++k)
        single_.push_back({a, obstacles[k], indices[k]});
      continue;
    }
    std::sort(obstacles.begin(), obstacles.end());
    const auto [entry, is_new] = tree_of.try_emplace(obstacles, static_cast<int>(trees_.size()));
    if (is_new) {
      std::vector<Aabb> boxes;
      boxes.reserve(obstacles.size());
      for (const int o : obstacles)
        boxes.push_back(bounding_box(object(o).geometry, object(o).X_BO));
      trees_.emplace_back(boxes, 1, obstacles);
    }
    groups_.push_back({a, entry->second});
  }
  // Find the first fixed pair that overlaps.
  for (const Pair& pair : fixed_) {
    const SceneObject &A = object(pair.a), &B = object(pair.b);
    if (closer_than(0, A.geometry, A.X_BO, B.geometry, B.X_BO)) {
      overlapping_fixed_pair_ = pair.index;
      break;
    }
  }
}

}  // namespace robosim
