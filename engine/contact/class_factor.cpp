#include "contact/class_factor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/linalg/lu.h"
#include "base/linalg/small_matrices.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"

namespace robosim {

namespace {

constexpr double singular_tolerance = 1e-13;
constexpr int most_refinements = 3;
constexpr double refined_enough = 1e-15;
// Length of a row of S outside the span of those before it; each row has unit length.
constexpr double rank_tolerance = 1e-11;
// Largest entry of a row of S relative to the largest one of its block, below which nothing moves
// along it.
constexpr double rounding_of_motion = 1e-14;
// Length of the friction part of a unit vector in the null space of S that counts as zero.
constexpr double rounding_of_null = 1e-9;
constexpr double no_effect = 1e-9;  // of impulses, relative to their largest possible effect

}  // namespace

bool ClassFactor::factor(const RowProblem& problem, const RowClass* classes) {
  // Friction whose normal is not active is separating.
  classes_.assign(classes, classes + problem.size());
  for (int i = 0; i < problem.size(); ++i) {
    const ConstraintRow& row = problem.rows[i];
    if (row.kind == RowKind::friction && row_class(row.normal) != RowClass::clamping)
      classes_[i] = RowClass::separating;
  }
  // Assemble S from the basis of the active rows.
  basis_.build(problem, classes_.data());
  if (work_left_ && (*work_left_ -= std::pow(basis_.unknowns(), 3)) < 0) return false;
  assemble(problem);
  drop_rounding();
  // Factor S by LU with pivoting, or by a rank-revealing QR if it is singular.
  const int n = static_cast<int>(kept_.size());
  pivots_.resize(kept_.size());
  compact_.resize(kept_.size());
  gather();
  S_ = kept_S_;
  const double regularity = lu_factor(S_.data(), n, pivots_.data(), row_sizes_.data());
  is_singular_ = !(regularity > singular_tolerance);
  has_choice_ = false;
  rank_ = n;
  if (is_singular_) {
    rank_ = qr_.factor(kept_S_.data(), n, rank_tolerance);
    fill_null_space();
  }
  return rank_ > 0 || basis_.unknowns() == 0;
}

// Compute the null space of S by Gram-Schmidt in two stages, as for the rows of a block
// (row_basis.h), but with friction first and springs second.
void ClassFactor::fill_null_space() {
  const std::size_t n = kept_.size(), count = n - static_cast<std::size_t>(rank_);
  is_friction_.assign(n, false);
  // Mark the unknowns of friction.
  std::size_t next = 0;
  for (const RowBasis::Block& block : basis_.blocks())
    for (; next < n && kept_[next] < block.first_unknown + block.columns; ++next) {
      const int own = kept_[next] - block.first_unknown;
      is_friction_[next] = own >= block.springs && own < block.independent;
    }
  null_space_.resize(count * n);
  const auto vector = [&](std::size_t k) { return null_space_.data() + k * n; };
  for (std::size_t k = 0; k < count; ++k) qr_.null_vector(static_cast<int>(k), vector(k));
  // Orthonormalize in friction, with pivoting, and then the remaining vectors in springs.
  std::size_t done = 0;
  for (const bool of_friction : {true, false}) {
    const auto product = [&](const double* x, const double* y) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += is_friction_[i] == of_friction ? x[i] * y[i] : 0;
      return sum;
    };
    for (; done < count; ++done) {
      std::size_t best = done;
      double most = 0;
      for (std::size_t k = done; k < count; ++k)
        if (const double size = product(vector(k), vector(k)); size > most) {
          most = size;
          best = k;
        }
      if (!(most > rounding_of_null * rounding_of_null)) break;
      std::swap_ranges(vector(done), vector(done) + n, vector(best));
      double* const own = vector(done);
      for (std::size_t i = 0; i < n; ++i) own[i] /= std::sqrt(most);
      for (std::size_t k = done + 1; k < count; ++k)
        for (int twice = 0; twice < 2; ++twice)
          add_scaled(-product(own, vector(k)), own, static_cast<int>(n), vector(k));
    }
    if (!of_friction) break;
    creeping_ = static_cast<int>(done);
    for (std::size_t k = done; k < count; ++k)
      for (std::size_t i = 0; i < n; ++i)
        if (is_friction_[i]) vector(k)[i] = 0;
  }
}

