// A CollisionScene at several configurations side by side, one per lane: forward kinematics, the
// balls and rods about bodies and objects, and their distances from covers (collision_scene.h).
//
// The distance between a point p and the box |x - c| <= e is the length of
//
//   out = p - c - clamp(p - c, -e, e),
//
// which is also the direction of a face, edge or corner that separates a ball about p from the box.
// For the segment p +- h, e + |h| takes the place of e: the whole segment is beyond the plane with
// the normal `out`, by at least the length of `out`. Cost for a register of configurations: 10 ns
// per joint, and 5 to 10 ns per ball or rod and cover, as much as for one ball alone. Instantiated
// for lanes only, in files that are compiled for their instruction set (engine/README.md).
#pragma once

#include <cstdint>
#include <vector>

#include "base/lane_order.h"
#include "base/lane_transpose.h"
#include "dynamics/kinematics.h"
#include "scene/collision_scene.h"
#include "scene/scene_query.h"

namespace robosim {

namespace detail {

// Distance of x beyond the interval, with its sign; zero inside.
template <class L>
ROBOSIM_INLINE L beyond(const L& x, const L& lower, const L& upper) {
  return x - smaller(larger(x, lower), upper);
}

}  // namespace detail

// Vector from a box to a point in the box's axes; zero inside.
template <class L>
ROBOSIM_INLINE Vec3<L> from_box(const Vec3d& center, const Vec3d& half_extents, const Vec3<L>& p) {
  const auto beyond = [](const L& x, double e) __attribute__((always_inline)) {
    return detail::beyond(x, L(-e), L(e));
  };
  return {beyond(p.x - L(center.x), half_extents.x), beyond(p.y - L(center.y), half_extents.y),
          beyond(p.z - L(center.z), half_extents.z)};
}

// Vector from a box to the smallest box about the segment p +- h.
template <class L>
ROBOSIM_INLINE Vec3<L> from_box(const Vec3d& center, const Vec3d& half_extents, const Vec3<L>& p,
                                const Vec3<L>& h) {
  const auto beyond = [](const L& x, double e, const L& half) __attribute__((always_inline)) {
    const L reach = L(e) + absolute(half);
    return detail::beyond(x, -reach, reach);
  };
  return {beyond(p.x - L(center.x), half_extents.x, h.x),
          beyond(p.y - L(center.y), half_extents.y, h.y),
          beyond(p.z - L(center.z), half_extents.z, h.z)};
}

// Vector from an axis-aligned box to a point; the box of a half-space is unbounded on some sides.
template <class L>
ROBOSIM_INLINE Vec3<L> from_bounds(const Aabb& box, const Vec3<L>& p) {
  return {detail::beyond(p.x, L(box.lower.x), L(box.upper.x)),
          detail::beyond(p.y, L(box.lower.y), L(box.upper.y)),
          detail::beyond(p.z, L(box.lower.z), L(box.upper.z))};
}

template <class L>
struct LaneRod {
  Vec3<L> center, half;  // in W
};

template <class L>
class LanePlacement {
 public:
  static constexpr int width = L::width;

  // The scene must outlive it.
  explicit LanePlacement(const CollisionScene& scene)
      : model_(&scene.model()),
        objects_(scene.objects().data()),
        body_balls_(&scene.body_ball(0)),
        body_rods_(&scene.body_rod(0)),
        data_(scene.model()),
        q_(static_cast<std::size_t>(scene.model().n_q)),
        body_placed_(static_cast<std::size_t>(scene.model().n_bodies())),
        poses_(scene.objects().size()),
        rows_(scene.objects().size() + 1) {
    for (std::size_t i = 0; i < poses_.size(); ++i)
      rows_[i + 1].ball = rows_[i].ball + static_cast<int>(objects_[i].balls.size());
    balls_.resize(rows_[poses_.size()].ball);
  }

  // Place lane l at the n_q entries from q[l] on.
  void place(const double* const (&q)[L::width]) {
    gather(q, model_->n_q, q_.data());
    forward_kinematics(*model_, data_, q_.data());
    for (std::size_t i = 1; i < body_placed_.size(); ++i) {
      body_placed_[i].ball = data_.X_WB[i] * Vec3<L>(body_balls_[i].center);
      body_placed_[i].rod = placed(static_cast<int>(i), body_rods_[i]);
    }
    // After 2^32 - 1 calls the counter restarts, and no old stamp may look valid.
    if (++now_ == 0) {
      for (Pose& pose : poses_) pose.stamp = pose.rod_stamp = 0;
      for (Row& row : rows_) row.stamp = 0;
      now_ = 1;
    }
  }

