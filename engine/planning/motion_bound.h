// Certified upper bounds on the relative motion of two colliders while the joints stay near a
// configuration.
//
// Let q_m be a configuration and let every joint j move away from it by at most an angle D_j and a
// length L_j. Write C_j and P_j for the child and parent frame of joint j, x for a point of a
// collider on the last body of the chain 1, ..., k, and e_j for the largest displacement of x as
// seen from P_j. As x_P = X_J(q) x_C and rotations keep lengths,
//
//   x_P(q) - x_P(q_m) = R_J(q) [x_C(q) - x_C(q_m)] + [X_J(q) - X_J(q_m)] x_C(q_m)
//   e_j <= e_{j+1} + D_j rho_j + L_j,      e_{k+1} = 0
//
// because a rotation by the angle D moves a point by 2 sin(D/2) <= D times its distance rho from
// the axis. That distance is taken *at q_m*, where it is known, rather than at its worst over all
// configurations. So
//
//   (1)  |x(q) - x(q_m)| <= sum_j (D_j rho_j(q_m) + L_j)
//
// which is linear in (D, L): half the displacement has half the bound. A joint without an axis of
// its own, such as a floating joint, turns about an unknown axis through its origin, and rho is the
// distance from that point. For two colliders the sum runs over the joints between them, each seen
// from the last body that both chains share. A segment with a radius contains the collider. rho is
// the larger distance of the segment's ends plus the radius, since the distance from a line is
// convex and so has its maximum at an end. Schwarzer, Saha, Latombe: "Adaptive dynamic collision
// checking for single and multiple articulated robots in complex environments" (IEEE T-RO 2005)
// have (1) with rho at its worst.
//
// Along a given curve the directions of the joints' motions are known, and motions may cancel or
// pass an obstacle sideways. Let q - q_m = step s + e, |s| <= 1, |e_j| <= bend_j (curve.h) and v(x)
// the velocity of x at q_m for the rates `step`. Apply Taylor's theorem along the straight line
// from q_m to q. The second derivatives are d2x/dq_i dq_j = a_i x (a_j x (x - p_j)), i above j, of
// length rho_j at most. Hence
//
//   (2)  |x(q) - x(q_m) - s v(x)| <= rest
//        rest = sum_j rho*_j [bend_j + D_j (D_j / 2 + sum_{i above j} D_i)] + similar terms in L
//
// where rho*_j = rho_j(q_m) + e_{j+1} bounds the distance over the whole interval. Then a ball
// about x does not touch a plane with unit normal n at a gap g > |n . v(x)| + rest, since turning
// about its center does not move a ball. Nor does any object at a gap g > max_x |n . v(x)| + rest.
// Over a segment with a radius r, |n . v(x)| is at most its larger value at the two ends plus r |n
// x omega|.
//
// Templates cover plain numbers and lanes, i.e. several configurations side by side. Cost: about 10
// ns per object and moving joint above it, for one configuration or for a register of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/lane_order.h"
#include "dynamics/kinematics.h"
#include "model/joints.h"
#include "planning/curve.h"
#include "scene/collision_scene.h"

namespace robosim {

// Items of one scene that have motion bounds: objects and bodies, and the joints above them.
struct MotionLayout {
  // An object, or all objects of a body. Slots first, ..., first + count - 1 hold the bound against
  // the parents of the joints above it, from its own joint up. Slot 0 stays zero.
  struct Item {
    Vec3d p_B[2];  // ends of the segment, in the body frame
    double radius = 0;
    int body = 0, first = 0, count = 0;
  };
  // Slots of a relative motion: the two items and their slots, and the last body above both.
  struct Slots {
    int item_a = -1, a = 0, item_b = -1, b = 0, top = 0;
  };

  explicit MotionLayout(const CollisionScene& scene);

  const CollisionScene* scene;
  std::vector<Item> items;  // bodies first
  // per object (against the world), single pair and cluster
  std::vector<Slots> objects, pairs, clusters;
  std::vector<int> joint_of_slot;
  int n_body_items = 0;

  // Return true if one of these entries of q drives a joint between the two bodies of a cluster, or
  // a joint above an object.
  bool moves_cluster(int i, const std::vector<char>& driven_q) const;
  bool moves(int object, const std::vector<char>& driven_q) const;