// Move x along the null space to the solution of least friction, and among these to the
// smallest one.
void ClassFactor::choose_solution(double* x) const {
  const std::size_t n = kept_.size();
  for (std::size_t k = 0; k * n < null_space_.size(); ++k) {
    const double* const own = null_space_.data() + k * n;
    double along = 0;
    for (std::size_t i = 0; i < n; ++i)
      along += static_cast<int>(k) >= creeping_ || is_friction_[i] ? own[i] * x[i] : 0;
    for (std::size_t i = 0; i < n; ++i) x[i] -= along * own[i];
  }
}

// Transpose of choose_solution, applied to each of `width` columns.
void ClassFactor::choose_solution_transposed(double* X, int width) const {
  const std::size_t n = kept_.size(), w = static_cast<std::size_t>(width);
  for (std::size_t k = null_space_.size() / std::max<std::size_t>(n, 1); k-- > 0;) {
    const double* const own = null_space_.data() + k * n;
    for (std::size_t c = 0; c < w; ++c) {
      double along = 0;
      for (std::size_t i = 0; i < n; ++i) along += own[i] * X[i * w + c];
      for (std::size_t i = 0; i < n; ++i)
        if (static_cast<int>(k) >= creeping_ || is_friction_[i]) X[i * w + c] -= along * own[i];
    }
  }
}

// Drop unknowns whose row of S is rounding error, as for motion across the plane of a flat robot.
// Such rows have no target, and with vanishing compliance their unknowns stay zero.
void ClassFactor::drop_rounding() {
  const int r = basis_.unknowns();
  const auto row = [&](int u) { return whole_S_.data() + static_cast<std::ptrdiff_t>(u) * r; };
  make_zeros(row_sizes_, r);
  for (int u = 0; u < r; ++u)
    for (int e = 0; e < r; ++e) row_sizes_[u] = std::max(row_sizes_[u], std::abs(row(u)[e]));
  kept_.clear();
  for (const RowBasis::Block& block : basis_.blocks()) {
    const auto first = row_sizes_.begin() + block.first_unknown;
    const double rounding =
        block.columns > 0 ? rounding_of_motion * *std::max_element(first, first + block.columns)
                          : 0;
    for (int u = block.first_unknown; u < block.first_unknown + block.columns; ++u)
      if (row_sizes_[u] > rounding) kept_.push_back(u);
  }
}

// Copy the kept rows and columns of S.
void ClassFactor::gather() {
  const std::size_t n = kept_.size(), r = static_cast<std::size_t>(basis_.unknowns());
  if (n == r) {
    kept_S_ = whole_S_;
    return;
  }
  kept_S_.resize(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      kept_S_[i * n + j] =
          whole_S_[static_cast<std::size_t>(kept_[i]) * r + static_cast<std::size_t>(kept_[j])];
}

// Call f(unknown) for each unknown that is not kept.
template <class F>
void ClassFactor::for_each_dropped(F&& f) const {
  std::size_t next = 0;
  for (int u = 0; u < basis_.unknowns(); ++u) {
    if (next < kept_.size() && kept_[next] == u)
      ++next;
    else
      f(u);
  }
}

// Call f(x) on the kept entries of x; the other entries become zero.
template <class F>
void ClassFactor::with_kept(double* x, F&& f) {
  if (static_cast<int>(kept_.size()) == basis_.unknowns()) return f(x);
  for (std::size_t i = 0; i < kept_.size(); ++i) compact_[i] = x[kept_[i]];
  f(compact_.data());
  std::fill_n(x, basis_.unknowns(), 0.0);
  for (std::size_t i = 0; i < kept_.size(); ++i) x[kept_[i]] = compact_[i];
}

bool ClassFactor::find_choice(const RowProblem& problem) {
  column_.resize(basis_.unknowns());
  has_choice_ = false;
  for (int k = 0; is_singular_ && !has_choice_ && k < static_cast<int>(kept_.size()) - rank_; ++k) {
    with_kept(column_.data(), [&](double* x) { qr_.null_vector(k, x); });
    has_choice_ = !moves_nothing(problem, column_.data());
  }
  return has_choice_;
}

bool ClassFactor::is_determined(const RowProblem& problem) {
  column_.resize(basis_.unknowns());
  bool moves = false;
  for_each_dropped([&](int u) {  // may move something by friction at its bound
    const auto of = static_cast<std::ptrdiff_t>(u) * most_block_channels;
    if (std::equal(N_.begin() + of, N_.begin() + of + most_block_channels, KP_.begin() + of))
      return;
    std::fill(column_.begin(), column_.end(), 0.0);
    column_[u] = 1;
    moves |= !moves_nothing(problem, column_.data());
  });
  return !moves;
}

// Return true if the impulses of b, with the friction at its bound that follows them, change
// no velocity.
bool ClassFactor::moves_nothing(const RowProblem& problem, const double* b) {
  const int k = problem.channels;
  make_zeros(f_bar_, problem.size());
  make_zeros(z_bar_, k);
  basis_.add_impulses(b, f_bar_.data());
  double most = 0, moved = 0;
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[i];
      if (row.kind == RowKind::friction && at_bound(row_class(i)))
        f_bar_[i] = bound_sign(row_class(i)) * row.mu * f_bar_[row.normal];
      for (int c = 0; c < block.width; ++c) z_bar_[block.first_channel + c] += row.d[c] * f_bar_[i];
    }
    // Upper estimate of their effect on the block alone, along its lightest channel. Other channels
    // may have nothing but rounding, as across a plane.
    double push = 0, lightest = 0;
    for (int c = block.first_channel; c < block.first_channel + block.width; ++c) {
      push = std::max(push, std::abs(z_bar_[c]));
      lightest = std::max(lightest, problem.L[c * (k + 1)]);
    }
    most = std::max(most, push * lightest);
  }
  make_zeros(pushed_, k);
  for (int i = 0; i < k; ++i)
    // L is symmetric.
    if (z_bar_[i] != 0) add_scaled(z_bar_[i], &problem.L[i * k], k, pushed_.data());
  for (const double x : pushed_) moved = std::max(moved, std::abs(x));
  return moved <= no_effect * most;
}

