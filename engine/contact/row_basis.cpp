#include "contact/row_basis.h"

#include <algorithm>
#include <cmath>

#include "base/linalg/zeros.h"

namespace robosim {

namespace {

// Length of a column outside the span of the others, relative to the largest column, below which it
// depends on them.
constexpr double basis_tolerance = 1e-8;
// Length of the remainder of a dependent row, relative to the row.
constexpr double rounding_of_dependence = 1e-10;
// Fraction of the squared length that must remain for a single projection to be orthogonal, up to
// rounding over its square root (Kahan; Parlett, "The symmetric eigenvalue problem", section 6-9).
constexpr double enough_left = 0.1;

// Inner product of two columns over a range of rows.
template <int width>
double product(const double (*A)[width], int first, int last, int i, int j) {
  double sum = 0;
  for (int row = first; row < last; ++row) sum += A[row][i] * A[row][j];
  return sum;
}

}  // namespace

void RowBasis::build(const RowProblem& problem, const RowClass* classes) {
  std::swap(blocks_, last_.blocks);
  std::swap(numbers_, last_.numbers);
  std::swap(made_of_, last_.made_of);
  rows_.clear();
  blocks_.clear();
  numbers_.clear();
  made_of_.clear();
  unknowns_ = 0;
  // Per block: list the active rows, and compute their basis unless the last one is valid.
  for (const RowBlock& block : problem.blocks) {
    Block basis;
    basis.first_row = static_cast<int>(rows_.size());
    basis.first_unknown = unknowns_;
    basis.made_of = made_of_.size();
    for (int i = block.first_row; i < block.last_row; ++i) {
      if (classes[i] != RowClass::clamping) continue;
      rows_.push_back(i);
      const ConstraintRow& row = problem.rows[i];
      made_of_.insert(made_of_.end(), row.d, row.d + block.width);
      made_of_.push_back(row.compliance > 0 ? 2 : creeps(row));
    }
    basis.rows = static_cast<int>(rows_.size()) - basis.first_row;
    if (!take_last(basis)) {
      switch (block.width) {
        case 1:
          orthonormalize<1>(problem, basis);
          break;
        case 2:
          orthonormalize<2>(problem, basis);
          break;
        case 3:
          orthonormalize<3>(problem, basis);
          break;
        default:
          orthonormalize<most_block_channels>(problem, basis);
      }
    }
    basis.end = numbers_.size();
    unknowns_ += basis.columns;
    blocks_.push_back(basis);
  }
  // The two sets of vectors are swapped in each build.
  last_.blocks.reserve(blocks_.size());
  last_.numbers.reserve(numbers_.size());
  last_.made_of.reserve(made_of_.size());
}

// Copy the basis of the last build if its block at this index had the same rows.
bool RowBasis::take_last(Block& basis) {
  const std::size_t place = blocks_.size(), size = made_of_.size() - basis.made_of;
  if (place >= last_.blocks.size()) return false;
  const Block& last = last_.blocks[place];
  const std::size_t last_size =
      (place + 1 < last_.blocks.size() ? last_.blocks[place + 1].made_of : last_.made_of.size()) -
      last.made_of;
  if (last.rows != basis.rows || last_size != size) return false;
  const auto of = [](const std::vector<double>& x, std::size_t begin) {
    return x.begin() + static_cast<std::ptrdiff_t>(begin);
  };
  if (!std::equal(of(made_of_, basis.made_of), made_of_.cend(), of(last_.made_of, last.made_of)))
    return false;
  const std::size_t begin = numbers_.size();
  numbers_.insert(numbers_.end(), of(last_.numbers, last.P), of(last_.numbers, last.end));
  basis.columns = last.columns;
  basis.springs = last.springs;
  basis.independent = last.independent;
  basis.P = begin;
  basis.Q = begin + (last.Q - last.P);
  basis.N = begin + (last.N - last.P);
  return true;
}

// Loops over rows are outermost: sums of all columns are side by side and do not wait for
// each other.
template <int width>
void RowBasis::orthonormalize(const RowProblem& problem, Block& basis) {
  const int* rows = rows_.data() + basis.first_row;
  const int n = basis.rows, all = n + width;
  const auto row = [&](int i) -> const ConstraintRow& { return problem.rows[i]; };

  // Matrix D, with springs first and then friction, above the identity that becomes Q.
  make_zeros(scratch_, static_cast<std::size_t>(all * width));
  places_.resize(n);
  double(*const A)[width] = reinterpret_cast<double(*)[width]>(scratch_.data());
  int compliant = 0, springs = 0;
  for (int i = 0; i < n; ++i) springs += !creeps(row(rows[i]));
  for (int i = 0, spring = 0, friction = springs; i < n; ++i) {
    const ConstraintRow& own = row(rows[i]);
    const int place = places_[i] = creeps(own) ? friction++ : spring++;
    compliant += own.compliance > 0;
    for (int c = 0; c < width && !(own.compliance > 0); ++c) A[place][c] = own.d[c];
  }
  for (int c = 0; c < width; ++c) A[n + c][c] = 1;

  // Pivoted Gram-Schmidt of the columns from `rank` on, over rows [first, last); all other rows
  // follow. Projections that leave little are repeated.
  double largest = 0;
  const auto stage = [&](int rank, int first, int last) {
    const auto along = [&](int column, double* products) {  // with all columns
      double sums[width] = {};
      for (int i = first; i < last; ++i)
        for (int c = 0; c < width; ++c) sums[c] += A[i][column] * A[i][c];
      std::copy_n(sums, width, products);
    };
    const auto scale = [&](int column, double by) {
      for (int i = 0; i < all; ++i) A[i][column] *= by;
    };
    const int begin = rank;
    double products[width], whole[width];  // squared length of each column before projections
    for (; rank < width; ++rank) {
      double sizes[width] = {};
      for (int i = first; i < last; ++i)
        for (int c = 0; c < width; ++c) sizes[c] += A[i][c] * A[i][c];
      int best = rank;
      for (int c = rank + 1; c < width; ++c)
        if (sizes[c] > sizes[best]) best = c;
      const double most = std::sqrt(sizes[best]);
      if (rank == begin) std::copy_n(sizes, width, whole);
      if (!(most > basis_tolerance * largest)) break;
      if (best != rank) {
        for (int i = 0; i < all; ++i) std::swap(A[i][rank], A[i][best]);
        std::swap(whole[rank], whole[best]);
      }
      scale(rank, 1 / most);
      along(rank, products);
      if (sizes[best] < enough_left * whole[rank]) {  // project once more on the columns before
        for (int i = 0; i < all; ++i) {
          double taken = 0;
          for (int c = begin; c < rank; ++c) taken += products[c] * A[i][c];
          A[i][rank] -= taken;
        }
        scale(rank, 1 / std::sqrt(product<width>(A, first, last, rank, rank)));
        along(rank, products);
      }
      for (int c = rank + 1; c < width; ++c)
        for (int i = 0; i < all; ++i) A[i][c] -= products[c] * A[i][rank];
    }
    return rank;
  };
  // Springs, then friction.
  for (int c = 0; c < width; ++c)
    largest = std::max(largest, std::sqrt(product<width>(A, 0, n, c, c)));
  basis.springs = stage(0, 0, springs);
  basis.independent = basis.springs;
  if (springs < n) {
    // Set what is rounding error to zero.
    for (int i = 0; i < springs; ++i) std::fill(A[i] + basis.springs, A[i] + width, 0.0);
    basis.independent = stage(basis.springs, springs, n);
    // Project the springs' columns so that they are orthogonal to those of friction.
    for (int c = 0; c < basis.springs; ++c)
      for (int e = basis.springs; e < basis.independent; ++e) {
        const double taken = product<width>(A, springs, n, c, e);
        for (int i = springs; i < all; ++i) A[i][c] -= taken * A[i][e];
      }
  }
  const int columns = basis.columns = basis.independent + compliant;

  // Copy P and Q, with one unknown for each compliant row, and compute N.
  const auto reserve = [&](int entries) {
    const std::size_t begin = numbers_.size();
    numbers_.resize(begin + static_cast<std::size_t>(entries), 0.0);
    return begin;
  };
  basis.P = reserve(n * columns);
  basis.Q = reserve(width * columns);
  basis.N = reserve(width * columns);
  double *const P = numbers_.data() + basis.P, *const Q = numbers_.data() + basis.Q,
                *const N = numbers_.data() + basis.N;
  for (int i = 0; i < n; ++i) {
    const int place = places_[i];
    const int first = place < springs ? 0 : basis.springs,
              last = place < springs ? basis.springs : basis.independent;
    std::copy(A[place] + first, A[place] + last, P + i * columns + first);
  }
  for (int k = 0; k < width; ++k) std::copy_n(A[n + k], basis.independent, Q + k * columns);
  for (int i = 0, own = basis.independent; i < n && compliant > 0; ++i)
    if (row(rows[i]).compliance > 0) P[i * columns + own++] = 1;
  for (int i = 0; i < n; ++i) {
    const double* const d = row(rows[i]).d;
    for (int k = 0; k < width; ++k)
      for (int c = 0; c < columns; ++c) N[k * columns + c] += d[k] * P[i * columns + c];
  }
}

// d = N a for a = Q^T d, as N^T Q is the identity.
bool RowBasis::implies(const Block& block, int width, const ConstraintRow& row, const double* b,
                       double& push) const {
  double rest = 0, size = 0, of_friction = 0, a[most_block_channels] = {};
  for (int k = 0; k < width; ++k)
    for (int c = 0; c < block.independent; ++c) a[c] += row.d[k] * Q(block)[k * block.columns + c];
  for (int k = 0; k < width; ++k) {
    double left = row.d[k], crept = 0;
    for (int c = 0; c < block.springs; ++c) left -= N(block)[k * block.columns + c] * a[c];
    for (int c = block.springs; c < block.independent; ++c)
      crept += N(block)[k * block.columns + c] * a[c];
    left -= crept;
    rest += left * left;
    size += row.d[k] * row.d[k];
    of_friction += crept * crept;
  }
  const bool is_by_friction = of_friction > rounding_of_dependence * rounding_of_dependence * size;
  const int first = creeps(row) || is_by_friction ? block.springs : 0,
            last = first > 0 || block.springs == 0 ? block.independent : block.springs;
  push = 0;
  for (int c = first; c < last; ++c) push += a[c] * b[c];
  return rest <= rounding_of_dependence * rounding_of_dependence * size;
}

void RowBasis::add_impulses(const double* b, double* f) const {
  for (const Block& block : blocks_) {
    for (int i = 0; i < block.rows; ++i) {
      double& out = f[rows_[block.first_row + i]];
      for (int c = 0; c < block.columns; ++c)
        out += P(block)[i * block.columns + c] * b[block.first_unknown + c];
    }
  }
}

void RowBasis::add_projection(double factor, const double* w, double* b) const {
  for (const Block& block : blocks_) {
    for (int i = 0; i < block.rows; ++i) {
      const double of_row = factor * w[rows_[block.first_row + i]];
      for (int c = 0; c < block.columns; ++c)
        b[block.first_unknown + c] += P(block)[i * block.columns + c] * of_row;
    }
  }
}

}  // namespace robosim
