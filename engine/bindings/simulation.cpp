// Time steps of a world with contact.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "bindings/bound_simulation.h"
#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "bindings/step_details.h"
#include "bindings/step_gradients.h"
#include "step/parameters.h"
#include "step/step_signature.h"

namespace py = pybind11;

namespace robosim {
namespace {

FrameClosure frame_closure(const std::string& name, int body_a, const py::object& X_AF, int body_b,
                           const py::object& X_BG, const std::array<bool, 3>& held, bool is_weld) {
  FrameClosure c{name,
                 body_a,
                 body_b,
                 rigid(X_AF, (name + ": the first pose").c_str()),
                 rigid(X_BG, (name + ": the second pose").c_str()),
                 {},
                 is_weld};
  std::copy(held.begin(), held.end(), c.is_held);
  return c;
}

JointEquality joint_equality(const std::string& name, int of, int joint,
                             const std::array<double, JointEquality::terms>& coefficients) {
  JointEquality c{name, of, joint, {}};
  std::copy(coefficients.begin(), coefficients.end(), c.coefficients);
  return c;
}

std::unique_ptr<BoundSimulation> make_simulation(
    BoundScene& scene, const py::handle& materials, const py::handle& motors,
    const std::vector<FrameClosure>& closures, const std::vector<JointEquality>& equalities,
    double dt, const std::string& solver, const std::string& integrator, int sweeps, double erp,
    double recovery_speed, double margin, double limit_margin, bool speed_limits,
    double restitution_threshold, const std::string& bounce,
    const std::string& complementarity_aware, int substeps) {
  const Array m = sized(materials, {-1, 6}, "materials"),
              d = real_array(motors, {scene.scene.model().n_v, 3}, "motors", false);
  std::vector<PairMaterial> pairs;
  for (const double* x = m.data(); x < m.data() + m.size(); x += 6)
    pairs.push_back({x[0], x[1], x[2], x[3], x[4], x[5]});
  std::vector<Motor> all;
  for (const double* x = d.data(); x < d.data() + d.size(); x += 3)
    all.push_back({x[0], x[1], x[2]});
  StepOptions options;
  options.solver = SolverId::named("solver", solver);
  options.integrator = IntegratorId::named("integrator", integrator);
  options.bounce = BounceId::named("bounce", bounce);
  options.complementarity_aware =
      ComplementarityAwareId::named("complementarity_aware", complementarity_aware);
  options.dt = dt;
  options.solver_options.sweeps = sweeps;
  options.erp = erp;
  options.recovery_speed = recovery_speed;
  options.margin = margin;
  options.limit_margin = limit_margin;
  options.speed_limits = speed_limits;
  options.restitution_threshold = restitution_threshold;
  return std::make_unique<BoundSimulation>(scene, std::move(pairs), std::move(all),
                                           Closures{closures, equalities}, options, substeps);
}

std::tuple<StateArrays, BoundReport> step(BoundSimulation& s, const StateObjects& state,
                                          const ControlObjects& control) {
  const Model& model = s.model();
  const BoundStates from = BoundStates::configurations(model, state);
  const Drive drive(model, control);
  BoundStates next = BoundStates::room(StateLayout::of(model));
  RolloutReport report;
  SimulatorPool::Borrowed(s.pool(), 1)->step(from.view(), drive.view(), next.span(), report);
  return {next.arrays(), BoundReport(report, s.options().solver)};
}

// A completed step, together with its simulation, which stays alive as long as the step.
class BoundStep {
 public:
  BoundStep(BoundSimulation& s, const StateObjects& state, const ControlObjects& control)
      : simulation_(s),
        step_(s.pool(), BoundStates::configurations(s.model(), state).view(),
              Drive(s.model(), control).view()) {}

  BoundReport report() const { return {step_.report(), simulation_.options().solver}; }
  StateArrays state() {
    const StateLayout layout = StateLayout::of(simulation_.model());
    BoundStates out = BoundStates::room(layout);
    copy(step_.end(), layout, out.span());
    return out.arrays();
  }

