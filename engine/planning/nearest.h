// Exact nearest neighbor under a weighted Euclidean metric, points added one at a time.
//
// Coordinates are stored already multiplied by their weights. A k-d tree of buckets: an inner node
// splits at the median of the widest coordinate of the bucket that overflowed; every node keeps the
// box of its points. A search goes down the nearer side first and leaves out boxes farther than the
// best so far. Small sets are one bucket, which is a plain scan: below about 100 points nothing is
// faster. Cost: O(log n) on average in few dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace robosim {

class NearestNeighbors {
 public:
  explicit NearestNeighbors(int dimension);

  int size() const { return n_points_; }
  // Point i, the i-th that was added.
  const double* point(int i) const { return &points_[static_cast<std::size_t>(i) * dimension_]; }
  void add(const double* p);
  void clear();
  // Index of the nearest point, the earliest of equals, and its squared distance; -1 and infinity
  // when there is none.
  int nearest(const double* p, double* squared_distance) const;
  // The same where coordinate k repeats after `periods[k]`, or 0: does not.
  int nearest(const double* p, const double* periods, double* squared_distance) const;
  // Points looked at by all these questions so far; a node of the tree counts as four.
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
  // `Metric` says how far coordinates are apart, see nearest.cpp.
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