void ClassFactor::solve_S(double* x) {
  with_kept(x, [&](double* kept) {
    if (is_singular_) {
      qr_.solve(kept);
      choose_solution(kept);
    } else
      lu_solve(S_.data(), static_cast<int>(kept_.size()), pivots_.data(), kept);
  });
}

// Solve with iterative refinement: the residual of B is computed in twice the precision and solved
// for again (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, chapter 12). Rows and
// columns of derivatives, each with solutions of its own, are then consistent with one S.
void ClassFactor::solve_S_transposed(double* B, int width) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  // Select the kept rows, and the columns that are not zero, as half of those of a flat robot are.
  const int n = static_cast<int>(kept_.size()), r = basis_.unknowns();
  make_zeros(sizes_, width);
  columns_.clear();
  for (const int u : kept_)
    for (int c = 0; c < width; ++c) sizes_[c] += std::abs(B[u * width + c]);
  for (int c = 0; c < width; ++c)
    if (sizes_[c] != 0) columns_.push_back(c);
  const int w = static_cast<int>(columns_.size());
  const bool is_whole = n == r && w == width;
  right_side_.resize(at(n * w));
  if (is_whole) std::copy_n(B, n * w, right_side_.begin());
  for (int i = 0; i < n && !is_whole; ++i)
    for (int c = 0; c < w; ++c) right_side_[i * w + c] = B[kept_[i] * width + columns_[c]];
  if (is_singular_) choose_solution_transposed(right_side_.data(), w);
  X_ = right_side_;
  solve_once(X_.data(), w);
  bool is_done = false;
  for (int pass = 0; pass < most_refinements && !is_done; ++pass) {
    left_ = right_side_;
    make_zeros(rest_, left_.size());
    small_matrices().subtract_doubled(kept_S_.data(), n, X_.data(), w, left_.data(), rest_.data());
    for (std::size_t i = 0; i < left_.size(); ++i) left_[i] += rest_[i];
    solve_once(left_.data(), w);
    make_zeros(sizes_, at(2 * w));
    double *const largest = sizes_.data(), *const change = largest + w;
    for (int i = 0; i < n; ++i) {
      for (int c = 0; c < w; ++c) {
        const double by = left_[i * w + c], x = X_[i * w + c] += by;
        largest[c] = std::max(largest[c], std::abs(x));
        change[c] = std::max(change[c], std::abs(by));
      }
    }
    // The next change relates to this one as this one relates to the solution, or less.
    is_done = true;
    for (int c = 0; c < w; ++c)
      is_done &= change[c] * change[c] <= refined_enough * largest[c] * largest[c];
  }
  if (is_whole) return static_cast<void>(std::copy_n(X_.begin(), n * w, B));
  std::fill_n(B, r * width, 0.0);
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < w; ++c) B[kept_[i] * width + columns_[c]] = X_[i * w + c];
}

