// Time steps of a world with contact.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>

#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "bindings/bound_scene.h"
#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "step/contact_axes.h"
#include "step/step.h"

namespace py = pybind11;

namespace robosim {
namespace {

// Of one step or of several.
struct Report {
  StepStatus status = StepStatus::solved;
  double residual = 0;
  int contacts = 0, rows = 0, islands = 0, class_changes = 0, pivots = 0;

  // Adds another: the worst of both, what is counted together, and of the last how many contacts it had.
  template <class Other>
  void take(const Other& r) {
    status = std::max(status, r.status), residual = std::max(residual, r.residual);
    contacts = r.contacts, rows = r.rows, islands = r.islands;
    class_changes += r.class_changes, pivots += r.pivots;
  }
};

const char* name_of(StepStatus status) {
  switch (status) {
    case StepStatus::solved:
      return "solved";
    case StepStatus::basic:
      return "basic";
    case StepStatus::relaxed:
      return "relaxed";
    case StepStatus::inconsistent:
      break;
  }
  return "inconsistent";
}

const char* name_of(RowSource source) {
  constexpr const char* names[] = {"normal",    "friction_1",  "friction_2",  "torsion",        "rolling_1",
                                   "rolling_2", "lower_limit", "upper_limit", "joint_friction", "motor"};
  return names[static_cast<std::size_t>(source)];
}

// A World with steppers for the calls that run at the time.
class BoundSimulation {
 public:
  BoundSimulation(BoundScene& scene, std::vector<PairMaterial> materials, std::vector<Motor> motors, const StepOptions& options, int substeps)
      : scene_(scene), world_(scene.scene, std::move(materials), std::move(motors)), options_(options), substeps_(substeps) {
    if (substeps < 1) throw InputError(message("substeps is ", substeps, "; there is at least one"));
    options_.dt /= substeps;
    idle_.push_back(std::make_unique<Stepper>(world_, options_));
  }

  const Model& model() const { return world_.model(); }
  const BoundScene& scene() const { return scene_; }

  class Lease {
   public:
    explicit Lease(BoundSimulation& s) : s_(s), stepper_(s.take()) {}
    ~Lease() {
      const std::lock_guard lock(s_.mutex_);
      s_.idle_.push_back(std::move(stepper_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Stepper& operator*() const { return *stepper_; }
    Stepper* operator->() const { return stepper_.get(); }

   private:
    BoundSimulation& s_;
    std::unique_ptr<Stepper> stepper_;
  };

  // All substeps of one step; q_next and v_next may be q and v.
  void step(Stepper& stepper, const double* q, const double* v, const StepControl& control, double* q_next, double* v_next, Report& report) const {
    for (int i = 0; i < substeps_; ++i) report.take(stepper.step(i ? q_next : q, i ? v_next : v, control, q_next, v_next));
  }

 private:
  std::unique_ptr<Stepper> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Stepper> stepper = std::move(idle_.back());
        idle_.pop_back();
        return stepper;
      }
    }
    return std::make_unique<Stepper>(world_, options_);
  }

  BoundScene& scene_;
  World world_;
  StepOptions options_;
  int substeps_;
  std::vector<std::unique_ptr<Stepper>> idle_;
  std::mutex mutex_;
};

std::unique_ptr<BoundSimulation> make_simulation(BoundScene& scene, const py::handle& materials, const py::handle& motors, double dt,
                                                 const std::string& solver, int sweeps, double erp, double margin, double limit_margin,
                                                 double restitution_threshold, int substeps) {
  const Array m = sized(materials, {-1, 4}, "materials"), d = real_array(motors, {scene.scene.model().n_v, 3}, "motors", false);
  std::vector<PairMaterial> pairs;
  for (const double* x = m.data(); x < m.data() + m.size(); x += 4) pairs.push_back({x[0], x[1], x[2], x[3]});
  std::vector<Motor> all;
  for (const double* x = d.data(); x < d.data() + d.size(); x += 3) all.push_back({x[0], x[1], x[2]});
  StepOptions options;
  if (solver == "pgs") options.solver = RowSolver::pgs;
  else if (solver != "lcp") throw InputError("solver is '" + solver + "'; there are 'lcp' and 'pgs'");
  options.dt = dt, options.sweeps = sweeps, options.erp = erp, options.margin = margin, options.limit_margin = limit_margin;
  options.restitution_threshold = restitution_threshold;
  return std::make_unique<BoundSimulation>(scene, std::move(pairs), std::move(all), options, substeps);
}

// What drives a step, from Python; keeps the arrays.
struct Drive {
  Array tau, q_target, v_target;
  std::array<bool, 3> is_there{};

