#include "geometry/shapes/hull_polygons.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "geometry/shapes/convex_mesh.h"

namespace robosim {
namespace {

using Index = std::size_t;

constexpr double flat = 1e-6;      // relative to the mesh's size
constexpr double level = 1e-7;     // [rad]: an edge within this of the supporting plane lies on it
constexpr double steepest = 1e-3;  // cosine: a steeper face is no support

// Cross product of two edges of the triangle: twice its area, along the outward normal.
Vec3d doubled_area(const ConvexMesh& mesh, int triangle) {
  const auto& f = mesh.faces[static_cast<Index>(triangle)];
  const Vec3d& a = mesh.vertices[static_cast<Index>(f[0])];
  return cross(mesh.vertices[static_cast<Index>(f[1])] - a,
               mesh.vertices[static_cast<Index>(f[2])] - a);
}
Vec3d unit_normal(const ConvexMesh& mesh, int triangle) {
  const Vec3d area = doubled_area(mesh, triangle);
  const double length = norm(area);
  return length > 0 ? area * (1 / length) : Vec3d();
}

// Half-edge 3 t + k of triangle t goes from its corner k to the next one.
struct HalfEdges {
  std::vector<int> number;    // in ConvexMesh::neighbors
  std::vector<int> opposite;  // the reverse half-edge

  explicit HalfEdges(const ConvexMesh& mesh)
      : number(3 * mesh.faces.size()), opposite(number.size()) {
    std::vector<int> at(mesh.neighbor_begin.begin(), mesh.neighbor_begin.end() - 1);
    std::vector<std::array<int, 3>> ends(number.size());  // lower, upper vertex, half-edge
    for (Index h = 0; h < number.size(); ++h) {
      const int v = from(mesh, h), w = to(mesh, h);
      number[h] = at[static_cast<Index>(v)]++;
      ends[h] = {std::min(v, w), std::max(v, w), static_cast<int>(h)};
    }
    std::sort(ends.begin(), ends.end());
    for (Index i = 0; i + 1 < ends.size(); i += 2) {  // in pairs, as the surface is closed
      opposite[static_cast<Index>(ends[i][2])] = ends[i + 1][2];
      opposite[static_cast<Index>(ends[i + 1][2])] = ends[i][2];
    }
  }
  static int from(const ConvexMesh& mesh, Index h) { return mesh.faces[h / 3][h % 3]; }
  static int to(const ConvexMesh& mesh, Index h) { return mesh.faces[h / 3][(h + 1) % 3]; }
};

class Builder {
 public:
  explicit Builder(const ConvexMesh& mesh)
      : mesh_(mesh),
        half_edges_(mesh),
        polygon_of_(mesh.faces.size(), -1),
        next_(mesh.vertices.size(), -1) {}

  HullPolygons build() {
    std::vector<double> area(mesh_.faces.size());
    for (Index t = 0; t < area.size(); ++t)
      area[t] = norm(doubled_area(mesh_, static_cast<int>(t)));
    std::vector<int> order(area.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return area[static_cast<Index>(a)] > area[static_cast<Index>(b)];
    });
    for (const int seed : order)
      if (polygon_of_[static_cast<Index>(seed)] < 0) add_polygon(seed);
    out_.begin.push_back(
        {static_cast<int>(out_.corners.size()), static_cast<int>(out_.triangles.size()), 0});
    index_by_vertex();
    return std::move(out_);
  }

