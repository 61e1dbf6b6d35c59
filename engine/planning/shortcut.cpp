#include "planning/shortcut.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/index.h"
#include "base/rng.h"
#include "planning/lazy_edges.h"
#include "planning/shapes_first.h"

namespace robosim {
namespace {

using Clock = std::chrono::steady_clock;

// Number of restarts because of an edge in collision, before edges are proven as soon as they are
// accepted.
constexpr int most_rounds = 6;
// Candidates drawn per candidate tried.
constexpr int draws = 4;
// Parts of the path's length: least gain of a candidate, and least gain of `patience` candidates
// together.
constexpr double least_gain = 2e-3, worthwhile_gain = 0.01;

// Point on the path: on the edge from vertex `edge` to the next, at the fraction `u`.
struct Place {
  std::size_t edge = 0;
  double u = 0;
};

// Replacement of the path between two places by a straight line, in all columns or in one.
struct Candidate {
  Place from, to;
  int column = -1;
  double gain = 0;
};

class Shortcutter {
 public:
  Shortcutter(EdgeChecker& checker, const std::vector<double>& path, const ShortcutOptions& options)
      : options_(options),
        n_(options.columns.size()),
        rng_(options.seed),
        weights_(options.weights.empty() ? std::vector<double>(n_, 1.0) : options.weights),
        n_q_(at(checker.scene().model().n_q)),
        q_(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n_q_)),
        lazy_(checker, options.columns, path.data(), options.resolution) {
    path_.points = columns_of(path, n_q_, options.columns);
    for (std::size_t i = 1; i < path_.points.size(); ++i)
      path_.edges.push_back(lazy_.add_proven(point(i - 1), point(i)));
  }

  std::vector<double> run() {
    const LazyPath given = path_;
    const Rng rng = rng_;
    // Each round finds one more edge that touches. After too many rounds, guesses do not pay off.
    int rounds = 1;
    for (shorten(); path_.first_touching(lazy_) < path_.edges.size(); shorten()) {
      path_ = given;
      rng_ = rng;
      if (rounds++ == most_rounds) lazy_.prove_at_once();
    }
    std::vector<double> out;
    for (std::size_t i = 0; i < path_.points.size(); ++i) {
      out.insert(out.end(), q_.begin(), q_.end());
      for (std::size_t k = 0; k < n_; ++k)
        out[out.size() - n_q_ + at(options_.columns[k])] = point(i)[k];
    }
    return out;
  }

 private:
  void shorten() {
    leave_out();
    measure();
    double reference = length();
    int since = 0;
    for (int i = 0; i < options_.iterations && path_.points.size() > 2 && !late(); ++i) {
      if (++since > options_.patience) {
        if (length() > (1 - worthwhile_gain) * reference) break;
        reference = length();
        since = 0;
      }
      Candidate best;
      for (int k = 0; k < draws; ++k) {
        const Candidate candidate = draw(k % 2 == 0 ? -1 : rng_.below(static_cast<int>(n_)));
        if (candidate.gain > best.gain) best = candidate;
      }
      if (best.gain > least_gain * length()) replace(best);
    }
    leave_out();
  }

  void leave_out() {
    path_.leave_out(lazy_, [&] { return late(); });
  }

  bool late() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count() > options_.deadline;
  }

  const double* point(std::size_t i) const { return path_.points.point(i); }

