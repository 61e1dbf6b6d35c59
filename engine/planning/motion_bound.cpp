#include "planning/motion_bound.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

MotionBound::MotionBound(const CollisionScene& scene)
    : scene_(&scene), joint_of_slot_(1, 0), joints_(scene.model().joints.size()), axis_(scene.model().joints.size()) {
  const Model& model = scene.model();
  std::vector<int> item_of_body(at(model.n_bodies()), -1);
  for (int body = 1; body < model.n_bodies(); ++body) {
    if (scene.body_ball(body).radius < 0) continue;
    const Aabb& box = scene.body_box(body);
    item_of_body[at(body)] = add_item(body, 0.5 * (box.lower + box.upper), 0.5 * (box.upper - box.lower), 0, SE3d());
  }
  for (const SceneObject& object : scene.objects()) {
    const Cover& cover = object.cover;
    const int item =
        object.body == 0 ? -1 : add_item(object.body, cover.centre, cover.half_extents, cover.radius, object.X_BO);
    item_of_object_.push_back(item);
    last_.push_back(item < 0 ? 0 : items_[at(item)].first + items_[at(item)].count - 1);
  }
  bound_.assign(joint_of_slot_.size(), 0);

  // Parents have smaller numbers, so the later body of the two climbs until they meet.
  const auto meeting = [&](int a, int b) {
    while (a != b) (a > b ? a : b) = model.joints[at(a > b ? a : b)].parent;
    return a;
  };
  const auto slots = [&](int item_a, int item_b) {
    const int top = meeting(item_a < 0 ? 0 : items_[at(item_a)].body, item_b < 0 ? 0 : items_[at(item_b)].body);
    Slots s{item_a, slot_below(item_a, top), item_b, slot_below(item_b, top)};
    if (s.a == 0) s.item_a = -1;
    if (s.b == 0) s.item_b = -1;
    return s;
  };
  for (const auto& pair : scene.single_pairs())
    pairs_.push_back(slots(item_of_object_[at(pair.a)], item_of_object_[at(pair.b)]));
  for (const auto& cluster : scene.clusters())
    clusters_.push_back(slots(item_of_body[at(cluster.body_a)], item_of_body[at(cluster.body_b)]));
}

// The box is contained in a segment along its longest side and a radius: half the diagonal of the other two sides.
int MotionBound::add_item(int body, const Vec3d& centre, const Vec3d& half_extents, double radius, const SE3d& X) {
  const Vec3d& e = half_extents;
  const int axis = e.x >= e.y && e.x >= e.z ? 0 : (e.y >= e.z ? 1 : 2);
  Vec3d along;
  along[axis] = e[axis];
  Item item;
  item.p_B[0] = X * (centre - along);
  item.p_B[1] = X * (centre + along);
  item.radius = norm(e - along) + radius;
  item.body = body;
  item.first = static_cast<int>(joint_of_slot_.size());
  for (int b = body; b != 0; b = scene_->model().joints[at(b)].parent) joint_of_slot_.push_back(b);
  item.count = static_cast<int>(joint_of_slot_.size()) - item.first;
  items_.push_back(item);
  return static_cast<int>(items_.size()) - 1;
}

// The slot of the last joint above an item that is below the body `top`; 0 when there is none.
int MotionBound::slot_below(int item, int top) const {
  if (item < 0 || items_[at(item)].body == top) return 0;
  int slot = items_[at(item)].first;
  while (scene_->model().joints[at(joint_of_slot_[at(slot)])].parent != top) ++slot;
  return slot;
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
  X_WB_ = &query.data().X_WB;
  for (int j = 1; j < model.n_bodies(); ++j)
    if (joints_[at(j)].turn > 0) axis_[at(j)] = (*X_WB_)[at(j)].R * model.joints[at(j)].axis;
  // After 2^32 - 1 updates the counter starts again, and no old stamp may look new.
  if (++now_ == 0) {
    for (Item& item : items_) item.stamp = 0;
    now_ = 1;
  }
}

void MotionBound::work_out(Item& item) {
  const std::vector<SE3d>& X_WB = *X_WB_;
  const SE3d& X = X_WB[at(item.body)];
  const Vec3d p0 = X * item.p_B[0], p1 = X * item.p_B[1];
  double sum = 0;
  for (int slot = item.first; slot < item.first + item.count; ++slot) {
    const int j = joint_of_slot_[at(slot)];
    const JointMotion& motion = joints_[at(j)];
    if (motion.turn > 0) {
      const Vec3d r0 = p0 - X_WB[at(j)].p, r1 = p1 - X_WB[at(j)].p;
      const bool any_axis = scene_->model().joints[at(j)].type == JointType::floating;
      const double s0 = squared_norm(any_axis ? r0 : cross(axis_[at(j)], r0));
      const double s1 = squared_norm(any_axis ? r1 : cross(axis_[at(j)], r1));
      sum += motion.turn * (std::sqrt(std::max(s0, s1)) + item.radius);
    }
    sum += motion.slide;
    bound_[at(slot)] = sum;
  }
  item.stamp = now_;
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
  const int item = item_of_object_[at(object)];
  return item >= 0 && driven(items_[at(item)].first, last_[at(object)], driven_q);
}

bool MotionBound::moves_cluster(int i, const std::vector<char>& driven_q) const {
  const Slots& s = clusters_[at(i)];
  return (s.item_a >= 0 && driven(items_[at(s.item_a)].first, s.a, driven_q)) ||
         (s.item_b >= 0 && driven(items_[at(s.item_b)].first, s.b, driven_q));
}

}  // namespace robosim
