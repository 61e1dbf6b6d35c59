// Motion bounds over random trees of all joint types: no point of a collider ever moves farther
// than certified, relative to the world or to another collider. The bounds are not much larger than
// the motion if the latter is known.
#include <doctest/doctest.h>

#include "planning/motion_bound.h"
#include "random_models.h"
#include "scene/scene_query.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// A tree with two colliders on every link.
Model with_colliders(Random& random, const std::vector<std::string>& kinds, int n, bool chain) {
  ModelBuilder builder = random_tree("tree", random, kinds, n, chain, false);
  for (int i = 1; i <= n; ++i) {
    builder.add_collider(message("l", i),
                         Shape::box({random.uniform(0.02, 0.3), 0.05, random.uniform(0.02, 0.1)}),
                         random.pose(), "a");
    builder.add_collider(message("l", i), Shape::sphere(random.uniform(0.02, 0.2)), random.pose(),
                         "b");
  }
  return builder.build({});
}

std::vector<std::pair<int, int>> all_pairs(const Model& model) {
  std::vector<std::pair<int, int>> pairs;
  const int n = static_cast<int>(model.colliders.size());
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b)
      if (model.colliders[a].body != model.colliders[b].body) pairs.emplace_back(a, b);
  return pairs;
}

// Points of the object: corners of its box, or the ends of a diameter of its ball.
std::vector<Vec3d> points_of(const SceneObject& object) {
  std::vector<Vec3d> points;
  const Vec3d& e = object.geometry.shape.type == ShapeType::box
                       ? object.geometry.shape.half_extents
                       : Vec3d{object.geometry.shape.radius, 0, 0};
  for (int s = 0; s < 8; ++s)
    points.push_back(object.X_BO *
                     Vec3d{s & 1 ? e.x : -e.x, s & 2 ? e.y : -e.y, s & 4 ? e.z : -e.z});
  return points;
}

}  // namespace

TEST_CASE("no point moves farther than the bounds say") {
  double widest = 0;
  // All kinds whose q moves along straight lines here.
  std::vector<std::string> straight = moving_kinds();
  std::erase_if(straight, [](const std::string& kind) {
    return joint_layout(*moving_type(kind)).quaternion() >= 0;
  });
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const std::vector<std::string> kinds =
        seed % 3 == 0 ? std::vector<std::string>{"revolute"} : straight;
    const Model model = with_colliders(random, kinds, 5, seed % 2 == 0);
    const CollisionScene scene(model, {}, all_pairs(model));
    SceneQuery query(scene), moved(scene);
    const MotionLayout layout(scene);
    MotionBound<double> bound(layout);
    Line line(model);
    Numbers q0 = random.configuration(model), q1 = q0, q(q0.size());
    const double size = seed % 4 == 0 ? 2.0 : 0.2;
    for (double& x : q1) x += random.uniform(-size, size);
    if (seed % 5 == 0) q1[0] = q0[0];
    line.set(q0.data(), q1.data());
    Spread spread{q, q, q};
    const double t0 = random.uniform(0, 0.4), t1 = random.uniform(0.6, 1), half = 0.5 * (t1 - t0);
    line.position(t0 + half, q.data());
    line.spread(t0, t1, spread);
    query.place(q.data());
    bound.update(query.data().X_WB.data(), q.data(), spread.span.data(), spread.step.data(),
                 spread.bend.data());
    for (int step = 0; step <= 20; ++step) {
      const double s = -1 + 0.1 * step;
      line.position(t0 + half + s * half, q.data());
      moved.place(q.data());
      for (int i = 0; i < static_cast<int>(scene.single_pairs().size()); ++i) {
        const CollisionScene::Pair& pair = scene.single_pairs()[i];
        const MotionBound<double>::Relative motion = bound.of_pair(i);
        const SceneObject &A = scene.object(pair.a), &B = scene.object(pair.b);
        const auto X = [&](const SceneQuery& at_q, int body) { return at_q.data().X_WB[body]; };
        int a = A.body, b = B.body;
        while (a != b) (a > b ? a : b) = model.joints[a > b ? a : b].parent;
        const int top = a;  // the last body above both
        // Largest displacement of any point of an object, relative to this body.
        const auto farthest = [&](const SceneObject& object) {
          const SE3d before = X(query, top).inverse() * X(query, object.body),
                     after = X(moved, top).inverse() * X(moved, object.body);
          double most = 0;
          for (const Vec3d& p : points_of(object))
            most = std::max(most, norm(after * p - before * p));
          return most;
        };
        const double distance = farthest(A) + (top == B.body ? 0.0 : farthest(B));
        CHECK(distance <= motion.total * std::abs(s) + 1e-9);
        CHECK(distance <= motion.least() + 1e-9);
        // The ball's center moves with its velocity up to the rest.
        const Vec3d d = X(query, top).R * (X(moved, top).inverse() * X(moved, A.body) * A.p_BC -
                                           X(query, top).inverse() * X(query, A.body) * A.p_BC);
        const Vec3d v = motion.velocity(X(query, A.body) * A.p_BC);
        CHECK(norm(d - s * v) <= motion.rest + 1e-9);
        if (std::abs(s) == 1 && size < 1 && norm(d) > 1e-3)
          widest = std::max(widest, norm(v) / norm(d));
      }
    }
  }
  // To first order the velocity is the motion.
  CHECK(widest < 1.5);
}

TEST_CASE("a small rotation is bounded within a few per cent") {
  Random random(3);
  ModelBuilder builder("arm", false);
  builder.add_link("base", random.inertia());
  builder.add_link("arm", random.inertia());
  JointSpec joint;
  joint.name = "j";
  joint.kind = "continuous";
  joint.parent = "base";
  joint.child = "arm";
  joint.axis = {0, 0, 1};
  builder.add_joint(joint);
  builder.add_collider("arm", Shape::sphere(0.01), SE3d(Mat3d::identity(), {1, 0, 0}), "tip");
  const Model model = builder.build({});
  const CollisionScene scene(model, {{"wall", Shape::half_space(), 0, {}}}, {{0, 1}});
  SceneQuery query(scene);
  const MotionLayout layout(scene);
  MotionBound<double> bound(layout);
  const double q = 0;
  Spread spread{{0.1}, {0.1}, {0}};
  query.place(&q);
  bound.update(query.data().X_WB.data(), &q, spread.span.data(), spread.step.data(),
               spread.bend.data());
  const MotionBound<double>::Relative motion = bound.of_pair(0);
  CHECK(motion.total == doctest::Approx(0.1 * 1.01));
  CHECK(motion.velocity({1, 0, 0}).y == doctest::Approx(0.1));
  CHECK(motion.rest == doctest::Approx(0.5 * 0.1 * 0.1 * 1.01));
}
