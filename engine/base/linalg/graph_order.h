// Reverse Cuthill-McKee order of a graph's nodes: neighbors are close to each other, so that the
// envelope of a factor is small (envelope.h). George and Liu, "Computer solution of large sparse
// positive definite systems" (1981), section 4.3.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace robosim {

class GraphOrder {
 public:
  void reset(int nodes) {
    neighbors_.resize(std::max(at(nodes), neighbors_.size()));
    n_ = nodes;
    clear();
  }
  void connect(int a, int b) {
    neighbors_[a].push_back(b);
    neighbors_[b].push_back(a);
  }

  // Return the order of all nodes: from a node with the fewest neighbors, layer by layer, nodes
  // with fewer neighbors first; then reversed.
  const std::vector<int>& order() {
    order_.clear();
    is_in_.assign(n_, 0);
    for (int i = 0; i < n_; ++i) {
      std::vector<int>& own = neighbors_[i];
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    const auto has_fewer = [&](int a, int b) {
      const std::size_t of_a = neighbors_[a].size(), of_b = neighbors_[b].size();
      return of_a != of_b ? of_a < of_b : a < b;
    };
    for (std::size_t next = 0; order_.size() < at(n_);) {
      if (next == order_.size()) {
        int first = -1;
        for (int i = 0; i < n_; ++i)
          if (!is_in_[i] && (first < 0 || has_fewer(i, first))) first = i;
        take(first);
      }
      const std::size_t layer = order_.size();
      for (const int i : neighbors_[order_[next++]])
        if (!is_in_[i]) take(i);
      std::sort(order_.begin() + static_cast<std::ptrdiff_t>(layer), order_.end(), has_fewer);
    }
    std::reverse(order_.begin(), order_.end());
    return order_;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void clear() {
    for (int i = 0; i < n_; ++i) neighbors_[i].clear();
  }
  void take(int i) {
    order_.push_back(i);
    is_in_[i] = 1;
  }

  int n_ = 0;
  std::vector<std::vector<int>> neighbors_;
  std::vector<int> order_;
  std::vector<char> is_in_;
};

}  // namespace robosim
