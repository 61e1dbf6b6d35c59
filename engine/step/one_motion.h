// Test whether two axes of a contact can move along one direction only.
#pragma once

#include <cmath>
#include <optional>

#include "contact/rows.h"

namespace robosim {

// Direction of the only motion, as components along two perpendicular rows.
struct OneMotion {
  double x, y;
};
// Direction of the only motion of two rows of a block, or none if both can move independently. The
// smaller principal admittance of the rows must be rounding.
inline std::optional<OneMotion> one_motion(const RowProblem& problem, std::size_t block,
                                           const ConstraintRow& row, const ConstraintRow& other) {
  constexpr double rounding_of_pair = 1e-14;
  const double a = row_admittance(problem, block, row), d = row_admittance(problem, block, other);
  const double c = row_product(problem, block, row, block, other);
  const double half = 0.5 * (a - d), root = length(half, c), most = 0.5 * (a + d) + root,
               least = 0.5 * (a + d) - root;
  if (!(least <= rounding_of_pair * most)) return std::nullopt;
  const double angle = 0.5 * std::atan2(c, half);
  return OneMotion{std::cos(angle), std::sin(angle)};
}

}  // namespace robosim
