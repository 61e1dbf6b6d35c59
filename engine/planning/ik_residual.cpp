#include "planning/ik_residual.h"

#include <algorithm>
#include <cmath>

#include "dynamics/jacobian.h"
#include "model/joint_layout.h"
#include "model/position_rates.h"
#include "spatial/lie.h"

namespace robosim {

namespace {

constexpr double two_pi = 6.283185307179586;
// A meter counts as much as two radians: arms are about half a meter per joint.
constexpr double position_weight = 2;

double excess(double value, double lower, double upper) {
  return value < lower ? value - lower : (value > upper ? value - upper : 0);
}

// Angle, in (-pi, pi], of the twist about axis k of a rotation R = R_k(alpha) S, with the axis of S
// perpendicular to k.
double twist_angle(const Mat3d& R, int k) {
  const Quaternion<double> q = rotation_to_quaternion(R);
  const double s = q.vec[k], c = q.w;
  if (s * s + c * c < 1e-24) return 0;
  const double angle = 2 * std::atan2(s, c);
  return std::remainder(angle, two_pi);
}

}  // namespace

IkResidual::IkResidual(const Model& model, const IkGoal& goal, const std::vector<int>& columns)
    : model_(model), goal_(goal), data_(model), X_GW_(goal.X_WG.inverse()), columns_(columns) {
  const Frame& frame = model.frames[goal.frame];
  frame_.body = frame.body;
  frame_.X_BF = frame.X_BF * goal.X_FE;
  for (int i = 0; i < 6; ++i) weight_[i] = i < 3 ? position_weight : 1;
  for (const int k : {1, 0})
    if (goal.upper[3 + k] - goal.lower[3 + k] >
        goal.upper[3 + twist_axis_] - goal.lower[3 + twist_axis_])
      twist_axis_ = k;
  for (const int column : columns) joints_.push_back(&joint_of_position(model, column));
  J_.resize(6 * columns.size());
  J_full_.resize(static_cast<std::size_t>(6 * model.n_v));
}

void IkResidual::evaluate(const double* q) {
  q_ = q;
  forward_kinematics(model_, data_, q);
  const SE3d X_GE = X_GW_ * frame_placement(model_, data_, frame_);
  R_GE_ = X_GE.R;
  // Remove the twist about the widest axis as far as its range allows. The rest stays in phi.
  const int k = twist_axis_;
  const double low = goal_.lower[3 + k], high = goal_.upper[3 + k];
  const bool free = high - low >= two_pi;
  double alpha = 0;
  if (free || low != 0 || high != 0) {
    alpha = twist_angle(R_GE_, k);
    if (!free) {
      const double middle = 0.5 * (low + high);
      alpha = std::clamp(middle + std::remainder(alpha - middle, two_pi), low, high);
    }
  }
  Vec3d axis;
  axis[k] = 1;
  phi_ = log_rotation(transpose(axis_angle(axis, alpha)) * R_GE_);
  for (int i = 0; i < 6; ++i) {
    const double range = goal_.upper[i] - goal_.lower[i];
    double missing;
    if (i < 3)
      missing = excess(X_GE.p[i], goal_.lower[i], goal_.upper[i]);
    else if (i == 3 + k)
      missing = free ? 0 : phi_[k];
    else
      missing = range >= two_pi ? 0 : excess(phi_[i - 3], goal_.lower[i], goal_.upper[i]);
    // A range of a single point keeps its row at zero residual, so that a step does not leave it.
    active_[i] = range == 0 || missing != 0;
    r_[i] = weight_[i] * missing;
  }
}

void IkResidual::differentiate() {
  motion_subspaces(model_, data_);
  frame_jacobian(model_, data_, frame_, Axes::local, J_full_.data());
  const auto full = [&](int row, int dof) { return J_full_[row * model_.n_v + dof]; };
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    Vec3d v, w;
    for_each_rate(*joints_[j], q_, columns_[j], [&](int dof, double rate) {
      v += rate * Vec3d(full(0, dof), full(1, dof), full(2, dof));
      w += rate * Vec3d(full(3, dof), full(4, dof), full(5, dof));
    });
    const Vec3d dp = R_GE_ * v, dphi = inverse_left_jacobian_times(-phi_, w);
    double* column = J_.data() + 6 * j;
    for (int i = 0; i < 6; ++i)
      column[i] = active_[i] ? weight_[i] * (i < 3 ? dp[i] : dphi[i - 3]) : 0;
  }
}

double IkResidual::squared() const {
  double sum = 0;
  for (const double r : r_) sum += r * r;
  return sum;
}

double IkResidual::position_error() const {
  return std::sqrt(r_[0] * r_[0] + r_[1] * r_[1] + r_[2] * r_[2]) / position_weight;
}

double IkResidual::rotation_error() const {
  return std::sqrt(r_[3] * r_[3] + r_[4] * r_[4] + r_[5] * r_[5]);
}

}  // namespace robosim
