// ContactSearch: finds the contacts of a step, including those that first touch within it.
//
// Points within `margin` have rows. A point farther away has rows if its two bodies would touch
// there within the step, so that nothing penetrates in the step of first contact:
//
//   gap <= -dt n . (V_b - V_a)(p)
//
// The normal of such a point only keeps the gap from being overrun (NormalLaw::ahead). V is first
// the velocity of the free motion. Impulses and position corrections change it: a body may hit
// another one that has stopped beside it, and a body that is hit flies on. The motion of the solved
// step is therefore tested by the same condition. Points that it overruns are added, and the step
// is solved again. Other points would have no impulse, so leaving them out changes nothing. Pairs
// that rotate are also tested with the faces that face each other at the end of the step
// (geometry/manifolds/turned_manifold.h).
//
// A pair of bodies is queried within the largest displacement of any point of the smaller body's
// ball relative to the other body, plus `slack`. The query is repeated only if impulses change a
// displacement by more than `slack`. Compliant contacts, and bounces of bounce="step", begin within
// the margin. With times of impact, all contacts that may collide after another one are found at
// once instead (constraints/normal_law.h).
//
// Triangles of a mesh have points where they are closest to a shape, within each triangle. A plate
// that tips over an edge of the mesh may penetrate the triangles beyond it by a millimeter when it
// lands on them. Gaps are linear in the twists, with the normals at the start. Round bodies that
// spin by 0.05 rad in a step may penetrate by a fraction of a millimeter.
//
// Cost: besides collision queries some 20 ns per body if all are slow. Each further solve costs as
// much as the first.
#pragma once

#include <vector>

#include "step/ghost_contacts.h"
#include "step/step_data.h"

namespace robosim {

class ContactSearch {
 public:
  // Largest number of solves per step. Points that the last solve still overruns are left to the
  // next step.
  static constexpr int most_solves = 4;

  // Fill step.manifolds.
  void find(StepData& step, const StepInput& in);
  // Add to step.manifolds the points that the motion of the solved step overruns. Return false if
  // there are none.
  bool add_overrun(StepData& step);

 private:
  using PairManifold = SceneQuery::PairManifold;

  void fill_reach(const StepData& step, const std::vector<Motion<double>>& V);
  bool add(StepData& step, PairManifold pair);

  GhostContacts ghosts_;
  // Per body: twists at the start, of the solved step, and of the search.
  std::vector<Motion<double>> V_start_, V_way_, V_looked_;
  std::vector<double> reach_;  // [m] per body: displacement of its fastest point
  // Per body: true if its displacement differs from that of the search, and if it then also exceeds
  // its size and that of the free motion, as with rows that contradict each other.
  std::vector<std::uint8_t> is_changed_, is_thrown_;
  std::vector<PairManifold> left_out_;  // whole manifolds that lost points, and ghost contacts
  std::vector<PairManifold> found_;
};

}  // namespace robosim
