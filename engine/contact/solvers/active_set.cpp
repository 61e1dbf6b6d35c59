// `lcp`: the active set that solves the rows to rounding (mode_solver.h). Its linear system also
// provides the derivatives (class_factor.h). Rows without such an active set are handed over to the
// convex solver, whose time does not depend on the number of redundant rows. The status is then
// `rough`, with the impulses and derivatives of the convex solver (convex_solver.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/index.h"
#include "contact/convex_solver.h"
#include "contact/mode_solver.h"
#include "contact/row_solvers.h"
#include "contact/ties.h"

namespace robosim {
namespace {

// Impulses that differ by more than this part of the largest do not belong to the modes.
constexpr double same_impulses = 1e-6;

// Return true if a normal at rest has no impulse but could have one with friction that slides.
// Other impulses of the same law then lead to other velocities.
bool could_slide_otherwise(const RowProblem& problem, const RowSizes& sizes, const RowSolution& s) {
  const double slack = tied_velocity * row_scale(sizes, s);
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    const ConstraintRow& row = problem.rows[i];
    if (row.kind != RowKind::friction || !(row.mu > 0) || std::abs(s.w[i]) <= slack) continue;
    if (s.classes[row.normal] != RowClass::clamping && std::abs(s.w[row.normal]) <= slack)
      return true;
  }
  return false;
}

class ActiveSet final : public SolvedRows {
 public:
  // Take the factor that solved the rows, and leave another one for the next solve.
  void take(ModeSolver& solver, bool is_solved) {
    is_factored_ = has_classes_ = is_solved;
    is_handed_over_ = false;
    if (is_solved) solver.exchange_classes(factor_);
  }

  SolverReport hand_over(const RowProblem& problem, RowSolution& solution, RowSizes& sizes) {
    if (!convex_) convex_ = std::make_unique<ConvexSolver>();
    is_handed_over_ = true;
    return convex_->solve(problem, solution, sizes);
  }

  bool solve_near(const RowProblem& problem, const RowSolution& near, RowSolution& solution) {
    is_handed_over_ = false;
    return is_factored_ = has_classes_ = factor_->solve(problem, near.classes.data(), solution);
  }

  // If the impulses do not come from a factor, factor the system of their modes. If its impulses
  // differ, the derivative is not reliable.
  OneSided differentiate(const RowProblem& problem, const RowSizes& sizes,
                         const RowSolution& solution) override {
    if (is_handed_over_) return convex_->differentiate(problem, sizes, solution);
    if (!is_factored_) has_classes_ = factor_->solve(problem, solution.classes.data(), again_);
    if (!has_classes_) return OneSided::unsolved;
    const OneSided one_sided =
        one_sided_if(!factor_->is_differentiable(problem), OneSided::undetermined) |
        one_sided_if(ties_.any(problem, sizes, solution), OneSided::tie);
    if (is_factored_) return one_sided;
    double largest = 0, off = 0;
    for (std::size_t r = 0; r < again_.f.size(); ++r) {
      largest = std::max(largest, std::abs(again_.f[r]));
      off = std::max(off, std::abs(again_.f[r] - solution.f[r]));
    }
    return one_sided | one_sided_if(off > same_impulses * largest, OneSided::unsolved) |
           one_sided_if(could_slide_otherwise(problem, sizes, solution), OneSided::undetermined);
  }

  void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar,
               const double* z_bar, RowGradient& gradient) override {
    if (is_handed_over_)
      convex_->add_vjp(problem, solution, f_bar, z_bar, gradient);
    else if (has_classes_)
      factor_->add_vjp(problem, solution, f_bar, z_bar, gradient);
  }
  bool sees_delassus() const override {
    return is_handed_over_ || (has_classes_ && factor_->has_choice());
  }
  bool rates(const RowProblem& problem, ImpulseRates& out) override {
    if (!has_classes_ || factor_->has_choice()) return false;
    factor_->rates(problem, out);
    return true;
  }
  bool has_dependences(const RowProblem& problem) const override {
    return has_classes_ && factor_->has_dependences(problem);
  }
  void add_dependence_vjp(const RowProblem& problem, const RowSolution& solution,
                          RowGradient& gradient) override {
    factor_->add_dependence_vjp(problem, solution, gradient);
  }

  bool has_classes() const override { return has_classes_; }
  bool solve_classes(const RowProblem& problem, const RowClass* classes,
                     RowSolution& solution) override {
    is_handed_over_ = false;
    return has_classes_ = factor_->solve(problem, classes, solution);
  }

  void append_outcomes(std::vector<int>& out) const override {
    if (is_handed_over_) out.push_back(ModeSolver::n_attempts);
  }

 private:
  std::unique_ptr<ClassFactor> factor_ = std::make_unique<ClassFactor>();
  // The factor is that of the modes; and the solver has computed it.
  bool has_classes_ = false, is_factored_ = false;
  std::unique_ptr<ConvexSolver> convex_;  // created when rows are handed over first
  // The rows were handed over: their modes are not those of the factor.
  bool is_handed_over_ = false;
  RowSolution again_;
  Ties ties_;
};

class ActiveSetSolver final : public RowSolver {
 public:
  std::unique_ptr<SolvedRows> make_solved() const override { return std::make_unique<ActiveSet>(); }

  SolverReport solve(const RowProblem& problem, RowSolution& solution, RowSizes& sizes,
                     SolvedRows& solved) override {
    ActiveSet& own = static_cast<ActiveSet&>(solved);
    SolverReport report = modes_.solve(problem, solution);
    own.take(modes_, report.status == SolverStatus::solved);
    modes_.exchange_sizes(sizes);
    if (report.status != SolverStatus::rough) return report;
    const SolverReport other = own.hand_over(problem, solution, sizes);
    report.status = std::max(other.status, SolverStatus::rough);
    report.residual = other.residual;
    report.attempt = ModeSolver::n_attempts;
    report.class_changes += other.class_changes;
    return report;
  }

  bool solve_near(const RowProblem& problem, const RowSolution& near, RowSolution& solution,
                  RowSizes& sizes, SolvedRows& solved) override {
    sizes.measure(problem);
    return static_cast<ActiveSet&>(solved).solve_near(problem, near, solution) &&
           row_residual(problem, sizes, solution) <= solved_residual;
  }

 private:
  ModeSolver modes_;
};

}  // namespace

std::unique_ptr<RowSolver> make_active_set_solver(const SolverOptions&) {
  return std::make_unique<ActiveSetSolver>();
}

const char* active_set_attempt(int attempt) {
  return attempt < ModeSolver::n_attempts ? ModeSolver::attempts[attempt].name : "convex";
}

}  // namespace robosim
