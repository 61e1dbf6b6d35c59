#include "planning/timing_torque.h"

#include <algorithm>
#include <cmath>

#include "dynamics/rnea.h"
#include "planning/timing.h"

namespace robosim {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Between samples so far apart in any column [rad, m], a torque below this share of its limit stays below the limit: inertia, gravity
// and velocity products are sinusoids of the angles, so the error of interpolation is about step^2 / 8 of the torque.
constexpr double coarse_step = 0.2, coarse_share = 0.9;
constexpr double fine_step = 0.02, fine_share = 0.999;

}  // namespace

PathTorque::PathTorque(const Model& model, const std::vector<int>& columns, const std::vector<double>& q_rest,
                       const std::vector<double>& effort)
    : model_(model),
      data_(model),
      columns_(columns),
      effort_(effort),
      q_(q_rest),
      v_(at(model.n_v), 0),
      a_(at(model.n_v), 0),
      tau_(at(model.n_v), 0),
      still_(at(model.n_v), 0),
      moving_(at(model.n_v), 0),
      passive_(at(model.n_v), 0),
      zero_(columns.size(), 0) {
  for (int i = 0; i < model.n_v; ++i)
    if (std::isfinite(effort[at(i)])) limited_.push_back(i);
  dof_of_.assign(at(model.n_q), -1);
  for (const Joint& joint : model.joints) {
    if (joint.n_q != joint.n_v || joint.mimic) continue;
    for (int k = 0; k < joint.n_q; ++k) dof_of_[at(joint.q_index + k)] = joint.v_index + k;
    if (joint.type == JointType::planar && joint.n_v == 3) planar_joints_.push_back(&joint);
  }
}

const std::string& PathTorque::name(int i) const {
  for (const Joint& joint : model_.joints)
    if (!joint.mimic && dof(i) >= joint.v_index && dof(i) < joint.v_index + joint.n_v) return joint.name;
  return model_.name;
}

// Of the columns' rates to q_, v_ and a_. A planar joint's v is in its moving frame: v = R^T dp, a = R^T ddp - omega x v.
void PathTorque::set(const double* q, const double* v, const double* a) {
  for (const Joint* joint : planar_joints_)
    for (int k = 0; k < 3; ++k) v_[at(joint->v_index + k)] = a_[at(joint->v_index + k)] = 0;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const std::size_t i = at(columns_[k]), dof = at(dof_of_[i]);
    q_[i] = q[k];
    v_[dof] = v[k];
    a_[dof] = a[k];
  }
  for (const Joint* joint : planar_joints_) {
    const double theta = q_[at(joint->q_index + 2)], c = std::cos(theta), s = std::sin(theta);
    double* w = v_.data() + joint->v_index;
    double* dw = a_.data() + joint->v_index;
    const double vx = c * w[0] + s * w[1], vy = c * w[1] - s * w[0];
    const double ax = c * dw[0] + s * dw[1] + w[2] * vy, ay = c * dw[1] - s * dw[0] - w[2] * vx;
    w[0] = vx, w[1] = vy, dw[0] = ax, dw[1] = ay;
  }
}

void PathTorque::coefficients(const double* q, const double* dq, const double* ddq, Coefficients& out) {
  const std::size_t m = limited_.size();
  out.a.resize(m), out.b.resize(m), out.c.resize(m), out.d.resize(m);
  // c = g, a = M q' and b = M q'' + C(q, q') q' out of inverse dynamics at (0, 0), (0, q') and (q', q''). Of a planar joint the
  // rates are not derivatives of q, but at u = 1, x = 0 and u = 0, x = 1 they are what set() makes of them.
  set(q, zero_.data(), zero_.data());
  gravity_forces(model_, data_, q_.data(), still_.data());
  set(q, zero_.data(), dq);
  rnea(model_, data_, q_.data(), v_.data(), a_.data(), tau_.data());
  for (std::size_t k = 0; k < m; ++k) {
    const std::size_t i = at(limited_[k]);
    out.c[k] = still_[i];
    out.a[k] = tau_[i] - still_[i];
  }
  set(q, dq, ddq);
  rnea(model_, data_, q_.data(), v_.data(), a_.data(), moving_.data());
  for (std::size_t k = 0; k < m; ++k) {
    const std::size_t i = at(limited_[k]);
    out.b[k] = moving_[i] - still_[i];
    out.d[k] = model_.damping[i] * v_[i];
    const double direction = v_[i] > 0 ? 1 : (v_[i] < 0 ? -1 : 0);
    out.c[k] += model_.friction[i] * direction;
  }
}

