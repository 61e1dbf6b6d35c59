// Pairs of shapes in poses that are hard for collision queries. Each scene depends on a seed and a
// number alone.
//
// Shapes are 1e-6 to 1e3 m large, and half of the pairs have different sizes. They are needles,
// discs and flat shapes of every type. Convex meshes are flat, needles, on a grid (with faces and
// edges of many vertices) or made from repeated points; some have 100,000 vertices. The poses are:
// - anywhere;
// - common centers and axes;
// - common axes with shifts by whole sizes, so that faces and edges are parallel or touch exactly;
// - nearly such axes;
// - one shape inside the other;
// - translated along the normal to touch, to a small gap or to a small depth.
#pragma once

#include <cmath>

#include "shape_sampler.h"
#include "spatial/lie.h"

namespace robosim::testing {

struct Scene {
  enum class Kind {
    anywhere,
    concentric,
    aligned,
    on_grid,
    nearly_aligned,
    contained,
    touching,
    shallow,
    count
  };
  static constexpr const char* names[] = {"anywhere",       "concentric", "aligned",  "on a grid",
                                          "nearly aligned", "contained",  "touching", "shallow"};
  Shape A, B;
  SE3d X_WA, X_WB;
  Kind kind = Kind::anywhere;
  // Extent of the shapes from their frames' origins (for a half-space of its surroundings) plus the
  // distance of these origins [m].
  double size = 0;
};

class HostileScenes {
 public:
  explicit HostileScenes(std::uint64_t seed, std::size_t vertices_of_large = 100000,
                         int n_meshes = 256)
      : seed_(seed) {
    RandomShapes random;
    random.engine.seed(seed);
    for (int i = 0; i < n_meshes; ++i)
      meshes_.push_back(hull(random, i % 4, static_cast<std::size_t>(random.uniform(4, 40))));
    for (const Vec3d& extent : {Vec3d(1, 1, 1), Vec3d(1, 0.8, 1e-3), Vec3d(1, 1e-2, 2e-2)}) {
      std::vector<Vec3d> points(vertices_of_large);
      for (Vec3d& p : points) {
        p = Vec3d(random.sign_free(), random.sign_free(), random.sign_free());
        p *= 1 / norm(p);
        p = Vec3d(extent.x * p.x, extent.y * p.y, extent.z * p.z);
      }
      large_.push_back(std::make_shared<ConvexMesh>(convex_hull_mesh(points)));
      // Build the table in advance: it takes a second and must not count for a scene.
      large_.back()->support_table.of(large_.back()->vertices);
    }
  }

  Scene scene(std::uint64_t number) const {
    RandomShapes random;
    random.engine.seed(seed_ * 0x9e3779b97f4a7c15u + number);
    Scene s;
    const int types = n_shape_types * n_shape_types, pair = static_cast<int>(number % types);
    const double size_A = log_uniform(random, 1e-4, 1e3),
                 size_B = random.engine() % 2 ? size_A : log_uniform(random, 1e-4, 1e3);
    s.A = shape(random, static_cast<ShapeType>(pair / n_shape_types), size_A);
    s.B = shape(random, static_cast<ShapeType>(pair % n_shape_types), size_B);
    s.kind =
        static_cast<Scene::Kind>(random.engine() % static_cast<std::uint64_t>(Scene::Kind::count));
    place(random, s, bounded(s.A) ? bounding_ball(s.A).radius : size_A,
          bounded(s.B) ? bounding_ball(s.B).radius : size_B);
    return s;
  }

  static bool bounded(const Shape& s) { return s.type != ShapeType::half_space; }

 private:
  static double log_uniform(RandomShapes& random, double a, double b) {
    return std::exp(random.uniform(std::log(a), std::log(b)));
  }

