// Proof that a separating translation is the shortest (way_out.h): each bound against the support
// function itself, and the proof against the depth in many directions.
#include "geometry/distance/way_out.h"

#include "geometry/shape.h"
#include "random_shapes.h"
#include "spatial/lie.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// A point of the core's surface and its outward normal: on a face or a line of the shape, or the
// farthest point in some direction.
template <class Core>
std::pair<Vec3d, Vec3d> surface_point(RandomShapes& random, const Core& core) {
  const Vec3d n = unit_or(random.pose(1).p, {1, 0, 0});
  Patch patch;
  if constexpr (requires { core.patch(n, patch); }) core.patch(n, patch);
  if (patch.n_corners == 0 || random.uniform(0, 1) < 0.4) return {core.support(n), n};
  // Between two corners, which are often adjacent, or in the interior.
  Vec3d p;
  double sum = 0;
  const int some = random.uniform(0, 1) < 0.5 ? 2 : patch.n_corners;
  for (int i = 0; i < some; ++i) {
    const double weight = random.uniform(0.01, 1);
    p += weight * patch.corner[i];
    sum += weight;
  }
  p *= 1 / sum;
  // A point of a line need not be the farthest one.
  const bool is_farthest =
      dot(patch.normal, core.support(patch.normal) - p) < 1e-14 * core.bounding_ball().radius;
  return is_farthest ? std::pair(p, patch.normal) : std::pair(core.support(n), n);
}

double growth_along(const Form& G, double x, double y) {
  return G.xx * x * x + 2 * G.xy * x * y + G.yy * y * y;
}

constexpr ShapeType bounded[] = {ShapeType::box,     ShapeType::capsule,   ShapeType::cylinder,
                                 ShapeType::convex,  ShapeType::ellipsoid, ShapeType::cone,
                                 ShapeType::triangle};

}  // namespace

TEST_CASE("the support function grows at least as fast as the ball inside and the growth say") {
  RandomShapes random{std::mt19937_64(11)};
  for (const ShapeType type : bounded) {
    CAPTURE(std::string(shape_type_names[static_cast<int>(type)]));
    int with_ball = 0, with_growth = 0;
    for (int i = 0; i < 300; ++i) {
      const Shape shape = random.shape(type);
      visit(shape, [&](const auto& core) {
        if constexpr (requires { core.support(Vec3d()); }) {
          const auto [p, n] = surface_point(random, core);
          const double size = core.bounding_ball().radius, R = inner_radius(core, p, n);
          Vec3d t0, t1;
          tangents(n, t0, t1);
          const Form G = growth_form(core, p, n, t0, t1);
          with_ball += R > 0;
          with_growth += G.xx + G.yy > 0;
          for (int k = 0; k < 100; ++k) {
            // Close to n, or anywhere.
            const double spread = k % 2 ? 1 : std::pow(10, random.uniform(-3, 0));
            const Vec3d x = unit_or((k % 2 ? 0.0 : 1.0) * n + spread * random.pose(1).p, n);
            const double f = dot(x, core.support(x) - p), rounding = 1e-13 * size;
            REQUIRE(f >= R * (1 - dot(x, n)) - rounding);
            REQUIRE(f >= 0.5 * growth_along(G, dot(x, t0), dot(x, t1)) - rounding);
          }
        }
      });
    }
    const bool round = type == ShapeType::cylinder || type == ShapeType::ellipsoid ||
                       type == ShapeType::cone || type == ShapeType::box;
    CHECK((with_ball > 30) == round);
    CHECK(with_growth > 30);
  }
}

TEST_CASE("a way out that is proved has none beside it that is shorter") {
  RandomShapes random{std::mt19937_64(12)};
  int proved = 0, refused = 0, shorter = 0;
  for (const ShapeType a : bounded)
    for (const ShapeType b : bounded)
      for (int i = 0; i < 100; ++i) {
        const Shape A = random.shape(a), B = random.shape(b);
        visit(A, [&](const auto& core_A) {
          visit(B, [&](const auto& core_B) {
            if constexpr (requires {
                            core_A.support(Vec3d());
                            core_B.support(Vec3d());
                          }) {
              // Rotate B so that two points of the surfaces face each other, and translate it until
              // they overlap by a depth.
              const auto [p_A, n_A] = surface_point(random, core_A);
              const auto [p_B, n_B] = surface_point(random, core_B);
              const Vec3d axis = unit_or(cross(n_B, -n_A), perpendicular(n_B));
              ::robosim::Motion<double> turn, spin;
              turn.angular = std::atan2(norm(cross(n_B, n_A)), -dot(n_A, n_B)) * axis;
              spin.angular = random.uniform(-3, 3) * n_A;
              SE3d X_AB;
              X_AB.R = exp_motion(spin).R * exp_motion(turn).R;
              const double size = core_A.bounding_ball().radius + core_B.bounding_ball().radius,
                           depth = size * std::pow(10, random.uniform(-4, -0.3));
              X_AB.p = p_A - depth * n_A - X_AB.R * p_B;
              const CoreDifference<std::decay_t<decltype(core_A)>, std::decay_t<decltype(core_B)>>
                  D{core_A, core_B, X_AB};
              const bool is_shortest = is_shortest_way_out(D, {n_A, -depth, p_A, -depth * n_A});
              double least = depth;
              for (int k = 0; k < 300; ++k) {
                const double spread = k % 3 ? 1 : std::pow(10, random.uniform(-3, 0));
                const Vec3d x =
                    unit_or((k % 3 ? 0.0 : -1.0) * n_A + spread * random.pose(1).p, n_A);
                least = std::fmin(least, dot(x, D.support(x).w));
              }
              const bool is_less = least < depth - 1e-12 * size;
              CAPTURE(std::string(shape_type_names[static_cast<int>(a)]));
              CAPTURE(std::string(shape_type_names[static_cast<int>(b)]));
              CAPTURE(depth);
              CAPTURE(depth - least);
              REQUIRE(!(is_shortest && is_less));
              proved += is_shortest;
              refused += !is_shortest;
              shorter += is_less;
            }
          });
        });
      }
  // Both results are frequent, and few translations are rejected needlessly.
  CHECK(proved > 800);
  CHECK(shorter > 800);
  CHECK(refused - shorter < 1500);
  MESSAGE(proved << " proved, " << refused << " refused, " << shorter << " with a shorter way out");
}
