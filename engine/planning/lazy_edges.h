// Edges that are taken for free as long as nothing is found on them, and proven when a path is made
// of them.
//
// Most of an edge's cost is its proof (edge_check.h), and most edges that a simplification tries
// are replaced before it ends. So it goes on with what seems free, and proves what is left in the
// end: lazy collision checking (Bohlin, Kavraki, "Path planning using lazy PRM", ICRA 2000). What
// is known of an edge is kept, so that whoever begins anew with an edge less asks nothing twice.
// Trees of a search are better off with proven edges: what hangs from an edge that touches is lost
// (measured: no gain in the median, and up to ten times as long).
#pragma once

#include <cstdint>
#include <vector>

#include "planning/edge_check.h"
#include "planning/polyline.h"

namespace robosim {

class LazyEdges {
 public:
  // Configurations are given by the entries `columns` of q; the others are those of `q`, n_q
  // entries.
  LazyEdges(EdgeChecker& checker, std::vector<int> columns, const double* q, double resolution);

  // The number of an edge that is known to be free.
  int add_proven(const double* a, const double* b) { return add(a, b, Known::is_free); }
  // The number of the edge if it seems free, else -1; where edges are to be proven at once, if it
  // is free.
  int find(const double* a, const double* b);
  void prove_at_once() { proves_at_once_ = true; }
  // Whether edge i is free. `a` and `b` are its ends, or those of a part of it.
  bool prove(int i, const double* a, const double* b);

 private:
  enum class Known : std::uint8_t { seems_free, is_free, touches };
  Known& known(int i) { return known_[static_cast<std::size_t>(i)]; }
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

// A path of such edges.
struct LazyPath {
  Polyline points;
  std::vector<int> edges;  // from each point to the next, or of which that is a part

  // From each point on, the farthest later one that an edge reaches which seems free becomes the
  // next, searched by halving, until `late` says so.
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
  // The first edge that is not free, or the number of edges.
  std::size_t first_touching(LazyEdges& lazy) const {
    std::size_t i = 0;
    while (i < edges.size() && lazy.prove(edges[i], points.point(i), points.point(i + 1))) ++i;
    return i;
  }

 private:
  // Points i to j - 1, with the edges from them on.
  void remove(std::size_t i, std::size_t j) {
    const auto at = [&](std::size_t k) { return static_cast<std::ptrdiff_t>(k); };
    points.points.erase(points.points.begin() + at(i * points.n),
                        points.points.begin() + at(j * points.n));
    edges.erase(edges.begin() + at(i), edges.begin() + at(j));
  }
};

}  // namespace robosim
