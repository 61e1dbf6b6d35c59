// How far a chain of joints reaches: a proof that a pose is beyond it, before any attempt to find a
// configuration.
//
// A revolute joint moves no point of its axis, so between two neighboring axes the way from a point
// of one to a point of the other keeps its length whatever the joints do, but for what slides
// between them. From P, a point of the first axis, to T, a point of the last, which stands still in
// the frame E that is to be placed,
//
//   max_k least_k - sum of the other most_i  <=  |p_PT|  <=  sum of all most_k,
//
// least_k and most_k being the lengths that section k of the way can have: equal where nothing
// slides, found at the corners of the ranges of sliding joints (a norm is convex) else. Two
// sections that meet at an axis with a limited range count as one where that is shorter: the
// distance of their ends squared is A + M cos(theta - phi). The points on the axes are those of the
// least sum, by coordinate descent; any are right. T is placed by the goal; where the goal leaves
// rotations free, the origin of E takes the place of T. Nothing is sampled: what is said to be out
// of reach is. Cost: some 10 us once, 0.1 us per pose.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "planning/ik.h"

namespace robosim {

class IkReach {
 public:
  // Of the frame of `goal`, whose X_WG is not looked at. The columns of `options` move within their
  // limits, all else stays as in the reference (n_q).
  IkReach(const Model& model, const IkGoal& goal, const IkOptions& options,
          const double* reference);

  struct Answer {
    // Proven: no configuration within limits reaches the box about X_WG.
    bool is_beyond = false;
    double distance = 0;  // [m] that the two points would have in a pose of the box
    double least = 0, most = std::numeric_limits<double>::infinity();  // that they can have
    double missing() const { return distance > most ? distance - most : least - distance; }
  };
  Answer operator()(const SE3d& X_WG) const;
  // Names of the joints that the distance is told between.
  const std::string& first() const { return first_; }
  const std::string& last() const { return last_; }

 private:
  struct Bound {
    bool is_known = false;
    Vec3d P_W, T_E;  // the two points
    double least = 0, most = 0;
    double freedom = 0;  // [m] how far the tolerances let T stray
  };
  std::vector<Bound> bounds_;
  SE3d X_GE_;  // the middle of the box
  std::string first_, last_;
};

}  // namespace robosim
