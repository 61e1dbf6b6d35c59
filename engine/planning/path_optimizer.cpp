#include "planning/path_optimizer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/index.h"
#include "model/joint_layout.h"
#include "model/position_rates.h"
#include "base/linalg/banded_cholesky.h"
#include "planning/polyline.h"
#include "planning/shapes_first.h"
#include "scene/configuration_rates.h"

namespace robosim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double step = 0.08;  // between samples [rad, m]
constexpr std::size_t min_steps = 8, max_steps = 96;
// Values of b, each for its share of the iterations.
constexpr double weights_of_clearance[] = {30, 300, 3000, 30000, 30000};
constexpr int n_weights = std::size(weights_of_clearance);
constexpr double reached = 0.02;  // part of the clearance that may be missing
// Decrease of E in the last iteration, where the length term is about 1/2.
constexpr double converged = 1e-4;
// Spacings of the points that describe a path; the first sufficient one is used [rad, m].
constexpr double spacings[] = {0.4, 0.25, 0.15, 0.1};
constexpr std::size_t least_edges = 4;
// Accuracy of these points: relative increase of E, and missing part of the clearance, at most and
// in the (quadratic) mean.
constexpr double cost_of_few = 0.05, missing_of_few = 0.05, mean_of_few = 0.02;
constexpr double thin_tolerance = 1e-3;  // from the line between the points that stay [rad, m]

class Optimizer {
 public:
  Optimizer(EdgeChecker& checker, const std::vector<double>& path,
            const PathOptimizerOptions& options)
      : scene_(checker.scene()),
        options_(options),
        n_(options.columns.size()),
        clearance_(std::max(options.clearance, 2 * options.resolution)),
        checker_(checker),
        rate_(at(scene_.model().n_v)),
        gradient_q_(n_),
        q_(path.begin(), path.begin() + scene_.model().n_q) {
    for (const int column : options.columns)
      joints_.push_back(&joint_of_position(scene_.model(), column));
    input_ = columns_of(path, at(scene_.model().n_q), options.columns);
    length_ = input_.length();
    steps_ = std::clamp(static_cast<std::size_t>(std::ceil(length_ / step)), min_steps, max_steps);
  }

  OptimizedPath run(const std::vector<double>& path) {
    OptimizedPath out;
    out.path = path;
    if (!(length_ > 0) || n_ == 0) return out;
    set_targets();
    const Polyline given = input_.resampled(steps_);
    Polyline now = given, best;
    std::vector<Polyline> found;
    const int share = (options_.iterations + n_weights - 1) / n_weights;
    for (int i = 0; i < n_weights && !late(); ++i) {
      weight_ = weights_of_clearance[i];
      // Resample each time, as the clearance term stretches the path just where it passes thin
      // obstacles.
      x_ = now.resampled(steps_).points;
      descend(share);
      now.points = x_;
      const double missing = violation_;
      Polyline control = few_points(now);
      if (control.size() == 0) continue;
      found.push_back(std::move(control));
      if (missing <= reached) break;
    }
    out.iterations = iterations_;
    if (found.empty()) return out;
    out.cost_before = evaluate(given.points, false);
    // Choose the candidate with the least cost at the last b.
    out.cost_after = std::numeric_limits<double>::infinity();
    for (Polyline& candidate : found) {
      const double cost = evaluate(candidate.curved().resampled(steps_).points, false);
      if (cost < out.cost_after) {
        out.cost_after = cost;
        best = std::move(candidate);
      }
    }
    out.improved =
        out.cost_after < out.cost_before && (options_.clearance > 0 || best.length() < length_);
    if (out.improved) {
      out.path.clear();
      for (std::size_t i = 0; i < best.size(); ++i) {
        place_columns(best.point(i));
        out.path.insert(out.path.end(), q_.begin(), q_.end());
      }
    }
    return out;
  }

 private:
  // Required distance of parts of the robot that are nearer each other at an end than the
  // clearance.
  struct Target {
    int a = 0, b = 0;
    double distance = 0;
  };

