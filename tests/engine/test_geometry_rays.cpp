// Ray casts against an oracle in extended precision. The functions below are convex along a line
// and negative inside a shape, so that ternary search for the lowest point and bisection for the
// first root are reliable. Derivatives are compared with Ridders differences.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "count_allocations.h"
#include "geometry/casts/ray_cast.h"
#include "random_shapes.h"
#include "ridders.h"
#include "scale.h"
#include "spatial/lie.h"
#include "varied_shapes.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

using Long = long double;
using Point = std::array<Long, 3>;

Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Long dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Long norm(const Point& a) { return std::sqrt(dot(a, a)); }
Point exact(const Vec3d& v) { return {v.x, v.y, v.z}; }

Long to_segment(const Point& p, const Point& a, const Point& b) {
  const Point d = b - a, x = p - a;
  const Long t = std::clamp(dot(d, x) / dot(d, d), Long(0), Long(1));
  return norm(x - Point{t * d[0], t * d[1], t * d[2]});
}
Long to_triangle(const Point& p, const Point& a, const Point& b, const Point& c) {
  const Point n = cross(b - a, c - a);
  const Point corners[3] = {a, b, c};
  bool over = true;
  Long nearest = INFINITY;
  for (int i = 0; i < 3; ++i) {
    const Point &u = corners[i], &v = corners[(i + 1) % 3];
    over &= dot(cross(n, v - u), p - u) >= 0;
    nearest = std::min(nearest, to_segment(p, u, v));
  }
  return over ? std::fabs(dot(n, p - a)) / norm(n) : nearest;
}

// Convex function of p: negative inside, zero on the surface. For a triangle without rounding, and
// for a point inside a rounded mesh, it is zero or positive.
Long outside(const Shape& s, const Point& p) {
  const Long rho = std::sqrt(p[0] * p[0] + p[1] * p[1]), h = s.half_length, r = s.radius;
  switch (s.type) {
    case ShapeType::sphere:
      return norm(p) - r;
    case ShapeType::box: {
      Long across = 0, most = -INFINITY;
      for (int i = 0; i < 3; ++i) {
        const Long d = std::fabs(p[i]) - static_cast<Long>(s.half_extents[i]);
        most = std::max(most, d);
        across += d > 0 ? d * d : 0;
      }
      return (most > 0 ? std::sqrt(across) : most) - static_cast<Long>(s.rounding);
    }
    case ShapeType::capsule:
      return to_segment(p, {0, 0, -h}, {0, 0, h}) - r;
    case ShapeType::cylinder:
      return std::max(rho - r, std::fabs(p[2]) - h);
    case ShapeType::half_space:
      return p[2];
    case ShapeType::ellipsoid: {
      Long sum = 0;
      for (int i = 0; i < 3; ++i) {
        const Long x = p[i] / static_cast<Long>(s.half_extents[i]);
        sum += x * x;
      }
      return (std::sqrt(sum) - 1) *
             static_cast<Long>(std::min({s.half_extents.x, s.half_extents.y, s.half_extents.z}));
    }
    case ShapeType::cone:
      return std::max((rho * 2 * h + (p[2] - h) * r) / std::sqrt(4 * h * h + r * r), -p[2] - h);
    case ShapeType::triangle:
      return to_triangle(p, exact(s.vertex[0]), exact(s.vertex[1]), exact(s.vertex[2])) -
             static_cast<Long>(s.rounding);
    default: {
      Long most = -INFINITY, nearest = INFINITY;
      const auto at = [&](int i) { return exact(s.mesh->vertices[i]); };
      for (const auto& f : s.mesh->faces) {
        const Point n = cross(at(f[1]) - at(f[0]), at(f[2]) - at(f[0]));
        most = std::max(most, dot(n, p - at(f[0])) / norm(n));
      }
      if (most <= 0 || s.rounding == 0) return most - static_cast<Long>(s.rounding);
      for (const auto& f : s.mesh->faces)
        nearest = std::min(nearest, to_triangle(p, at(f[0]), at(f[1]), at(f[2])));
      return nearest - static_cast<Long>(s.rounding);
    }
  }
}

struct Expected {
  Long lowest, t;  // minimum of `outside` over the ray; its first zero, if there is one
};

