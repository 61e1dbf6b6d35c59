// Queries in C++: results do not depend on caches, nothing is allocated, and bounds are valid.
#include <doctest/doctest.h>

#include <vector>

#include "count_allocations.h"
#include "geometry/contact_derivatives.h"
#include "geometry/query.h"
#include "random_shapes.h"
#include "scale.h"

using namespace robosim;
using namespace robosim::testing;

// Two solvers with certified results differ by at most their tolerance: 1e-9 m.
TEST_CASE("a cache changes no answer") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == b && a == ShapeType::half_space) return;
    const Shape A = random.shape(a), B = random.shape(b);
    PairCache cache;
    SE3d X_WA = random.pose(0.5), X_WB = random.pose(0.5);
    for (int i = 0; i < 60; ++i) {
      if (i % 7 == 0) X_WA = random.pose(0.5);
      X_WB = i % 5 == 0 ? random.pose(0.5) : SE3d(X_WB.R, X_WB.p + Vec3d(0.02, -0.01, 0.03));
      const double distance = signed_distance(A, X_WA, B, X_WB).distance;
      CHECK(std::fabs(signed_distance(A, X_WA, B, X_WB, &cache).distance - distance) < 1e-9);
      for (double margin : {0.0, 0.05, 0.3})
        if (std::fabs(distance - margin) > 1e-9)
          CHECK(closer_than(margin, A, X_WA, B, X_WB, &cache) == (distance < margin));
      for (double enough : {0.0, 0.1, 10.0}) {
        const double bound = distance_lower_bound(enough, A, X_WA, B, X_WB, &cache);
        CHECK(bound >= 0);
        CHECK(bound <= std::fmax(distance, 0.0) + 1e-12);
        CHECK(bound >= std::fmin(enough, distance) - 1.01e-6);
      }
    }
  });
}

// Against the distance of a point from the other shape, which has a closed form (except for a
// convex mesh, where EPA is exact).
TEST_CASE("an ellipsoid of equal radii is a sphere") {
  RandomShapes random;
  for (int b = 0; b < n_shape_types; ++b) {
    CAPTURE(b);
    const Shape B = random.shape(static_cast<ShapeType>(b));
    for (int i = 0; i < 300; ++i) {
      const double r = random.uniform(0.01, 0.5);
      const SE3d X_WA = random.pose(0.5), X_WB = random.pose(i % 3 == 0 ? 0.1 : 0.7);
      const double d = signed_distance(Shape::sphere(r), X_WA, B, X_WB).distance;
      CHECK(std::fabs(signed_distance(Shape::ellipsoid({r, r, r}), X_WA, B, X_WB).distance - d) <
            1e-9);
    }
  }
}

// The depth of the egg has a minimum of fourth order. There Newton's method gains a third per
// iteration, and ends with an error of 1e-3 in the direction and its fourth power, 1e-12, in the
// depth. The depth of the disc, due to its rim's radius of 1e-4, has a minimum of second order.
TEST_CASE("a ball about an ellipsoid's center of curvature, or nearly there") {
  const Shape disc = Shape::ellipsoid({1, 1, 1e-2}), egg = Shape::ellipsoid({0.4, 0.6, 0.9});
  const Shape ball = Shape::ellipsoid({0.5, 0.5, 0.5});
  RandomShapes random;
  for (int i = 0; i < 100; ++i) {
    const SE3d X_WB = random.pose(0.5), turn = random.pose(0);
    // The least radius of curvature is 0.4^2 / 0.9 at the egg's upper pole, and 1e-4 on the disc's
    // rim.
    const SE3d X_egg = X_WB * SE3d(turn.R, {0, 0, 0.9 - 0.4 * 0.4 / 0.9}),
               X_disc = X_WB * SE3d(turn.R, {1, 0, 0});
    CHECK(std::fabs(signed_distance(egg, X_WB, ball, X_egg).distance + 0.4 * 0.4 / 0.9 + 0.5) <
          1e-12);
    CHECK(std::fabs(signed_distance(disc, X_WB, ball, X_disc).distance + 0.5) < 1e-9);
  }
}

