#include "planning/timing_torque.h"

#include <algorithm>
#include <cmath>

#include "base/dual.h"
#include "base/index.h"
#include "dynamics/joint_forces.h"
#include "dynamics/rnea.h"
#include "planning/timing.h"

namespace robosim {

PathTorque::PathTorque(const Model& model, const std::vector<int>& columns,
                       const std::vector<double>& q_rest, const std::vector<double>& effort)
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
      spring_(at(model.n_v), 0),
      at_rest_(at(model.n_v), 0),
      zero_(columns.size(), 0) {
  for (int i = 0; i < model.n_v; ++i)
    if (std::isfinite(effort[i])) limited_.push_back(i);
  has_springs_ =
      std::any_of(model.stiffness.begin(), model.stiffness.end(), [](double k) { return k != 0; });
  dof_of_.assign(model.n_q, -1);
  for (const Joint& joint : model.joints) {
    if (joint.n_q != joint.n_v || joint.mimic) continue;
    for (int k = 0; k < joint.n_q; ++k) dof_of_[joint.q_index + k] = joint.v_index + k;
    if (joint.n_v > 1) moving_frames_.push_back(&joint);
  }
}

const std::string& PathTorque::name(int i) const {
  for (const Joint& joint : model_.joints)
    if (!joint.mimic && dof(i) >= joint.v_index && dof(i) < joint.v_index + joint.n_v)
      return joint.name;
  return model_.name;
}

// Write the columns' positions, rates and accelerations to q_, v_ and a_. Where a joint's v is not
// dq, v is a function of q and dq, and a is its derivative along (dq, ddq).
void PathTorque::set(const double* q, const double* v, const double* a) {
  for (const Joint* joint : moving_frames_)
    for (int k = 0; k < joint->n_v; ++k) v_[joint->v_index + k] = a_[joint->v_index + k] = 0;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const std::size_t i = at(columns_[k]), dof = at(dof_of_[i]);
    q_[i] = q[k];
    v_[dof] = v[k];
    a_[dof] = a[k];
  }
  for (const Joint* joint : moving_frames_)
    visit_joint(joint->type, [&]<class J>(J) {
      Dual own_q[J::n_q], own_dq[J::n_q], own_v[J::n_v];
      const double *own = q_.data() + joint->q_index, *rate = v_.data() + joint->v_index,
                   *change = a_.data() + joint->v_index;
      for (int k = 0; k < std::min(J::n_q, J::n_v); ++k) {
        own_q[k] = {own[k], rate[k]};
        own_dq[k] = {rate[k], change[k]};
      }
      J::velocity(own_q, own_dq, own_v);
      for (int k = 0; k < J::n_v; ++k) {
        v_[joint->v_index + k] = own_v[k].value;
        a_[joint->v_index + k] = own_v[k].derivative;
      }
    });
}

void PathTorque::coefficients(const double* q, const double* dq, const double* ddq,
                              Coefficients& out) {
  const std::size_t m = limited_.size();
  out.a.resize(m);
  out.b.resize(m);
  out.c.resize(m);
  out.d.resize(m);
  out.rate.resize(m);
  // Inverse dynamics at (0, 0), (0, q') and (q', q'') yield c = g, a = M q' and b = M q'' + C(q,
  // q') q'. Where v are not derivatives of q, set() converts at u = 1, x = 0 and at u = 0, x = 1.
  set(q, zero_.data(), zero_.data());
  gravity_forces(model_, data_, q_.data(), still_.data());
  joint_forces(model_, q_.data(), v_.data(), spring_.data());
  set(q, zero_.data(), dq);
  rnea(model_, data_, q_.data(), v_.data(), a_.data(), tau_.data());
  for (std::size_t k = 0; k < m; ++k) {
    const std::size_t i = at(limited_[k]);
    out.c[k] = still_[i] - spring_[i];
    out.a[k] = tau_[i] - still_[i];
  }
  set(q, dq, ddq);
  rnea(model_, data_, q_.data(), v_.data(), a_.data(), moving_.data());
  for (std::size_t k = 0; k < m; ++k) {
    const std::size_t i = at(limited_[k]);
    out.b[k] = moving_[i] - still_[i];
    out.d[k] = model_.damping[i] * v_[i];
    out.rate[k] = v_[i];
  }
}

void PathTorque::smooth_torque(const double* q, const double* v, const double* a, double* tau,
                               double* damping, double* rate) {
  set(q, v, a);
  rnea(model_, data_, q_.data(), v_.data(), a_.data(), tau_.data());
  if (has_springs_) joint_forces(model_, q_.data(), at_rest_.data(), spring_.data());
  for (std::size_t k = 0; k < limited_.size(); ++k) {
    const std::size_t i = at(limited_[k]);
    tau[k] = tau_[i] - spring_[i];
    damping[k] = model_.damping[i] * v_[i];
    rate[k] = v_[i];
  }
}

