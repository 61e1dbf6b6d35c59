// Rows that are left out of an island before it is solved, as they cannot do anything by
// themselves.
//
// Of closures those that the ones before them imply, as the third of a point that closes a loop in
// the plane: they could only repeat these or, by what is apart in rounding or in its measures,
// contradict them. Of contacts friction along or about an axis that nothing can move, as across the
// plane in which all of a flat robot moves: its impulse would be decided by rounding. Of two axes
// that see one motion only that motion's is left; what the axis would turn by beside it when the
// contact turns is along what cannot move, so that the derivative does not miss it.
#include <algorithm>
#include <utility>

#include "base/index.h"
#include "step/assembly.h"
#include "step/constraints/constraint_kinds.h"
#include "step/one_motion.h"

namespace robosim {
namespace {

// Rounding that is left of an axis, as a part of the largest admittance of its block.
constexpr double rounding_of_axis = 1e-24;

bool repeats(const StepIsland::Block& block) {
  bool does = false;
  visit_kind(block, [&](auto kind) { does = kind.repeats; });
  return does;
}

// Turns the first of two axes along what of them can move, where that is one motion only.
bool turn_to_motion(StepIsland& island, std::size_t b, int i) {
  RowProblem& problem = island.problem;
  const RowBlock& block = problem.blocks[b];
  ConstraintRow& first = problem.rows[at(i)];
  const std::optional<OneMotion> motion = one_motion(problem, b, first, problem.rows[at(i + 1)]);
  if (!motion) return false;
  for (int k = 0; k < block.width; ++k)
    first.d[k] = motion->x * first.d[k] + motion->y * problem.rows[at(i + 1)].d[k];
  for (int k = 0; k < 2; ++k)
    island.rows[at(i)].on[k] =
        motion->x * island.rows[at(i)].on[k] + motion->y * island.rows[at(i + 1)].on[k];
  return true;
}

}  // namespace

// In one pass, in which what stays moves up.
void RowAssembly::leave_out_rows(StepIsland& island) {
  RowProblem& problem = island.problem;
  int next = 0;  // where the next row goes
  bool has_span = false;
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    RowBlock& block = problem.blocks[b];
    const bool closes = repeats(island.blocks[b]), touches = is_of<Contact>(island.blocks[b]);
    if (closes && !std::exchange(has_span, true)) span_.clear(problem.channels);
    const int first = block.first_row, last = block.last_row;
    // Of the block's rows: an axis along which nothing moves has rounding only.
    admittances_.clear();
    for (int i = first; (closes || touches) && i < last; ++i)
      admittances_.push_back(row_admittance(problem, b, problem.rows[at(i)]));
    const double most =
        admittances_.empty() ? 0 : *std::max_element(admittances_.begin(), admittances_.end());
    places_.assign(at(last - first), -1);  // of the block's rows that stay
    block.first_row = next;
    for (int i = first; i < last; ++i) {
      ConstraintRow& row = problem.rows[at(i)];
      const std::size_t own = at(i - first);
      bool stays = true;
      if (closes)
        span_.rest(problem, block, row), stays = span_.add(most);
      else if (touches && row.kind == RowKind::friction)
        stays = admittances_[own] > rounding_of_axis * most;
      if (!stays) {
        const bool is_of_disc_before =
            i > first && problem.rows[at(i - 1)].is_disc && places_[own - 1] >= 0;
        if (is_of_disc_before) problem.rows[at(next - 1)].is_disc = false;
        continue;
      }
      const auto role = [&](int k) { return island.rows[at(k)].role; };
      const bool is_pair =
          touches && i + 1 < last &&
          ((role(i) == Contact::friction_1 && role(i + 1) == Contact::friction_2) ||
           (role(i) == Contact::rolling_1 && role(i + 1) == Contact::rolling_2));
      const bool is_one_motion = is_pair && turn_to_motion(island, b, i);
      if (is_one_motion) row.is_disc = false;
      if (row.normal >= 0) row.normal = places_[at(row.normal - first)];
      places_[own] = next;
      if (next != i) problem.rows[at(next)] = row, island.rows[at(next)] = island.rows[at(i)];
      ++next;
      i += is_one_motion;
    }
    block.last_row = next;
  }
  problem.rows.erase(problem.rows.begin() + next, problem.rows.end()),
      island.rows.erase(island.rows.begin() + next, island.rows.end());
}

}  // namespace robosim
