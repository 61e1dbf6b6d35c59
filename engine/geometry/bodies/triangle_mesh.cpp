#include "geometry/bodies/triangle_mesh.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "geometry/limits.h"

namespace robosim {
TriangleMesh::TriangleMesh(std::vector<Vec3d> vertices, std::vector<std::array<int, 3>> faces,
                           bool solid)
    : vertices_(std::move(vertices)), faces_(std::move(faces)), solid_(solid) {
  for (std::size_t i = 0; i < vertices_.size(); ++i)
    for (int k = 0; k < 3; ++k)
      if (!(std::fabs(vertices_[i][k]) <= max_coordinate))
        throw InputError(message("triangle mesh: vertex ", i, " has the coordinate ",
                                 vertices_[i][k], " m; each must be finite and within ",
                                 max_coordinate, " m"));
  if (faces_.size() > 500'000'000)
    throw InputError(message("triangle mesh: ", faces_.size(), " faces; at most 5e8 are allowed"));
  for (std::size_t f = 0; f < faces_.size(); ++f)
    for (int i : faces_[f])
      if (i < 0 || static_cast<std::size_t>(i) >= vertices_.size())
        throw InputError(message("triangle mesh: face ", f, " names vertex ", i, "; there are ",
                                 vertices_.size()));
  connect();
  if (n_degenerate_ == n_triangles())
    throw InputError(message("triangle mesh: none of its ", faces_.size(), " faces has an area"));
}

void TriangleMesh::connect() {
  // Merge vertices at one place into the first of them in sorted order.
  std::vector<int> order(vertices_.size()), place(vertices_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int i) { return std::array{at(i).x, at(i).y, at(i).z}; };
  std::sort(order.begin(), order.end(), [&](int i, int j) { return key(i) < key(j); });
  for (std::size_t k = 0; k < order.size(); ++k)
    place[order[k]] = k > 0 && key(order[k - 1]) == key(order[k]) ? place[order[k - 1]] : order[k];

  // Connected parts by union-find with path halving; each part is named by one of its places.
  std::vector<int> leader = place;
  const auto lead = [&](int i) {
    while (leader[i] != i) {
      int& next = leader[i];
      i = next = leader[next];
    }
    return i;
  };
  const auto join = [&](int i, int j) {
    i = lead(i);
    j = lead(j);
    leader[std::max(i, j)] = std::min(i, j);
  };

  // Sort the half-edges, so that those between the same two places are adjacent. Two of opposite
  // directions are paired.
  struct HalfEdge {
    int low, high, number;
    bool forward;
  };
  std::vector<HalfEdge> edges;
  edges.reserve(3 * faces_.size());
  // Collect the half-edges and the connected parts, and sum the enclosed volume.
  double volume = 0;
  for (int t = 0; t < n_triangles(); ++t) {
    const Corners c = corners(t);
    if (c.is_degenerate()) {
      ++n_degenerate_;
      continue;
    }
    for (int k = 1; k < 3; ++k) join(vertex(t, 0), vertex(t, k));
    const Vec3d& o = vertices_[0];
    volume += dot(c[0] - o, cross(c[1] - o, c[2] - o)) / 6;
    for (int k = 0; k < 3; ++k) {
      const int i = place[vertex(t, k)], j = place[vertex(t, (k + 1) % 3)];
      edges.push_back({std::min(i, j), std::max(i, j), 3 * t + k, i < j});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const HalfEdge& a, const HalfEdge& b) {
    return std::array{a.low, a.high, a.number} < std::array{b.low, b.high, b.number};
  });
  // Pair half-edges of opposite directions; other edges are boundaries.
  across_.assign(3 * faces_.size(), -1);
  bool ends = edges.empty();
  for (std::size_t i = 0, end = 0; i < edges.size(); i = end) {
    while (end < edges.size() && edges[end].low == edges[i].low && edges[end].high == edges[i].high)
      ++end;
    if (end - i == 2 && edges[i].forward != edges[i + 1].forward) {
      across_[edges[i].number] = edges[i + 1].number;
      across_[edges[i + 1].number] = edges[i].number;
    } else {
      ends = true;  // one triangle, three or more, or two that disagree on the outside
    }
  }
  closed_ = !ends && volume > 0;
  // List one triangle of each connected part.
  std::vector<char> is_listed(vertices_.size(), 0);
  for (int t = 0; t < n_triangles(); ++t)
    if (char& listed = is_listed[lead(vertex(t, 0))]; !listed && !corners(t).is_degenerate()) {
      listed = 1;
      connected_parts_.push_back(t);
    }
}

}  // namespace robosim
