#include "planning/ik.h"

#include <algorithm>
#include <cmath>

#include "base/constants.h"
#include "base/index.h"
#include "base/rng.h"
#include "model/joint_layout.h"
#include "planning/ik_reach.h"
#include "planning/ik_residual.h"

namespace robosim {

namespace {

constexpr double largest_step = 1.0;  // per iteration and column [rad, m]
constexpr int polished = 4, polish_iterations = 500;
constexpr int seeds_beyond = 15;  // random seeds if the goal is proven out of reach

// Solve (A + lambda I) y = r for a symmetric positive semidefinite A by Cholesky.
void solve_damped(double (&A)[6][6], double lambda, const double* r, double* y) {
  for (int i = 0; i < 6; ++i) A[i][i] += lambda;
  for (int j = 0; j < 6; ++j) {
    for (int k = 0; k < j; ++k) A[j][j] -= A[j][k] * A[j][k];
    A[j][j] = std::sqrt(std::max(A[j][j], 1e-300));
    for (int i = j + 1; i < 6; ++i) {
      for (int k = 0; k < j; ++k) A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
  }
  for (int i = 0; i < 6; ++i) {
    y[i] = r[i];
    for (int k = 0; k < i; ++k) y[i] -= A[i][k] * y[k];
    y[i] /= A[i][i];
  }
  for (int i = 5; i >= 0; --i) {
    for (int k = i + 1; k < 6; ++k) y[i] -= A[k][i] * y[k];
    y[i] /= A[i][i];
  }
}

class Solver {
 public:
  Solver(const Model& model, const IkGoal& goal, const IkOptions& options)
      : model_(&model),
        goal_(&goal),
        options_(options),
        residual_(model, goal, options.columns),
        q_(options.reference),
        trial_(options.reference),
        turns_(options.columns.size(), 0),
        rng_(options.seed) {
    for (std::size_t j = 0; j < options.columns.size(); ++j) {
      const int column = options.columns[j];
      // A joint that mimic joints follow is not at the same pose after a whole turn.
      const bool mimicked =
          std::any_of(model.joints.begin(), model.joints.end(),
                      [&](const Joint& joint) { return joint.mimic && joint.q_index == column; });
      turns_[j] = !mimicked && coordinate_of(model, column) == Coordinate::periodic_angle;
    }
    set_windows();
  }

  IkResult run() {
    const std::size_t n_q = options_.reference.size();
    const int given = static_cast<int>(n_q == 0 ? 0 : options_.seeds.size() / n_q);
    const int random =
        prove() ? std::min(seeds_beyond, options_.random_seeds) : options_.random_seeds;
    for (int s = 0; s < given + random; ++s) {
      if (static_cast<int>(result_.solutions.size()) >= options_.max_solutions) break;
      if (s < given)
        start_from(options_.seeds.data() + at(s) * n_q);
      else
        start_at_random(s - given);
      ++result_.seeds;
      mu_ = first_mu;
      if (descend(options_.max_iterations))
        keep();
      else if (result_.solutions.empty())
        remember();
    }
    if (result_.solutions.empty()) polish();
    std::stable_sort(
        result_.solutions.begin(), result_.solutions.end(),
        [](const IkSolution& a, const IkSolution& b) { return a.distance < b.distance; });
    return std::move(result_);
  }

 private:
  static constexpr double first_mu = 0.1, least_mu = 1e-4, largest_mu = 1e8;

  // Return true if the goal is out of reach for any configuration.
  bool prove() {
    IkGoal goal = *goal_;
    for (int i = 0; i < 6; ++i) {
      const double slack = i < 3 ? options_.position_slack : options_.rotation_slack;
      goal.lower[i] -= slack;
      goal.upper[i] += slack;
    }
    const IkReach reach(*model_, goal, options_, options_.reference.data());
    const IkReach::Answer answer = reach(goal.X_WG);
    if (answer.is_beyond)
      result_.beyond = {true,        answer.distance, answer.least,
                        answer.most, reach.first(),   reach.last()};
    return answer.is_beyond;
  }

  // Set the ranges of random seeds: the limits; one turn about the reference where limits allow
  // more; near the reference where there are no limits.
  void set_windows() {
    const std::size_t n = options_.columns.size();
    low_.resize(n);
    high_.resize(n);
    shift_.resize(n);
    stride_.resize(n);
    for (std::size_t j = 0; j < n; ++j) {
      const double reference = options_.reference[options_.columns[j]], reach = turns_[j] ? pi : 1;
      low_[j] = options_.lower[j];
      high_[j] = options_.upper[j];
      const bool bounded = std::isfinite(low_[j]) && std::isfinite(high_[j]);
      if (!bounded || (turns_[j] && high_[j] - low_[j] > 2 * pi)) {
        const double low =
            std::max(options_.lower[j], std::min(reference - reach, options_.upper[j] - 2 * reach));
        low_[j] = low;
        high_[j] = std::min(options_.upper[j], low + 2 * reach);
      }
      shift_[j] = rng_.uniform();
    }
    // Kronecker sequence with the powers of the root of x^(n+1) = x + 1 (Roberts 2018): evenly
    // spread in any dimension.
    double root = 2;
    for (int i = 0; i < 60; ++i) root = std::pow(1 + root, 1.0 / (static_cast<double>(n) + 1));
    double power = 1;
    for (double& stride : stride_) stride = power /= root;
  }

  void start_from(const double* seed) {
    for (std::size_t j = 0; j < options_.columns.size(); ++j) {
      const std::size_t i = at(options_.columns[j]);
      q_[i] = std::clamp(seed[i], options_.lower[j], options_.upper[j]);
    }
  }

  void start_at_random(int k) {
    for (std::size_t j = 0; j < options_.columns.size(); ++j) {
      const double u = shift_[j] + (k + 1) * stride_[j];
      q_[options_.columns[j]] = low_[j] + (u - std::floor(u)) * (high_[j] - low_[j]);
    }
  }

  // True if the errors are within `share` of the tolerances.
  bool within(double share) const {
    return residual_.position_error() <= share * options_.position_tolerance &&
           residual_.rotation_error() <= share * options_.rotation_tolerance;
  }

  // Descend from q_. Return true if the result is in the box. Leaves the residual evaluated at q_.
  // Iterates to well inside the tolerances, which takes one more step by quadratic convergence and
  // distinguishes solutions close to each other.
  bool descend(int iterations) {
    const std::size_t n = options_.columns.size();
    residual_.evaluate(q_.data());
    double error = residual_.squared();
    int slow = 0;
    for (int iteration = 0; iteration < iterations; ++iteration) {
      if (within(1e-3)) return true;
      residual_.differentiate();
      const double* r = residual_.value();
      // J J^T over the columns that are free to move.
      double A[6][6] = {};
      free_.clear();
      for (std::size_t j = 0; j < n; ++j) {
        const double* c = residual_.column(j);
        double gradient = 0;
        for (int i = 0; i < 6; ++i) gradient += c[i] * r[i];
        const double q = q_[options_.columns[j]];
        if ((q <= options_.lower[j] && gradient > 0) || (q >= options_.upper[j] && gradient < 0))
          continue;
        free_.push_back(j);
        for (int a = 0; a < 6; ++a)
          for (int b = 0; b <= a; ++b) A[a][b] += c[a] * c[b];
      }
      // Increase mu until a step reduces the error.
      bool lower = false;
      while (!lower && mu_ < largest_mu) {
        ++result_.iterations;
        double system[6][6], y[6];
        std::copy(&A[0][0], &A[0][0] + 36, &system[0][0]);
        solve_damped(system, mu_ * error + 1e-12, r, y);
        step(y);
        residual_.evaluate(trial_.data());
        const double trial_error = residual_.squared();
        lower = trial_error < error;
        if (lower) {
          slow = trial_error > 0.98 * error ? slow + 1 : 0;
          error = trial_error;
          std::swap(q_, trial_);
          mu_ = std::max(least_mu, 0.2 * mu_);
        } else {
          mu_ *= 10;
        }
      }
      if (!lower) {
        // A local minimum, to rounding.
        residual_.evaluate(q_.data());
        return within(1);
      }
      if (slow > 4 && iterations <= options_.max_iterations) break;
    }
    return within(1);
  }

  void step(const double* y) {
    std::copy(q_.begin(), q_.end(), trial_.begin());
    double longest = 0;
    for (const std::size_t j : free_) {
      const double* c = residual_.column(j);
      double dq = 0;
      for (int i = 0; i < 6; ++i) dq -= c[i] * y[i];
      trial_[options_.columns[j]] = dq;
      longest = std::max(longest, std::abs(dq));
    }
    const double scale = longest > largest_step ? largest_step / longest : 1;
    for (const std::size_t j : free_) {
      double& value = trial_[options_.columns[j]];
      value =
          std::clamp(q_[options_.columns[j]] + scale * value, options_.lower[j], options_.upper[j]);
    }
  }

  // Solution q_ with every periodic joint within half a turn of the reference, as far as limits
  // allow.
  IkSolution solution() const {
    IkSolution s{q_, residual_.position_error(), residual_.rotation_error(), 0};
    double sum = 0;
    for (std::size_t j = 0; j < options_.columns.size(); ++j) {
      double& value = s.q[options_.columns[j]];
      const double reference = options_.reference[options_.columns[j]];
      if (turns_[j]) {
        double turns = std::round((reference - value) / (2 * pi));
        while (turns > 0 && value + 2 * pi * turns > options_.upper[j]) --turns;
        while (turns < 0 && value + 2 * pi * turns < options_.lower[j]) ++turns;
        value += 2 * pi * turns;
      }
      sum += (value - reference) * (value - reference);
    }
    s.distance = std::sqrt(sum);
    return s;
  }

  void keep() {
    IkSolution found = solution();
    for (const IkSolution& other : result_.solutions) {
      double apart = 0;
      for (std::size_t j = 0; j < options_.columns.size(); ++j) {
        const std::size_t i = at(options_.columns[j]);
        const double gap = found.q[i] - other.q[i];
        apart = std::max(apart, std::abs(turns_[j] ? std::remainder(gap, 2 * pi) : gap));
      }
      if (apart <= options_.distinct) return;
    }
    result_.solutions.push_back(std::move(found));
  }

  // Keep the few seeds that came closest, for polish().
  void remember() {
    const double error = residual_.squared();
    if (failed_.size() < polished || error < failed_.back().first) {
      if (failed_.size() == polished) failed_.pop_back();
      const auto place = std::find_if(failed_.begin(), failed_.end(),
                                      [&](const auto& f) { return error < f.first; });
      failed_.insert(place, {error, q_});
    }
  }

  // Without solutions, minimize from the closest seeds to convergence, to report the distance by
  // which the goal is out of reach.
  void polish() {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [error, q] : failed_) {
      q_ = q;
      mu_ = first_mu;
      if (descend(polish_iterations)) {
        keep();
        return;
      }
      if (residual_.squared() < least) {
        least = residual_.squared();
        result_.best = solution();
      }
    }
  }

  const Model* model_;
  const IkGoal* goal_;
  const IkOptions& options_;
  IkResidual residual_;
  std::vector<double> q_, trial_;
  std::vector<char> turns_;
  Rng rng_;
  std::vector<double> low_, high_, shift_, stride_;
  std::vector<std::size_t> free_;
  std::vector<std::pair<double, std::vector<double>>> failed_;
  double mu_ = first_mu;
  IkResult result_;
};

}  // namespace

IkResult inverse_kinematics(const Model& model, const IkGoal& goal, const IkOptions& options) {
  return Solver(model, goal, options).run();
}

}  // namespace robosim
