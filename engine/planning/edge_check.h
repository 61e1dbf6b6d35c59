// Continuous collision check of a curve q(t): a proof that misses nothing between samples.
//
// Adaptive bisection (Schwarzer, Saha, Latombe, IEEE T-RO 2005). Let t_m be the middle of an
// interval of half-width h. A pair has a lower bound d on its distance at t_m and an upper bound m
// on its relative motion over the interval (motion_bound.h; for balls against a face, only the
// motion towards the face). The pair is free of collision while |t - t_m| < h d / m. The two halves
// of the interval check whatever neither t_m nor the neighboring samples cover.
//
// Eight intervals are processed side by side (interval_sifter.h). The first intervals are eight or
// more equal parts of the curve, each group of eight spread over all of it. Bisection then proceeds
// breadth first, coarse to fine. Most curves in collision are found within the first eight samples,
// by one of the few pairs that collided last, and pairs that are far apart drop out there.
//
// Bisection ends for a pair whose motion from the middle of the interval is at most the *floor*. A
// pair that is not proven free at the floor counts as touching. So nothing that touches is ever
// called free, and whatever is called touching comes within the floor (of relative motion, hence of
// distance):
//
//   floor = max(resolution / 100, min(resolution / 2, a quarter of the pair's motion since the
//           nearer end of the curve))
//
// so that a motion may leave or reach a state that is free but almost touches. This floor is for
// planning, where clearance is cheap and time is not. A trajectory assembled from such edges has
// their ends in its interior, and other samples. It is checked as a proof, with a floor of
// resolution / 1000 throughout, so that small clearance does not fail it.
//
// Eight samples cost about as much as one: the kinematics, the motion bounds, about 10 ns per pair
// that is far apart, and exact distances at all samples side by side per pair that is near. No
// allocation once the buffers have grown.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "planning/curve.h"
#include "planning/interval_sifter.h"
#include "planning/motion_bound.h"
#include "scene/scene_query.h"

namespace robosim {

struct EdgeResult {
  bool free = true;
  double t = 0;        // where the objects touch
  int a = -1, b = -1;  // the objects that touch
};

enum class Rigour : std::uint8_t { planning, proof };

class EdgeChecker {
 public:
  // The scene must outlive the checker.
  explicit EdgeChecker(const CollisionScene& scene);
  EdgeChecker(const EdgeChecker&) = delete;
  EdgeChecker& operator=(const EdgeChecker&) = delete;

  // Check only pairs that the entries `columns` of q can move, or all pairs if empty. The caller
  // has found the other pairs free. Clears everything remembered, so that results do not depend on
  // earlier queries.
  void restrict_to(const std::vector<int>& columns);

  // Check collision shapes in place of the bodies that they enclose (SceneQuery::decide_by_shapes),
  // which takes a tenth of the time. Exempt are pairs whose shapes overlap at one of the
  // configurations q, n times n_q entries, which the caller knows to be free. Then restrict the
  // check to `columns`.
  void decide_by_shapes(const double* q, std::size_t n, const std::vector<int>& columns);
  void decide_by_bodies() { query_.decide_by_bodies(); }

  // Check the straight line from q0 to q1, t in [0, 1].
  EdgeResult line(const double* q0, const double* q1, double resolution);
  // The two halves of `line`, for callers that prove only the edges they need in the end. `look`
  // reports whether a collision is found at the middles of the first intervals; a line that passes
  // need not be free. `prove` skips that test.
  EdgeResult look(const double* q0, const double* q1, double resolution);
  EdgeResult prove(const double* q0, const double* q1, double resolution);
  // Check any curve over [t0, t1].
  EdgeResult curve(const Curve& curve, double t0, double t1, double resolution,
                   Rigour rigor = Rigour::proof);

  const CollisionScene& scene() const { return *scene_; }
  SceneQuery& query() { return query_; }
  std::int64_t samples() const { return samples_; }  // configurations sampled so far
  // Approximate work of all queries so far, in units of 20 to 50 ns. The count depends on the
  // queries alone, not on the machine.
  std::int64_t work() const { return work_ + sifter_->looks(); }

 private:
  static constexpr int width = SiftRow::width;

