// Table that scatters lanes of tree matrices to the full matrix. For any processor, so not in a
// header that kernels include.
#include "dynamics/tree_matrix.h"

namespace robosim {

std::vector<int> entries_of(const Model& model, Pattern pattern) {
  const int n = model.n_v, zero = n * n;
  std::vector<int> entries(static_cast<std::size_t>(zero), on_tree(pattern) ? zero : 0);
  const auto set = [&](int i, int j) {  // j <= i
    entries[i * n + j] = pattern == Pattern::upper ? j * n + i : i * n + j;
    entries[j * n + i] = pattern == Pattern::tree_lower ? i * n + j : j * n + i;
  };
  for (int i = 0; i < n; ++i) {
    set(i, i);
    if (on_tree(pattern))
      for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r) set(i, model.rows[r]);
    else
      for (int j = 0; j < i; ++j) set(i, j);
  }
  return entries;
}

}  // namespace robosim
