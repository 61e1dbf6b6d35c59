// Interval sifter of one instruction set.
#include "planning/interval_sifter.h"

#include <cstring>

#include "geometry/distance/lane_gjk.h"
#include "scene/lane_distances.h"
#include "scene/lane_placement.h"

namespace robosim::detail {
namespace {

constexpr int width = SiftRow::width;

// Outcome of the bounds, in the lanes of one register.
template <class L>
struct Proof {
  L part, gap;  // infinite where the part is clearly more than needed
};

// Configurations in one register, as many as it takes: those from number `first` on.
template <class L>
class Register {
 public:
  using Relative = typename MotionBound<L>::Relative;
  using Slots = MotionLayout::Slots;

  Register(const CollisionScene& scene, const MotionLayout& layout)
      : scene_(&scene),
        layout_(&layout),
        placement_(scene),
        motion_(layout),
        clusters_(scene.clusters().data()),
        pairs_(scene.single_pairs().data()),
        groups_(scene.groups().data()),
        span_(static_cast<std::size_t>(scene.model().n_q)),
        step_(span_),
        bend_(span_) {}

  void place(int first, int count, const double* const* q) {
    const double* from[L::width];
    // Missing lanes repeat the last configuration.
    for (int l = 0; l < L::width; ++l) from[l] = q[first + l < count ? first + l : count - 1];
    placement_.place(from);
  }

  void spread(int first, int count, const Spread* spread, const double* half) {
    const double *span[L::width], *step[L::width], *bend[L::width];
    for (int l = 0; l < L::width; ++l) {
      const int i = first + l < count ? first + l : count - 1;
      span[l] = spread[i].span.data();
      step[l] = spread[i].step.data();
      bend[l] = spread[i].bend.data();
      half_.set(l, half[i]);
    }
    const int n = scene_->model().n_q;
    gather(span, n, span_.data());
    gather(step, n, step_.data());
    gather(bend, n, bend_.data());
    motion_.update(placement_.X_WB(), placement_.q(), span_.data(), step_.data(), bend_.data());
  }

  SE3d X_WB(int body, int l) const {
    const SE3<L>& X = placement_.X_WB()[body];
    const auto at = [&](const Vec3<L>& v) __attribute__((always_inline)) {
      return Vec3d{v.x[l], v.y[l], v.z[l]};
    };
    return {{at(X.R.row[0]), at(X.R.row[1]), at(X.R.row[2])}, at(X.p)};
  }

  // Part of the half-width still to be proven where the ends cover `left` and `right`.
  L needed(const double* left, const double* right) const {
    L a, b;
    std::memcpy(&a, left, sizeof(L));
    std::memcpy(&b, right, sizeof(L));
    return (half_ - smaller(a, b)) / half_;
  }

  LanePlacement<L>& placement() { return placement_; }

  void approaches(const Slots& slots, int first, const Vec3d* n, IntervalSifter::Approaches& out) {
    const Relative motion = motion_.relative(slots);
    Vec3<L> normal;
    for (int l = 0; l < L::width; ++l) {
      normal.x.set(l, n[first + l].x);
      normal.y.set(l, n[first + l].y);
      normal.z.set(l, n[first + l].z);
    }
    const L along = motion.along(normal);
    std::memcpy(out.total + first, &motion.total, sizeof(L));
    std::memcpy(out.along + first, &along, sizeof(L));
    std::memcpy(out.rest + first, &motion.rest, sizeof(L));
  }