  // Everything that acted in the step.
  StepDetails details() {
    return step_.with_stepper([&](const Stepper& stepper) {
      return StepDetails(simulation_.scene(), stepper, step_.report().islands);
    });
  }
  py::bytes signature() {
    const std::vector<int> numbers = step_.with_stepper([&](const Stepper& s) {
      return step_signature(s, step_.report().islands, step_.report().status);
    });
    return py::bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int));
  }

  GradientArrays vjp(const StateObjects& bar) {
    const BoundStates next_bar = BoundStates::tangents(simulation_.model(), bar);
    StepGradient g;
    step_.vjp(next_bar.view(), g);
    return {simulation_.world(), g};
  }
  std::tuple<StateArrays, int> jvp(const py::dict& direction) {
    const StepGradient d = direction_of(simulation_.world(), direction);
    BoundStates next = BoundStates::room(StateLayout::tangent(simulation_.model()));
    const OneSided one_sided = step_.jvp(d, next.span());
    return {next.arrays(), static_cast<int>(one_sided)};
  }
  // Hessian-vector product, and an estimate of its error.
  std::tuple<GradientArrays, GradientArrays> hvp(const StateObjects& bar,
                                                 const py::dict& direction) {
    const BoundStates next_bar = BoundStates::tangents(simulation_.model(), bar);
    const StepGradient d = direction_of(simulation_.world(), direction);
    StepGradient product, error;
    step_.hvp(next_bar.view(), d, product, error);
    return {GradientArrays(simulation_.world(), product),
            GradientArrays(simulation_.world(), error)};
  }
  std::unique_ptr<JacobianArrays> jacobians(const std::array<bool, 5>& by,
                                            const std::optional<SelectionTuple>& parameters) {
    auto j = std::make_unique<JacobianArrays>(simulation_.world(), Shape2{}, by, parameters);
    *j->one_sided() = step_.jacobians(j->blocks);
    return j;
  }

 private:
  BoundSimulation& simulation_;
  TakenStep step_;
};

// Values of all parameters, and of vertices (n, 3).
std::tuple<Array, Array> values(const BoundSimulation& s) {
  const ParameterValues values =
      parameter_values(WorldParts(s.world(), s.options().dt), s.world().parameters());
  Array numbers(Shape2{static_cast<py::ssize_t>(values.numbers.size())}),
      vertices(Shape2{static_cast<py::ssize_t>(values.vertices.size() / 3), 3});
  std::copy(values.numbers.begin(), values.numbers.end(), numbers.mutable_data());
  std::copy(values.vertices.begin(), values.vertices.end(), vertices.mutable_data());
  return {numbers, vertices};
}

// Copy a simulation with other values of its parameters. Returns simulation, scene and model; scene
// and model are the given ones if no value requires others. Each keeps the next alive.
std::tuple<py::object, py::object, py::object> with_values(
    const BoundSimulation& s, const py::object& scene, const py::object& model,
    const py::handle& numbers, const py::handle& vertices, const std::optional<int>& substeps) {
  const World& world = s.world();
  const ParameterLayout& layout = world.parameters();
  const Array given = real_array(numbers, {layout.size()}, "parameters", false),
              corners = real_array(vertices, {world.vertices().size(), 3}, "vertices");
  WorldParts parts(world, s.options().dt);
  const bool is_other = set_parameter_values(parts, layout,
                                             {{given.data(), given.data() + given.size()},
                                              {corners.data(), corners.data() + corners.size()}});
  py::object its_model = model, its_scene = scene;
  if (is_other) {
    its_model = py::cast(std::make_shared<Model>(std::move(parts.model)));
    its_scene = py::cast(new BoundScene(its_model.cast<const Model&>(), std::move(parts.extras),
                                        std::move(parts.pairs), {}),
                         py::return_value_policy::take_ownership);
    py::detail::keep_alive_impl(its_scene, its_model);
  }
  StepOptions options = s.options();
  options.dt = parts.dt;
  auto other = std::make_unique<BoundSimulation>(
      its_scene.cast<BoundScene&>(), std::move(parts.materials), std::move(parts.motors),
      std::move(parts.closures), options, substeps.value_or(s.pool().substeps()));
  py::object simulation = py::cast(other.release(), py::return_value_policy::take_ownership);
  py::detail::keep_alive_impl(simulation, its_scene);
  return {simulation, its_scene, its_model};
}

