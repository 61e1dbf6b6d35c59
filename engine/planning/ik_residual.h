// Weighted distance of a frame's pose from the box of an IkGoal, and its derivative. See ik.h.
#pragma once

#include <vector>

#include "planning/ik.h"

namespace robosim {

class IkResidual {
 public:
  IkResidual(const Model& model, const IkGoal& goal, const std::vector<int>& columns);

  // Compute value() at q.
  void evaluate(const double* q);
  // Compute the columns of the Jacobian at the q of the last evaluate.
  void differentiate();

  // (6): position in axes of G, and rotation; both weighted. Rows of entries inside their range are
  // zero and are left out of J.
  const double* value() const { return r_; }
  double squared() const;
  double position_error() const;  // [m]
  double rotation_error() const;  // [rad]
  const double* column(std::size_t j) const { return J_.data() + 6 * j; }

 private:
  const Model& model_;
  const IkGoal& goal_;
  Data<double> data_;
  Frame frame_;  // E
  SE3d X_GW_;
  std::vector<int> columns_;
  std::vector<const Joint*> joints_;  // per column
  int twist_axis_ = 2;
  double weight_[6];
  double r_[6] = {};
  bool active_[6] = {};
  Vec3d phi_;
  Mat3d R_GE_;
  const double* q_ = nullptr;
  std::vector<double> J_, J_full_;
};

}  // namespace robosim
