#include "planning/whole_turns.h"

#include <algorithm>
#include <cmath>

#include "base/constants.h"
#include "base/index.h"

namespace robosim {
namespace {

constexpr double turn = 2 * pi;
// [rad] A position that rounding alone puts beyond a limit counts as at the limit.
constexpr double rounding = 1e-9;

int whole(double turns) {
  return static_cast<int>(std::clamp(turns, -1.0 * Turning::most_turns, 1.0 * Turning::most_turns));
}

}  // namespace

int Turning::least(std::size_t k, double x) const {
  if (!periodic[k]) return 0;
  return std::isfinite(lower[k]) ? whole(std::ceil((lower[k] - rounding - x) / turn)) : -1;
}

int Turning::most(std::size_t k, double x) const {
  if (!periodic[k]) return 0;
  return std::isfinite(upper[k]) ? whole(std::floor((upper[k] + rounding - x) / turn)) : 1;
}

WholeTurns::WholeTurns(const Turning& turning, const double* start,
                       const std::vector<double>& goals, const std::vector<char>& may_turn)
    : n_(turning.lower.size()) {
  const int n_goals = static_cast<int>(may_turn.size());
  const auto is_nearer = [](const Copy& a, const Copy& b) {
    return a.squared != b.squared ? a.squared < b.squared : a.q < b.q;
  };
  // Sort the positions of each entry of each goal by distance from the start.
  first_.reserve(at(n_goals) * n_ + 1);
  copies_.reserve(2 * at(n_goals) * n_);
  for (int g = 0; g < n_goals; ++g)
    for (std::size_t k = 0; k < n_; ++k) {
      first_.push_back(copies_.size());
      const double q = goals[at(g) * n_ + k], lower = turning.lower[k], upper = turning.upper[k];
      const bool repeats = may_turn[g] && turning.periodic[k];
      // Count turns from the position nearest to the start.
      const double nearest = repeats ? std::round((start[k] - q) / turn) : 0,
                   middle = q + turn * nearest;
      const int least = repeats ? turning.least(k, middle) : 0,
                most = repeats ? turning.most(k, middle) : 0;
      for (int m = least; m <= most; ++m) {
        const double x = nearest + m == 0 ? q : std::clamp(q + turn * (nearest + m), lower, upper);
        if (x >= lower && x <= upper) copies_.push_back({(x - start[k]) * (x - start[k]), x});
      }
      std::sort(copies_.begin() + static_cast<std::ptrdiff_t>(first_.back()), copies_.end(),
                is_nearer);
    }
  first_.push_back(copies_.size());

  // Push the nearest configuration of each goal. All others are successors of these.
  for (int g = 0; g < n_goals; ++g) {
    bool is_within = true;
    for (std::size_t k = 0; k < n_; ++k) is_within = is_within && n_copies(g, k) > 0;
    if (!is_within) continue;
    ranks_.resize(ranks_.size() + n_);
    push(g, 0);
  }
}

// Push the configuration with the last n_ ranks.
void WholeTurns::push(int goal, int last) {
  Entry entry{0, goal, last, ranks_.size() - n_};
  for (std::size_t k = 0; k < n_; ++k)
    entry.squared += copy(goal, k, ranks_[entry.ranks + k]).squared;
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), is_later);
}

bool WholeTurns::next(Candidate& out) {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), is_later);
  const Entry entry = heap_.back();
  heap_.pop_back();
  ++count_;
  out.goal = entry.goal;
  out.length = std::sqrt(entry.squared);
  out.q.resize(n_);
  for (std::size_t k = 0; k < n_; ++k) out.q[k] = copy(entry.goal, k, ranks_[entry.ranks + k]).q;

  // Push the successors: one entry of q at its next position, not before the entry changed last. So
  // each configuration occurs once, after one that is not farther.
  for (std::size_t k = at(entry.last); k < n_; ++k) {
    const int rank = ranks_[entry.ranks + k] + 1;
    if (rank >= n_copies(entry.goal, k)) continue;
    const std::size_t added = ranks_.size();
    ranks_.resize(added + n_);
    std::copy_n(&ranks_[entry.ranks], n_, &ranks_[added]);
    ranks_[added + k] = static_cast<unsigned char>(rank);
    push(entry.goal, static_cast<int>(k));
  }
  return true;
}

}  // namespace robosim
