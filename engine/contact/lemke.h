// Boxed complementarity problem solved by Lemke's algorithm: slow, but certain to end.
//
// The linear complementarity problem is 0 <= x, 0 <= N x + q, x . (N x + q) = 0, with two impulses
// of opposite sign and one slip speed s for every friction row (Stewart and Trinkle, Int. J. Numer.
// Meth. Eng. 39, 1996, with a box in place of their polygon):
//   0 <= f_n  _|_ w_n >= 0,     0 <= f+ _|_ s + w_t >= 0,     0 <= f- _|_ s - w_t >= 0
//   0 <= s    _|_ mu f_n - f+ - f- >= 0
// N is copositive. So if some motion satisfies the normals and equalities, Lemke's path from the
// covering ray ends at a solution (Cottle, Pang, Stone, "The Linear Complementarity Problem", 1992,
// theorem 4.4.12), for any friction. Equal quotients are resolved lexicographically, which prevents
// cycles. Cost: about n pivots of n^2 products for n = rows + 2 friction rows.
#pragma once

#include <limits>
#include <vector>

#include "contact/rows.h"

namespace robosim {

class Lemke {
 public:
  // Return false on a ray (rows that contradict each other), after 4 pivots per variable, or if
  // rounding has lost the path. Each pivot takes the number of entries of its table from work_left.
  // If work_left is too small for one pivot per variable, no pivots are taken and the work counts
  // as spent. Impulses are accurate to about 1e-8; the modes are the result.
  bool solve(const RowProblem& problem, RowSolution& solution, double& work_left);
  bool solve(const RowProblem& problem, RowSolution& solution) {
    double unbounded = std::numeric_limits<double>::infinity();
    return solve(problem, solution, unbounded);
  }

  int pivots() const { return pivots_; }

 private:
  // Meaning of a complementary variable.
  enum class Part { plus, minus, slack };  // impulse along +, along -, the multiplier of a bound
  struct Variable {
    int row;
    Part part;
  };

  std::vector<Variable> variables_;
  // n x (2 n + 2): columns w, x, the covering variable, q; in terms of the basis.
  std::vector<double> table_;
  std::vector<int> basis_;
  std::vector<double> pushed_, unit_;
  int pivots_ = 0;
};

}  // namespace robosim
