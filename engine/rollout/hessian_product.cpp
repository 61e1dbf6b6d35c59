// Hessian-vector products of a step: the change of its gradient along a direction of state and
// control.
//
// Let x = (q, v, control) be the arguments of a step, x0 the given ones, and l a loss,
//   l(x) = q_bar . (q_next(x) - q_next(x0)) + v_bar . v_next(x)
// The product is the second derivative of l along the direction d and each argument,
//   product = d/de grad l (x0 + e d)   at e = 0,
// where + and - are integrate and difference (dynamics/configuration.h). l is a function of
// coordinates of the tangent spaces at q and q_next, in which its Hessian is symmetric. Axes rotate
// along d. q_bar is therefore expressed in the axes of each q_next, and each gradient in those at q
// (configuration_products.h).
//
// Gradients of steps are exact (step/linearization/step_vjp.cpp), so a single difference of
// gradients approximates a second derivative. Central differences over five distances are
// extrapolated to zero distance, by Richardson's rule in Neville's tableau. Each number takes the
// entry that agrees best with its neighbors. The difference from these neighbors is its error
// estimate. See Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Adv. Eng. Software 4(2),
// 1982.
//
// All points must be steps by one formula (step/step_signature.h). If one is not, the distances are
// reduced. If this does not help, the product is flagged. The product is also flagged if the
// gradient has a kink within one formula, as where the flat of a rounded box meets its edge. The
// gradient is continuous there but its slopes differ, and all central differences agree on their
// mean. Cost: eleven steps with their gradients.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/index.h"
#include "dynamics/configuration_products.h"
#include "dynamics/mass_factor.h"
#include "rollout/simulator.h"

namespace robosim {
namespace {

constexpr int distances = 5;
constexpr double farthest = 4e-3;  // [m or rad] largest displacement
constexpr double shrink = 2;       // ratio of consecutive distances
constexpr double draw_nearer = 8;  // reduction of all distances after a failed attempt
constexpr int attempts = 5;
constexpr double epsilon = std::numeric_limits<double>::epsilon();

double largest(const std::vector<double>& x) {
  double most = 0;
  for (const double y : x) most = std::max(most, std::abs(y));
  return most;
}

// x + by * along. A null x stands for zeros.
std::vector<double> moved(const double* x, const std::vector<double>& along, double by) {
  std::vector<double> out(along);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = (x ? x[k] : 0.0) + by * along[k];
  return out;
}

// Extrapolated derivatives of many numbers from their differences over decreasing distances.
class Tableau {
 public:
  explicit Tableau(std::size_t n) : best(n), error(n, std::numeric_limits<double>::infinity()) {
    for (std::vector<double>& x : column_) x.resize(n);
  }
  // Add the difference quotients over one distance. rounding: estimate of their rounding errors.
  void add(const std::vector<double>& quotient, const std::vector<double>& rounding) {
    for (std::size_t i = 0; i < quotient.size(); ++i) {
      double newest = quotient[i], factor = 1;
      if (rows_ == 0) best[i] = newest;
      if (std::isnan(newest)) error[i] = newest;
      for (int j = 0; j <= rows_; ++j) {
        const double before = std::exchange(column_[j][i], newest);
        if (j == rows_) break;
        factor *= shrink * shrink;
        const double next = newest + (newest - before) / (factor - 1);
        const double off =
            std::max({std::abs(next - newest), std::abs(next - before), rounding[i]});
        if (off < error[i]) {
          error[i] = off;
          best[i] = next;
        }
        newest = next;
      }
    }
    ++rows_;
  }

  std::vector<double> best, error;

