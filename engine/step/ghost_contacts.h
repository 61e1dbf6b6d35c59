// Ghost contacts: shapes within the margin beside the path of a body that the body will not hit.
//
// A contact assumes that the other side of its normal is solid. At flush boxes, tiles or pieces of
// one surface this is wrong. When a box slides over a seam, the edge of the next tile is within the
// margin ahead. Its normal is along the motion of the box, but nothing there stops the box. Each
// pair that its normals would slow down is therefore moved on along its motion, until it would
// penetrate by a depth d according to the normals:
//
//   t = (gap + d) / -w,    d = the margin, less for small or slow bodies
//
// The pair has no rows in this step if the shapes, moved on for t, penetrate by at most a tenth of
// d beyond the present penetration of the two bodies. A step up of a tenth of the margin is
// therefore passed over, and a higher one is hit. This choice is one of the switches of a step
// (step_signature.h), and derivatives hold it constant. Cost: one distance query for each pair that
// its rows would slow down. Half-spaces have no seams and are not tested.
#pragma once

#include <cstdint>
#include <vector>

#include "step/step_data.h"

namespace robosim {

class GhostContacts {
 public:
  using PairManifold = SceneQuery::PairManifold;

  // Move ghost contacts from `manifolds` to `ghosts`. V: twists of all bodies, along which they
  // move on.
  void leave_out(const StepData& step, const std::vector<Motion<double>>& V,
                 std::vector<PairManifold>& manifolds, std::vector<PairManifold>& ghosts);
  // True if a manifold is a ghost contact.
  bool is_ghost(const StepData& step, const std::vector<Motion<double>>& V,
                const PairManifold& pair) const;

 private:
  std::vector<std::uint8_t> is_ghost_;  // per manifold
};

}  // namespace robosim
