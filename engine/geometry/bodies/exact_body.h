// Exact body inside a convex shape that stands for it in a scene: the mesh of which the shape is
// the hull, or one convex piece.
//
// The shape proves cheaply that nothing is near. Where it cannot, the body decides
// (collision_geometry.h). A point is inside a closed surface if it is in the solid (solid.h), and
// inside an open surface according to the winding number (winding.h).
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
  // True if one of its surfaces is open. Queries of bodies do not detect a body that lies wholly
  // behind such a surface.
  bool is_open() const { return winding_.has_value(); }
  // True if p, in the body's frame, is inside.
  bool holds(const Vec3d& p_B) const;

 private:
  std::shared_ptr<const Compound> body_;
  std::optional<WindingNumber> winding_;  // of an open body
};

// Return the first piece of S, among one for each connected part, that lies inside T, which is
// open, or -1 if there is none.
int piece_inside(const Body& S, const SE3d& X_WS, const ExactBody& T, const SE3d& X_WT);

}  // namespace robosim