PathTorque::Friction PathTorque::friction(int i, double least_rate, double greatest_rate) const {
  const double f = model_.friction[dof(i)];
  const double rounding = 1e-9 * std::max(std::abs(least_rate), std::abs(greatest_rate));
  return {greatest_rate > rounding ? f : 0, least_rate < -rounding ? f : 0};
}

bool PathTorque::damped(int i) const { return model_.damping[dof(i)] != 0; }

bool PathTorque::resisted() const {
  return std::any_of(limited_.begin(), limited_.end(),
                     [&](int i) { return model_.damping[i] != 0 || model_.friction[i] != 0; });
}

namespace {

constexpr double sample_step = 0.25;  // twice the displacement of a column between samples [rad, m]
// Factor by which each round moves closer to the end of a piece, in search of a peak near that end.
constexpr double end_step = 32;
constexpr int end_rounds = 3, most_parabolas = 8;
constexpr double rise_that_counts = 1e-9;  // of a limit

// Value at a local time.
struct Sample {
  double t = 0, y = 0;
};

// Search for the peaks in one piece of a trajectory.
class PieceScan {
 public:
  PieceScan(const PolynomialMotion& motion, PathTorque& torque, bool is_exact)
      : motion_(motion),
        torque_(torque),
        is_exact_(is_exact),
        n_(motion.n),
        m_(torque.size()),
        q_(at(n_)),
        v_(at(n_)),
        a_(at(n_)),
        tau_(at(m_)),
        damping_(at(m_)),
        rate_(at(m_)) {}

  void scan(int piece, double threshold, std::vector<TorqueExcess>& out) {
    c_ = motion_.piece(piece);
    h_ = motion_.breaks[at(piece) + 1] - motion_.breaks[piece];
    // Number of samples, by the displacement of the fastest column.
    double way = 0;
    for (int j = 0; j < n_; ++j) {
      double reach = 0, power_of_h = h_;
      for (int power = 1; power < 6; ++power, power_of_h *= h_)
        reach += std::abs(c_[power * n_ + j]) * power_of_h;
      way = std::max(way, reach);
    }
    count_ = 2 * static_cast<int>(std::clamp(std::ceil(way / sample_step), 1.0, 200.0));
    samples_.resize(at((count_ + 1) * m_));
    damping_samples_.resize(samples_.size());
    least_.assign(m_, 0);
    greatest_.assign(m_, 0);
    // Samples of the torques, and the range of the rates.
    for (int s = 0; s <= count_; ++s) {
      evaluate(h_ * s / count_);
      for (int k = 0; k < m_; ++k) {
        samples_[s * m_ + k] = tau_[k] / torque_.limit(k);
        damping_samples_[s * m_ + k] = damping_[k] / torque_.limit(k);
        least_[k] = s == 0 ? rate_[k] : std::min(least_[k], rate_[k]);
        greatest_[k] = s == 0 ? rate_[k] : std::max(greatest_[k], rate_[k]);
      }
    }
    // Peak of each entry, in both directions.
    for (int k = 0; k < m_; ++k) {
      const PathTorque::Friction friction = torque_.friction(k, least_[k], greatest_[k]);
      TorqueExcess peak{piece, k, 0, 0};
      for (const double sign : {1.0, -1.0}) {
        const double offset = (sign > 0 ? friction.up : friction.down) / torque_.limit(k);
        // Without damping and with it; anything in between lies between the two.
        for (const double share : {0.0, 1.0}) {
          if (share > 0 && !torque_.damped(k)) continue;
          double t;
          const double ratio = top(k, sign, share, threshold - offset, t) + offset;
          if (ratio > peak.ratio) {
            peak.ratio = ratio;
            peak.t = t;
          }
        }
      }
      if (peak.ratio > threshold) out.push_back(peak);
    }
  }

 private:
  void evaluate(double t) {
    for (int j = 0; j < n_; ++j) {
      double p = 0, dp = 0, half_ddp = 0;
      for (int power = 5; power >= 0; --power) {
        half_ddp = half_ddp * t + dp;
        dp = dp * t + p;
        p = p * t + c_[power * n_ + j];
      }
      q_[j] = p;
      v_[j] = dp;
      a_[j] = 2 * half_ddp;
    }
    torque_.smooth_torque(q_.data(), v_.data(), a_.data(), tau_.data(), damping_.data(),
                          rate_.data());
  }

