// Joint torques along a path, as linear functions of (u, x), and along a trajectory, as values.
//
// tau = M(q) ddq + h(q, dq) + damping dq + friction sign(dq) + stiffness (q - reference), with
// armature in M. Damping and dry friction are never certain: they change with temperature, grease,
// load and age, and a brake that relies on them is not safe. So each may be anything from zero to
// its stated value, and limits are satisfied for all of these. Both oppose the motion, so the
// torque lies between the torque without them and the torque with both. joint_forces.h, where
// friction fades at rest, lies in between. Only some entries of q move (the columns, of joints with
// as many q as v); the others stay constant. Cost: three inverse dynamics per set of coefficients.
#pragma once

#include <vector>

#include "model/data.h"

namespace robosim {

struct PolynomialMotion;

class PathTorque {
 public:
  // effort: per degree of freedom, infinite where unlimited. q_rest: a full configuration, for the
  // entries that do not move.
  PathTorque(const Model& model, const std::vector<int>& columns, const std::vector<double>& q_rest,
             const std::vector<double>& effort);

  // Degrees of freedom with limited effort, and their limits.
  int size() const { return static_cast<int>(limited_.size()); }
  int dof(int i) const { return limited_[i]; }
  double limit(int i) const { return effort_[dof(i)]; }
  const std::string& name(int i) const;  // of the joint

  // Coefficients of tau = a u + b x + c + d sqrt(x) + friction sign(rate) for the path's q, q',
  // q''; limited entries only.
  struct Coefficients {
    std::vector<double> a, b, c, d, rate;
  };
  void coefficients(const double* q, const double* dq, const double* ddq, Coefficients& out);
  // Torque of the limited entries without damping and dry friction, the torque that damping adds,
  // and the rates of the entries, for velocity v and acceleration a of the columns.
  void smooth_torque(const double* q, const double* v, const double* a, double* tau,
                     double* damping, double* rate);

  // Dry friction of a limited entry with rates between these two: the most that it may add to tau,
  // and to -tau.
  struct Friction {
    double up = 0, down = 0;
  };
  Friction friction(int i, double least_rate, double greatest_rate) const;

  // True if a limited entry has damping; true if any limited entry has damping or dry friction.
  bool damped(int i) const;
  bool resisted() const;

 private:
  void set(const double* q, const double* v, const double* a);

  const Model& model_;
  Data<double> data_;
  // dof_of_: per entry of q, or -1 if the entry has no degree of freedom of its own.
  std::vector<int> columns_, limited_, dof_of_;
  std::vector<const Joint*> moving_frames_;  // joints of several v, which are not the rates of q
  bool has_springs_ = false;
  std::vector<double> effort_, q_, v_, a_, tau_, still_, moving_, spring_, at_rest_, zero_;
};

// Peak torque in a piece of a trajectory, at local time t.
struct TorqueExcess {
  int piece = 0, index = 0;  // index into the limited entries
  double t = 0, ratio = 0;   // |tau| / limit
};

// Peak ratio of every piece and limited entry where it exceeds `threshold`. A torque is smooth
// within a piece. Samples measure its size, variation and curvature; where it may exceed the
// threshold, parabolas shrink a bracket about the peak. If not is_exact, a ratio above the
// threshold may be anything up to the peak.
std::vector<TorqueExcess> torque_excess(const PolynomialMotion& motion, PathTorque& torque,
                                        double threshold, bool is_exact = true);

}  // namespace robosim
