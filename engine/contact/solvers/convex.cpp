// `convex`: a few convex problems, insensitive to redundant rows (convex_solver.h).
#include "contact/convex_solver.h"
#include "contact/row_solvers.h"

namespace robosim {
namespace {

class ConvexRows final : public SolvedRows {
 public:
  OneSided differentiate(const RowProblem& problem, const RowSizes& sizes,
                         const RowSolution& solution) override {
    return solver.differentiate(problem, sizes, solution);
  }
  void add_vjp(const RowProblem& problem, const RowSolution& solution, const double* f_bar,
               const double* z_bar, RowGradient& gradient) override {
    solver.add_vjp(problem, solution, f_bar, z_bar, gradient);
  }
  bool sees_delassus() const override { return true; }

  ConvexSolver solver;  // with the factors of its last problem
};

class ConvexRowSolver final : public RowSolver {
 public:
  std::unique_ptr<SolvedRows> make_solved() const override {
    return std::make_unique<ConvexRows>();
  }

  SolverReport solve(const RowProblem& problem, RowSolution& solution, RowSizes& sizes,
                     SolvedRows& solved) override {
    return static_cast<ConvexRows&>(solved).solver.solve(problem, solution, sizes);
  }
};

}  // namespace

std::unique_ptr<RowSolver> make_convex_solver(const SolverOptions&) {
  return std::make_unique<ConvexRowSolver>();
}

}  // namespace robosim