  bool late() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count() > options_.deadline;
  }

  void place_columns(const double* x) {
    for (std::size_t k = 0; k < n_; ++k) q_[options_.columns[k]] = x[k];
  }

  bool free(const Polyline& path) {
    std::vector<double> from = q_, to = q_;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      for (std::size_t k = 0; k < n_; ++k) {
        from[options_.columns[k]] = path.point(i)[k];
        to[options_.columns[k]] = path.point(i + 1)[k];
      }
      if (!checker_.line(from.data(), to.data(), options_.resolution).free) return false;
    }
    return true;
  }

  // A free polyline of few evenly spaced points that describes the path `fine`, with corners
  // rounded from middle to middle of the edges; empty if none is free. With many points the
  // acceleration of a trajectory chatters.
  Polyline few_points(const Polyline& fine) {
    // Evaluate the cost at evenly spaced points, since the points of `fine` are not.
    const double length = fine.length(), cost = evaluate(fine.resampled(steps_).points, true),
                 missing = violation_;
    const double most = cost * (1 + cost_of_few) + 0.5 * weight_ * mean_of_few * mean_of_few;
    for (const double spacing : spacings) {
      if (options_.clearance <= 0) break;  // minimum length is the only objective
      const std::size_t steps =
          std::clamp(static_cast<std::size_t>(std::ceil(length / spacing)), least_edges, steps_);
      Polyline control = fine.resampled(steps);
      // Offset the points by as much as rounding will cut: an eighth of the second difference.
      const std::vector<double> on = control.points;
      for (std::size_t i = 1; i < steps; ++i)
        for (std::size_t k = 0; k < n_; ++k) {
          const double cut = (on[(i - 1) * n_ + k] - 2 * on[i * n_ + k] + on[(i + 1) * n_ + k]) / 8;
          control.points[i * n_ + k] =
              std::clamp(on[i * n_ + k] - cut, options_.lower[k], options_.upper[k]);
        }
      const bool describes = evaluate(control.curved().resampled(steps_).points, true) <= most &&
                             violation_ <= std::max(reached, missing) + missing_of_few;
      if (describes && free(control)) return control;
    }
    Polyline thin = fine.thinned(thin_tolerance);
    return free(thin) ? thin : Polyline{n_, {}};
  }

  void set_targets() {
    SceneQuery& query = checker_.query();
    for (const std::size_t end : {std::size_t{0}, input_.size() - 1}) {
      place_columns(input_.point(end));
      query.place(q_.data());
      query.contacts(clearance_, contacts_);
      for (const SceneQuery::Contact& c : contacts_) {
        if (scene_.object(c.a).body == 0 || scene_.object(c.b).body == 0) continue;
        const double d = std::max(c.witness.distance, 2 * options_.resolution);
        const auto known = find(c);
        if (known != targets_.end())
          known->distance = std::min(known->distance, d);
        else
          targets_.push_back({c.a, c.b, d});
      }
    }
  }
  std::vector<Target>::iterator find(const SceneQuery::Contact& c) {
    return std::find_if(targets_.begin(), targets_.end(),
                        [&](const Target& t) { return t.a == c.a && t.b == c.b; });
  }

  // Evaluate E at x. With derivatives also gradient_ and H_, of the points between the ends, and
  // violation_, the largest missing part of a target.
  double evaluate(const std::vector<double>& x, bool derivatives) {
    const double steps = static_cast<double>(steps_), per_length = steps / (length_ * length_);
    const double bend = options_.smoothness * options_.smoothness * steps * steps * per_length;
    if (derivatives) {
      H_.set_zero();
      std::fill(gradient_.begin(), gradient_.end(), 0.0);
    }
    double E = 0;
    // Add one square 1/2 factor |sum_j c_j x_(i + j)|^2 and its derivatives.
    const auto square = [&](std::size_t i, const double* c, std::size_t terms, double factor) {
      for (std::size_t k = 0; k < n_; ++k) {
        double r = 0;
        for (std::size_t j = 0; j < terms; ++j) r += c[j] * x[(i + j) * n_ + k];
        E += 0.5 * factor * r * r;
        if (!derivatives) continue;
        for (std::size_t j = 0; j < terms; ++j) {
          if (!inner(i + j)) continue;
          gradient_[variable(i + j, k)] += factor * c[j] * r;
          for (std::size_t l = 0; l <= j; ++l)
            if (inner(i + l)) H_(variable(i + j, k), variable(i + l, k)) += factor * c[j] * c[l];
        }
      }
    };
    constexpr double first[] = {-1, 1}, second[] = {1, -2, 1};
    // Length, acceleration and clearance.
    for (std::size_t i = 0; i < steps_; ++i) square(i, first, 2, per_length);
    for (std::size_t i = 0; i + 2 <= steps_; ++i) square(i, second, 3, bend);
    if (derivatives) violation_ = 0;
    for (std::size_t i = 1; i < steps_; ++i) E += clearance_cost(x.data() + i * n_, i, derivatives);
    return E;
  }

  bool inner(std::size_t i) const { return i > 0 && i < steps_; }
  std::size_t variable(std::size_t i, std::size_t k) const { return (i - 1) * n_ + k; }

  double clearance_cost(const double* x, std::size_t i, bool derivatives) {
    SceneQuery& query = checker_.query();
    const Model& model = scene_.model();
    place_columns(x);
    query.place(q_.data());
    query.contacts(clearance_, contacts_);
    const double factor = weight_ / (static_cast<double>(steps_) * clearance_ * clearance_);
    double cost = 0;
    bool has_subspaces = false;
    for (const SceneQuery::Contact& c : contacts_) {
      const int body_a = scene_.object(c.a).body, body_b = scene_.object(c.b).body;
      if (body_a == body_b) continue;
      const auto target = find(c);
      const double missing =
          (target != targets_.end() ? target->distance : clearance_) - c.witness.distance;
      if (missing <= 0) continue;
      cost += 0.5 * factor * missing * missing;
      if (!derivatives) continue;
      if (!has_subspaces) {
        query.place_motions();
        has_subspaces = true;
      }
      distance_rate(model, query.data(), body_a, body_b, c.witness, rate_.data());
      for (std::size_t k = 0; k < n_; ++k) {
        gradient_q_[k] = 0;
        for_each_rate(*joints_[k], q_.data(), options_.columns[k],
                      [&](int dof, double v) { gradient_q_[k] += v * rate_[dof]; });
      }
      // Pairs that no column moves, such as a turning base above its pedestal, are no violation.
      const bool moves = std::any_of(gradient_q_.begin(), gradient_q_.end(),
                                     [](double g) { return std::abs(g) > 1e-6; });
      if (moves) violation_ = std::max(violation_, missing / clearance_);
      for (std::size_t k = 0; k < n_; ++k) {
        gradient_[variable(i, k)] -= factor * missing * gradient_q_[k];
        for (std::size_t l = 0; l <= k; ++l)
          H_(variable(i, k), variable(i, l)) += factor * gradient_q_[k] * gradient_q_[l];
      }
    }
    return cost;
  }

  // Minimize E at the current weight, from x_.
  void descend(int iterations) {
    const std::size_t n = (steps_ - 1) * n_;
    H_ = BandedMatrix(n, 2 * n_);
    gradient_.assign(n, 0);
    double damping = 1e-6, E = evaluate(x_, true);
    for (; iterations > 0 && !late(); --iterations) {
      ++iterations_;
      hold_at_limits();
      const BandedMatrix H = H_;
      const std::vector<double> gradient = gradient_, before = x_;
      double next = E;
      // Increase the damping until E decreases.
      for (;; damping *= 10) {
        if (damping > 1e6) {
          x_ = before;
          evaluate(x_, true);
          return;
        }
        BandedMatrix L = H;
        for (std::size_t i = 0; i < n; ++i) L(i, i) += damping * H(i, i);
        if (!L.factorize()) continue;
        std::vector<double> down = gradient;
        L.solve(down.data());
        for (std::size_t i = 0; i < n; ++i)
          x_[n_ + i] =
              std::clamp(before[n_ + i] - down[i], options_.lower[i % n_], options_.upper[i % n_]);
        next = evaluate(x_, true);
        if (next < E) break;
      }
      damping = std::max(damping / 10, 1e-9);
      const double gain = E - next;
      E = next;
      if (gain <= converged) return;
    }
  }

  // Fix the entries at a limit that would go beyond it: their rows and columns become those of the
  // identity matrix.
  void hold_at_limits() {
    const std::size_t n = gradient_.size();
    for (std::size_t i = 0; i < n; ++i) {
      const double v = x_[n_ + i], lower = options_.lower[i % n_], upper = options_.upper[i % n_];
      if (!((v <= lower && gradient_[i] > 0) || (v >= upper && gradient_[i] < 0))) continue;
      for (std::size_t j = H_.first_of_row(i); j < i; ++j) H_(i, j) = 0;
      for (std::size_t j = i + 1; j < std::min(n, i + H_.half_bandwidth() + 1); ++j) H_(j, i) = 0;
      H_(i, i) = 1;
      gradient_[i] = 0;
    }
  }

  const CollisionScene& scene_;
  const PathOptimizerOptions& options_;
  std::size_t n_, steps_ = 0;
  double clearance_, length_ = 0, weight_ = 0, violation_ = 0;
  EdgeChecker& checker_;
  Polyline input_;
  std::vector<const Joint*> joints_;  // of the columns
  std::vector<double> x_;             // (steps + 1) points
  std::vector<double> gradient_, rate_, gradient_q_, q_;
  BandedMatrix H_{0, 0};
  int iterations_ = 0;
  std::vector<Target> targets_;
  std::vector<SceneQuery::Contact> contacts_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

OptimizedPath optimize_path(EdgeChecker& checker, const std::vector<double>& path,
                            const PathOptimizerOptions& options) {
  const ShapesFirst shapes_first(checker, path.data(),
                                 path.size() / at(checker.scene().model().n_q), options.columns);
  return Optimizer(checker, path, options).run(path);
}

}  // namespace robosim
