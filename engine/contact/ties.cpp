#include "contact/ties.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

// Of a row's admittance: what is left of a row that others imply.
constexpr double rounding_of_span = 1e-9;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

enum class Holds { no, tied, yes };

}  // namespace

bool Ties::any(const RowProblem& problem, const RowSolution& s) {
  const std::size_t k = at(problem.channels);
  const double slack = tied_velocity * row_scale(problem, s);
  basis_.clear(), weighted_.clear();
  rest_.resize(k), product_.resize(k);
  // What is left in rest_ of a row beside the basis, and its square.
  const auto project = [&](const Place& x) {
    const RowBlock& block = problem.blocks[at(x.block)];
    std::fill(rest_.begin(), rest_.end(), 0.0);
    std::copy_n(problem.rows[at(x.row)].d, block.width, &rest_[at(block.first_channel)]);
    for (std::size_t b = 0; b < basis_.size(); b += k) {
      double along = 0;
      for (std::size_t c = 0; c < k; ++c) along += weighted_[b + c] * rest_[c];
      for (std::size_t c = 0; c < k; ++c) rest_[c] -= along * basis_[b + c];
    }
    double square = 0;
    for (std::size_t r = 0; r < k; ++r) {
      product_[r] = 0;
      for (std::size_t c = 0; c < k; ++c) product_[r] += problem.L[r * k + c] * rest_[c];
      square += rest_[r] * product_[r];
    }
    return square;
  };
  const auto admittance = [&](const Place& x) { return row_admittance(problem, problem.blocks[at(x.block)], problem.rows[at(x.row)]); };
  const auto holds = [&](const RowBlock& block, int i) {
    const ConstraintRow& row = problem.rows[at(i)];
    if (row.kind == RowKind::equality) return Holds::yes;
    if (row.kind == RowKind::friction && s.classes[at(row.normal)] != RowClass::clamping) return Holds::no;
    const RowBounds bounds = row_bounds(problem, i, s.f.data());
    if (!(bounds.upper > bounds.lower)) return Holds::no;
    const double room = row.is_disc ? bounds.upper - std::hypot(s.f[at(i)], s.f[at(i + 1)]) : std::min(s.f[at(i)] - bounds.lower, bounds.upper - s.f[at(i)]);
    const double speed = row.is_disc ? std::hypot(s.w[at(i)], s.w[at(i + 1)]) : std::abs(s.w[at(i)]);
    if (s.classes[at(i)] == RowClass::clamping) return room * row_admittance(problem, block, row) > slack ? Holds::yes : Holds::tied;
    return speed > slack ? Holds::no : Holds::tied;
  };
  tied_.clear(), held_.clear();
  for (int b = 0; b < static_cast<int>(problem.blocks.size()); ++b) {
    const RowBlock& block = problem.blocks[at(b)];
    for (int i = block.first_row; i < block.last_row; ++i) {
      const bool is_disc = problem.rows[at(i)].is_disc, gives = problem.rows[at(i)].compliance > 0;
      const Holds how = holds(block, i);
      if (how == Holds::tied && gives) return true;
      std::vector<Place>& to = how == Holds::tied ? tied_ : held_;
      if (how != Holds::no && !gives) {
        to.push_back({b, i});
        if (is_disc) to.push_back({b, i + 1});
      }
      i += is_disc;
    }
  }
  if (tied_.empty()) return false;
  for (const Place& x : held_) {
    const double square = project(x);
    if (square <= rounding_of_span * admittance(x)) continue;
    const double scale = 1 / std::sqrt(square);
    for (std::size_t c = 0; c < k; ++c) basis_.push_back(scale * rest_[c]), weighted_.push_back(scale * product_[c]);
  }
  return std::any_of(tied_.begin(), tied_.end(), [&](const Place& x) { return project(x) > rounding_of_span * admittance(x); });
}

}  // namespace robosim
