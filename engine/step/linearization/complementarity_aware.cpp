// Gradients beyond the active set: a direction to try where the gradient itself is zero (Werling et
// al., RSS 2021, section IV-D).
//
// A body at rest on the floor stays there under a small pull, so the gradient with respect to the
// pull is zero, and an optimizer that has to lift the body never starts. Likewise, a body in flight
// has no gradient with respect to a platform that could push it. The gradient of the step is
// therefore computed once more, with another active set of normals and limits. It is chosen by the
// effect on the loss of a unit of their velocity, caused by an impulse,
//   dl/dw = A^+ J M^-1 dl/dv+,   A = J M^-1 J^T of all of them together        (A^+ least squares)
// A row with a negative dl/dw is taken to separate. A row with a positive dl/dw is taken to be
// active, with sticking friction. The gradient with the larger |dl/dv|^2 + |dl/dtau|^2 / dt is
// kept. The result is not a derivative, and is flagged like a one-sided derivative.
//
// The rule `each` judges every row by itself. A ball on a platform that an actuator lifts then
// leaves the platform: the ball should rise, so limit and contact separate, and the effect of the
// platform's force on the ball is lost again. No rule can know which contacts are needed to push
// (section IV-D says so), so the user can choose the other rule, `together`. Contacts of two moving
// bodies are then active and stick, pushing or not (the remedy of Figure 4), and are equalities of
// A like the closures. Contacts with the world and limits are judged as above, each by its effect
// on all bodies that keep together.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/index.h"
#include "base/linalg/zeros.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/normal_law.h"
#include "step/linearization/complementarity_aware.h"

namespace robosim {
namespace {

constexpr double rounding_of_wish = 1e-10;  // relative to the largest dl/dw

double size_of(const StepGradient& g, double dt) {
  double v = 0, tau = 0;
  for (const double x : g.v) v += x * x;
  for (const double x : g.tau) tau += x * x;
  return v + tau / dt;
}

// True for rows that are not judged: speed limits that do not push. They have rows at any speed.
bool is_far(const StepIsland& island, std::size_t i) {
  return is_of<SpeedLimit>(island.rows[i]) && island.solution.classes[i] == RowClass::separating;
}

}  // namespace

// Find the impulses that would cancel the velocities M^-1 dl/dv+ of normals and limits: minus
// dl/dw. Closures, and contacts that keep together, stay active. Return false if there is no
// solution.
bool ComplementarityAwareVjp::find_wishes(StepIsland& island, const std::vector<double>& v_bar) {
  const RowProblem& problem = island.problem;
  const std::size_t k = at(problem.channels);
  probe_ = problem;
  keeps_.assign(problem.rows.size(), false);
  if (step_.options.complementarity_aware == ComplementarityAwareId("together"))
    for (std::size_t b = 0; b < island.blocks.size(); ++b)
      // Body 0 is the world.
      if (is_of<Contact>(island.blocks[b]) && island.blocks[b].a > 0 && island.blocks[b].b > 0)
        std::fill(keeps_.begin() + problem.blocks[b].first_row,
                  keeps_.begin() + problem.blocks[b].last_row, true);
  wanted_.assign(problem.rows.size(), RowClass::separating);
  for (std::size_t i = 0; i < probe_.rows.size(); ++i) {
    ConstraintRow& row = probe_.rows[i];
    row.target = 0;
    if (is_far(island, i)) continue;
    if (keeps_[i] || row.kind == RowKind::unilateral ||
        (row.kind == RowKind::equality && row.compliance == 0))
      wanted_[i] = RowClass::clamping;
  }
  make_zeros(probe_.y_free, k);
  for (std::size_t r = 0; r < v_bar.size(); ++r)
    for (std::size_t c = 0; c < k; ++c) probe_.y_free[c] += island.Y[r * k + c] * v_bar[r];
  return island.other_solved->solve_classes(probe_, wanted_.data(), island.other);
}

// True if the loss wants a normal of an impact to separate.
bool ComplementarityAwareVjp::wants_apart(StepIsland& met, const std::vector<double>& v_bar) {
  if (!find_wishes(met, v_bar)) return false;
  double most = 0;
  for (const double x : met.other.f) most = std::max(most, std::abs(x));
  for (std::size_t r = 0; r < met.rows.size(); ++r)
    if (is_of<Contact>(met.rows[r], Contact::normal) && met.other.f[r] > rounding_of_wish * most &&
        met.solution.f[r] > 0)
      return true;
  return false;
}

// Choose the other active set of an island, and solve its rows for it. Return false if it is the
// same or has no solution.
bool ComplementarityAwareVjp::choose_classes(StepIsland& island, const std::vector<double>& v_bar) {
  const RowProblem& problem = island.problem;
  if (!find_wishes(island, v_bar)) return false;
  const std::vector<double>& wish = island.other.f;
  double most = 0;
  for (const double x : wish) most = std::max(most, std::abs(x));
  wanted_ = island.solution.classes;
  bool any = false;
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    const ConstraintRow& row = problem.rows[i];
    if (keeps_[i]) {
      wanted_[i] = RowClass::clamping;
    } else if (is_far(island, i)) {
      continue;
    } else if (row.kind == RowKind::unilateral) {
      if (std::abs(wish[i]) > rounding_of_wish * most)
        wanted_[i] = wish[i] > 0 ? RowClass::separating : RowClass::clamping;
    } else if (row.kind == RowKind::friction &&
               wanted_[row.normal] != island.solution.classes[row.normal]) {
      wanted_[i] = wanted_[row.normal];
    }
    any |= wanted_[i] != island.solution.classes[i];
  }
  return any && island.other_solved->solve_classes(problem, wanted_.data(), island.other);
}

