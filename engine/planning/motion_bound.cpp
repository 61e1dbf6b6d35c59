#include "planning/motion_bound.h"

#include <algorithm>
#include <cmath>

#include "model/joint_layout.h"

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

MotionBound::MotionBound(const CollisionScene& scene)
    : scene_(&scene),
      joint_of_slot_(1, 0),
      joints_(scene.model().joints.size()),
      axis_(scene.model().joints.size()),
      twists_(scene.model().joints.size()) {
  const Model& model = scene.model();
  std::vector<int> item_of_body(at(model.n_bodies()), -1);
  for (int body = 1; body < model.n_bodies(); ++body) {
    if (scene.body_ball(body).radius < 0) continue;
    const Aabb& box = scene.body_box(body);
    item_of_body[at(body)] = add_item(body, 0.5 * (box.lower + box.upper), 0.5 * (box.upper - box.lower), 0, SE3d());
  }
  n_body_items_ = static_cast<int>(items_.size());
  std::vector<int> item_of_object;
  for (const SceneObject& object : scene.objects()) {
    const Cover& cover = object.cover;
    item_of_object.push_back(
        object.body == 0 ? -1 : add_item(object.body, cover.centre, cover.half_extents, cover.radius, object.X_BO));
  }
  bounds_.resize(joint_of_slot_.size());

  // Parents have smaller numbers, so the later body of the two climbs until they meet.
  const auto meeting = [&](int a, int b) {
    while (a != b) (a > b ? a : b) = model.joints[at(a > b ? a : b)].parent;
    return a;
  };
  const auto slots = [&](int item_a, int item_b) {
    const int top = meeting(item_a < 0 ? 0 : items_[at(item_a)].body, item_b < 0 ? 0 : items_[at(item_b)].body);
    Slots s{item_a, slot_below(item_a, top), item_b, slot_below(item_b, top), top};
    if (s.a == 0) s.item_a = -1;
    if (s.b == 0) s.item_b = -1;
    return s;
  };
  for (const int item : item_of_object) objects_.push_back(slots(item, -1));
  for (const auto& pair : scene.single_pairs()) pairs_.push_back(slots(item_of_object[at(pair.a)], item_of_object[at(pair.b)]));
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

// D, L and the bends of every joint, and the twists of the bodies.
void MotionBound::set_joints(const double* q, const Spread& spread) {
  const Model& model = scene_->model();
  const std::vector<SE3d>& X_WB = *X_WB_;
  has_twists_ = true;
  for (int j = 1; j < model.n_bodies(); ++j) {
    const Joint& joint = model.joints[at(j)];
    const std::size_t k = at(joint.q_index);
    const double *span = &spread.span[k], *step = &spread.step[k], *bend = &spread.bend[k];
    JointMotion& motion = joints_[at(j)];
    Twist& twist = twists_[at(j)];
    twist = twists_[at(joint.parent)];
    const double ratio = joint.mimic ? joint.ratio : 1.0, scale = std::abs(ratio);
    visit_joint(joint.type, [&]<class J>(J) {
      const Travel most = J::travel(joint, span), bent = J::travel(joint, bend);
      motion = {scale * most.turn, scale * most.slide, scale * bent.turn, scale * bent.slide};
      if (!(motion.turn > 0 || motion.slide > 0)) return;
      const SE3d& X = X_WB[at(j)];
      if (J::has_axis) axis_[at(j)] = X.R * joint.axis;
      else if (motion.turn > 0) has_twists_ = false;
      double v[J::n_v];
      J::velocity(q + joint.q_index, step, v);
      for (int i = 0; i < J::n_v; ++i) {
        const Motion<double> column = detail::in_ground(X.R, X.p, J::template column<double>(joint, i));
        twist.omega += ratio * v[i] * column.angular;
        twist.v0 += ratio * v[i] * column.linear;
      }
    });
  }
}

void MotionBound::update(const SceneQuery& query, const double* q, const Spread& spread) {
  X_WB_ = &query.data().X_WB;
  set_joints(q, spread);
  // After 2^32 - 1 updates the counter starts again, and no old stamp may look new.
  if (++now_ == 0) {
    for (Item& item : items_) item.stamp = 0;
    now_ = 1;
  }
}

void MotionBound::work_out(Item& item) {
  const std::vector<SE3d>& X_WB = *X_WB_;
  for (int k = 0; k < 2; ++k) item.p_W[k] = X_WB[at(item.body)] * item.p_B[k];
  // From the collider's own joint up. swept: sum of D_j rho*_j + L_j over the joints so far, which a turn above bends once more.
  Bounds sum;
  double swept = 0;
  for (int slot = item.first; slot < item.first + item.count; ++slot) {
    const int j = joint_of_slot_[at(slot)];
    const JointMotion& motion = joints_[at(j)];
    if (motion.turn > 0) {
      const Vec3d r0 = item.p_W[0] - X_WB[at(j)].p, r1 = item.p_W[1] - X_WB[at(j)].p;
      const bool any_axis = !joint_layout(scene_->model().joints[at(j)].type).has_axis;
      const double s0 = squared_norm(any_axis ? r0 : cross(axis_[at(j)], r0));
      const double s1 = squared_norm(any_axis ? r1 : cross(axis_[at(j)], r1));
      const double rho = std::sqrt(std::max(s0, s1)) + item.radius, rho_anywhere = rho + sum.total;
      sum.rest += rho_anywhere * (motion.bend_turn + 0.5 * motion.turn * motion.turn) + motion.turn * swept;
      swept += motion.turn * rho_anywhere;
      sum.total += motion.turn * rho;
    }
    sum.rest += motion.bend_slide;
    swept += motion.slide;
    sum.total += motion.slide;
    bounds_[at(slot)] = sum;
  }
  item.stamp = now_;
}

MotionBound::Relative MotionBound::relative(const Slots& s) {
  Relative r;
  if (s.item_a >= 0) {
    const Item& item = up_to_date(s.item_a);
    const Twist &twist = twists_[at(item.body)], &top = twists_[at(s.top)];
    r.total = bounds_[at(s.a)].total;
    r.rest = has_twists_ ? bounds_[at(s.a)].rest : r.total;
    r.radius = item.radius;
    r.omega = twist.omega - top.omega;
    r.v0 = twist.v0 - top.v0;
    r.p_W[0] = item.p_W[0];
    r.p_W[1] = item.p_W[1];
  }
  if (s.item_b >= 0) {
    up_to_date(s.item_b);
    r.total += bounds_[at(s.b)].total;
    r.rest += bounds_[at(s.b)].total;
  }
  return r;
}

double MotionBound::largest() {
  double most = 0;
  for (int i = 0; i < n_body_items_; ++i) {
    const Item& item = up_to_date(i);
    most = std::max(most, bounds_[at(item.first + item.count - 1)].total);
  }
  return most;
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
  const Slots& s = objects_[at(object)];
  return s.item_a >= 0 && driven(items_[at(s.item_a)].first, s.a, driven_q);
}

bool MotionBound::moves_cluster(int i, const std::vector<char>& driven_q) const {
  const Slots& s = clusters_[at(i)];
  return (s.item_a >= 0 && driven(items_[at(s.item_a)].first, s.a, driven_q)) ||
         (s.item_b >= 0 && driven(items_[at(s.item_b)].first, s.b, driven_q));
}

}  // namespace robosim
