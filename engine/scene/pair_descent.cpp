#include "scene/pair_descent.h"

#include <algorithm>
#include <cmath>

#include "base/constants.h"
#include "base/index.h"
#include "dynamics/configuration.h"
#include "dynamics/kinematics.h"

namespace robosim {
namespace {

constexpr int most_descent_steps = 30, step_sizes = 5, exploration_steps = 150;
constexpr double longest_step = 4;       // half ranges
constexpr double least_decrease = 1e-6;  // [m]
constexpr double least_spread = 0.01, spread_growth = 1.5, spread_decay = 0.9;
constexpr int work_of_shapes = 10, work_of_meshes = 300;

// Half of the range of coordinate k of a joint's v.
double half_range(const Model& model, const Joint& joint, int k) {
  const JointLayout layout = joint_layout(joint.type);
  const double unbounded = layout.is_angular(k) ? pi : unbounded_reach;
  if (layout.n_q != layout.n_v) return unbounded;
  const std::size_t i = at(joint.q_index + k);
  const double half = 0.5 * (model.limits.q_upper[i] - model.limits.q_lower[i]);
  return std::min(half, unbounded);
}

}  // namespace

PairDescent::PairDescent(const CollisionScene& scene)
    : scene_(scene),
      own_joint_(at(scene.model().n_v)),
      X_(at(scene.model().n_bodies())),
      rates_(at(scene.model().n_v)),
      v_(at(scene.model().n_v)),
      candidate_(at(scene.model().n_q)) {
  const Model& model = scene.model();
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    if (!joint.mimic)
      for (int k = 0; k < joint.n_v; ++k) own_joint_[joint.v_index + k] = i;
  }
}

void PairDescent::choose(std::span<const std::pair<int, int>> pairs) {
  pairs_ = pairs;
  caches_.assign(pairs.size(), {});
  find_path(scene_.object(pairs[0].first).body, scene_.object(pairs[0].second).body);
  find_coordinates();
}

void PairDescent::find_path(int body_a, int body_b) {
  path_.clear();
  while (body_a != body_b) {
    const int side = body_a > body_b ? -1 : 1;  // parents come first
    int& body = side < 0 ? body_a : body_b;
    path_.push_back({body, side});
    body = scene_.model().joints[body].parent;
  }
  X_[body_a] = SE3d();
  std::reverse(path_.begin(), path_.end());
}

void PairDescent::find_coordinates() {
  const Model& model = scene_.model();
  owners_.clear();
  for (const Step& step : path_)
    owners_.push_back({own_joint_[model.joints[step.body].v_index], {}});
  const auto before = [](const Owner& a, const Owner& b) { return a.joint < b.joint; };
  const auto same = [](const Owner& a, const Owner& b) { return a.joint == b.joint; };
  std::sort(owners_.begin(), owners_.end(), before);
  owners_.erase(std::unique(owners_.begin(), owners_.end(), same), owners_.end());
  for (Owner& owner : owners_) {
    const Joint& joint = model.joints[owner.joint];
    for (int k = 0; k < joint.n_v; ++k) owner.scale[k] = half_range(model, joint, k);
  }
}

void PairDescent::place(const double* q) {
  for (const Step& step : path_) {
    const Joint& joint = scene_.model().joints[step.body];
    X_[step.body] = X_[joint.parent] * joint_placement(joint, q + joint.q_index);
  }
}

double PairDescent::distance(const double* q, double below) {
  place(q);
  witness_.distance = below;
  bool is_found = false;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const SceneObject &A = scene_.object(pairs_[i].first), &B = scene_.object(pairs_[i].second);
    const SE3d &X_A = X_[A.body], &X_B = X_[B.body];
    if (norm(X_B * B.p_BC - X_A * A.p_BC) - A.ball_radius - B.ball_radius > witness_.distance)
      continue;
    const SE3d X_WA = X_A * A.X_BO, X_WB = X_B * B.X_BO;
    const bool has_mesh = A.geometry.compound || B.geometry.compound;
    work_ += has_mesh ? work_of_meshes : work_of_shapes;
    // For bodies of many pieces, a yes or no takes a fraction of the time of a distance.
    if (has_mesh && witness_.distance > 0 && witness_.distance < infinity &&
        !shapes_closer_than(witness_.distance, A.geometry, X_WA, B.geometry, X_WB, &caches_[i]))
      continue;
    const Witness found =
        shapes_closest_pieces(A.geometry, X_WA, B.geometry, X_WB, &caches_[i]).witness;
    if (found.distance < witness_.distance) {
      witness_ = found;
      is_found = true;
    }
  }
  work_ += path_length();
  return is_found ? witness_.distance : infinity;
}

