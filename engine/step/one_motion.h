// Two axes of a contact that see one motion only.
#pragma once

#include <cmath>
#include <optional>

#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "contact/rows.h"

namespace robosim {

// d . L e of a row of block A and one of block B.
inline double row_product(const RowProblem& problem, const RowBlock& A, const ConstraintRow& row, const RowBlock& B,
                          const ConstraintRow& other) {
  double sum = 0;
  for (int r = 0; r < A.width; ++r)
    for (int c = 0; c < B.width; ++c)
      sum += row.d[r] * problem.L[at((A.first_channel + r) * problem.channels + B.first_channel + c)] * other.d[c];
  return sum;
}

// The direction of one motion, in the axes of two rows across each other.
struct OneMotion {
  double x, y;
};
// Where two rows of a block see one motion only: the lesser of their principal admittances is rounding.
inline std::optional<OneMotion> one_motion(const RowProblem& problem, const RowBlock& block, const ConstraintRow& row,
                                           const ConstraintRow& other) {
  constexpr double rounding_of_pair = 1e-14;
  const double a = row_admittance(problem, block, row), d = row_admittance(problem, block, other);
  const double c = row_product(problem, block, row, block, other);
  const double half = 0.5 * (a - d), root = length(half, c), most = 0.5 * (a + d) + root, least = 0.5 * (a + d) - root;
  if (!(least <= rounding_of_pair * most)) return std::nullopt;
  const double angle = 0.5 * std::atan2(c, half);
  return OneMotion{std::cos(angle), std::sin(angle)};
}

}  // namespace robosim
