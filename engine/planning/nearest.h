// Exact nearest neighbor under a weighted Euclidean metric. Points are added one at a time.
//
// Coordinates are stored already multiplied by their weights, in a k-d tree of buckets. An inner
// node splits at the median of the widest coordinate of the bucket that overflowed, and every node
// keeps the box of its points. A search visits the nearer side first and skips boxes farther than
// the best point so far. Small sets are one bucket, i.e. a plain scan: below about 100 points
// nothing is faster. Cost: O(log n) on average in few dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace robosim {

class NearestNeighbors {
 public:
  explicit NearestNeighbors(int dimension);

  int size() const { return n_points_; }
  // Point number i in the order of insertion.
  const double* point(int i) const { return &points_[static_cast<std::size_t>(i) * dimension_]; }
  void add(const double* p);
  void clear();
  // Index of the nearest point (the earliest among equals) and its squared distance; -1 and
  // infinity if there are no points.
  int nearest(const double* p, double* squared_distance) const;
  // Nearest point where coordinate k repeats after `periods[k]`; a period of 0 means no repetition.
  int nearest(const double* p, const double* periods, double* squared_distance) const;
  // Number of points compared by all queries so far; a node of the tree counts as four.
  std::int64_t looks() const { return looks_; }

 private:
  static constexpr std::size_t bucket_size = 64;
  struct Node {
    int split = -1;        // coordinate, or -1 in a leaf
    double at = 0;         // points with x[split] < at are below left
    int left = 0;          // left and left + 1
    std::vector<int> ids;  // of a leaf
  };
  double* lower(std::size_t node) { return &boxes_[2 * node * dimension_]; }
  const double* lower(std::size_t node) const { return &boxes_[2 * node * dimension_]; }
  void include(std::size_t node, const double* p);
  void split(std::size_t node);
  // `Metric` defines the distance of coordinates, see nearest.cpp.
  template <class Metric>
  double squared_distance_to_box(const Metric& metric, std::size_t node, const double* p) const;
  template <class Metric>
  void search(const Metric& metric, std::size_t node, const double* p, int& best,
              double& best_squared) const;

  std::size_t dimension_;
  int n_points_ = 0;
  mutable std::int64_t looks_ = 0;
  std::vector<double> points_, boxes_;  // boxes: lower then upper corner per node
  std::vector<Node> nodes_;
};

}  // namespace robosim
