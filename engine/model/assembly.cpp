// Assembly of a Model from the parts that ModelBuilder has collected: tree, bodies, coordinates,
// limits, collision pairs.
#include "model/assembly.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "model/joint_layout.h"
#include "model/structure.h"
#include "model/usable.h"

namespace robosim {

namespace {

std::string quoted(const std::string& name) { return "'" + name + "'"; }

// Join quoted names, the first five and the number of the others.
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 5; ++i)
    text += (i ? ", " : "") + quoted(names[i]);
  return names.size() > 5 ? text + message(" and ", names.size() - 5, " more") : text;
}

// Joint of a floating base: unlimited, with the default accelerations.
JointSpec free_flying_base() {
  constexpr double none = std::numeric_limits<double>::infinity();
  const JointLayout layout = joint_layout(JointType::floating);
  JointSpec base;
  base.name = floating_base_name;
  base.kind = layout.name;
  base.lower.assign(layout.n_q, -none);
  base.upper.assign(layout.n_q, none);
  base.velocity.assign(layout.n_v, none);
  base.effort.assign(layout.n_v, none);
  for (int k = 0; k < layout.n_v; ++k)
    base.acceleration.push_back(layout.is_angular(k) ? default_angular_acceleration
                                                     : default_linear_acceleration);
  return base;
}

}  // namespace

ModelAssembly::ModelAssembly(const ModelBuilder& builder, const BuildOptions& options)
    : in_(builder), options_(options), base_(free_flying_base()) {}

Model ModelAssembly::run() {
  model_.name = in_.name_;
  find_root();
  walk_tree();
  number_coordinates();
  number_columns(model_);
  check_usable(model_);
  find_massless();
  place_colliders();
  select_collision_pairs();
  return std::move(model_);
}

// Find the root. Every other link must have exactly one parent joint, and all of them must descend
// from the root.
void ModelAssembly::find_root() {
  if (in_.links_.empty()) throw InputError("model " + quoted(in_.name_) + " has no links");
  parent_joint_.assign(in_.links_.size(), -1);
  children_.resize(in_.links_.size());
  for (std::size_t j = 0; j < in_.joints_.size(); ++j) {
    const JointSpec& joint = in_.joints_[j];
    const int parent = in_.link_index(joint.parent, "joint " + quoted(joint.name) + ": parent");
    const int child = in_.link_index(joint.child, "joint " + quoted(joint.name) + ": child");
    int& above = parent_joint_[child];
    if (above >= 0)
      throw InputError("link " + quoted(joint.child) + " hangs from two joints, " +
                       quoted(in_.joints_[above].name) + " and " + quoted(joint.name) +
                       "; a model is a tree");
    above = static_cast<int>(j);
    children_[parent].push_back(static_cast<int>(j));
  }
  std::vector<std::string> roots;
  for (std::size_t i = 0; i < in_.links_.size(); ++i)
    if (parent_joint_[i] < 0) {
      roots.push_back(in_.links_[i].name);
      root_ = static_cast<int>(i);
    }
  if (roots.empty()) throw InputError("the joints form a cycle: no link is without a parent joint");
  if (roots.size() > 1)
    throw InputError(message("there are ", roots.size(), " root links, ", listed(roots),
                             "; all but one need a parent joint"));
}

