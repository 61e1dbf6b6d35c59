#include "contact/row_basis.h"

#include <algorithm>
#include <cmath>

namespace robosim {

namespace {

// Columns whose part outside the span of the others is smaller than this times the largest depend on them.
constexpr double rank_tolerance = 1e-8;

}  // namespace

void RowBasis::build(const RowProblem& problem, const RowClass* classes) {
  rows_.clear(), blocks_.clear(), numbers_.clear();
  unknowns_ = 0;
  for (const RowBlock& block : problem.blocks) {
    Block basis;
    basis.first_row = static_cast<int>(rows_.size());
    basis.first_unknown = unknowns_;
    for (int i = block.first_row; i < block.last_row; ++i) {
      if (classes[i] == RowClass::clamping) rows_.push_back(i);
    }
    basis.rows = static_cast<int>(rows_.size()) - basis.first_row;
    orthonormalise(problem, block, basis);
    unknowns_ += basis.columns;
    blocks_.push_back(basis);
  }
}

void RowBasis::orthonormalise(const RowProblem& problem, const RowBlock& block, Block& basis) {
  const int* rows = rows_.data() + basis.first_row;
  const int n = basis.rows, width = block.width;
  const auto row = [&](int i) -> const ConstraintRow& { return problem.rows[static_cast<std::size_t>(i)]; };

  // Columns of D, and of the identity that become those of Q: pivoted Gram-Schmidt, each projection done twice.
  scratch_.assign(static_cast<std::size_t>((n + width) * width), 0.0);
  const auto column = [&](int c) { return scratch_.data() + static_cast<std::ptrdiff_t>(c) * (n + width); };
  for (int c = 0; c < width; ++c) {
    for (int i = 0; i < n; ++i) column(c)[i] = row(rows[i]).compliance > 0 ? 0.0 : row(rows[i]).d[c];
    column(c)[n + c] = 1;
  }
  int rank = 0;
  double largest = 0;
  for (; rank < width; ++rank) {
    int best = rank;
    double most = 0;
    for (int c = rank; c < width; ++c) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += column(c)[i] * column(c)[i];
      if (sum > most) most = sum, best = c;
    }
    most = std::sqrt(most);
    if (rank == 0) largest = most;
    if (!(most > rank_tolerance * largest)) break;
    if (best != rank) std::swap_ranges(column(rank), column(rank) + n + width, column(best));
    double* p = column(rank);
    for (int pass = 0; pass < 2; ++pass) {
      for (int c = 0; pass == 1 && c < rank; ++c) {
        double along = 0;
        for (int i = 0; i < n; ++i) along += column(c)[i] * p[i];
        for (int i = 0; i < n + width; ++i) p[i] -= along * column(c)[i];
      }
      double norm = 0;
      for (int i = 0; i < n; ++i) norm += p[i] * p[i];
      norm = std::sqrt(norm);
      for (int i = 0; i < n + width; ++i) p[i] /= norm;
    }
    for (int c = rank + 1; c < width; ++c) {
      double along = 0;
      for (int i = 0; i < n; ++i) along += p[i] * column(c)[i];
      for (int i = 0; i < n + width; ++i) column(c)[i] -= along * p[i];
    }
  }
  int compliant = 0;
  for (int i = 0; i < n; ++i) compliant += row(rows[i]).compliance > 0;
  basis.columns = rank + compliant;

  const auto reserve = [&](int entries) {
    const std::size_t begin = numbers_.size();
    numbers_.resize(begin + static_cast<std::size_t>(entries), 0.0);
    return begin;
  };
  basis.P = reserve(n * basis.columns);
  basis.Q = reserve(width * basis.columns);
  basis.N = reserve(width * basis.columns);
  double* P = numbers_.data() + basis.P;
  for (int c = 0; c < rank; ++c) {
    for (int i = 0; i < n; ++i) P[i * basis.columns + c] = column(c)[i];
    for (int k = 0; k < width; ++k) numbers_[basis.Q + static_cast<std::size_t>(k * basis.columns + c)] = column(c)[n + k];
  }
  int own = rank;
  for (int i = 0; i < n; ++i) {
    if (row(rows[i]).compliance > 0) P[i * basis.columns + own++] = 1;
  }
  double* N = numbers_.data() + basis.N;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < width; ++k) {
      for (int c = 0; c < basis.columns; ++c) N[k * basis.columns + c] += row(rows[i]).d[k] * P[i * basis.columns + c];
    }
  }
}

void RowBasis::add_impulses(const double* b, double* f) const {
  for (const Block& block : blocks_) {
    for (int i = 0; i < block.rows; ++i) {
      double& out = f[rows_[static_cast<std::size_t>(block.first_row + i)]];
      for (int c = 0; c < block.columns; ++c) out += P(block)[i * block.columns + c] * b[block.first_unknown + c];
    }
  }
}

void RowBasis::add_projection(double factor, const double* w, double* b) const {
  for (const Block& block : blocks_) {
    for (int i = 0; i < block.rows; ++i) {
      const double of_row = factor * w[rows_[static_cast<std::size_t>(block.first_row + i)]];
      for (int c = 0; c < block.columns; ++c) b[block.first_unknown + c] += P(block)[i * block.columns + c] * of_row;
    }
  }
}

}  // namespace robosim