  const L* q() const { return q_.data(); }
  const SE3<L>* X_WB() const { return data_.X_WB.data(); }
  const SceneObject& object(int i) const { return objects_[i]; }
  // Ball and rod about a body's objects; center and rod in W.
  double body_ball_radius(int body) const { return body_balls_[body].radius; }
  double body_rod_radius(int body) const { return body_rods_[body].radius; }
  const Vec3<L>& body_center(int body) const { return body_placed_[body].ball; }
  const LaneRod<L>& body_rod(int body) const { return body_placed_[body].rod; }
  // Center of an object's ball, in W.
  Vec3<L> center(int i) const { return in_world(objects_[i].body, objects_[i].p_BC); }
  // Point of a body, in W.
  Vec3<L> in_world(int body, const Vec3d& p_B) const { return data_.X_WB[body] * Vec3<L>(p_B); }

  // Rod of a moving object, and the centers of its row of balls, in W.
  const LaneRod<L>& rod(int i) {
    Pose& pose = poses_[i];
    if (pose.rod_stamp != now_) {
      pose.rod = placed(objects_[i].body, objects_[i].rod);
      pose.rod_stamp = now_;
    }
    return pose.rod;
  }
  const Vec3<L>* row(int i) {
    Row& row = rows_[i];
    Vec3<L>* centers = balls_.data() + row.ball;
    if (row.stamp != now_) {
      const Ball* balls = objects_[i].balls.data();
      for (std::size_t k = 0, n = objects_[i].balls.size(); k < n; ++k)
        centers[k] = in_world(objects_[i].body, balls[k].center);
      row.stamp = now_;
    }
    return centers;
  }

  // Point p_W in the frame of an object.
  ROBOSIM_INLINE Vec3<L> in_object(int i, const Vec3<L>& p_W) {
    const SceneObject& object = objects_[i];
    if (object.body == 0)
      return transpose_times(Mat3<L>(object.X_BO.R), p_W - Vec3<L>(object.X_BO.p));
    return pose(i).inverse_times(p_W);
  }
  SE3<L> X_WO(int i) { return objects_[i].body == 0 ? SE3<L>(objects_[i].X_BO) : pose(i); }
  // Pose of object b in the frame of a.
  SE3<L> X_between(int a, int b) {
    const SE3<L> X_WA = X_WO(a), X_WB = X_WO(b);
    return {transpose(X_WA.R) * X_WB.R, X_WA.inverse_times(X_WB.p)};
  }
  // Vector of W in the axes of an object.
  ROBOSIM_INLINE Vec3<L> turned_to_object(int i, const Vec3<L>& v_W) {
    const SceneObject& object = objects_[i];
    return transpose_times(object.body == 0 ? Mat3<L>(object.X_BO.R) : pose(i).R, v_W);
  }

  // Vector from the cover of object b to a point or a rod's segment, in the axes of b.
  ROBOSIM_INLINE Vec3<L> from_cover(int b, const Vec3<L>& p_W) {
    const Cover& cover = objects_[b].cover;
    return from_box(cover.center, cover.half_extents, in_object(b, p_W));
  }
  ROBOSIM_INLINE Vec3<L> from_cover(int b, const LaneRod<L>& rod) {
    const Cover& cover = objects_[b].cover;
    return from_box(cover.center, cover.half_extents, in_object(b, rod.center),
                    turned_to_object(b, rod.half));
  }

