// Worst errors of every pair of shapes over seeded poses: a plain C interface (geometry_checks.py).
//
// Shapes are 0.1 to 1 m large. Each of these kinds makes up a quarter of the poses. The last three
// start from shapes that overlap:
//   separated   by up to 0.5 m
//   touching    translated along the normal until the distance is 0, +-1e-12 or +-1e-9 m
//   shallow     translated likewise to a depth of 1e-6 to 1e-2 m
//   deep        not translated, with centers within 0.15 m
#include <cmath>
#include <cstdint>
#include <limits>

#include "derivative_errors.h"
#include "geometry/pairs/pair_table.h"
#include "shape_sampler.h"
#include "witness_errors.h"

using namespace robosim;
using namespace robosim::testing;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Sample {
  Shape A, B;
  SE3d X_WA, X_WB;
  Witness witness;
};

Shape shape(RandomShapes& random, ShapeType type) {
  Shape s = random.shape(type);
  if (type != ShapeType::convex) return s;
  const Vec3d half(random.uniform(0.05, 0.5), random.uniform(0.05, 0.5), random.uniform(0.05, 0.5));
  std::vector<Vec3d> points(static_cast<std::size_t>(random.uniform(8, 80)));
  for (Vec3d& p : points)
    p = Vec3d(half.x * random.uniform(-1, 1), half.y * random.uniform(-1, 1),
              half.z * random.uniform(-1, 1));
  s.mesh = std::make_shared<ConvexMesh>(convex_hull_mesh(points));
  return s;
}

Sample sample(ShapeType a, ShapeType b, std::uint64_t seed, std::uint64_t number) {
  RandomShapes random;
  random.engine.seed((seed * n_shape_types + static_cast<std::uint64_t>(a)) * n_shape_types +
                     static_cast<std::uint64_t>(b) + (number << 20));
  Sample s{shape(random, a), shape(random, b), random.pose(0.5), {}, {}};
  const auto ask = [&] { s.witness = signed_distance(s.A, s.X_WA, s.B, s.X_WB); };
  const auto move_to = [&](double gap) {
    s.X_WB.p += (gap - s.witness.distance) * s.witness.normal;
    ask();
  };
  const bool separated = number % 4 == 0;
  s.X_WB = random.pose(separated ? 0.5 : 0.15);
  if (!separated) s.X_WB.p += s.X_WA.p;
  ask();
  constexpr double touches[] = {0, 1e-12, -1e-12, 1e-9, -1e-9};
  if (separated)
    move_to(random.uniform(1e-3, 0.5));
  else if (number % 4 == 1)
    move_to(touches[number / 4 % 5]);
  else if (number % 4 == 2)
    move_to(-std::exp(random.uniform(std::log(1e-6), std::log(1e-2))));
  else if (s.witness.distance > -1e-2)
    move_to(-0.05);
  return s;
}

}  // namespace

EXPORT int accuracy_n_shape_types() { return n_shape_types; }
EXPORT const char* accuracy_shape_type_name(int type) { return shape_type_names[type]; }
EXPORT int accuracy_is_analytic(int a, int b) {
  return pair_functions(static_cast<ShapeType>(a), static_cast<ShapeType>(b)).analytic;
}

// out: worst errors of distance [m], points [m], normal [rad]; numbers of poses that were compared,
// not unique, not verified; then the pose with the worst of each error.
EXPORT void accuracy_values(int a, int b, std::uint64_t seed, std::uint64_t begin,
                            std::uint64_t end, double* out) {
  for (int k = 0; k < 9; ++k) out[k] = 0;
  for (std::uint64_t i = begin; i < end; ++i) {
    const Sample s = sample(static_cast<ShapeType>(a), static_cast<ShapeType>(b), seed, i);
    const WitnessErrors e(s.witness, s.A, s.X_WA, s.B, s.X_WB);
    const double errors[] = {e.distance, e.points, e.normal};
    for (int k = 0; k < 3; ++k)
      if (!(errors[k] <= out[k])) {
        out[k] = errors[k];
        out[6 + k] = static_cast<double>(i);
      }
    out[3] += 1;
    out[4] += e.verified && !e.unique;
    out[5] += !e.verified;
  }
}

// Errors of two half-spaces, with the same entries of out. Only half-spaces that face each other
// have a distance, which is that of their planes.
EXPORT void accuracy_half_spaces(std::uint64_t seed, std::uint64_t begin, std::uint64_t end,
                                 double* out) {
  for (int k = 0; k < 9; ++k) out[k] = 0;
  const Shape plane = Shape::half_space();
  RandomShapes random;
  random.engine.seed(seed);
  for (std::uint64_t i = begin; i < end; ++i) {
    const SE3d X_WA = random.pose(0.5);
    SE3d X_WB = random.pose(0.5);
    const bool facing = i % 2;
    if (facing) X_WB.R = X_WA.R * Mat3d({0, 1, 0}, {1, 0, 0}, {0, 0, -1});
    const Witness w = signed_distance(plane, X_WA, plane, X_WB);
    using extended::vec;
    const extended::Vec n = vec(X_WA.R.col(2)).normalized();
    double errors[3] = {};
    if (facing) {
      const extended::Real gap = n.dot(vec(X_WB.p) - vec(X_WA.p));
      errors[0] = static_cast<double>(std::fabs(gap - static_cast<extended::Real>(w.distance)));
      const auto off = [&](const Vec3d& p, const SE3d& X) {
        return static_cast<double>(std::fabs(n.dot(vec(p) - vec(X.p))));
      };
      errors[1] = std::fmax(off(w.p_WA, X_WA), off(w.p_WB, X_WB));
      errors[2] = static_cast<double>(n.cross(vec(w.normal)).norm());
    } else if (w.distance > -std::numeric_limits<double>::infinity()) {
      errors[0] = std::numeric_limits<double>::infinity();
    }
    for (int k = 0; k < 3; ++k)
      if (!(errors[k] <= out[k])) {
        out[k] = errors[k];
        out[6 + k] = static_cast<double>(i);
      }
    out[3] += 1;
    out[4] += 1;
  }
}

// out: worst relative errors by twist, sizes, scale and vertices (-1 if the pair has none); numbers
// of poses compared, near a switch, and left out as the query jumped; number of coordinates of
// vertices that were left out; then the pose with the worst of each error.
EXPORT void accuracy_derivatives(int a, int b, std::uint64_t seed, std::uint64_t begin,
                                 std::uint64_t end, double* out) {
  for (int k = 0; k < 12; ++k) out[k] = k < 4 ? -1 : 0;
  for (std::uint64_t i = begin; i < end; ++i) {
    const Sample s = sample(static_cast<ShapeType>(a), static_cast<ShapeType>(b), seed, i);
    const DerivativeErrors e(s.A, s.X_WA, s.B, s.X_WB);
    out[4] += !e.near_a_switch && !e.jumped;
    out[5] += e.near_a_switch;
    out[6] += e.jumped;
    out[7] += e.passed_over;
    if (e.near_a_switch || e.jumped) continue;
    for (int k = 0; k < 4; ++k)
      if (!(e.worst[k] <= out[k])) {
        out[k] = e.worst[k];
        out[8 + k] = static_cast<double>(i);
      }
  }
}
