#include "step/step.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/impacts.h"
#include "step/constraints/normal_law.h"

namespace robosim {
namespace {

void require(bool holds, const char* what, double value, const char* wanted) {
  if (!holds) throw InputError(message(what, " is ", value, "; ", wanted));
}

bool are_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
}

// Set the positive targets of unilateral and box rows and all targets of equalities to zero. Return
// true if any target changed.
bool relax(StepIsland& island) {
  bool any = false;
  for (std::size_t i = 0; i < island.rows.size(); ++i) {
    ConstraintRow& row = island.problem.rows[i];
    if (row.compliance > 0) continue;  // compliant rows cannot contradict others
    if (row.kind == RowKind::equality ? row.target != 0
                                      : row.kind != RowKind::friction && row.target > 0) {
      row.target = 0;
      any = true;
    }
  }
  return any;
}

// Return true if the position targets differ from what the velocity already satisfies, or if their
// derivative differs from that of the velocity targets.
bool asks_for_any(const StepIsland& corrections, const StepIsland& island) {
  for (const RowBlock& block : corrections.problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow &row = island.problem.rows[corrections.rows[i].corrects],
                          &own = corrections.problem.rows[i];
      if (corrections.rows[i].keeping == Keeping::none && own.target == row.target) continue;
      if (own.kind != RowKind::unilateral ||
          dot(own.d, &corrections.problem.y_free[block.first_channel], block.width) < own.target)
        return true;
    }
  return false;
}

// Initial guess for the active set of the corrections: rows that carry an impulse stay active.
void expect(const StepIsland& corrections, RowSolution& expected) {
  expected.resize(corrections.problem);
  for (std::size_t i = 0; i < corrections.rows.size(); ++i) {
    const bool pushes = corrections.problem.rows[i].kind != RowKind::unilateral;
    expected.classes[i] = pushes ? RowClass::clamping : RowClass::separating;
    expected.f[i] = 0;
  }
}

}  // namespace

Stepper::Stepper(const World& world, const StepOptions& options)
    : data_(std::make_unique<StepData>(world, options)),
      integrator_(options.integrator.kind().make(world.model())),
      assembly_(*data_, *integrator_),
      solver_(options.solver.kind().make(options.solver_options)),
      linearization_(*data_, *integrator_),
      next_(StateLayout::of(world.model()), 1) {
  require(options.dt > 0 && std::isfinite(options.dt), "dt", options.dt,
          "it must be positive and finite [s]");
  require(options.solver_options.sweeps >= 1, "sweeps", options.solver_options.sweeps,
          "it must be at least 1");
  require(options.erp >= 0 && options.erp <= 1, "erp", options.erp, "it must lie between 0 and 1");
  require(options.recovery_speed > 0 && std::isfinite(options.recovery_speed), "recovery_speed",
          options.recovery_speed, "it must be positive and finite [m/s or rad/s]");
  require(options.margin >= 0 && std::isfinite(options.margin), "margin", options.margin,
          "it must be finite, and at least 0 [m]");
  require(options.limit_margin >= 0 && std::isfinite(options.limit_margin), "limit_margin",
          options.limit_margin, "it must be finite, and at least 0");
  require(options.restitution_threshold >= 0, "restitution_threshold",
          options.restitution_threshold, "it must be at least 0 [m/s]");
  if (options.complementarity_aware != ComplementarityAwareId("none") &&
      !options.solver.kind().knows_classes)
    throw InputError(
        message("complementarity-aware gradients need a solver that knows classes, as 'lcp' does; "
                "this one is '",
                options.solver.kind().name, "'"));
}

// Solve the rows of one island. near: a solution of the same rows with other targets, or null. Rows
// that contradict each other are relaxed and solved again.
void Stepper::solve(StepIsland& island, StepReport& report, const RowSolution* near) {
  island.is_relaxed = false;
  if (!island.solved) {
    island.solved = solver_->make_solved();
    island.other_solved = solver_->make_solved();
  }
  if (near &&
      solver_->solve_near(island.problem, *near, island.solution, island.sizes, *island.solved))
    return;
  const auto solve_rows = [&] {
    return solver_->solve(island.problem, island.solution, island.sizes, *island.solved);
  };
  const auto take = [&](const SolverReport& from) {
    report.class_changes += from.class_changes;
    report.pivots += from.pivots;
    report.attempt = std::max(report.attempt, from.attempt);
  };
  SolverReport solved = solve_rows();
  take(solved);
  if (solved.status == SolverStatus::inconsistent && relax(island)) {
    island.is_relaxed = true;
    solved = solve_rows();
    take(solved);
  }
  const StepStatus status = solved.status == SolverStatus::inconsistent ? StepStatus::inconsistent
                            : island.is_relaxed                         ? StepStatus::relaxed
                            : solved.status == SolverStatus::rough      ? StepStatus::rough
                            : solved.status == SolverStatus::basic      ? StepStatus::basic
                                                                        : StepStatus::solved;
  report.status = std::max(report.status, status);
  report.residual = std::max(report.residual, solved.residual);
}