  // Each None or an array of `shape` before its own extent.
  Drive(const Model& model, const py::handle& tau_, const py::handle& q_target_, const py::handle& v_target_, Shape2 shape = {}) {
    const auto read = [&](const py::handle& value, int extent, const char* name, Array& to) {
      if (value.is_none()) return false;
      Shape2 whole = shape;
      whole.push_back(extent);
      to = real_array(value, whole, name);
      return true;
    };
    is_there = {read(tau_, model.n_v, "tau", tau), read(q_target_, model.n_q, "q_target", q_target), read(v_target_, model.n_v, "v_target", v_target)};
  }
  // Of row i of arrays that have rows.
  StepControl at(const Model& model, py::ssize_t i = 0) const {
    return {is_there[0] ? tau.data() + i * model.n_v : nullptr, is_there[1] ? q_target.data() + i * model.n_q : nullptr,
            is_there[2] ? v_target.data() + i * model.n_v : nullptr};
  }
};

using ReportTuple = std::tuple<const char*, double, int, int, int, int, int>;
ReportTuple report_tuple(const Report& r) {
  return {name_of(r.status), r.residual, r.contacts, r.rows, r.islands, r.class_changes, r.pivots};
}

using StepTuple = std::tuple<Array, Array, ReportTuple>;
StepTuple step(BoundSimulation& s, const py::handle& q, const py::handle& v, const py::handle& tau, const py::handle& q_target, const py::handle& v_target) {
  const Model& model = s.model();
  const Array q0 = real_array(q, {model.n_q}, "q"), v0 = real_array(v, {model.n_v}, "v");
  const Drive drive(model, tau, q_target, v_target);
  Array q1(Shape2{model.n_q}), v1(Shape2{model.n_v});
  const BoundSimulation::Lease stepper(s);
  Report report;
  s.step(*stepper, q0.data(), v0.data(), drive.at(model), q1.mutable_data(), v1.mutable_data(), report);
  return {q1, v1, report_tuple(report)};
}

// Names, point, normal, gap, force on the second, moment on it, mode.
using ContactTuple = std::tuple<std::string, std::string, Array, Array, double, Array, Array, const char*>;
// Index into v, source, force.
using JointTuple = std::tuple<int, const char*, double>;

ContactTuple contact_tuple(const BoundSimulation& s, const Stepper& stepper, const StepIsland& island, std::size_t block, int point) {
  const SceneQuery::PairManifold& pair = stepper.manifolds()[static_cast<std::size_t>(island.blocks[block].manifold)];
  const Vec3d n = pair.manifold.normal();
  const ContactAxes axes = contact_axes(n);
  const double rate = 1 / stepper.options().dt;
  Vec3d force, moment;
  bool pushes = false, slides = false;
  for (int i = island.problem.blocks[block].first_row; i < island.problem.blocks[block].last_row; ++i) {
    const std::size_t r = static_cast<std::size_t>(i);
    if (island.rows[r].point != point) continue;
    const double f = rate * island.solution.f[r];
    switch (island.rows[r].source) {
      case RowSource::normal: force += f * n, pushes = f > 0; break;
      case RowSource::friction_1: force += f * axes.t[0], slides |= island.solution.classes[r] != RowClass::clamping; break;
      case RowSource::friction_2: force += f * axes.t[1], slides |= island.solution.classes[r] != RowClass::clamping; break;
      case RowSource::torsion: moment += f * n; break;
      case RowSource::rolling_1: moment += f * axes.t[0]; break;
      default: moment += f * axes.t[1];
    }
  }
  const ManifoldPoint& p = pair.manifold.points[point];
  const bool has_friction = island.problem.blocks[block].last_row - island.problem.blocks[block].first_row > pair.manifold.n_points;
  const char* mode = !pushes ? "open" : slides || !has_friction ? "sliding" : "sticking";
  return {s.scene().name(pair.a), s.scene().name(pair.b), vec3_array(p.p_W), vec3_array(n), p.gap, vec3_array(force), vec3_array(moment), mode};
}

std::tuple<Array, Array, ReportTuple, std::vector<ContactTuple>, std::vector<JointTuple>> details(BoundSimulation& s, const py::handle& q, const py::handle& v,
                                                                                                   const py::handle& tau, const py::handle& q_target,
                                                                                                   const py::handle& v_target) {
  const Model& model = s.model();
  const Array q0 = real_array(q, {model.n_q}, "q"), v0 = real_array(v, {model.n_v}, "v");
  const Drive drive(model, tau, q_target, v_target);
  Array q1(Shape2{model.n_q}), v1(Shape2{model.n_v});
  const BoundSimulation::Lease stepper(s);
  Report report;
  s.step(*stepper, q0.data(), v0.data(), drive.at(model), q1.mutable_data(), v1.mutable_data(), report);
  std::vector<ContactTuple> contacts;
  std::vector<JointTuple> joints;
  for (int i = 0; i < report.islands; ++i) {
    const StepIsland& island = stepper->islands()[i];
    for (std::size_t b = 0; b < island.blocks.size(); ++b) {
      const StepIsland::Block& block = island.blocks[b];
      if (block.manifold >= 0) {
        const int n = stepper->manifolds()[static_cast<std::size_t>(block.manifold)].manifold.n_points;
        for (int p = 0; p < n; ++p) contacts.push_back(contact_tuple(s, *stepper, island, b, p));
        continue;
      }
      for (int r = island.problem.blocks[b].first_row; r < island.problem.blocks[b].last_row; ++r) {
        const std::size_t k = static_cast<std::size_t>(r);
        const double sign = island.rows[k].source == RowSource::upper_limit ? -1 : 1;
        joints.emplace_back(block.v, name_of(island.rows[k].source), sign * island.solution.f[k] / stepper->options().dt);
      }
    }
  }
  return {q1, v1, report_tuple(report), std::move(contacts), std::move(joints)};
}

std::tuple<Array, Array, ReportTuple, std::optional<py::ssize_t>> run(BoundSimulation& s, const py::handle& q, const py::handle& v, py::ssize_t steps,
                                                                       const py::handle& tau, const py::handle& q_target, const py::handle& v_target) {
  if (steps < 0) throw InputError(message("steps is ", steps, "; it must not be negative"));
  const Model& model = s.model();
  const Array q0 = real_array(q, {model.n_q}, "q"), v0 = real_array(v, {model.n_v}, "v");
  const Drive drive(model, tau, q_target, v_target, {steps});
  Array qs(Shape2{steps + 1, model.n_q}), vs(Shape2{steps + 1, model.n_v});
  double *to_q = qs.mutable_data(), *to_v = vs.mutable_data();
  std::copy_n(q0.data(), model.n_q, to_q), std::copy_n(v0.data(), model.n_v, to_v);
  const BoundSimulation::Lease stepper(s);
  Report report;
  std::optional<py::ssize_t> first;  // step that was not solved as asked
  constexpr py::ssize_t between_looks = 1000;
  for (py::ssize_t i = 0; i < steps;) {
    {
      const py::gil_scoped_release release;
      for (const py::ssize_t end = std::min(steps, i + between_looks); i < end; ++i, to_q += model.n_q, to_v += model.n_v) {
        Report one;
        s.step(*stepper, to_q, to_v, drive.at(model, i), to_q + model.n_q, to_v + model.n_v, one);
        if (one.status >= StepStatus::relaxed && !first) first = i;
        report.take(one);
      }
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  return {qs, vs, report_tuple(report), first};
}

}  // namespace

void bind_simulation(py::module_& m) {
  const char* about_drive = "tau, q_target and v_target are None or arrays; see robosim.simulation.Control.";
  py::class_<BoundSimulation>(m, "Simulation", "Time steps of a scene with materials and motors; see robosim.simulation.")
      .def(py::init(&make_simulation), py::arg("scene"), py::arg("materials"), py::arg("motors"), py::arg("dt"), py::arg("solver"), py::arg("sweeps"),
           py::arg("erp"), py::arg("margin"), py::arg("limit_margin"), py::arg("restitution_threshold"), py::arg("substeps"), py::keep_alive<1, 2>())
      .def("step", &step, py::arg("q"), py::arg("v"), py::arg("tau") = py::none(), py::arg("q_target") = py::none(), py::arg("v_target") = py::none(),
           about_drive)
      .def("details", &details, py::arg("q"), py::arg("v"), py::arg("tau") = py::none(), py::arg("q_target") = py::none(),
           py::arg("v_target") = py::none(), about_drive)
      .def("run", &run, py::arg("q"), py::arg("v"), py::arg("steps"), py::arg("tau") = py::none(), py::arg("q_target") = py::none(),
           py::arg("v_target") = py::none(), about_drive);
}

}  // namespace robosim