  std::uint32_t bounds(const LaneCore& A, const LaneCore& B, int a, int b, int first,
                       std::uint32_t lanes, const double* enough, double gap, const Vec3d& near,
                       IntervalSifter::Bounds& out) {
    const double rounding = A.rounding + B.rounding;
    LaneGoal<L> goal;
    std::memcpy(&goal.separated, enough + first, sizeof(L));
    goal.separated += L(rounding);
    goal.gap = 1e-6;
    goal.relative_gap = gap;
    goal.rounding = rounding;
    const SE3<L> X_AB = placement_.X_between(a, b);
    const Mat3<L> R_WA = placement_.X_WO(a).R;
    const Vec3<L> start =
        squared_norm(near) > 0 ? transpose_times(R_WA, Vec3<L>(near)) : from_centers(A, B, X_AB);
    const LaneGjk<L> r = lane_gjk(A, B, X_AB, start, goal, lanes);
    const Vec3<L> normal = R_WA * (r.axis * (L(1) / norm(r.axis)));
    for (int l = 0; l < L::width; ++l) {
      out.distance[first + l] = r.lower[l] - rounding;
      out.normal[first + l] = {normal.x[l], normal.y[l], normal.z[l]};
    }
    return r.known;
  }

  // Bits of the lanes among `lanes` where a cluster is not proven to `needed`. For these lanes
  // `proof` and `total` are set.
  std::uint32_t sift_cluster(int i, const L& needed, std::uint32_t lanes, Proof<L>& proof,
                             L& total) {
    const CollisionScene::Cluster& c = clusters_[i];
    const Slots& slots = layout_->clusters.data()[i];
    total = motion_.total_of(slots);
    const Vec3<L>& p = placement_.body_center(c.body_a);
    double reach = placement_.body_ball_radius(c.body_a) + rounding_slack;
    if (c.b < 0) {
      reach += placement_.body_ball_radius(c.body_b);
      const Vec3<L> out = p - placement_.body_center(c.body_b);
      if ((lanes &= ~far(out, reach, needed, total)) == 0) return 0;
      const auto axes = [](const Vec3<L>& v) __attribute__((always_inline)) { return v; };
      proof = proof_of(p, nullptr, out, reach, motion_.relative(slots), needed, axes);
      return unproven(proof, needed, lanes);
    }
    reach += placement_.object(c.b).cover.radius;
    if ((lanes &= ~far(placement_.from_cover(c.b, p), reach, needed, total)) == 0) return 0;
    reach =
        placement_.body_rod_radius(c.body_a) + placement_.object(c.b).cover.radius + rounding_slack;
    const LaneRod<L>& rod = placement_.body_rod(c.body_a);
    const Vec3<L> out = placement_.from_cover(c.b, rod);
    if ((lanes &= ~far(out, reach, needed, total)) == 0) return 0;
    proof =
        proof_of(rod.center, &rod.half, out, reach, motion_.relative(slots), needed, axes_of(c.b));
    return unproven(proof, needed, lanes);
  }

  std::uint32_t sift_node(const CollisionScene::Group& group, const AabbTree::Node& node,
                          const L& needed, std::uint32_t lanes, Proof<L>& proof, L& total) {
    const Slots& slots = layout_->objects.data()[group.object];
    total = motion_.total_of(slots);
    const Vec3<L> p = placement_.center(group.object), out = from_bounds(node.box, p);
    const double reach = placement_.object(group.object).ball_radius + rounding_slack;
    if ((lanes &= ~far(out, reach, needed, total)) == 0) return 0;
    const auto axes = [](const Vec3<L>& v) __attribute__((always_inline)) { return v; };
    proof = proof_of(p, nullptr, out, reach, motion_.relative(slots), needed, axes);
    return unproven(proof, needed, lanes);
  }

