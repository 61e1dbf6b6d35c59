// Sparse factor of the mass matrix, M = L^T D L with unit lower triangular L, and solves with it.
//
// Eliminating coordinates from the leaves to the root fills nothing beyond the tree's own pattern (Model::rows, where mimic
// joints add to it). Featherstone, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees",
// Int. J. Robotics Research 24 (2005), algorithms LTDL and table 6.5 of his book. Cost O(n depth^2) and, per right-hand
// side, O(n depth).
#pragma once

#include <cstring>

#include "base/lanes.h"
#include "model/data.h"

namespace robosim {

// Of a symmetric positive-definite M (its lower triangle, n_v x n_v). Fills L: below the diagonal the factor, on it 1 / D. A
// singular matrix gives a factor that is not finite. L may be M.
template <class S>
void mass_factor(const Model& model, const S* M, S* L) {
  const int n = model.n_v;
  if (L != M)
    for (int k = 0; k < n; ++k) {
      L[k * n + k] = M[k * n + k];
      for (int r = model.row_begin[k]; r < model.row_begin[k + 1]; ++r) L[k * n + model.rows[r]] = M[k * n + model.rows[r]];
    }
  for (int k = n - 1; k >= 0; --k) {
    const S inverse = S(1) / L[k * n + k];
    L[k * n + k] = inverse;
    const int end = model.row_begin[k + 1];
    for (int r = model.row_begin[k]; r < end; ++r) {
      const int i = model.rows[r];
      const S a = L[k * n + i] * inverse;
      for (int t = r; t < end; ++t) {  // the rows' columns j <= i
        const int j = model.rows[t];
        L[i * n + j] = nmul_add(a, L[k * n + j], L[i * n + j]);
      }
      L[k * n + i] = a;
    }
  }
}

// Columns are solved for in blocks of so many; matrices whose rows are padded to that take no detours.
inline constexpr int solve_block = 8;
constexpr int padded(int width) { return (width + solve_block - 1) / solve_block * solve_block; }

namespace detail {

// Neighbouring columns in one register: one, or where S is a single number, as many as there is room for.
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
  static ROBOSIM_INLINE void store(const Type& x, S* to) { std::memcpy(static_cast<void*>(to), &x, sizeof(x)); }
  static ROBOSIM_INLINE Type all(const S& x) { return Type(x.v); }
};

// M^-1 B for N packs of columns from `begin`: first L^-T, where each row takes from those behind it, then D^-1 and L^-1, where
// it takes from those before it, up to row `last`. With `tree`, blocks of B that are zero for being unrelated are passed over.
template <class P, int N, class S>
void solve_columns(const Model& model, const S* L, S* B, int stride, int begin, bool tree, int last) {
  const int n = model.n_v;
  const std::uint64_t own = std::uint64_t{1} << (begin / solve_block < 63 ? begin / solve_block : 63);
  typename P::Type x[N];
  const auto take = [&](int from, const S& l) __attribute__((always_inline)) {
    const S* row = B + from * stride + begin;
    for (int k = 0; k < N; ++k) x[k] = nmul_add(P::all(l), P::load(row + k * P::width), x[k]);
  };
  for (int i = n - 1; i >= 0; --i) {
    if (tree && !(model.related[i] & own)) continue;
    S* row = B + i * stride + begin;
    for (int k = 0; k < N; ++k) x[k] = P::load(row + k * P::width);
    for (int c = model.column_begin[i]; c < model.column_begin[i + 1]; ++c) {
      const int from = model.columns[c];
      if (!tree || (model.related[from] & own)) take(from, L[from * n + i]);
    }
    for (int k = 0; k < N; ++k) P::store(x[k], row + k * P::width);
  }
  for (int i = 0; i <= last; ++i) {
    S* row = B + i * stride + begin;
    const typename P::Type inverse = P::all(L[i * n + i]);
    for (int k = 0; k < N; ++k) x[k] = inverse * P::load(row + k * P::width);
    for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r) take(model.rows[r], L[i * n + model.rows[r]]);
    for (int k = 0; k < N; ++k) P::store(x[k], row + k * P::width);
  }
}

// All columns. `symmetric`: of an inverse only the rows up to each block's last column are wanted.
template <class S>
void solve_blocks(const Model& model, const S* L, S* B, int width, int stride, bool tree, bool symmetric) {
  using P = Pack<S>;
  constexpr int packs = solve_block / P::width;
  const auto last = [&](int end) { return symmetric && end < model.n_v ? end - 1 : model.n_v - 1; };
  int begin = 0;
  if constexpr (P::width > 1) {  // four blocks at once, while registers last
    for (; begin + 4 * solve_block <= width; begin += 4 * solve_block)
      solve_columns<P, 4 * packs>(model, L, B, stride, begin, false, last(begin + 4 * solve_block));
  }
  for (; begin + solve_block <= width; begin += solve_block)
    solve_columns<P, packs>(model, L, B, stride, begin, tree, last(begin + solve_block));
  for (; begin < width; ++begin)  // what is left, column by column
    solve_columns<OneColumn<S>, 1>(model, L, B, stride, begin, false, last(begin + 1));
}

}  // namespace detail

// B (n_v x width, rows `stride` apart, 0: width) becomes M^-1 B. With `tree`, B has the sparsity of M itself, zeros where two
// coordinates are on different branches, which saves a part.
template <class S>
void mass_solve(const Model& model, const S* L, S* B, int width, int stride = 0, bool tree = false) {
  detail::solve_blocks(model, L, B, width, stride ? stride : width, tree && !model.has_mimic, false);
}

// M^-1 (n_v x n_v), symmetric: the upper half is computed, with padded rows in `scratch` (n_v x padded(n_v)), and mirrored.
template <class S>
void mass_inverse(const Model& model, const S* L, S* scratch, S* inverse) {
  const int n = model.n_v, stride = padded(n);
  for (int k = 0; k < n * stride; ++k) scratch[k] = S(0);
  for (int k = 0; k < n; ++k) scratch[k * stride + k] = S(1);
  detail::solve_blocks(model, L, scratch, stride, stride, !model.has_mimic, true);
  for (int i = 0; i < n; ++i)
    for (int w = i; w < n; ++w) inverse[i * n + w] = inverse[w * n + i] = S(0) + scratch[i * stride + w];
}

}  // namespace robosim