  double distance(const double* a, const double* b) const {
    double sum = 0;
    for (std::size_t k = 0; k < n_; ++k)
      sum += weights_[k] * weights_[k] * (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(sum);
  }
  // Compute the lengths along the path up to its vertices.
  void measure() {
    along_.assign(1, 0.0);
    for (std::size_t i = 1; i < path_.points.size(); ++i)
      along_.push_back(along_.back() + distance(point(i - 1), point(i)));
  }
  double length() const { return along_.back(); }
  double along(const Place& place) const {
    return along_[place.edge] + place.u * (along_[place.edge + 1] - along_[place.edge]);
  }

  Place random_place() {
    const double s = rng_.uniform() * length();
    std::size_t i = 0;
    while (i + 2 < path_.points.size() && s >= along_[i + 1]) ++i;
    const double edge = along_[i + 1] - along_[i];
    return {i, edge > 0 ? std::min((s - along_[i]) / edge, 1.0) : 0.0};
  }
  void append_place(const Place& place, std::vector<double>& out) const {
    const double *a = point(place.edge), *b = point(place.edge + 1);
    for (std::size_t k = 0; k < n_; ++k)
      out.push_back(place.u == 1 ? b[k] : a[k] + place.u * (b[k] - a[k]));
  }

  // Write the replacement of the path between the two places of a candidate to now_, ends included.
  void build(const Candidate& c) {
    now_.clear();
    append_place(c.from, now_);
    if (c.column >= 0) now_.insert(now_.end(), point(c.from.edge + 1), point(c.to.edge + 1));
    append_place(c.to, now_);
    if (c.column < 0) return;
    const std::size_t k = at(c.column), last = now_.size() / n_ - 1;
    const double begin = along(c.from), total = along(c.to) - begin, x0 = now_[k],
                 x1 = now_[last * n_ + k];
    for (std::size_t i = 1; i < last; ++i)
      now_[i * n_ + k] = x0 + (along_[c.from.edge + i] - begin) / total * (x1 - x0);
  }

  Candidate draw(int column) {
    Candidate c{random_place(), random_place(), column};
    if (c.to.edge < c.from.edge || (c.to.edge == c.from.edge && c.to.u < c.from.u))
      std::swap(c.from, c.to);
    if (c.from.edge == c.to.edge) return c;  // already straight
    build(c);
    c.gain = along(c.to) - along(c.from);
    for (std::size_t i = n_; i < now_.size(); i += n_) c.gain -= distance(&now_[i - n_], &now_[i]);
    return c;
  }

  void replace(const Candidate& c) {
    build(c);
    // Accept the candidate only if all edges that it adds seem free.
    edges_.clear();
    for (std::size_t i = n_; i < now_.size(); i += n_) {
      edges_.push_back(lazy_.find(&now_[i - n_], &now_[i]));
      if (edges_.back() < 0) return;
    }
    // The ends of the replaced part become vertices, unless they are vertices already.
    std::vector<double>& points = path_.points.points;
    std::vector<int>& edges = path_.edges;
    const auto vertex = [&](std::size_t i) {
      return points.begin() + static_cast<std::ptrdiff_t>(i * n_);
    };
    const auto edge = [&](std::size_t i) { return edges.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t first = c.from.u == 0 ? c.from.edge : c.from.edge + 1,
                      last = c.to.u == 1 ? c.to.edge + 2 : c.to.edge + 1;
    now_.insert(now_.begin(), vertex(0), vertex(first));
    now_.insert(now_.end(), vertex(last), points.end());
    edges_.insert(edges_.begin(), edge(0), edge(first));
    edges_.insert(edges_.end(), edge(last - 1), edges.end());
    points.swap(now_);
    edges.swap(edges_);
    measure();
  }

  const ShortcutOptions& options_;
  std::size_t n_;
  Rng rng_;
  std::vector<double> weights_;
  std::size_t n_q_;
  std::vector<double> q_;  // the first waypoint
  LazyEdges lazy_;
  LazyPath path_;
  std::vector<double> along_, now_;
  std::vector<int> edges_;  // of now_
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

std::vector<double> shortcut(EdgeChecker& checker, const std::vector<double>& path,
                             const ShortcutOptions& options) {
  if (path.empty()) return path;
  const std::size_t n_q = at(checker.scene().model().n_q);
  // Ends that a straight line connects among the meshes need no path around the enclosing shapes.
  if (checker.scene().has_exact() && path.size() > 2 * n_q) {
    const double *first = path.data(), *last = first + path.size() - n_q;
    checker.restrict_to(options.columns);
    if (checker.line(first, last, options.resolution).free) {
      std::vector<double> straight(first, first + n_q);
      straight.insert(straight.end(), last, last + n_q);
      return straight;
    }
  }
  const ShapesFirst shapes_first(checker, path.data(), path.size() / n_q, options.columns);
  return Shortcutter(checker, path, options).run();
}

}  // namespace robosim
