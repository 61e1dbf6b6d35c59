#include "planning/motion_bound.h"

#include "base/index.h"

namespace robosim {
MotionLayout::MotionLayout(const CollisionScene& of) : scene(&of), joint_of_slot(1, 0) {
  const Model& model = of.model();
  std::vector<int> item_of_body(at(model.n_bodies()), -1);
  for (int body = 1; body < model.n_bodies(); ++body) {
    if (of.body_ball(body).radius < 0) continue;
    const Aabb& box = of.body_box(body);
    item_of_body[body] =
        add_item(body, 0.5 * (box.lower + box.upper), 0.5 * (box.upper - box.lower), 0, SE3d());
  }
  n_body_items = static_cast<int>(items.size());
  std::vector<int> item_of_object;
  for (const SceneObject& object : of.objects()) {
    const Cover& cover = object.cover;
    item_of_object.push_back(
        object.body == 0
            ? -1
            : add_item(object.body, cover.center, cover.half_extents, cover.radius, object.X_BO));
  }

  // Parents have smaller numbers, so the larger of the two climbs until both are the same body.
  const auto meeting = [&](int a, int b) {
    while (a != b) (a > b ? a : b) = model.joints[a > b ? a : b].parent;
    return a;
  };
  const auto slots = [&](int item_a, int item_b) {
    const int top =
        meeting(item_a < 0 ? 0 : items[item_a].body, item_b < 0 ? 0 : items[item_b].body);
    Slots s{item_a, slot_below(item_a, top), item_b, slot_below(item_b, top), top};
    if (s.a == 0) s.item_a = -1;
    if (s.b == 0) s.item_b = -1;
    return s;
  };
  for (const int item : item_of_object) objects.push_back(slots(item, -1));
  for (const auto& pair : of.single_pairs())
    pairs.push_back(slots(item_of_object[pair.a], item_of_object[pair.b]));
  for (const auto& cluster : of.clusters())
    clusters.push_back(slots(item_of_body[cluster.body_a], item_of_body[cluster.body_b]));
}

// Enclose the box in a segment along its longest side with a radius: half the diagonal of the other
// two sides.
int MotionLayout::add_item(int body, const Vec3d& center, const Vec3d& half_extents, double radius,
                           const SE3d& X) {
  const Vec3d& e = half_extents;
  const int axis = e.x >= e.y && e.x >= e.z ? 0 : (e.y >= e.z ? 1 : 2);
  Vec3d along;
  along[axis] = e[axis];
  Item item;
  item.p_B[0] = X * (center - along);
  item.p_B[1] = X * (center + along);
  item.radius = norm(e - along) + radius;
  item.body = body;
  item.first = static_cast<int>(joint_of_slot.size());
  for (int b = body; b != 0; b = scene->model().joints[b].parent) joint_of_slot.push_back(b);
  item.count = static_cast<int>(joint_of_slot.size()) - item.first;
  items.push_back(item);
  return static_cast<int>(items.size()) - 1;
}

// Slot of the last joint above an item that is below the body `top`; 0 if there is none.
int MotionLayout::slot_below(int item, int top) const {
  if (item < 0 || items[item].body == top) return 0;
  int slot = items[item].first;
  while (scene->model().joints[joint_of_slot[slot]].parent != top) ++slot;
  return slot;
}

bool MotionLayout::driven(int first, int last, const std::vector<char>& driven_q) const {
  for (int slot = first; slot <= last; ++slot) {
    const Joint& joint = scene->model().joints[joint_of_slot[slot]];
    const int n = joint.mimic ? 1 : joint.n_q;
    for (int k = 0; k < n; ++k)
      if (driven_q[joint.q_index + k]) return true;
  }
  return false;
}

bool MotionLayout::moves(int object, const std::vector<char>& driven_q) const {
  const Slots& s = objects[object];
  return s.item_a >= 0 && driven(items[s.item_a].first, s.a, driven_q);
}

bool MotionLayout::moves_cluster(int i, const std::vector<char>& driven_q) const {
  const Slots& s = clusters[i];
  return (s.item_a >= 0 && driven(items[s.item_a].first, s.a, driven_q)) ||
         (s.item_b >= 0 && driven(items[s.item_b].first, s.b, driven_q));
}

}  // namespace robosim
