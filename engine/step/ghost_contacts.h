// Ghost contacts: what lies within the margin sideways, and would not be run into.
//
// A contact takes the other side of its normal for solid. At flush boxes, tiles or pieces of one
// surface that is wrong: of a box that slides over the seam the next tile's edge is a margin ahead,
// with a normal along the way that the box goes, and nothing there stops it. So each pair that its
// normals would slow down is moved on as it moves, until it would overlap by a depth d after its
// normals:
//
//   t = (gap + d) / -w,    d = the margin, less of what is small or slow
//
// The pair has no rows in this step if the shapes, moved on for t, overlap by no more than a tenth
// of d and what the two bodies overlap in already. So a step up of a tenth of the margin is passed
// over, and a higher one is run into. The choice is one of a step's switches (step_signature.h):
// derivatives hold it. Cost: one distance of each pair that its rows would slow down; half-spaces
// have no seams.
#pragma once

#include <cstdint>
#include <vector>

#include "step/step_data.h"

namespace robosim {

class GhostContacts {
 public:
  using PairManifold = SceneQuery::PairManifold;

  // Moves them from the manifolds to others. V: the twists of all bodies, by which they move on.
  void leave_out(const StepData& step, const std::vector<Motion<double>>& V,
                 std::vector<PairManifold>& manifolds, std::vector<PairManifold>& ghosts);
  bool is_ghost(const StepData& step, const std::vector<Motion<double>>& V,
                const PairManifold& pair) const;

 private:
  std::vector<std::uint8_t> is_ghost_;  // per manifold
};

}  // namespace robosim
