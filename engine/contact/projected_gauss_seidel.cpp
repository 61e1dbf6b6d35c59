#include "contact/projected_gauss_seidel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/linalg/small_matrices.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"

namespace robosim {

namespace {

// Relative to the numbers that are compared.
constexpr double tie_tolerance = 1e-14;

void add(double* a, double factor, const double* b, int n) { add_scaled(factor, b, n, a); }

}  // namespace

void ProjectedGaussSeidel::prepare(const RowProblem& problem) {
  const int m = problem.size(), k = problem.channels;
  make_zeros(u_, static_cast<std::size_t>(m * k));
  a_.resize(m);
  inverse_.resize(m);
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[i];
      double* u = u_.data() + static_cast<std::ptrdiff_t>(i) * k;
      for (int c = 0; c < block.width; ++c)
        add(u, row.d[c],
            problem.L.data() + static_cast<std::ptrdiff_t>(block.first_channel + c) * k, k);
      const double a = a_[i] = dot(row.d, u + block.first_channel, block.width);
      inverse_[i] = 1 / (a + row.compliance);
    }
  }
}

// Return the impulse of another active row of the same coordinate with the same target, or minus
// infinity if there is none. A row that such a row holds at rest stays at its bound: both sides of
// the bound are then equivalent.
double ProjectedGaussSeidel::held_still(const RowProblem& problem, const RowBlock& block, int i,
                                        const RowSolution& s) {
  for (int j = block.first_row; j < block.last_row && block.width == 1; ++j) {
    const std::size_t k = static_cast<std::size_t>(j);
    const ConstraintRow &row = problem.rows[i], &other = problem.rows[k];
    if (j != i && s.classes[k] == RowClass::clamping && other.compliance == 0 &&
        row.d[0] * other.target == other.d[0] * row.target)
      return std::abs(s.f[k]);
  }
  return -std::numeric_limits<double>::infinity();
}

template <bool records>
void ProjectedGaussSeidel::sweep(const RowProblem& problem, int sweeps, RowSolution& s) {
  const int k = problem.channels;
  for (int n = 0; n < sweeps; ++n) {
    for (const RowBlock& block : problem.blocks) {
      for (int i = block.first_row; i < block.last_row; ++i) {
        const std::size_t at = static_cast<std::size_t>(i);
        const ConstraintRow& row = problem.rows[at];
        const double old = s.f[at], give = a_[at] + row.compliance;
        RowClass outcome = RowClass::separating;
        // Unconstrained update.
        if (give > 0) {
          const double w = dot(row.d, y_.data() + block.first_channel, block.width) - row.target +
                           row.compliance * old;
          const double change = w * inverse_[at], free = old - change;
          const RowBounds bounds = row_bounds(problem, i, s.f.data());
          // Friction of a point without normal impulse is zero.
          const bool is_held = row.kind == RowKind::friction && !(s.f[row.normal] > 0);
          bool stays = false;  // at its bound, on either side of it by rounding
          if constexpr (records) {
            const double rounding = tie_tolerance * (std::abs(old) + std::abs(change));
            stays = (old == bounds.lower || old == bounds.upper) &&
                    std::abs(change) <=
                        tie_tolerance * (std::abs(old) + held_still(problem, block, i, s));
            is_tied_ |= !is_held && !stays &&
                        (std::abs(free - bounds.lower) <= rounding ||
                         std::abs(free - bounds.upper) <= rounding);
          }
          // Clip the impulse and move the channels.
          if (is_held)
            s.f[at] = 0;
          else if (free > bounds.upper || (stays && old == bounds.upper)) {
            s.f[at] = bounds.upper;
            outcome = RowClass::upper;
          } else if (free < bounds.lower || stays) {
            s.f[at] = bounds.lower;
            outcome = row.kind == RowKind::unilateral ? RowClass::separating : RowClass::lower;
          } else {
            s.f[at] = free;
            outcome = RowClass::clamping;
          }
          add(y_.data(), s.f[at] - old, u_.data() + static_cast<std::ptrdiff_t>(i) * k, k);
        }
        s.classes[at] = outcome;
        if constexpr (records) {
          old_f_.push_back(old);
          outcomes_.push_back(outcome);
        }
      }
    }
  }
}

void ProjectedGaussSeidel::start(const RowProblem& problem, RowSolution& s) {
  prepare(problem);
  s.resize(problem);
  y_ = problem.y_free;
  std::fill(s.f.begin(), s.f.end(), 0.0);
  std::fill(s.classes.begin(), s.classes.end(), RowClass::separating);
}

void ProjectedGaussSeidel::solve(const RowProblem& problem, int sweeps, RowSolution& s) {
  start(problem, s);
  old_f_.clear();
  outcomes_.clear();
  is_tied_ = false;
  sweep<true>(problem, sweeps, s);
  apply_impulses(problem, s);
}

void ProjectedGaussSeidel::go_on(const RowProblem& problem, int sweeps, RowSolution& s) {
  sweep<false>(problem, sweeps, s);
  apply_impulses(problem, s);
}