// Solve for the kept unknowns, without refinement.
void ClassFactor::solve_once(double* X, int width) {
  if (is_singular_)
    qr_.solve_transposed(X, width);
  else
    small_matrices().solve_transposed(S_.data(), static_cast<int>(kept_.size()), pivots_.data(), X,
                                      width);
}

// Assemble S = N^T L K P + P^T R P, and K P, which is N plus the friction at its bound that follows
// its normal.
void ClassFactor::assemble(const RowProblem& problem) {
  const int r = basis_.unknowns(), channels = problem.channels;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const auto column = [](std::vector<double>& of, int u) {
    return of.data() + static_cast<std::ptrdiff_t>(u) * most_block_channels;
  };
  whole_S_.resize(at(r) * at(r));
  column_.resize(r);
  make_zeros(N_, at(r * most_block_channels));
  pushed_.resize(channels);
  make_zeros(compliance_, r);
  // N by columns.
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    const RowBasis::Block& block = basis_.blocks()[b];
    const double* const N = basis_.N(block);
    for (int c = 0; c < block.columns; ++c)
      for (int k = 0; k < problem.blocks[b].width; ++k)
        column(N_, block.first_unknown + c)[k] = N[k * block.columns + c];
  }
  KP_ = N_;
  slides_ = false;
  for (int i = 0; i < problem.size(); ++i)
    slides_ |= problem.rows[i].kind == RowKind::friction && at_bound(row_class(i));
  // K P, and S column by column.
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    const RowBlock& from = problem.blocks[b];
    const RowBasis::Block& source = basis_.blocks()[b];
    const double* const P = basis_.P(source);
    int normal = -1, place = 0;  // of the normal among the active rows
    for (int j = from.first_row; j < from.last_row; ++j) {
      const ConstraintRow& friction = problem.rows[j];
      if (friction.kind != RowKind::friction || !at_bound(row_class(j))) continue;
      if (friction.normal != normal) {
        normal = friction.normal;
        const int* rows = basis_.rows().data() + source.first_row;
        place = static_cast<int>(std::lower_bound(rows, rows + source.rows, normal) - rows);
      }
      for (int c = 0; c < source.columns; ++c) {
        const double f = bound_sign(row_class(j)) * friction.mu * P[place * source.columns + c];
        add_scaled(f, friction.d, from.width, column(KP_, source.first_unknown + c));
      }
    }
    for (int u = source.first_unknown; u < source.first_unknown + source.columns; ++u) {
      const int first = slides_ ? 0 : from.first_channel;
      with_width(from.width, [&](auto width) {  // L K P; L is symmetric
        dots<width>(column(KP_, u), &problem.L[from.first_channel * channels + first], channels,
                    channels - first, &pushed_[first]);
      });
      for (std::size_t a = slides_ ? 0 : b; a < problem.blocks.size(); ++a) {
        const RowBlock& to = problem.blocks[a];
        const RowBasis::Block& target = basis_.blocks()[a];
        const int begin = slides_ ? 0 : std::max(0, u - target.first_unknown),
                  count = target.columns - begin, e = target.first_unknown + begin;
        double* const entries = slides_ ? column_.data() : &whole_S_[u * r + e];
        with_width(to.width, [&](auto width) {
          dots<width>(&pushed_[to.first_channel], basis_.N(target) + begin, target.columns, count,
                      entries);
        });
        for (int i = 0; slides_ && i < count; ++i) whole_S_[(e + i) * r + u] = entries[i];
      }
    }
    for (int i = 0; i < source.rows; ++i) {  // compliant rows have an unknown each
      const double R = problem.rows[basis_.rows()[source.first_row + i]].compliance;
      for (int c = source.independent; R > 0 && c < source.columns; ++c)
        if (P[i * source.columns + c] > 0) {
          compliance_[source.first_unknown + c] = R;
          whole_S_[(source.first_unknown + c) * (r + 1)] += R;
        }
    }
  }
  for (int i = 1; i < r && !slides_; ++i)  // symmetric
    for (int j = 0; j < i; ++j) whole_S_[i * r + j] = whole_S_[j * r + i];
}

