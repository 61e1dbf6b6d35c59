#include "scene/turn_table.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "base/thread_pool.h"
#include "dynamics/configuration.h"
#include "model/joints.h"
#include "scene/scene_query.h"

namespace robosim {
namespace {

constexpr int cells = TurnTable::cells, word = 64;
constexpr double cell = 2 * pi / cells;

// Joint between two objects, by its body, and the object that it moves.
struct Turn {
  int body = 0, moved = 0;
};

// Cells [first, first + size) of each joint's turn.
struct Box {
  int first[2] = {0, 0}, size[2] = {cells, cells};
  double middle(int k) const { return cell * (first[k] + 0.5 * size[k]); }
  double half(int k) const { return cell * 0.5 * size[k] * (1 + 1e-9); }
};

class Finder {
 public:
  Finder(const CollisionScene& scene, double least, int most_boxes)
      : model_(scene.model()),
        scene_(scene),
        query_(scene),
        q_(at(model_.n_q)),
        least_(least),
        most_boxes_(most_boxes) {
    query_.decide_by_shapes();
    neutral(model_, q_.data());
    query_.place(q_.data());
    neutral_ = query_.data().X_WB;
  }

  std::shared_ptr<const TurnTable> table(const CollisionScene::Pair& pair) {
    if (!find_turns(pair)) return nullptr;
    const int n = static_cast<int>(turns_.size());
    auto out = std::make_shared<TurnTable>();
    out->n = n;
    for (int k = 0; k < n; ++k) out->q_index[k] = joint_of(turns_[k]).q_index;
    out->free.assign(at((n == 2 ? cells : 1) * cells / word), 0);
    X_WB_ = neutral_;
    Box all;
    if (n == 1) all.size[1] = 1;
    boxes_.assign(1, all);
    bool any = false;
    // Mark free boxes, and halve the others.
    for (std::size_t head = 0; head < boxes_.size() && head < at(most_boxes_); ++head) {
      const Box box = boxes_[head];
      // Amount by which each joint's motion within the box reduces the distance at most.
      double part[2] = {};
      const double d = measure(pair, box, part);
      if (d > least_ && part[0] + part[1] < d - least_) {
        mark(box, *out);
        any = true;
        continue;
      }
      if (d <= 0 && -depth(pair) > part[0] + part[1])
        continue;  // the objects overlap everywhere
                   // in the box
      // Halve the side that contributes most.
      int k = part[1] > part[0];
      if (box.size[k] == 1) k = 1 - k;
      if (k >= n || box.size[k] == 1) continue;
      Box half = box;
      half.size[k] /= 2;
      boxes_.push_back(half);
      half.first[k] += half.size[k];
      boxes_.push_back(half);
    }
    return any ? out : nullptr;
  }

 private:
  const Joint& joint_of(const Turn& turn) const { return model_.joints[turn.body]; }

  // Find the joints between both objects, on each side beginning at the object. Return true if they
  // are one or two revolute joints with coordinates of their own.
  bool find_turns(const CollisionScene::Pair& pair) {
    turns_.clear();
    int a = scene_.object(pair.a).body, b = scene_.object(pair.b).body;
    while (a != b) {
      const bool is_a = a > b;  // parents come first
      int& body = is_a ? a : b;
      const Joint& joint = model_.joints[body];
      const int moved = is_a ? pair.a : pair.b;
      if (turns_.size() == 2 || joint.type != JointType::revolute || joint.mimic ||
          !(scene_.object(moved).rod.radius > 0))
        return false;
      turns_.push_back({body, moved});
      body = joint.parent;
    }
    return !turns_.empty();
  }