void PairDescent::find_rates() {
  const Model& model = scene_.model();
  for (const Owner& owner : owners_) {
    const Joint& joint = model.joints[owner.joint];
    std::fill_n(rates_.begin() + joint.v_index, joint.n_v, 0.0);
  }
  for (const auto& [body, side] : path_) {
    const Joint& joint = model.joints[body];
    const SE3d& X = X_[body];
    const Vec3d p = X.p - (side < 0 ? witness_.p_WA : witness_.p_WB);
    visit_joint(joint.type, [&, sign = side * joint.ratio]<class J>(J) {
      for (int k = 0; k < J::n_v; ++k) {
        const Motion<double> at_witness =
            detail::in_ground(X.R, p, J::template column<double>(joint, k));
        rates_[joint.v_index + k] += sign * dot(witness_.normal, at_witness.linear);
      }
    });
  }
}

void PairDescent::move(const double* q, const double* v) {
  const Model& model = scene_.model();
  for (const Owner& owner : owners_) {
    const Joint& joint = model.joints[owner.joint];
    visit_joint(joint.type, [&](auto type) {
      type.integrate(q + joint.q_index, v + joint.v_index, candidate_.data() + joint.q_index);
    });
    for (int k = joint.q_index; k < joint.q_index + joint.n_q; ++k)
      candidate_[k] = std::clamp(candidate_[k], model.limits.q_lower[k], model.limits.q_upper[k]);
  }
}

double PairDescent::descend(double distance, double enough, double* q) {
  const Model& model = scene_.model();
  std::copy_n(q, candidate_.size(), candidate_.begin());
  double size = 1;
  this->distance(q);  // sets the witness
  for (int step = 0; step < most_descent_steps && distance > enough; ++step) {
    find_rates();
    // Go against the rates, but not through a limit.
    double largest = 0;
    for (const Owner& owner : owners_) {
      const Joint& joint = model.joints[owner.joint];
      for (int k = 0; k < joint.n_v; ++k) {
        double& rate = rates_[joint.v_index + k];
        if (joint.n_v == 1) {
          const std::size_t i = at(joint.q_index + k);
          if (rate > 0 ? q[i] <= model.limits.q_lower[i] : q[i] >= model.limits.q_upper[i])
            rate = 0;
        }
        largest = std::max(largest, owner.scale[k] * std::abs(rate));
      }
    }
    if (!(largest > 0)) break;
    // Quarter the step until the shapes come closer.
    bool is_closer = false;
    for (int trial = 0; trial < step_sizes && !is_closer; ++trial, size *= 0.25) {
      for (const Owner& owner : owners_) {
        const int v = model.joints[owner.joint].v_index;
        for (int k = 0; k < model.joints[owner.joint].n_v; ++k)
          v_[v + k] = -size / largest * owner.scale[k] * owner.scale[k] * rates_[v + k];
      }
      move(q, v_.data());
      const double found = this->distance(candidate_.data(), distance - least_decrease);
      is_closer = found < infinity;
      if (is_closer) distance = found;
    }
    if (!is_closer) break;
    std::copy(candidate_.begin(), candidate_.end(), q);
    size = std::min(16 * size, longest_step);  // four times the size that succeeded
  }
  return distance;
}

double PairDescent::explore(double distance, double enough, Rng& rng, double* q) {
  const Model& model = scene_.model();
  std::copy_n(q, candidate_.size(), candidate_.begin());
  double spread = 1;
  for (int step = 0; step < exploration_steps && distance > enough; ++step) {
    for (const Owner& owner : owners_) {
      const int v = model.joints[owner.joint].v_index;
      for (int k = 0; k < model.joints[owner.joint].n_v; ++k) v_[v + k] = spread * rng.normal();
    }
    move(q, v_.data());
    const double found = this->distance(candidate_.data(), distance);
    if (found < infinity) {
      distance = found;
      spread = std::min(1.0, spread_growth * spread);
      std::copy(candidate_.begin(), candidate_.end(), q);
    } else {
      spread = std::max(least_spread, spread_decay * spread);
    }
  }
  return distance;
}

}  // namespace robosim
