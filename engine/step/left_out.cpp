// Rows that are left out of an island before it is solved, as they cannot do anything by themselves.
//
// Of closures those that the ones before them imply, as the third of a point that closes a loop in the plane: they could only repeat these or, by
// what is apart in rounding or in its measures, contradict them. Of contacts friction along or about an axis that nothing can move, as across the
// plane in which all of a flat robot moves: its impulse would be decided by rounding. Of two axes that see one motion only that motion's is left; what
// the axis would turn by beside it when the contact turns is along what cannot move, so that the derivative does not miss it.
#include <algorithm>
#include <cmath>

#include "step/step.h"

namespace robosim {
namespace {

// Of the largest admittance of the block, where rounding leaves its square of an axis; and beside that of another axis, where it leaves itself.
constexpr double rounding_of_axis = 1e-24, rounding_of_pair = 1e-14;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool is_closure(const StepIsland::Block& block) { return block.closure >= 0 || block.equality >= 0; }

void erase_row(StepIsland& island, std::size_t block, int i) {
  RowProblem& problem = island.problem;
  if (problem.rows[at(i)].kind == RowKind::friction && is_of_disc(problem, i)) problem.rows[at(problem.rows[at(i)].is_disc ? i : i - 1)].is_disc = false;
  problem.rows.erase(problem.rows.begin() + i), island.rows.erase(island.rows.begin() + i);
  for (ConstraintRow& row : problem.rows)
    if (row.normal > i) --row.normal;
  --problem.blocks[block].last_row;
  for (std::size_t c = block + 1; c < problem.blocks.size(); ++c) --problem.blocks[c].first_row, --problem.blocks[c].last_row;
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

void Stepper::leave_out_rows(StepIsland& island) {
  RowProblem& problem = island.problem;
  if (!island.blocks.empty() && is_closure(island.blocks[0])) span_.clear(problem.channels);  // closures come first
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    const RowBlock& block = problem.blocks[b];
    const bool closes = is_closure(island.blocks[b]);
    if (!closes && island.blocks[b].manifold < 0) continue;
    admittances_.clear();  // of the block's rows: an axis along which nothing moves has rounding only
    for (int i = block.first_row; i < block.last_row; ++i) admittances_.push_back(row_admittance(problem, block, problem.rows[at(i)]));
    const double most = admittances_.empty() ? 0 : *std::max_element(admittances_.begin(), admittances_.end());
    std::size_t place = 0;  // of row i among them
    for (int i = block.first_row; i < block.last_row; ++place) {
      const ConstraintRow& row = problem.rows[at(i)];
      bool stays = true;
      if (closes) span_.rest(problem, block, row), stays = span_.add(most);
      else if (row.kind == RowKind::friction) stays = admittances_[place] > rounding_of_axis * most;
      if (!stays) {
        erase_row(island, b, i);
        continue;
      }
      const RowSource source = island.rows[at(i)].source;
      const bool is_pair = i + 1 < block.last_row && ((source == RowSource::friction_1 && island.rows[at(i + 1)].source == RowSource::friction_2) ||
                                                      (source == RowSource::rolling_1 && island.rows[at(i + 1)].source == RowSource::rolling_2));
      if (is_pair && turn_to_motion(island, b, i, admittances_[place], admittances_[place + 1])) erase_row(island, b, i + 1), ++place;
      ++i;
    }
  }
}

}  // namespace robosim