// Both points lie on the supporting planes of the normal, at the given distance: separated,
// touching and overlapping.
TEST_CASE("contacts of curved shapes lie where the shapes end") {
  RandomShapes random;
  const double gaps[] = {0, 1e-3, 1e-7, 1e-12, -1e-9, -1e-5, -1e-2, -0.1};
  for (ShapeType a : {ShapeType::cylinder, ShapeType::ellipsoid, ShapeType::cone})
    for (ShapeType b : {ShapeType::box, ShapeType::capsule, ShapeType::cylinder,
                        ShapeType::ellipsoid, ShapeType::cone}) {
      CAPTURE(name_of(a));
      CAPTURE(name_of(b));
      for (int i = 0; i < repeats(400, 4000); ++i) {
        const Shape A = random.shape(a), B = random.shape(b);
        const SE3d X_WA = random.pose(0.5);
        SE3d X_WB = random.pose(0.5);
        Witness w = signed_distance(A, X_WA, B, X_WB);
        X_WB.p += (gaps[i % 8] - w.distance) * w.normal;
        w = signed_distance(A, X_WA, B, X_WB);
        const Vec3d a_end = X_WA * support(A, transpose_times(X_WA.R, w.normal));
        const Vec3d b_end = X_WB * support(B, transpose_times(X_WB.R, -w.normal));
        CHECK(std::fabs(dot(w.normal, w.p_WA - a_end)) < 1e-9);
        CHECK(std::fabs(dot(w.normal, w.p_WB - b_end)) < 1e-9);
      }
    }
}

// Each case was found among tens of thousands: EPA's chord points with a depth as good as any; a
// touching pair whose v is dominated by rounding; a degenerate simplex whose v and barycentric
// coordinates differ.
TEST_CASE("cones that were answered wrongly") {
  struct Pair {
    Shape A, B;
    SE3d X_AB;
  };
  const Pair pairs[] = {
      {Shape::cone(0.31946745670357379, 0.33243098468859872),
       Shape::cone(0.18154302481369169, 0.45030282059250137),
       {{{0.97855080340324629, 0.1092194039196408, -0.17466953645756084},
         {0.11005402011825166, -0.99391337881394859, -0.004930321536364024},
         {-0.17414487593573463, -0.014398514578900568, -0.9846147698279003}},
        {0.34899142201452998, -0.16798832813197062, 0.11094227606718007}}},
      {Shape::cone(0.32305053292409591, 0.21571874050604886),
       Shape::cone(0.16514830266791247, 0.1339586248042797),
       {{{-0.38854154330671681, 0.82809524611207297, -0.40409619212684988},
         {-0.28560449514333203, 0.30872189617961959, 0.90726008573792249},
         {0.87605110665917052, 0.46791992283492861, 0.11655644270222659}},
        {0.045042356886487146, -0.15993878684825219, 0.14739965330617705}}},
      {Shape::cone(0.22666647634996009, 0.080203003546434851),
       Shape::cone(0.22239362385888037, 0.18435604130743907),
       {{{-0.52720154284800569, 0.61125352505502661, 0.59027761377718413},
         {0.82916913092645317, 0.21813299685053769, 0.51468101577935998},
         {0.18584156030703414, 0.76078060161442562, -0.62183260663126994}},
        {-0.21930182551809949, 0.0088983204009443345, -0.029733919149326483}}},
  };
  for (const auto& [A, B, X] : pairs) {
    const Witness w = signed_distance(A, SE3d(), B, X);
    CAPTURE(w.distance);
    CHECK(std::fabs(dot(w.normal, w.p_WA - support(A, w.normal))) < 1e-9);
    CHECK(std::fabs(dot(w.normal, w.p_WB - X * support(B, transpose_times(X.R, -w.normal)))) <
          1e-9);
    // All three cones touch with B's apex.
    CHECK(norm(w.p_WB - X * Vec3d(0, 0, B.half_length)) < 1e-9);
  }
}

