// Model and its builder.
#include "model/model.h"

#include <cmath>

#include <pybind11/stl.h>

#include <algorithm>
#include <set>
#include <utility>

#include "bindings/arrays.h"
#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "model/builder.h"
#include "model/joint_layout.h"
#include "model/structure.h"
#include "model/usable.h"

namespace py = pybind11;

namespace robosim {

namespace {

using Values = std::vector<double>;

std::vector<std::string> coordinate_names(const Model& model, bool of_q) {
  std::vector<std::string> names;
  for (const Joint& joint : model.joints) {
    if (joint.n_q == 0 || joint.mimic) continue;
    const JointLayout layout = joint_layout(joint.type);
    for (int k = 0; k < (of_q ? layout.n_q : layout.n_v); ++k) {
      const std::string suffix = (of_q ? layout.q_names : layout.v_names)[k];
      names.push_back(suffix.empty() ? joint.name : joint.name + "/" + suffix);
    }
  }
  return names;
}

// Quantity that each entry of q measures.
std::vector<std::string> coordinate_kinds(const Model& model) {
  std::vector<std::string> kinds;
  for (int k = 0; k < model.n_q; ++k) switch (coordinate_of(model, k)) {
      case Coordinate::length:
        kinds.push_back("length");
        break;
      case Coordinate::angle:
        kinds.push_back("angle");
        break;
      case Coordinate::periodic_angle:
        kinds.push_back("periodic angle");
        break;
      case Coordinate::quaternion:
        kinds.push_back("quaternion");
        break;
    }
  return kinds;
}

void bind_parts(py::module_& m) {
  py::class_<Joint>(m, "Joint", "The moving joint that carries the body of the same number.")
      .def_readonly("name", &Joint::name)
      .def_readonly("parent", &Joint::parent, "Body index of the parent.")
      .def_property_readonly("X_PJ", [](const Joint& j) { return pose_array(j.X_PJ); })
      .def_property_readonly("axis", [](const Joint& j) { return vec3_array(j.axis); })
      .def_readonly("pitch", &Joint::pitch)
      .def_readonly("q_index", &Joint::q_index)
      .def_readonly("n_q", &Joint::n_q)
      .def_readonly("v_index", &Joint::v_index)
      .def_readonly("n_v", &Joint::n_v)
      .def_readonly("continuous", &Joint::continuous)
      .def_readonly("mimic", &Joint::mimic)
      .def_readonly("ratio", &Joint::ratio)
      .def_readonly("offset", &Joint::offset);
  py::class_<Frame>(m, "Frame", "A link: the body that carries it and where.")
      .def_readonly("name", &Frame::name)
      .def_readonly("body", &Frame::body)
      .def_property_readonly("X_BF", [](const Frame& f) { return pose_array(f.X_BF); });
  py::class_<Collider>(m, "Collider", "A shape fixed to a link.")
      .def_readonly("name", &Collider::name)
      .def_readonly("frame", &Collider::frame)
      .def_readonly("body", &Collider::body)
      .def_property_readonly("X_BC", [](const Collider& c) { return pose_array(c.X_BC); })
      .def_property_readonly("shape", [](const Collider& c) { return body_object(c.geometry); });
  py::class_<Inertia>(m, "Inertia", "Mass, center of mass and inertia about it.")
      .def_readonly("mass", &Inertia::mass)
      .def_property_readonly("com", [](const Inertia& i) { return vec3_array(i.com); })
      .def_property_readonly("I_com", [](const Inertia& i) { return mat3_array(i.I_com); });
}

Values numbers(const py::handle& value, int n, const char* name) {
  const Array array = real_array(value, {n}, name, false);
  return Values(array.data(), array.data() + n);
}

// Copy `model` with these limits.
Model with_limits(const Model& model, const py::object& lower, const py::object& upper,
                  const py::object& velocity, const py::object& acceleration,
                  const py::object& effort) {
  Model copy = model;
  copy.limits = {numbers(lower, model.n_q, "lower"), numbers(upper, model.n_q, "upper"),
                 numbers(velocity, model.n_v, "velocity"),
                 numbers(acceleration, model.n_v, "acceleration"),
                 numbers(effort, model.n_v, "effort")};
  return copy;
}

Model with_joint_forces(const Model& model, const py::object& damping, const py::object& friction,
                        const py::object& friction_width) {
  Model copy = model;
  copy.damping = numbers(damping, model.n_v, "damping");
  copy.friction = numbers(friction, model.n_v, "friction");
  copy.friction_width = numbers(friction_width, model.n_v, "friction_width");
  check_usable(copy);
  return copy;
}

Model with_springs(const Model& model, const py::object& stiffness, const py::object& reference,
                   double rest_energy) {
  if (!std::isfinite(rest_energy))
    throw InputError(message("rest energy of the springs is ", rest_energy, "; it must be finite"));
  Model copy = model;
  copy.stiffness = numbers(stiffness, model.n_v, "stiffness");
  copy.spring_reference = numbers(reference, model.n_v, "reference");
  copy.spring_rest_energy = rest_energy;
  for (const Joint& joint : model.joints)
    for (int k = joint.v_index; joint.n_q != 1 && k < joint.v_index + joint.n_v; ++k)
      if (copy.stiffness[k] != 0 || copy.spring_reference[k] != 0)
        throw InputError(
            message("joint '", joint.name, "' has not one position and so has no spring"));
  check_usable(copy);
  return copy;
}

Model with_armature(const Model& model, const py::object& armature) {
  Model copy = model;
  copy.armature = numbers(armature, model.n_v, "armature");
  copy.massless = massless_joints(copy);
  check_usable(copy);
  return copy;
}

Model with_collision_pairs(const Model& model, const std::vector<std::pair<int, int>>& pairs) {
  const int n = static_cast<int>(model.colliders.size());
  Model copy = model;
  copy.collision_pairs.clear();
  for (const auto& [a, b] : pairs) {
    if (std::min(a, b) < 0 || std::max(a, b) >= n || a == b)
      throw InputError(
          message("collision pair (", a, ", ", b, ") does not name two of the ", n, " colliders"));
    copy.collision_pairs.emplace_back(std::min(a, b), std::max(a, b));
  }
  return copy;
}

// Copy `model` without the collision pairs of these links. Each entry is (frame, frame, reason).
Model with_disabled_collisions(const Model& model,
                               const std::vector<std::tuple<int, int, std::string>>& disabled) {
  Model copy = model;
  std::set<std::pair<int, int>> links;
  for (const auto& [a, b, reason] : disabled) {
    const auto [first, second] = std::minmax(a, b);
    copy.disabled_collisions.push_back({first, second, reason});
    links.emplace(first, second);
  }
  std::erase_if(copy.collision_pairs, [&](const auto& pair) {
    return links.contains(
        std::minmax(model.colliders[pair.first].frame, model.colliders[pair.second].frame));
  });
  return copy;
}

Model with_gravity(const Model& model, const py::object& gravity) {
  Model copy = model;
  copy.gravity = read_vec3(gravity, "gravity");
  return copy;
}

py::array_t<int> pair_array(const Model& model) {
  py::array_t<int> out({static_cast<py::ssize_t>(model.collision_pairs.size()), py::ssize_t{2}});
  int* to = out.mutable_data();
  for (const auto& [a, b] : model.collision_pairs) *to++ = a, *to++ = b;
  return out;
}

void bind_builder(py::module_& m) {
  py::class_<ExactBody, std::shared_ptr<ExactBody>>(
      m, "ExactBody",
      "What convex shapes stand for: a body within them, or of which each holds a part.")
      .def(py::init([](const std::shared_ptr<Compound>& body) {
             if (!body) throw InputError("an exact body needs a body");
             return std::make_shared<ExactBody>(body);
           }),
           py::arg("body"))
      .def_property_readonly("is_open", &ExactBody::is_open)
      .def(
          "holds",
          [](const ExactBody& b, const py::object& p) { return b.holds(read_vec3(p, "p")); },
          py::arg("p"));
  py::class_<ModelBuilder>(m, "ModelBuilder", "Puts links and joints together to a Model.")
      .def(py::init<std::string, bool>(), py::arg("name"), py::arg("floating_base"))
      .def(
          "add_link",
          [](ModelBuilder& b, const std::string& name, double mass, const py::object& com,
             const py::object& inertia) {
            b.add_link(name, {mass, read_vec3(com, "com"), read_mat3(inertia, "inertia")});
          },
          py::arg("name"), py::arg("mass"), py::arg("com"), py::arg("inertia"))
      .def(
          "add_joint",
          [](ModelBuilder& b, const std::string& name, const std::string& kind,
             const std::string& parent, const std::string& child, const py::object& X_PJ,
             const py::object& axis, std::optional<double> pitch, const Values& lower,
             const Values& upper, const Values& velocity, const Values& acceleration,
             const Values& effort, double damping, double friction, double friction_width,
             double stiffness, double spring_reference, double armature, double rotor_inertia,
             double gear_ratio,
             const std::optional<std::tuple<std::string, double, double>>& mimic) {
            JointSpec spec;
            spec.name = name;
            spec.kind = kind;
            spec.parent = parent;
            spec.child = child;
            spec.X_PJ = read_pose(X_PJ, "X_PJ");
            spec.axis = read_vec3(axis, "axis");
            spec.pitch = pitch;
            spec.lower = lower;
            spec.upper = upper;
            spec.velocity = velocity;
            spec.acceleration = acceleration;
            spec.effort = effort;
            spec.damping = damping;
            spec.friction = friction;
            spec.friction_width = friction_width;
            spec.stiffness = stiffness;
            spec.spring_reference = spring_reference;
            spec.armature = armature;
            spec.rotor_inertia = rotor_inertia;
            spec.gear_ratio = gear_ratio;
            if (mimic)
              spec.mimic = MimicSpec{std::get<0>(*mimic), std::get<1>(*mimic), std::get<2>(*mimic)};
            b.add_joint(std::move(spec));
          },
          py::arg("name"), py::arg("kind"), py::arg("parent"), py::arg("child"), py::arg("X_PJ"),
          py::arg("axis"), py::arg("pitch"), py::arg("lower"), py::arg("upper"),
          py::arg("velocity"), py::arg("acceleration"), py::arg("effort"), py::arg("damping"),
          py::arg("friction"), py::arg("friction_width"), py::arg("stiffness"),
          py::arg("spring_reference"), py::arg("armature"), py::arg("rotor_inertia"),
          py::arg("gear_ratio"), py::arg("mimic"))
      .def(
          "add_collider",
          [](ModelBuilder& b, const std::string& link, const AnyBody& shape, const py::object& X_LC,
             const std::string& name, const std::shared_ptr<ExactBody>& exact) {
            CollisionGeometry geometry = geometry_of(shape, "shape");
            if (exact && geometry.compound)
              throw InputError("collider of link '" + link +
                               "': only a convex shape stands for an exact body");
            if (exact) geometry = CollisionGeometry(geometry.shape, exact);
            b.add_collider(link, geometry, read_pose(X_LC, "X_LC"), name);
          },
          py::arg("link"), py::arg("shape"), py::arg("X_LC"), py::arg("name"),
          py::arg("exact") = nullptr)
      .def("disable_collision", &ModelBuilder::disable_collision, py::arg("link_a"),
           py::arg("link_b"), py::arg("reason"))
      .def(
          "build",
          [](const ModelBuilder& b, bool allow_massless, bool filter_adjacent) {
            return b.build({allow_massless, filter_adjacent});
          },
          py::arg("allow_massless"), py::arg("filter_adjacent"));
}

}  // namespace

// Translate InputError into robosim.errors.ModelError.
void translate_input_error(std::exception_ptr error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const InputError& e) {
    py::set_error(py::module_::import("robosim.errors").attr("ModelError"), e.what());
  }
}

