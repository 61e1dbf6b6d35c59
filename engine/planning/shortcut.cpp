#include "planning/shortcut.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/rng.h"

namespace robosim {
namespace {

using Clock = std::chrono::steady_clock;
using Point = std::vector<double>;  // columns only

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A place on the path: on the edge from vertex `edge` to the next, the part `u` of the way.
struct Place {
  std::size_t edge = 0;
  double u = 0;
};

class Shortcutter {
 public:
  Shortcutter(EdgeChecker& checker, const std::vector<double>& path, const ShortcutOptions& options)
      : options_(options),
        n_(options.columns.size()),
        checker_(checker),
        rng_(options.seed),
        weights_(options.weights.empty() ? std::vector<double>(n_, 1.0) : options.weights),
        n_q_(at(checker.scene().model().n_q)) {
    checker_.restrict_to(options.columns);
    rest_.assign(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n_q_));
    a_ = b_ = rest_;
    for (std::size_t i = 0; i + n_q_ <= path.size(); i += n_q_) {
      Point p(n_);
      for (std::size_t k = 0; k < n_; ++k) p[k] = path[i + at(options.columns[k])];
      points_.push_back(std::move(p));
    }
  }

  std::vector<double> run() {
    remove_vertices();
    double reference = length(points_);
    int since = 0;
    for (int i = 0; i < options_.iterations && points_.size() > 2 && !late(); ++i) {
      if (++since > options_.patience) {
        const double now = length(points_);
        if (now > 0.99 * reference) break;
        reference = now;
        since = 0;
      }
      Place from = random_place(), to = random_place();
      if (to.edge < from.edge || (to.edge == from.edge && to.u < from.u)) std::swap(from, to);
      if (from.edge == to.edge) continue;  // already straight
      // Every other attempt moves one joint only.
      replace(from, to, i % 2 == 0 ? -1 : rng_.below(static_cast<int>(n_)));
    }
    remove_vertices();
    std::vector<double> out;
    for (const Point& p : points_) {
      out.insert(out.end(), rest_.begin(), rest_.end());
      for (std::size_t k = 0; k < n_; ++k) out[out.size() - n_q_ + at(options_.columns[k])] = p[k];
    }
    return out;
  }

 private:
  bool late() const { return std::chrono::duration<double>(Clock::now() - begin_).count() > options_.deadline; }

  double distance(const Point& a, const Point& b) const {
    double sum = 0;
    for (std::size_t k = 0; k < n_; ++k) sum += weights_[k] * weights_[k] * (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(sum);
  }
  double length(const std::vector<Point>& points) const {
    double sum = 0;
    for (std::size_t i = 1; i < points.size(); ++i) sum += distance(points[i - 1], points[i]);
    return sum;
  }
  bool free(const Point& a, const Point& b) {
    for (std::size_t k = 0; k < n_; ++k) {
      a_[at(options_.columns[k])] = a[k];
      b_[at(options_.columns[k])] = b[k];
    }
    return checker_.line(a_.data(), b_.data(), options_.resolution).free;
  }

  Place random_place() {
    double along = rng_.uniform() * length(points_);
    for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
      const double d = distance(points_[i], points_[i + 1]);
      if (along < d) return {i, along / d};
      along -= d;
    }
    return {points_.size() - 2, 1};
  }
  Point point_at(const Place& place) const {
    const Point &a = points_[place.edge], &b = points_[place.edge + 1];
    Point p(n_);
    for (std::size_t k = 0; k < n_; ++k) p[k] = place.u == 1 ? b[k] : a[k] + place.u * (b[k] - a[k]);
    return p;
  }

  // Straightens the path between two places, in all columns or in one, when that is shorter and free.
  void replace(const Place& from, const Place& to, int column) {
    std::vector<Point> old{point_at(from)};
    for (std::size_t i = from.edge + 1; i <= to.edge; ++i) old.push_back(points_[i]);
    old.push_back(point_at(to));
    std::vector<Point> now;
    if (column < 0) {
      now = {old.front(), old.back()};
    } else {
      now = old;
      const std::size_t k = at(column);
      const double total = length(old);
      double along = 0;
      for (std::size_t i = 1; i + 1 < old.size(); ++i) {
        along += distance(old[i - 1], old[i]);
        now[i][k] = old.front()[k] + along / total * (old.back()[k] - old.front()[k]);
      }
    }
    // The ends of the replaced part become vertices, unless they are vertices already or the path's line goes on there.
    if (length(now) > length(old) * (1 - 1e-3)) return;
    for (std::size_t i = 1; i < now.size(); ++i)
      if (!free(now[i - 1], now[i])) return;
    std::vector<Point> points(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(from.edge + 1));
    if (from.u == 0) points.pop_back();
    points.insert(points.end(), now.begin(), now.end());
    if (to.u == 1) points.pop_back();
    points.insert(points.end(), points_.begin() + static_cast<std::ptrdiff_t>(to.edge + 1), points_.end());
    points_ = std::move(points);
  }

  // From each vertex on, the farthest later one that a free edge reaches becomes the next, searched by halving.
  void remove_vertices() {
    for (std::size_t i = 0; i + 2 < points_.size(); ++i)
      for (std::size_t j = points_.size() - 1; j > i + 1 && !late(); j = i + 1 + (j - i - 1) / 2) {
        if (!free(points_[i], points_[j])) continue;
        points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(i + 1), points_.begin() + static_cast<std::ptrdiff_t>(j));
        break;
      }
  }

  const ShortcutOptions& options_;
  std::size_t n_;
  EdgeChecker& checker_;
  Rng rng_;
  std::vector<double> weights_;
  std::size_t n_q_;
  std::vector<double> rest_, a_, b_;  // whole configurations
  std::vector<Point> points_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

std::vector<double> shortcut(EdgeChecker& checker, const std::vector<double>& path, const ShortcutOptions& options) {
  if (path.empty()) return path;
  return Shortcutter(checker, path, options).run();
}

}  // namespace robosim
