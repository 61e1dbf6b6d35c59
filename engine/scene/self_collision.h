// Which pairs of links self-collision need not check: those that never, and those that always touch
// within the joint limits.
//
// SelfCollisionSearch is given configurations and an amount of work; each pair of links has one
// state:
//   far        farther apart than the margin in every configuration so far
//   touching   overlapping in every configuration so far
//   apart      never closer than the margin, by proof (reach_bound.h)
//   reachable  closer than the margin somewhere, and not always touching: nothing more is asked
//              about it
//   undecided  the work that searches may take was spent before its turn
// A search looks for a configuration that makes a far pair reachable (pair_descent.h); a pair that
// is still far when all searches and configurations are through counts as never touching. Searches
// begin where the links were closest among start configurations. Pairs with the fewest joints
// between them go first, and each configuration found is tried on all other pairs. Results depend
// on the arguments alone. Where shapes stand for bodies, distances are those of the shapes, which
// are no larger, and bodies decide what overlaps. Cost of a configuration: forward kinematics, and
// about 2 ns per pair that is far or touching.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/index.h"
#include "base/rng.h"
#include "model/model.h"
#include "scene/pair_descent.h"
#include "scene/reach_bound.h"
#include "scene/scene_query.h"

namespace robosim {

// For each pair the number of `samples` configurations, uniform within the joint limits (unlimited:
// [-pi, pi], or [-1, 1] m), at which the shapes overlap. Seeded.
std::vector<std::int64_t> sample_self_collisions(const Model& model,
                                                 const std::vector<std::pair<int, int>>& pairs,
                                                 std::uint64_t seed, std::int64_t samples);

enum class PairState : std::int8_t { far, touching, apart, reachable, undecided };

class SelfCollisionSearch {
 public:
  // pairs: of colliders, those of one pair of links beside each other; group_begin: where each pair
  // of links begins, and the end. The model must outlive the search.
  SelfCollisionSearch(const Model& model, std::vector<std::pair<int, int>> pairs,
                      std::vector<int> group_begin, double margin, std::uint64_t seed);
  SelfCollisionSearch(const SelfCollisionSearch&) = delete;
  SelfCollisionSearch& operator=(const SelfCollisionSearch&) = delete;

  const Model& model() const { return scene_.model(); }

  // n configurations of n_q entries.
  void sample(std::ptrdiff_t n, const double* q);
  // Marks pairs that are far as apart where that is proven.
  void prove();
  // Begins a search for each pair that is far, at the best of n configurations. most_work:
  // placements of joints in all searches together.
  void begin_searches(std::ptrdiff_t n, const double* q, std::int64_t most_work);
  // Goes on with the searches for about this much work; returns whether any are left.
  bool search(std::int64_t work);

  // Of every pair of links. A pair that is far is apart once all configurations and searches are
  // through.
  const std::vector<PairState>& states() const { return states_; }

 private:
  // All of a link's colliders that occur in pairs.
  struct Link {
    int body = 0;
    std::vector<int> objects;
    Ball ball;     // in the body's frame
    Vec3d center;  // in W, as placed last
  };
  struct Group {
    int a = 0, b = 0;          // links
    int first = 0, count = 0;  // of pairs_
    double reach = 0;  // closer are the balls' centers where a pair may be within the margin [m]
  };
  void find_links();
  int link_of(int object);
  void place(const double* q);
  bool balls_near(const Group& group) const {
    return squared_norm(links_[at(group.a)].center - links_[at(group.b)].center) <=
           group.reach * group.reach;
  }
  bool is_near(const Group& group);
  bool touches(const Group& group);
  // Tries a configuration that a search has found on all pairs that are far.
  void share(const double* q);
  int path_length(int body_a, int body_b) const;
  // The configurations at which the links' balls are closest, at most so many.
  void choose_starts(const Group& group, int most);
  // Leaves the closest configuration that it finds in q_.
  bool find_contact(const Group& group);

  CollisionScene scene_;
  SceneQuery query_;
  PairDescent descent_;
  ReachBound bound_;
  std::vector<std::pair<int, int>> pairs_;
  double margin_;
  Rng rng_;
  std::vector<Link> links_;
  std::vector<int> link_of_frame_;
  std::vector<Group> groups_;
  std::vector<PairState> states_;
  std::vector<int> open_;  // groups that are far or touching
  bool is_first_ = true;   // nothing was sampled
  std::vector<double> start_q_;
  // Of the links' balls, for one configuration after the other.
  std::vector<Vec3d> start_centers_;
  // Of one search: squared distance of the centers, configuration.
  std::vector<std::pair<double, int>> starts_;
  std::vector<int> queue_;  // pairs of links to be searched, in their order
  std::size_t next_ = 0;
  std::int64_t most_work_ = 0;
  std::vector<double> q_, best_q_;
};

}  // namespace robosim
