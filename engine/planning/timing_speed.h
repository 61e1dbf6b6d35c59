// Speeds of link origins along a path and along a trajectory: upper bounds for whole intervals, not
// only at samples.
//
// Along q(x), with p the origin of a link and G = |dp/dx|^2, on an interval of length d
//
//   G(x) <= linear interpolation of G at its ends + d^2 / 8 max|G''|
//   |G''| / 2 <= |p''|^2 + |p'| |p'''|
//
// The derivatives of p are sums over the joints between the link and the root. A derivative in
// several joints rotates the derivative in the outermost of them, l, about the axes of the others.
// So its length is at most N_l = |dp/dq_l|: the distance from an axis, 1 where the joint slides.
// Let D, D', D'' be bounds of the rates |q'|, |q''|, |q'''|, and A, A' the sums of D, D' over the
// turning joints closer to the root. Then
//
//   |p''|  <= sum_l N_l (2 D_l A_l + D_l^2 + D'_l)
//   |p'''| <= sum_l N_l (3 D_l A_l^2 + 3 D_l^2 A_l + D_l^3 + 3 (D_l A'_l + D'_l A_l + D_l D'_l) +
//     D''_l)
//
// without the terms in D_l^2, D_l^3 and D_l D'_l where l slides. N_l itself changes along the
// interval by at most the motion of p due to the joints beyond l. Cost: the kinematics at both
// ends, and O(joints) for each link.
#pragma once

#include <vector>

#include "dynamics/kinematics.h"

namespace robosim {

struct PolynomialMotion;

class PathSpeed {
 public:
  struct Cap {
    int frame = 0;     // index into Model::frames
    double speed = 0;  // of its origin, positive [m/s]
  };
  // q_rest: a full configuration, for the entries that do not move.
  PathSpeed(const Model& model, const std::vector<int>& columns, const std::vector<double>& q_rest,
            const std::vector<Cap>& caps);

  // Bound on the greatest |dp/dx|^2 / speed^2 of all caps: the line through `left` and `right` on
  // [x, x + d]. slack is the part of the bound that stems from derivative bounds. c: coefficients
  // (n_powers, columns) in powers of x.
  struct Bound {
    double left = 0, right = 0, slack = 0;
  };
  Bound bound(const double* c, int n_powers, double x, double d);

  // Greatest ratio of speed to cap along a trajectory. Where it may exceed 1 the result is an upper
  // bound, at most 0.1 % too high.
  double peak(const PolynomialMotion& motion);

 private:
  // Coordinate, moved by the path, of a joint between a link and the root.
  struct Lever {
    int column = 0, motion_column = 0;  // of the path, of the model
    double ratio = 1;                   // of the joint's rate to the column's
    bool turns = true;
  };
  struct Chain {
    const Frame* frame = nullptr;
    double speed = 0;
    std::vector<Lever> levers;  // root first
  };
  // State of one chain at a placement of the robot: |dp/dx|^2 and the N_l.
  struct Place {
    double square = 0;
    std::vector<double> norms;
  };

  void place(const double* c, int n_powers, double x, std::vector<Place>& out);

  const Model& model_;
  Data<double> data_;
  std::vector<int> columns_;
  std::vector<Chain> chains_;
  std::vector<double> q_, v_;
  std::vector<Place> left_, right_;
  // Per column: bounds of its derivatives; and the rate of each entry of q.
  std::vector<double> first_, second_, third_, dq_;
};

}  // namespace robosim