  std::uint32_t sift_pair(int a, int b, const Slots& slots, const L& needed, std::uint32_t lanes,
                          Proof<L>& proof, L& least) {
    const SceneObject &A = placement_.object(a), &B = placement_.object(b);
    const L total = motion_.total_of(slots);
    // Rod of a against the cover of b.
    const LaneRod<L>& rod = placement_.rod(a);
    double reach = A.rod.radius + B.cover.radius + rounding_slack;
    Vec3<L> out = placement_.from_cover(b, rod);
    if ((lanes &= ~far(out, reach, needed, total)) == 0) return 0;
    const Relative motion = motion_.relative(slots);
    const auto axes = axes_of(b);
    proof = proof_of(rod.center, &rod.half, out, reach, motion, needed, axes);
    if ((lanes = unproven(proof, needed, lanes)) == 0) return 0;
    // Balls of a against the cover of b.
    if (const std::size_t n = A.balls.size(); n > 0) {
      L part(__builtin_inf()), gap = part;
      const Vec3<L>* centers = placement_.row(a);
      for (std::size_t k = 0; k < n; ++k) {
        reach = A.balls.data()[k].radius + B.cover.radius + rounding_slack;
        out = placement_.from_cover(b, centers[k]);
        if ((lanes & ~far(out, reach, needed, total)) == 0) continue;
        const Proof<L> one = proof_of(centers[k], nullptr, out, reach, motion, needed, axes);
        part = smaller(part, one.part);
        gap = smaller(gap, one.gap);
      }
      proof = {larger(proof.part, part), larger(proof.gap, gap)};
      if ((lanes = unproven(proof, needed, lanes)) == 0) return 0;
    }
    // Swap roles: rod and balls of b against the cover of a, without a direction.
    if (B.body != 0) {
      L other = norm(placement_.from_cover(a, placement_.rod(b))) -
                L(B.rod.radius + A.cover.radius + rounding_slack);
      if (const std::size_t n = B.balls.size(); n > 0) {
        L row(__builtin_inf());
        const Vec3<L>* centers = placement_.row(b);
        for (std::size_t k = 0; k < n; ++k)
          row = smaller(row, norm(placement_.from_cover(a, centers[k])) -
                                 L(B.balls.data()[k].radius + A.cover.radius + rounding_slack));
        other = larger(other, row);
      }
      proof.part = select(other > L(0), larger(proof.part, other / total), proof.part);
      proof.gap = larger(proof.gap, other);
      if ((lanes = unproven(proof, needed, lanes)) == 0) return 0;
    }
    least = motion.least();
    return lanes;
  }

 private:
  static std::uint32_t unproven(const Proof<L>& proof, const L& needed, std::uint32_t lanes) {
    return lanes & ~bits_of(proof.part > needed);
  }

  // Rotation of vectors from W to the axes of an object.
  auto axes_of(int b) {
    return [ this, b ](const Vec3<L>& v) __attribute__((always_inline)) {
      return placement_.turned_to_object(b, v);
    };
  }

  // Bits of the lanes in which a ball, reached by `out`, is so far off that any motion of size
  // `total` proves the part needed.
  static ROBOSIM_INLINE std::uint32_t far(const Vec3<L>& out, double reach, const L& needed,
                                          const L& total) {
    const L length = mul_add(needed, total, L(reach));
    return bits_of(squared_norm(out) > length * length);
  }

  // Proof for a ball about p_W, or with `half` for a rod about p_W +- half. `out` is the vector to
  // it in the axes to which `axes` rotates vectors of W: the normal of a face that separates them.
  template <class Axes>
  static ROBOSIM_INLINE Proof<L> proof_of(const Vec3<L>& p_W, const Vec3<L>* half,
                                          const Vec3<L>& out, double reach, const Relative& motion,
                                          const L& needed, Axes&& axes) {
    const L squared = squared_norm(out), far = mul_add(needed, motion.total, L(reach)),
            infinite(__builtin_inf());
    const auto is_far = squared > far * far;
    const L length = sqrt(squared), gap = length - L(reach);
    // The direction means nothing at contact, and the part is zero.
    L speed = absolute(dot(out, axes(motion.velocity(p_W))));
    if (half) speed += absolute(dot(out, axes(cross(motion.omega, *half))));
    const L towards = speed / larger(length, L(1e-300)) + motion.rest;
    const L least = select(gap > motion.total, motion.total, smaller(motion.total, towards));
    const L part = select(gap > L(0), gap / least, L(0));
    return {select(is_far, infinite, part), select(is_far, infinite, gap)};
  }