// Walk the tree depth first, without recursion, since a file may nest deeper than the call stack.
void ModelAssembly::walk_tree() {
  frame_of_.assign(in_.links_.size(), -1);
  model_.joints.emplace_back();
  model_.joints[0].name = world_name;
  model_.inertias.emplace_back();
  spec_of_.push_back(nullptr);

  // Frame 0 is the world. A fixed-base root link called "world", as in many files, is that frame.
  // If another link has that name, frame 0 has none.
  const std::string& root_name = in_.links_[root_].name;
  if (in_.floating_base_ || root_name != world_name)
    model_.frames.push_back({in_.link_of_.contains(world_name) ? "" : world_name, 0, SE3d()});
  int root_body = 0;
  if (in_.floating_base_) {
    for (int i = 2; in_.joint_of_.contains(base_.name); ++i)
      base_.name = message(floating_base_name, "_", i);
    root_body = open_body(base_, 0, SE3d());
  }

  struct Visit {
    int link, body;
    SE3d X_BL;
  };
  std::vector<Visit> stack{{root_, root_body, SE3d()}};
  while (!stack.empty()) {
    Visit at = stack.back();
    stack.pop_back();
    // A moving joint's body is created at its visit, so that numbers are depth first.
    if (at.body < 0) {
      const JointSpec& joint = in_.joints_[parent_joint_[at.link]];
      const Frame& parent = model_.frames[frame_of_[in_.link_index(joint.parent, "")]];
      at.body = open_body(joint, parent.body, parent.X_BF);
    }
    place_link(at.link, at.body, at.X_BL);
    for (auto j = children_[at.link].rbegin(); j != children_[at.link].rend(); ++j) {
      const JointSpec& joint = in_.joints_[*j];
      const int child = in_.link_index(joint.child, "");
      if (joint.kind == "fixed")
        stack.push_back({child, at.body, at.X_BL * joint.X_PJ});
      else
        stack.push_back({child, -1, SE3d()});
    }
  }
  std::vector<std::string> unreached;
  for (std::size_t i = 0; i < in_.links_.size(); ++i)
    if (frame_of_[i] < 0) unreached.push_back(in_.links_[i].name);
  if (!unreached.empty())
    throw InputError("the joints form a cycle: links " + listed(unreached) +
                     " do not hang from the root " + quoted(root_name));
  for (int i = 0; i < model_.n_bodies(); ++i)
    if (!is_finite(model_.inertias[i]))
      throw InputError("joint " + quoted(model_.joints[i].name) +
                       " carries more mass than numbers can hold");
}

void ModelAssembly::place_link(int link, int body, const SE3d& X_BL) {
  const ModelBuilder::Link& spec = in_.links_[link];
  frame_of_[link] = static_cast<int>(model_.frames.size());
  model_.frames.push_back({spec.name, body, X_BL});
  model_.inertias[body] = model_.inertias[body] + transformed(X_BL, spec.inertia);
}

int ModelAssembly::open_body(const JointSpec& spec, int parent_body, const SE3d& X_BP) {
  Joint joint;
  joint.name = spec.name;
  joint.type = *moving_type(spec.kind);
  joint.parent = parent_body;
  joint.X_PJ = X_BP * spec.X_PJ;
  joint.axis = spec.axis;
  joint.pitch = spec.pitch.value_or(0);
  joint.continuous = spec.kind == "continuous";
  joint.prepare();
  model_.joints.push_back(joint);
  model_.inertias.emplace_back();
  spec_of_.push_back(&spec);
  return static_cast<int>(model_.joints.size()) - 1;
}

// Assign parts of q and v to independent joints in body order, and then those of their sources to
// mimic joints.
void ModelAssembly::number_coordinates() {
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (int i = 1; i < model_.n_bodies(); ++i) {
    Joint& joint = model_.joints[i];
    const JointSpec& spec = *spec_of_[i];
    if (spec.mimic) continue;
    const JointLayout layout = joint_layout(joint.type);
    joint.q_index = model_.n_q;
    joint.n_q = layout.n_q;
    joint.v_index = model_.n_v;
    joint.n_v = layout.n_v;
    model_.n_q += layout.n_q;
    model_.n_v += layout.n_v;
    append(model_.limits.q_lower, spec.lower);
    append(model_.limits.q_upper, spec.upper);
    append(model_.limits.velocity, spec.velocity);
    append(model_.limits.acceleration, spec.acceleration);
    append(model_.limits.effort, spec.effort);
    append(model_.damping, std::vector<double>(layout.n_v, spec.damping));
    append(model_.friction, std::vector<double>(layout.n_v, spec.friction));
    append(model_.friction_width, std::vector<double>(layout.n_v, spec.friction_width));
    append(model_.stiffness, std::vector<double>(layout.n_v, spec.stiffness));
    append(model_.spring_reference, std::vector<double>(layout.n_v, spec.spring_reference));
    append(model_.armature, std::vector<double>(layout.n_v, spec.reflected_armature()));
  }
  for (int i = 1; i < model_.n_bodies(); ++i)
    if (spec_of_[i]->mimic) {
      resolve_mimic(i);
      fold_forces(i);
      fold_limits(i);
    }
}

