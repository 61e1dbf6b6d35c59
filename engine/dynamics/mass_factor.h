// Sparse factor of the mass matrix, M = L^T D L with unit lower triangular L, and solves with it.
//
// Eliminating coordinates from the leaves to the root fills nothing beyond the tree's own pattern (Model::rows, where mimic
// joints add to it). Featherstone, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees",
// Int. J. Robotics Research 24 (2005), algorithms LTDL and table 6.5 of his book. Cost O(n depth^2) and, per right-hand
// side, O(n depth).
#pragma once

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

// B (n_v x width, row by row) becomes L^-T B, then D^-1 of that, then L^-1 of that: M^-1 B.
template <class S>
void mass_solve(const Model& model, const S* L, S* B, int width) {
  constexpr int block = sizeof(S) > 8 ? 8 : 64;  // columns at a time, so that they stay in the first-level cache
  const int n = model.n_v;
  for (int begin = 0; begin < width; begin += block) {
    const int end = begin + block < width ? begin + block : width;
    for (int i = n - 1; i >= 0; --i) {
      S* row = B + i * width;
      for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r) {
        const S l = L[i * n + model.rows[r]];
        S* to = B + model.rows[r] * width;
        for (int w = begin; w < end; ++w) to[w] = nmul_add(l, row[w], to[w]);
      }
      for (int w = begin; w < end; ++w) row[w] *= L[i * n + i];
    }
    for (int i = 0; i < n; ++i) {
      S* row = B + i * width;
      for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r) {
        const S l = L[i * n + model.rows[r]];
        const S* from = B + model.rows[r] * width;
        for (int w = begin; w < end; ++w) row[w] = nmul_add(l, from[w], row[w]);
      }
    }
  }
}

// M^-1 (n_v x n_v) = L^-1 D^-1 L^-T, symmetric: only entries (i, w >= i) are computed, and mirrored.
template <class S>
void mass_inverse(const Model& model, const S* L, S* inverse) {
  const int n = model.n_v;
  for (int k = 0; k < n * n; ++k) inverse[k] = S(0);
  // D^-1 L^-T, upper triangular.
  for (int i = n - 1; i >= 0; --i) {
    S* row = inverse + i * n;
    row[i] = S(1);
    for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r) {
      const S l = L[i * n + model.rows[r]];
      S* to = inverse + model.rows[r] * n;
      for (int w = i; w < n; ++w) to[w] = nmul_add(l, row[w], to[w]);
    }
    for (int w = i; w < n; ++w) row[w] *= L[i * n + i];
  }
  for (int i = 0; i < n; ++i) {
    S* row = inverse + i * n;
    for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r) {
      const S l = L[i * n + model.rows[r]];
      const S* from = inverse + model.rows[r] * n;
      for (int w = i; w < n; ++w) row[w] = nmul_add(l, from[w], row[w]);
    }
    for (int w = i + 1; w < n; ++w) inverse[w * n + i] = row[w];
  }
}

}  // namespace robosim