  const CollisionScene* scene_;
  const MotionLayout* layout_;
  LanePlacement<L> placement_;
  MotionBound<L> motion_;
  const CollisionScene::Cluster* clusters_;
  const CollisionScene::Pair* pairs_;
  const CollisionScene::Group* groups_;
  std::vector<L> span_, step_, bend_;
  L half_;
};

}  // namespace

template <Isa isa>
class CompiledSifter final : public IntervalSifter {
 public:
  using L = Lanes<lanes_of(isa), isa>;
  static constexpr int registers = width / L::width;

  CompiledSifter(const CollisionScene& scene, const MotionLayout& layout)
      : scene_(&scene), layout_(&layout), cores_(lane_cores(scene)) {
    for (auto& r : registers_) r = std::make_unique<Register<L>>(scene, layout);
  }

  void place(int count, const double* const* q) override {
    count_ = count;
    for (int k = 0; k * L::width < count; ++k) registers_[k]->place(k * L::width, count, q);
  }

  void spread(const Spread* spread, const double* half, std::uint32_t is_last) override {
    is_last_ = is_last;
    for (int k = 0; k * L::width < count_; ++k)
      registers_[k]->spread(k * L::width, count_, spread, half);
  }

  void suspects(const SiftItem* items, int n, std::vector<SiftSuspect>& out) override {
    const CollisionScene::Pair* pairs = scene_->single_pairs().data();
    for (int i = 0; i < n; ++i) {
      const SiftItem& item = items[i];
      if (item.kind == SiftItem::single) {
        touching(item, pairs[item.item].a, pairs[item.item].b, every(), out);
        continue;
      }
      if (item.kind == SiftItem::cluster) {
        const CollisionScene::Cluster& c = scene_->clusters().data()[item.item];
        const std::uint32_t lanes = each(every(), [&](Register<L>& r, std::uint32_t own, int) {
          return r.placement().touching(c, own);
        });
        for (int j = c.first; lanes != 0 && j < c.first + c.touchable; ++j)
          touching({j, SiftItem::single}, pairs[j].a, pairs[j].b, lanes, out);
        continue;
      }
      // Traverse the tree of a group. Each node keeps the lanes that may still overlap.
      const CollisionScene::Group& group = scene_->groups().data()[item.kind];
      const AabbTree& tree = scene_->bvh(group.bvh);
      const bool is_large = tree.nodes().size() > large_tree;
      Open stack[64];  // see broadphase.h
      int depth = 0;
      stack[depth++] = {item.item, every()};
      while (depth > 0) {
        const Open open = stack[--depth];
        this->looks_ += is_large;
        const AabbTree::Node& node = tree.node(open.node);
        if (node.is_leaf()) {
          touching({open.node, item.kind}, group.object, tree.item(node.first), open.lanes, out);
          continue;
        }
        const std::uint32_t lanes = each(open.lanes, [&](Register<L>& r, std::uint32_t own, int) {
          return r.placement().touching(group.object, node.box, own);
        });
        if (lanes == 0) continue;
        stack[depth++] = {node.first + 1, lanes};
        stack[depth++] = {node.first, lanes};
      }
    }
  }

  void sift(const SiftItem* items, int n, SiftRows& out) override {
    SiftRow row;
    for (int l = 0; l < width; ++l) row.left[l] = row.right[l] = 0;
    for (L& needed : needed_) needed = L(1.0);
    for (int i = 0; i < n; ++i) {
      row.item = items[i].item;
      row.kind = items[i].kind;
      sift(row, every(), out);
    }
  }

  void sift(const SiftRow* rows, int n, SiftRows& out) override {
    for (int i = 0; i < n; ++i) {
      each(rows[i].lanes, [&](Register<L>& r, std::uint32_t, int first) {
        needed_[first / L::width] = r.needed(rows[i].left + first, rows[i].right + first);
        return 0u;
      });
      sift(rows[i], rows[i].lanes, out);
    }
  }