 private:
  int rows_ = 0;
  std::vector<double> column_[distances];
};

// Difference between the slopes on both sides, from values at one distance. For smooth functions it
// is proportional to the distance.
std::vector<double> bends(const std::vector<double>& high, const std::vector<double>& here,
                          const std::vector<double>& low, double distance) {
  std::vector<double> out(here.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = std::abs(high[k] - 2 * here[k] + low[k]) / distance;
  return out;
}

// True if these differences do not vanish with the distance. rounding: that of the last one.
bool is_bent(const std::vector<double>& first, const std::vector<double>& last,
             const std::vector<double>& slopes, double rounding) {
  // Share of the first difference that may remain (a sixteenth if smooth), and share of the slope.
  constexpr double most_left = 0.25, least = 1e-6;
  for (std::size_t k = 0; k < last.size(); ++k)
    if (last[k] > most_left * first[k] && last[k] > least * std::abs(slopes[k]) + rounding)
      return true;
  return false;
}

}  // namespace

// Approximate largest displacement [m or rad] in a step along a direction. Forces move bodies as if
// they were free, and motors move them no farther than to their targets.
double Simulator::reach(const StepGradient& d, const ControlView& control) const {
  const Model& m = world().model();
  const double dt = stepper_->options().dt * substeps_;
  const auto moved_by = [&](std::vector<double> forces) {
    stepper_->integrator().solve(stepper_->data(), forces.data());
    return dt * dt * largest(forces);
  };
  std::vector<double> pulls(at(m.n_v));
  for (std::size_t k = 0; k < pulls.size(); ++k)
    pulls[k] = world().motor(static_cast<int>(k)).velocity_gain * d.v_target[k];
  for (const World::Coordinate& c : world().coordinates())
    if (control.q_target) pulls[c.v] += world().motor(c.v).position_gain * d.q_target[c.q];
  const double to_targets =
      std::max(control.q_target ? largest(d.q_target) : 0.0, dt * largest(d.v_target));
  return std::max(
      {largest(d.q), dt * largest(d.v), moved_by(d.tau), std::min(to_targets, moved_by(pulls))});
}

void Simulator::hvp(const StateView& state, const ControlView& control, const TangentView& next_bar,
                    const StepGradient& direction, StepGradient& product, StepGradient& error) {
  const Model& m = world().model();
  std::vector<int> formula, other_formula;
  RolloutReport report;
  // Gradient at the given point, and the formula of the step.
  take(state, control, report, &formula);
  const std::vector<double> q_next(at_.q.end() - m.n_q, at_.q.end());
  StepGradient here, there;
  go_back(control, next_bar, true, here);
  const auto numbers_of = [&](StepGradient& g) {
    std::vector<double> numbers;
    for_each_number([&](double, double x) { numbers.push_back(x); }, here, g);
    return numbers;
  };
  std::vector<double> q_moved(at(m.n_q)), q_bar(at(m.n_v));
  // Gradient at a distance along the direction, in the axes at q; empty if the step is by another
  // formula.
  const auto gradient_at = [&](double distance) -> std::vector<double> {
    const std::vector<double> way = moved(nullptr, direction.q, distance),
                              v_moved = moved(state.v, direction.v, distance);
    const std::vector<double> tau = moved(control.tau, direction.tau, distance),
                              v_target = moved(control.v_target, direction.v_target, distance);
    const std::vector<double> q_target = moved(control.q_target, direction.q_target, distance);
    const ControlView drive{tau.data(), control.q_target ? q_target.data() : nullptr,
                            v_target.data()};
    integrate(m, state.q, way.data(), q_moved.data());
    take({q_moved.data(), v_moved.data()}, drive, report, &other_formula);
    if (other_formula != formula) return {};
    difference_vjp(m, q_next.data(), at_.q.data() + at_.q.size() - q_next.size(), next_bar.q,
                   q_bar.data());
    go_back(drive, {q_bar.data(), next_bar.v}, true, there);
    integrate_vjp(m, state.q, way.data(), there.q.data(), there.q.data());
    return numbers_of(there);
  };
  // Extrapolate the differences. Retry with smaller distances if a step is by another formula, or
  // if there is a kink.
  const std::vector<double> size = numbers_of(here);
  const double reach_of_one = reach(direction, control);
  Tableau tableau(size.size());
  std::vector<double> first_bends, last_bends;
  bool is_found = reach_of_one == 0;  // zero direction
  if (is_found) std::fill(tableau.error.begin(), tableau.error.end(), 0.0);
  double first = farthest / reach_of_one;
  for (int attempt = 0; attempt < attempts && !is_found; ++attempt, first /= draw_nearer) {
    is_found = true;
    tableau = Tableau(size.size());
    double distance = first;
    for (int i = 0; i < distances && is_found; ++i, distance /= shrink) {
      std::vector<double> quotient = gradient_at(distance), rounding(size);
      const std::vector<double> low = quotient.empty() ? quotient : gradient_at(-distance);
      is_found = !low.empty();
      if (!is_found) break;
      last_bends = bends(quotient, size, low, distance);
      if (i == 0) first_bends = last_bends;
      for (std::size_t k = 0; k < low.size(); ++k) {
        quotient[k] = (quotient[k] - low[k]) / (2 * distance);
        rounding[k] = epsilon * std::abs(size[k]) / distance;
      }
      tableau.add(quotient, rounding);
    }
    const double nearest = first / std::pow(shrink, distances - 1),
                 noise = stepper_->options().solver.kind().rounding * epsilon;
    if (is_found)
      is_found = !is_bent(first_bends, last_bends, tableau.best, noise * largest(size) / nearest);
  }
  if (!is_found)
    for (auto* x : {&tableau.best, &tableau.error})
      std::fill(x->begin(), x->end(), std::numeric_limits<double>::quiet_NaN());
  // Results, flagged if no attempt succeeded.
  const auto fill = [&](StepGradient& to, const std::vector<double>& from) {
    to = here;
    to.one_sided |= one_sided_if(!is_found, OneSided::switches);
    auto next = from.begin();
    for_each_number([&](double& x) { x = *next++; }, to);
  };
  fill(product, tableau.best);
  fill(error, tableau.error);
  taken_ = 0;
}

}  // namespace robosim
