#include "step/world.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "base/index.h"
#include "step/parameters.h"

namespace robosim {
namespace {

void require(bool holds, const std::string& of, std::string_view what, double value,
             const std::string& wanted) {
  if (!holds) throw InputError(message(of, ": ", what, " is ", value, "; ", wanted));
}

// Check the range that the list of parameters allows.
void require_range(const ParameterKind& kind, const std::string& of, double value) {
  if (value >= kind.least && value <= kind.most) return;
  const std::string wanted =
      kind.most < std::numeric_limits<double>::max()
          ? message("it must lie between ", kind.least, " and ", kind.most)
          : message("it must be ", std::isfinite(kind.most) ? "finite, and " : "", "at least ",
                    kind.least);
  require(false, of, kind.name, value, wanted);
}

}  // namespace

World::World(const CollisionScene& scene, std::vector<PairMaterial> materials,
             std::vector<Motor> motors, Closures closures)
    : scene_(&scene),
      materials_(std::move(materials)),
      motors_(std::move(motors)),
      closures_(std::move(closures)),
      vertices_(scene.objects()) {
  const Model& m = scene.model();
  const std::size_t n_pairs = scene.pairs().size();
  // Materials of all pairs, and motors of all entries of v.
  if (materials_.size() == 1 && n_pairs != 1)
    materials_.assign(n_pairs, PairMaterial(materials_[0]));
  if (materials_.size() != n_pairs)
    throw InputError(std::to_string(materials_.size()) + " materials for " +
                     std::to_string(n_pairs) + " pairs; there is one for each");
  if (motors_.empty()) motors_.assign(m.n_v, Motor());
  if (motors_.size() != at(m.n_v))
    throw InputError(std::to_string(motors_.size()) + " motors for " + std::to_string(m.n_v) +
                     " entries of v; there is one for each");

  // Pairs, sorted by their objects.
  has_restitution_ = std::any_of(materials_.begin(), materials_.end(),
                                 [](const PairMaterial& x) { return x.restitution > 0; });
  for (std::size_t i = 0; i < n_pairs; ++i) {
    const auto [a, b] = std::minmax(scene.pairs()[i].first, scene.pairs()[i].second);
    pair_index_.push_back({a, b, static_cast<int>(i)});
  }
  std::sort(pair_index_.begin(), pair_index_.end(), [](const PairIndex& x, const PairIndex& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  });

  // Trees, and joints with one position.
  tree_of_body_.assign(m.n_bodies(), -1);
  tree_of_v_.assign(m.n_v, -1);
  coordinate_of_v_.assign(m.n_v, -1);
  for (int i = 1; i < m.n_bodies(); ++i) {
    const Joint& joint = m.joints[i];
    tree_of_body_[i] = joint.parent == 0 ? n_trees_++ : tree_of_body_[joint.parent];
    if (joint.mimic) continue;
    for (int k = 0; k < joint.n_v; ++k) tree_of_v_[joint.v_index + k] = tree_of_body_[i];
    if (joint.n_q != 1) continue;
    coordinate_of_v_[joint.v_index] = static_cast<int>(coordinates_.size());
    coordinates_.push_back({joint.q_index, joint.v_index});
  }
  // A mimic joint that follows a joint of another tree connects both trees.
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 1; i < m.n_bodies(); ++i) {
      const Joint& joint = m.joints[i];
      if (!joint.mimic) continue;
      const auto [least, most] = std::minmax(tree_of_body_[i], tree_of_v_[joint.v_index]);
      if (least == most) continue;
      const int from = most, to = least;
      for (std::vector<int>* trees : {&tree_of_body_, &tree_of_v_})
        std::replace(trees->begin(), trees->end(), from, to);
      changed = true;
    }
  }
  check();
  parameters_ = std::make_shared<const ParameterLayout>(*this);
}

int World::pair(int a, int b) const {
  const auto [low, high] = std::minmax(a, b);
  const auto found = std::lower_bound(pair_index_.begin(), pair_index_.end(), std::pair(low, high),
                                      [](const PairIndex& x, const std::pair<int, int>& y) {
                                        return std::tie(x.a, x.b) < std::tie(y.first, y.second);
                                      });
  return found->index;
}

// Name of the joint of an entry of v, with the entry's index if the joint has several.
std::string World::name_of_v(int v) const {
  for (const Joint& joint : model().joints)
    if (!joint.mimic && v >= joint.v_index && v < joint.v_index + joint.n_v)
      return joint.n_v > 1 ? message("'", joint.name, "'[", v - joint.v_index, "]")
                           : message("'", joint.name, "'");
  return message("v[", v, "]");
}

void World::check() const {
  const Model& m = model();
  if (!m.massless.empty())
    throw InputError("joint '" + m.joints[m.massless[0]].name +
                     "' moves no mass and no armature; a simulation needs one of them");
  for (std::size_t i = 0; i < materials_.size(); ++i) {
    const auto [a, b] = scene_->pairs()[i];
    const std::string pair =
        "material of '" + scene_->object(a).name + "' and '" + scene_->object(b).name + "'";
    const PairMaterial& x = materials_[i];
    for (const ParameterKind& kind : parameter_kinds)
      if (kind.access.of_pair) require_range(kind, pair, x.*kind.access.of_pair);
    require(x.compliance == 0 || x.restitution == 0, pair, "restitution", x.restitution,
            "it must be 0 beside a compliance, by which things come back");
  }
  for (int k = 0; k < m.n_v; ++k) {
    const Motor& x = motor(k);
    const std::string name = "motor of " + name_of_v(k);
    for (const ParameterKind& kind : parameter_kinds)
      if (kind.access.of_motor) require_range(kind, name, x.*kind.access.of_motor);
    require(x.position_gain == 0 || coordinate_of_v_[k] >= 0, name, "position_gain",
            x.position_gain, "it must be 0, as this joint has more than one position");
  }
  check_closures();
}

void World::check_closures() const {
  const Model& m = model();
  const auto is_finite = [](const SE3d& X) {
    double sum = norm(X.p);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) sum += std::abs(X.R(i, k));
    return std::isfinite(sum);
  };
  for (const FrameClosure& c : closures_.frames) {
    const std::string name = "closure '" + c.name + "'";
    for (const int body : {c.a, c.b})
      if (body < 0 || body >= m.n_bodies())
        throw InputError(message(name, " is of body ", body, "; there are ", m.n_bodies()));
    if (c.a == c.b)
      throw InputError(name + " is of one body twice: its frames do not move against each other");
    if (tree_of_body(c.a) < 0 && tree_of_body(c.b) < 0)
      throw InputError(name + " is of bodies that nothing moves");
    if (!is_finite(c.X_AF) || !is_finite(c.X_BG))
      throw InputError(name + " has a frame that is not finite");
    if (!c.is_weld && !c.is_held[0] && !c.is_held[1] && !c.is_held[2])
      throw InputError(name + " holds nothing; a point is held along one axis at least");
  }
  for (const JointEquality& c : closures_.joints) {
    const std::string name = "closure '" + c.name + "'";
    for (const int v : {c.a, c.b}) {
      if (v == c.a && v < 0) continue;
      if (v < 0 || v >= m.n_v)
        throw InputError(message(name, " is of v[", v, "]; there are ", m.n_v));
      if (coordinate_of_v_[v] < 0)
        throw InputError(message(name, " is of v[", v, "], which has no position of its own"));
    }
    if (c.a == c.b) throw InputError(name + " is of one joint twice");
    for (const double x : c.coefficients)
      if (!std::isfinite(x))
        throw InputError(message(name, " has a coefficient ", x, "; they are finite"));
  }
}

}  // namespace robosim
