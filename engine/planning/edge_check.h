// Is a whole curve q(t) free of collisions? An answer that misses nothing between samples.
//
// Adaptive bisection (Schwarzer, Saha, Latombe, IEEE T-RO 2005). At the middle t_m of an interval
// of half-width h, for each pair with a lower bound d on its distance and an upper bound m on its
// relative motion over the interval (motion_bound.h; for balls against a face, only towards the
// face): nothing happens to the pair while |t - t_m| < h d / m. What neither this nor the
// neighboring samples cover is left to the two halves. Eight intervals are looked at side by side
// (interval_sifter.h), first of all eight or more equal parts of the curve, spread over all of it,
// then breadth first, coarse to fine: a curve in collision is mostly found out within the first
// eight samples, by one of the few pairs that collided last, and pairs that are far apart leave
// there.
//
// It ends for a pair whose motion from the middle of the interval is at most the *floor*, by taking
// the pair for touching if it is then not proven free. So nothing that touches is ever called free,
// and what is called touching comes within the floor (of relative motion, hence of distance):
//
//   floor = resolution / 2, but near an end of the curve a quarter of the pair's motion since that
//     end, not below
//   resolution / 100
//
// so that a motion may leave or reach a state which is free but all but touches. That floor is for
// planning, where room is cheap and time is not. A motion that is put together from such edges has
// their ends in its middle, and other samples: it is checked as a proof, with a floor of resolution
// / 1000 throughout, and not refused for want of room. Eight samples cost about as much as one: the
// kinematics, the motion bounds, about 10 ns per pair that is far off; then, per pair that is near,
// exact distances at all samples side by side. No allocation once the buffers have grown.
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
  double t = 0;        // where it touches
  int a = -1, b = -1;  // the objects that touch
};

enum class Rigour : std::uint8_t { planning, proof };

class EdgeChecker {
 public:
  // The scene must outlive it.
  explicit EdgeChecker(const CollisionScene& scene);
  EdgeChecker(const EdgeChecker&) = delete;
  EdgeChecker& operator=(const EdgeChecker&) = delete;

  // Looks from now on only at pairs that the entries `columns` of q can move (all entries when
  // empty): the caller has found the others free. Forgets whatever it remembers, so that answers do
  // not depend on what was asked before.
  void restrict_to(const std::vector<int>& columns);

  // From now on shapes count as they are, which takes a tenth of the time where they stand for
  // bodies (SceneQuery::decide_by_shapes); not those of pairs that are found to overlap at one of
  // the configurations q, n times n_q entries, which the caller knows to be free. Then restricts to
  // columns.
  void decide_by_shapes(const double* q, std::size_t n, const std::vector<int>& columns);
  void decide_by_bodies() { query_.decide_by_bodies(); }

  // The straight line from q0 to q1, t in [0, 1].
  EdgeResult line(const double* q0, const double* q1, double resolution);
  // The two halves of that, for those who prove only what they need in the end. `look` tells
  // whether the line is found to collide at the middles of its first intervals: one that is not
  // need not be free. `prove` leaves that out.
  EdgeResult look(const double* q0, const double* q1, double resolution);
  EdgeResult prove(const double* q0, const double* q1, double resolution);
  // Any curve over [t0, t1].
  EdgeResult curve(const Curve& curve, double t0, double t1, double resolution,
                   Rigour rigor = Rigour::proof);

  const CollisionScene& scene() const { return *scene_; }
  SceneQuery& query() { return query_; }
  std::int64_t samples() const { return samples_; }  // configurations looked at so far
  // What all that was asked so far took, about: 20 to 50 ns each. It depends on the questions
  // alone, not on the machine.
  std::int64_t work() const { return work_ + sifter_->looks(); }

 private:
  static constexpr int width = SiftRow::width;

  // What an interval has to prove free, except for what its ends already cover: lengths of t from
  // the left and right end.
  struct Entry : SiftItem {
    double left = 0, right = 0;
  };
  struct Interval {
    double t0 = 0, t1 = 0;
    std::size_t first = 0, count = 0;  // entries; count = 0: everything
  };
  // Of those at hand, the half-width and what makes the floor.
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
  // What is asked about a pair in one interval: nothing, or a bound on its distance as far as
  // `enough` [m].
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
  // What is to be proven in the intervals at hand, and what is left of it.
  SiftRows asked_, rows_;
  // Of each item: its row, valid where the stamp is the latest; of a pair how often it was looked
  // at first, and found to overlap, and more, valid where the age is the latest. Numbers of items:
  // clusters, single pairs, then the nodes of each group.
  struct Place {
    std::uint32_t stamp = 0;
    std::size_t row = 0;
    std::uint32_t age = 0;
    int looks = 0, hits = 0;
    // Of the plane, from a to b in W, that kept the pair apart last; zero when there is none.
    Vec3d normal;
    // Of a pair along a steady curve: what exact distances have proven of it so far, in t, valid
    // where `curve` is the latest.
    static constexpr int most = 4;
    std::uint32_t curve = 0;
    int n_proven = 0;
    double from[most] = {}, to[most] = {};
  };
  std::vector<Place> places_;
  std::vector<std::size_t> first_place_;  // of each group
  Place& place_of(const SiftItem& item);
  std::uint32_t now_ = 0, curve_ = 0, age_ = 0;
  std::vector<Entry> open_[2 * width];  // of the left and right half of each interval at hand
  std::vector<SiftSuspect> suspects_;
  std::vector<double> q_[width];
  std::vector<Spread> spreads_;
  Look looks_[width];
  Question questions_[width];              // about the pair at hand
  IntervalSifter::Bounds bounds_;          // the answers
  IntervalSifter::Approaches approaches_;  // how far the pair moves along the normals of these
  std::uint32_t answered_ = 0;             // bits of the intervals that have one
  double resolution_ = 0;
  Rigour rigor_ = Rigour::planning;
  bool is_steady_ = false;  // see Curve
  std::int64_t samples_ = 0, work_ = 0;
};

}  // namespace robosim
