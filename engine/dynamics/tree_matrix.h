// Square matrices over the coordinates that are zero for coordinates on different branches of the
// tree, as the mass matrix and the derivatives of inverse dynamics are. Kernels fill the remaining
// entries (Pattern). The zeros, and the other half of symmetric matrices, are added to the final
// result: for one state here, for lanes by a table as they are stored.
#pragma once

#include <algorithm>
#include <vector>

#include "base/lanes.h"
#include "dynamics/operation.h"

namespace robosim {

// True if the kernels of S fill both halves for the pattern tree_lower: cheaper for one number than
// a second pass.
template <class S>
inline constexpr bool fills_both = true;
template <int W, Isa isa>
inline constexpr bool fills_both<Lanes<W, isa>> = W == 1;

// Prepare M (n_v x n_v) for an algorithm that fills the entries of `pattern`.
template <class S>
void clear_unrelated(const Model& model, Pattern pattern, S* M) {
  if (!on_tree(pattern) || model.all_related()) return;
  std::fill_n(M, model.n_v * model.n_v, S(0));
}

// Complete M after that algorithm.
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

// Index of each entry of the full matrix in the output of the algorithm (n_v^2 entries); n_v^2, one
// past the end, for zeros.
std::vector<int> entries_of(const Model& model, Pattern pattern);

}  // namespace robosim
