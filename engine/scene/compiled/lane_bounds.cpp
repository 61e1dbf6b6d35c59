// Bounds of the batch check for one instruction set.
#include "scene/batch_check.h"
#include "scene/lane_placement.h"

namespace robosim::detail {

template <Isa isa>
class CompiledBounds final : public LaneBounds {
 public:
  using L = Lanes<lanes_of(isa), isa>;

  explicit CompiledBounds(const CollisionScene& scene) : scene_(&scene), placement_(scene) {}

  int lanes() const override { return L::width; }

  void suspects(int count, const double* const* q, std::vector<Suspect>& out) override {
    const double* from[L::width];
    // Missing lanes repeat the last configuration.
    for (int l = 0; l < L::width; ++l) from[l] = q[l < count ? l : count - 1];
    placement_.place(from);
    const std::uint32_t all = (1u << count) - 1;
    const CollisionScene::Pair* pairs = scene_->single_pairs().data();
    for (const CollisionScene::Cluster& c : scene_->clusters()) {
      const std::uint32_t near = c.touchable == 0 ? 0 : placement_.touching(c, all);
      for (int k = c.first; near != 0 && k < c.first + c.touchable; ++k)
        look_at(pairs[k].a, pairs[k].b, near, out);
    }
    for (const CollisionScene::Group& group : scene_->groups()) visit(group, 0, all, out);
  }

 private:
  // Visit the leaves of a tree that the ball of a group's object touches in some lane.
  void visit(const CollisionScene::Group& group, int root, std::uint32_t all,
             std::vector<Suspect>& out) {
    const AabbTree& tree = scene_->bvh(group.bvh);
    int stack[64], depth = 0;  // see broadphase.h
    std::uint32_t lanes[64];
    stack[0] = root;
    lanes[depth++] = all;
    while (depth > 0) {
      const AabbTree::Node& node = tree.node(stack[--depth]);
      const std::uint32_t open = lanes[depth];
      if (node.is_leaf()) {
        look_at(group.object, tree.item(node.first), open, out);
        continue;
      }
      const std::uint32_t near = placement_.touching(group.object, node.box, open);
      if (near == 0) continue;
      stack[depth] = node.first + 1;
      lanes[depth++] = near;
      stack[depth] = node.first;
      lanes[depth++] = near;
    }
  }

  // Test a pair by its rods and balls, and add it to the suspects if they overlap in some lane.
  void look_at(int a, int b, std::uint32_t lanes, std::vector<Suspect>& out) {
    L depth;
    std::uint32_t certain;
    if ((lanes = placement_.touching(a, b, lanes, depth, certain)) == 0) return;
    Suspect suspect;
    suspect.a = a;
    suspect.b = b;
    suspect.lanes = lanes;
    for (int l = 0; l < L::width; ++l) suspect.depth[l] = depth[l];
    add_suspect(out, suspect);
  }

  const CollisionScene* scene_;
  LanePlacement<L> placement_;
};

template <>
std::unique_ptr<LaneBounds> make_lane_bounds<own_isa>(const CollisionScene& scene) {
  return std::make_unique<CompiledBounds<own_isa>>(scene);
}

}  // namespace robosim::detail