// Solve the impulses of all islands, apply them to the velocity, and solve the impacts.
void Stepper::solve(StepReport& report) {
  StepData& step = *data_;
  step.u = step.v_free;
  for (int i = 0; i < step.n_islands; ++i) {
    StepIsland& island = step.islands[i];
    solve(island, report);
    assembly_.fill_change(island);
    island.add_change(1, step.u);
    report.rows += island.problem.size();
    for (std::size_t r = 0; r < island.rows.size(); ++r)
      report.untimed_bounces += is_of<Contact>(island.rows[r], Contact::normal) &&
                                island.rows[r].law == NormalLaw::bounce && island.solution.f[r] > 0;
  }
  step.u_rested = step.u;
  for (int i = 0; i < step.n_islands; ++i) solve_impacts(step.islands[i], step.impacts[i], report);
  report.islands = step.n_islands;
  report.manifolds = static_cast<int>(step.manifolds.size());
  for (const SceneQuery::PairManifold& pair : step.manifolds)
    report.contacts += pair.manifold.n_points;
}

// Solve the impacts of one island in the order of their times. An impact that would gain energy is
// solved again without restitution, and its impulses are limited.
void Stepper::solve_impacts(const StepIsland& island, Impacts& impacts, StepReport& report) {
  if (impacts.all.rows.empty()) return;
  begin_impacts(island, impacts);
  while (Impact* const met = next_impact(*data_, impacts)) {
    solve(*met, report);
    if (gained(*met) > 0) {
      solve(divide(*met), report);
      limit(*met);
    }
    take_impact(*met, impacts);
    assembly_.fill_change(*met);
    met->add_change(1, data_->u);
    report.rows += met->problem.size();
    report.coupled_bounces += coupled_bounces(*met);
  }
}

// Solve the position corrections, and compute the displacement per dt.
void Stepper::correct(const StepInput& in, StepReport& report) {
  StepData& step = *data_;
  step.corrected_islands.clear();
  step.u_corrected = step.u;
  step.takes_back = true;
  for (int i = 0; i < step.n_islands; ++i) {
    const std::size_t next = step.corrected_islands.size();
    if (step.corrections.size() <= next) step.corrections.resize(next + 1);
    StepIsland& corrections = step.corrections[next];
    const StepIsland& island = step.islands[i];
    assembly_.assemble_corrections(island, step.impacts[i], in, corrections);
    if (!asks_for_any(corrections, island)) continue;
    step.corrected_islands.push_back(i);
    expect(corrections, expected_);
    solve(corrections, report, &expected_);
    assembly_.fill_change(corrections);
    corrections.add_change(1, step.u_corrected);
  }
  step.takes_back = false;
  fill_way(step);
}

// Advance the state. Return false, and keep the state as it is, if the next state is not finite.
bool Stepper::advance(const StepInput& in, const StateSpan& next) {
  StepData& step = *data_;
  integrator_->advance(step, in, next_[0]);
  bool is_taken = true;
  StateParts::for_each([&](auto part) { is_taken = is_taken && are_finite(part(next_)); });
  // Substeps write to the arrays that they read.
  copy(is_taken ? next_[0] : static_cast<const StateView&>(in), next_.layout, next);
  if (!is_taken) {
    step.manifolds.clear();
    step.corrected_islands.clear();
    step.n_islands = 0;
    step.is_diverged = true;
  }
  return is_taken;
}

// Derivatives need X, Y and L, which are not computed for rows that are solved by the factor F.
// Fill them in for islands, impacts and corrections.
Linearization& Stepper::linearized() {
  StepData& step = *data_;
  for (int i = 0; i < step.n_islands; ++i) {
    StepIsland& island = step.islands[i];
    if (!island.X.empty()) continue;
    assembly_.fill_matrices(island);
    Impacts& impacts = step.impacts[i];
    for (int n = 0; n < impacts.n; ++n) {
      Impact& met = impacts.each[n];
      met.take_matrices(island);
      if (!met.is_limited()) continue;
      for (StepIsland& part : met.parts) part.take_matrices(island);
    }
  }
  for (std::size_t k = 0; k < step.corrected_islands.size(); ++k)
    if (step.corrections[k].X.empty())
      step.corrections[k].take_matrices(step.islands[step.corrected_islands[k]]);
  return linearization_;
}

StepReport Stepper::step(const StateView& state, const ControlView& control,
                         const StateSpan& next) {
  StepReport report;
  if (data_->size() == 0) return copy(state, next_.layout, next), report;
  const StepInput in{state, control};
  data_->is_diverged = false;
  data_->times_impacts =
      data_->options.bounce == BounceId("time_of_impact") ||
      (data_->options.bounce == BounceId("automatic") && world().has_restitution());
  linearization_.reset();

  // Free motion and contacts.
  integrator_->move_freely(*data_, in);
  search_.find(*data_, in);
  // Solve until the motion overruns no points without rows.
  for (int solves = 1;; ++solves) {
    assembly_.assemble(in);
    solve(report);
    correct(in, report);
    // Other solutions do not predict the motion reliably.
    const bool is_solved = report.status < StepStatus::relaxed;
    if (!is_solved || solves == ContactSearch::most_solves || !search_.add_overrun(*data_)) break;
    report = StepReport{};
  }
  if (!advance(in, next)) report = StepReport{.status = StepStatus::diverged};
  return report;
}

}  // namespace robosim