void ClassFactor::solve(const RowProblem& problem, RowSolution& s) {
  const int r = basis_.unknowns(), k = problem.channels;
  s.resize(problem);
  s.classes = classes_;
  // The right-hand side, by the unknowns and channels alone, which are fewer than the rows: P^T t,
  // and the velocities due to impulses at fixed bounds.
  make_zeros(asked_, r);
  still_ = problem.y_free;
  for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
    const RowBasis::Block& block = basis_.blocks()[n];
    const double* P = basis_.P(block);
    for (int i = 0; i < block.rows; ++i, P += block.columns)
      add_scaled(problem.rows[basis_.rows()[block.first_row + i]].target, P, block.columns,
                 &asked_[block.first_unknown]);
    const RowBlock& own = problem.blocks[n];
    for (int i = own.first_row; i < own.last_row; ++i) {
      const ConstraintRow& row = problem.rows[i];
      if (row.kind == RowKind::friction || !at_bound(row_class(i))) continue;
      const double f = row_class(i) == RowClass::upper ? row.upper : row.lower;
      for (int c = 0; c < own.width; ++c)
        add_scaled(f * row.d[c], &problem.L[(own.first_channel + c) * k], k, still_.data());
    }
  }
  // Solve for b, then once more for the rounding error left in P^T w_C.
  make_zeros(b_, r);
  s.y = still_;
  for (int pass = 0; pass < 2; ++pass) {
    scratch_ = asked_;
    for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
      const RowBasis::Block& block = basis_.blocks()[n];
      for (int u = block.first_unknown; u < block.first_unknown + block.columns; ++u)
        scratch_[u] -= dot(&N_[u * most_block_channels], &s.y[problem.blocks[n].first_channel],
                           problem.blocks[n].width) +
                       compliance_[u] * b_[u];
    }
    solve_S(scratch_.data());
    for (int u = 0; u < r; ++u) b_[u] += scratch_[u];
    if (pass == 1) break;
    s.y = still_;
    for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
      const RowBlock& own = problem.blocks[n];
      const RowBasis::Block& block = basis_.blocks()[n];
      double z[most_block_channels] = {};
      for (int u = block.first_unknown; u < block.first_unknown + block.columns; ++u)
        add_scaled(b_[u], &KP_[u * most_block_channels], own.width, z);
      for (int c = 0; c < own.width; ++c)
        if (z[c] != 0) add_scaled(z[c], &problem.L[(own.first_channel + c) * k], k, s.y.data());
    }
  }
  // Impulses of active rows, and of rows at their bounds.
  std::fill(s.f.begin(), s.f.end(), 0.0);
  basis_.add_impulses(b_.data(), s.f.data());
  for (int i = 0; i < problem.size(); ++i) {
    const ConstraintRow& row = problem.rows[i];
    if (!at_bound(row_class(i))) continue;
    s.f[i] = row.kind == RowKind::friction     ? bound_sign(row_class(i)) * row.mu * s.f[row.normal]
             : row_class(i) == RowClass::upper ? row.upper
                                               : row.lower;
  }
  apply_impulses(problem, s);
}

// Add values of friction rows at their bound (`width` numbers per row) to the normals that these
// rows follow, multiplied by sg mu.
void ClassFactor::carry_to_normals(const RowProblem& problem, double* rows, int width) const {
  for (int i = 0; i < problem.size(); ++i) {
    const ConstraintRow& row = problem.rows[i];
    if (row.kind != RowKind::friction || !at_bound(row_class(i))) continue;
    add_scaled(bound_sign(row_class(i)) * row.mu, rows + static_cast<std::ptrdiff_t>(i) * width,
               width, rows + static_cast<std::ptrdiff_t>(row.normal) * width);
  }
}

void ClassFactor::add_vjp(const RowProblem& problem, const RowSolution& s, const double* f_bar,
                          const double* z_bar, RowGradient& g) {
  const int m = problem.size();
  const auto row = [&](int i) -> const ConstraintRow& { return problem.rows[i]; };

  // Gradient with respect to f, where z follows f. It is carried from the rows at their bounds to
  // their normals, and from there to b.
  f_bar_.assign(f_bar, f_bar + m);
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      for (int c = 0; c < block.width; ++c)
        f_bar_[i] += row(i).d[c] * z_bar[block.first_channel + c];
    }
  }
  carry_to_normals(problem, f_bar_.data(), 1);
  make_zeros(scratch_, basis_.unknowns());
  basis_.add_projection(1, f_bar_.data(), scratch_.data());
  // Impulses, unlike velocities, depend on the selection even where it moves nothing.
  const bool is_chosen =
      has_choice_ ||
      (is_singular_ && std::any_of(f_bar, f_bar + m, [](double x) { return x != 0; }));
  if (is_chosen) b_bar_ = scratch_;
  solve_S_transposed(scratch_.data(), 1);
  // Multipliers of the rows, omega = P S^-T b_bar: the loss decreases by omega_i per unit of w_i.
  make_zeros(multiplier_, m);
  basis_.add_impulses(scratch_.data(), multiplier_.data());
  add_multipliers_vjp(problem, s, f_bar, z_bar, g);
  if (is_chosen) add_choice_vjp(problem, g);
}

