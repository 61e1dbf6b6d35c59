// Checks of ModelBuilder on each part, as it is added. The whole is checked and assembled
// in assembly.cpp.
#include "model/builder.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/assembly.h"
#include "model/joint_layout.h"

namespace robosim {

namespace {

void require(bool ok, const std::string& text) {
  if (!ok) throw InputError(text);
}

// Rotations may be rounded: up to 1e-6 from orthonormal is accepted.
void check_pose(const SE3d& X, const std::string& what) {
  double fault = std::abs(dot(cross(X.R.row[0], X.R.row[1]), X.R.row[2]) - 1);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      fault = std::max(fault, std::abs(dot(X.R.row[i], X.R.row[j]) - (i == j ? 1.0 : 0.0)));
  require(std::isfinite(squared_norm(X.p)), what + ": the translation is not finite");
  require(fault < 1e-6,
          message(what, ": the rotation is not a right-handed orthonormal matrix (off by ", fault,
                  ")"));
}

// Expand `values` to n entries; `fallback` if there are none.
void expand(std::vector<double>& values, int n, double fallback, const std::string& what) {
  const std::size_t size = static_cast<std::size_t>(n);
  if (values.empty()) values.assign(size, fallback);
  if (values.size() == 1) values.assign(size, values[0]);
  require(values.size() == size, message(what, " has ", values.size(),
                                         " numbers; this joint needs ", n, " (or one for all)"));
}

void check_magnitudes(const std::vector<double>& values, const std::string& what) {
  for (double value : values)
    require(value >= 0, message(what, " is ", value, "; it must not be negative"));
}

void check_limits(JointSpec& joint, const JointLayout& layout, const std::string& what) {
  constexpr double none = std::numeric_limits<double>::infinity();
  if (joint.kind == "continuous" && !(joint.lower.empty() && joint.upper.empty()))
    throw InputError(what + ": a continuous joint has no position limits; make it revolute");
  expand(joint.lower, layout.n_q, -none, what + ": lower limit");
  expand(joint.upper, layout.n_q, none, what + ": upper limit");
  for (std::size_t i = 0; i < joint.lower.size(); ++i)
    require(joint.lower[i] <= joint.upper[i] && joint.lower[i] < none && joint.upper[i] > -none,
            message(what, ": lower limit ", joint.lower[i], " and upper limit ", joint.upper[i],
                    " leave no position"));
  expand(joint.velocity, layout.n_v, none, what + ": velocity limit");
  expand(joint.effort, layout.n_v, none, what + ": effort limit");
  check_magnitudes(joint.velocity, what + ": velocity limit");
  check_magnitudes(joint.effort, what + ": effort limit");
  if (joint.acceleration.empty())
    for (int k = 0; k < layout.n_v; ++k)
      joint.acceleration.push_back(layout.is_angular(k) ? default_angular_acceleration
                                                        : default_linear_acceleration);
  expand(joint.acceleration, layout.n_v, none, what + ": acceleration limit");
  check_magnitudes(joint.acceleration, what + ": acceleration limit");
}

}  // namespace

std::optional<JointType> moving_type(const std::string& kind) {
  if (kind == "fixed") return {};
  if (kind == "continuous") return JointType::revolute;
  for (const JointType type : joint_types)
    if (kind == joint_layout(type).name) return type;
  throw InputError("unknown joint kind '" + kind + "'; valid are " + joined(joint_kinds()));
}

std::vector<std::string> joint_kinds() {
  std::vector<std::string> kinds{"fixed", "continuous"};
  for (const JointType type : joint_types) kinds.push_back(joint_layout(type).name);
  return kinds;
}

std::vector<std::string> one_position_kinds() {
  std::vector<std::string> kinds = joint_kinds();
  std::erase_if(kinds, [](const std::string& kind) {
    const std::optional<JointType> type = moving_type(kind);
    return !type || joint_layout(*type).n_q != 1;
  });
  return kinds;
}

ModelBuilder::ModelBuilder(std::string name, bool floating_base)
    : name_(std::move(name)), floating_base_(floating_base) {
  require(!name_.empty(), "a model needs a name");
}

int ModelBuilder::link_index(const std::string& name, const std::string& asker) const {
  const auto found = link_of_.find(name);
  if (found == link_of_.end()) throw InputError(asker + ": there is no link '" + name + "'");
  return found->second;
}

void ModelBuilder::add_link(const std::string& name, const Inertia& inertia) {
  require(!name.empty(), "a link needs a name");
  require(!link_of_.contains(name), "link '" + name + "' exists already");
  const std::string fault = inertia_fault(inertia);
  require(fault.empty(), "link '" + name + "': " + fault);
  link_of_.emplace(name, static_cast<int>(links_.size()));
  links_.push_back({name, inertia});
}

void ModelBuilder::add_joint(JointSpec spec) {
  const std::string what = "joint '" + spec.name + "'";
  require(!spec.name.empty(), "a joint needs a name");
  require(!joint_of_.contains(spec.name), what + " exists already");
  require(spec.parent != spec.child,
          what + ": parent and child are both link '" + spec.parent + "'");
  // Geometry.
  check_pose(spec.X_PJ, what + ": origin");
  const std::optional<JointType> type = moving_type(spec.kind);
  const JointLayout layout = type ? joint_layout(*type) : JointLayout{};
  if (layout.has_axis) {
    const double length = norm(spec.axis);
    require(std::isfinite(length) && length > 1e-6,
            message(what, ": axis (", spec.axis.x, ", ", spec.axis.y, ", ", spec.axis.z,
                    ") has no direction"));
    spec.axis *= 1 / length;
  }
  require(!spec.pitch || layout.has_pitch, what + ": a " + spec.kind + " joint has no pitch");
  require(spec.pitch || !layout.has_pitch, what + ": a " + spec.kind + " joint needs a pitch");
  require(std::isfinite(spec.pitch.value_or(0)),
          message(what, ": pitch is ", spec.pitch.value_or(0), "; it must be finite"));
  // Limits, passive forces and armature.
  if (type) check_limits(spec, layout, what);
  const std::pair<double, const char*> magnitudes[] = {
      {spec.damping, "damping"},
      {spec.friction, "friction"},
      {spec.stiffness, "stiffness"},
      {spec.armature, "armature"},
      {spec.rotor_inertia, "rotor inertia"},
      {spec.gear_ratio * spec.gear_ratio, "squared gear ratio"}};
  for (const auto& [value, label] : magnitudes)
    require(value >= 0 && std::isfinite(value),
            message(what, ": ", label, " is ", value, "; it must be a number >= 0"));
  require(spec.friction_width > 0 && std::isfinite(spec.friction_width),
          message(what, ": friction width is ", spec.friction_width, "; it must be a number > 0"));
  require(std::isfinite(spec.spring_reference),
          message(what, ": spring reference is ", spec.spring_reference, "; it must be finite"));
  require((spec.stiffness == 0 && spec.spring_reference == 0) || layout.n_q == 1,
          what + ": a " + spec.kind + " joint has no spring; " + joined(one_position_kinds()) +
              " ones can");
  // Mimic joints.
  if (spec.mimic) {
    require(layout.n_q == 1, what + ": a " + spec.kind + " joint cannot mimic another; " +
                                 joined(one_position_kinds()) + " ones can");
    require(std::isfinite(spec.mimic->ratio) && std::isfinite(spec.mimic->offset),
            what + ": mimic multiplier and offset must be finite");
  }
  joint_of_.emplace(spec.name, static_cast<int>(joints_.size()));
  joints_.push_back(std::move(spec));
}

void ModelBuilder::add_collider(const std::string& link, const CollisionGeometry& geometry,
                                const SE3d& X_LC, const std::string& name) {
  const int index = link_index(link, "collider");
  check_pose(X_LC, "collider of link '" + link + "': pose");
  int number = 0;
  for (const ColliderSpec& other : colliders_) number += other.link == index;
  const std::string full = link + "/" + (name.empty() ? std::to_string(number) : name);
  for (const ColliderSpec& other : colliders_)
    require(other.name != full, "collider '" + full + "' exists already");
  colliders_.push_back({index, full, X_LC, geometry});
}

void ModelBuilder::disable_collision(const std::string& link_a, const std::string& link_b,
                                     const std::string& reason) {
  const std::string what = "disabled collision of '" + link_a + "' and '" + link_b + "'";
  disabled_.push_back({link_index(link_a, what), link_index(link_b, what), reason});
}

Model ModelBuilder::build(const BuildOptions& options) const {
  return ModelAssembly(*this, options).run();
}

}  // namespace robosim
