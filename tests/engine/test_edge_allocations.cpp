// Edge checks and checks of many configurations allocate no memory after their buffers have grown.
// Allocations are counted by replacing the global operator new.
#include <doctest/doctest.h>

#include "count_allocations.h"
#include "planning/edge_check.h"
#include "random_models.h"
#include "scene/batch_check.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("state queries and edge checks allocate nothing after the first round") {
  Random random(5);
  ModelBuilder builder = random_tree("arm", random, {"revolute"}, 6, true, false);
  for (int i = 1; i <= 6; ++i)
    builder.add_collider(message("l", i), Shape::capsule(0.05, 0.2), random.pose(), "c");
  const Model model = builder.build({});
  std::vector<ExtraObject> extras;
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < 100; ++i) {
    const Vec3d p = random.vec3(0.7);
    extras.push_back({message("o", i), i % 2 ? Shape::box({0.05, 0.1, 0.05}) : Shape::sphere(0.05),
                      0, SE3d(random.pose().R, p)});
    for (int a = 0; a < 6; ++a)
      // Some colliders are found by a tree, some pair by pair.
      if (i < 20 || a > 3) pairs.emplace_back(a, 6 + i);
  }
  const CollisionScene scene(model, extras, pairs);
  REQUIRE(!scene.groups().empty());
  REQUIRE(!scene.single_pairs().empty());
  EdgeChecker checker(scene);
  std::vector<Numbers> q;
  for (int i = 0; i < 40; ++i) q.push_back(random.configuration(model));
  BatchCheck batch(scene);
  Numbers all;
  for (const Numbers& row : q) all.insert(all.end(), row.begin(), row.end());
  bool collides[40];
  Numbers distances(40 * pairs.size());
  int free = 0, touching = 0;
  long taken = 0;
  const auto round = [&] {
    Numbers to;
    to.reserve(16);
    for (const Numbers& from : q) {
      to = from;
      for (std::size_t k = 0; k < to.size(); ++k)
        to[k] += 0.1 * std::sin(3.0 * static_cast<double>(k));
      const long before = allocations;
      (checker.line(from.data(), to.data(), 0.005).free ? free : touching)++;
      taken += allocations - before;
    }
    const long before = allocations;
    batch.collides(40, all.data(), collides, 1);
    batch.distances(40, all.data(), distances.data(), 1);
    taken += allocations - before;
  };
  round();
  taken = 0;
  round();
  CHECK(taken == 0);
  CHECK(free > 0);
  CHECK(touching > 0);
  for (std::size_t i = 0; i < q.size(); ++i) {
    checker.query().place(q[i].data());
    CHECK(checker.query().collides() == collides[i]);
  }
}
