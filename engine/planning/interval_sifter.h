// The cheap bounds of the edge check, for up to eight configurations of a curve at once: which
// pairs may touch there, and which pairs are proven free over which intervals about them. Exact
// shapes are asked by the caller (edge_check.h).
//
// For each interval, placed at its middle, and each pair with a lower bound d on its distance
// (balls against covers, scene/lane_placement.h) and an upper bound m on its motion over the
// half-width (motion_bound.h; towards the face, for balls against a face), the bounds prove the
// part d / m of the half-width. First the balls about whole bodies, then those about objects, then
// rows of smaller balls. Eight intervals always go together, in as many registers as the
// instruction set takes for them, so what is looked at does not depend on the processor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "planning/motion_bound.h"

namespace robosim {

// What has to be proven free: kind >= 0 the node `item` of the tree of groups()[kind], else
// single_pairs()[item] or clusters()[item] of the scene.
struct SiftItem {
  static constexpr int single = -1, cluster = -2;
  int item = 0, kind = single;

  friend bool operator==(const SiftItem& a, const SiftItem& b) {
    return a.item == b.item && a.kind == b.kind;
  }
};

// An item in up to eight intervals.
struct SiftRow : SiftItem {
  static constexpr int width = 8;
  std::uint32_t lanes = 0;  // bit l: open in interval l
  // What the ends of the interval cover already, in t.
  alignas(64) double left[width], right[width];
  // Results: what the middle proves, as a part of the half-width; the gap of the balls [m]; a bound
  // on the motion over the half-width [m], for pairs the lesser of both.
  alignas(64) double part[width], gap[width], motion[width];
};

// Rows that are used again.
class SiftRows {
 public:
  SiftRow& add();
  void clear() { size_ = 0; }
  void reserve(std::size_t n) { rows_.resize(std::max(n, rows_.size())); }
  std::size_t size() const { return size_; }
  SiftRow* data() { return rows_.data(); }

 private:
  std::vector<SiftRow> rows_;
  std::size_t size_ = 0;
};

// A pair whose balls overlap at interval l, and which certainly does itself, or may; depth: how
// much the balls do, in squared lengths [m^2].
struct SiftSuspect {
  SiftItem pair;
  int a = 0, b = 0;
  int lane = 0;
  bool is_certain = false;
  double depth = 0;
};

class IntervalSifter {
 public:
  virtual ~IntervalSifter() = default;

  // Takes `count` configurations, at most eight, q[l] of n_q entries each.
  virtual void place(int count, const double* const* q) = 0;
  // Adds the pairs among the items of which some balls overlap.
  virtual void suspects(const SiftItem* items, int n, std::vector<SiftSuspect>& out) = 0;
  // Makes them the middles of intervals: what q strays by, n_q entries each, the half-widths in t,
  // and as bits the intervals that will not be halved any more.
  virtual void spread(const Spread* spread, const double* half, std::uint32_t is_last) = 0;
  // Items of which nothing is covered yet: adds a row for those that are not proven everywhere. A
  // cluster or inner node stays where it is certainly apart, and larger than its motion; else its
  // pairs or children take its place.
  virtual void sift(const SiftItem* items, int n, SiftRows& out) = 0;
  // The same of items of which something may be covered, in the intervals of their `lanes`.
  virtual void sift(const SiftRow* rows, int n, SiftRows& out) = 0;
  // How far a pair moves at most over the half-width of each interval of the bits of `lanes`:
  // `total` in any direction, `along` + `rest` along the unit vector n[l] of W. Wider by a factor k
  // >= 1, on a steady curve, they are at most k total, and k along + k^3 rest.
  struct Approaches {
    double total[SiftRow::width], along[SiftRow::width], rest[SiftRow::width];
  };
  virtual void approaches(const SiftItem& pair, std::uint32_t lanes, const Vec3d* n,
                          Approaches& out) = 0;
  // Certified lower bounds on the distance of two objects in the configurations of the bits of
  // `lanes`, by GJK side by side (geometry/distance/lane_gjk.h): each ends as soon as it reaches
  // enough[l], and otherwise within 1e-6 m or the part `gap` of the distance. near: where to look
  // first, from a to b in W; zero for nowhere. Returns the bits of those that are found, zero for
  // those that overlap; of these also the unit normals of planes that prove them, from a to b in W.
  struct Bounds {
    double distance[SiftRow::width];
    Vec3d normal[SiftRow::width];
  };
  virtual std::uint32_t bounds(int a, int b, std::uint32_t lanes, const double* enough, double gap,
                               const Vec3d& near, Bounds& out) = 0;
  // The placement of a body in configuration l.
  virtual SE3d X_WB(int body, int l) const = 0;

  // Cheap bounds asked for so far, of an item in all its intervals each: the same number on every
  // processor. Those of nodes of trees that are too large for caches count twice.
  std::int64_t looks() const { return looks_; }

 protected:
  IntervalSifter() = default;
  static constexpr std::size_t large_tree = 50000;  // nodes
  std::int64_t looks_ = 0;
};

// For the instruction set that this process uses (base/cpu.h). Scene and layout must outlive it.
std::unique_ptr<IntervalSifter> make_interval_sifter(const CollisionScene& scene,
                                                     const MotionLayout& layout);

namespace detail {

// Out of line: what is compiled for an instruction set calls no method of a general container.
void add_suspect(std::vector<SiftSuspect>& to, const SiftSuspect& suspect);

template <Isa isa>
std::unique_ptr<IntervalSifter> make_interval_sifter(const CollisionScene& scene,
                                                     const MotionLayout& layout);

}  // namespace detail

}  // namespace robosim
