// Square matrices over the coordinates that are zero where two coordinates are on different
// branches of the tree, as the mass matrix and the derivatives of inverse dynamics are. Kernels
// fill the rest (Pattern); the zeros, and of symmetric matrices the other half, are added where a
// result leaves: for one state here, for lanes while they go to their places, by a table.
#pragma once

#include <algorithm>
#include <vector>

#include "base/lanes.h"
#include "dynamics/operation.h"

namespace robosim {

// Whether the kernels of S fill both halves where the pattern is tree_lower: cheaper for one number
// than going there again.
template <class S>
inline constexpr bool fills_both = true;
template <int W, Isa isa>
inline constexpr bool fills_both<Lanes<W, isa>> = W == 1;

// The part before an algorithm that fills what `pattern` says of M (n_v x n_v).
template <class S>
void clear_unrelated(const Model& model, Pattern pattern, S* M) {
  if (!on_tree(pattern) || model.all_related()) return;
  std::fill_n(M, model.n_v * model.n_v, S(0));
}

// The part after it.
template <class S>
void mirror(const Model& model, Pattern pattern, S* M) {
  const int n = model.n_v;
  if (pattern == Pattern::tree_lower && !fills_both<S>) {
    for (int i = 0; i < n; ++i)
      for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r)
        M[model.rows[r] * n + i] = M[i * n + model.rows[r]];
  } else if (pattern == Pattern::upper) {
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < i; ++j) M[i * n + j] = M[j * n + i];
  }
}

// Where each entry of the whole matrix is found in what the algorithm filled; n_v^2, one beyond
// all, where it is zero.
std::vector<int> entries_of(const Model& model, Pattern pattern);

}  // namespace robosim