  // An item to be proven free in an interval, and what neighboring samples cover already: lengths
  // of t from the left and the right end.
  struct Entry : SiftItem {
    double left = 0, right = 0;
  };
  struct Interval {
    double t0 = 0, t1 = 0;
    std::size_t first = 0, count = 0;  // entries; count = 0: everything
  };
  // A current interval: its half-width, and the terms of the floor.
  struct Look {
    double t0 = 0, t1 = 0, middle = 0, half = 1, floor_factor = 0;
    bool is_last = false;
  };
  bool begin(const Curve& curve, double t0, double t1, double resolution, Rigour rigor,
             EdgeResult& result);
  void divide(const Curve& curve, double t0, double t1);
  bool sample(const Curve& curve, EdgeResult& result);
  void prove(const Curve& curve, double t0, double t1, bool is_placed, EdgeResult& result);
  void place(const Curve& curve, const Interval* intervals, int count);
  bool collides(EdgeResult& result);
  bool any_overlaps(EdgeResult& result);
  bool is_known_apart(const SiftItem& pair, int l, const double* span) const;
  std::size_t number_of(const SiftItem& item) const;
  void bound(const Curve& curve, double t0, double t1, const Interval* intervals, int count);
  EdgeResult settle(SiftRow& row);
  // Query about a pair in one interval: none, or a bound on its distance up to `enough` [m].
  struct Question {
    bool is_asked = false, at_floor = false;
    double enough = 0;
  };
  Question question(const SiftRow& row, int lane, double slack, bool has_plane);
  void ask(const SiftRow& row, int a, int b);
  bool touches(SiftRow& row, int lane, int a, int b);
  void cover(SiftRow& row, double from, double to) const;
  std::pair<int, int> objects_of(const SiftItem& pair) const;
  std::int64_t work_of(int a, int b) const;
  SE3d X_WO(int object, int lane) const;
  void keep_open(const SiftRow& row, int lane, double part);
  const CollisionScene* scene_;
  SceneQuery query_;
  MotionLayout layout_;
  std::unique_ptr<IntervalSifter> sifter_;
  std::vector<double> reach_;  // [m] of motion at most, per unit of each entry of q
  Line line_;
  std::vector<SiftItem> root_;    // everything that can move
  std::vector<SiftItem> recent_;  // pairs that were found to overlap last, the latest first
  std::vector<Interval> queue_;
  std::vector<Entry> entries_;  // of the intervals in the queue
  // Items to be proven in the current intervals, and the items that remain open.
  SiftRows asked_, rows_;
  // State of an item. Its row is valid if `stamp` is the latest. The numbers of tests and of
  // overlaps of a pair, and the normal, are valid if `age` is the latest. Items are numbered:
  // clusters, single pairs, then the nodes of each group.
  struct Place {
    std::uint32_t stamp = 0;
    std::size_t row = 0;
    std::uint32_t age = 0;
    int looks = 0, hits = 0;
    // Normal, from a to b in W, of the plane that last separated the pair; zero if none.
    Vec3d normal;
    // For a pair along a steady curve: intervals of t proven by exact distances so far, valid if
    // `curve` is the latest.
    static constexpr int most = 4;
    std::uint32_t curve = 0;
    int n_proven = 0;
    double from[most] = {}, to[most] = {};
  };
  std::vector<Place> places_;
  std::vector<std::size_t> first_place_;  // per group
  Place& place_of(const SiftItem& item);
  std::uint32_t now_ = 0, curve_ = 0, age_ = 0;
  std::vector<Entry> open_[2 * width];  // left and right halves of each current interval
  std::vector<SiftSuspect> suspects_;
  std::vector<double> q_[width];
  std::vector<Spread> spreads_;
  Look looks_[width];
  Question questions_[width];              // about the current pair
  IntervalSifter::Bounds bounds_;          // answers to `questions_`
  IntervalSifter::Approaches approaches_;  // motion of the pair along the normals of `bounds_`
  std::uint32_t answered_ = 0;             // bits of the intervals with an answer
  double resolution_ = 0;
  Rigour rigor_ = Rigour::planning;
  bool is_steady_ = false;  // see Curve
  std::int64_t samples_ = 0, work_ = 0;
};

}  // namespace robosim