 private:
  // Add the seed triangle and all triangles around it that lie in its plane.
  void add_polygon(int seed) {
    const int own = static_cast<int>(out_.begin.size());
    const Index begin = out_.triangles.size();
    const Vec3d m = unit_normal(mesh_, seed),
                a = mesh_.vertices[static_cast<Index>(mesh_.faces[static_cast<Index>(seed)][0])];
    out_.begin.push_back({static_cast<int>(out_.corners.size()), static_cast<int>(begin), 0});
    take(seed, own);
    for (Index i = begin; i < out_.triangles.size(); ++i)
      for (Index k = 0; k < 3; ++k) {
        const int t = half_edges_.opposite[3 * static_cast<Index>(out_.triangles[i]) + k] / 3;
        if (polygon_of_[static_cast<Index>(t)] >= 0 || !(dot(doubled_area(mesh_, t), m) > 0))
          continue;
        const auto& corners = mesh_.faces[static_cast<Index>(t)];
        const bool holds = std::all_of(corners.begin(), corners.end(), [&](int v) {
          return std::fabs(dot(m, mesh_.vertices[static_cast<Index>(v)] - a)) <=
                 flat * mesh_.ball.radius;
        });
        if (holds) take(t, own);
      }
    if (trace(begin, own)) return;
    // The outline is not simple, as may happen with slivers: use the seed alone.
    for (Index i = begin; i < out_.triangles.size(); ++i)
      polygon_of_[static_cast<Index>(out_.triangles[i])] = -1;
    out_.triangles.resize(begin);
    take(seed, own);
    trace(begin, own);
  }
  void take(int triangle, int polygon) {
    polygon_of_[static_cast<Index>(triangle)] = polygon;
    out_.triangles.push_back(triangle);
  }
  // Trace the outline: half-edges whose opposite belongs to another polygon. Returns false unless
  // the half-edges form one loop.
  bool trace(Index begin, int own) {
    std::vector<int> outline;
    bool simple = true;
    for (Index i = begin; i < out_.triangles.size(); ++i)
      for (Index k = 0; k < 3; ++k) {
        const Index h = 3 * static_cast<Index>(out_.triangles[i]) + k;
        if (polygon_of_[static_cast<Index>(half_edges_.opposite[h] / 3)] == own) continue;
        int& next = next_[static_cast<Index>(HalfEdges::from(mesh_, h))];
        simple &= next < 0;
        next = static_cast<int>(h);
        outline.push_back(next);
      }
    Index n = 0;
    int h = outline.front(), index = half_edges_.number[static_cast<Index>(h)];
    const Index first = out_.corners.size();
    do {
      const Index here = static_cast<Index>(h);
      const int v = HalfEdges::from(mesh_, here), w = HalfEdges::to(mesh_, here);
      index = std::min(index, half_edges_.number[here]);
      out_.corners.push_back(v);
      out_.sides.push_back(
          half_edges_.number[v < w ? here : static_cast<Index>(half_edges_.opposite[here])]);
      h = next_[static_cast<Index>(w)];
    } while (h >= 0 && h != outline.front() && ++n < outline.size());
    simple &= out_.corners.size() - first == outline.size();
    for (const int e : outline)
      next_[static_cast<Index>(HalfEdges::from(mesh_, static_cast<Index>(e)))] = -1;
    if (simple)
      out_.begin.back().index = index;
    else {
      out_.corners.resize(first);
      out_.sides.resize(first);
    }
    return simple;
  }
  // Index all vertices of the polygons: if a polygon is slightly bent, a vertex inside of its
  // outline may be the farthest.
  void index_by_vertex() {
    std::vector<std::pair<int, int>> at;  // vertex, polygon
    for (Index t = 0; t < polygon_of_.size(); ++t)
      for (const int v : mesh_.faces[t]) at.push_back({v, polygon_of_[t]});
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    out_.at_begin.assign(mesh_.vertices.size() + 1, 0);
    for (const auto& [v, polygon] : at) {
      ++out_.at_begin[static_cast<Index>(v) + 1];
      out_.at.push_back(polygon);
    }
    std::partial_sum(out_.at_begin.begin(), out_.at_begin.end(), out_.at_begin.begin());
  }

  const ConvexMesh& mesh_;
  const HalfEdges half_edges_;
  std::vector<int> polygon_of_;  // of each triangle
  std::vector<int> next_;        // half-edge of the current outline that leaves a vertex
  HullPolygons out_;
};

}  // namespace

HullPolygons hull_polygons(const ConvexMesh& mesh) { return Builder(mesh).build(); }