  // Hull of size 1. kind: 0 any, 1 flat, 2 a needle, 3 on a grid; a third has repeated points.
  static std::shared_ptr<const ConvexMesh> hull(RandomShapes& random, int kind, std::size_t n) {
    const double thin = log_uniform(random, 1e-6, 1e-1);
    while (true) {
      std::vector<Vec3d> points(n);
      for (Vec3d& p : points) {
        p = Vec3d(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
        if (kind == 3) p = Vec3d(std::round(p.x), std::round(p.y), std::round(p.z));
        if (kind == 1) p.z *= thin;
        if (kind == 2) {
          p.y *= thin;
          p.z *= thin;
        }
      }
      if (random.engine() % 3 == 0) points.insert(points.end(), points.begin(), points.begin() + 3);
      try {
        return std::make_shared<ConvexMesh>(convex_hull_mesh(points));
      } catch (const InputError&) {  // too flat
      }
    }
  }

  static std::shared_ptr<const ConvexMesh> scaled(const ConvexMesh& mesh, double s) {
    auto out = std::make_shared<ConvexMesh>(mesh);
    for (Vec3d& v : out->vertices) v *= s;
    out->centroid *= s;
    out->volume *= s * s * s;
    out->ball.center *= s;
    out->ball.radius *= s;
    return out;
  }

  Shape shape(RandomShapes& random, ShapeType type, double size) const {
    Shape s{type};
    const auto part = [&] {
      return random.engine() % 4 ? size * log_uniform(random, 1e-2, 1) : size;
    };
    s.radius = part();
    s.half_length = part();
    s.half_extents = {part(), part(), part()};
    if (type == ShapeType::convex)
      s.mesh = random.engine() % 32 == 0 ? large_[random.engine() % large_.size()]
                                         : scaled(*meshes_[random.engine() % meshes_.size()], size);
    if (type != ShapeType::triangle) return s;
    // Includes needles, segments and points; on a grid; rounded.
    const double thin = random.engine() % 2 ? 1 : log_uniform(random, 1e-18, 1);
    const bool on_grid = random.engine() % 4 == 0;
    for (Vec3d& v : s.vertex)
      for (int k = 0; k < 3; ++k) {
        const double x = random.uniform(-1, 1);
        v[k] = size * (on_grid ? std::round(x) : k == 0 ? x : thin * x);
      }
    if (random.engine() % 2) s.rounding = 0.1 * part();
    return s;
  }

  // radius_A, radius_B: of the shapes; for a half-space a length to place it.
  static void place(RandomShapes& random, Scene& s, double radius_A, double radius_B) {
    using Kind = Scene::Kind;
    static const Mat3d turns[] = {Mat3d::identity(),
                                  {{0, -1, 0}, {1, 0, 0}, {0, 0, 1}},
                                  {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}},
                                  {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
                                  {{-1, 0, 0}, {0, 1, 0}, {0, 0, -1}}};
    const double reach = 0.6 * (radius_A + radius_B);
    s.X_WA = random.pose(reach);
    s.X_WB = random.pose(reach);
    const auto whole = [&](double size) { return size * std::round(random.uniform(-1.5, 1.5)); };
    const Vec3d steps(whole(radius_A) + whole(radius_B),
                      whole(s.A.half_extents.y) + whole(s.B.half_extents.y),
                      whole(s.A.half_length) + whole(s.B.half_length));
    const Mat3d turn = turns[random.engine() % 5];
    switch (s.kind) {
      case Kind::concentric:
        s.X_WB = random.engine() % 2 ? s.X_WA : SE3d(s.X_WB.R, s.X_WA.p);
        break;
      case Kind::aligned:
        s.X_WB = s.X_WA * SE3d(turn, steps);
        break;  // exact except for rounding
      case Kind::on_grid:
        s.X_WA = SE3d();
        s.X_WB = SE3d(turn, steps);
        break;
      case Kind::nearly_aligned: {
        Motion<double> V;
        const double small = log_uniform(random, 1e-16, 1e-3);
        for (int i = 0; i < 3; ++i) {
          V.angular[i] = small * random.uniform(-1, 1);
          V.linear[i] = small * reach * random.uniform(-1, 1);
        }
        s.X_WB = s.X_WA * SE3d(turn, steps) * exp_motion(V);
        break;
      }
      case Kind::contained:
        s.X_WB.p = s.X_WA.p + (0.1 * std::fmin(radius_A, radius_B) / reach) * s.X_WB.p;
        break;
      default:
        break;
    }
    if (s.kind == Kind::touching || s.kind == Kind::shallow) {
      const double size = radius_A + radius_B,
                   depth = s.kind == Kind::touching ? 0 : size * log_uniform(random, 1e-14, 1e-3);
      const Witness w = signed_distance(s.A, s.X_WA, s.B, s.X_WB);
      if (std::isfinite(w.distance))
        s.X_WB.p -= (w.distance + (random.engine() % 2 ? depth : -depth)) * w.normal;
    }
    // Size that rounding is relative to: a triangle may be a point far from its frame's origin.
    const auto reach_of = [](const Shape& shape, double radius) {
      return bounded(shape) ? farthest_from(shape, {}) : radius;
    };
    s.size = reach_of(s.A, radius_A) + reach_of(s.B, radius_B) + norm(s.X_WB.p - s.X_WA.p);
  }

  std::uint64_t seed_;
  std::vector<std::shared_ptr<const ConvexMesh>> meshes_, large_;
};

}  // namespace robosim::testing