// Search t in [0, reach] for a ray in the shape's frame.
Expected first_root(const Shape& s, const Ray& ray, Long reach) {
  const auto f = [&](Long t) {
    Point p = exact(ray.origin);
    for (int i = 0; i < 3; ++i) p[i] += t * static_cast<Long>(ray.direction[i]);
    return outside(s, p);
  };
  Long low = 0, high = reach;
  for (int i = 0; i < 110; ++i) {
    const Long a = low + (high - low) / 3, b = high - (high - low) / 3;
    f(a) <= f(b) ? high = b : low = a;
  }
  Expected e{f(low), low};
  if (f(0) <= e.lowest) e = {f(0), 0};
  if (e.lowest >= 0 || f(0) <= 0) return e;
  Long apart = 0, inside = e.t;
  for (int i = 0; i < 70; ++i)
    (f((apart + inside) / 2) > 0 ? apart : inside) = (apart + inside) / 2;
  e.t = inside;
  return e;
}

Shape unrounded(Shape s) {
  s.rounding = 0;
  return s;
}

Numbers flat(double t, const Vec3d& point, const Vec3d& normal) {
  return {t, point.x, point.y, point.z, normal.x, normal.y, normal.z};
}

SE3d moved(const SE3d& X, int k, double t) {
  Motion<double> V;
  (k < 3 ? V.linear[k] : V.angular[k - 3]) = t;
  return X * exp_motion(V);
}

}  // namespace

// To 1e-12 along the normal, for shapes of half a meter. The error of t is larger by the inverse
// sine of the angle between ray and surface. For rays within 1e-12 of grazing both results are
// valid.
TEST_CASE("first hits are those of extended precision") {
  RandomShapes random;
  for (int type = 0; type < n_shape_types; ++type) {
    CAPTURE(std::string(shape_type_names[type]));
    int hits = 0, misses = 0, inside = 0;
    for (int i = 0; i < 160; ++i) {
      Shape shape = random.shape(static_cast<ShapeType>(type));
      if (i % 2 == 0) shape.rounding = 0;
      // Unrounded triangles are tested below.
      if (shape.type == ShapeType::triangle && shape.rounding == 0) shape.rounding = 0.01;
      if (shape.type == ShapeType::convex && i % 3 == 0) {  // with few faces
        std::vector<Vec3d> points(6);
        for (Vec3d& p : points)
          p = {random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5)};
        shape.mesh = std::make_shared<ConvexMesh>(convex_hull_mesh(points));
      }
      Ray ray{random.pose(i % 8 == 0 ? 0.2 : 2).p, {}};
      const Vec3d aim = random.pose(0.4).p;
      ray.direction = aim - ray.origin;
      if (i % 4 == 1) {  // along an axis, or with a zero component
        const int k = static_cast<int>(random.engine() % 3);
        const Vec3d d = ray.direction;
        ray.direction = {};
        ray.direction[k] = d[k];
        ray.origin = {aim.x, aim.y, aim.z};
        ray.origin[k] = aim[k] - d[k];
        if (i % 8 == 1) {
          ray.direction[(k + 1) % 3] = d[(k + 1) % 3];
          ray.origin[(k + 1) % 3] -= d[(k + 1) % 3];
        }
      }
      const double length = norm(ray.direction);
      const Expected e = first_root(
          shape, ray,
          (type == static_cast<int>(ShapeType::half_space) ? 1e6L : 8) / static_cast<Long>(length));
      const RayHit hit = ray_cast(shape, SE3d(), ray);
      CAPTURE(i);
      CAPTURE(static_cast<double>(e.lowest));
      if (outside(shape, exact(ray.origin)) < -1e-12L) {
        CHECK(hit.inside);
        CHECK(hit.t == 0);
        ++inside;
        continue;
      }
      if (std::fabs(static_cast<double>(e.lowest)) < 1e-12) continue;
      REQUIRE(hit.hit == (e.lowest < 0));
      if (!hit.hit) {
        CHECK(std::isinf(hit.t));
        ++misses;
        continue;
      }
      ++hits;
      CHECK_FALSE(hit.inside);
      CHECK(std::fabs(hit.t - static_cast<double>(e.t)) *
                std::fabs(robosim::dot(hit.normal, ray.direction)) <
            1e-12);
      CHECK(robosim::norm(hit.point - ray.origin - hit.t * ray.direction) < 1e-14);
      CHECK(std::fabs(static_cast<double>(outside(shape, exact(hit.point)))) < 1e-12);
      CHECK(std::fabs(robosim::norm(hit.normal) - 1) < 1e-14);
      CHECK(robosim::dot(hit.normal, ray.direction) <= 0);
      // The normal is that of a plane with the whole shape behind it.
      if (shape.type == ShapeType::half_space)
        CHECK(hit.normal.z == 1);
      else
        CHECK(std::fabs(robosim::dot(hit.normal, support(shape, hit.normal) - hit.point)) < 1e-12);
      // A hit beyond max_t is not reported.
      CHECK(ray_cast(shape, SE3d(), ray, hit.t * (1 + 1e-9)).t == hit.t);
      CHECK_FALSE(ray_cast(shape, SE3d(), ray, hit.t * (1 - 1e-9)).hit);
      // The length of the direction is the unit of t, and the result moves with the shape.
      for (const double scale : {1e-200, 1e-3, 1e200})
        CHECK(std::fabs(ray_cast(shape, SE3d(), {ray.origin, scale * ray.direction}).t * scale -
                        hit.t) < 1e-14 * (1 + hit.t));
      const SE3d X = random.pose(2);
      const RayHit there = ray_cast(shape, X, {X * ray.origin, X.R * ray.direction});
      const double flat_on = std::fabs(robosim::dot(hit.normal, ray.direction)) / length;
      if (flat_on < 1e-3) continue;
      CHECK(robosim::norm(there.point - X * hit.point) < 1e-14 / flat_on);
    }
    CHECK(hits >= 25);
    CHECK((misses >= 5 || type == static_cast<int>(ShapeType::half_space)));
    CHECK((inside >= 2 || type == static_cast<int>(ShapeType::triangle)));
  }
}

