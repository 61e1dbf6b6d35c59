#include "contact/ties.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"

namespace robosim {
namespace {

enum class Holds { no, tied, yes };

}  // namespace

bool Ties::any(const RowProblem& problem, const RowSizes& sizes, const RowSolution& s) {
  const double slack = tied_velocity * row_scale(sizes, s);
  // Classify each row: active, degenerate or inactive.
  const auto holds = [&](int i) {
    const ConstraintRow& row = problem.rows[i];
    if (row.kind == RowKind::equality) return Holds::yes;
    if (row.kind == RowKind::friction && s.classes[row.normal] != RowClass::clamping)
      return Holds::no;
    const RowBounds bounds = row_bounds(problem, i, s.f.data());
    if (!(bounds.upper > bounds.lower)) return Holds::no;
    const double room = row.is_disc ? bounds.upper - length(s.f[i], s.f[i + 1])
                                    : std::min(s.f[i] - bounds.lower, bounds.upper - s.f[i]);
    const double speed = row.is_disc ? length(s.w[i], s.w[i + 1]) : std::abs(s.w[i]);
    if (s.classes[i] == RowClass::clamping)
      return room * sizes.admittance[i] > slack ? Holds::yes : Holds::tied;
    return speed > slack ? Holds::no : Holds::tied;
  };
  tied_.clear();
  held_.clear();
  for (int b = 0; b < static_cast<int>(problem.blocks.size()); ++b) {
    const RowBlock& block = problem.blocks[b];
    for (int i = block.first_row; i < block.last_row; ++i) {
      const bool is_disc = problem.rows[i].is_disc, gives = problem.rows[i].compliance > 0;
      const Holds how = holds(i);
      if (how == Holds::tied && gives) return true;
      std::vector<Place>& to = how == Holds::tied ? tied_ : held_;
      if (how != Holds::no && !gives) {
        to.push_back({b, i});
        if (is_disc) to.push_back({b, i + 1});
      }
      i += is_disc;
    }
  }
  // Test degenerate rows against the span of the active rows.
  if (tied_.empty()) return false;
  span_.clear(problem.channels);
  const auto rest = [&](const Place& x) {
    return span_.rest(problem, problem.blocks[x.block], problem.rows[x.row]);
  };
  const auto admittance = [&](const Place& x) { return sizes.admittance[x.row]; };
  for (const Place& x : held_) {
    rest(x);
    span_.add(admittance(x));
  }
  return std::any_of(tied_.begin(), tied_.end(),
                     [&](const Place& x) { return RowSpan::is_new(rest(x), admittance(x)); });
}

}  // namespace robosim
