// Local minimization of the distance of two links over the joints between them, within the limits.
//
// Descent: projected gradient, dphi/dv = n . (velocity of p_B - velocity of p_A), for the normal n
// and the closest points p (Witness). Coordinates are scaled by half ranges: a step of 1 moves the
// coordinate with the largest rate through half of its range. A step that brings the shapes no
// closer is quartered. The descent ends when five steps in a row bring them no closer.
//
// Exploration: normal perturbations of all coordinates, whose spread shrinks as they fail. They
// find what a gradient misses because of kinks of polytopes, local minima or straight chains.
//
// Distances are those of shapes, also where shapes stand for bodies. Only the joints between the
// links are placed, in the frame of the body where their paths meet. Cost of a distance: 40 ns per
// such joint, and 0.1 to 1 us per pair of shapes that their balls do not separate.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "scene/collision_scene.h"

namespace robosim {

class PairDescent {
 public:
  // The scene must outlive it.
  explicit PairDescent(const CollisionScene& scene);

  // Choose pairs of objects, each of one object of body a and one of body b. The pairs must outlive
  // the queries.
  void choose(std::span<const std::pair<int, int>> pairs);
  int path_length() const { return static_cast<int>(path_.size()); }

  // Least signed distance of all pairs at q (n_q entries); infinite if none is less than `below`.
  double distance(const double* q, double below = std::numeric_limits<double>::infinity());
  // Both continue from q with this distance, leave the closest configuration in q and return its
  // distance. They stop at `enough`.
  double descend(double distance, double enough, double* q);
  double explore(double distance, double enough, Rng& rng, double* q);

  // Number of joint placements so far. A distance of two shapes counts as 10, of bodies of many
  // pieces as 300.
  std::int64_t work() const { return work_; }

 private:
  void find_path(int body_a, int body_b);
  void find_coordinates();
  void place(const double* q);
  // Compute the rates of the distance measured last.
  void find_rates();
  // Set candidate_ to q moved by v within the limits.
  void move(const double* q, const double* v);

  struct Step {
    int body = 0;  // body that the joint carries
    int side = 0;  // 1: the joint moves b, -1: it moves a
  };
  // Joint with coordinates of its own that move a joint of the path.
  struct Owner {
    int joint = 0;
    double scale[6];  // half of each range [rad, m]
  };

  const CollisionScene& scene_;
  std::span<const std::pair<int, int>> pairs_;
  std::vector<PairCache> caches_;  // of each pair
  std::vector<Step> path_;         // parents first
  std::vector<Owner> owners_;
  std::vector<int> own_joint_;  // per entry of v, the joint that owns it
  std::vector<SE3d> X_;         // per body, in the frame of the body where the paths meet
  Witness witness_;
  std::vector<double> rates_, v_, candidate_;
  std::int64_t work_ = 0;
};

}  // namespace robosim
