// Cheap bounds of the edge check, for up to eight configurations of a curve at once. They find the
// pairs that may touch at a configuration, and the pairs that are proven free over an interval
// about it. The caller queries exact shapes (edge_check.h).
//
// Each interval is placed at its middle. A pair has a lower bound d on its distance (balls against
// covers, scene/lane_placement.h) and an upper bound m on its motion over the half-width
// (motion_bound.h; for balls against a face, only the motion towards the face). The bounds prove
// the part d / m of the half-width. Balls about whole bodies are tested first, then balls about
// objects, then rows of smaller balls. Eight intervals always go together, in as many registers as
// the instruction set takes for them, so the items tested do not depend on the processor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "planning/motion_bound.h"

namespace robosim {

// Item to be proven free: for kind >= 0 the node `item` of the tree of groups()[kind], else
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
  // Lengths of t that the ends of the interval cover already.
  alignas(64) double left[width], right[width];
  // Results: part of the half-width that the middle proves; gap of the balls [m]; bound on the
  // motion over the half-width [m], for pairs the lesser of (1) and (2).
  alignas(64) double part[width], gap[width], motion[width];
};

// Buffer of rows that keeps its memory.
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

// Pair whose balls overlap at the middle of interval `lane`. is_certain: the objects themselves
// overlap, too. depth: overlap of the balls, in squared lengths [m^2].
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

  // Place `count` configurations, at most eight, q[l] of n_q entries each.
  virtual void place(int count, const double* const* q) = 0;
  // Append the pairs among the items whose balls overlap somewhere.
  virtual void suspects(const SiftItem* items, int n, std::vector<SiftSuspect>& out) = 0;
  // Make the configurations the middles of intervals: the spreads of q, n_q entries each, the
  // half-widths in t, and a bit per interval that will not be halved again.
  virtual void spread(const Spread* spread, const double* half, std::uint32_t is_last) = 0;
  // Sift items of which nothing is covered yet, and append a row for each item that is not proven
  // everywhere. A cluster or inner node keeps its row where it is certainly apart and its motion is
  // at least its size. Elsewhere its pairs or children replace it.
  virtual void sift(const SiftItem* items, int n, SiftRows& out) = 0;
  // Sift items that may be covered in part, in the intervals of their `lanes`.
  virtual void sift(const SiftRow* rows, int n, SiftRows& out) = 0;
  // Bounds on the motion of a pair over the half-width of each interval in `lanes`: `total` in any
  // direction, `along` + `rest` along the unit vector n[l] in W. On a steady curve, over k >= 1
  // times the half-width, the bounds are k total and k along + k^3 rest.
  struct Approaches {
    double total[SiftRow::width], along[SiftRow::width], rest[SiftRow::width];
  };
  virtual void approaches(const SiftItem& pair, std::uint32_t lanes, const Vec3d* n,
                          Approaches& out) = 0;
  // Certified lower bounds on the distance of two objects in the configurations in `lanes`, by GJK
  // side by side (geometry/distance/lane_gjk.h). A lane ends as soon as its bound reaches
  // enough[l], and otherwise within 1e-6 m or the part `gap` of the distance. near: initial
  // direction from a to b in W, or zero. Returns the bits of the lanes whose bounds are found;
  // lanes that overlap have no bit. The unit normals of the planes that prove the bounds point from
  // a to b, in W.
  struct Bounds {
    double distance[SiftRow::width];
    Vec3d normal[SiftRow::width];
  };
  virtual std::uint32_t bounds(int a, int b, std::uint32_t lanes, const double* enough, double gap,
                               const Vec3d& near, Bounds& out) = 0;
  // Pose of a body in configuration l.
  virtual SE3d X_WB(int body, int l) const = 0;

  // Number of cheap bounds so far, each of an item in all its intervals. The count is independent
  // of the processor. Nodes of trees that are too large for caches count twice.
  std::int64_t looks() const { return looks_; }

 protected:
  IntervalSifter() = default;
  static constexpr std::size_t large_tree = 50000;  // nodes
  std::int64_t looks_ = 0;
};

// Sifter for the instruction set of this process (base/cpu.h). Scene and layout must outlive it.
std::unique_ptr<IntervalSifter> make_interval_sifter(const CollisionScene& scene,
                                                     const MotionLayout& layout);

namespace detail {

// Out of line: code compiled for an instruction set calls no method of a general container.
void add_suspect(std::vector<SiftSuspect>& to, const SiftSuspect& suspect);

template <Isa isa>
std::unique_ptr<IntervalSifter> make_interval_sifter(const CollisionScene& scene,
                                                     const MotionLayout& layout);

}  // namespace detail

}  // namespace robosim
