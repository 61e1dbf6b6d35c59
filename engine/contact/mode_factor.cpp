#include "contact/mode_factor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/lu.h"
#include "base/linalg/zeros.h"

namespace robosim {

namespace {

constexpr double most_turn = 0.5;           // [rad] of one step
constexpr double resting_velocity = 1e-12;  // relative to row_scale: of a disc below it no direction is to be had
constexpr double turned_across = 1e-14;     // the same, of w_across
constexpr double rounding_of_turns = 1e-13;
constexpr double mode_tolerance = 1e-13;
constexpr double no_effect = 1e-9;  // of a disc that turns, relative to what its impulse could do

}  // namespace

void ModeFactor::turn(const RowProblem& problem) {
  for (const Disc& disc : discs_) turn_disc(&problem.rows[at(disc.row)], disc.angle, &turned_.rows[at(disc.row)]);
}

bool ModeFactor::solve_turned(const RowProblem& problem) {
  is_differentiated_ = false;
  turn(problem);
  if (!factor_.factor(turned_, classes_.data())) return false;
  factor_.solve(turned_, answer_);
  return true;
}

// angle_bar_j += what a loss with this gradient in the turned rows changes by with the angle.
void ModeFactor::add_turning(const RowGradient& g, double* angle_bar) const {
  for (std::size_t j = 0; j < discs_.size(); ++j) {
    const int i = discs_[j].row;
    const ConstraintRow &along = turned_.rows[at(i)], &across = turned_.rows[at(i + 1)];
    angle_bar[j] += dot(&g.d[at(i * most_block_channels)], across.d, most_block_channels) - dot(&g.d[at((i + 1) * most_block_channels)], along.d, most_block_channels);
    angle_bar[j] += g.target[at(i)] * across.target - g.target[at(i + 1)] * along.target;
  }
}

// J = dF/da, row by row, and its factor; a held disc's angle stays. False where it is singular to rounding. As disc i turns its impulse goes across,
// f_along d_across, and the velocities by L U times that; its own axis across turns as well. And whether velocities would go with held discs.
bool ModeFactor::differentiate() {
  if (is_differentiated_ || discs_.empty()) return discs_.empty() || is_regular_;
  is_differentiated_ = true, is_moved_by_held_ = false;
  const int n = static_cast<int>(discs_.size()), k = turned_.channels;
  if (factor_.has_choice()) return is_regular_ = differentiate_by_gradients();
  const auto largest = [](const std::vector<double>& x) {
    return std::transform_reduce(x.begin(), x.end(), 0.0, [](double a, double b) { return std::max(a, b); }, [](double y) { return std::abs(y); });
  };
  const auto block_of = [&](int row) { return std::find_if(turned_.blocks.begin(), turned_.blocks.end(), [row](const RowBlock& b) { return row < b.last_row; }); };
  // Velocities that a disc's impulse could change by itself, across, along the channel that is lightest: of others there may be rounding only.
  const auto could_do = [&](int along) {
    const RowBlock& own = *block_of(along);
    double most = 0, lightest = 0;
    for (int c = 0; c < own.width; ++c) {
      most = std::max(most, std::abs(answer_.f[at(along)] * turned_.rows[at(along + 1)].d[c]));
      lightest = std::max(lightest, turned_.L[at((own.first_channel + c) * (k + 1))]);
    }
    return most * lightest;
  };
  push_rates_.ask_for_all(k);
  factor_.push_rates(turned_, push_rates_);
  make_zeros(moved_, at(k * k));  // (L U)^T
  for (int a = 0; a < k; ++a)
    for (int c = 0; c < k; ++c) add_scaled(push_rates_.by_push[at(a * k + c)], &turned_.L[at(c * k)], k, &moved_[at(a * k)]);
  make_zeros(J_, at(n * n));
  for (int i = 0; i < n; ++i) {
    const int along = discs_[at(i)].row;
    const ConstraintRow &row = turned_.rows[at(along)], &across = turned_.rows[at(along + 1)];
    const RowBlock& own = *block_of(along);
    make_zeros(z_bar_, at(k));
    for (int c = 0; c < own.width; ++c) add_scaled(answer_.f[at(along)] * across.d[c], &moved_[at((own.first_channel + c) * k)], k, z_bar_.data());
    if (discs_[at(i)].is_held) {
      J_[at(i * (n + 1))] = 1;
      is_moved_by_held_ |= largest(z_bar_) > no_effect * could_do(along);
      continue;
    }
    auto block = turned_.blocks.begin();
    for (int j = 0; j < n; ++j) {
      const int other = discs_[at(j)].row;
      if (discs_[at(j)].is_held) continue;
      while (other >= block->last_row) ++block;
      J_[at(j * n + i)] = dot(turned_.rows[at(other + 1)].d, &z_bar_[at(block->first_channel)], block->width);
    }
    J_[at(i * (n + 1))] -= answer_.w[at(along)] - row.compliance * answer_.f[at(along)];
  }
  pivots_.resize(at(n)), row_sizes_.resize(at(n));
  return is_regular_ = lu_factor(J_.data(), n, pivots_.data(), row_sizes_.data()) > mode_tolerance;
}

// The same where b has a choice, which turns with the discs: by one gradient for each of their velocities across.
bool ModeFactor::differentiate_by_gradients() {
  const std::size_t n = discs_.size();
  make_zeros(J_, n * n);
  for (std::size_t j = 0; j < n; ++j) {
    if (discs_[j].is_held) {
      J_[j * (n + 1)] = 1, is_moved_by_held_ = true;  // for all that is known
      continue;
    }
    rates_.set_zero(turned_);
    make_zeros(across_bar_, n), across_bar_[j] = 1;
    add_across_vjp(across_bar_.data());
    add_turning(rates_, &J_[j * n]);
    for (std::size_t i = 0; i < n; ++i)
      if (discs_[i].is_held) J_[j * n + i] = 0;
  }
  pivots_.resize(n), row_sizes_.resize(n);
  return lu_factor(J_.data(), static_cast<int>(n), pivots_.data(), row_sizes_.data()) > mode_tolerance;
}

// To rates_, the gradient of a loss that changes by w_bar with the discs' velocities across.
void ModeFactor::add_across_vjp(const double* w_bar) {
  const int n = static_cast<int>(discs_.size()), k = turned_.channels;
  make_zeros(z_bar_, at(k)), make_zeros(f_bar_, turned_.rows.size());
  for (const RowBlock& block : turned_.blocks) {
    for (int j = 0; j < n; ++j) {
      const int across = discs_[at(j)].row + 1;
      if (discs_[at(j)].is_held || across < block.first_row || across >= block.last_row) continue;
      const ConstraintRow& row = turned_.rows[at(across)];
      rates_.target[at(across)] -= w_bar[j];
      for (int c = 0; c < block.width; ++c) {
        const double y_bar = w_bar[j] * row.d[c];
        rates_.d[at(across * most_block_channels + c)] += w_bar[j] * answer_.y[at(block.first_channel + c)];
        rates_.y_free[at(block.first_channel + c)] += y_bar;
        for (int r = 0; r < k; ++r) {
          if (!rates_.L.empty()) rates_.L[at((block.first_channel + c) * k + r)] += y_bar * answer_.z[at(r)];
          z_bar_[at(r)] += y_bar * turned_.L[at((block.first_channel + c) * k + r)];
        }
      }
    }
  }
  factor_.add_vjp(turned_, answer_, f_bar_.data(), z_bar_.data(), rates_);
}

bool ModeFactor::has_held() const {
  return std::any_of(discs_.begin(), discs_.end(), [](const Disc& disc) { return disc.is_held; });
}

bool ModeFactor::is_differentiable(const RowProblem& problem) {
  const RowProblem& solved = discs_.empty() ? problem : turned_;
  if (factor_.find_choice(solved)) is_differentiated_ = false;
  return differentiate() && !(has_held() && is_moved_by_held_) && factor_.is_determined(solved);
}

bool ModeFactor::solve(const RowProblem& problem, const RowClass* classes, const double* f, RowSolution& s, int most_turns) {
  classes_.assign(classes, classes + problem.size());
  discs_.clear();
  for (int i = 0; i < problem.size(); ++i) {
    const ConstraintRow& row = problem.rows[at(i)];
    if (!row.is_disc) continue;
    if (classes_[at(row.normal)] != RowClass::clamping) classes_[at(i)] = RowClass::separating;
    if (classes_[at(i)] == RowClass::upper) discs_.push_back({i, std::atan2(f[i + 1], f[i]), false});
    if (classes_[at(i)] != RowClass::clamping) classes_[at(i + 1)] = RowClass::separating;
  }
  if (discs_.empty()) {
    if (!factor_.factor(problem, classes_.data())) return false;
    factor_.solve(problem, s);
    return true;
  }
  turned_ = problem;
  if (!solve_turned(problem)) return false;
  const int n = static_cast<int>(discs_.size());
  double least = std::numeric_limits<double>::infinity();
  sizes_.measure(turned_);  // as they are at first
  for (int round = 0; round < most_turns; ++round) {
    const double scale = row_scale(sizes_, answer_);
    double off = 0;
    make_zeros(F_, at(n));
    for (int j = 0; j < n; ++j) {
      Disc& disc = discs_[at(j)];
      const double along = answer_.w[at(disc.row)], across = answer_.w[at(disc.row + 1)];
      disc.is_held = length(along, across) <= resting_velocity * scale;
      if (disc.is_held) continue;
      F_[at(j)] = across;
      off = std::max(off, std::abs(across));
    }
    const bool is_rounding = off <= rounding_of_turns * scale && off >= 0.5 * least;  // near, and no longer nearer
    if (off <= turned_across * scale || is_rounding) break;
    least = std::min(least, off);
    if (!differentiate()) break;
    lu_solve(J_.data(), n, pivots_.data(), F_.data());
    for (int j = 0; j < n; ++j) discs_[at(j)].angle -= std::clamp(F_[at(j)], -most_turn, most_turn);
    if (!solve_turned(problem)) return false;
  }
  s.resize(problem);
  s.f = answer_.f, s.classes = answer_.classes;
  for (const Disc& disc : discs_) {
    turn_disc_back(disc.angle, s.f[at(disc.row)], s.f[at(disc.row + 1)]);
  }
  apply_impulses(problem, s);
  return true;
}

// rates_, from the turned rows to those that they were turned from.
void ModeFactor::add_turned_back(RowGradient& g) {
  for (const Disc& disc : discs_) {
    double *const x = &rates_.d[at(disc.row * most_block_channels)], *const y = x + most_block_channels;
    for (int i = 0; i < most_block_channels; ++i) turn_disc_back(disc.angle, x[i], y[i]);
    turn_disc_back(disc.angle, rates_.target[at(disc.row)], rates_.target[at(disc.row + 1)]);
  }
  const auto add = [](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add(rates_.y_free, g.y_free), add(rates_.L, g.L), add(rates_.d, g.d), add(rates_.target, g.target), add(rates_.compliance, g.compliance);
  add(rates_.lower, g.lower), add(rates_.upper, g.upper), add(rates_.mu, g.mu);
}

void ModeFactor::add_dependence_vjp(const RowProblem& problem, const RowSolution& s, RowGradient& g) {
  if (discs_.empty()) return factor_.add_dependence_vjp(problem, s, g);
  rates_.set_zero(turned_, !g.L.empty());
  factor_.add_dependence_vjp(turned_, answer_, rates_);
  add_turned_back(g);
}

bool ModeFactor::rates(const RowProblem& problem, ImpulseRates& out) {
  if (discs_.empty()) factor_.rates(problem, out);
  return discs_.empty();
}

void ModeFactor::add_vjp(const RowProblem& problem, const RowSolution& s, const double* f_bar, const double* z_bar, RowGradient& g) {
  if (discs_.empty()) return factor_.add_vjp(problem, s, f_bar, z_bar, g);
  const int n = static_cast<int>(discs_.size()), m = problem.size();
  const bool turns = differentiate();

  // At fixed angles, then what the angles do.
  f_bar_.assign(f_bar, f_bar + m);
  make_zeros(angle_bar_, at(n));
  for (int j = 0; j < n; ++j) {
    const int i = discs_[at(j)].row;
    turn_disc_back(-discs_[at(j)].angle, f_bar_[at(i)], f_bar_[at(i + 1)]);
    angle_bar_[at(j)] = answer_.f[at(i)] * f_bar_[at(i + 1)];
  }
  rates_.set_zero(turned_, !g.L.empty());
  factor_.add_vjp(turned_, answer_, f_bar_.data(), z_bar, rates_);
  add_turning(rates_, angle_bar_.data());
  if (turns) lu_solve_transposed(J_.data(), n, pivots_.data(), angle_bar_.data());

  // da = -J^-1 dF: minus angle_bar . F is a loss as well, of the velocities across.
  if (turns) {
    for (double& x : angle_bar_) x = -x;
    add_across_vjp(angle_bar_.data());
  }

  add_turned_back(g);
}

}  // namespace robosim