 private:
  int add_item(int body, const Vec3d& center, const Vec3d& half_extents, double radius,
               const SE3d& X);
  int slot_below(int item, int top) const;
  bool driven(int first, int last, const std::vector<char>& driven_q) const;
};

template <class S>
class MotionBound {
 public:
  // The layout must outlive this object.
  explicit MotionBound(const MotionLayout& layout)
      : layout_(&layout),
        items_(layout.items.size()),
        bounds_(layout.joint_of_slot.size()),
        joints_(layout.scene->model().joints.size()),
        axis_(joints_.size()),
        twists_(joints_.size()) {}

  // Set the placement of the bodies, q, and the spread about q, n_q entries each. Bounds are
  // computed on demand.
  void update(const SE3<S>* X_WB, const S* q, const S* span, const S* step, const S* bend);

  // Motion of an object a against an object b (or all objects of one body), seen from the last body
  // above both.
  struct Relative {
    S total{};          // bound (1), of any point of a against any point of b
    S rest{};           // bound (2) of a plus bound (1) of b
    double radius = 0;  // contains a, about the segment p_W
    Vec3<S> omega, v0;  // v(x) = v0 + omega x x for points x of a, in W
    const Vec3<S>* p_W = nullptr;

    Vec3<S> velocity(const Vec3<S>& x) const { return v0 + cross(omega, x); }
    // Bound on the motion of any point of a along a unit vector, without the rest.
    S along(const Vec3<S>& n) const {
      const S ends = larger(absolute(dot(n, velocity(p_W[0]))), absolute(dot(n, velocity(p_W[1]))));
      return ends + norm(cross(n, omega)) * S(radius);
    }
    // Lesser of bounds (1) and (2), for any point of a against any point of b.
    S least() const {
      using std::sqrt;
      const S fastest =
          sqrt(larger(squared_norm(velocity(p_W[0])), squared_norm(velocity(p_W[1]))));
      return smaller(total, fastest + norm(omega) * S(radius) + rest);
    }
  };
  // Motion of an object against the world.
  Relative of(int object) { return relative(layout_->objects[object]); }
  // Relative motion of scene.single_pairs()[i].
  Relative of_pair(int i) { return relative(layout_->pairs[i]); }
  // Relative motion of scene.clusters()[i].
  Relative of_cluster(int i) { return relative(layout_->clusters[i]); }
  Relative relative(const MotionLayout::Slots& s);
  // Bound (1) alone.
  S total_of(const MotionLayout::Slots& s);

 private:
  struct Item {
    std::uint32_t stamp = 0;  // update for which the slots are computed
    Vec3<S> p_W[2];
  };
  struct JointMotion {
    S turn{}, slide{}, bend_turn{}, bend_slide{};
    bool turns = false;  // in any lane
  };
  // Bounds (1) and (2) of a slot.
  struct Bounds {
    S total{}, rest{};
  };
  struct Twist {
    Vec3<S> omega, v0;
  };
  // Turn and slide of a joint for changes dq of its positions, lane by lane.
  template <class J>
  static ROBOSIM_INLINE void travel(const Joint& joint, const S* dq, S& turn, S& slide) {
    const double scale = joint.mimic ? absolute(joint.ratio) : 1.0;
    for (int l = 0; l < lanes_in(S()); ++l) {
      double own[J::n_q];
      for (int i = 0; i < J::n_q; ++i) own[i] = lane(dq[i], l);
      const Travel most = J::travel(joint, own);
      set_lane(turn, l, scale * most.turn);
      set_lane(slide, l, scale * most.slide);
    }
  }
  void work_out(int item);
  const Item& up_to_date(int item) {
    Item& i = items_[item];
    if (i.stamp != now_) work_out(item);
    return i;
  }

