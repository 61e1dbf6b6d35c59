// A body inside a convex shape that stands for it in a scene: the mesh of which the shape is the
// hull, or one convex piece.
//
// The shape tells cheaply that nothing is near; where it cannot, the body decides
// (collision_geometry.h). A point is inside it in the solid of a closed surface (solid.h), and
// about an open one where the winding number says so (winding.h).
#pragma once

#include <memory>
#include <optional>

#include "geometry/bodies/compound_query.h"
#include "geometry/bodies/winding.h"

namespace robosim {

class ExactBody {
 public:
  explicit ExactBody(std::shared_ptr<const Compound> body);

  const std::shared_ptr<const Compound>& body() const { return body_; }
  // True if one of its surfaces is open. Queries of bodies do not see what lies wholly behind such
  // a surface.
  bool is_open() const { return winding_.has_value(); }
  // True if p, in the body's frame, is inside.
  bool holds(const Vec3d& p_B) const;

 private:
  std::shared_ptr<const Compound> body_;
  std::optional<WindingNumber> winding_;  // of one that is open
};

// The first piece of S, of one for each connected part, that lies inside T, which is open; -1 where
// none does.
int piece_inside(const Body& S, const SE3d& X_WS, const ExactBody& T, const SE3d& X_WT);

}  // namespace robosim