// A shape with vertices: its object, and the row of its first vertex.
struct MeshOfSimulation {
  int object;
  std::string name;
  int first_row;
  Shape shape;
};
std::vector<MeshOfSimulation> meshes(const BoundSimulation& s) {
  std::vector<MeshOfSimulation> out;
  for (const VertexRows::Mesh& x : s.world().vertices().meshes())
    s.scene().scene.object(x.object).geometry.body().with_piece(
        x.piece, [&](const Compound::Piece& piece) {
          out.push_back({.object = x.object,
                         .name = s.scene().name(x.object),
                         .first_row = x.first,
                         .shape = piece.shape});
        });
  return out;
}

void bind_parts(py::module_& m) {
  py::class_<FrameClosure>(m, "FrameClosure",
                           "Frame F of one body and frame G of another that stay together; see "
                           "robosim.world.PointClosure and Weld.")
      .def(py::init(&frame_closure), py::kw_only(), py::arg("name"), py::arg("body_a"),
           py::arg("X_AF"), py::arg("body_b"), py::arg("X_BG"), py::arg("held"),
           py::arg("is_weld"));
  py::class_<JointEquality>(
      m, "JointEquality",
      "A law between joints, by their entries of v; see robosim.world.JointEquality.")
      .def(py::init(&joint_equality), py::kw_only(), py::arg("name"), py::arg("of"),
           py::arg("joint"), py::arg("coefficients"));
  py::class_<MeshOfSimulation>(m, "MeshOfSimulation",
                               "A shape with vertices; see robosim.simulation.MeshRows.")
      .def_readonly("object", &MeshOfSimulation::object)
      .def_readonly("name", &MeshOfSimulation::name)
      .def_readonly("first_row", &MeshOfSimulation::first_row)
      .def_readonly("shape", &MeshOfSimulation::shape);
  py::class_<JacobianArrays>(m, "JacobianArrays", "See robosim.simulation.Jacobians.")
      .def_readonly("q", &JacobianArrays::q)
      .def_readonly("v", &JacobianArrays::v)
      .def_readonly("tau", &JacobianArrays::tau)
      .def_readonly("q_target", &JacobianArrays::q_target)
      .def_readonly("v_target", &JacobianArrays::v_target)
      .def_readonly("parameters", &JacobianArrays::parameters)
      .def_readonly("causes", &JacobianArrays::causes);
  bind_parameter_kinds(m);
  bind_step_details(m);
}

void bind_report(py::module_& m) {
  py::class_<BoundReport> report(m, "StepReport",
                                 "How a step was solved; see robosim.simulation.StepReport.");
  const auto field = [&](const char* name, auto member) {
    report.def_property_readonly(name, [member](const BoundReport& r) { return r.report.*member; });
  };
  report.def_property_readonly(
      "status", [](const BoundReport& r) { return static_cast<int>(r.report.status); });
  field("residual", &RolloutReport::residual);
  field("contacts", &RolloutReport::contacts);
  field("rows", &RolloutReport::rows);
  field("islands", &RolloutReport::islands);
  field("class_changes", &RolloutReport::class_changes);
  field("pivots", &RolloutReport::pivots);
  field("coupled_bounces", &RolloutReport::coupled_bounces);
  field("untimed_bounces", &RolloutReport::untimed_bounces);
  report.def_property_readonly("attempt", [](const BoundReport& r) { return r.attempt; });
}

}  // namespace