// Add the part of the gradient that is due to the selection of b among all solutions. With the
// vectors N_1 (friction) and N_2 (springs) of the null space (choose_solution), and f_t, f_n the
// impulses of friction and of springs, the selected b satisfies
//   f_t(N_1) . f_t(b) = 0,   f_n(N_2) . f_n(b) = 0
// As S changes, the vectors turn by -S^+ dS N, so that b moves along them. It also moves as f = P b
// changes with P. The loss changes by
//   y_1 . dS m_1 + y_2 . dS m_2 - d(f_t(m_1) . f_t(b)) - d(f_n(m_2) . f_n(b))
//   y_1 = S^+T [b_t; 0],   y_2 = S^+T (b - [N_1t N_1^T b; 0])
//   m_2 = N_2 N_2^T b_bar,   m_1 = N_1 N_1^T (b_bar - m_2)
// where the last two terms are with respect to P alone.
void ClassFactor::add_choice_vjp(const RowProblem& problem, RowGradient& g) {
  const std::size_t n = kept_.size(), r = static_cast<std::size_t>(basis_.unknowns()),
                    count = n - static_cast<std::size_t>(rank_),
                    creeping = static_cast<std::size_t>(creeping_);
  const auto vector = [&](std::size_t k) { return null_space_.data() + k * n; };
  std::vector<double>&m_1 = choice_[0], &m_2 = choice_[1], &y_1 = seen_[0], &y_2 = seen_[1];
  make_zeros(m_1, n);
  make_zeros(m_2, n);
  make_zeros(y_1, n);
  make_zeros(y_2, n);
  // m_2, m_1, and the arguments of S^+T for y_1 and y_2.
  for (std::size_t i = 0; i < n; ++i) {
    b_bar_[i] = b_bar_[kept_[i]];
    y_2[i] = b_[kept_[i]];
  }
  const int size = static_cast<int>(n);
  for (std::size_t k = creeping; k < count; ++k)
    add_scaled(dot(vector(k), b_bar_.data(), size), vector(k), size, m_2.data());
  add_scaled(-1.0, m_2.data(), size, b_bar_.data());
  for (std::size_t i = 0; i < n; ++i)
    if (is_friction_[i]) y_1[i] = y_2[i];
  for (std::size_t k = 0; k < creeping; ++k) {
    add_scaled(dot(vector(k), b_bar_.data(), size), vector(k), size, m_1.data());
    const double along = dot(vector(k), y_2.data(), size);
    make_zeros(left_, n);
    for (std::size_t i = 0; i < n; ++i)
      if (is_friction_[i]) left_[i] = along * vector(k)[i];
    add_scaled(-1.0, left_.data(), size, y_2.data());
  }
  const std::vector<double> nothing(
      problem.rows.size() + static_cast<std::size_t>(problem.channels), 0.0);
  // Products y . dS m for friction and for springs.
  for (const int k : {0, 1}) {
    const std::vector<double>& m = choice_[k];
    if (std::all_of(m.begin(), m.end(), [](double x) { return x == 0; })) continue;
    qr_.solve_transposed(seen_[k].data());
    make_zeros(scratch_, r);
    make_zeros(other_b_, r);
    for (std::size_t i = 0; i < n; ++i) {
      scratch_[kept_[i]] = -seen_[k][i];
      other_b_[kept_[i]] = m[i];
    }
    make_zeros(multiplier_, problem.rows.size());
    basis_.add_impulses(scratch_.data(), multiplier_.data());
    moved_.resize(problem);
    std::fill(moved_.f.begin(), moved_.f.end(), 0.0);
    basis_.add_impulses(other_b_.data(), moved_.f.data());
    make_zeros(impulses_, problem.rows.size());
    basis_.add_impulses(b_.data(), impulses_.data());
    add_choice_vjp_of_basis(problem, k == 0, g);
    for (int i = 0; i < problem.size(); ++i) {
      const ConstraintRow& row = problem.rows[i];
      if (row.kind == RowKind::friction && at_bound(row_class(i)))
        moved_.f[i] = bound_sign(row_class(i)) * row.mu * moved_.f[row.normal];
    }
    apply_impulses(problem, moved_);
    for (std::size_t c = 0; c < moved_.y.size(); ++c) moved_.y[c] -= problem.y_free[c];
    add_product_vjp(problem, moved_, other_b_, false, nothing.data(),
                    nothing.data() + problem.size(), g);
  }
}

