// `pgs`: projected Gauss-Seidel with a fixed number of sweeps. Its derivative is that of the
// iterations (projected_gauss_seidel.h).
#include "contact/projected_gauss_seidel.h"
#include "contact/row_solvers.h"

namespace robosim {
namespace {

class Sweeps final : public SolvedRows {
 public:
  OneSided differentiate(const RowProblem&, const RowSizes&, const RowSolution&) override {
    return one_sided_if(sweeps.is_tied(), OneSided::tie);
  }
  void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar,
               const double* z_bar, RowGradient& gradient) override {
    sweeps.add_vjp(problem, solution, f_bar, z_bar, gradient);
  }
  bool sees_delassus() const override { return true; }
  // Any update counts, as later updates depend on it.
  bool follows_lower_bounds(const RowProblem& problem, const RowSolution&) const override {
    const std::vector<RowClass>& outcomes = sweeps.outcomes();
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (outcomes[i] == RowClass::lower &&
          problem.rows[i % problem.rows.size()].kind == RowKind::box)
        return true;
    return false;
  }
  void append_outcomes(std::vector<int>& out) const override {
    for (const RowClass c : sweeps.outcomes()) out.push_back(static_cast<int>(c));
  }

  ProjectedGaussSeidel sweeps;  // with the tape of its updates
};

class SweepSolver final : public RowSolver {
 public:
  explicit SweepSolver(const SolverOptions& options) : options_(options) {}

  std::unique_ptr<SolvedRows> make_solved() const override { return std::make_unique<Sweeps>(); }

  // The status is always `solved`, as the number of sweeps is fixed; the residual measures
  // the error.
  SolverReport solve(const RowProblem& problem, RowSolution& solution, RowSizes& sizes,
                     SolvedRows& solved) override {
    static_cast<Sweeps&>(solved).sweeps.solve(problem, options_.sweeps, solution);
    sizes.measure(problem);
    SolverReport report;
    report.residual = row_residual(problem, sizes, solution);
    return report;
  }

 private:
  SolverOptions options_;
};

}  // namespace

std::unique_ptr<RowSolver> make_sweep_solver(const SolverOptions& options) {
  return std::make_unique<SweepSolver>(options);
}

}  // namespace robosim
