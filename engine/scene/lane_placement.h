// A CollisionScene at several configurations side by side, one per lane: forward kinematics, the centres of the balls about
// bodies, and how far balls stand off covers (collision_scene.h).
//
// The distance between a point p and the box |x - c| <= e is the length of  out = p - c - clamp(p - c, -e, e),  which is also
// the direction of a face, edge or corner that keeps a ball about p off the box.
// Cost for a register of configurations: 10 ns per joint, and 5 ns per ball and cover where one ball alone costs as much.
// Instantiated for lanes only, in files that are compiled for their instruction set (engine/README.md).
#pragma once

#include <cstdint>
#include <vector>

#include "base/lane_order.h"
#include "base/lane_transpose.h"
#include "dynamics/kinematics.h"
#include "scene/collision_scene.h"
#include "scene/scene_query.h"

namespace robosim {

template <class L>
class LanePlacement {
 public:
  static constexpr int width = L::width;

  // The scene must outlive it.
  explicit LanePlacement(const CollisionScene& scene)
      : model_(&scene.model()),
        objects_(scene.objects().data()),
        body_balls_(&scene.body_ball(0)),
        data_(scene.model()),
        q_(static_cast<std::size_t>(scene.model().n_q)),
        body_centres_(static_cast<std::size_t>(scene.model().n_bodies())),
        poses_(scene.objects().size()),
        first_(scene.objects().size() + 1) {
    for (std::size_t i = 0; i < poses_.size(); ++i) first_[i + 1].ball = first_[i].ball + static_cast<int>(objects_[i].balls.size());
    balls_.resize(static_cast<std::size_t>(first_[poses_.size()].ball));
  }

  // Lane l to the n_q entries from q[l] on.
  void place(const double* const (&q)[L::width]) {
    gather(q, model_->n_q, q_.data());
    forward_kinematics(*model_, data_, q_.data());
    for (std::size_t i = 1; i < body_centres_.size(); ++i) body_centres_[i] = data_.X_WB[i] * Vec3<L>(body_balls_[i].centre);
    // After 2^32 - 1 calls the counter starts again, and no old stamp may look new.
    if (++now_ == 0) {
      for (Pose& pose : poses_) pose.stamp = 0;
      for (Row& row : first_) row.stamp = 0;
      now_ = 1;
    }
  }

  const L* q() const { return q_.data(); }
  const SE3<L>* X_WB() const { return data_.X_WB.data(); }
  const SceneObject& object(int i) const { return objects_[i]; }
  // Centres of the balls about a body's objects and about one object, in W.
  const Ball& body_ball(int body) const { return body_balls_[body]; }
  const Vec3<L>& body_centre(int body) const { return body_centres_[static_cast<std::size_t>(body)]; }
  Vec3<L> centre(int i) const { return in_world(objects_[i].body, objects_[i].p_BC); }
  // A point of a body, in W.
  Vec3<L> in_world(int body, const Vec3d& p_B) const { return data_.X_WB[static_cast<std::size_t>(body)] * Vec3<L>(p_B); }

  // Centres of the balls of a moving object, in W.
  const Vec3<L>* row(int i) {
    Row& row = first_[static_cast<std::size_t>(i)];
    Vec3<L>* centres = balls_.data() + row.ball;
    if (row.stamp != now_) {
      const Ball* balls = objects_[i].balls.data();
      for (std::size_t k = 0, n = objects_[i].balls.size(); k < n; ++k) centres[k] = in_world(objects_[i].body, balls[k].centre);
      row.stamp = now_;
    }
    return centres;
  }

  // p_W in the frame of an object.
  ROBOSIM_INLINE Vec3<L> in_object(int i, const Vec3<L>& p_W) {
    const SceneObject& object = objects_[i];
    if (object.body == 0) return transpose_times(Mat3<L>(object.X_BO.R), p_W - Vec3<L>(object.X_BO.p));
    return pose(i).inverse_times(p_W);
  }
  // A vector of W in the axes of an object.
  ROBOSIM_INLINE Vec3<L> turned_to_object(int i, const Vec3<L>& v_W) {
    const SceneObject& object = objects_[i];
    return transpose_times(object.body == 0 ? Mat3<L>(object.X_BO.R) : pose(i).R, v_W);
  }

 private:
  struct Pose {
    SE3<L> X_WO;
    std::uint32_t stamp = 0;  // the place() call in which it was worked out
  };
  struct Row {
    int ball = 0;             // the first of its balls
    std::uint32_t stamp = 0;  // the place() call in which they were worked out
  };
  const SE3<L>& pose(int i) {
    Pose& pose = poses_[static_cast<std::size_t>(i)];
    if (pose.stamp != now_) {
      pose.X_WO = data_.X_WB[static_cast<std::size_t>(objects_[i].body)] * SE3<L>(objects_[i].X_BO);
      pose.stamp = now_;
    }
    return pose.X_WO;
  }

  const Model* model_;
  const SceneObject* objects_;
  const Ball* body_balls_;
  Data<L> data_;
  std::vector<L> q_;
  std::vector<Vec3<L>> body_centres_;  // of the balls about bodies, in W
  std::vector<Pose> poses_;            // of moving objects, worked out on first use
  std::vector<Row> first_;             // per object
  std::vector<Vec3<L>> balls_;         // of all rows
  std::uint32_t now_ = 0;
};

// From the box of a cover to a point of its object's frame; zero inside.
template <class L>
ROBOSIM_INLINE Vec3<L> from_box(const Vec3d& centre, const Vec3d& half_extents, const Vec3<L>& p_O) {
  const auto beyond = [](const L& x, double e) __attribute__((always_inline)) { return x - smaller(larger(x, L(-e)), L(e)); };
  return {beyond(p_O.x - L(centre.x), half_extents.x), beyond(p_O.y - L(centre.y), half_extents.y),
          beyond(p_O.z - L(centre.z), half_extents.z)};
}

// From an axis-aligned box to a point; a half-space's has no bounds on some sides.
template <class L>
ROBOSIM_INLINE Vec3<L> from_bounds(const Aabb& box, const Vec3<L>& p) {
  const auto beyond = [](const L& x, double lower, double upper) __attribute__((always_inline)) {
    return x - smaller(larger(x, L(lower)), L(upper));
  };
  return {beyond(p.x, box.lower.x, box.upper.x), beyond(p.y, box.lower.y, box.upper.y), beyond(p.z, box.lower.z, box.upper.z)};
}

}  // namespace robosim
