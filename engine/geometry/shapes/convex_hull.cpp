#include "geometry/shapes/convex_hull.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "geometry/shapes/orientation.h"

namespace robosim {
namespace {

struct HullFacet {
  std::array<int, 3> vertex;
  std::array<int, 3> neighbor{-1, -1, -1};  // across the edge vertex[i] - vertex[i + 1]
  Vec3d n;                                  // outward, not unit
  // Points strictly above this face that are not assigned to another face.
  std::vector<int> outside;
  bool alive = true;
};

struct HullEdge {
  int facet, side;
};

class Quickhull {
 public:
  explicit Quickhull(const std::vector<Vec3d>& points) : points_(points) {}

  std::vector<std::array<int, 3>> solve() {
    first_tetrahedron();
    while (!pending_.empty()) {
      const int f = pending_.back();
      pending_.pop_back();
      if (facets_[f].alive && !facets_[f].outside.empty()) add_farthest(f);
    }
    std::vector<std::array<int, 3>> faces;
    for (const HullFacet& f : facets_)
      if (f.alive) faces.push_back(f.vertex);
    return faces;
  }

 private:
  const Vec3d& at(int i) const { return points_[i]; }
  bool above(const HullFacet& f, int i) const {
    return orientation(at(f.vertex[0]), at(f.vertex[1]), at(f.vertex[2]), at(i)) > 0;
  }

  int add_facet(int i, int j, int k) {
    HullFacet f;
    f.vertex = {i, j, k};
    f.n = cross(at(j) - at(i), at(k) - at(i));
    facets_.push_back(std::move(f));
    return static_cast<int>(facets_.size()) - 1;
  }

  // Assign each point to the first of the facets from `begin` on that sees the point.
  void distribute(const std::vector<int>& orphans, std::size_t begin) {
    for (int i : orphans)
      for (std::size_t f = begin; f < facets_.size(); ++f)
        if (above(facets_[f], i)) {
          facets_[f].outside.push_back(i);
          break;
        }
    for (std::size_t f = begin; f < facets_.size(); ++f)
      if (!facets_[f].outside.empty()) pending_.push_back(static_cast<int>(f));
  }

  void first_tetrahedron();
  void add_farthest(int f);

  const std::vector<Vec3d>& points_;
  std::vector<HullFacet> facets_;
  std::vector<int> pending_;
  // For each point, the face whose horizon edge starts at it.
  std::vector<int> starts_at_ = std::vector<int>(points_.size());
};

// Two distant points, the point farthest from their line, and the point farthest from their plane.
void Quickhull::first_tetrahedron() {
  const int n = static_cast<int>(points_.size());
  const auto farthest = [&](auto&& measure) {
    int best = 0;
    double most = -1;
    for (int i = 0; i < n; ++i) {
      const double m = measure(at(i));
      if (m > most) {
        most = m;
        best = i;
      }
    }
    return best;
  };
  const Vec3d some = at(0);
  int a = farthest([&](const Vec3d& p) { return norm(p - some); });
  int b = farthest([&](const Vec3d& p) { return norm(p - at(a)); });
  const double extent = norm(at(b) - at(a));
  const Vec3d u = (at(b) - at(a)) * (extent > 0 ? 1 / extent : 0);
  int c = farthest([&](const Vec3d& p) { return norm(cross(u, p - at(a))); });
  const Vec3d m = cross(u, at(c) - at(a));
  const double width = norm(m);
  const int d = farthest([&](const Vec3d& p) { return std::fabs(dot(m, p - at(a))); });
  const double thickness = width > 0 ? std::fabs(dot(m, at(d) - at(a))) / width : 0;
  // Reject flat points.
  if (!(extent > 0) || !(width > 1e-9 * extent) || !(thickness > 1e-9 * extent)) {
    throw InputError(
        message("convex: the ", n, " points are flat (extent ", extent, " m, width ", width,
                " m, thickness ", thickness,
                " m): a convex shape needs a volume; give them a thickness or use a thin box"));
  }
  if (orientation(at(a), at(b), at(c), at(d)) > 0) std::swap(b, c);  // d below the triangle a, b, c
  const int f[4] = {add_facet(a, b, c), add_facet(a, d, b), add_facet(b, d, c), add_facet(c, d, a)};
  facets_[f[0]].neighbor = {f[1], f[2], f[3]};
  facets_[f[1]].neighbor = {f[3], f[2], f[0]};
  facets_[f[2]].neighbor = {f[1], f[3], f[0]};
  facets_[f[3]].neighbor = {f[2], f[1], f[0]};
  // Assign the other points to the faces.
  std::vector<int> all;
  for (int i = 0; i < n; ++i)
    if (i != a && i != b && i != c && i != d) all.push_back(i);
  distribute(all, 0);
}

// Add the outside point that is farthest above facet f, as the apex of a fan of faces.
void Quickhull::add_farthest(int f) {
  int apex = facets_[f].outside[0];
  const Vec3d origin = at(facets_[f].vertex[0]), n = facets_[f].n;
  for (int i : facets_[f].outside)
    if (dot(n, at(i) - origin) > dot(n, at(apex) - origin)) apex = i;

  // Remove every face that the apex sees. The border of the remaining faces is the horizon.
  std::vector<int> visible{f};
  std::vector<HullEdge> horizon;
  facets_[f].alive = false;
  for (std::size_t k = 0; k < visible.size(); ++k) {
    for (int side = 0; side < 3; ++side) {
      const int g = facets_[visible[k]].neighbor[side];
      if (!facets_[g].alive) continue;
      if (above(facets_[g], apex)) {
        facets_[g].alive = false;
        visible.push_back(g);
      }
    }
  }
  for (int v : visible)
    for (int side = 0; side < 3; ++side)
      if (facets_[facets_[v].neighbor[side]].alive) horizon.push_back({v, side});

  // Add a face from each horizon edge to the apex. Each horizon vertex starts exactly one edge.
  const std::size_t begin = facets_.size();
  for (const auto& [v, side] : horizon) {
    const int i = facets_[v].vertex[side], j = facets_[v].vertex[(side + 1) % 3],
              g = facets_[v].neighbor[side];
    const int h = add_facet(i, j, apex);
    facets_[h].neighbor[0] = g;
    for (int s = 0; s < 3; ++s)
      if (facets_[g].vertex[s] == j && facets_[g].vertex[(s + 1) % 3] == i)
        facets_[g].neighbor[s] = h;
    starts_at_[i] = h;
  }
  for (std::size_t h = begin; h < facets_.size(); ++h) {
    const int after = starts_at_[facets_[h].vertex[1]];
    facets_[h].neighbor[1] = after;
    facets_[after].neighbor[2] = static_cast<int>(h);
  }

  // Reassign the points of the removed faces.
  std::vector<int> orphans;
  for (int v : visible) {
    for (int i : facets_[v].outside)
      if (i != apex) orphans.push_back(i);
    facets_[v].outside = {};
  }
  distribute(orphans, begin);
}

}  // namespace

std::vector<std::array<int, 3>> convex_hull(const std::vector<Vec3d>& points) {
  return Quickhull(points).solve();
}

}  // namespace robosim
