// The tree of boxes gives what brute force gives, and nothing is allocated on the way.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "geometry/broadphase.h"

using namespace robosim;

namespace {

std::vector<Aabb> random_boxes(std::mt19937_64& engine, int n, double size) {
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<Aabb> boxes(static_cast<std::size_t>(n));
  for (Aabb& b : boxes) {
    const Vec3d c(u(engine), u(engine), u(engine)), h(std::fabs(u(engine)), std::fabs(u(engine)), std::fabs(u(engine)));
    b = {c - size * h, c + size * h};
  }
  return boxes;
}

template <class Query, class Near>
void compare(const AabbTree& tree, const std::vector<Aabb>& boxes, Query&& query, Near&& near) {
  std::vector<int> found, expected;
  CHECK_FALSE(query(tree, [&](int i) { return found.push_back(i), false; }));
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (near(boxes[i])) expected.push_back(static_cast<int>(i));
  std::sort(found.begin(), found.end());
  CHECK(found == expected);
  // A visit that says stop is the last one.
  int visits = 0;
  CHECK(query(tree, [&](int) { return ++visits, true; }) == !expected.empty());
  CHECK(visits == (expected.empty() ? 0 : 1));
}

}  // namespace

TEST_CASE("visit_near agrees with brute force") {
  std::mt19937_64 engine(3);
  std::uniform_real_distribution<double> u(-1.2, 1.2);
  for (int n : {1, 2, 3, 7, 100, 3000}) {
    std::vector<Aabb> boxes = random_boxes(engine, n, 0.05);
    if (n == 100) {  // a floor, everything, and many at one place
      boxes[5] = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, -0.9}};
      boxes[6] = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
      for (int i = 20; i < 60; ++i) boxes[static_cast<std::size_t>(i)] = boxes[19];
    }
    const AabbTree tree(boxes);
    CHECK(tree.nodes().size() == 2 * boxes.size() - 1);
    for (int k = 0; k < 100; ++k) {
      const Aabb box = random_boxes(engine, 1, 0.3)[0];
      const double margin = k % 2 ? 0.1 : 0.0;
      compare(
          tree, boxes, [&](const AabbTree& t, auto&& visit) { return t.visit_near(box, margin, visit); },
          [&](const Aabb& b) { return overlap(b, grown(box, margin)); });
      const Ball ball{{u(engine), u(engine), u(engine)}, 0.3 * std::fabs(u(engine))};
      compare(
          tree, boxes, [&](const AabbTree& t, auto&& visit) { return t.visit_near(ball, visit); },
          [&](const Aabb& b) {
            const Vec3d& c = ball.centre;
            const Vec3d nearest(std::clamp(c.x, b.lower.x, b.upper.x), std::clamp(c.y, b.lower.y, b.upper.y),
                                std::clamp(c.z, b.lower.z, b.upper.z));
            return squared_norm(nearest - c) <= ball.radius * ball.radius;
          });
    }
  }
}

TEST_CASE("a tree of nothing finds nothing") {
  const AabbTree tree({});
  CHECK_FALSE(tree.visit_near(Aabb{{-1, -1, -1}, {1, 1, 1}}, 1, [](int) { return true; }));
  CHECK_FALSE(tree.visit_near(Ball{{}, 10}, [](int) { return true; }));
}
