#include "contact/held_discs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/index.h"
#include "base/linalg/lu.h"
#include "base/linalg/small_sums.h"

namespace robosim {
namespace {

constexpr int most_steps = 20;
constexpr double near_enough = 1e-6, enough = 1e-14;  // of a step, relative to c: the next one is its square; rounding
constexpr double least_part = 1e-3;                   // of a step
constexpr double disc_tolerance = 1e-13;

}  // namespace

// False where there is nothing to turn, or a clamping row with a compliance.
bool HeldDiscs::gather(const RowProblem& problem, const RowBlock& block, const ModeFactor& factor, const RowBasis::Block& of_block, const std::vector<std::uint8_t>& tied,
                       const RowSolution& s) {
  frictions_.clear();
  const RowBasis& basis = factor.basis();
  const int r = of_block.columns;
  if (of_block.independent < r) return false;
  springs_ = of_block.springs;
  const double *const Q = basis.Q(of_block), *const P = basis.P(of_block);
  const auto onto = [&](const double* channels, double* c) {
    std::fill_n(c, r, 0.0);
    for (int k = 0; k < block.width; ++k) add_scaled(channels[k], Q + k * r, r, c);
  };
  double z[most_block_channels];
  std::copy_n(&s.z[at(block.first_channel)], block.width, z);
  bool any = false;
  for (int i = block.first_row; i < block.last_row; ++i) {
    const ConstraintRow& row = problem.rows[at(i)];
    const RowClass of_row = s.classes[at(i)];
    const bool is_bound = of_row == RowClass::upper || of_row == RowClass::lower;
    if (is_bound && row.kind != RowKind::friction) add_scaled(-s.f[at(i)], row.d, block.width, z);
    if (is_bound && row.kind == RowKind::friction) {
      Friction x;
      x.row = i, x.mu = row.mu, x.is_held = row.is_disc && tied[at(i)];
      const int* const rows = basis.rows().data() + of_block.first_row;
      const auto place = std::lower_bound(rows, rows + of_block.rows, row.normal) - rows;
      std::copy_n(P + place * r, r, x.n);
      onto(row.d, x.T[0]);
      if (row.is_disc) onto(problem.rows[at(i + 1)].d, x.T[1]);
      if (row.is_disc && !x.is_held) {
        const double size = length(s.f[at(i)], s.f[at(i + 1)]);
        if (size > 0) x.e[0] = s.f[at(i)] / size, x.e[1] = s.f[at(i + 1)] / size;
      } else if (!row.is_disc) {
        x.e[0] = of_row == RowClass::upper ? 1 : -1;
      }
      any |= x.is_held;
      frictions_.push_back(x);
    }
    i += row.is_disc;
  }
  onto(z, z_);
  std::copy_n(&factor.impulses()[at(of_block.first_unknown)], r, c_);
  return any;
}

double HeldDiscs::crept(const double* T, int r) const { return dot(T + springs_, c_ + springs_, r - springs_); }

// What the impulses of c are off, and what that changes by with c; how long it is.
double HeldDiscs::residual(int r, double* F, double* J) {
  std::fill_n(J, r * r, 0.0);
  for (int k = 0; k < r; ++k) F[k] = c_[k] - z_[k], J[k * (r + 1)] = 1;
  for (Friction& x : frictions_) {
    const double push = x.mu * dot(x.n, c_, r);
    double across[most_block_channels] = {}, turned = 0;  // as the direction turns; and by how much of that
    if (x.is_held) {
      const double a = crept(x.T[0], r), b = crept(x.T[1], r), size = length(a, b);
      if (!(size > 0) || !(push > 0)) return std::numeric_limits<double>::infinity();
      x.e[0] = a / size, x.e[1] = b / size, turned = push / size;
      for (int k = 0; k < r; ++k) across[k] = x.e[0] * x.T[1][k] - x.e[1] * x.T[0][k];
    }
    for (int k = 0; k < r; ++k) {
      const double along = x.e[0] * x.T[0][k] + x.e[1] * x.T[1][k];
      F[k] += push * along;
      for (int l = 0; l < r; ++l) J[k * r + l] += x.mu * along * x.n[l] + (l < springs_ ? 0 : turned * across[k] * across[l]);
    }
  }
  return std::sqrt(dot(F, F, r));
}

// Steps are halved where they lead away.
bool HeldDiscs::find(int r) {
  double F[most_block_channels], J[most_block_channels * most_block_channels], last[most_block_channels], row_sizes[most_block_channels];
  int pivots[most_block_channels];
  double off = residual(r, F, J);
  for (int step = 0; step < most_steps && std::isfinite(off); ++step) {
    if (!(lu_factor(J, r, pivots, row_sizes) > disc_tolerance)) return false;
    lu_solve(J, r, pivots, F);
    std::copy_n(c_, r, last);
    const double size = std::sqrt(dot(c_, c_, r)), moved = std::sqrt(dot(F, F, r));
    const bool is_near = moved <= near_enough * size;  // from there on to rounding
    double part = 1, next = 0;
    for (;; part /= 2) {
      for (int k = 0; k < r; ++k) c_[k] = last[k] - part * F[k];
      double G[most_block_channels], K[most_block_channels * most_block_channels];
      next = residual(r, G, K);
      if (is_near || next < off) {
        std::copy_n(G, r, F), std::copy_n(K, r * r, J);
        break;
      }
      if (part < least_part) return false;
    }
    off = next;
    if (moved <= enough * size) return true;
  }
  return false;
}

void HeldDiscs::turn(const RowProblem& problem, const ModeFactor& factor, const std::vector<std::uint8_t>& tied, const RowSolution& s, std::vector<double>& push) {
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    const RowBasis::Block& of_block = factor.basis().blocks()[b];
    if (!gather(problem, problem.blocks[b], factor, of_block, tied, s) || !find(of_block.columns)) continue;
    for (const Friction& x : frictions_)
      if (x.is_held) push[at(x.row)] = crept(x.T[0], of_block.columns), push[at(x.row + 1)] = crept(x.T[1], of_block.columns);
  }
}

}  // namespace robosim