  const MotionLayout* layout_;
  std::vector<Item> items_;
  std::vector<Bounds> bounds_;       // per slot
  std::vector<JointMotion> joints_;  // per joint
  std::vector<Vec3<S>> axis_;        // of each joint, in W
  std::vector<Twist> twists_;        // per body, for the rates `step`
  bool has_twists_ = false;          // false: a joint without an axis turns, only (1) is valid
  const SE3<S>* X_WB_ = nullptr;
  Vec3<S> still_[2];  // any points, for objects that do not move
  std::uint32_t now_ = 0;
};

// Compute D, L and the bends of every joint, and the twists of the bodies.
template <class S>
void MotionBound<S>::update(const SE3<S>* X_WB, const S* q, const S* span, const S* step,
                            const S* bend) {
  const Model& model = layout_->scene->model();
  X_WB_ = X_WB;
  // After 2^32 - 1 updates the counter wraps around; clear the stamps so that none looks current.
  if (++now_ == 0) {
    for (Item& item : items_) item.stamp = 0;
    now_ = 1;
  }
  has_twists_ = true;
  for (int j = 1; j < model.n_bodies(); ++j) {
    const Joint& joint = model.joints[j];
    const int k = joint.q_index;
    JointMotion& motion = joints_[j];
    Twist& twist = twists_[j];
    twist = twists_[joint.parent];
    const double ratio = joint.mimic ? joint.ratio : 1.0;
    visit_joint(
        joint.type, [&]<class J>(J) __attribute__((always_inline)) {
          travel<J>(joint, span + k, motion.turn, motion.slide);
          travel<J>(joint, bend + k, motion.bend_turn, motion.bend_slide);
          motion.turns = any(motion.turn > S(0));
          if (!motion.turns && !any(motion.slide > S(0))) return;
          const SE3<S>& X = X_WB[j];
          if (J::has_axis)
            axis_[j] = X.R * Vec3<S>(joint.axis);
          else if (motion.turns)
            has_twists_ = false;
          S v[J::n_v];
          J::velocity(q + k, step + k, v);
          for (int i = 0; i < J::n_v; ++i) {
            const Motion<S> column = detail::in_ground(X.R, X.p, J::template column<S>(joint, i));
            const S rate = S(ratio) * v[i];
            twist.omega = mul_add(rate, column.angular, twist.omega);
            twist.v0 = mul_add(rate, column.linear, twist.v0);
          }
        });
  }
}

template <class S>
void MotionBound<S>::work_out(int index) {
  using std::sqrt;
  const MotionLayout::Item& shape = layout_->items[index];
  Item& item = items_[index];
  for (int k = 0; k < 2; ++k) item.p_W[k] = X_WB_[shape.body] * Vec3<S>(shape.p_B[k]);
  // Accumulate from the collider's own joint up. `swept` is the sum of D_j rho*_j + L_j over the
  // joints so far; a turn above multiplies it into the rest.
  Bounds sum;
  sum.total = sum.rest = S(0);
  S swept(0);
  for (int slot = shape.first; slot < shape.first + shape.count; ++slot) {
    const int j = layout_->joint_of_slot[slot];
    const JointMotion& motion = joints_[j];
    if (motion.turns) {
      const Vec3<S> r0 = item.p_W[0] - X_WB_[j].p, r1 = item.p_W[1] - X_WB_[j].p;
      const bool any_axis = visit_joint(
          layout_->scene->model().joints[j].type,
          []<class J>(J) __attribute__((always_inline)) { return !J::has_axis; });
      const Vec3<S>& axis = axis_[j];
      const S s0 = squared_norm(any_axis ? r0 : cross(axis, r0)),
              s1 = squared_norm(any_axis ? r1 : cross(axis, r1));
      const S rho = sqrt(larger(s0, s1)) + S(shape.radius), rho_anywhere = rho + sum.total;
      sum.rest += rho_anywhere * (motion.bend_turn + S(0.5) * motion.turn * motion.turn) +
                  motion.turn * swept;
      swept += motion.turn * rho_anywhere;
      sum.total += motion.turn * rho;
    }
    sum.rest += motion.bend_slide;
    swept += motion.slide;
    sum.total += motion.slide;
    bounds_[slot] = sum;
  }
  item.stamp = now_;
}

template <class S>
S MotionBound<S>::total_of(const MotionLayout::Slots& s) {
  if (s.item_a >= 0) up_to_date(s.item_a);
  if (s.item_b >= 0) up_to_date(s.item_b);
  // Slot 0 is zero.
  return bounds_[s.a].total + bounds_[s.b].total;
}

template <class S>
typename MotionBound<S>::Relative MotionBound<S>::relative(const MotionLayout::Slots& s) {
  Relative r;
  r.total = r.rest = S(0);
  if (s.item_a >= 0) {
    const Item& item = up_to_date(s.item_a);
    const MotionLayout::Item& shape = layout_->items[s.item_a];
    const Twist &twist = twists_[shape.body], &top = twists_[s.top];
    const Bounds& bounds = bounds_[s.a];
    r.total = bounds.total;
    r.rest = has_twists_ ? bounds.rest : bounds.total;
    r.radius = shape.radius;
    r.omega = twist.omega - top.omega;
    r.v0 = twist.v0 - top.v0;
    r.p_W = item.p_W;
  } else {
    r.p_W = still_;
  }
  if (s.item_b >= 0) {
    up_to_date(s.item_b);
    const S total = bounds_[s.b].total;
    r.total += total;
    r.rest += total;
  }
  return r;
}

}  // namespace robosim
