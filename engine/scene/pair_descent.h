// Local minimization of the distance of two links over the joints between them, within the limits.
//
// Descent: projected gradient, dphi/dv = n . (velocity of p_B - that of p_A) for the normal n and
// the closest points p (Witness). Coordinates are scaled by half ranges, so that a step of 1 takes
// the one with the largest rate through half of its range; a step that brings the shapes no closer
// is quartered, and where five in a row do not, the descent ends. Exploration: normal perturbations
// of all coordinates, whose spread shrinks as they fail, for what a gradient cannot see (kinks of
// polytopes, local minima, straight chains). Distances are those of shapes, also where they stand
// for bodies. Only the joints between the links are placed, in the frame of the body where their
// paths meet. Cost of a distance: 40 ns per such joint, and 0.1 to 1 us per pair of shapes whose
// balls leave it open.
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

  // Pairs of objects, each of one object of body a and one of body b; they must outlive the
  // queries.
  void choose(std::span<const std::pair<int, int>> pairs);
  int path_length() const { return static_cast<int>(path_.size()); }

  // The least signed distance of all pairs at q (n_q entries); infinite where none is less than
  // `below`.
  double distance(const double* q, double below = std::numeric_limits<double>::infinity());
  // Both go on from q at this distance, leave the closest configuration in q and return its
  // distance; they stop at `enough`.
  double descend(double distance, double enough, double* q);
  double explore(double distance, double enough, Rng& rng, double* q);

  // Placements of joints so far; a distance of two shapes counts as 10, of bodies of many pieces as
  // 300.
  std::int64_t work() const { return work_; }

 private:
  void find_path(int body_a, int body_b);
  void find_coordinates();
  void place(const double* q);
  // Of the distance measured last.
  void find_rates();
  // q moved by v within the limits, to candidate_.
  void move(const double* q, const double* v);

  struct Step {
    int body = 0;  // the joint that carries it
    int side = 0;  // 1: it moves b, -1: it moves a
  };
  // A joint with coordinates of its own that moves one of the path.
  struct Owner {
    int joint = 0;
    double scale[6];  // half of each range [rad, m]
  };

  const CollisionScene& scene_;
  std::span<const std::pair<int, int>> pairs_;
  std::vector<PairCache> caches_;  // of each pair
  std::vector<Step> path_;         // parents first
  std::vector<Owner> owners_;
  std::vector<int> own_joint_;  // per v the joint that has it for its own
  std::vector<SE3d> X_;         // per body, in the frame of the body where the paths meet
  Witness witness_;
  std::vector<double> rates_, v_, candidate_;
  std::int64_t work_ = 0;
};

}  // namespace robosim