// Add the velocity change from an island's solution to that of its other active set.
void ComplementarityAwareVjp::add_change(const StepIsland& island, std::vector<double>& u) {
  const std::size_t k = at(island.problem.channels);
  for (std::size_t r = 0; r < u.size(); ++r)
    for (std::size_t c = 0; c < k; ++c)
      u[r] += island.Y[r * k + c] * (island.other.z[c] - island.solution.z[c]);
}

// Exchange the solutions of others_ for those of their other active sets. Positions are not
// corrected for the latter.
void ComplementarityAwareVjp::exchange_others() {
  for (std::size_t k = 0; k < others_.size(); ++k) {
    const auto [i, island] = others_[k];
    add_change(*island, step_.u);
    add_change(*island, step_.u_corrected);
    if (island == &step_.islands[i]) add_change(*island, step_.u_rested);
    std::swap(island->solution, island->other);
    std::swap(island->solved, island->other_solved);
    island->fill_change();
    const auto found =
        std::lower_bound(step_.corrected_islands.begin(), step_.corrected_islands.end(), i);
    if (found == step_.corrected_islands.end() || *found != i ||
        (k > 0 && others_[k - 1].first == i))
      continue;
    StepIsland& corrections = step_.corrections[found - step_.corrected_islands.begin()];
    corrections.is_left_out = !corrections.is_left_out;
    const std::size_t channels = at(corrections.problem.channels);
    for (std::size_t r = 0; r < step_.u_corrected.size(); ++r)
      for (std::size_t c = 0; c < channels; ++c)
        step_.u_corrected[r] -= corrections.Y[r * channels + c] * corrections.solution.z[c];
  }
}

void ComplementarityAwareVjp::choose(const std::vector<double>& v_bar,
                                     const std::function<void(StepGradient&)>& vjp,
                                     StepGradient& gradient) {
  // Choose the other active sets of islands and impacts, and solve for them.
  others_.clear();
  for (int i = 0; i < step_.n_islands; ++i) {
    if (StepIsland& island = step_.islands[i];
        island.solved->has_classes() && choose_classes(island, v_bar))
      others_.emplace_back(i, &island);
    Impacts& impacts = step_.impacts[i];
    // The impacts of an island separate together or not at all, because later impacts depend on
    // earlier ones.
    bool any = false, is_limited = false;
    for (int n = 0; n < impacts.n; ++n) {
      Impact& met = impacts.each[n];
      is_limited |= met.is_limited();
      if (is_limited || !met.solved->has_classes()) break;
      any |= wants_apart(met, v_bar);
    }
    if (!any || is_limited) continue;
    for (int n = 0; n < impacts.n; ++n) {
      Impact& met = impacts.each[n];
      wanted_.assign(met.rows.size(), RowClass::separating);
      for (std::size_t r = 0; r < met.rows.size(); ++r)
        if (met.problem.rows[r].kind == RowKind::equality) wanted_[r] = RowClass::clamping;
      if (met.other_solved->solve_classes(met.problem, wanted_.data(), met.other))
        others_.emplace_back(i, &met);
    }
  }
  if (others_.empty()) return;
  // Gradient of the other active sets.
  true_u_ = step_.u;
  true_corrected_ = step_.u_corrected;
  true_rested_ = step_.u_rested;
  exchange_others();
  fill_way(step_);
  vjp(other_);
  exchange_others();
  // Restore the velocities to the bit.
  step_.u = true_u_;
  step_.u_corrected = true_corrected_;
  step_.u_rested = true_rested_;
  fill_way(step_);
  // Keep the larger gradient.
  if (!(size_of(other_, step_.options.dt) > size_of(gradient, step_.options.dt))) return;
  std::swap(gradient, other_);
  gradient.one_sided |= OneSided::other_classes;
}

}  // namespace robosim
