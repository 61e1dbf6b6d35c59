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

// Name, body and pose (4, 4) in it of the first and of the second, axes of the first that are held, whether it is a weld.
using FrameClosureTuple = std::tuple<std::string, int, py::object, int, py::object, std::array<bool, 3>, bool>;
// Name, entry of v that is followed (-1: none), entry of v that follows, coefficients.
using JointEqualityTuple = std::tuple<std::string, int, int, std::array<double, JointEquality::terms>>;

Closures closures_from(const std::vector<FrameClosureTuple>& frames, const std::vector<JointEqualityTuple>& equalities) {
  Closures out;
  for (const auto& [name, a, X_AF, b, X_BG, held, is_weld] : frames) {
    FrameClosure& c = out.frames.emplace_back(FrameClosure{name, a, b, rigid(X_AF, (name + ": the first pose").c_str()), rigid(X_BG, (name + ": the second pose").c_str()), {}, is_weld});
    std::copy(held.begin(), held.end(), c.is_held);
  }
  for (const auto& [name, a, b, coefficients] : equalities) {
    JointEquality& c = out.joints.emplace_back(JointEquality{name, a, b, {}});
    std::copy(coefficients.begin(), coefficients.end(), c.coefficients);
  }
  return out;
}

std::unique_ptr<BoundSimulation> make_simulation(BoundScene& scene, const py::handle& materials, const py::handle& motors,
                                                 const std::vector<FrameClosureTuple>& closures, const std::vector<JointEqualityTuple>& equalities, double dt,
                                                 const std::string& solver, const std::string& integrator, int sweeps, double erp, double margin, double limit_margin, bool speed_limits,
                                                 double restitution_threshold, const std::string& bounce, const std::string& complementarity_aware, int substeps) {
  const Array m = sized(materials, {-1, 6}, "materials"), d = real_array(motors, {scene.scene.model().n_v, 3}, "motors", false);
  std::vector<PairMaterial> pairs;
  for (const double* x = m.data(); x < m.data() + m.size(); x += 6) pairs.push_back({x[0], x[1], x[2], x[3], x[4], x[5]});
  std::vector<Motor> all;
  for (const double* x = d.data(); x < d.data() + d.size(); x += 3) all.push_back({x[0], x[1], x[2]});
  StepOptions options;
  options.solver = SolverId::named("solver", solver), options.integrator = IntegratorId::named("integrator", integrator);
  if (bounce == "time_of_impact") options.bounce = Bounce::time_of_impact;
  else if (bounce != "step") throw InputError("bounce is '" + bounce + "'; there are 'step' and 'time_of_impact'");
  if (complementarity_aware == "each") options.complementarity_aware = ComplementarityAware::each;
  else if (complementarity_aware == "together") options.complementarity_aware = ComplementarityAware::together;
  else if (complementarity_aware != "none") throw InputError("complementarity_aware is '" + complementarity_aware + "'; there are 'none', 'each' and 'together'");
  options.dt = dt, options.solver_options.sweeps = sweeps, options.erp = erp, options.margin = margin, options.limit_margin = limit_margin, options.speed_limits = speed_limits;
  options.restitution_threshold = restitution_threshold;
  return std::make_unique<BoundSimulation>(scene, std::move(pairs), std::move(all), closures_from(closures, equalities), options, substeps);
}

std::tuple<StateArrays, BoundReport> step(BoundSimulation& s, const StateObjects& state, const ControlObjects& control) {
  const Model& model = s.model();
  const BoundStates from = BoundStates::configurations(model, state);
  const Drive drive(model, control);
  BoundStates next = BoundStates::room(StateLayout::of(model));
  RolloutReport report;
  SimulatorPool::Borrowed(s.pool(), 1)->step(from.view(), drive.view(), next.span(), report);
  return {next.arrays(), BoundReport(report, s.options().solver)};
}

// A step that was taken, of a simulation that stays alive as long.
class BoundStep {
 public:
  BoundStep(BoundSimulation& s, const StateObjects& state, const ControlObjects& control)
      : simulation_(s), step_(s.pool(), BoundStates::configurations(s.model(), state).view(), Drive(s.model(), control).view()) {}

  BoundReport report() const { return {step_.report(), simulation_.options().solver}; }
  StateArrays state() {
    const StateLayout layout = StateLayout::of(simulation_.model());
    BoundStates out = BoundStates::room(layout);
    copy(step_.end(), layout, out.span());
    return out.arrays();
  }

