// Lower bound, without samples, on the distance of two links over all configurations within the
// limits.
//
// The vector from a point of link a to a point of link b is a sum of vectors v_k, each fixed in a
// body of the path between the links: from joint to joint, and from the last joint to the point.
// v_k0 is v_k with every joint in the middle of its range. The angle of a product of rotations is
// at most the sum of their angles. Seen from body m of the path, v_k thus deviates from v_k0 by at
// most the angle d_km, the sum of the half ranges of the joints between m and k. So for every unit
// vector n
//
//   distance >= sum_k |v_k| cos(min(pi, angle(n, v_k0) + d_km))
//               - half ranges of sliding joints - radii,
//
// where shapes lie within radii of segments (the rods of collision_scene.h), whose ends are the
// points. The bound is sharp for a planar chain of equal links and ranges: it becomes zero when the
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

  // Lower bound on the distance [m] between objects of one body and objects of another; a bound
  // that is negative or zero says nothing.
  double distance(std::span<const int> a, std::span<const int> b);

 private:
  struct Segment {
    Vec3d v;          // at the middle configuration, in W
    double turn = 0;  // half ranges of all joints between body a and the body that v is fixed in
  };
  void find_path(int body_a, int body_b);
  // Lower bound seen from the body of the path with this turn.
  double seen_from(double turn, std::span<const int> a, std::span<const int> b) const;
  // Least n . v over all ends of the objects' rods, less the rods' radii, as v turns by up to
  // `turn`. v is the vector from the body's origin to the end, times `sign`.
  double least(const Vec3d& n, double turn, std::span<const int> objects, double sign) const;

  const CollisionScene& scene_;
  std::vector<SE3d> X_WB_;  // at the middle configuration
  // Half the range of the joint that carries each body: [rad], [m].
  std::vector<double> turn_, slide_;
  std::vector<Segment> path_;
  std::vector<int> down_;
  double total_turn_ = 0, total_slide_ = 0;
};

}  // namespace robosim
