// The bounds of the batch check for one instruction set.
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
    for (int l = 0; l < L::width; ++l) from[l] = q[l < count ? l : count - 1];  // what is missing repeats the last
    placement_.place(from);
    const std::uint32_t all = (1u << count) - 1;
    const CollisionScene::Pair* pairs = scene_->single_pairs().data();
    for (const CollisionScene::Cluster& c : scene_->clusters()) {
      const Vec3<L>& p = placement_.body_centre(c.body_a);
      double reach = placement_.body_ball(c.body_a).radius + rounding_slack;
      L squared;
      if (c.b >= 0) {
        const Cover& cover = placement_.object(c.b).cover;
        squared = squared_norm(from_box(cover.centre, cover.half_extents, placement_.in_object(c.b, p)));
        reach += cover.radius;
      } else {
        squared = squared_norm(p - placement_.body_centre(c.body_b));
        reach += placement_.body_ball(c.body_b).radius;
      }
      const std::uint32_t near = all & ~bits_of(squared > L(reach * reach));
      for (int k = c.first; near != 0 && k < c.first + c.count; ++k) look_at(pairs[k].a, pairs[k].b, near, out);
    }
    for (const CollisionScene::Group& group : scene_->groups()) visit(group, 0, all, out);
  }

 private:
  // The nodes of a tree that the ball of a group's object touches in some lane.
  void visit(const CollisionScene::Group& group, int root, std::uint32_t all, std::vector<Suspect>& out) {
    const AabbTree& tree = scene_->bvh(group.bvh);
    const Vec3<L> p = placement_.centre(group.object);
    const L reach(placement_.object(group.object).ball_radius + rounding_slack);
    int stack[64], depth = 0;  // see broadphase.h
    std::uint32_t lanes[64];
    stack[0] = root, lanes[depth++] = all;
    while (depth > 0) {
      const AabbTree::Node& node = tree.node(stack[--depth]);
      const std::uint32_t open = lanes[depth];
      if (node.is_leaf()) {
        look_at(group.object, tree.item(node.first), open, out);
        continue;
      }
      const L squared = squared_norm(from_bounds(node.box, p));
      const std::uint32_t near = open & ~bits_of(squared > reach * reach);
      if (near == 0) continue;
      stack[depth] = node.first + 1, lanes[depth++] = near;
      stack[depth] = node.first, lanes[depth++] = near;
    }
  }

  // How far a ball stands off the cover of object i.
  ROBOSIM_INLINE L gap(const Vec3<L>& p_W, double radius, int i) {
    const Cover& cover = placement_.object(i).cover;
    return norm(from_box(cover.centre, cover.half_extents, placement_.in_object(i, p_W))) - L(cover.radius + radius + rounding_slack);
  }

  // How far the row of balls of object a stands off the cover of b.
  L row_gap(int a, int b) {
    const SceneObject& A = placement_.object(a);
    const Vec3<L>* centres = placement_.row(a);
    L least(__builtin_inf());
    for (std::size_t k = 0, n = A.balls.size(); k < n; ++k) least = smaller(least, gap(centres[k], A.balls.data()[k].radius, b));
    return least;
  }

  void look_at(int a, int b, std::uint32_t lanes, std::vector<Suspect>& out) {
    const SceneObject &A = placement_.object(a), &B = placement_.object(b);
    L most = gap(placement_.centre(a), A.ball_radius, b);
    if ((lanes &= ~bits_of(most > L(0))) == 0) return;
    if (!A.balls.empty()) most = larger(most, row_gap(a, b));
    if ((lanes &= ~bits_of(most > L(0))) == 0) return;
    if (B.body != 0) {
      most = larger(most, gap(placement_.centre(b), B.ball_radius, a));
      if (!B.balls.empty()) most = larger(most, row_gap(b, a));
      if ((lanes &= ~bits_of(most > L(0))) == 0) return;
    }
    Suspect suspect;
    suspect.a = a, suspect.b = b, suspect.lanes = lanes;
    for (int l = 0; l < L::width; ++l) suspect.gap[l] = most[l];
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
