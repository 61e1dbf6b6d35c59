// Sparse factor of the mass matrix, M = L^T D L with unit lower triangular L, and solves with it.
//
// Elimination of the coordinates from the leaves to the root fills no entry outside the tree's
// own pattern (Model::rows, to which mimic joints add). Featherstone, "Efficient factorization of
// the joint-space inertia matrix for branched kinematic trees", Int. J. Robotics Research 24
// (2005), algorithms LTDL and table 6.5 of his book. Cost O(n depth^2) and, per right-hand side,
// O(n depth).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "base/lanes.h"
#include "model/data.h"

namespace robosim {

// Number of columns per block of a solve. Matrices with rows padded to a multiple of it need no
// remainder loops.
inline constexpr int solve_block = 8;
constexpr int padded(int width, int from = 0) {
  return from + (width - from + solve_block - 1) / solve_block * solve_block;
}

namespace detail {

// Factor the entries of row i at N columns of `path`, by subtracting all rows of descendants of i.
// The first block of a row also updates the diagonal, and divides column i by D.
template <int N, bool first, class S>
void factor_block(const Model& model, S* L, int i, const int* path) {
  const int n = model.n_v;
  S *own = L + i * n, x[N + 1], diagonal = own[i];
  for (int t = 0; t < N; ++t) x[t] = own[path[t]];
  for (int c = model.column_begin[i + 1] - 1; c >= model.column_begin[i]; --c) {
    const int k = model.columns[c];
    S* row = L + k * n;
    if constexpr (first) {
      const S whole = row[i];
      row[i] = whole * row[k];
      diagonal = nmul_add(row[i], whole, diagonal);
    }
    const S a = row[i];
    for (int t = 0; t < N; ++t) x[t] = nmul_add(a, row[path[t]], x[t]);
  }
  for (int t = 0; t < N; ++t) own[path[t]] = x[t];
  if constexpr (first) own[i] = S(1) / diagonal;
}

template <class S, int... N>
void factor_rows(const Model& model, S* L, std::integer_sequence<int, N...>) {
  using Block = void (*)(const Model&, S*, int, const int*);
  constexpr Block first[] = {&factor_block<N, true, S>...},
                  more[] = {&factor_block<N, false, S>...};
  for (int i = model.n_v - 1; i >= 0; --i) {
    const int *path = model.rows.data() + model.row_begin[i],
              *end = model.rows.data() + model.row_begin[i + 1];
    const Block* blocks = first;
    do {
      const int count = std::min(static_cast<int>(end - path), solve_block);
      blocks[count](model, L, i, path);
      path += count;
      blocks = more;
    } while (path < end);
  }
}

}  // namespace detail

// Factor a symmetric positive-definite M (n_v x n_v, as Pattern::tree_lower), given in L: L gets
// the factor below the diagonal, and 1 / D on it. The factor of a singular matrix is not finite.
template <class S>
void mass_factor(const Model& model, S* L) {
  detail::factor_rows(model, L, std::make_integer_sequence<int, solve_block + 1>());
}

namespace detail {

// Registers of neighboring columns: one column, or for S of a single number as many as fit.
template <class S>
struct OneColumn {
  using Type = S;
  static constexpr int width = 1;
  static ROBOSIM_INLINE Type load(const S* from) { return *from; }
  static ROBOSIM_INLINE void store(const Type& x, S* to) { *to = x; }
  static ROBOSIM_INLINE Type all(const S& x) { return x; }
};
template <class S>
struct Pack : OneColumn<S> {};
template <Isa isa>
struct Pack<Lanes<1, isa>> {
  using S = Lanes<1, isa>;
  static constexpr int width = lanes_of(isa);
  using Type = Lanes<width, isa>;
  static ROBOSIM_INLINE Type load(const S* from) {
    Type x;
    std::memcpy(&x, from, sizeof(x));
    return x;
  }
  // By value: see base/lane_memory.h.
  static ROBOSIM_INLINE void store(Type x, S* to) {
    std::memcpy(static_cast<void*>(to), &x, sizeof(x));
  }
  static ROBOSIM_INLINE Type all(const S& x) { return Type(x.v); }
};

// M^-1 B for N packs of columns from `begin`: first L^-T, where each row subtracts rows of its
// descendants, then D^-1 and L^-1, where it subtracts those of its ancestors. tree: skip blocks of
// B that are zero because their coordinates are unrelated. last: last row of B that is not zero,
// for the upper triangle of the inverse.
template <class P, int N, class S>
void solve_columns(const Model& model, const S* L, S* B, int stride, int begin, bool tree,
                   int last) {
  const int n = model.n_v;
  const auto bit = [](int column) {
    return std::uint64_t{1} << std::min(column / solve_block, 63);
  };
  const std::uint64_t own = bit(begin) | bit(begin + solve_block - 1);
  typename P::Type x[N];
  const auto take = [&](int from, const S& l) __attribute__((always_inline)) {
    const S* row = B + from * stride + begin;
    for (int k = 0; k < N; ++k) x[k] = nmul_add(P::all(l), P::load(row + k * P::width), x[k]);
  };
  for (int i = last; i >= 0; --i) {
    if (tree && !(model.related[i] & own)) continue;
    S* row = B + i * stride + begin;
    for (int k = 0; k < N; ++k) x[k] = P::load(row + k * P::width);
    for (int c = model.column_begin[i]; c < model.column_begin[i + 1]; ++c) {
      const int from = model.columns[c];
      if (from > last) break;
      if (!tree || (model.related[from] & own)) take(from, L[from * n + i]);
    }
    for (int k = 0; k < N; ++k) P::store(x[k], row + k * P::width);
  }
  for (int i = 0; i <= last; ++i) {
    S* row = B + i * stride + begin;
    const typename P::Type inverse = P::all(L[i * n + i]);
    for (int k = 0; k < N; ++k) x[k] = inverse * P::load(row + k * P::width);
    for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r)
      take(model.rows[r], L[i * n + model.rows[r]]);
    for (int k = 0; k < N; ++k) P::store(P::all(S(0)) + x[k], row + k * P::width);
  }
}

// Solve for all columns from `begin`. upper: B is the identity, and only the upper triangle
// is needed.
template <class S>
void solve_blocks(const Model& model, const S* L, S* B, int begin, int width, int stride, bool tree,
                  bool upper) {
  using P = Pack<S>;
  constexpr int packs = solve_block / P::width;
  const auto last = [&](int end) { return upper && end < model.n_v ? end - 1 : model.n_v - 1; };
  if constexpr (P::width > 1) {  // four blocks at once, as many as fit into registers
    for (; begin + 4 * solve_block <= width; begin += 4 * solve_block)
      solve_columns<P, 4 * packs>(model, L, B, stride, begin, false, last(begin + 4 * solve_block));
  }
  for (; begin + solve_block <= width; begin += solve_block)
    solve_columns<P, packs>(model, L, B, stride, begin, tree, last(begin + solve_block));
  for (; begin < width; ++begin)  // remaining columns, one by one
    solve_columns<OneColumn<S>, 1>(model, L, B, stride, begin, false, last(begin + 1));
}

// Solve T matrices with the tree's pattern, for N consecutive columns from s on one branch. Rows on
// other branches are zero, and are neither read nor subtracted until L^-1 fills them. upper: each
// matrix is the identity, which is not read either. Two matrices at once keep the arithmetic units
// busy for small N, as each sum waits for its last term.
template <int N, int T, class S>
void solve_branch(const Model& model, const S* L, S* const (&B)[T], int stride, int s, bool upper) {
  const int n = model.n_v, end = upper ? s + N : model.behind_end(s);
  const int *path = model.rows.data() + model.row_begin[s],
            depth = model.row_begin[s + 1] - model.row_begin[s];
  S x[T][N];
  const auto each = [&](int i, auto&& use) __attribute__((always_inline)) {
    for (int t = 0; t < T; ++t) {
      S* row = B[t] + i * stride + s;
      for (int k = 0; k < N; ++k) use(x[t][k], row[k], k);
    }
  };
  const auto load = [&](int i) __attribute__((always_inline)) {
    each(
        i, [&](S & to, const S& from, int k)
               __attribute__((always_inline)) { to = upper ? S(i - s == k ? 1.0 : 0.0) : from; });
  };
  const auto store = [&](int i) __attribute__((always_inline)) {
    each(
        i, [](const S& from, S& to, int) __attribute__((always_inline)) { to = from; });
  };
  const auto take = [&](int from, const S& l) __attribute__((always_inline)) {
    each(
        from, [&](S & sum, const S& term, int)
                  __attribute__((always_inline)) { sum = nmul_add(l, term, sum); });
  };
  // L^-T on the branch, and then on the path to the root.
  for (int i = end - 1; i >= s; --i) {
    load(i);
    for (int c = i + 1, behind = std::min(end, model.behind_end(i)); c < behind; ++c)
      take(c, L[c * n + i]);
    store(i);
  }
  for (int a = 0; a < depth; ++a) {
    const int i = path[a];
    load(i);
    for (int b = a - 1; b >= 0; --b) take(path[b], L[path[b] * n + i]);
    for (int c = s; c < end; ++c) take(c, L[c * n + i]);
    store(i);
  }
  // D^-1 and L^-1.
  int next = depth - 1;  // on the path from the root
  for (int i = 0, rows = upper ? end : n; i < rows; ++i) {
    const bool on_path = next >= 0 && path[next] == i;
    if (on_path) --next;
    const bool filled = on_path || (i >= s && i < end);
    const S& inverse = L[i * n + i];
    each(
        i, [&](S & to, const S& from, int)
               __attribute__((always_inline)) { to = filled ? inverse * from : S(0); });
    for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r)
      take(model.rows[r], L[i * n + model.rows[r]]);
    each(
        i, [](const S& from, S& to, int) __attribute__((always_inline)) { to = S(0) + from; });
  }
}