// Add the terms due to P, of friction or of springs. Uses other_b_, which is m, and b_, with their
// impulses moved_.f and impulses_.
void ClassFactor::add_choice_vjp_of_basis(const RowProblem& problem, bool of_friction,
                                          RowGradient& g) {
  for (const auto& [b, other] : {std::pair(&b_, &moved_.f), std::pair(&other_b_, &impulses_)}) {
    make_zeros(f_bar_, problem.rows.size());
    for (const int row : basis_.rows())
      if (creeps(problem.rows[row]) == of_friction) f_bar_[row] = -(*other)[row];
    add_basis_vjp(problem, *b, f_bar_.data(), g);
  }
}

bool ClassFactor::has_dependences(const RowProblem& problem) const {
  for (std::size_t n = 0; n < problem.blocks.size(); ++n)
    if (!problem.blocks[n].is_of_one_plane && basis_.blocks()[n].rows > basis_.blocks()[n].columns)
      return true;
  return rank_ < basis_.unknowns();
}

// Compute multiplier_: the weights of the rows in a weighted sum of all dependences.
void ClassFactor::fill_dependences(const RowProblem& problem) {
  // Weights between 0.5 and 1.5 without the symmetries that rows may have, such as those of a box:
  // Knuth's linear congruential numbers.
  std::uint64_t number = 1;
  const auto weight = [&] {
    number = number * 6364136223846793005u + 1442695040888963407u;
    return 0.5 + static_cast<double>(number >> 11) * 0x1p-53;
  };
  make_zeros(multiplier_, problem.rows.size());
  make_zeros(scratch_, basis_.unknowns());
  column_.resize(basis_.unknowns());
  // Weights g of the rows of a block, projected so that D_C^T does not see them: g - P Q^T D_C^T g,
  // as N Q^T is 1 on range(D_C^T).
  for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
    const RowBasis::Block& block = basis_.blocks()[n];
    if (problem.blocks[n].is_of_one_plane) continue;
    const int width = problem.blocks[n].width;
    double pushed[most_block_channels] = {};  // D_C^T g
    for (int i = block.first_row; i < block.first_row + block.rows; ++i) {
      const ConstraintRow& row = problem.rows[basis_.rows()[i]];
      if (row.compliance > 0) continue;
      const double g = multiplier_[basis_.rows()[i]] = weight();
      add_scaled(g, row.d, width, pushed);
    }
    for (int c = 0; c < width; ++c)
      add_scaled(-pushed[c], basis_.Q(block) + c * block.columns, block.columns,
                 &scratch_[block.first_unknown]);
  }
  // Dependences between blocks: the left null space of S.
  for_each_dropped([&](int u) { scratch_[u] += weight(); });
  for (int k = 0; is_singular_ && k < static_cast<int>(kept_.size()) - rank_; ++k) {
    with_kept(column_.data(), [&](double* x) { qr_.dependence(k, x); });
    const double of_all = weight();
    for (int u = 0; u < basis_.unknowns(); ++u) scratch_[u] += of_all * column_[u];
  }
  basis_.add_impulses(scratch_.data(), multiplier_.data());
}

void ClassFactor::add_dependence_vjp(const RowProblem& problem, const RowSolution& s,
                                     RowGradient& g) {
  fill_dependences(problem);
  make_zeros(unpushed_, problem.rows.size() + static_cast<std::size_t>(problem.channels));
  add_multipliers_vjp(problem, s, unpushed_.data(), unpushed_.data() + problem.size(), g);
}

// Add the gradient of the solution for the rows' multipliers in multiplier_.
void ClassFactor::add_multipliers_vjp(const RowProblem& problem, const RowSolution& s,
                                      const double* f_bar, const double* z_bar, RowGradient& g) {
  add_product_vjp(problem, s, b_, true, f_bar, z_bar, g);
}