  // Greatest value of sign * torque / limit of entry k with a share of its damping, and its time;
  // only as exact as needed to show that it stays below `threshold`.
  double top(int k, double sign, double share, double threshold, double& t) {
    const auto y = [&](int s) {
      return sign * (samples_[s * m_ + k] + share * damping_samples_[s * m_ + k]);
    };
    int best = 0, least = 0;
    double bend = 0;
    for (int s = 0; s <= count_; ++s) {
      if (y(s) > y(best)) best = s;
      if (y(s) < y(least)) least = s;
      if (s > 0 && s < count_) bend = std::max(bend, std::abs(y(s - 1) - 2 * y(s) + y(s + 1)));
    }
    const double gap = h_ / count_, variation = y(best) - y(least);
    Sample highest{gap * best, y(best)};
    const auto look = [&](double when) {
      evaluate(when);
      const Sample here{when, sign * (tau_[k] + share * damping_[k]) / torque_.limit(k)};
      if (here.y > highest.y) highest = here;
      return here;
    };
    const auto close_in = [&](int s) {
      const Sample middle{gap * s, y(s)};
      if (s == 0 || s == count_) {
        const int next = s == 0 ? 1 : count_ - 1;
        close_in_at_end(middle, {gap * next, y(next)}, variation, threshold, highest, look);
      } else {
        close_in_between({gap * (s - 1), y(s - 1)}, middle, {gap * (s + 1), y(s + 1)}, threshold,
                         highest, look);
      }
    };
    // A parabola rises at most bend / 8 above its samples. From and to rest, a torque is a parabola
    // in the displacement, which grows with the square of time. The second difference of three even
    // samples of such a quartic may vanish while it rises by a thirtieth of its variation.
    const bool is_decided = !is_exact_ && highest.y > threshold;
    if (!is_decided && highest.y + std::max(bend, variation / 8) >= threshold) {
      close_in(best);
      for (int s = 0; s <= count_; ++s) {
        const bool is_peak = (s == 0 || y(s) > y(s - 1)) && (s == count_ || y(s) >= y(s + 1));
        if (s != best && is_peak && y(s) + bend > std::max(threshold, highest.y)) close_in(s);
      }
    }
    t = highest.t;
    return highest.y;
  }

  // Search for a peak next to an end of the piece, where the sample at the end is not below its
  // neighbor.
  template <class F>
  static void close_in_at_end(const Sample& end, Sample inner, double variation, double threshold,
                              const Sample& highest, F&& look) {
    const double gap = inner.t - end.t;
    double part = 1;
    for (int round = 0; round < end_rounds; ++round) {
      part /= end_step;
      const Sample near = look(end.t + part * gap);
      if (near.y > end.y) {
        if (gap > 0)
          close_in_between(end, near, inner, threshold, highest, look);
        else
          close_in_between(inner, near, end, threshold, highest, look);
        return;
      }
      // Second derivatives are at most 4 variation / gap^2, as for the quartic. If the torque falls
      // by more than they can bend it down after a rise, it falls from the end on. If it hardly
      // falls that close to the end, it hardly rose.
      if (end.y - near.y >= 2 * variation * part * part) return;
      inner = near;
    }
  }

  // Search for the peak between a and c, which b is not below, by successive parabolas. They keep
  // the bracket for any function: each new point is at least a part of the longer side away from
  // the middle. At first that part is large, as the first parabola through a quartic may point in
  // the wrong direction.
  template <class F>
  static void close_in_between(Sample a, Sample b, Sample c, double threshold,
                               const Sample& highest, F&& look) {
    for (int round = 0; round < most_parabolas; ++round) {
      const double before = b.t - a.t, after = c.t - b.t, fall_a = b.y - a.y, fall_c = b.y - c.y;
      const double denominator = before * fall_c + after * fall_a;
      if (!(denominator > 0)) return;  // flat
      const double shift = 0.5 * (after * after * fall_a - before * before * fall_c) / denominator;
      const double rise = denominator / (before * after * (before + after)) * shift * shift;
      const bool is_first = round < 2;
      if (!is_first && (highest.y + 4 * rise < threshold || rise < rise_that_counts)) return;
      const double longer = before > after ? -before : after,
                   least = (is_first ? 0.1 : 1e-3) * std::abs(longer);
      const Sample next =
          look(b.t + (std::abs(shift) < least ? std::copysign(least, longer) : shift));
      const bool is_before = next.t < b.t;
      if (next.y > b.y) {
        (is_before ? c : a) = b;
        b = next;
      } else
        (is_before ? a : c) = next;
    }
  }

  const PolynomialMotion& motion_;
  PathTorque& torque_;
  bool is_exact_;
  int n_, m_, count_ = 0;
  const double* c_ = nullptr;
  double h_ = 0;
  std::vector<double> q_, v_, a_, tau_, damping_, rate_;
  std::vector<double> samples_, damping_samples_;  // relative to the limits, per sample and entry
  std::vector<double> least_, greatest_;           // range of rates of each entry in the piece
};

}  // namespace

std::vector<TorqueExcess> torque_excess(const PolynomialMotion& motion, PathTorque& torque,
                                        double threshold, bool is_exact) {
  std::vector<TorqueExcess> out;
  PieceScan scan(motion, torque, is_exact);
  for (int i = 0; i < motion.pieces(); ++i) scan.scan(i, threshold, out);
  return out;
}

}  // namespace robosim
