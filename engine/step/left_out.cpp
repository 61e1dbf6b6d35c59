// Removes rows from an island that cannot have any effect of their own, before it is solved.
//
// For closures these are rows that earlier rows imply, such as the third row of a point that closes
// a loop in the plane. An implied row could only repeat the earlier rows or, because of rounding or
// errors in the dimensions, contradict them. For contacts these are friction rows along or about an
// axis that nothing can move, as across the plane of a planar robot. Rounding would determine their
// impulse. If two axes can move along one direction only, one row along this direction remains.
// When the contact rotates, this axis turns only towards directions that cannot move, so the
// derivative misses nothing.
#include <algorithm>
#include <utility>

#include "base/index.h"
#include "step/assembly.h"
#include "step/constraints/constraint_kinds.h"
#include "step/one_motion.h"

namespace robosim {
namespace {

// Admittance of an axis that counts as rounding, relative to the largest one of its block.
constexpr double rounding_of_axis = 1e-24;

bool repeats(const StepIsland::Block& block) {
  bool does = false;
  visit_kind(block, [&](auto kind) { does = kind.repeats; });
  return does;
}

// Direct the first of two axes along the only direction of motion, if there is only one. Return
// true if there is only one.
bool turn_to_motion(StepIsland& island, std::size_t b, int i) {
  RowProblem& problem = island.problem;
  const RowBlock& block = problem.blocks[b];
  ConstraintRow& first = problem.rows[i];
  const std::optional<OneMotion> motion = one_motion(problem, b, first, problem.rows[i + 1]);
  if (!motion) return false;
  for (int k = 0; k < block.width; ++k)
    first.d[k] = motion->x * first.d[k] + motion->y * problem.rows[i + 1].d[k];
  for (int k = 0; k < 2; ++k)
    island.rows[i].on[k] = motion->x * island.rows[i].on[k] + motion->y * island.rows[i + 1].on[k];
  return true;
}

}  // namespace

// Compact the rows in one pass.
void RowAssembly::leave_out_rows(StepIsland& island) {
  RowProblem& problem = island.problem;
  int next = 0;  // index of the next remaining row
  bool has_span = false;
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    RowBlock& block = problem.blocks[b];
    const bool closes = repeats(island.blocks[b]), touches = is_of<Contact>(island.blocks[b]);
    if (closes && !std::exchange(has_span, true)) span_.clear(problem.channels);
    const int first = block.first_row, last = block.last_row;
    // Admittances of the block's rows. An axis along which nothing moves has an admittance of
    // rounding only.
    admittances_.clear();
    for (int i = first; (closes || touches) && i < last; ++i)
      admittances_.push_back(row_admittance(problem, b, problem.rows[i]));
    const double most =
        admittances_.empty() ? 0 : *std::max_element(admittances_.begin(), admittances_.end());
    places_.assign(last - first, -1);  // new index of each row of the block, or -1
    block.first_row = next;
    for (int i = first; i < last; ++i) {
      ConstraintRow& row = problem.rows[i];
      const std::size_t own = at(i - first);
      // Test whether the row remains.
      bool stays = true;
      if (closes) {
        span_.rest(problem, block, row);
        stays = span_.add(most);
      } else if (touches && row.kind == RowKind::friction)
        stays = admittances_[own] > rounding_of_axis * most;
      if (!stays) {
        const bool is_of_disc_before =
            i > first && problem.rows[i - 1].is_disc && places_[own - 1] >= 0;
        if (is_of_disc_before) problem.rows[next - 1].is_disc = false;
        continue;
      }
      // Merge two axes that can move along one direction only, and move the row up.
      const auto role = [&](int k) { return island.rows[k].role; };
      const bool is_pair =
          touches && i + 1 < last &&
          ((role(i) == Contact::friction_1 && role(i + 1) == Contact::friction_2) ||
           (role(i) == Contact::rolling_1 && role(i + 1) == Contact::rolling_2));
      const bool is_one_motion = is_pair && turn_to_motion(island, b, i);
      if (is_one_motion) row.is_disc = false;
      if (row.normal >= 0) row.normal = places_[row.normal - first];
      places_[own] = next;
      if (next != i) {
        problem.rows[next] = row;
        island.rows[next] = island.rows[i];
      }
      ++next;
      i += is_one_motion;
    }
    block.last_row = next;
  }
  problem.rows.erase(problem.rows.begin() + next, problem.rows.end());
  island.rows.erase(island.rows.begin() + next, island.rows.end());
}

}  // namespace robosim
