// Reach of a chain of joints: a proof that a pose is out of reach, before any attempt to find a
// configuration.
//
// A revolute joint moves no point of its axis. So the vector from a point on one axis to a point on
// the next has a constant length, apart from joints that slide between the two axes. Let P be a
// point on the first axis, and T a point on the last axis, which is fixed in the frame E. Then
//
//   max_k least_k - sum of the other most_i  <=  |p_PT|  <=  sum of all most_k
//
// where least_k and most_k bound the length of section k between P and T. They are equal where
// nothing slides, and else found at the corners of the ranges of sliding joints (a norm is convex).
// Two sections joined at an axis with a limited range count as one where that is shorter: the
// squared distance of their ends is A + M cos(theta - phi). The points on the axes minimize the sum
// of lengths, by coordinate descent; any points are valid. The goal places T. Where the goal leaves
// rotations free, the origin of E replaces T. Nothing is sampled, so every pose reported as out of
// reach is out of reach. Cost: about 10 us once, 0.1 us per pose.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "planning/ik.h"

namespace robosim {

class IkReach {
 public:
  // Bounds for the frame of `goal`, whose X_WG is not used. The columns of `options` move within
  // their limits; everything else stays as in the reference (n_q).
  IkReach(const Model& model, const IkGoal& goal, const IkOptions& options,
          const double* reference);

  struct Answer {
    // Proven: no configuration within limits reaches the box about X_WG.
    bool is_beyond = false;
    double distance = 0;  // [m] of the two points in a pose of the box
    double least = 0, most = std::numeric_limits<double>::infinity();  // range of that distance
    double missing() const { return distance > most ? distance - most : least - distance; }
  };
  Answer operator()(const SE3d& X_WG) const;
  // Names of the joints between which the distance is measured.
  const std::string& first() const { return first_; }
  const std::string& last() const { return last_; }

 private:
  struct Bound {
    bool is_known = false;
    Vec3d P_W, T_E;  // the two points
    double least = 0, most = 0;
    double freedom = 0;  // [m] by which the tolerances let T move
  };
  std::vector<Bound> bounds_;
  SE3d X_GE_;  // middle of the box
  std::string first_, last_;
};

}  // namespace robosim