void bind_model(py::module_& m) {
  py::register_exception_translator(&translate_input_error);
  m.attr("joint_kinds") = py::tuple(py::cast(joint_kinds()));
  m.attr("default_friction_width") = default_friction_width;
  m.attr("default_angular_acceleration") = default_angular_acceleration;
  m.attr("default_linear_acceleration") = default_linear_acceleration;
  bind_parts(m);
  py::class_<Model, std::shared_ptr<Model>>(m, "Model",
                                            "An articulated mechanism, immutable once built.")
      .def_readonly("name", &Model::name)
      .def_readonly("n_q", &Model::n_q)
      .def_readonly("n_v", &Model::n_v)
      .def_property_readonly("n_bodies", &Model::n_bodies)
      .def_readonly("joints", &Model::joints)
      .def_readonly("inertias", &Model::inertias)
      .def_readonly("frames", &Model::frames)
      .def_readonly("colliders", &Model::colliders)
      .def_property_readonly("collision_pairs", &pair_array)
      .def_property_readonly("disabled_collisions",
                             [](const Model& model) {
                               std::vector<std::tuple<std::string, std::string, std::string>> out;
                               for (const auto& pair : model.disabled_collisions)
                                 out.emplace_back(model.frames[pair.frame_a].name,
                                                  model.frames[pair.frame_b].name, pair.reason);
                               return out;
                             })
      .def_property_readonly("q_names",
                             [](const Model& model) { return coordinate_names(model, true); })
      .def_property_readonly("q_kinds", &coordinate_kinds)
      .def_property_readonly("v_names",
                             [](const Model& model) { return coordinate_names(model, false); })
      .def_property_readonly("lower",
                             [](const Model& model) { return vector_array(model.limits.q_lower); })
      .def_property_readonly("upper",
                             [](const Model& model) { return vector_array(model.limits.q_upper); })
      .def_property_readonly("velocity",
                             [](const Model& model) { return vector_array(model.limits.velocity); })
      .def_property_readonly(
          "acceleration",
          [](const Model& model) { return vector_array(model.limits.acceleration); })
      .def_property_readonly("effort",
                             [](const Model& model) { return vector_array(model.limits.effort); })
      .def_property_readonly("damping",
                             [](const Model& model) { return vector_array(model.damping); })
      .def_property_readonly("friction",
                             [](const Model& model) { return vector_array(model.friction); })
      .def_property_readonly("friction_width",
                             [](const Model& model) { return vector_array(model.friction_width); })
      .def_property_readonly("stiffness",
                             [](const Model& model) { return vector_array(model.stiffness); })
      .def_property_readonly(
          "spring_reference",
          [](const Model& model) { return vector_array(model.spring_reference); })
      .def_readonly("spring_rest_energy", &Model::spring_rest_energy)
      .def_property_readonly("armature",
                             [](const Model& model) { return vector_array(model.armature); })
      .def_property_readonly("gravity",
                             [](const Model& model) { return vec3_array(model.gravity); })
      .def_readonly("massless", &Model::massless)
      .def_readonly("has_mimic", &Model::has_mimic)
      .def("with_limits", &with_limits, py::arg("lower"), py::arg("upper"), py::arg("velocity"),
           py::arg("acceleration"), py::arg("effort"))
      .def("with_joint_forces", &with_joint_forces, py::arg("damping"), py::arg("friction"),
           py::arg("friction_width"))
      .def("with_springs", &with_springs, py::arg("stiffness"), py::arg("reference"),
           py::arg("rest_energy") = 0.0)
      .def("with_armature", &with_armature, py::arg("armature"))
      .def("with_collision_pairs", &with_collision_pairs, py::arg("pairs"))
      .def("with_disabled_collisions", &with_disabled_collisions, py::arg("disabled"))
      .def("with_gravity", &with_gravity, py::arg("gravity"));
  bind_builder(m);
}

}  // namespace robosim
