// Boxed complementarity rows by Lemke's algorithm: slow, and sure to end.
//
// As a linear complementarity problem 0 <= x, 0 <= N x + q, x . (N x + q) = 0 with two impulses of
// opposite sign and one slip speed s for every friction row (Stewart and Trinkle, Int. J. Numer.
// Meth. Eng. 39, 1996, with a box in place of their polygon):
//   0 <= f_n  _|_ w_n >= 0,     0 <= f+ _|_ s + w_t >= 0,     0 <= f- _|_ s - w_t >= 0,     0 <= s
//             _|_ mu f_n - f+ - f- >= 0
// N is copositive, so where some motion satisfies what the normals and equalities ask for, Lemke's
// path from the covering ray ends at a solution (Cottle, Pang, Stone, "The Linear Complementarity
// Problem", 1992, theorem 4.4.12), for any friction. Ties are broken lexicographically, so that it
// does not cycle. Cost: some n pivots of n^2 products for n = rows + 2 friction rows.
#pragma once

#include <limits>
#include <vector>

#include "contact/rows.h"

namespace robosim {

class Lemke {
 public:
  // False on a ray (rows that contradict each other), after 4 pivots per variable, or where
  // rounding has lost the path. Each pivot takes the entries of its table from work_left; none are
  // taken, and it counts as spent, where that does not last for one per variable. Impulses are good
  // to some 1e-8; the classes count.
  bool solve(const RowProblem& problem, RowSolution& solution, double& work_left);
  bool solve(const RowProblem& problem, RowSolution& solution) {
    double unbounded = std::numeric_limits<double>::infinity();
    return solve(problem, solution, unbounded);
  }

  int pivots() const { return pivots_; }

 private:
  // What one complementary variable stands for.
  enum class Part { plus, minus, slack };  // impulse along +, along -, the multiplier of a bound
  struct Variable {
    int row;
    Part part;
  };

  std::vector<Variable> variables_;
  // n x (2 n + 2): w, x, the covering variable, q; in terms of the basis.
  std::vector<double> table_;
  std::vector<int> basis_;
  std::vector<double> pushed_, unit_;
  int pivots_ = 0;
};

}  // namespace robosim
