#include "geometry/bodies/exact_body.h"

#include <cmath>

#include "geometry/bodies/solid.h"

namespace robosim {

ExactBody::ExactBody(std::shared_ptr<const Compound> body) : body_(std::move(body)) {
  if (body_->is_packed()) body_->packed();  // built here, so that no query waits for it
  for (const Compound::Part& part : body_->parts())
    if (const auto* surface = std::get_if<std::shared_ptr<const TriangleSurface>>(&part.geometry);
        surface && !(*surface)->has_solid()) {
      winding_.emplace(*body_);
      return;
    }
}

bool ExactBody::holds(const Vec3d& p_B) const {
  if (in_solid(*body_, p_B)) return true;
  return winding_ && squared_distance(body_->tree().node(0).box, p_B) == 0 &&
         std::abs(winding_->at(*body_, p_B)) > 0.5;
}

int piece_inside(const Body& S, const SE3d& X_WS, const ExactBody& T, const SE3d& X_WT) {
  const SE3d X_TS = X_WT.inverse() * X_WS;
  const auto is_inside = [&](int i) {
    return S.with_piece(i, [&](const Compound::Piece& P) {
      return P.shape.type != ShapeType::half_space && T.holds(X_TS * point_of(P));
    });
  };
  if (S.shape()) return is_inside(0) ? 0 : -1;
  for (const int piece : S.compound()->connected_parts())
    if (is_inside(piece)) return piece;
  return -1;
}

}  // namespace robosim
