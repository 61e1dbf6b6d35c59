#include <algorithm>
#include <numeric>

#include "base/index.h"
#include "base/linalg/zeros.h"
#include "contact/class_factor.h"
#include "base/linalg/small_matrices.h"
#include "base/linalg/small_sums.h"

namespace robosim {
void ImpulseRates::ask_for_all(int channels) {
  asked.resize(channels);
  of_dependences = false;
  std::iota(asked.begin(), asked.end(), 0);
}

void ImpulseRates::add(const RowSolution& s, const RowBlock& block, const double* d,
                       const double* target, double* dz) {
  const int w = width(), rows = block.last_row - block.first_row;
  double pushed[most_block_channels * at_once] = {};  // sum_i f_i dd_i
  wanted_.assign(target, target + rows * at_once);
  make_zeros(shares_, by_share.empty() ? 0 : at(rows * at_once));
  creeps_ = shares_;
  for (int i = 0; i < rows; ++i, d += most_block_channels * at_once)
    for (int c = 0; c < block.width; ++c) {
      const double* const change = d + c * at_once;
      add_scaled<at_once>(-s.y[block.first_channel + c], change, &wanted_[i * at_once]);
      add_scaled<at_once>(s.f[block.first_row + i], change, pushed + c * at_once);
      if (by_share.empty()) continue;
      add_scaled<at_once>(shared[block.first_channel + c], change, &shares_[i * at_once]);
      add_scaled<at_once>(crept[block.first_channel + c], change, &creeps_[i * at_once]);
    }
  const auto add = [&](const double* changes, int count, const std::vector<double>& rates,
                       int first) {
    small_matrices().add_product(LeftFactor::transposed(changes, at_once, count), &rates[first * w],
                                 w, dz, w, w);
  };
  add(wanted_.data(), rows, by_target, block.first_row);
  add(pushed, block.width, by_push, block.first_channel);
  if (!by_share.empty()) {
    add(shares_.data(), rows, by_share, block.first_row);
    add(creeps_.data(), rows, by_creep, block.first_row);
  }
}

// V = -K P S^-1 N^T and U = 1 + V L.
void ClassFactor::push_rates(const RowProblem& problem, ImpulseRates& out) {
  const int k = problem.channels, r = basis_.unknowns(), w = out.width(),
            asked = static_cast<int>(out.asked.size());
  if (out.of_dependences) fill_dependences(problem);
  make_zeros(scratch_, at(r * asked));  // (K P S^-1)^T
  for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
    const RowBasis::Block& block = basis_.blocks()[n];
    const int first = problem.blocks[n].first_channel, end = first + problem.blocks[n].width;
    for (auto own = std::lower_bound(out.asked.begin(), out.asked.end(), first);
         own != out.asked.end() && *own < end; ++own)
      for (int u = block.first_unknown; u < block.first_unknown + block.columns; ++u)
        scratch_[at(u * asked) + static_cast<std::size_t>(own - out.asked.begin())] =
            KP_[u * most_block_channels + *own - first];
  }
  solve_S_transposed(scratch_.data(), asked);
  make_zeros(out.by_velocity, at(k * w));
  make_zeros(out.by_push, at(k * w));
  for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
    const RowBasis::Block& block = basis_.blocks()[n];
    if (block.columns > 0)
      small_matrices().add_product({basis_.N(block), problem.blocks[n].width, block.columns},
                                   &scratch_[block.first_unknown * asked], asked,
                                   &out.by_velocity[problem.blocks[n].first_channel * w], w, asked);
  }
  if (out.of_dependences)
    for (const RowBlock& block : problem.blocks)
      for (int i = block.first_row; i < block.last_row; ++i)
        for (int c = 0; c < block.width; ++c)
          out.by_velocity[(block.first_channel + c) * w + asked] +=
              multiplier_[i] * problem.rows[i].d[c];
  for (double& x : out.by_velocity) x = -x;
  for (int a = 0; a < asked; ++a) out.by_push[out.asked[a] * w + a] = 1;
  small_matrices().add_sparse_product({problem.L.data(), k, k}, out.by_velocity.data(), w,
                                      out.by_push.data(), w, w);
}

void ClassFactor::rates(const RowProblem& problem, ImpulseRates& out) {
  const int m = problem.size(), w = out.width(), asked = static_cast<int>(out.asked.size());
  push_rates(problem, out);
  // w: rates with the targets.
  make_zeros(out.by_target, at(m * w));
  out.by_share.clear();
  make_zeros(out.shared, at(problem.channels));
  out.crept = out.shared;
  bool is_open = rank_ < basis_.unknowns();
  for (const RowBasis::Block& block : basis_.blocks()) {
    is_open |= block.rows > block.columns;
    for (int i = 0, end = 0; i < block.rows; i = end) {  // neighboring rows at once
      const int* const rows = basis_.rows().data() + block.first_row;
      for (end = i + 1; end < block.rows && rows[end] == rows[end - 1] + 1;) ++end;
      small_matrices().add_product({basis_.P(block) + i * block.columns, end - i, block.columns},
                                   &scratch_[block.first_unknown * asked], asked,
                                   &out.by_target[rows[i] * w], w, asked);
    }
  }
  for (int i = 0; out.of_dependences && i < m; ++i) out.by_target[i * w + asked] = multiplier_[i];
  if (!slides_ || !is_open) return;
  // p: rates with the sharing of impulses, for active rows without compliance.
  make_zeros(out.by_share, at(m * w));
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i)
      for (int c = 0; c < block.width; ++c)
        add_scaled(problem.rows[i].d[c], &out.by_push[(block.first_channel + c) * w], w,
                   &out.by_share[i * w]);
  carry_to_normals(problem, out.by_share.data(), w);
  for (int i = 0; i < m; ++i)
    if (row_class(i) != RowClass::clamping || problem.rows[i].compliance > 0)
      std::fill_n(&out.by_share[i * w], w, 0.0);
  // c: friction shares by c, which turns with the springs as in add_product_vjp.
  make_zeros(out.by_creep, at(m * w));
  for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
    const RowBasis::Block& block = basis_.blocks()[n];
    const int width = problem.blocks[n].width;
    for (int c = 0; c < width; ++c) {
      const double* const Q = basis_.Q(block) + c * block.columns;
      for (int e = 0; e < block.independent; ++e)
        (e < block.springs ? out.shared : out.crept)[problem.blocks[n].first_channel + c] +=
            Q[e] * b_[block.first_unknown + e];
    }
    make_zeros(column_, at(block.springs * w));  // springs x w: friction's rates
    const int* const rows = basis_.rows().data() + block.first_row;
    for (int i = 0; i < block.rows; ++i) {
      if (!creeps(problem.rows[rows[i]])) continue;
      double *const share = &out.by_share[rows[i] * w], *const creep = &out.by_creep[rows[i] * w];
      std::swap_ranges(share, share + w, creep);
      for (int e = 0; e < block.springs; ++e) {
        double along = 0;
        for (int c = 0; c < width; ++c)
          along += problem.rows[rows[i]].d[c] * basis_.Q(block)[c * block.columns + e];
        add_scaled(along, creep, w, &column_[e * w]);
      }
    }
    for (int i = 0; i < block.rows; ++i)
      if (!creeps(problem.rows[rows[i]]) && !(problem.rows[rows[i]].compliance > 0))
        for (int e = 0; e < block.springs; ++e)
          add_scaled(-basis_.P(block)[i * block.columns + e], &column_[e * w], w,
                     &out.by_creep[rows[i] * w]);
  }
}

}  // namespace robosim