  // Place both objects with the joints at the center of the box. Only the bodies of these joints
  // move, parents first; bodies below them do not belong to this pair.
  void place(const Box& box) {
    for (std::size_t k = 0; k < turns_.size(); ++k)
      q_[joint_of(turns_[k]).q_index] = box.middle(static_cast<int>(k));
    const auto turn = [&](int body) {
      const Joint& joint = model_.joints[body];
      X_WB_[body] = X_WB_[joint.parent] * joint_placement(joint, q_.data() + joint.q_index);
    };
    const bool is_first = turns_.size() == 1 || turns_[0].body < turns_[1].body;
    turn(turns_[is_first ? 0 : 1].body);
    if (turns_.size() == 2) turn(turns_[is_first ? 1 : 0].body);
    query_.place(q_.data(), X_WB_);
  }

  double measure(const CollisionScene::Pair& pair, const Box& box, double* part) {
    const std::size_t n = turns_.size();
    place(box);
    Arm arms[2];
    double D[2] = {}, rho[2] = {}, total = 0;
    for (std::size_t k = 0; k < n; ++k) {
      arms[k] = arm(turns_[k]);
      D[k] = box.half(static_cast<int>(k));
      total += D[k] * arms[k].reach();
    }
    // Exclude the parts of the rods that cannot come near the other object.
    for (std::size_t k = 0; k < n; ++k) {
      const int other = turns_[k].moved == pair.a ? pair.b : pair.a;
      const double ball = scene_.object(other).ball_radius;
      if (std::isfinite(ball))
        arms[k].clip(query_.center(other) - query_.data().X_WB[turns_[k].body].p,
                     ball + total + least_);
      rho[k] = arms[k].reach();
      part[k] = D[k] * rho[k];
    }
    // A bound up to this value is sufficient.
    const int single = static_cast<int>(&pair - scene_.single_pairs().data());
    const double d = query_.distance_bound(part[0] + part[1] + 2 * least_, pair.a, pair.b, single) -
                     rounding_slack;
    const Vec3d normal = query_.separating_axis(single);
    if (d <= 0 || squared_norm(normal) == 0) return d;
    // Bounds along the normal. If both joints move one object, the first joint is below the second.
    const bool is_chain = n == 2 && turns_[0].moved == turns_[1].moved;
    double along[2] = {};
    for (std::size_t k = 0; k < n; ++k) {
      const double above = is_chain && k == 0 ? D[1] : 0, below = is_chain && k == 1 ? part[0] : 0;
      along[k] = D[k] * (arms[k].speed(normal) + (rho[k] + below) * (0.5 * D[k] + above));
    }
    if (along[0] + along[1] < part[0] + part[1]) std::copy_n(along, 2, part);
    return d;
  }

  // Signed distance of the shapes, negative where they overlap.
  double depth(const CollisionScene::Pair& pair) {
    return shapes_closest_pieces(scene_.object(pair.a).geometry, query_.X_WO(pair.a),
                                 scene_.object(pair.b).geometry, query_.X_WO(pair.b))
        .witness.distance;
  }

  // Axis of a joint, and the ends of the moved object's rod from a point of the axis, in W.
  struct Arm {
    Vec3d axis, end[2];
    double radius = 0;
    // Keep the part of the rod that is within `far` of p; if there is none, the point of the rod
    // nearest to p.
    void clip(const Vec3d& p, double far) {
      const Vec3d e = end[1] - end[0], r = end[0] - p;
      const double ee = dot(e, e), b = dot(e, r), R = far + radius, c = dot(r, r) - R * R;
      if (!(ee > 0)) return;
      const double root = std::sqrt(std::max(b * b - ee * c, 0.0)),
                   from = std::clamp((-b - root) / ee, 0.0, 1.0),
                   to = std::clamp((-b + root) / ee, 0.0, 1.0);
      end[1] = end[0] + to * e;
      end[0] = end[0] + from * e;
    }
    double reach() const {
      return std::max(norm(cross(axis, end[0])), norm(cross(axis, end[1]))) + radius;
    }
    double speed(const Vec3d& n) const {
      return std::max(std::abs(dot(n, cross(axis, end[0]))),
                      std::abs(dot(n, cross(axis, end[1])))) +
             norm(cross(n, axis)) * radius;
    }
  };
  Arm arm(const Turn& turn) const {
    const SceneObject& object = scene_.object(turn.moved);
    const SE3d &X_WB = query_.data().X_WB[object.body], &X_WJ = query_.data().X_WB[turn.body];
    const Vec3d center = X_WB * object.rod.center - X_WJ.p, half = X_WB.R * object.rod.half;
    return {X_WJ.R * joint_of(turn).axis,
            {center - half, center + half},
            object.rod.radius + rounding_slack};
  }

