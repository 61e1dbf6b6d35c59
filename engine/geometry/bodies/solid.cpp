#include "geometry/bodies/solid.h"

#include <cmath>
#include <limits>

#include "geometry/bodies/ray_descent.h"

namespace robosim {
namespace {

// Rounding of a triangle's volumes with the ray, relative to the products that are summed.
constexpr double tolerance = 1e-12;

// Crossing of a ray from p along d with a triangle: 1 if the ray leaves through its front, -1 if
// the ray enters there, 0 if it passes by or the triangle is behind p. is_clear becomes false where
// rounding decides.
int crossing(const TriangleSurface::Corners& c, const Vec3d& p, const Vec3d& d, bool& is_clear) {
  const Vec3d a[3] = {c[0] - p, c[1] - p, c[2] - p};
  double size[3];
  for (int k = 0; k < 3; ++k) size[k] = norm(a[k]);
  // Six times the volumes of the ray with the edges: all have one sign if the ray passes through
  // the triangle.
  int positive = 0, negative = 0;
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    const double e = dot(d, cross(a[k], a[next])), rounding = tolerance * size[k] * size[next];
    positive += e > rounding;
    negative += e < -rounding;
    sum += e;
  }
  if (positive > 0 && negative > 0) return 0;
  // The crossing is at t = volume / sum.
  const double volume = dot(a[0], cross(a[1], a[2]));
  const bool is_on_edge = positive < 3 && negative < 3;
  if (std::fabs(volume) <= tolerance * size[0] * size[1] * size[2]) return is_clear = false, 0;
  if (!is_on_edge) return (volume > 0) == (sum > 0) ? (sum > 0 ? 1 : -1) : 0;
  is_clear = false;
  return 0;
}

// Unit direction towards the nearest side of the box, tilted so that it is parallel to no face.
Vec3d way_off(const Aabb& box, const Vec3d& p, int attempt) {
  int axis = 0;
  double sign = 1, least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    if (p[i] - box.lower[i] < least) {
      least = p[i] - box.lower[i];
      axis = i;
      sign = -1;
    }
    if (box.upper[i] - p[i] < least) {
      least = box.upper[i] - p[i];
      axis = i;
      sign = 1;
    }
  }
  // Turn by the golden angle: no two directions are similar.
  const double turn = 0.7391 + 2.3999632 * attempt, tilt = 0.0173 + 0.0519 * attempt;
  Vec3d d;
  d[axis] = sign;
  d[(axis + 1) % 3] = tilt * std::cos(turn);
  d[(axis + 2) % 3] = tilt * std::sin(turn);
  return d * (1 / norm(d));
}

constexpr int max_attempts = 8;

// Return true if p_B is in the solid of the part's closed mesh, whose pieces are [part.first, end).
bool in_mesh(const Compound& compound, const Compound::Part& part, const TriangleSurface& surface,
             int end, const Vec3d& p_B) {
  const AabbTree& tree = compound.tree();
  const Aabb& root = tree.node(0).box;
  const Vec3d p = part.X_BP.inverse_times(p_B);
  const double slack = ray_slack(root, p_B);
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const Vec3d d_B = way_off(root, p_B, attempt), d = transpose_times(part.X_BP.R, d_B);
    int winding = 0;
    bool is_clear = true;
    constexpr auto no_limit = [] { return std::numeric_limits<double>::max(); };
    descend(tree, {p_B, d_B}, slack, no_limit, [&](const AabbTree::Node& leaf) {
      for (int place = leaf.first; is_clear && place < leaf.first + leaf.count; ++place)
        if (const int piece = tree.item(place); piece >= part.first && piece < end)
          winding += crossing(surface.corners(piece - part.first), p, d, is_clear);
    });
    if (is_clear) return winding > 0;
  }
  return true;
}

bool is_in(const Aabb& box, const Vec3d& p) { return squared_distance(box, p) == 0; }

}  // namespace

Vec3d point_of(const Compound::Piece& piece) {
  return piece.X_BP * visit(piece.shape, [](const auto& core) {
           if constexpr (requires { core.center(); })
             return core.center();
           else
             return Vec3d();
         });
}

bool in_solid(const Compound& compound, const Vec3d& p_B) {
  if (!compound.solid_box() || !is_in(*compound.solid_box(), p_B)) return false;
  const std::vector<Compound::Part>& parts = compound.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto* surface = std::get_if<std::shared_ptr<const TriangleSurface>>(&parts[i].geometry);
    if (!surface || !(*surface)->has_solid()) continue;
    const int end = i + 1 < parts.size() ? parts[i + 1].first : compound.n_pieces();
    const bool is_field = dynamic_cast<const HeightField*>(surface->get()) != nullptr;
    if (is_field ? (*surface)->holds(parts[i].X_BP.inverse_times(p_B), 0, {})
                 : in_mesh(compound, parts[i], **surface, end, p_B))
      return true;
  }
  return false;
}

int piece_in_solid(const Body& S, const SE3d& X_WS, const Body& T, const SE3d& X_WT) {
  if (!T.compound() || !T.compound()->solid_box()) return -1;
  const SE3d X_TS = X_WT.inverse() * X_WS;
  const Aabb box = S.shape() ? bounding_box(*S.shape(), X_TS)
                             : bounding_box(S.compound()->tree().node(0).box, X_TS);
  if (!overlap(*T.compound()->solid_box(), box)) return -1;
  const auto holds_piece = [&](int i) {
    return S.with_piece(i, [&](const Compound::Piece& P) {
      return P.shape.type != ShapeType::half_space && in_solid(*T.compound(), X_TS * point_of(P));
    });
  };
  if (S.shape()) return holds_piece(0) ? 0 : -1;
  for (const int piece : S.compound()->connected_parts())
    if (holds_piece(piece)) return piece;
  return -1;
}

}  // namespace robosim
