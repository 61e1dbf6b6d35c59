#include "planning/timing_speed.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/index.h"
#include "planning/timing.h"

namespace robosim {

namespace {

constexpr double slow = 0.99;       // (speed / cap)^2 that needs no refinement
constexpr double tolerance = 2e-3;  // of the square of the peak
constexpr int deepest = 40;         // halvings

}  // namespace

PathSpeed::PathSpeed(const Model& model, const std::vector<int>& columns,
                     const std::vector<double>& q_rest, const std::vector<Cap>& caps)
    : model_(model),
      data_(model),
      columns_(columns),
      q_(q_rest),
      v_(at(model.n_v), 0),
      left_(caps.size()),
      right_(caps.size()),
      first_(columns.size()),
      second_(columns.size()),
      third_(columns.size()),
      dq_(at(model.n_q), 0) {
  std::vector<int> column_of(at(model.n_q), -1);
  for (std::size_t k = 0; k < columns.size(); ++k) column_of[columns[k]] = static_cast<int>(k);
  for (const Cap& cap : caps) {
    Chain chain{&model.frames[cap.frame], cap.speed, {}};
    for (int i = chain.frame->body; i > 0; i = model.joints[i].parent) {
      const Joint& joint = model.joints[i];
      if (joint.n_q != joint.n_v) continue;  // does not move
      // A planar joint slides in both directions before it turns, so its last coordinate is
      // outermost.
      for (int k = joint.n_q - 1; k >= 0; --k)
        if (const int column = column_of[joint.q_index + k]; column >= 0)
          chain.levers.push_back(
              {column, joint.column + k, joint.mimic ? joint.ratio : 1.0,
               joint.n_q > 1 ? k == joint.n_q - 1 : joint.type != JointType::prismatic});
    }
    std::reverse(chain.levers.begin(), chain.levers.end());
    chains_.push_back(std::move(chain));
  }
}

void PathSpeed::place(const double* c, int n_powers, double x, std::vector<Place>& out) {
  const std::size_t n = columns_.size();
  for (std::size_t j = 0; j < n; ++j) {
    double p = 0, dp = 0;
    for (int power = n_powers - 1; power >= 0; --power) {
      dp = dp * x + p;
      p = p * x + c[at(power) * n + j];
    }
    q_[columns_[j]] = p;
    dq_[columns_[j]] = dp;
  }
  // Joint velocities from the rates of the columns, then the kinematics.
  for (int i = 1; i < model_.n_bodies(); ++i) {
    const Joint& joint = model_.joints[i];
    if (joint.mimic || joint.n_q != joint.n_v) continue;
    visit_joint(joint.type, [&]<class J>(J) {
      J::velocity(q_.data() + joint.q_index, dq_.data() + joint.q_index, v_.data() + joint.v_index);
    });
  }
  position_stage(model_, data_, q_.data());
  // Velocity of each link's origin, and its derivative in each joint.
  for (std::size_t k = 0; k < chains_.size(); ++k) {
    const Chain& chain = chains_[k];
    Place& place = out[k];
    place.square = 0;
    place.norms.clear();
    if (chain.frame->body == 0) continue;
    const Vec3d p = detail::frame_offset(data_, *chain.frame);
    Vec3d velocity;
    for_each_on_path(model_, chain.frame->body, [&](int l) {
      velocity += v_[model_.column_v[l]] * at_point(data_.J[l], p).linear;
    });
    place.square = dot(velocity, velocity);
    for (const Lever& lever : chain.levers) {
      const Vec3d moved = at_point(data_.J[lever.motion_column], p).linear;
      place.norms.push_back(
          lever.ratio == 0 ? 0 : std::sqrt(dot(moved, moved)) / std::abs(lever.ratio));
    }
  }
}

PathSpeed::Bound PathSpeed::bound(const double* c, int n_powers, double x, double d) {
  const std::size_t n = columns_.size();
  // Bounds of each column's derivatives by its Taylor coefficients about the middle, highest power
  // first.
  for (std::size_t j = 0; j < n; ++j) {
    double p[6] = {};
    for (int power = 0; power < n_powers; ++power) p[power] = c[at(power) * n + j];
    for (int from = 0; from < n_powers - 1; ++from)
      for (int power = n_powers - 2; power >= from; --power) p[power] += (x + d / 2) * p[power + 1];
    first_[j] = second_[j] = third_[j] = 0;
    for (int power = n_powers - 1; power >= 1; --power)
      first_[j] = first_[j] * (d / 2) + power * std::abs(p[power]);
    for (int power = n_powers - 1; power >= 2; --power)
      second_[j] = second_[j] * (d / 2) + power * (power - 1) * std::abs(p[power]);
    for (int power = n_powers - 1; power >= 3; --power)
      third_[j] = third_[j] * (d / 2) + power * (power - 1) * (power - 2) * std::abs(p[power]);
  }
  place(c, n_powers, x, left_);
  place(c, n_powers, x + d, right_);
  Bound out;
  for (std::size_t k = 0; k < chains_.size(); ++k) {
    const Chain& chain = chains_[k];
    const double scale = 1 / (chain.speed * chain.speed), left = left_[k].square,
                 right = right_[k].square;
    // Accumulate from the tip to the root: motion of p due to the joints beyond, and sums over the
    // joints closer to the root.
    double A = 0, A_rate = 0;
    for (const Lever& lever : chain.levers)
      if (lever.turns) {
        A += std::abs(lever.ratio) * first_[lever.column];
        A_rate += std::abs(lever.ratio) * second_[lever.column];
      }
    double beyond = 0, p2 = 0, p3 = 0;
    for (std::size_t l = chain.levers.size(); l-- > 0;) {
      const Lever& lever = chain.levers[l];
      const double ratio = std::abs(lever.ratio);
      const double D1 = ratio * first_[lever.column], D2 = ratio * second_[lever.column],
                   D3 = ratio * third_[lever.column];
      const double own = lever.turns ? D1 : 0, own_rate = lever.turns ? D2 : 0;
      A -= own;
      A_rate -= own_rate;
      const double inner = std::max(A, 0.0), inner_rate = std::max(A_rate, 0.0);
      const double N =
          0.5 * (left_[k].norms[l] + right_[k].norms[l]) + (lever.turns ? 0.5 * d * beyond : 0);
      p2 += N * (D1 * (2 * inner + own) + D2);
      p3 += N * (D1 * (3 * inner * (inner + own) + own * own) +
                 3 * (D1 * (inner_rate + own_rate) + D2 * inner) + D3);
      beyond += N * D1;
    }
    const double p1 = std::min(beyond, std::sqrt(std::max(left, right)) + 0.5 * d * p2);
    const double slack = d * d / 4 * (p2 * p2 + p1 * p3) * scale;
    out.left = std::max(out.left, left * scale + slack);
    out.right = std::max(out.right, right * scale + slack);
    out.slack = std::max(out.slack, slack);
  }
  return out;
}

double PathSpeed::peak(const PolynomialMotion& motion) {
  double least = 0, top = 0;
  for (int i = 0; i < motion.pieces(); ++i) {
    const double h = motion.breaks[at(i) + 1] - motion.breaks[i];
    const auto look = [&](const auto& self, double x, double d, int depth) -> void {
      const Bound b = bound(motion.piece(i), 6, x, d);
      const double most = std::max(b.left, b.right);
      least = std::max(least, most - b.slack);
      if (most <= std::max(slow, least) || b.slack <= tolerance * least || depth == 0) {
        top = std::max(top, most);
        return;
      }
      self(self, x, d / 2, depth - 1);
      self(self, x + d / 2, d / 2, depth - 1);
    };
    look(look, 0, h, deepest);
  }
  return std::sqrt(top);
}

}  // namespace robosim