// For two polytopes a cache has numbers of corners, which may not exist in other shapes.
TEST_CASE("a cache that other polytopes have left changes no answer") {
  RandomShapes random;
  PairCache cache;
  int apart = 0;
  const SE3d step_by({{0.8, -0.6, 0}, {0.6, 0.8, 0}, {0, 0, 1}}, {0.01, -0.01, 0});
  const ShapeType polytopes[] = {ShapeType::box, ShapeType::convex, ShapeType::triangle};
  for (int i = 0; i < 3000; ++i) {
    const Shape A = random.shape(polytopes[random.engine() % 3]),
                B = random.shape(polytopes[random.engine() % 3]);
    const SE3d X_WA = random.pose(0.5);
    SE3d X_WB = random.pose(0.5);
    for (int step = 0; step < 3; ++step, X_WB = X_WB * step_by) {
      const Witness w = signed_distance(A, X_WA, B, X_WB),
                    warm = signed_distance(A, X_WA, B, X_WB, &cache);
      // Both results are at one feature; EPA's bounds agree to this tolerance.
      CHECK(std::fabs(w.distance - warm.distance) < 1e-12);
      if (w.distance < 1e-6) continue;
      ++apart;
      CHECK(norm(w.normal - warm.normal) < 1e-8);  // v is accurate to rounding
    }
  }
  CHECK(apart > 3000);
}

TEST_CASE("no query allocates") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    const Shape A = random.shape(a), B = random.shape(b);
    for (const Shape& s : {A, B})
      if (s.mesh) support(s, {1, 0, 0});  // the first query of a hull builds its support table
    PairCache cache;
    for (int i = 0; i < 20; ++i) {
      const SE3d X_WA = random.pose(0.5), X_WB = random.pose(0.5);
      const long before = allocations;
      signed_distance(A, X_WA, B, X_WB, &cache);
      closer_than(0.01, A, X_WA, B, X_WB, &cache);
      distance_lower_bound(0.1, A, X_WA, B, X_WB, &cache);
      bounding_ball(A);
      bounding_box(A, X_WA);
      farthest_from(A, X_WB.p);
      CHECK(allocations == before);
    }
  });
}

// All poses are exactly representable, so that centers coincide, and faces are parallel and touch
// exactly.
TEST_CASE("degenerate poses have finite, certified answers") {
  RandomShapes random;
  const Mat3d turns[] = {Mat3d::identity(),
                         {{0, -1, 0}, {1, 0, 0}, {0, 0, 1}},
                         {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}},
                         {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
  std::vector<Vec3d> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back({i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5});
  const Shape shapes[] = {Shape::sphere(0.5),
                          Shape::box({0.5, 0.5, 0.5}),
                          Shape::capsule(0.25, 0.25),
                          Shape::cylinder(0.5, 0.5),
                          Shape::box({1e-4, 0.5, 2}),
                          Shape::cylinder(1e-4, 3),
                          Shape::capsule(1e-4, 0.5),
                          Shape::cylinder(3, 1e-4),
                          Shape::box({100, 100, 1e-3}),
                          Shape::cone(0.5, 0.5),
                          Shape::cone(1e-4, 1),
                          Shape::cone(3, 1e-4),
                          Shape::ellipsoid({0.5, 0.5, 0.5}),
                          Shape::ellipsoid({0.25, 0.5, 1}),
                          Shape::ellipsoid({1e-2, 1e-2, 1}),
                          Shape::ellipsoid({1, 1, 1e-2}),
                          Shape::ellipsoid({1e-4, 1e-4, 1}),
                          Shape::ellipsoid({1, 1, 1e-4}),
                          Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(corners))),
                          Shape::box({0.25, 0.25, 0.25}, 0.25),
                          Shape::triangle({-0.5, -0.5, 0}, {0.5, -0.5, 0}, {-0.5, 0.5, 0}),
                          Shape::triangle({0, 0, 0}, {1, 0, 0}, {0, 1e-4, 0}, 0.25)};
  const double steps[] = {0, 0.25, 0.5, 1, 1e-12, -1e-12, 1e-300};
  Slice slice(13);
  for (const Shape& A : shapes)
    for (const Shape& B : shapes)
      for (const Mat3d& R : turns)
        for (double x : steps)
          for (double z : steps) {
            if (!slice.takes_next()) continue;
            CAPTURE(shape_type_names[static_cast<int>(A.type)]);
            CAPTURE(shape_type_names[static_cast<int>(B.type)]);
            CAPTURE(x);
            CAPTURE(z);
            const SE3d X(R, {x, 0, z});
            const Witness w = signed_distance(A, SE3d(), B, X),
                          v = signed_distance(B, X, A, SE3d());
            const double size = bounding_ball(A).radius + bounding_ball(B).radius;
            CHECK(std::isfinite(w.distance));
            CHECK(std::fabs(norm(w.normal) - 1) < 1e-12);
            CHECK(std::fabs(w.distance - v.distance) < 1e-9 * size);
            CHECK(norm(w.p_WB - w.p_WA - w.distance * w.normal) < 1e-9 * size);
            // Among separating translations of equal length, points and normal belong to the same
            // one.
            CHECK(std::fabs(dot(w.normal, w.p_WA - support(A, w.normal))) < 1e-9 * size);
            CHECK(std::fabs(dot(w.normal, w.p_WB - X * support(B, transpose_times(R, -w.normal)))) <
                  1e-9 * size);
            // A translation by slightly more than the depth separates the shapes.
            if (w.distance < 0) {
              const SE3d apart(R, X.p + (1e-8 * size - w.distance) * w.normal);
              CHECK_FALSE(closer_than(0, A, SE3d(), B, apart));
            }
            if (std::fabs(w.distance) > 1e-9 * size)
              CHECK(closer_than(0, A, SE3d(), B, X) == (w.distance < 0));
          }
}

