// The bounding volume tree has the same results as brute force, without allocations.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

#include "geometry/bodies/broadphase.h"

using namespace robosim;

namespace {

std::vector<Aabb> random_boxes(std::mt19937_64& engine, int n, double size) {
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<Aabb> boxes(static_cast<std::size_t>(n));
  for (Aabb& b : boxes) {
    const Vec3d c(u(engine), u(engine), u(engine)),
        h(std::fabs(u(engine)), std::fabs(u(engine)), std::fabs(u(engine)));
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
  // A visit that returns true is the last one.
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
    if (n == 100) {  // a floor, a body that contains everything, and many bodies at one place
      boxes[5] = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, -0.9}};
      boxes[6] = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
      for (int i = 20; i < 60; ++i) boxes[i] = boxes[19];
    }
    const AabbTree tree(boxes);
    CHECK(tree.nodes().size() == 2 * boxes.size() - 1);
    for (int k = 0; k < 100; ++k) {
      const Aabb box = random_boxes(engine, 1, 0.3)[0];
      const double margin = k % 2 ? 0.1 : 0.0;
      compare(
          tree, boxes,
          [&](const AabbTree& t, auto&& visit) { return t.visit_near(box, margin, visit); },
          [&](const Aabb& b) { return overlap(b, grown(box, margin)); });
      const Ball ball{{u(engine), u(engine), u(engine)}, 0.3 * std::fabs(u(engine))};
      compare(
          tree, boxes, [&](const AabbTree& t, auto&& visit) { return t.visit_near(ball, visit); },
          [&](const Aabb& b) {
            const Vec3d& c = ball.center;
            const Vec3d nearest(std::clamp(c.x, b.lower.x, b.upper.x),
                                std::clamp(c.y, b.lower.y, b.upper.y),
                                std::clamp(c.z, b.lower.z, b.upper.z));
            return squared_norm(nearest - c) <= ball.radius * ball.radius;
          });
    }
  }
}

TEST_CASE("larger leaves hold the same items under their own names, and miss nothing") {
  std::mt19937_64 engine(5);
  for (int n : {1, 5, 300}) {
    const std::vector<Aabb> boxes = random_boxes(engine, n, 0.05);
    std::vector<int> names;
    for (int i = 0; i < n; ++i) names.push_back(1000 - 3 * i);
    const AabbTree tree(boxes, 4, names);
    std::vector<int> held;
    for (const AabbTree::Node& node : tree.nodes()) {
      CHECK(node.count <= 4);
      for (int place = node.first; place < node.first + node.count; ++place)
        held.push_back(tree.item(place));
    }
    std::sort(held.begin(), held.end());
    std::sort(names.begin(), names.end());
    CHECK(held == names);
    for (int k = 0; k < 50; ++k) {
      const Aabb box = random_boxes(engine, 1, 0.3)[0];
      std::vector<int> found;
      tree.visit_near(box, 0, [&](int i) { return found.push_back(i), false; });
      for (std::size_t i = 0; i < boxes.size(); ++i)
        if (overlap(boxes[i], box))
          CHECK(std::count(found.begin(), found.end(), 1000 - 3 * static_cast<int>(i)) == 1);
    }
  }
}

TEST_CASE("a tree over a grid has every item in one leaf, inside its box") {
  for (const auto& [rows, columns, leaf] :
       {std::array{1, 1, 4}, {1, 9, 4}, {7, 2, 4}, {13, 40, 8}, {40, 13, 1}, {1, 5, 2}}) {
    const auto box_of = [](int row, int first, int end) {
      return Aabb{{1.0 * row, 1.0 * first, 0}, {row + 1.0, 1.0 * end, 1}};
    };
    const AabbTree tree = AabbTree::over_grid(rows, columns, leaf, box_of);
    std::vector<int> seen(static_cast<std::size_t>(rows * columns), 0);
    for (const AabbTree::Node& node : tree.nodes()) {
      CHECK(node.count <= leaf);
      for (int place = node.first; place < node.first + node.count; ++place) {
        const int item = tree.item(place), row = item / columns, column = item % columns;
        ++seen[item];
        CHECK(squared_distance(node.box, {row + 0.5, column + 0.5, 0.5}) == 0);
      }
      if (node.is_leaf()) continue;
      for (int child = node.first; child < node.first + 2; ++child) {
        const Aabb both = hull(node.box, tree.node(child).box);
        CHECK(squared_norm(both.upper - node.box.upper) +
                  squared_norm(both.lower - node.box.lower) ==
              0);
      }
    }
    CHECK(std::count(seen.begin(), seen.end(), 1) == rows * columns);
  }
}

TEST_CASE("a tree of nothing finds nothing") {
  const AabbTree tree(std::vector<Aabb>{});
  CHECK_FALSE(tree.visit_near(Aabb{{-1, -1, -1}, {1, 1, 1}}, 1, [](int) { return true; }));
  CHECK_FALSE(tree.visit_near(Ball{{}, 10}, [](int) { return true; }));
  CHECK(AabbTree::over_grid(0, 3, 4, [](int, int, int) { return Aabb(); }).nodes().empty());
}
