// Lower bound on the distance of two links over all configurations within the limits, without a
// sample.
//
// The vector from a point of link a to a point of link b is a sum of vectors v_k, each fixed in a
// body of the path between them: from joint to joint, and from the last joint to the point. v_k0 is
// v_k with every joint in the middle of its range. As the angle of a product of rotations is at
// most the sum of their angles, v_k seen from body m of the path deviates from v_k0 by at most the
// angle d_km, the half ranges of the joints between m and k together. So for every unit vector n
//
//   distance >= sum_k |v_k| cos(min(pi, angle(n, v_k0) + d_km)) - half ranges of sliding joints -
//     radii,
//
// where shapes lie within radii of segments (the rods of collision_scene.h), whose ends are the
// points. For a planar chain of equal links and ranges the bound is sharp: it becomes zero when the
// ranges add up to a full turn. Cost: about 20 ns per joint of the path and choice of m.
#pragma once

#include <span>
#include <vector>

#include "model/model.h"
#include "scene/collision_scene.h"

namespace robosim {

class ReachBound {
 public:
  // The scene must outlive it.
  explicit ReachBound(const CollisionScene& scene);

  // Of objects of one body and objects of another [m]; negative or zero says nothing.
  double distance(std::span<const int> a, std::span<const int> b);

 private:
  struct Segment {
    Vec3d v;          // at the middle configuration, in W
    double turn = 0;  // half ranges of all joints between body a and the body it is fixed in
  };
  void find_path(int body_a, int body_b);
  double seen_from(double turn, std::span<const int> a, std::span<const int> b) const;
  // The least of n . v over all ends of the objects' rods, less their radii; v from the body's
  // origin, times `sign`.
  double least(const Vec3d& n, double turn, std::span<const int> objects, double sign) const;

  const CollisionScene& scene_;
  std::vector<SE3d> X_WB_;  // at the middle configuration
  // Of the joint that carries each body: half its range [rad], [m].
  std::vector<double> turn_, slide_;
  std::vector<Segment> path_;
  std::vector<int> down_;
  double total_turn_ = 0, total_slide_ = 0;
};

}  // namespace robosim