// Follow a chain of mimics to the independent joint: q = r1 (r2 q_s + o2) + o1.
void ModelAssembly::resolve_mimic(int i) {
  Joint& joint = model_.joints[i];
  const std::string what = "joint " + quoted(joint.name);
  const JointSpec* spec = spec_of_[i];
  joint.mimic = model_.has_mimic = true;
  std::size_t steps = 0;
  while (spec->mimic) {
    const MimicSpec& mimic = *spec->mimic;
    joint.offset += joint.ratio * mimic.offset;
    joint.ratio *= mimic.ratio;
    const auto found = in_.joint_of_.find(mimic.source);
    if (found == in_.joint_of_.end())
      throw InputError(what + " mimics " + quoted(mimic.source) + ", which is not a joint");
    if (++steps > in_.joints_.size())
      throw InputError(what + " mimics, through other joints, itself");
    spec = &in_.joints_[found->second];
  }
  const std::optional<JointType> type = moving_type(spec->kind);
  if (!type || joint_layout(*type).n_q != 1)
    throw InputError(what + " mimics " + quoted(spec->name) + ", which is " + spec->kind +
                     " and so has no position to copy; " + joined(one_position_kinds()) +
                     " joints have one");
  const auto source = std::find(spec_of_.begin(), spec_of_.end(), spec) - spec_of_.begin();
  Joint& moved = model_.joints[source];
  joint.q_index = moved.q_index;
  joint.n_q = moved.n_q;
  joint.v_index = moved.v_index;
  joint.n_v = moved.n_v;
  // A full turn of the source returns the mimic joint only if that makes whole turns, too.
  const bool comes_back = joint_layout(joint.type).coordinates[0] == Coordinate::periodic_angle;
  if (!comes_back || joint.ratio != std::round(joint.ratio)) moved.continuous = false;
}

// Add the mimic joint's forces to the source's. By virtual work, with qd = r qd_s, damping,
// stiffness and armature count r^2 times and dry friction |r| times.
void ModelAssembly::fold_forces(int i) {
  const Joint& joint = model_.joints[i];
  const JointSpec& spec = *spec_of_[i];
  const double r = joint.ratio;
  const auto k = static_cast<std::size_t>(joint.v_index);
  model_.damping[k] += r * r * spec.damping;
  model_.armature[k] += r * r * spec.reflected_armature();
  // The sum of two regularized frictions is not exactly of that form. The result here is exact
  // beyond both widths, and has the exact slope at rest.
  double &friction = model_.friction[k], &width = model_.friction_width[k];
  const double slope = friction / width + r * r * spec.friction / spec.friction_width;
  friction += std::abs(r) * spec.friction;
  if (slope > 0) width = friction / slope;
  // k (q - ref)^2 + k_m (r q + o - ref_m)^2 is one spring about the weighted mean, plus the energy
  // of both springs there.
  const double added = r * r * spec.stiffness, own = model_.stiffness[k], total = own + added;
  if (added > 0) {
    double& reference = model_.spring_reference[k];
    const double other = (spec.spring_reference - joint.offset) / r, apart = other - reference;
    reference += added / total * apart;
    model_.stiffness[k] = total;
    model_.spring_rest_energy += 0.5 * own * added / total * apart * apart;
  } else {
    const double apart = joint.offset - spec.spring_reference;
    model_.spring_rest_energy += 0.5 * spec.stiffness * apart * apart;
  }
}