void bind_simulation(py::module_& m) {
  const auto names = [](const auto& list) {
    std::vector<std::string> out;
    for (const auto& kind : list) out.emplace_back(kind.name);
    return py::list(py::cast(out));
  };
  m.attr("row_solvers") = names(row_solvers);
  m.attr("integrators") = names(integrators);
  m.attr("bounces") = names(bounces);
  m.attr("complementarity_aware_kinds") = names(complementarity_aware_kinds);
  m.attr("one_sided_causes") = names(one_sided_causes);
  bind_report(m);
  bind_parts(m);
  py::class_<GradientArrays> gradient(m, "GradientArrays", "See robosim.simulation.StepGradient.");
  gradient.def_readonly("q", &GradientArrays::q).def_readonly("v", &GradientArrays::v);
  gradient.def_readonly("tau", &GradientArrays::tau)
      .def_readonly("q_target", &GradientArrays::q_target)
      .def_readonly("v_target", &GradientArrays::v_target);
  gradient.def_readonly("parameters", &GradientArrays::parameters)
      .def_readonly("vertices", &GradientArrays::vertices)
      .def_readonly("causes", &GradientArrays::causes);
  const char* about_drive =
      "A state is (q, v), a control (tau, q_target, v_target), each None or an array; see "
      "robosim.simulation.State and Control.";
  py::class_<BoundStep> taken(
      m, "TakenStep",
      "A step that was taken, with its derivatives; see robosim.simulation.Linearization.");
  py::class_<BoundSimulation> simulation(
      m, "Simulation", "Time steps of a scene with materials and motors; see robosim.simulation.");
  simulation
      .def(py::init(&make_simulation), py::arg("scene"), py::arg("materials"), py::arg("motors"),
           py::arg("closures"), py::arg("equalities"), py::arg("dt"), py::arg("solver"),
           py::arg("integrator"), py::arg("sweeps"), py::arg("erp"), py::arg("recovery_speed"),
           py::arg("margin"), py::arg("limit_margin"), py::arg("speed_limits"),
           py::arg("restitution_threshold"), py::arg("bounce"), py::arg("complementarity_aware"),
           py::arg("substeps"), py::keep_alive<1, 2>())
      .def_property_readonly("meshes", &meshes)
      .def_property_readonly(
          "parameter_kinds",
          [](const BoundSimulation& s) { return bound_parameter_kinds(s.world()); })
      .def("parameter_values", &values, "Numbers of all parameters, and of vertices (n, 3).")
      .def("with_parameter_values", &with_values, py::arg("scene"), py::arg("model"),
           py::arg("numbers"), py::arg("vertices"), py::arg("substeps") = py::none(),
           "The same with other values: simulation, scene and model, those that are given where "
           "these have not changed.")
      .def("step", &step, py::arg("state"), py::arg("control"), about_drive)
      .def(
          "take",
          [](BoundSimulation& s, const StateObjects& state, const ControlObjects& control) {
            return std::make_unique<BoundStep>(s, state, control);
          },
          py::arg("state"), py::arg("control"), py::keep_alive<0, 1>(), about_drive);
  taken.def_property_readonly("state", &BoundStep::state, "(q, v) at its end.")
      .def_property_readonly("report", &BoundStep::report)
      .def_property_readonly("details", &BoundStep::details, "All that acted in it.")
      .def_property_readonly("signature", &BoundStep::signature)
      .def("vjp", &BoundStep::vjp, py::arg("next_bar"))
      .def("jvp", &BoundStep::jvp, py::arg("direction"))
      .def("hvp", &BoundStep::hvp, py::arg("next_bar"), py::arg("direction"))
      .def("jacobians", &BoundStep::jacobians, py::arg("by"), py::arg("parameters") = py::none());
  bind_rollouts(m, simulation);
}

}  // namespace robosim