  static void mark(const Box& box, TurnTable& out) {
    // Sides of the box for rows and columns; one joint has one row.
    const int row = out.n == 2 ? 0 : 1, column = out.n - 1;
    const int first_row = row == 0 ? box.first[0] : 0, rows = row == 0 ? box.size[0] : 1;
    for (int i = first_row; i < first_row + rows; ++i)
      for (int j = box.first[column]; j < box.first[column] + box.size[column]; ++j)
        out.free[(i * cells + j) / word] |= std::uint64_t(1) << (j % word);
  }

  const Model& model_;
  const CollisionScene& scene_;
  SceneQuery query_;
  std::vector<double> q_;
  std::vector<SE3d> neutral_, X_WB_;
  std::vector<Turn> turns_;
  std::vector<Box> boxes_;  // coarse to fine
  double least_;
  int most_boxes_;
};

}  // namespace

bool TurnTable::is_free(const double* lower, const double* upper) const {
  int first[2] = {0, 0}, last[2] = {0, 0};  // one joint has one row
  for (int k = 0; k < n; ++k) {
    const double from = std::floor(lower[k] / cell), to = std::floor(upper[k] / cell);
    const int side = k + 2 - n;
    if (!(to - from < cells)) {
      first[side] = 0;
      last[side] = cells - 1;
    } else {
      first[side] = static_cast<int>(from - cells * std::floor(from / cells));
      last[side] = first[side] + static_cast<int>(to - from);
    }
  }
  for (int i = first[0]; i <= last[0]; ++i)
    for (int j = first[1]; j <= last[1]; ++j) {
      const int column = j % cells, bit = (i % cells) * cells + column;
      if (!(free[bit / word] >> (column % word) & 1)) return false;
    }
  return true;
}

bool TurnTable::is_free_everywhere() const {
  return std::all_of(free.begin(), free.end(),
                     [](std::uint64_t bits) { return bits == ~std::uint64_t(0); });
}

bool TurnTable::is_free_at(const double* q, const double* span) const {
  double lower[2], upper[2];
  for (int k = 0; k < n; ++k) {
    const double by = span ? span[q_index[k]] : 0;
    lower[k] = q[q_index[k]] - by;
    upper[k] = q[q_index[k]] + by;
  }
  return is_free(lower, upper);
}

std::vector<std::shared_ptr<const TurnTable>> turn_tables(
    const Model& model, const std::vector<std::pair<int, int>>& pairs, double least,
    int most_boxes) {
  std::vector<std::shared_ptr<const TurnTable>> out(pairs.size());
  const CollisionScene scene(model, {}, pairs);
  const std::vector<CollisionScene::Pair>& single = scene.single_pairs();
  // Each pair is handled by one thread alone: which thread handles it changes nothing.
  const int n = static_cast<int>(single.size()), threads = std::clamp(n, 1, thread_limit());
  std::vector<std::unique_ptr<Finder>> finders(at(threads));
  parallel_for(n, threads, [&](int i, int worker) {
    std::unique_ptr<Finder>& finder = finders[worker];
    if (!finder) finder = std::make_unique<Finder>(scene, least, most_boxes);
    out[single[i].index] = finder->table(single[i]);
  });
  return out;
}

}  // namespace robosim
