#include <algorithm>
#include <cmath>

#include "contact/class_factor.h"
#include "contact/small_sums.h"

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void ImpulseRates::add(const RowProblem& problem, const RowSolution& s, const RowBlock& block, const double* d, const double* target, double* dz) const {
  const int k = problem.channels;
  double pushed[most_block_channels] = {};  // sum_i f_i dd_i
  for (int i = block.first_row; i < block.last_row; ++i, d += most_block_channels, ++target) {
    double asked = *target, shares = 0;
    for (int c = 0; c < block.width; ++c) {
      asked -= s.y[at(block.first_channel + c)] * d[c], shares += shared[at(block.first_channel + c)] * d[c];
      pushed[c] += s.f[at(i)] * d[c];
    }
    add_scaled(asked, &by_target[at(i * k)], k, dz);
    add_scaled(shares, &by_share[at(i * k)], k, dz);
  }
  for (int c = 0; c < block.width; ++c) add_scaled(pushed[c], &by_push[at((block.first_channel + c) * k)], k, dz);
}

// V = -K P S^-1 N^T, U = 1 + V L.
void ClassFactor::push_rates(const RowProblem& problem, ImpulseRates& out) {
  const int k = problem.channels, r = basis_.unknowns();
  scratch_.assign(at(r * k), 0.0);  // (K P S^-1)^T
  for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
    const RowBasis::Block& block = basis_.blocks()[n];
    for (int u = block.first_unknown; u < block.first_unknown + block.columns; ++u)
      std::copy_n(&KP_[at(u * most_block_channels)], problem.blocks[n].width, &scratch_[at(u * k + problem.blocks[n].first_channel)]);
  }
  solve_S_transposed(scratch_.data(), k);
  out.by_velocity.assign(at(k * k), 0.0), out.by_push.assign(at(k * k), 0.0);
  for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
    const RowBasis::Block& block = basis_.blocks()[n];
    for (int c = 0; c < problem.blocks[n].width; ++c)
      for (int e = 0; e < block.columns; ++e)
        add_scaled(-basis_.N(block)[c * block.columns + e], &scratch_[at((block.first_unknown + e) * k)], k, &out.by_velocity[at((problem.blocks[n].first_channel + c) * k)]);
  }
  for (int a = 0; a < k; ++a) {
    out.by_push[at(a * (k + 1))] += 1;
    for (int c = 0; c < k; ++c) add_scaled(problem.L[at(c * k + a)], &out.by_velocity[at(c * k)], k, &out.by_push[at(a * k)]);
  }
}

void ClassFactor::rates(const RowProblem& problem, ImpulseRates& out) {
  const int m = problem.size(), k = problem.channels;
  push_rates(problem, out);
  out.by_target.assign(at(m * k), 0.0), out.by_share.assign(at(m * k), 0.0);
  for (const RowBasis::Block& block : basis_.blocks())
    for (int i = 0; i < block.rows; ++i)
      for (int c = 0; c < block.columns; ++c)
        add_scaled(basis_.P(block)[i * block.columns + c], &scratch_[at((block.first_unknown + c) * k)], k, &out.by_target[at(basis_.rows()[at(block.first_row + i)] * k)]);
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i)
      for (int c = 0; c < block.width; ++c) add_scaled(problem.rows[at(i)].d[c], &out.by_push[at((block.first_channel + c) * k)], k, &out.by_share[at(i * k)]);
  carry_to_normals(problem, out.by_share.data(), k);
  for (int i = 0; i < m; ++i)
    if (row_class(i) != RowClass::clamping || problem.rows[at(i)].compliance > 0) std::fill_n(&out.by_share[at(i * k)], k, 0.0);

  out.shared.assign(at(k), 0.0);
  for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
    const RowBasis::Block& block = basis_.blocks()[n];
    for (int c = 0; c < problem.blocks[n].width; ++c)
      for (int e = 0; e < block.columns; ++e)
        out.shared[at(problem.blocks[n].first_channel + c)] += basis_.Q(block)[c * block.columns + e] * b_[at(block.first_unknown + e)];
  }
}

}  // namespace robosim