// Add the gradient of minus the multipliers times the rows' velocities under the impulses of b.
// of_solution: y_free, targets and numeric bounds count, too.
void ClassFactor::add_product_vjp(const RowProblem& problem, const RowSolution& s,
                                  const std::vector<double>& b, bool of_solution,
                                  const double* f_bar, const double* z_bar, RowGradient& g) {
  const int m = problem.size(), k = problem.channels;
  const auto row = [&](int i) -> const ConstraintRow& { return problem.rows[i]; };
  const auto own = [&](const std::vector<double>& v, int i) { return v[i]; };

  make_zeros(z_bar_, k);  // gradient in y+ at first: -D_C^T omega
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      const double omega = own(multiplier_, i);
      if (omega == 0) continue;
      if (of_solution) g.target[i] += omega;
      g.compliance[i] -= omega * own(s.f, i);
      for (int c = 0; c < block.width; ++c) {
        g.d[i * most_block_channels + c] -= omega * own(s.y, block.first_channel + c);
        z_bar_[block.first_channel + c] -= omega * row(i).d[c];
      }
    }
  }
  make_zeros(scratch_, k);
  for (int a = 0; a < k; ++a) {
    const double y_bar = own(z_bar_, a);
    if (of_solution) g.y_free[a] += y_bar;
    for (int c = 0; c < k; ++c) scratch_[c] += y_bar * problem.L[a * k + c];
    for (int c = 0; c < k && !g.L.empty(); ++c) g.L[a * k + c] += y_bar * own(s.z, c);
  }
  for (int c = 0; c < k; ++c) z_bar_[c] = scratch_[c] + z_bar[c];

  f_bar_.resize(m);
  // At fixed b, impulses depend on P = D_C Q (rows without compliance), on mu and on the bounds.
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      double& f = f_bar_[i] = f_bar[i];
      for (int c = 0; c < block.width; ++c) {
        g.d[i * most_block_channels + c] += own(s.f, i) * own(z_bar_, block.first_channel + c);
        f += row(i).d[c] * own(z_bar_, block.first_channel + c);
      }
    }
  }
  for (int i = 0; i < m; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    if (!at_bound(row_class(i))) continue;
    if (row(i).kind == RowKind::friction)
      g.mu[at] += bound_sign(row_class(i)) * own(s.f, row(i).normal) * f_bar_[at];
    else if (of_solution)
      (row_class(i) == RowClass::upper ? g.upper : g.lower)[at] += f_bar_[at];
  }
  carry_to_normals(problem, f_bar_.data(), 1);
  add_basis_vjp(problem, b, f_bar_.data(), g);
}

// Add the gradient due to the dependence of the impulses of b on P. f_bar: gradient of the loss in
// the impulses of active rows.
void ClassFactor::add_basis_vjp(const RowProblem& problem, const std::vector<double>& b,
                                const double* f_bar, RowGradient& g) const {
  const auto row = [&](int i) -> const ConstraintRow& { return problem.rows[i]; };
  for (std::size_t n = 0; n < problem.blocks.size(); ++n) {
    const RowBasis::Block& block = basis_.blocks()[n];
    const int width = problem.blocks[n].width;
    // u and c (row_basis.h). c turns with the springs, as D_n c = 0: by -Q_n P_n^T dD_n c. seen:
    // f_bar of friction, projected on the springs' columns.
    double u[most_block_channels] = {}, crept[most_block_channels] = {},
           seen[most_block_channels] = {};
    for (int c = 0; c < width; ++c) {
      const double* const Q = basis_.Q(block) + c * block.columns;
      for (int e = 0; e < block.independent; ++e)
        (e < block.springs ? u : crept)[c] += Q[e] * b[block.first_unknown + e];
    }
    for (int i = 0; i < block.rows; ++i) {
      const int clamping = basis_.rows()[block.first_row + i];
      if (row(clamping).compliance > 0) continue;
      const double bar = f_bar[clamping];
      for (int c = 0; c < width; ++c)
        g.d[clamping * most_block_channels + c] += bar * (creeps(row(clamping)) ? crept : u)[c];
      for (int c = 0; c < width && creeps(row(clamping)); ++c)
        add_scaled(bar * row(clamping).d[c], basis_.Q(block) + c * block.columns, block.springs,
                   seen);
    }
    for (int i = 0; i < block.rows; ++i) {
      const int clamping = basis_.rows()[block.first_row + i];
      if (row(clamping).compliance > 0 || creeps(row(clamping))) continue;
      const double turned = dot(basis_.P(block) + i * block.columns, seen, block.springs);
      for (int c = 0; c < width; ++c) g.d[clamping * most_block_channels + c] -= turned * crept[c];
    }
  }
}

}  // namespace robosim
