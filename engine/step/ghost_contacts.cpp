#include "step/ghost_contacts.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "geometry/query.h"
#include "spatial/lie.h"

namespace robosim {
namespace {

constexpr double passed_over = 0.1;  // of the depth: penetration that is passed over
// Depth to which pairs are moved on, relative to the smaller radius or thickness.
constexpr double of_small_things = 0.25;
constexpr double farthest = 4;      // largest depth, relative to the distance that rows look ahead
constexpr double unnoticed = 1e-3;  // of the margin: overlap below which rows slow nothing down
// Lower bound of erp in the time for which rows look ahead.
constexpr double least_share = 0.1;

// Pose after moving for a time with a twist about O.
SE3d moved(const SE3d& X, const Motion<double>& V, const Vec3d& O, double time) {
  const SE3d way = exp_motion(Motion<double>{time * V.angular, time * V.linear});
  return {way.R * X.R, O + way.R * (X.p - O) + way.p};
}

// Radius of an object's ball, or half the thickness of a piece that is a box. Two plates have
// passed through each other once they have moved on by this distance.
double radius_of(const SceneObject& object, int piece) {
  return object.geometry.body().with_piece(piece, [&](const Compound::Piece& P) {
    const Vec3d& h = P.shape.half_extents;
    if (P.shape.type != ShapeType::box) return object.ball_radius;
    return std::min({object.ball_radius, h.x, h.y, h.z});
  });
}

bool is_half_space(const CollisionGeometry& geometry) {
  return !geometry.compound && geometry.shape.type == ShapeType::half_space;
}

}  // namespace

bool GhostContacts::is_ghost(const StepData& step, const std::vector<Motion<double>>& V_WB,
                             const PairManifold& pair) const {
  const SceneObject &A = step.object(pair.a), &B = step.object(pair.b);
  if (is_half_space(A.geometry) || is_half_space(B.geometry)) return false;
  const Motion<double>&V_a = V_WB[A.body], &V_b = V_WB[B.body];
  const Motion<double> V{V_b.angular - V_a.angular, V_b.linear - V_a.linear};
  const Vec3d O = step.dynamics.X_WB[1].p;
  const StepOptions& options = step.options;

  // First point that its row would slow down.
  const double ahead = options.dt / std::max(options.erp, least_share);
  double gap = 0, closing = 0, first = ahead;
  for (int i = 0; i < pair.manifold.n_points; ++i) {
    const ManifoldPoint& p = pair.manifold.points[i];
    const double speed = -dot(pair.manifold.normal(), at_point(V, p.p_W - O).linear);
    if (!(std::max(p.gap, 0.0) - ahead * speed < -unnoticed * options.margin)) continue;
    const double when = p.gap / speed;
    if (when < first) {
      first = when;
      gap = p.gap;
      closing = speed;
    }
  }
  if (!(closing > 0)) return false;
  const double depth =
      std::min({options.margin,
                of_small_things * std::min(radius_of(A, pair.piece_a), radius_of(B, pair.piece_b)),
                farthest * ahead * closing});
  if (!(depth > 0)) return false;

  // Present penetration of the same two bodies does not count, such as that of a box that has
  // landed a little deep on the previous tile.
  double allowed = passed_over * depth;
  for (const SceneQuery::PairManifold& other : step.manifolds)
    if (step.object(other.a).body == A.body && step.object(other.b).body == B.body)
      allowed = std::max(allowed,
                         passed_over * depth - other.manifold.points[other.manifold.deepest].gap);

  // Distance of the shapes after moving on.
  const double time = (std::max(gap, 0.0) + depth) / closing;
  const SE3d X_WA = moved(step.query.X_WO(pair.a), V_a, O, time),
             X_WB = moved(step.query.X_WO(pair.b), V_b, O, time);
  const double distance = A.geometry.body().with_piece(pair.piece_a, [&](const Compound::Piece& P) {
    return B.geometry.body().with_piece(pair.piece_b, [&](const Compound::Piece& Q) {
      return signed_distance(P.shape, X_WA * P.X_BP, Q.shape, X_WB * Q.X_BP).distance;
    });
  });
  return -distance <= allowed;
}

void GhostContacts::leave_out(const StepData& step, const std::vector<Motion<double>>& V,
                              std::vector<PairManifold>& manifolds,
                              std::vector<PairManifold>& ghosts) {
  is_ghost_.clear();
  for (const PairManifold& pair : manifolds) is_ghost_.push_back(is_ghost(step, V, pair));
  for (std::size_t i = 0; i < manifolds.size(); ++i)
    if (is_ghost_[i]) ghosts.push_back(manifolds[i]);
  std::size_t i = 0;
  std::erase_if(manifolds, [&](const PairManifold&) { return is_ghost_[i++] != 0; });
}

}  // namespace robosim