// Solve for columns `from` to `to`.
template <int T, class S, int... N>
void solve_branches(const Model& model, const S* L, S* const (&B)[T], int from, int to, int stride,
                    bool upper, std::integer_sequence<int, N...>) {
  constexpr void (*solve[])(const Model&, const S*, S* const(&)[T], int, int,
                            bool) = {&solve_branch<N + 1, T, S>...};
  for (int s = from, end; s < to; s = end) {
    const int behind = model.behind_end(s), most = std::min({to, behind, s + solve_block});
    for (end = s + 1; end < most && model.behind_end(end) == behind; ++end) {
    }
    solve[end - s - 1](model, L, B, stride, s, upper);
  }
}

}  // namespace detail

// Replace B (n_v x width, rows `stride` apart, 0: width) by M^-1 B.
template <class S>
void mass_solve(const Model& model, const S* L, S* B, int width, int stride = 0) {
  detail::solve_blocks(model, L, B, 0, width, stride ? stride : width, false, false);
}

// The two halves of M^-1 = U^-1 U^-T with U = D^1/2 L, on a subset of coordinates in descending
// order that is closed under Model::rows. at: index of each coordinate in the subset. First U^-T x
// (coordinates x width); then U^-1 of a single x.
inline void mass_solve_first_half(const Model& model, const double* L,
                                  std::span<const int> coordinates, const int* at, double* x,
                                  int width) {
  const std::ptrdiff_t n = model.n_v;
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    const int i = coordinates[k];
    double* const own = x + static_cast<std::ptrdiff_t>(k) * width;
    for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r) {
      const double l = L[i * n + model.rows[r]];
      double* const other = x + std::ptrdiff_t{at[model.rows[r]]} * width;
      for (int c = 0; c < width; ++c) other[c] -= l * own[c];
    }
    const double scale = std::sqrt(L[i * n + i]);
    for (int c = 0; c < width; ++c) own[c] *= scale;
  }
}
inline void mass_solve_second_half(const Model& model, const double* L,
                                   std::span<const int> coordinates, const int* at, double* x) {
  const std::ptrdiff_t n = model.n_v;
  for (std::size_t k = coordinates.size(); k-- > 0;) {
    const int i = coordinates[k];
    double sum = std::sqrt(L[i * n + i]) * x[k];
    for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r)
      sum -= L[i * n + model.rows[r]] * x[at[model.rows[r]]];
    x[k] = sum;
  }
}

