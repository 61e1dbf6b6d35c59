// How far two colliders can move against each other while the joints stay near a configuration: certified upper bounds.
//
// Let q_m be a configuration and let every joint j move away from it by at most an angle D_j and a length L_j. Write C_j and
// P_j for the child and parent frame of joint j, x for a point of a collider on the last body of the chain 1, ..., k, and
// e_j for the largest displacement of x as seen from P_j. As x_P = X_J(q) x_C and rotations keep lengths,
//
//   x_P(q) - x_P(q_m) = R_J(q) [x_C(q) - x_C(q_m)] + [X_J(q) - X_J(q_m)] x_C(q_m)
//   e_j <= e_{j+1} + D_j rho_j + L_j,      e_{k+1} = 0
//
// because a rotation by the angle D moves a point by 2 sin(D/2) <= D times its distance rho from the axis; and that distance is
// taken *at q_m*, where it is known, rather than at its worst over all configurations. So
//
//   (1)  |x(q) - x(q_m)| <= sum_j (D_j rho_j(q_m) + L_j)
//
// which is linear in (D, L): half the way, half the bound. A joint without an axis of its own, such as a floating one, turns about an
// unknown axis through its origin: rho is the distance from that point. For two colliders the sum runs over the joints between them, each seen from the last body
// that both chains share. rho is the larger distance of the ends of a segment, plus a radius, that together contain the
// collider (a distance from a line is convex, so its maximum is at an end).
// Schwarzer, Saha, Latombe: "Adaptive dynamic collision checking for single and multiple articulated robots in complex
// environments" (IEEE T-RO 2005) have (1) with rho at its worst.
//
// Along a given curve the joints' directions are known, and motions may cancel or pass an obstacle sideways. Let
// q - q_m = step s + e, |s| <= 1, |e_j| <= bend_j (curve.h) and v(x) the velocity of x at q_m for the rates `step`. Taylor's
// theorem along the straight line from q_m to q, whose second derivatives are d2x/dq_i dq_j = a_i x (a_j x (x - p_j)), i above
// j, of length rho_j at most, gives
//
//   (2)  |x(q) - x(q_m) - s v(x)| <= rest = sum_j rho*_j [bend_j + D_j (D_j / 2 + sum_{i above j} D_i)] + terms in L alike
//
// where rho*_j = rho_j(q_m) + e_{j+1} bounds the distance over the whole interval. Then a ball about x leaves a plane with
// unit normal n at a gap g > |n . v(x)| + rest untouched: a ball turns about its centre without moving.
// Cost: about 10 ns per object asked for and moving joint above it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "planning/curve.h"
#include "scene/scene_query.h"

namespace robosim {

class MotionBound {
 public:
  explicit MotionBound(const CollisionScene& scene);

  // Takes the configuration that the query is placed at, q, and the spread about it; bounds are worked out on demand.
  void update(const SceneQuery& query, const double* q, const Spread& spread);

  // The motion of an object a against another, b (or of all objects of one body), seen from the last body above both.
  struct Relative {
    double total = 0;   // (1), of any point of a against any point of b
    double rest = 0;    // (2), of a, and (1) of b
    double radius = 0;  // with the segment p_W: contains a
    Vec3d omega, v0;    // v(x) = v0 + omega x x for points x of a, in W
    Vec3d p_W[2];

    Vec3d velocity(const Vec3d& x) const { return v0 + cross(omega, x); }
    // Of any point of a against any point of b, by (1) or (2).
    double least() const {
      const double fastest = std::sqrt(std::max(squared_norm(velocity(p_W[0])), squared_norm(velocity(p_W[1]))));
      return std::min(total, fastest + norm(omega) * radius + rest);
    }
  };
  Relative of(int object) { return relative(objects_[static_cast<std::size_t>(object)]); }  // against the world
  Relative of_pair(int i) { return relative(pairs_[static_cast<std::size_t>(i)]); }         // scene.single_pairs()[i]
  Relative of_cluster(int i) { return relative(clusters_[static_cast<std::size_t>(i)]); }   // scene.clusters()[i]
  // The largest bound (1) of any object against the world.
  double largest();
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
    Vec3d p_W[2];
  };
  // Of a relative motion: the items and their slots, and the last body above both.
  struct Slots {
    int item_a = -1, a = 0, item_b = -1, b = 0, top = 0;
  };
  struct JointMotion {
    double turn = 0, slide = 0, bend_turn = 0, bend_slide = 0;
  };
  // Bounds (1) and (2) of a slot.
  struct Bounds {
    double total = 0, rest = 0;
  };
  struct Twist {
    Vec3d omega, v0;
  };
  int n_body_items_ = 0;  // the first items
  int add_item(int body, const Vec3d& centre, const Vec3d& half_extents, double radius, const SE3d& X);
  int slot_below(int item, int top) const;
  bool driven(int first, int last, const std::vector<char>& driven_q) const;
  void work_out(Item& item);
  void set_joints(const double* q, const Spread& spread);
  Item& up_to_date(int item) {
    Item& i = items_[static_cast<std::size_t>(item)];
    if (i.stamp != now_) work_out(i);
    return i;
  }
  Relative relative(const Slots& s);

  const CollisionScene* scene_;
  std::vector<Item> items_;
  std::vector<Slots> objects_, pairs_, clusters_;  // per object (against the world), single pair, cluster
  std::vector<int> joint_of_slot_;
  std::vector<Bounds> bounds_;       // per slot
  std::vector<JointMotion> joints_;  // per joint
  std::vector<Vec3d> axis_;          // of each joint, in W
  std::vector<Twist> twists_;        // per body, for the rates `step`
  bool has_twists_ = false;          // false: a joint without an axis turns, only (1) holds
  const std::vector<SE3d>* X_WB_ = nullptr;
  std::uint32_t now_ = 0;
};

}  // namespace robosim
