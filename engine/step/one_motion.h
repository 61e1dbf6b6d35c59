// Two axes of a contact that see one motion only.
#pragma once

#include <cmath>
#include <optional>

#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "contact/rows.h"

namespace robosim {

// d . L e of two rows of a block.
inline double row_product(const RowProblem& problem, const RowBlock& block, const ConstraintRow& row, const ConstraintRow& other) {
  double sum = 0;
  for (int r = 0; r < block.width; ++r)
    for (int c = 0; c < block.width; ++c)
      sum += row.d[r] * problem.L[at((block.first_channel + r) * problem.channels + block.first_channel + c)] * other.d[c];
  return sum;
}

// Its direction in the axes of two rows across each other, where there is one motion only: one of the two principal admittances is rounding.
struct OneMotion {
  double x, y;
};
inline std::optional<OneMotion> one_motion(const RowProblem& problem, const RowBlock& block, const ConstraintRow& row, const ConstraintRow& other) {
  constexpr double rounding_of_pair = 1e-14;
  const double a = row_product(problem, block, row, row), d = row_product(problem, block, other, other), c = row_product(problem, block, row, other);
  const double half = 0.5 * (a - d), root = length(half, c), most = 0.5 * (a + d) + root, least = 0.5 * (a + d) - root;
  if (!(least <= rounding_of_pair * most)) return std::nullopt;
  const double angle = 0.5 * std::atan2(c, half);
  return OneMotion{std::cos(angle), std::sin(angle)};
}

}  // namespace robosim
