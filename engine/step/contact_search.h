// ContactSearch: finds the contacts of a step, as far ahead as things move within it.
//
// Points within `margin` have rows. A point farther away has some where its two bodies would meet
// there within the step, so that nothing overlaps in the step in which it first touches:
//
//   gap <= -dt n . (V_b - V_a)(p)
//
// Its normal asks only that the gap is not overrun (NormalLaw::ahead). V is that of the free motion
// at first. Impulses and corrections of positions change it: what stops is run into by what flew
// beside it, and what is hit flies on. So the way of the step, once it is solved, is asked the
// same. Points that it would overrun join, and the step is solved again; points that it would not
// have no impulse, so that leaving them out changes nothing. Pairs that turn are asked for the
// faces, too, that face each other only then (geometry/manifolds/turned_manifold.h).
//
// Two bodies are asked for within the way of any point of the smaller one's ball against the other,
// and `slack` beyond it; again only where impulses have changed a way by more than that. Compliant
// contacts, and bounces of bounce="step", begin within the margin. Where impacts are timed, all
// that may be met after one is taken at once instead (constraints/normal_law.h).
//
// Triangles of a mesh have points where they are nearest to a shape within themselves: a plate
// that tips over an edge of the mesh may overlap the triangles beyond it by a millimeter when it
// comes down on them. Gaps are linear in the twists, with the normals of the start: round things
// that spin by 0.05 rad in a step may overlap by a part of a millimeter.
//
// Cost: beside collisions some 20 ns per body where all is slow; each further solve as the first.
#pragma once

#include <vector>

#include "step/ghost_contacts.h"
#include "step/step_data.h"

namespace robosim {

class ContactSearch {
 public:
  // Solves of a step at the most; what is met only after these waits for the next step.
  static constexpr int most_solves = 4;

  // Fills step.manifolds.
  void find(StepData& step, const StepInput& in);
  // Adds to step.manifolds what the way of the solved step overruns. Returns false where there is
  // nothing.
  bool add_overrun(StepData& step);

 private:
  using PairManifold = SceneQuery::PairManifold;

  void fill_reach(const StepData& step, const std::vector<Motion<double>>& V);
  bool add(StepData& step, PairManifold pair);

  GhostContacts ghosts_;
  std::vector<Motion<double>> V_start_, V_way_,
      V_looked_;               // per body; the last is what was looked ahead by
  std::vector<double> reach_;  // [m] per body: the way of its fastest point
  std::vector<std::uint8_t> is_changed_,
      is_thrown_;  // per body: its way is another than was looked ahead by; farther than
                   // its size, as where rows contradict each other
  std::vector<PairManifold> left_out_;  // whole manifolds, of which points were left out; ghosts
  std::vector<PairManifold> found_;
};

}  // namespace robosim