void PathTorque::torque(const double* q, const double* v, const double* a, double* tau) {
  set(q, v, a);
  rnea(model_, data_, q_.data(), v_.data(), a_.data(), tau_.data());
  passive_forces(model_, v_.data(), passive_.data());
  for (std::size_t k = 0; k < limited_.size(); ++k) tau[k] = tau_[at(limited_[k])] - passive_[at(limited_[k])];
}

std::vector<TorqueExcess> torque_excess(const PolynomialMotion& motion, PathTorque& torque, double threshold) {
  const int n = motion.n, m = torque.size();
  std::vector<double> q(at(n)), v(at(n)), a(at(n)), tau(at(m));
  std::vector<TorqueExcess> out;
  std::vector<double> ratios;
  for (int i = 0; i < motion.pieces(); ++i) {
    const double h = motion.breaks[at(i) + 1] - motion.breaks[at(i)];
    const double* c = motion.piece(i);
    const auto sample = [&](double t, double* ratio) {
      for (int j = 0; j < n; ++j) {
        double p = 0, dp = 0, half_ddp = 0;
        for (int power = 5; power >= 0; --power) {
          half_ddp = half_ddp * t + dp;
          dp = dp * t + p;
          p = p * t + c[power * n + j];
        }
        q[at(j)] = p, v[at(j)] = dp, a[at(j)] = 2 * half_ddp;
      }
      torque.torque(q.data(), v.data(), a.data(), tau.data());
      for (int k = 0; k < m; ++k) ratio[k] = std::abs(tau[at(k)]) / torque.limit(k);
    };
    const auto scan = [&](int count) {
      ratios.resize(at((count + 1) * m));
      for (int s = 0; s <= count; ++s) sample(h * s / count, ratios.data() + s * m);
      return *std::max_element(ratios.begin(), ratios.end());
    };
    // The way of the fastest column bounds how much the dynamics change. First coarsely, closer where a torque may exceed.
    double way = 0;
    for (int j = 0; j < n; ++j) {
      double reach = 0, power_of_h = h;
      for (int power = 1; power < 6; ++power, power_of_h *= h) reach += std::abs(c[power * n + j]) * power_of_h;
      way = std::max(way, reach);
    }
    if (scan(static_cast<int>(std::clamp(std::ceil(way / coarse_step), 1.0, 100.0))) < coarse_share * threshold) continue;
    const int count = static_cast<int>(std::clamp(std::ceil(way / fine_step), 4.0, 1000.0));
    if (scan(count) < fine_share * threshold) continue;
    for (int k = 0; k < m; ++k) {
      const auto ratio = [&](int s) { return ratios[at(s * m + k)]; };
      int best = 0;
      for (int s = 1; s <= count; ++s)
        if (ratio(s) > ratio(best)) best = s;
      TorqueExcess peak{i, k, h * best / count, ratio(best)};
      if (best > 0 && best < count) {
        // Top of the parabola through three samples.
        const double before = ratio(best - 1), after = ratio(best + 1), bend = 2 * peak.ratio - before - after;
        if (bend > 0) {
          const double shift = 0.5 * (after - before) / bend;
          peak.ratio += 0.25 * (after - before) * shift;
          peak.t += shift * h / count;
        }
      }
      if (peak.ratio > threshold) out.push_back(peak);
    }
  }
  return out;
}

}  // namespace robosim
