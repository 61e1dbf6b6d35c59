// Edges that count as free until a collision is found on them, and that are proven once a path uses
// them.
//
// Most of an edge's cost is its proof (edge_check.h), and most edges that a simplification tries
// are replaced before it ends. So the simplification continues with edges that seem free, and
// proves the remaining ones in the end: lazy collision checking (Bohlin, Kavraki, "Path planning
// using lazy PRM", ICRA 2000). What is known of an edge is kept, so that a restart without one edge
// repeats no query. Search trees are better off with proven edges, as everything below an edge in
// collision is lost (measured: no gain in the median, and up to ten times as long).
#pragma once

#include <cstdint>
#include <vector>

#include "planning/edge_check.h"
#include "planning/polyline.h"

namespace robosim {

class LazyEdges {
 public:
  // Configurations are specified by the entries `columns` of q. The other entries are those of `q`,
  // n_q entries.
  LazyEdges(EdgeChecker& checker, std::vector<int> columns, const double* q, double resolution);

  // Add an edge that is known to be free, and return its number.
  int add_proven(const double* a, const double* b) { return add(a, b, Known::is_free); }
  // Return the number of the edge if it seems free, else -1. After prove_at_once(), return its
  // number only if it is proven free.
  int find(const double* a, const double* b);
  void prove_at_once() { proves_at_once_ = true; }
  // Return true if edge i is free. `a` and `b` are its ends, or the ends of a part of it.
  bool prove(int i, const double* a, const double* b);

 private:
  enum class Known : std::uint8_t { seems_free, is_free, touches };
  Known& known(int i) { return known_[i]; }
  const double* ends(int i) const {
    return &ends_[2 * static_cast<std::size_t>(i) * columns_.size()];
  }
  bool has_ends(int i, const double* a, const double* b) const;
  int number_of(const double* a, const double* b) const;
  int add(const double* a, const double* b, Known known);
  void set(const double* a, const double* b);

  EdgeChecker& checker_;
  std::vector<int> columns_;
  double resolution_;
  std::vector<double> from_, to_;  // whole configurations
  std::vector<Known> known_;
  std::vector<double> ends_;  // of each edge, columns only
  bool proves_at_once_ = false;
};

// Path of lazy edges.
struct LazyPath {
  Polyline points;
  std::vector<int> edges;  // from each point to the next, or an edge that contains this one

  // Remove vertices: connect each point to the farthest later point to which an edge seems free,
  // searched by halving, until `late` returns true.
  template <class Late>
  void leave_out(LazyEdges& lazy, Late&& late) {
    for (std::size_t i = 0; i + 2 < points.size(); ++i)
      for (std::size_t j = points.size() - 1; j > i + 1 && !late(); j = i + 1 + (j - i - 1) / 2) {
        const int edge = lazy.find(points.point(i), points.point(j));
        if (edge < 0) continue;
        remove(i + 1, j);
        edges[i] = edge;
        break;
      }
  }
  // Index of the first edge that is not free, or the number of edges.
  std::size_t first_touching(LazyEdges& lazy) const {
    std::size_t i = 0;
    while (i < edges.size() && lazy.prove(edges[i], points.point(i), points.point(i + 1))) ++i;
    return i;
  }

 private:
  // Remove points i to j - 1, and the edges that begin at them.
  void remove(std::size_t i, std::size_t j) {
    const auto at = [&](std::size_t k) { return static_cast<std::ptrdiff_t>(k); };
    points.points.erase(points.points.begin() + at(i * points.n),
                        points.points.begin() + at(j * points.n));
    edges.erase(edges.begin() + at(i), edges.begin() + at(j));
  }
};

}  // namespace robosim