  // All that acted in it.
  std::tuple<std::vector<ContactTuple>, std::vector<JointTuple>, std::vector<ClosureTuple>, std::vector<IslandTuple>> details() {
    return step_.with_stepper([&](const Stepper& stepper) {
      StepDetailTuples found(simulation_.scene(), stepper, step_.report().islands);
      return std::tuple(std::move(found.contacts), std::move(found.joints), std::move(found.closures), std::move(found.islands));
    });
  }
  py::bytes signature() {
    const std::vector<int> numbers = step_.with_stepper([&](const Stepper& s) { return step_signature(s, step_.report().islands, step_.report().status); });
    return py::bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int));
  }

  GradientArrays vjp(const StateObjects& bar) {
    const BoundStates next_bar = BoundStates::tangents(simulation_.model(), bar);
    StepGradient g;
    step_.vjp(next_bar.view(), g);
    return {simulation_.world(), g};
  }
  std::tuple<StateArrays, bool> jvp(const py::dict& direction) {
    const StepGradient d = direction_of(simulation_.world(), direction);
    BoundStates next = BoundStates::room(StateLayout::tangent(simulation_.model()));
    const bool one_sided = step_.jvp(d, next.span());
    return {next.arrays(), one_sided};
  }
  // The change of the gradient, and about how far off it may be.
  std::tuple<GradientArrays, GradientArrays> hvp(const StateObjects& bar, const py::dict& direction) {
    const BoundStates next_bar = BoundStates::tangents(simulation_.model(), bar);
    const StepGradient d = direction_of(simulation_.world(), direction);
    StepGradient product, error;
    step_.hvp(next_bar.view(), d, product, error);
    return {GradientArrays(simulation_.world(), product), GradientArrays(simulation_.world(), error)};
  }
  // By selected parameters as well; and one_sided.
  std::tuple<Array, Array, Array, Array, Array, Array, bool> jacobians(const std::array<bool, 5>& by, const std::optional<SelectionTuple>& parameters) {
    JacobianArrays j(simulation_.world(), {}, by, parameters);
    const bool one_sided = step_.jacobians(j.blocks);
    return {j.q, j.v, j.tau, j.q_target, j.v_target, j.parameters, one_sided};
  }

 private:
  BoundSimulation& simulation_;
  TakenStep step_;
};

// Numbers of all parameters, and of vertices (n, 3).
std::tuple<Array, Array> values(const BoundSimulation& s) {
  const ParameterValues values = parameter_values(WorldParts(s.world(), s.options().dt), s.world().parameters());
  Array numbers(Shape2{static_cast<py::ssize_t>(values.numbers.size())}), vertices(Shape2{static_cast<py::ssize_t>(values.vertices.size() / 3), 3});
  std::copy(values.numbers.begin(), values.numbers.end(), numbers.mutable_data());
  std::copy(values.vertices.begin(), values.vertices.end(), vertices.mutable_data());
  return {numbers, vertices};
}

// The same with other values: simulation, scene and model, of which the last two may be those that are given. Each keeps the next alive.
std::tuple<py::object, py::object, py::object> with_values(const BoundSimulation& s, const py::object& scene, const py::object& model, const py::handle& numbers,
                                                           const py::handle& vertices, const std::optional<int>& substeps) {
  const World& world = s.world();
  const ParameterLayout& layout = world.parameters();
  const Array given = real_array(numbers, {layout.size()}, "parameters", false), corners = real_array(vertices, {world.vertices().size(), 3}, "vertices");
  WorldParts parts(world, s.options().dt);
  const bool is_other = set_parameter_values(parts, layout, {{given.data(), given.data() + given.size()}, {corners.data(), corners.data() + corners.size()}});
  py::object its_model = model, its_scene = scene;
  if (is_other) {
    its_model = py::cast(std::make_shared<Model>(std::move(parts.model)));
    its_scene = py::cast(new BoundScene(its_model.cast<const Model&>(), std::move(parts.extras), std::move(parts.pairs), {}), py::return_value_policy::take_ownership);
    py::detail::keep_alive_impl(its_scene, its_model);
  }
  StepOptions options = s.options();
  options.dt = parts.dt;
  auto other = std::make_unique<BoundSimulation>(its_scene.cast<BoundScene&>(), std::move(parts.materials), std::move(parts.motors), std::move(parts.closures), options, substeps.value_or(s.pool().substeps()));
  py::object simulation = py::cast(other.release(), py::return_value_policy::take_ownership);
  py::detail::keep_alive_impl(simulation, its_scene);
  return {simulation, its_scene, its_model};
}

// The frames of each closure in its bodies, (2, 4, 4); the coefficients of each equality.
std::tuple<std::vector<Array>, std::vector<std::vector<double>>> closures(const BoundSimulation& s) {
  std::tuple<std::vector<Array>, std::vector<std::vector<double>>> out;
  for (const FrameClosure& c : s.world().closures().frames) {
    Array& frames = std::get<0>(out).emplace_back(Shape2{2, 4, 4});
    const Array poses[] = {pose_array(c.X_AF), pose_array(c.X_BG)};
    for (const int k : {0, 1}) std::copy_n(poses[k].data(), 16, frames.mutable_data() + 16 * k);
  }
  for (const JointEquality& c : s.world().closures().joints) std::get<1>(out).emplace_back(std::begin(c.coefficients), std::end(c.coefficients));
  return out;
}