void hull_patch(const ConvexMesh& mesh, const Vec3d& n, int farthest, Patch& out) {
  const HullPolygons& all = mesh.polygons;
  const Index v = static_cast<Index>(farthest);
  // Neighbor that is as far along n, if any.
  int other = -1;
  double highest = -level;
  for (int e = mesh.neighbor_begin[v]; e < mesh.neighbor_begin[v + 1]; ++e) {
    const int w = mesh.neighbors[static_cast<Index>(e)];
    const Vec3d d = mesh.vertices[static_cast<Index>(w)] - mesh.vertices[v];
    const double rise = dot(n, d);
    if (rise > highest * norm(d)) {
      highest = rise / norm(d);
      other = w;
    }
  }
  // Polygon that turns most towards n, preferably with both vertices.
  int best = -1;
  double facing = steepest;
  Vec3d normal;
  bool holds_both = false;
  for (int k = all.at_begin[v]; k < all.at_begin[v + 1]; ++k) {
    const int i = all.at[static_cast<Index>(k)];
    const HullPolygons::Begin &own = all.begin[static_cast<Index>(i)],
                              &next = all.begin[static_cast<Index>(i) + 1];
    const Vec3d m = unit_normal(mesh, all.triangles[static_cast<Index>(own.triangle)]);
    const double c = dot(m, n);
    if (c <= (holds_both ? facing : steepest)) continue;
    const auto begin = all.corners.begin();
    const bool both = other >= 0 && std::find(begin + own.corner, begin + next.corner, other) !=
                                        begin + next.corner;
    if (holds_both ? both : both || c > facing) {
      best = i;
      facing = c;
      normal = m;
      holds_both = both;
    }
  }
  if (best < 0) return;
  const HullPolygons::Begin &own = all.begin[static_cast<Index>(best)],
                            &next = all.begin[static_cast<Index>(best) + 1];
  // Corners of the polygon, thinned out to max_corners.
  const int n_all = next.corner - own.corner, n_taken = std::min(n_all, Patch::max_corners);
  out.kind = Patch::Kind::polygon;
  out.face = {FeatureKind::face, own.index, 0};
  out.normal = normal;
  for (int i = 0; i < n_taken; ++i) {
    const Index k = static_cast<Index>(
        own.corner + static_cast<int>(static_cast<long long>(i) * n_all / n_taken));
    const int w = all.corners[k];
    const FeatureId side = n_taken == n_all ? FeatureId{FeatureKind::edge, all.sides[k], 0}
                                            : FeatureId{FeatureKind::face, own.index, i + 1};
    out.add(mesh.vertices[static_cast<Index>(w)], {FeatureKind::vertex, w, 0}, side);
  }
  out.mesh = &mesh;
  out.polygon = best;
  out.bent = next.triangle - own.triangle > 1;
}

bool leave_hull_over_face(const ConvexMesh& mesh, int vertex, double rounding, const Vec3d& n,
                          double& length, Vec3d& normal) {
  const HullPolygons& all = mesh.polygons;
  const Index v = static_cast<Index>(vertex);
  const Vec3d& p = mesh.vertices[v];
  for (int k = all.at_begin[v]; k < all.at_begin[v + 1]; ++k) {
    const Index i = static_cast<Index>(all.at[static_cast<Index>(k)]);
    normal = unit_normal(mesh, all.triangles[static_cast<Index>(all.begin[i].triangle)]);
    const double c = dot(normal, n);
    if (!(c > steepest)) continue;
    length = rounding / c;
    const Vec3d foot = p + length * n - rounding * normal;
    bool within = true;
    const int begin = all.begin[i].corner, end = all.begin[i + 1].corner;
    for (int e = begin; e < end && within; ++e) {
      const Vec3d& a = mesh.vertices[static_cast<Index>(all.corners[static_cast<Index>(e)])];
      const Vec3d& b = mesh.vertices[static_cast<Index>(
          all.corners[static_cast<Index>(e + 1 == end ? begin : e + 1)])];
      within = dot(cross(normal, b - a), foot - a) >= 0;
    }
    if (within) return true;
  }
  return false;
}

Vec3d hull_polygon_at(const ConvexMesh& mesh, int polygon, const Vec3d& p, const Vec3d& n,
                      Vec3d& normal) {
  const HullPolygons& all = mesh.polygons;
  // Triangle whose projection along n contains p, or is nearest to it, by the least barycentric
  // coordinate.
  double most_inside = -INFINITY;
  int best = all.triangles[static_cast<Index>(all.begin[static_cast<Index>(polygon)].triangle)];
  for (int k = all.begin[static_cast<Index>(polygon)].triangle;
       k < all.begin[static_cast<Index>(polygon) + 1].triangle; ++k) {
    const int t = all.triangles[static_cast<Index>(k)];
    const auto& f = mesh.faces[static_cast<Index>(t)];
    const double area = dot(n, doubled_area(mesh, t));
    if (!(area > 0)) continue;
    double least = INFINITY;
    for (int i = 0; i < 3; ++i) {
      const Vec3d& a = mesh.vertices[static_cast<Index>(f[i])];
      const Vec3d& b = mesh.vertices[static_cast<Index>(f[(i + 1) % 3])];
      least = min_number(least, dot(n, cross(b - a, p - a)));
    }
    if (least / area > most_inside) {
      most_inside = least / area;
      best = t;
    }
    if (least >= 0) break;
  }
  normal = unit_normal(mesh, best);
  return mesh.vertices[static_cast<Index>(mesh.faces[static_cast<Index>(best)][0])];
}

}  // namespace robosim