// True if mass_solve_tree and mass_inverse work in place, on rows that are not padded.
template <class S>
constexpr bool solves_in_place = detail::Pack<S>::width == 1;

// Replace the columns of each B (n_v x n_v, as Pattern::tree) from `from` on by those of M^-1 B.
// Unless solves_in_place, or with mimic joints, the rest of B must be zero, including columns up to
// padded(n_v, from). Rows are `stride` apart.
template <int T, class S>
void mass_solve_tree(const Model& model, const S* L, S* const (&B)[T], const int (&from)[T],
                     int stride) {
  if constexpr (solves_in_place<S>) {
    if (!model.has_mimic) {
      constexpr auto sizes = std::make_integer_sequence<int, solve_block>();
      const int together = *std::max_element(from, from + T);
      for (int t = 0; t < T; ++t)
        detail::solve_branches(model, L, {B[t]}, from[t], together, stride, false, sizes);
      return detail::solve_branches(model, L, B, together, model.n_v, stride, false, sizes);
    }
  }
  for (int t = 0; t < T; ++t)
    detail::solve_blocks(model, L, B[t], from[t], padded(model.n_v, from[t]), stride,
                         !model.has_mimic, false);
}

// Inverse M^-1 (n_v x n_v) as Pattern::upper.
template <class S>
void mass_inverse(const Model& model, const S* L, Scratch<S>& scratch, S* inverse) {
  const int n = model.n_v, stride = padded(n);
  if constexpr (solves_in_place<S>) {
    if (!model.has_mimic)
      return detail::solve_branches(model, L, {inverse}, 0, n, n, true,
                                    std::make_integer_sequence<int, solve_block>());
  }
  S* B = scratch.take(static_cast<std::size_t>(n) * static_cast<std::size_t>(stride));
  std::fill_n(B, n * stride, S(0));
  for (int k = 0; k < n; ++k) B[k * stride + k] = S(1);
  detail::solve_blocks(model, L, B, 0, stride, stride, !model.has_mimic, true);
  for (int i = 0; i < n; ++i) std::copy_n(B + i * stride + i, n - i, inverse + i * n + i);
}

}  // namespace robosim
