#include "geometry/shapes/convex_mesh.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "geometry/limits.h"
#include "geometry/shapes/convex_hull.h"
#include "geometry/shapes/smallest_ball.h"

namespace robosim {
namespace {

// Volume and centroid of a closed surface, summed over its tetrahedra with a point nearby.
void integrate_volume(const std::vector<Vec3d>& vertices,
                      const std::vector<std::array<int, 3>>& faces, double& volume,
                      Vec3d& centroid) {
  const Vec3d o = vertices[0];
  volume = 0;
  Vec3d moment;
  for (const auto& f : faces) {
    const Vec3d a = vertices[f[0]] - o, b = vertices[f[1]] - o, c = vertices[f[2]] - o;
    const double v = dot(a, cross(b, c)) / 6;
    volume += v;
    moment += (v / 4) * (a + b + c);
  }
  centroid = o + moment * (1 / volume);
}

void build_adjacency(ConvexMesh& mesh) {
  const std::size_t n = mesh.vertices.size();
  // Every edge of a closed surface occurs once in each direction: half-edges are the adjacency.
  mesh.neighbor_begin.assign(n + 1, 0);
  for (const auto& f : mesh.faces)
    for (int i : f) ++mesh.neighbor_begin[i + 1];
  for (std::size_t i = 0; i < n; ++i) mesh.neighbor_begin[i + 1] += mesh.neighbor_begin[i];
  mesh.neighbors.resize(3 * mesh.faces.size());
  std::vector<int> at(mesh.neighbor_begin.begin(), mesh.neighbor_begin.end() - 1);
  for (const auto& f : mesh.faces)
    for (int k = 0; k < 3; ++k) mesh.neighbors[at[f[k]]++] = f[(k + 1) % 3];
}

// Throw unless every edge between two positions occurs equally often in both directions.
void check_closed(const std::vector<Vec3d>& vertices,
                  const std::vector<std::array<int, 3>>& faces) {
  // Vertices at the same position count as one: the first of them in sorted order.
  const auto less = [&](int i, int j) {
    const Vec3d &p = vertices[i], &q = vertices[j];
    return p.x != q.x ? p.x < q.x : (p.y != q.y ? p.y < q.y : p.z < q.z);
  };
  std::vector<int> order(vertices.size()), place(vertices.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), less);
  for (std::size_t k = 0; k < order.size(); ++k)
    place[order[k]] = k > 0 && !less(order[k - 1], order[k]) ? place[order[k - 1]] : order[k];
  std::vector<std::pair<int, int>> there, back;
  for (const auto& f : faces)
    for (int k = 0; k < 3; ++k) {
      const int i = place[f[k]], j = place[f[(k + 1) % 3]];
      there.push_back({i, j});
      back.push_back({j, i});
    }
  std::sort(there.begin(), there.end());
  std::sort(back.begin(), back.end());
  if (there != back)
    throw InputError("convex: the faces are not a closed surface; leave them out to take the hull");
}

// Drop the vertices that belong to no face. The others keep their order.
void keep_corners(ConvexMesh& mesh) {
  std::vector<int> index(mesh.vertices.size(), -1);
  for (const auto& f : mesh.faces)
    for (int i : f) index[i] = 0;
  std::size_t n = 0;
  for (std::size_t i = 0; i < index.size(); ++i)
    if (index[i] == 0) {
      index[i] = static_cast<int>(n);
      mesh.vertices[n++] = mesh.vertices[i];
    }
  mesh.vertices.resize(n);
  for (auto& f : mesh.faces)
    for (int& i : f) i = index[i];
}

}  // namespace

ConvexMesh convex_hull_mesh(const std::vector<Vec3d>& points) {
  for (std::size_t i = 0; i < points.size(); ++i)
    for (int k = 0; k < 3; ++k)
      if (!(std::fabs(points[i][k]) <= max_coordinate))
        throw InputError(message("convex: vertex ", i, " has the coordinate ", points[i][k],
                                 " m; each must be finite and within ", max_coordinate, " m"));
  if (points.size() < 4)
    throw InputError(message("convex: ", points.size(),
                             " vertices; a convex shape needs at least 4 that are not coplanar"));
  ConvexMesh mesh;
  mesh.vertices = points;
  // Repeat until every vertex is a corner, so that the hull of these vertices is this mesh,
  // triangle by triangle.
  std::size_t before;
  do {
    before = mesh.vertices.size();
    mesh.faces = convex_hull(mesh.vertices);
    keep_corners(mesh);
  } while (mesh.vertices.size() < before);
  build_adjacency(mesh);
  integrate_volume(mesh.vertices, mesh.faces, mesh.volume, mesh.centroid);
  mesh.ball = smallest_ball(mesh.vertices);
  mesh.polygons = hull_polygons(mesh);
  return mesh;
}

ConvexMesh convex_mesh(const std::vector<Vec3d>& vertices,
                       const std::vector<std::array<int, 3>>& faces) {
  for (std::size_t f = 0; f < faces.size(); ++f)
    for (int i : faces[f])
      if (i < 0 || static_cast<std::size_t>(i) >= vertices.size())
        throw InputError(
            message("convex: face ", f, " names vertex ", i, "; there are ", vertices.size()));
  ConvexMesh mesh = convex_hull_mesh(vertices);
  check_closed(vertices, faces);
  // A closed outward surface on these vertices has the volume of their hull exactly if it is the
  // hull's surface.
  double volume = 0;
  Vec3d centroid;
  integrate_volume(vertices, faces, volume, centroid);
  if (!(std::fabs(volume - mesh.volume) <= 1e-6 * mesh.volume))
    throw InputError(message("convex: the faces enclose ", volume,
                             " m^3 and the hull of the vertices ", mesh.volume,
                             " m^3: they are not the outward surface of a convex body; leave them "
                             "out to take the hull"));
  return mesh;
}

}  // namespace robosim