void ProjectedGaussSeidel::add_vjp(const RowProblem& problem, const RowSolution& s,
                                   const double* f_bar, const double* z_bar, RowGradient& g) {
  const int m = problem.size(), k = problem.channels;
  // Gradient in f of the loss, where z = sum d_i f_i.
  f_ = s.f;
  y_then_ = y_;
  make_zeros(y_bar_, k);
  pushes_.assign(m, 0);
  for (std::size_t i = 0; i < outcomes_.size(); ++i)
    pushes_[i % pushes_.size()] += outcomes_[i] != RowClass::separating;
  make_zeros(u_bar_, static_cast<std::size_t>(m * k));
  f_bar_.assign(f_bar, f_bar + m);
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      f_bar_[i] += dot(problem.rows[i].d, z_bar + block.first_channel, block.width);
      add(g.d.data() + static_cast<std::ptrdiff_t>(i) * most_block_channels, f_[i],
          z_bar + block.first_channel, block.width);
    }
  }

  // Sweeps reduce the adjoint of an update, f_bar + u . y_bar, towards zero. The remainder may
  // grow again through rows that are active in early sweeps only. To keep it from rounding,
  // f_bar includes an earlier y_bar in twice the precision, and new_y_bar_ is the part of y_bar
  // since then.
  for (auto* x : {&new_y_bar_, &taken_y_bar_, &taken_y_bar_low_})
    make_zeros(*x, static_cast<std::size_t>(k));
  make_zeros(f_bar_low_, m);
  const auto take_new = [&] {
    for (int i = 0; i < m; ++i) {
      const std::size_t at = static_cast<std::size_t>(i);
      if (pushes_[at] > 0)
        small_matrices().add_dot_doubled(&u_[at * static_cast<std::size_t>(k)], new_y_bar_.data(),
                                         k, f_bar_[at], f_bar_low_[at]);
    }
    for (std::size_t c = 0; c < new_y_bar_.size(); ++c) {
      add_exactly(new_y_bar_[c], taken_y_bar_[c], taken_y_bar_low_[c]);
      new_y_bar_[c] = 0;
    }
  };
  std::size_t last = outcomes_.size();
  for (unsigned sweep = 0; last > 0; ++sweep) {
    // After 1, 2, 4 ... sweeps: the changes become smaller and smaller.
    if (std::has_single_bit(sweep)) take_new();
    for (auto block = problem.blocks.rbegin(); block != problem.blocks.rend(); ++block) {
      for (int i = block->last_row; i-- > block->first_row;) {
        const double old_f = old_f_[--last];
        const RowClass outcome = outcomes_[last];
        const std::size_t at = static_cast<std::size_t>(i);
        const ConstraintRow& row = problem.rows[at];
        const double give = a_[at] + row.compliance;
        pushes_[at] -= outcome != RowClass::separating;
        // The row has no influence at this update or before.
        if (!(give > 0) || (outcome == RowClass::separating && pushes_[at] == 0)) continue;
        const double* u = u_.data() + static_cast<std::ptrdiff_t>(i) * k;
        double* u_bar = u_bar_.data() + static_cast<std::ptrdiff_t>(i) * k;
        double* d_bar = g.d.data() + static_cast<std::ptrdiff_t>(i) * most_block_channels;

        // Undo f <- f + df, y <- y + u df.
        const double df = f_[at] - old_f;
        const double pushed_bar = dot(u, new_y_bar_.data(), k),
                     df_bar = f_bar_[at] + pushed_bar + f_bar_low_[at];
        if (df != 0) {
          add(u_bar, df, y_bar_.data(), k);
          add(y_then_.data(), -df, u, k);
        }
        f_[at] = old_f;

        // Reverse the outcome. An active row determines df itself, which leaves f_bar unchanged
        // except for compliance. At a bound, f itself is determined.
        if (outcome == RowClass::clamping) {
          const double w = dot(row.d, y_then_.data() + block->first_channel, block->width) -
                           row.target + row.compliance * old_f;
          const double w_bar = -df_bar * inverse_[at], give_bar = -w_bar * w * inverse_[at];
          add_exactly(w_bar * row.compliance, f_bar_[at], f_bar_low_[at]);
          for (int c = 0; c < block->width; ++c) {
            const std::size_t channel = static_cast<std::size_t>(block->first_channel + c);
            new_y_bar_[channel] += w_bar * row.d[c];
            y_bar_[channel] =
                taken_y_bar_[channel] + (taken_y_bar_low_[channel] + new_y_bar_[channel]);
          }
          add(d_bar, w_bar, y_then_.data() + block->first_channel, block->width);
          g.target[at] -= w_bar;
          g.compliance[at] += w_bar * old_f + give_bar;
          // a = d . u
          add(d_bar, give_bar, u + block->first_channel, block->width);
          add(u_bar + block->first_channel, give_bar, row.d, block->width);
        } else {
          f_bar_[at] = -pushed_bar;
          f_bar_low_[at] = 0;
          if (outcome == RowClass::separating) continue;
          const double sign = outcome == RowClass::upper ? 1 : -1;
          if (row.kind == RowKind::friction) {
            const std::size_t n = static_cast<std::size_t>(row.normal);
            g.mu[at] += sign * f_[n] * df_bar;
            add_exactly(sign * row.mu * df_bar, f_bar_[n], f_bar_low_[n]);
          } else {
            (sign > 0 ? g.upper : g.lower)[at] += df_bar;
          }
        }
      }
    }
  }

  // y = y_free before the first update; u_i = L d_i.
  add(g.y_free.data(), 1, y_bar_.data(), k);
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[i];
      const double* u_bar = u_bar_.data() + static_cast<std::ptrdiff_t>(i) * k;
      for (int c = 0; c < block.width; ++c) {
        g.d[i * most_block_channels + c] += dot(
            problem.L.data() + static_cast<std::ptrdiff_t>(block.first_channel + c) * k, u_bar, k);
        for (int r = 0; r < k; ++r) g.L[r * k + block.first_channel + c] += u_bar[r] * row.d[c];
      }
    }
  }
}

}  // namespace robosim
