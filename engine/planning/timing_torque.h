// Joint torques along a path and along a motion, as linear functions of (u, x) and as numbers.
//
// tau = M(q) ddq + h(q, dq) + damping dq + friction sign(dq) + stiffness (q - reference), with
// armature in M. Damping and dry friction are never certain: they change with temperature, grease,
// load and age, and a brake that counts on them is not safe. So each may be anything from none to
// all that is stated, and a limit holds for all of these. As both are against the motion, the
// torque is then between that without them and that with both; joint_forces.h, where friction fades
// at rest, is in between. Only some entries of q move (the columns, of joints that have as many q
// as v); the rest stay where they are. Cost: three inverse dynamics per set of coefficients.
#pragma once

#include <vector>

#include "model/data.h"

namespace robosim {

struct PolynomialMotion;

class PathTorque {
 public:
  // effort: per degree of freedom, infinite where there is none. q_rest: a full configuration for
  // the entries that stay.
  PathTorque(const Model& model, const std::vector<int>& columns, const std::vector<double>& q_rest,
             const std::vector<double>& effort);

  // Degrees of freedom whose effort is limited, and those limits.
  int size() const { return static_cast<int>(limited_.size()); }
  int dof(int i) const { return limited_[static_cast<std::size_t>(i)]; }
  double limit(int i) const { return effort_[static_cast<std::size_t>(dof(i))]; }
  const std::string& name(int i) const;  // the joint's

  // tau = a u + b x + c + d sqrt(x) + friction sign(rate) with the path's q, q', q'': limited
  // entries only.
  struct Coefficients {
    std::vector<double> a, b, c, d, rate;
  };
  void coefficients(const double* q, const double* dq, const double* ddq, Coefficients& out);
  // Torque of the limited entries without damping and dry friction, what damping adds to it, and
  // their rates, for velocity v and acceleration a of the columns.
  void smooth_torque(const double* q, const double* v, const double* a, double* tau,
                     double* damping, double* rate);

  // Dry friction of a limited entry whose rate is between these two: the most that it may add to
  // tau, and to -tau.
  struct Friction {
    double up = 0, down = 0;
  };
  Friction friction(int i, double least_rate, double greatest_rate) const;

  // Whether a limited entry has damping, and whether any has damping or dry friction.
  bool damped(int i) const;
  bool resisted() const;

 private:
  void set(const double* q, const double* v, const double* a);

  const Model& model_;
  Data<double> data_;
  // dof_of_: of each entry of q, -1 where it has none of its own.
  std::vector<int> columns_, limited_, dof_of_;
  std::vector<const Joint*> moving_frames_;  // joints of several v, which are not the rates of q
  bool has_springs_ = false;
  std::vector<double> effort_, q_, v_, a_, tau_, still_, moving_, spring_, at_rest_, zero_;
};

// The torque at local time t of a piece of a motion.
struct TorqueExcess {
  int piece = 0, index = 0;  // index into the limited entries
  double t = 0, ratio = 0;   // |tau| / limit
};

// For every piece and limited entry whose peak ratio exceeds `threshold`, that peak. A torque is
// smooth within a piece: samples tell its size, how much it varies and how much it bends; where one
// may exceed, a bracket about it is closed in by parabolas. Not exact: a ratio that exceeds may be
// any up to the peak.
std::vector<TorqueExcess> torque_excess(const PolynomialMotion& motion, PathTorque& torque,
                                        double threshold, bool is_exact = true);

}  // namespace robosim
