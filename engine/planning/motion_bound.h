// How far two colliders can move against each other while the joints stay near a configuration: certified upper bounds.
//
// Let q_m be a configuration and let every joint j move away from it by at most an angle D_j and a length L_j. Write C_j and
// P_j for the child and parent frame of joint j, x for a point of a collider on the last body of the chain 1, ..., k, and
// e_j for the largest displacement of x as seen from P_j. As x_P = X_J(q) x_C and rotations keep lengths,
//
//   x_P(q) - x_P(q_m) = R_J(q) [x_C(q) - x_C(q_m)] + [X_J(q) - X_J(q_m)] x_C(q_m)
//   e_j <= e_{j+1} + D_j rho_j(x) + L_j,      e_{k+1} = 0
//
// because a rotation by the angle D moves a point by 2 sin(D/2) <= D times its distance rho from the axis; and that distance is
// taken *at q_m*, where it is known, rather than at its worst over all configurations. So the bound
//
//   |x(q) - x(q_m)| <= sum_j (D_j rho_j(q_m) + L_j)
//
// is exact to first order, holds for any D, and is linear in (D, L): half the way, half the bound. A floating joint turns about
// an unknown axis through its origin: rho is the distance from that point. For two colliders the sum runs over the joints between
// them, each seen from the last body that both chains share. rho is the larger distance of the ends of a segment plus a
// radius that together contain the collider (a distance from a line is convex, so its maximum is at an end).
// Schwarzer, Saha, Latombe: "Adaptive dynamic collision checking for single and multiple articulated robots in complex
// environments" (IEEE T-RO 2005) take rho at its worst instead. Cost: about 10 ns per object asked for and moving joint above it.
#pragma once

#include <cstdint>
#include <vector>

#include "scene/scene_query.h"

namespace robosim {

class MotionBound {
 public:
  explicit MotionBound(const CollisionScene& scene);

  // From bounds of |q - q_m| per entry of q [rad, m; quaternion entries: of the unit quaternion] to D and L.
  void set_joint_motion(const double* delta_q);
  // Takes the configuration that the query is placed at; bounds are worked out on demand.
  void update(const SceneQuery& query);

  // Of a moving object against the world.
  double of(int object) { return at_slot(item_of_object_[static_cast<std::size_t>(object)], last_[static_cast<std::size_t>(object)]); }
  // Of the two objects of scene.single_pairs()[i] against each other.
  double of_pair(int i) { return of_slots(pairs_[static_cast<std::size_t>(i)]); }
  // Of any two objects of scene.clusters()[i] against each other.
  double of_cluster(int i) { return of_slots(clusters_[static_cast<std::size_t>(i)]); }
  // Whether a joint between the two bodies of a cluster, or above an object, is driven by one of these entries of q.
  bool moves_cluster(int i, const std::vector<char>& driven_q) const;
  bool moves(int object, const std::vector<char>& driven_q) const;


 private:
  // What a bound is worked out for: an object, or all objects of a body. Its slots first, ..., first + count - 1 hold the bound
  // against the parents of the joints above it, from its own joint up. Slot 0 stays zero.
  struct Item {
    Vec3d p_B[2];  // ends of the segment, in the body frame
    double radius = 0;
    int body = 0, first = 0, count = 0;
    std::uint32_t stamp = 0;  // the update that its slots belong to
  };
  struct Slots {
    int item_a = -1, a = 0, item_b = -1, b = 0;
  };
  struct JointMotion {
    double turn = 0, slide = 0;
  };
  int add_item(int body, const Vec3d& centre, const Vec3d& half_extents, double radius, const SE3d& X);
  int slot_below(int item, int top) const;
  bool driven(int first, int last, const std::vector<char>& driven_q) const;
  void work_out(Item& item);
  double at_slot(int item, int slot) {
    if (item < 0) return 0;
    if (items_[static_cast<std::size_t>(item)].stamp != now_) work_out(items_[static_cast<std::size_t>(item)]);
    return bound_[static_cast<std::size_t>(slot)];
  }
  double of_slots(const Slots& s) { return at_slot(s.item_a, s.a) + at_slot(s.item_b, s.b); }

  const CollisionScene* scene_;
  std::vector<Item> items_;
  std::vector<int> item_of_object_, last_;  // per object: its item (-1: fixed to the world) and the slot of the topmost joint
  std::vector<Slots> pairs_, clusters_;     // per single pair, per cluster
  std::vector<int> joint_of_slot_;
  std::vector<double> bound_;        // per slot
  std::vector<JointMotion> joints_;  // per joint
  std::vector<Vec3d> axis_;          // of each joint, in W
  const std::vector<SE3d>* X_WB_ = nullptr;
  std::uint32_t now_ = 0;
};

}  // namespace robosim
