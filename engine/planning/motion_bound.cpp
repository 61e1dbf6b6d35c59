#include "planning/motion_bound.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A segment and a radius that contain the cover: along its longest side, with the diagonal of the other two as the radius.
void enclose(const Cover& cover, Vec3d ends[2], double& radius) {
  const Vec3d& e = cover.half_extents;
  const int axis = e.x >= e.y && e.x >= e.z ? 0 : (e.y >= e.z ? 1 : 2);
  Vec3d along;
  along[axis] = e[axis];
  ends[0] = cover.centre - along;
  ends[1] = cover.centre + along;
  radius = norm(e - along) + cover.radius;
}

}  // namespace

MotionBound::MotionBound(const CollisionScene& scene)
    : scene_(&scene),
      last_(scene.objects().size(), 0),
      first_(scene.objects().size(), 0),
      joint_of_slot_(1, 0),
      joints_(scene.model().joints.size()),
      axis_(scene.model().joints.size()) {
  const Model& model = scene.model();
  for (std::size_t i = 0; i < scene.objects().size(); ++i) {
    const SceneObject& object = scene.objects()[i];
    if (object.body == 0) continue;
    Reach reach;
    Vec3d ends[2];
    enclose(object.cover, ends, reach.radius);
    for (int k = 0; k < 2; ++k) reach.p_B[k] = object.X_BO * ends[k];
    reach.body = object.body;
    reach.first = static_cast<int>(joint_of_slot_.size());
    for (int body = object.body; body != 0; body = model.joints[at(body)].parent) joint_of_slot_.push_back(body);
    reach.count = static_cast<int>(joint_of_slot_.size()) - reach.first;
    first_[i] = reach.first;
    last_[i] = reach.first + reach.count - 1;
    reaches_.push_back(reach);
  }
  bound_.assign(joint_of_slot_.size(), 0);

  // The slot of the last joint above `object` that is below the body `top`.
  const auto slot_below = [&](int object, int top) {
    if (scene.object(object).body == top) return 0;
    int slot = first_[at(object)];
    while (model.joints[at(joint_of_slot_[at(slot)])].parent != top) ++slot;
    return slot;
  };
  for (const CollisionScene::Pair& pair : scene.single_pairs()) {
    // Parents have smaller numbers, so the later body of the two climbs until they meet.
    int a = scene.object(pair.a).body, b = scene.object(pair.b).body;
    while (a != b) (a > b ? a : b) = model.joints[at(a > b ? a : b)].parent;
    slots_.push_back({slot_below(pair.a, a), slot_below(pair.b, a)});
  }
}

void MotionBound::set_joint_motion(const double* delta_q) {
  const Model& model = scene_->model();
  for (int j = 1; j < model.n_bodies(); ++j) {
    const Joint& joint = model.joints[at(j)];
    const double* d = delta_q + joint.q_index;
    JointMotion& motion = joints_[at(j)];
    const double scale = joint.mimic ? std::abs(joint.ratio) : 1.0;
    switch (joint.type) {
      case JointType::revolute:
        motion = {scale * d[0], 0};
        break;
      case JointType::prismatic:
        motion = {0, scale * d[0]};
        break;
      case JointType::planar:
        motion = {d[2], std::hypot(d[0], d[1])};
        break;
      case JointType::floating:
        // A unit quaternion that moves by s turns the body by 2 s.
        motion = {2 * std::sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5] + d[6] * d[6]), norm(Vec3d{d[0], d[1], d[2]})};
        break;
    }
  }
}

void MotionBound::update(const SceneQuery& query) {
  const Model& model = scene_->model();
  const auto& X_WB = query.data().X_WB;
  for (int j = 1; j < model.n_bodies(); ++j)
    if (joints_[at(j)].turn > 0) axis_[at(j)] = X_WB[at(j)].R * model.joints[at(j)].axis;
  for (const Reach& reach : reaches_) {
    const SE3d& X = X_WB[at(reach.body)];
    const Vec3d p0 = X * reach.p_B[0], p1 = X * reach.p_B[1];
    double sum = 0;
    for (int slot = reach.first; slot < reach.first + reach.count; ++slot) {
      const int j = joint_of_slot_[at(slot)];
      const JointMotion& motion = joints_[at(j)];
      if (motion.turn > 0) {
        const Vec3d r0 = p0 - X_WB[at(j)].p, r1 = p1 - X_WB[at(j)].p;
        const bool any_axis = model.joints[at(j)].type == JointType::floating;
        const double s0 = squared_norm(any_axis ? r0 : cross(axis_[at(j)], r0));
        const double s1 = squared_norm(any_axis ? r1 : cross(axis_[at(j)], r1));
        sum += motion.turn * (std::sqrt(std::max(s0, s1)) + reach.radius);
      }
      sum += motion.slide;
      bound_[at(slot)] = sum;
    }
  }
}

bool MotionBound::driven(int first, int last, const std::vector<char>& driven_q) const {
  for (int slot = first; slot <= last; ++slot) {
    const Joint& joint = scene_->model().joints[at(joint_of_slot_[at(slot)])];
    const int n = joint.mimic ? 1 : joint.n_q;
    for (int k = 0; k < n; ++k)
      if (driven_q[at(joint.q_index + k)]) return true;
  }
  return false;
}

bool MotionBound::moves(int object, const std::vector<char>& driven_q) const {
  return last_[at(object)] > 0 && driven(first_[at(object)], last_[at(object)], driven_q);
}

bool MotionBound::moves_pair(int i, const std::vector<char>& driven_q) const {
  const CollisionScene::Pair& pair = scene_->single_pairs()[at(i)];
  const Slots& s = slots_[at(i)];
  return (s.a > 0 && driven(first_[at(pair.a)], s.a, driven_q)) || (s.b > 0 && driven(first_[at(pair.b)], s.b, driven_q));
}

}  // namespace robosim
