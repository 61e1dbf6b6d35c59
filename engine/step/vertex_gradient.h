// Gradient of a loss with respect to vertices of shapes, in the shapes' frames. Sparse: it stores
// only the few vertices of contacts, by their rows (vertex_rows.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "spatial/vec3.h"

namespace robosim {

class VertexGradient {
 public:
  struct Row {
    int row = 0;
    Vec3d by;
  };

  void clear() { rows_.clear(); }
  void add(int row, const Vec3d& by) {
    const std::size_t i = place(row);
    if (!knows(i, row))
      rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(i), {row, Vec3d()});
    rows_[i].by += by;
  }
  void add(const VertexGradient& other) {
    for (const Row& x : other.rows_) add(x.row, x.by);
  }
  // Gradient of one vertex; zero if no contact uses it.
  Vec3d of(int row) const {
    const std::size_t i = place(row);
    return knows(i, row) ? rows_[i].by : Vec3d();
  }
  bool empty() const { return rows_.empty(); }
  const std::vector<Row>& rows() const { return rows_; }  // sorted by row
  std::vector<Row>& rows() { return rows_; }

 private:
  std::size_t place(int row) const {
    const auto found = std::lower_bound(rows_.begin(), rows_.end(), row,
                                        [](const Row& x, int r) { return x.row < r; });
    return static_cast<std::size_t>(found - rows_.begin());
  }
  bool knows(std::size_t i, int row) const { return i < rows_.size() && rows_[i].row == row; }

  std::vector<Row> rows_;
};

}  // namespace robosim