// Restrict the source to the mimic joint's limits.
void ModelAssembly::fold_limits(int i) {
  const Joint& joint = model_.joints[i];
  const JointSpec& spec = *spec_of_[i];
  const double r = joint.ratio;
  if (r == 0) return;
  Limits& limits = model_.limits;
  double lower = (spec.lower[0] - joint.offset) / r, upper = (spec.upper[0] - joint.offset) / r;
  if (r < 0) std::swap(lower, upper);
  double &q_lower = limits.q_lower[joint.q_index], &q_upper = limits.q_upper[joint.q_index];
  if (std::max(lower, q_lower) > std::min(upper, q_upper))
    throw InputError(message("joint ", quoted(joint.name), " mimics ", quoted(spec.mimic->source),
                             ", but its limits [", spec.lower[0], ", ", spec.upper[0],
                             "] and its source's leave no common position"));
  q_lower = std::max(lower, q_lower);
  q_upper = std::min(upper, q_upper);
  limits.velocity[joint.v_index] =
      std::min(limits.velocity[joint.v_index], spec.velocity[0] / std::abs(r));
}

void ModelAssembly::find_massless() {
  model_.massless = massless_joints(model_);
  std::vector<std::string> names;
  for (const int i : model_.massless) names.push_back(model_.joints[i].name);
  if (!names.empty() && !options_.allow_massless)
    throw InputError("joints " + listed(names) +
                     " move no mass: give the links below them inertia, give the joint armature, "
                     "or allow massless bodies");
}

// Colliders in the order of the links' frames, within one link as they were added.
void ModelAssembly::place_colliders() {
  std::vector<std::vector<const ModelBuilder::ColliderSpec*>> of_frame(model_.frames.size());
  for (const auto& spec : in_.colliders_) of_frame[frame_of_[spec.link]].push_back(&spec);
  colliders_of_.resize(in_.links_.size());
  for (std::size_t f = 0; f < of_frame.size(); ++f)
    for (const auto* spec : of_frame[f]) {
      const Frame& frame = model_.frames[f];
      colliders_of_[spec->link].push_back(static_cast<int>(model_.colliders.size()));
      model_.colliders.push_back(
          {spec->name, static_cast<int>(f), frame.body, frame.X_BF * spec->X_LC, spec->geometry});
    }
}

// Select all pairs on different bodies, except links that the description names and, on request,
// adjacent links: a link and its nearest ancestor with colliders.
void ModelAssembly::select_collision_pairs() {
  std::set<std::pair<int, int>> off;
  const auto disable = [&](int link_a, int link_b, const std::string& reason) {
    const auto pair = std::minmax(frame_of_[link_a], frame_of_[link_b]);
    if (off.insert({pair.first, pair.second}).second)
      model_.disabled_collisions.push_back({pair.first, pair.second, reason});
  };
  for (const auto& pair : in_.disabled_) disable(pair.a, pair.b, pair.reason);
  for (std::size_t i = 0; options_.filter_adjacent && i < in_.links_.size(); ++i) {
    if (colliders_of_[i].empty()) continue;
    int above = static_cast<int>(i);
    do
      above = parent_joint_[above] < 0
                  ? -1
                  : in_.link_index(in_.joints_[parent_joint_[above]].parent, "");
    while (above >= 0 && colliders_of_[above].empty());
    if (above >= 0 && model_.frames[frame_of_[i]].body != model_.frames[frame_of_[above]].body)
      disable(above, static_cast<int>(i), "adjacent");
  }
  const int n = static_cast<int>(model_.colliders.size());
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b) {
      const Collider &A = model_.colliders[a], &B = model_.colliders[b];
      if (A.body != B.body && !off.contains(std::minmax(A.frame, B.frame)))
        model_.collision_pairs.emplace_back(a, b);
    }
}

}  // namespace robosim