// Of each shape with vertices: number and name of its object, row of its first vertex, shape.
using MeshTuple = std::tuple<int, std::string, int, Shape>;
std::vector<MeshTuple> meshes(const BoundSimulation& s) {
  std::vector<MeshTuple> out;
  for (const VertexRows::Mesh& x : s.world().vertices().meshes())
    s.scene().scene.object(x.object).geometry.body().with_piece(
        x.piece, [&](const Compound::Piece& piece) { out.emplace_back(x.object, s.scene().name(x.object), x.first, piece.shape); });
  return out;
}

void bind_report(py::module_& m) {
  py::class_<BoundReport> report(m, "StepReport", "How a step was solved; see robosim.simulation.StepReport.");
  const auto field = [&](const char* name, auto member) {
    report.def_property_readonly(name, [member](const BoundReport& r) { return r.report.*member; });
  };
  report.def_property_readonly("status", [](const BoundReport& r) { return static_cast<int>(r.report.status); });
  field("residual", &RolloutReport::residual);
  field("contacts", &RolloutReport::contacts), field("rows", &RolloutReport::rows), field("islands", &RolloutReport::islands);
  field("class_changes", &RolloutReport::class_changes), field("pivots", &RolloutReport::pivots), field("coupled_bounces", &RolloutReport::coupled_bounces);
  report.def_property_readonly("attempt", [](const BoundReport& r) { return r.attempt; });
}

}  // namespace

void bind_simulation(py::module_& m) {
  const auto names = [](const auto& list) {
    std::vector<std::string> out;
    for (const auto& kind : list) out.emplace_back(kind.name);
    return py::list(py::cast(out));
  };
  m.attr("row_solvers") = names(row_solvers), m.attr("integrators") = names(integrators);
  bind_report(m);
  py::class_<GradientArrays> gradient(m, "GradientArrays", "See robosim.simulation.StepGradient.");
  gradient.def_readonly("q", &GradientArrays::q).def_readonly("v", &GradientArrays::v);
  gradient.def_readonly("tau", &GradientArrays::tau).def_readonly("q_target", &GradientArrays::q_target).def_readonly("v_target", &GradientArrays::v_target);
  gradient.def_readonly("parameters", &GradientArrays::parameters).def_readonly("vertices", &GradientArrays::vertices).def_readonly("one_sided", &GradientArrays::one_sided);
  const char* about_drive = "A state is (q, v), a control (tau, q_target, v_target), each None or an array; see robosim.simulation.State and Control.";
  py::class_<BoundStep> taken(m, "TakenStep", "A step that was taken, with its derivatives; see robosim.simulation.Linearization.");
  py::class_<BoundSimulation> simulation(m, "Simulation", "Time steps of a scene with materials and motors; see robosim.simulation.");
  simulation
      .def(py::init(&make_simulation), py::arg("scene"), py::arg("materials"), py::arg("motors"), py::arg("closures"),
           py::arg("equalities"), py::arg("dt"), py::arg("solver"), py::arg("integrator"), py::arg("sweeps"),
           py::arg("erp"), py::arg("margin"), py::arg("limit_margin"), py::arg("speed_limits"), py::arg("restitution_threshold"), py::arg("bounce"),
           py::arg("complementarity_aware"), py::arg("substeps"), py::keep_alive<1, 2>())
      .def_property_readonly("meshes", &meshes, "Number and name of the object, first row in a gradient, shape: of each that has vertices.")
      .def_property_readonly("parameter_kinds", [](const BoundSimulation& s) { return parameter_kind_tuples(s.world()); }, "See ParameterKindTuple.")
      .def_property_readonly("closures", &closures, "Frames of closures in their bodies, (2, 4, 4) each; coefficients of equalities.")
      .def("parameter_values", &values, "Numbers of all parameters, and of vertices (n, 3).")
      .def("with_parameter_values", &with_values, py::arg("scene"), py::arg("model"), py::arg("numbers"), py::arg("vertices"), py::arg("substeps") = py::none(),
           "The same with other values: simulation, scene and model, those that are given where these have not changed.")
      .def("step", &step, py::arg("state"), py::arg("control"), about_drive)
      .def("take", [](BoundSimulation& s, const StateObjects& state, const ControlObjects& control) { return std::make_unique<BoundStep>(s, state, control); },
           py::arg("state"), py::arg("control"), py::keep_alive<0, 1>(), about_drive);
  taken.def_property_readonly("state", &BoundStep::state, "(q, v) at its end.")
      .def_property_readonly("report", &BoundStep::report)
      .def_property_readonly("details", &BoundStep::details, "Contacts, joint forces, closures and islands.")
      .def_property_readonly("signature", &BoundStep::signature)
      .def("vjp", &BoundStep::vjp, py::arg("next_bar"))
      .def("jvp", &BoundStep::jvp, py::arg("direction"))
      .def("hvp", &BoundStep::hvp, py::arg("next_bar"), py::arg("direction"))
      .def("jacobians", &BoundStep::jacobians, py::arg("by"), py::arg("parameters") = py::none());
  bind_rollouts(m, simulation);
}

}  // namespace robosim