  // Bit mask of the lanes among `lanes` where balls and rods about a cluster's bodies overlap.
  std::uint32_t touching(const CollisionScene::Cluster& c, std::uint32_t lanes) {
    const Vec3<L>& p = body_center(c.body_a);
    if (c.b < 0) {
      const double reach = body_ball_radius(c.body_a) + body_ball_radius(c.body_b) + rounding_slack;
      return lanes & ~bits_of(squared_norm(p - body_center(c.body_b)) > L(reach * reach));
    }
    const double reach = body_ball_radius(c.body_a) + objects_[c.b].cover.radius + rounding_slack;
    lanes &= ~bits_of(squared_norm(from_cover(c.b, p)) > L(reach * reach));
    if (lanes == 0) return 0;
    const double nearer = body_rod_radius(c.body_a) + objects_[c.b].cover.radius + rounding_slack;
    return lanes & ~bits_of(squared_norm(from_cover(c.b, body_rod(c.body_a))) > L(nearer * nearer));
  }
  // Bit mask of the lanes where the ball about an object overlaps the box of a node.
  std::uint32_t touching(int object, const Aabb& box, std::uint32_t lanes) {
    const double reach = objects_[object].ball_radius + rounding_slack;
    return lanes & ~bits_of(squared_norm(from_bounds(box, center(object))) > L(reach * reach));
  }
  // Bit mask of the lanes where rods, and then rows of balls, overlap covers of the other object.
  // depth: overlap in squares [m^2]. certain: lanes where the objects themselves overlap.
  std::uint32_t touching(int a, int b, std::uint32_t lanes, L& depth, std::uint32_t& certain) {
    const SceneObject &A = objects_[a], &B = objects_[b];
    const bool b_moves = B.body != 0;
    certain = 0;
    depth = overlap(from_cover(b, rod(a)), A.rod.radius + B.cover.radius);
    if ((lanes &= bits_of(depth > L(0))) == 0) return 0;
    if (b_moves) {
      depth = smaller(depth, overlap(from_cover(a, rod(b)), B.rod.radius + A.cover.radius));
      lanes &= bits_of(depth > L(0));
    }
    L deepest(-1.0);
    if (lanes != 0 && !A.balls.empty())
      lanes &= touching_row(a, b, depth, deepest);
    else if (lanes != 0 && B.is_cover)
      deepest = inside(from_cover(b, rod(a).center), A.core + B.cover.radius);
    if (B.is_cover) certain = lanes & bits_of(deepest > L(0));
    if (lanes != 0 && b_moves && !B.balls.empty()) lanes &= touching_row(b, a, depth, deepest);
    return lanes | certain;
  }

 private:
  static ROBOSIM_INLINE L overlap(const Vec3<L>& out, double radius) {
    const double reach = radius + rounding_slack;
    return L(reach * reach) - squared_norm(out);
  }
  // Depth within `radius`, in squares, less what rounding may have added.
  static ROBOSIM_INLINE L inside(const Vec3<L>& out, double radius) {
    const double reach = radius - rounding_slack;
    return reach > 0 ? L(reach * reach) - squared_norm(out) : L(-1.0);
  }
  std::uint32_t touching_row(int a, int b, L& depth, L& deepest) {
    const Vec3<L>* centers = row(a);
    const Ball* balls = objects_[a].balls.data();
    const double *cores = objects_[a].cores.data(), covered = objects_[b].cover.radius;
    L most(-1.0);
    for (std::size_t k = 0, n = objects_[a].balls.size(); k < n; ++k) {
      const Vec3<L> out = from_cover(b, centers[k]);
      most = larger(most, overlap(out, balls[k].radius + covered));
      deepest = larger(deepest, inside(out, cores[k] + covered));
    }
    depth = smaller(depth, most);
    return bits_of(most > L(0));
  }
  ROBOSIM_INLINE LaneRod<L> placed(int body, const Rod& rod) const {
    const SE3<L>& X = data_.X_WB[body];
    return {X * Vec3<L>(rod.center), X.R * Vec3<L>(rod.half)};
  }
  struct BodyPlaced {
    Vec3<L> ball;
    LaneRod<L> rod;
  };
  struct Pose {
    SE3<L> X_WO;
    LaneRod<L> rod;
    std::uint32_t stamp = 0, rod_stamp = 0;  // place() calls in which these were computed
  };
  struct Row {
    int ball = 0;             // index of its first ball
    std::uint32_t stamp = 0;  // place() call in which these were computed
  };
  const SE3<L>& pose(int i) {
    Pose& pose = poses_[i];
    if (pose.stamp != now_) {
      pose.X_WO = data_.X_WB[objects_[i].body] * SE3<L>(objects_[i].X_BO);
      pose.stamp = now_;
    }
    return pose.X_WO;
  }

  const Model* model_;
  const SceneObject* objects_;
  const Ball* body_balls_;
  const Rod* body_rods_;
  Data<L> data_;
  std::vector<L> q_;
  std::vector<BodyPlaced> body_placed_;
  std::vector<Pose> poses_;     // of moving objects, computed at the first use
  std::vector<Row> rows_;       // per object
  std::vector<Vec3<L>> balls_;  // of all rows
  std::uint32_t now_ = 0;
};

}  // namespace robosim
