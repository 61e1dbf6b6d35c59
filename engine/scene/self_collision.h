// Pairs of links that self-collision need not check: pairs that never touch, and pairs that always
// touch, within the joint limits.
//
// SelfCollisionSearch takes configurations and an amount of work. Each pair of links has one state:
//   far        farther apart than the margin in every configuration so far
//   touching   overlapping in every configuration so far
//   apart      never closer than the margin, by proof (reach_bound.h)
//   reachable  closer than the margin somewhere, and not always touching: not examined further
//   undecided  the work that searches may take was spent before its turn
// A search looks for a configuration that makes a far pair reachable (pair_descent.h). A pair that
// is still far after all searches and configurations counts as never touching. Searches begin where
// the links were closest among start configurations. Pairs with the fewest joints between them go
// first, and each configuration found is tried on all other pairs. Results depend only on the
// arguments.
//
// If shapes stand for bodies, distances are those of the shapes, which are no larger, and the
// bodies decide overlaps. Cost of a configuration: forward kinematics, and about 2 ns per pair that
// is far or touching.
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

// Count, for each pair, the configurations at which the shapes overlap, among `samples` uniform
// within the joint limits (unlimited: [-pi, pi], or [-1, 1] m). Seeded.
std::vector<std::int64_t> sample_self_collisions(const Model& model,
                                                 const std::vector<std::pair<int, int>>& pairs,
                                                 std::uint64_t seed, std::int64_t samples);

enum class PairState : std::int8_t { far, touching, apart, reachable, undecided };

class SelfCollisionSearch {
 public:
  // pairs: of colliders, with those of one pair of links side by side. group_begin: index of the
  // first pair of each pair of links, and the end. The model must outlive the search.
  SelfCollisionSearch(const Model& model, std::vector<std::pair<int, int>> pairs,
                      std::vector<int> group_begin, double margin, std::uint64_t seed);
  SelfCollisionSearch(const SelfCollisionSearch&) = delete;
  SelfCollisionSearch& operator=(const SelfCollisionSearch&) = delete;

  const Model& model() const { return scene_.model(); }

  // Update the states by n configurations of n_q entries.
  void sample(std::ptrdiff_t n, const double* q);
  // Mark far pairs as apart where that is proven.
  void prove();
  // Begin a search for each far pair, at the best of n configurations. most_work: number of joint
  // placements in all searches together.
  void begin_searches(std::ptrdiff_t n, const double* q, std::int64_t most_work);
  // Continue the searches for about this much work; return true if any are left.
  bool search(std::int64_t work);

  // State of every pair of links. A pair that is still far after all configurations and searches
  // counts as apart.
  const std::vector<PairState>& states() const { return states_; }

 private:
  // Link that occurs in pairs, with all of its colliders.
  struct Link {
    int body = 0;
    std::vector<int> objects;
    Ball ball;     // in the body's frame
    Vec3d center;  // in W, as placed last
  };
  struct Group {
    int a = 0, b = 0;          // links
    int first = 0, count = 0;  // of pairs_
    double reach = 0;  // largest distance of the balls' centers at which a pair may be near [m]
  };
  void find_links();
  int link_of(int object);
  void place(const double* q);
  bool balls_near(const Group& group) const {
    return squared_norm(links_[group.a].center - links_[group.b].center) <=
           group.reach * group.reach;
  }
  bool is_near(const Group& group);
  bool touches(const Group& group);
  // Try a configuration that a search has found on all far pairs.
  void share(const double* q);
  int path_length(int body_a, int body_b) const;
  // Choose the start configurations at which the links' balls are closest, at most `most`.
  void choose_starts(const Group& group, int most);
  // Search for a configuration within the margin. q_ gets the closest configuration found.
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
  bool is_first_ = true;   // nothing has been sampled
  std::vector<double> start_q_;
  // Centers of the links' balls, for one start configuration after the other.
  std::vector<Vec3d> start_centers_;
  // Starts of one search: squared distance of the centers, number of the configuration.
  std::vector<std::pair<double, int>> starts_;
  std::vector<int> queue_;  // pairs of links to be searched, in order
  std::size_t next_ = 0;
  std::int64_t most_work_ = 0;
  std::vector<double> q_, best_q_;
};

}  // namespace robosim