  void approaches(const SiftItem& pair, std::uint32_t lanes, const Vec3d* n,
                  Approaches& out) override {
    const MotionLayout::Slots& slots =
        pair.kind == SiftItem::single
            ? layout_->pairs.data()[pair.item]
            : layout_->objects.data()[scene_->groups().data()[pair.kind].object];
    each(lanes, [&](Register<L>& r, std::uint32_t, int first) {
      r.approaches(slots, first, n, out);
      return 0u;
    });
  }

  std::uint32_t bounds(int a, int b, std::uint32_t lanes, const double* enough, double gap,
                       const Vec3d& near, Bounds& out) override {
    const LaneCore &A = cores_.data()[a], &B = cores_.data()[b];
    if (!A.is_known || !B.is_known) return 0;
    return each(lanes, [&](Register<L>& r, std::uint32_t own, int first) {
      return r.bounds(A, B, a, b, first, own, enough, gap, near, out);
    });
  }

  SE3d X_WB(int body, int l) const override {
    return registers_[l / L::width]->X_WB(body, l % L::width);
  }

 private:
  static constexpr std::uint32_t all = (1u << L::width) - 1;
  struct Open {
    int node;
    std::uint32_t lanes;
  };

  std::uint32_t every() const { return (1u << count_) - 1; }

  // Call f(register, its bits of `lanes`, number of its first configuration) for each register that
  // has bits in `lanes`. Returns the combined bits that f returns.
  template <class F>
  ROBOSIM_INLINE std::uint32_t each(std::uint32_t lanes, F&& f) {
    ++this->looks_;
    std::uint32_t out = 0;
    for (int k = 0; k < registers; ++k)
      if (const std::uint32_t own = lanes >> (k * L::width) & all; own != 0)
        out |= f(*registers_[k], own, k * L::width) << (k * L::width);
    return out;
  }

  void touching(const SiftItem& pair, int a, int b, std::uint32_t lanes,
                std::vector<SiftSuspect>& out) {
    each(lanes, [&](Register<L>& r, std::uint32_t own, int first) {
      L depth;
      std::uint32_t certain;
      const std::uint32_t found = r.placement().touching(a, b, own, depth, certain);
      for (int l = 0; found >> l != 0; ++l)
        if (found >> l & 1)
          add_suspect(out, {pair, a, b, first + l, (certain >> l & 1) != 0, depth[l]});
      return found;
    });
  }

  static void write(const Proof<L>& proof, const L& motion, int first, SiftRow& row) {
    std::memcpy(row.part + first, &proof.part, sizeof(L));
    std::memcpy(row.gap + first, &proof.gap, sizeof(L));
    std::memcpy(row.motion + first, &motion, sizeof(L));
  }
  // Append a row for the open lanes of an item.
  static void keep(const SiftRow& given, const SiftItem& item, std::uint32_t lanes,
                   const SiftRow& found, SiftRows& out) {
    if (lanes == 0) return;
    SiftRow& row = out.add();
    row.item = item.item;
    row.kind = item.kind;
    row.lanes = lanes;
    std::memcpy(row.left, given.left, sizeof(row.left));
    std::memcpy(row.right, given.right, sizeof(row.right));
    std::memcpy(row.part, found.part, sizeof(row.part));
    std::memcpy(row.gap, found.gap, sizeof(row.gap));
    std::memcpy(row.motion, found.motion, sizeof(row.motion));
  }
  // Lanes in which a cluster or node is opened: those where it may overlap, and those where its
  // motion is smaller than its size. With a larger motion its parts could not be proven either.
  std::uint32_t opened(std::uint32_t lanes, const SiftRow& found, double size) const {
    std::uint32_t out = lanes & is_last_;
    for (int l = 0; l < width; ++l)
      if ((lanes >> l & 1) && (found.gap[l] <= 0 || found.motion[l] < size)) out |= 1u << l;
    return out;
  }

