#include "contact/row_diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/index.h"

namespace robosim {
std::vector<double> row_admittances(const RowProblem& problem) {
  const std::size_t m = problem.rows.size(), k = at(problem.channels);
  std::vector<double> A(m * m, 0.0), push(k, 0.0), moved(k), room;
  for (const RowBlock& from : problem.blocks)
    for (int i = from.first_row; i < from.last_row; ++i) {
      std::fill(moved.begin(), moved.end(), 0.0);  // L d_i
      std::copy_n(problem.rows[i].d, from.width, &push[from.first_channel]);
      add_motion(problem, push.data(), moved.data(), room);
      std::fill_n(&push[from.first_channel], from.width, 0.0);
      for (const RowBlock& to : problem.blocks)
        for (int j = to.first_row; j < to.last_row; ++j)
          for (int c = 0; c < to.width; ++c)
            A[at(i) * m + at(j)] += problem.rows[j].d[c] * moved[to.first_channel + c];
      A[at(i) * (m + 1)] += problem.rows[i].compliance;
    }
  return A;
}

double switch_distance(const RowProblem& problem, const RowSizes& sizes, const RowSolution& s,
                       int i) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const ConstraintRow& row = problem.rows[i];
  if (row.kind == RowKind::equality || (row.kind == RowKind::friction && !(s.f[row.normal] > 0)))
    return never;
  const bool is_of_pair = is_of_disc(problem, i);
  const int first = is_of_pair && !row.is_disc ? i - 1 : i;
  if (s.classes[first] != RowClass::clamping)
    return is_of_pair ? length(s.w[first], s.w[first + 1]) : std::abs(s.w[i]);
  const RowBounds bounds = row_bounds(problem, i, s.f.data());
  const double room = is_of_pair ? bounds.upper - length(s.f[first], s.f[first + 1])
                                 : std::min(s.f[i] - bounds.lower, bounds.upper - s.f[i]);
  return std::max(room, 0.0) * (is_of_pair
                                    ? std::max(sizes.admittance[first], sizes.admittance[first + 1])
                                    : sizes.admittance[i]);
}

}  // namespace robosim
