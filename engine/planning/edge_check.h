// Is a whole curve q(t) free of collisions? An answer that misses nothing between samples.
//
// Adaptive bisection (Schwarzer, Saha, Latombe, IEEE T-RO 2005). At the middle t_m of an interval of half-width h, for each
// pair with a lower bound d on its distance and an upper bound m on its relative motion over the interval (motion_bound.h; for
// balls against a face, only towards the face): nothing happens to the pair while |t - t_m| < h d / m. What neither this nor
// the neighbouring samples cover is left to the two halves. Intervals are visited breadth first, coarse to fine over the whole curve, so that a
// curve in collision is mostly found out within a few samples; pairs that are far apart leave at the top.
//
// It ends for a pair whose motion from the middle of the interval is at most the *floor*, by taking the pair for touching
// if it is then not proven free. So nothing that touches is ever called free, and what is called touching comes within the
// floor (of relative motion, hence of distance):
//
//   floor = resolution / 2, but near an end of the curve a quarter of the pair's motion since that end, not below
//   resolution / 100
//
// so that a motion may leave or reach a state which is free but all but touches. That floor is for planning, where room is
// cheap and time is not. A motion that is put together from such edges has their ends in its middle, and other samples: it is
// checked as a proof, with a floor of resolution / 1000 throughout, and not refused for want of room. One sample costs a forward kinematics,
// the motion bounds, about 10 ns per pair that is far off, and an exact distance per pair that is near. No allocation
// once the buffers have grown.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "planning/curve.h"
#include "planning/motion_bound.h"

namespace robosim {

struct EdgeResult {
  bool free = true;
  double t = 0;        // where it touches
  int a = -1, b = -1;  // the objects that touch
};

enum class Rigour : std::uint8_t { planning, proof };

class EdgeChecker {
 public:
  // Looks only at pairs that the entries `columns` of q can move (all entries when empty): the caller has found the others free.
  explicit EdgeChecker(const CollisionScene& scene, const std::vector<int>& columns = {});

  // The straight line from q0 to q1, t in [0, 1].
  EdgeResult line(const double* q0, const double* q1, double resolution);
  // Any curve over [t0, t1].
  EdgeResult curve(const Curve& curve, double t0, double t1, double resolution, Rigour rigour = Rigour::proof);

  SceneQuery& query() { return query_; }
  std::int64_t samples() const { return samples_; }  // configurations looked at so far

 private:
  // What an interval has to prove free, except for what its ends already cover: lengths of t from the left and right end.
  // kind >= 0: groups()[kind] with the node `item` of its tree; otherwise single_pairs()[item] or clusters()[item].
  static constexpr int single = -1, cluster = -2;
  struct Entry {
    int item = 0, kind = single;
    double left = 0, right = 0;
  };
  struct Interval {
    double t0 = 0, t1 = 0;
    std::size_t first = 0, count = 0;  // entries
  };
  // A pair of objects that the cheap bounds have not cleared: they prove `part` of the half-width.
  struct Candidate {
    Entry entry;
    int a = 0, b = 0;
    double part = 0, depth = 0;  // depth: how far their balls overlap
    double motion = 0;
  };

  // Places everything at the middle of [t0, t1]; its motion bounds.
  void place(const Curve& curve, double t0, double t1);
  void sift(const Entry& entry);
  void split(const Entry& entry);
  void keep_open(const Entry& entry, double part);
  bool touches(const Candidate& candidate);
  // How far an entry's proof has to reach, as a part of the half-width, so that nothing of the interval stays open.
  double enough(const Entry& entry) const { return (half_ - std::min(entry.left, entry.right)) / half_; }
  // The part of the half-width in which a ball keeps off a cover posed at X_WO, and its gap when placed; both infinite where
  // the part is clearly more than needed.
  static double part_of_ball(const Vec3d& p_W, double radius, const Cover& cover, const SE3d& X_WO,
                             const MotionBound::Relative& motion, double needed, double& gap);

  const CollisionScene* scene_;
  SceneQuery query_;
  MotionBound motion_;
  Line line_;
  std::vector<Entry> root_;  // everything that can move
  std::vector<Entry> entries_, right_, pending_;
  std::vector<Candidate> suspects_, others_;  // balls overlap, do not
  std::vector<Interval> queue_;
  std::vector<double> q_;
  Spread spread_;
  double half_ = 1, floor_factor_ = 0, resolution_ = 0;  // of the interval at hand
  Rigour rigour_ = Rigour::planning;
  bool is_last_ = false;
  std::int64_t samples_ = 0;
};

}  // namespace robosim