  void sift_pair(const SiftRow& given, const SiftItem& item, int a, int b,
                 const MotionLayout::Slots& slots, std::uint32_t lanes, SiftRows& out) {
    SiftRow found;
    lanes = each(lanes, [&](Register<L>& r, std::uint32_t own, int first) {
      Proof<L> proof;
      L motion;
      const std::uint32_t open =
          r.sift_pair(a, b, slots, needed_[first / L::width], own, proof, motion);
      if (open != 0) write(proof, motion, first, found);
      return open;
    });
    keep(given, item, lanes, found, out);
  }

  // Sift one item in the intervals `lanes`, whose needs are in needed_.
  void sift(const SiftRow& given, std::uint32_t lanes, SiftRows& out) {
    const CollisionScene::Pair* pairs = scene_->single_pairs().data();
    const MotionLayout::Slots* slots = layout_->pairs.data();
    if (given.kind == SiftItem::single)
      return sift_pair(given, given, pairs[given.item].a, pairs[given.item].b, slots[given.item],
                       lanes, out);
    SiftRow found;
    Proof<L> proof;
    L total;
    // A cluster: sift the pairs in the lanes in which it is opened.
    if (given.kind == SiftItem::cluster) {
      const CollisionScene::Cluster& c = scene_->clusters().data()[given.item];
      lanes = each(lanes, [&](Register<L>& r, std::uint32_t own, int first) {
        const std::uint32_t open =
            r.sift_cluster(given.item, needed_[first / L::width], own, proof, total);
        if (open != 0) write(proof, total, first, found);
        return open;
      });
      if (lanes == 0) return;
      const std::uint32_t open = opened(lanes, found, scene_->body_ball(c.body_a).radius);
      keep(given, given, lanes & ~open, found, out);
      for (int j = c.first; open != 0 && j < c.first + c.touchable; ++j)
        sift_pair(given, {j, SiftItem::single}, pairs[j].a, pairs[j].b, slots[j], open, out);
      return;
    }
    // Traverse the tree of the group.
    const CollisionScene::Group& group = scene_->groups().data()[given.kind];
    const AabbTree& tree = scene_->bvh(group.bvh);
    const bool is_large = tree.nodes().size() > large_tree;
    Open stack[64];  // see broadphase.h
    int depth = 0;
    stack[depth++] = {given.item, lanes};
    while (depth > 0) {
      const Open at = stack[--depth];
      this->looks_ += is_large;
      const AabbTree::Node& node = tree.node(at.node);
      if (node.is_leaf()) {
        sift_pair(given, {at.node, given.kind}, group.object, tree.item(node.first),
                  layout_->objects.data()[group.object], at.lanes, out);
        continue;
      }
      lanes = each(at.lanes, [&](Register<L>& r, std::uint32_t own, int first) {
        const std::uint32_t open =
            r.sift_node(group, node, needed_[first / L::width], own, proof, total);
        if (open != 0) write(proof, total, first, found);
        return open;
      });
      if (lanes == 0) continue;
      const std::uint32_t open = opened(lanes, found, 0.5 * norm(node.box.upper - node.box.lower));
      keep(given, {at.node, given.kind}, lanes & ~open, found, out);
      if (open == 0) continue;
      stack[depth++] = {node.first + 1, open};
      stack[depth++] = {node.first, open};
    }
  }

  const CollisionScene* scene_;
  const MotionLayout* layout_;
  std::vector<LaneCore> cores_;  // per object
  std::unique_ptr<Register<L>> registers_[registers];
  L needed_[registers];
  int count_ = 0;
  std::uint32_t is_last_ = 0;
};

template <>
std::unique_ptr<IntervalSifter> make_interval_sifter<own_isa>(const CollisionScene& scene,
                                                              const MotionLayout& layout) {
  return std::make_unique<CompiledSifter<own_isa>>(scene, layout);
}

}  // namespace robosim::detail