// `pieces` of meshes may be degenerate, without normal or even length. They are compared with the
// segment or point that they are.
TEST_CASE("triangles without an area are segments and points") {
  RandomShapes random;
  for (int b = 0; b < n_shape_types; ++b) {
    CAPTURE(b);
    for (int i = 0; i < 60; ++i) {
      const double half = i % 3 ? random.uniform(0.1, 0.5) : 0, r = random.uniform(0.01, 0.1);
      Shape flat{ShapeType::triangle}, segment{ShapeType::capsule};
      flat.vertex[i % 3] = {0, 0, -half};
      flat.vertex[(i + 1) % 3] = {0, 0, half};
      flat.vertex[(i + 2) % 3] = {0, 0, (i % 4 - 1) * half};
      if (i % 4 == 3) flat.vertex[(i + 2) % 3].z = 0;
      flat.rounding = segment.radius = r;
      segment.half_length = half;
      const Shape B = random.shape(static_cast<ShapeType>(b));
      const SE3d X_WA = random.pose(0.5), X_WB = random.pose(i % 2 ? 0.7 : 0.1);
      const Witness w = signed_distance(flat, X_WA, B, X_WB),
                    v = signed_distance(segment, X_WA, B, X_WB);
      CHECK(std::fabs(w.distance - v.distance) < 1e-9);
      CHECK(norm(w.p_WB - w.p_WA - w.distance * w.normal) < 1e-9);
      const LocalSurface s = local_surface(flat, X_WA, w.p_WA, w.normal);
      CHECK(std::isfinite(norm(s.point) + norm(s.axis[0]) + norm(s.axis[1]) + s.corner[0].weight +
                          norm(s.corner[0].slope)));
      CHECK(s.kind != FeatureKind::face);
    }
  }
}

TEST_CASE("sizes a million times apart") {
  const Shape small = Shape::box({1e-4, 1e-4, 1e-4}), large = Shape::box({1e3, 1e3, 1e3}),
              slab = Shape::cylinder(1e3, 1e-4);
  RandomShapes random;
  for (int i = 0; i < 300; ++i) {
    const SE3d X = random.pose(0);
    // Extent along z.
    const double reach =
        (std::fabs(X.R(2, 0)) + std::fabs(X.R(2, 1)) + std::fabs(X.R(2, 2))) * 1e-4;
    const double gap = random.uniform(-1e-4, 1e-4), x = random.uniform(-500, 500),
                 y = random.uniform(-500, 500);
    for (const auto& [body, top] : {std::pair(&large, 1e3), std::pair(&slab, 1e-4)}) {
      const Witness w = signed_distance(*body, SE3d(), small, SE3d(X.R, {x, y, top + reach + gap}));
      CHECK(std::fabs(w.distance - gap) < 1e-9);
    }
  }
}
