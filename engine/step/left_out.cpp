// Rows that are left out of an island before it is solved, as they cannot do anything by themselves.
//
// Of closures those that the ones before them imply, as the third of a point that closes a loop in the plane: they could only repeat these or, by
// what is apart in rounding or in its measures, contradict them. Of contacts friction along or about an axis that nothing can move, as across the
// plane in which all of a flat robot moves: its impulse would be decided by rounding. Of two axes that see one motion only that motion's is left; what
// the axis would turn by beside it when the contact turns is along what cannot move, so that the derivative does not miss it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/index.h"
#include "step/assembly.h"
#include "step/constraints/constraint_kinds.h"

namespace robosim {
namespace {

// Of the largest admittance of the block, where rounding leaves its square of an axis; and beside that of another axis, where it leaves itself.
constexpr double rounding_of_axis = 1e-24, rounding_of_pair = 1e-14;

bool repeats(const StepIsland::Block& block) {
  bool does = false;
  visit_kind(block, [&](auto kind) { does = kind.repeats; });
  return does;
}

// d_i . L d_j of two rows of a block.
double product(const RowProblem& problem, const RowBlock& block, int i, int j) {
  double sum = 0;
  for (int r = 0; r < block.width; ++r)
    for (int c = 0; c < block.width; ++c)
      sum += problem.rows[at(i)].d[r] * problem.L[at((block.first_channel + r) * problem.channels + block.first_channel + c)] * problem.rows[at(j)].d[c];
  return sum;
}

// Turns the first of two axes, whose own admittances are a and d, along what of them can move, where that is one motion only.
bool turn_to_motion(StepIsland& island, std::size_t b, int i, double a, double d) {
  RowProblem& problem = island.problem;
  const RowBlock& block = problem.blocks[b];
  const double c = product(problem, block, i, i + 1);
  const double half = 0.5 * (a - d), root = length(half, c), most = 0.5 * (a + d) + root, least = 0.5 * (a + d) - root;
  if (!(least <= rounding_of_pair * most)) return false;
  const double angle = 0.5 * std::atan2(c, half), x = std::cos(angle), y = std::sin(angle);
  ConstraintRow& first = problem.rows[at(i)];
  for (int k = 0; k < block.width; ++k) first.d[k] = x * first.d[k] + y * problem.rows[at(i + 1)].d[k];
  for (int k = 0; k < 2; ++k) island.rows[at(i)].on[k] = x * island.rows[at(i)].on[k] + y * island.rows[at(i + 1)].on[k];
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
    admittances_.clear();  // of the block's rows: an axis along which nothing moves has rounding only
    for (int i = first; (closes || touches) && i < last; ++i) admittances_.push_back(row_admittance(problem, block, problem.rows[at(i)]));
    const double most = admittances_.empty() ? 0 : *std::max_element(admittances_.begin(), admittances_.end());
    places_.assign(at(last - first), -1);  // of the block's rows that stay
    block.first_row = next;
    for (int i = first; i < last; ++i) {
      ConstraintRow& row = problem.rows[at(i)];
      const std::size_t own = at(i - first);
      bool stays = true;
      if (closes) span_.rest(problem, block, row), stays = span_.add(most);
      else if (touches && row.kind == RowKind::friction) stays = admittances_[own] > rounding_of_axis * most;
      if (!stays) {
        const bool is_of_disc_before = i > first && problem.rows[at(i - 1)].is_disc && places_[own - 1] >= 0;
        if (is_of_disc_before) problem.rows[at(next - 1)].is_disc = false;
        continue;
      }
      const auto role = [&](int k) { return island.rows[at(k)].role; };
      const bool is_pair = touches && i + 1 < last && ((role(i) == Contact::friction_1 && role(i + 1) == Contact::friction_2) ||
                                                       (role(i) == Contact::rolling_1 && role(i + 1) == Contact::rolling_2));
      const bool is_one_motion = is_pair && turn_to_motion(island, b, i, admittances_[own], admittances_[own + 1]);
      if (is_one_motion) row.is_disc = false;
      if (row.normal >= 0) row.normal = places_[at(row.normal - first)];
      places_[own] = next;
      if (next != i) problem.rows[at(next)] = row, island.rows[at(next)] = island.rows[at(i)];
      ++next;
      i += is_one_motion;
    }
    block.last_row = next;
  }
  problem.rows.erase(problem.rows.begin() + next, problem.rows.end()), island.rows.erase(island.rows.begin() + next, island.rows.end());
}

}  // namespace robosim