// An extended-precision oracle needs a set with interior. Triangles are compared with their plane,
// and with areas as ratios of volumes.
TEST_CASE("rays and triangles") {
  RandomShapes random;
  int hits = 0;
  for (int i = 0; i < repeats(1000, 4000); ++i) {
    const Shape shape = unrounded(random.shape(ShapeType::triangle));
    const Vec3d origin = random.pose(2).p;
    const Ray ray{origin, random.pose(0.3).p - origin};
    const Point a = exact(shape.vertex[0]), b = exact(shape.vertex[1]), c = exact(shape.vertex[2]),
                o = exact(ray.origin);
    const Point n = cross(b - a, c - a), d = exact(ray.direction);
    const Long t = dot(n, a - o) / dot(n, d);
    const Point x{o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2]};
    Long room = INFINITY;  // inside all edges
    const Point corners[3] = {a, b, c};
    for (std::size_t k = 0; k < 3; ++k) {
      const Point e = corners[(k + 1) % 3] - corners[k];
      room = std::min(room, dot(cross(n, e), x - corners[k]) / norm(n) / norm(e));
    }
    const RayHit hit = ray_cast(shape, SE3d(), ray);
    if (std::fabs(room) < 1e-9 || std::fabs(t) < 1e-9) continue;
    REQUIRE(hit.hit == (room > 0 && t > 0));
    if (!hit.hit) continue;
    ++hits;
    const double steep = std::fabs(robosim::dot(hit.normal, ray.direction));
    CHECK(std::fabs(hit.t - static_cast<double>(t)) * steep < 1e-13);
    CHECK(robosim::dot(hit.normal, ray.direction) < 0);
    CHECK(std::fabs(
              std::fabs(robosim::dot(hit.normal, {double(n[0] / norm(n)), double(n[1] / norm(n)),
                                                  double(n[2] / norm(n))})) -
              1) < 1e-14);
  }
  CHECK(hits >= repeats(25, 100));
  // A ray in the triangle's plane hits its edge.
  const Shape flat = Shape::triangle({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  const RayHit edge_on = ray_cast(flat, SE3d(), {{-2, 0.25, 0}, {1, 0, 0}});
  CHECK(edge_on.t == doctest::Approx(2).epsilon(1e-13));
  CHECK_FALSE(ray_cast(flat, SE3d(), {{-2, 1.25, 0}, {1, 0, 0}}).hit);
  CHECK_FALSE(ray_cast(flat, SE3d(), {{-2, 0.25, 1e-12}, {1, 0, 0}}).hit);
}

TEST_CASE("no ray passes between two triangles that share an edge") {
  RandomShapes random;
  for (int i = 0; i < 3000; ++i) {
    // Two triangles at the edge a - b, and rays to points that are on the edge up to rounding.
    const Vec3d a = random.pose(1).p, b = random.pose(1).p, left(5, 0.1, 5), right(-5, -5, 0.2);
    const double part = random.uniform(0, 1);
    const Vec3d o = random.pose(8).p, d = (1 - part) * a + part * b - o;
    const bool one = ray_cast(Shape::triangle(a, b, left), SE3d(), {o, d}).hit,
               other = ray_cast(Shape::triangle(b, a, right), SE3d(), {o, d}).hit;
    // Seen from o, left and right may lie on the same side of the edge; then a miss is correct.
    const Vec3d across = robosim::cross(a - o, b - o);
    if (robosim::dot(across, left - o) * robosim::dot(across, right - o) < 0) CHECK((one || other));
  }
}

// Coordinates are exact, so that rays run along faces, through corners and centers, and graze. A
// line that is clearly inside or outside must be classified correctly, and a hit must lie on the
// surface.
TEST_CASE("hostile rays have finite, right answers") {
  std::vector<Vec3d> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back({i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5});
  const auto cube = std::make_shared<ConvexMesh>(convex_hull_mesh(corners));
  const Shape shapes[] = {Shape::sphere(0.5),
                          Shape::box({0.5, 0.5, 0.5}),
                          Shape::box({0.25, 0.25, 0.25}, 0.25),
                          Shape::capsule(0.25, 0.25),
                          Shape::cylinder(0.5, 0.5),
                          Shape::cone(0.5, 0.5),
                          Shape::cone(1e-4, 1),
                          Shape::cone(3, 1e-4),
                          Shape::half_space(),
                          Shape::ellipsoid({0.25, 0.5, 1}),
                          Shape::ellipsoid({1, 1, 1e-4}),
                          Shape::convex(cube),
                          Shape::convex(cube, 0.25),
                          Shape::triangle({-0.5, -0.5, 0}, {0.5, -0.5, 0}, {-0.5, 0.5, 0}),
                          Shape::triangle({-0.5, -0.5, 0}, {0.5, -0.5, 0}, {-0.5, 0.5, 0}, 0.25)};
  const double places[] = {-2, -0.5, 0, 0.25, 0.5, 1e-300, 0.5 + 1e-12};
  int clear = 0;
  Slice slice(5);
  for (const Shape& shape : shapes) {
    CAPTURE(std::string(name_of(shape.type)));
    for (const double x : places)
      for (const double y : places)
        for (const double z : {-2.0, -0.5, 0.0, 0.5})
          for (int k = 0; k < 13; ++k) {  // along axes and diagonals, in both directions
            const int code = 14 + k;
            const Vec3d d((code % 3) - 1, (code / 3 % 3) - 1, (code / 9 % 3) - 1);
            for (const double sign : {1.0, -1.0}) {
              if (!slice.takes_next()) continue;
              const Ray ray{{x, y, z}, sign * d};
              const RayHit hit = ray_cast(shape, SE3d(), ray);
              CHECK((hit.hit ? std::isfinite(hit.t + norm(hit.point)) &&
                                   std::fabs(norm(hit.normal) - 1) < 1e-12
                             : std::isinf(hit.t)));
              if (hit.hit && !hit.inside)
                CHECK(std::fabs(static_cast<double>(outside(shape, exact(hit.point)))) < 1e-11);
              const RayCastDerivatives rates = ray_cast_derivatives(hit, shape, SE3d(), ray);
              for (const RayHitRate& r : rates.twist)
                CHECK(std::isfinite(r.t + norm(r.point) + norm(r.normal)));
              if (k % 4) continue;  // the oracle is slow
              const Long lowest = first_root(shape, ray, 8).lowest;
              if (std::fabs(static_cast<double>(lowest)) < 1e-11) continue;
              CHECK(hit.hit == (lowest < 0));
              ++clear;
            }
          }
  }
  CHECK(clear > repeats(1000, 5000));
  for (const Vec3d& d : {Vec3d(), Vec3d(NAN, 0, 1), Vec3d(INFINITY, 0, 0)})
    CHECK_FALSE(ray_cast(shapes[0], SE3d(), {{2, 0, 0}, d}).hit);
}

// A distance of a thousand kilometers relative to the shape's size: only rounding of coordinates is
// lost.
TEST_CASE("small shapes far away") {
  RandomShapes random;
  for (int type = 0; type < n_shape_types; ++type) {
    CAPTURE(std::string(shape_type_names[type]));
    for (int i = 0; i < 40; ++i) {
      Shape s = random.shape(static_cast<ShapeType>(type));
      s.radius *= 1e-3;
      s.half_length *= 1e-3;
      s.half_extents *= 1e-3;
      s.rounding *= 1e-3;
      for (Vec3d& v : s.vertex) v *= 1e-3;
      if (s.mesh) {
        std::vector<Vec3d> points = s.mesh->vertices;
        for (Vec3d& p : points) p *= 1e-3;
        s.mesh = std::make_shared<ConvexMesh>(convex_hull_mesh(points));
      }
      Vec3d o = random.pose(1).p;
      o *= 1e3 / norm(o);
      if (type == static_cast<int>(ShapeType::half_space)) o.z = std::fabs(o.z);
      const Vec3d inside = type == static_cast<int>(ShapeType::triangle)
                               ? (1.0 / 3) * (s.vertex[0] + s.vertex[1] + s.vertex[2])
                           : s.mesh ? s.mesh->centroid
                                    : Vec3d(0, 0, -1e-6);
      const RayHit hit = ray_cast(s, SE3d(), {o, inside - o});
      REQUIRE(hit.hit);
      // A few times 1e3 * 2^-53.
      CHECK(std::fabs(static_cast<double>(outside(s, exact(hit.point)))) < 4e-13);
      CHECK(std::fabs(hit.t - 1) < 1e-5);
    }
  }
}

// The steps keep the feature; to 1e-7 of the largest entry.
TEST_CASE("derivatives are those of the cast: ray, pose, sizes, scale, vertices") {
  RandomShapes random;
  for (int type = 0; type < n_shape_types; ++type) {
    CAPTURE(std::string(shape_type_names[type]));
    int compared = 0;
    for (int i = 0; i < 60; ++i) {
      const Shape shape = random.shape(static_cast<ShapeType>(type));
      const SE3d X = random.pose(1);
      Ray ray{X * random.pose(2).p, {}};
      ray.direction =
          X * (shape.type == ShapeType::triangle
                   ? shape.vertex[1] * 0.3 + shape.vertex[2] * 0.3 + shape.vertex[0] * 0.4
                   : random.pose(0.2).p) -
          ray.origin;
      const RayHit hit = ray_cast(shape, X, ray);
      const RayCastDerivatives d = ray_cast_derivatives(hit, shape, X, ray);
      if (!hit.hit || hit.inside) continue;
      const double steep = -robosim::dot(hit.normal, ray.direction) / norm(ray.direction),
                   room = std::min({d.surface.slide, d.surface.tilt(), 1.0});
      if (d.one_sided || room < 0.01 || steep < 0.2) continue;
      ++compared;
      const auto check = [&](const RayHitRate& rate, auto&& cast, double part = 1) {
        const Numbers got = flat(rate.t, rate.point, rate.normal);
        const Numbers expected = ridders(
            [&](double e) {
              const RayHit h = cast(e);
              return flat(h.t, h.point, h.normal);
            },
            part * std::min(1e-3, 0.02 * room * steep));
        double largest = 1;
        for (const double x : expected) largest = std::max(largest, std::fabs(x));
        for (std::size_t k = 0; k < got.size(); ++k)
          CHECK(std::fabs(got[k] - expected[k]) < 1e-7 * largest);
      };
      for (int k = 0; k < 3; ++k) {
        check(d.origin[k], [&](double e) {
          Ray r = ray;
          r.origin[k] += e;
          return ray_cast(shape, X, r);
        });
        check(d.direction[k], [&](double e) {
          Ray r = ray;
          r.direction[k] += e;
          return ray_cast(shape, X, r);
        });
      }
      for (int k = 0; k < 6; ++k)
        check(d.twist[k], [&](double e) { return ray_cast(shape, moved(X, k, e), ray); });
      const auto with = [&](auto&& change) {
        return [&, change](double e) { return ray_cast(change(shape, e), X, ray); };
      };
      for (int k = 0; k < d.n_sizes; ++k)
        if (with_size(shape, k, -1e-3).rounding >= 0)  // which cannot decrease
          check(d.size[k], with([k](const Shape& s, double e) { return with_size(s, k, e); }), 0.3);
      check(d.scale, with([](const Shape& s, double e) { return with_scale(s, 1 + e); }));
      for (int corner = 0; corner < d.surface.n_corners; ++corner)
        for (int k = 0; k < 3; ++k)
          check(d.corner[corner][k],
                with([v = d.surface.corner[corner].vertex, k](const Shape& s, double e) {
                  return with_vertex(s, v, k, e);
                }),
                // The edge between two nearly parallel faces soon flips to the other diagonal.
                0.03);
    }
    CHECK(compared >= 12);
  }
}

TEST_CASE("no cast allocates") {
  RandomShapes random;
  for (int type = 0; type < n_shape_types; ++type) {
    const Shape shape = random.shape(static_cast<ShapeType>(type));
    // The first query of a hull builds its support table.
    if (shape.mesh) support(shape, {1, 0, 0});
    const long before = allocations;
    for (int i = 0; i < 20; ++i) {
      const Ray ray{random.pose(2).p, random.pose(1).p};
      ray_cast_derivatives(ray_cast(shape, SE3d(), ray), shape, SE3d(), ray);
    }
    CHECK(allocations == before);
  }
}
