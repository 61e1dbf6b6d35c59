// Time steps of a world with contact.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "base/thread_pool.h"
#include "bindings/bound_scene.h"
#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "bindings/step_details.h"
#include "bindings/step_gradients.h"
#include "rollout/rollouts.h"
#include "step/step_signature.h"

namespace py = pybind11;

namespace robosim {
namespace {

const char* name_of(StepStatus status) {
  switch (status) {
    case StepStatus::solved:
      return "solved";
    case StepStatus::basic:
      return "basic";
    case StepStatus::rough:
      return "rough";
    case StepStatus::relaxed:
      return "relaxed";
    case StepStatus::inconsistent:
      return "inconsistent";
    case StepStatus::diverged:
      break;
  }
  return "diverged";
}

// A World with simulators for the calls that run at the time.
class BoundSimulation {
 public:
  BoundSimulation(BoundScene& scene, std::vector<PairMaterial> materials, std::vector<Motor> motors, Closures closures, const StepOptions& options, int substeps)
      : scene_(scene), world_(scene.scene, std::move(materials), std::move(motors), std::move(closures)), options_(options), substeps_(substeps) {
    idle_.push_back(std::make_unique<Simulator>(world_, options_, substeps_));
  }

  const Model& model() const { return world_.model(); }
  const World& world() const { return world_; }
  const BoundScene& scene() const { return scene_; }

  class Lease {
   public:
    explicit Lease(BoundSimulation& s) : s_(s), simulator_(s.take()) {}
    ~Lease() {
      const std::lock_guard lock(s_.mutex_);
      s_.idle_.push_back(std::move(simulator_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Simulator* operator->() const { return simulator_.get(); }
    Simulator* get() const { return simulator_.get(); }

   private:
    BoundSimulation& s_;
    std::unique_ptr<Simulator> simulator_;
  };

 private:
  std::unique_ptr<Simulator> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Simulator> simulator = std::move(idle_.back());
        idle_.pop_back();
        return simulator;
      }
    }
    return std::make_unique<Simulator>(world_, options_, substeps_);
  }

  BoundScene& scene_;
  World world_;
  StepOptions options_;
  int substeps_;
  std::vector<std::unique_ptr<Simulator>> idle_;
  std::mutex mutex_;
};

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
                                                 const std::string& solver, int sweeps, double erp, double margin, double limit_margin,
                                                 double restitution_threshold, const std::string& bounce, const std::string& complementarity_aware, int substeps) {
  const Array m = sized(materials, {-1, 6}, "materials"), d = real_array(motors, {scene.scene.model().n_v, 3}, "motors", false);
  std::vector<PairMaterial> pairs;
  for (const double* x = m.data(); x < m.data() + m.size(); x += 6) pairs.push_back({x[0], x[1], x[2], x[3], x[4], x[5]});
  std::vector<Motor> all;
  for (const double* x = d.data(); x < d.data() + d.size(); x += 3) all.push_back({x[0], x[1], x[2]});
  StepOptions options;
  if (solver == "pgs") options.solver = RowSolver::pgs;
  else if (solver == "cone") options.solver = RowSolver::cone;
  else if (solver != "lcp") throw InputError("solver is '" + solver + "'; there are 'lcp', 'cone' and 'pgs'");
  if (bounce == "time_of_impact") options.bounce = Bounce::time_of_impact;
  else if (bounce != "step") throw InputError("bounce is '" + bounce + "'; there are 'step' and 'time_of_impact'");
  if (complementarity_aware == "each") options.complementarity_aware = ComplementarityAware::each;
  else if (complementarity_aware == "together") options.complementarity_aware = ComplementarityAware::together;
  else if (complementarity_aware != "none") throw InputError("complementarity_aware is '" + complementarity_aware + "'; there are 'none', 'each' and 'together'");
  options.dt = dt, options.sweeps = sweeps, options.erp = erp, options.margin = margin, options.limit_margin = limit_margin;
  options.restitution_threshold = restitution_threshold;
  return std::make_unique<BoundSimulation>(scene, std::move(pairs), std::move(all), closures_from(closures, equalities), options, substeps);
}

// What drives a step, from Python; keeps the arrays.
struct Drive {
  Array tau = no_array(), q_target = no_array(), v_target = no_array();
  std::array<bool, 3> is_there{};

  // Each None or an array of `shape` before its own extent; or one row that is that of all steps.
  Drive(const Model& model, const py::handle& tau_, const py::handle& q_target_, const py::handle& v_target_, Shape2 shape = {}) {
    const auto read = [&](const py::handle& value, int extent, const char* name, Array& to) {
      if (value.is_none()) return false;
      Shape2 whole = shape;
      whole.push_back(extent);
      const py::array given = py::array::ensure(value);
      if (!given) PyErr_Clear();
      if (shape.size() != 1 || !given || given.ndim() != 1) {
        to = real_array(value, whole, name);
        return true;
      }
      const Array row = real_array(given, {extent}, name);
      to = Array(whole);
      for (py::ssize_t i = 0; i < shape[0]; ++i) std::copy_n(row.data(), extent, to.mutable_data() + i * extent);
      return true;
    };
    is_there = {read(tau_, model.n_v, "tau", tau), read(q_target_, model.n_q, "q_target", q_target), read(v_target_, model.n_v, "v_target", v_target)};
  }
  RolloutControls rows() const {
    return {is_there[0] ? tau.data() : nullptr, is_there[1] ? q_target.data() : nullptr, is_there[2] ? v_target.data() : nullptr};
  }
  StepControl step() const { return {rows().tau, rows().q_target, rows().v_target}; }
};

using ReportTuple = std::tuple<const char*, double, int, int, int, long, long, long>;
ReportTuple report_tuple(const RolloutReport& r) {
  return {name_of(r.status), r.residual, r.contacts, r.rows, r.islands, r.class_changes, r.pivots, r.coupled_bounces};
}

// One step's state and drive, from Python.
struct StepArguments {
  Array q, v;
  Drive drive;

  StepArguments(const Model& model, const py::handle& q_, const py::handle& v_, const py::handle& tau, const py::handle& q_target, const py::handle& v_target)
      : q(real_array(q_, {model.n_q}, "q")), v(real_array(v_, {model.n_v}, "v")), drive(model, tau, q_target, v_target) {}
};

using StepTuple = std::tuple<Array, Array, ReportTuple>;
StepTuple step(BoundSimulation& s, const py::handle& q, const py::handle& v, const py::handle& tau, const py::handle& q_target, const py::handle& v_target) {
  const Model& model = s.model();
  const StepArguments x(model, q, v, tau, q_target, v_target);
  Array q1(Shape2{model.n_q}), v1(Shape2{model.n_v});
  RolloutReport report;
  BoundSimulation::Lease(s)->step(x.q.data(), x.v.data(), x.drive.step(), q1.mutable_data(), v1.mutable_data(), report);
  return {q1, v1, report_tuple(report)};
}

std::tuple<Array, Array, ReportTuple, std::vector<ContactTuple>, std::vector<JointTuple>, std::vector<ClosureTuple>, std::vector<IslandTuple>> details(
    BoundSimulation& s, const py::handle& q, const py::handle& v, const py::handle& tau, const py::handle& q_target, const py::handle& v_target) {
  const Model& model = s.model();
  const StepArguments x(model, q, v, tau, q_target, v_target);
  Array q1(Shape2{model.n_q}), v1(Shape2{model.n_v});
  const BoundSimulation::Lease simulator(s);
  RolloutReport report;
  simulator->step(x.q.data(), x.v.data(), x.drive.step(), q1.mutable_data(), v1.mutable_data(), report);
  StepDetailTuples found(s.scene(), simulator->stepper(), report.islands);
  return {q1, v1, report_tuple(report), std::move(found.contacts), std::move(found.joints), std::move(found.closures), std::move(found.islands)};
}

py::bytes signature(BoundSimulation& s, const py::handle& q, const py::handle& v, const py::handle& tau, const py::handle& q_target, const py::handle& v_target) {
  const Model& model = s.model();
  const StepArguments x(model, q, v, tau, q_target, v_target);
  std::vector<double> q1(static_cast<std::size_t>(model.n_q)), v1(static_cast<std::size_t>(model.n_v));
  const BoundSimulation::Lease simulator(s);
  RolloutReport report;
  simulator->step(x.q.data(), x.v.data(), x.drive.step(), q1.data(), v1.data(), report);
  const std::vector<int> numbers = step_signature(simulator->stepper(), report.islands, report.status);
  return py::bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int));
}

GradientTuple step_vjp(BoundSimulation& s, const py::handle& q, const py::handle& v, const py::handle& q_bar, const py::handle& v_bar, const py::handle& tau,
                  const py::handle& q_target, const py::handle& v_target) {
  const Model& model = s.model();
  const StepArguments x(model, q, v, tau, q_target, v_target);
  const Array to_q = real_array(q_bar, {model.n_v}, "q_bar"), to_v = real_array(v_bar, {model.n_v}, "v_bar");
  StepGradient g;
  BoundSimulation::Lease(s)->vjp(x.q.data(), x.v.data(), x.drive.step(), to_q.data(), to_v.data(), g);
  return gradient_tuple(s.world(), g);
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

// q_next, v_next; one_sided.
std::tuple<Array, Array, bool> step_jvp(BoundSimulation& s, const py::handle& q, const py::handle& v, const py::dict& direction, const py::handle& tau,
                                        const py::handle& q_target, const py::handle& v_target) {
  const Model& model = s.model();
  const StepArguments x(model, q, v, tau, q_target, v_target);
  const BoundSimulation::Lease simulator(s);
  const StepGradient d = direction_of(simulator->stepper().world(), direction);
  Array q_next(Shape2{model.n_v}), v_next(Shape2{model.n_v});
  const bool one_sided = simulator->jvp(x.q.data(), x.v.data(), x.drive.step(), d, q_next.mutable_data(), v_next.mutable_data());
  return {q_next, v_next, one_sided};
}

// What the gradient changes by, and how far off that may be.
std::tuple<GradientTuple, GradientTuple> step_hvp(BoundSimulation& s, const py::handle& q, const py::handle& v, const py::handle& q_bar, const py::handle& v_bar,
                                                  const py::dict& direction, const py::handle& tau, const py::handle& q_target, const py::handle& v_target) {
  const Model& model = s.model();
  const StepArguments x(model, q, v, tau, q_target, v_target);
  const Array to_q = real_array(q_bar, {model.n_v}, "q_bar"), to_v = real_array(v_bar, {model.n_v}, "v_bar");
  const BoundSimulation::Lease simulator(s);
  const StepGradient d = direction_of(simulator->world(), direction);
  StepGradient product, error;
  simulator->hvp(x.q.data(), x.v.data(), x.drive.step(), to_q.data(), to_v.data(), d, product, error);
  return {gradient_tuple(s.world(), product), gradient_tuple(s.world(), error)};
}

// Jacobians with respect to q, v, tau, q_target and v_target, of one step or of as many as the first extent says: of what nobody asks for there are no
// columns.
struct JacobianArrays {
  Array q = no_array(), v = no_array(), tau = no_array(), q_target = no_array(), v_target = no_array();
  JacobianBlocks blocks;

  JacobianArrays(const Model& model, Shape2 extents, const std::array<bool, 5>& by) {
    extents.insert(extents.end(), {2, model.n_v, 0});
    const auto make = [&](Array& array, double*& block, int columns, bool is_wanted) {
      extents.back() = is_wanted ? columns : 0;
      array = fresh_array(extents);
      block = is_wanted ? array.mutable_data() : nullptr;
    };
    make(q, blocks.q, model.n_v, by[0]), make(v, blocks.v, model.n_v, by[1]), make(tau, blocks.tau, model.n_v, by[2]);
    make(q_target, blocks.q_target, model.n_q, by[3]), make(v_target, blocks.v_target, model.n_v, by[4]);
  }
};

// And one_sided.
std::tuple<Array, Array, Array, Array, Array, bool> jacobians(BoundSimulation& s, const py::handle& q, const py::handle& v, const py::handle& tau,
                                                              const py::handle& q_target, const py::handle& v_target, const std::array<bool, 5>& by) {
  const Model& model = s.model();
  const StepArguments x(model, q, v, tau, q_target, v_target);
  JacobianArrays j(model, {}, by);
  const bool one_sided = BoundSimulation::Lease(s)->jacobians(x.q.data(), x.v.data(), x.drive.step(), j.blocks);
  return {j.q, j.v, j.tau, j.q_target, j.v_target, one_sided};
}

// Tells `progress` of the steps taken, and whether to go on: where it raises or somebody interrupts that error is set.
bool may_go_on(const py::object& progress, int taken) {
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) return false;
  if (progress.is_none()) return true;
  try {
    progress(taken);
  } catch (py::error_already_set& error) {
    error.restore();
    return false;
  }
  return true;
}

int checked_steps(py::ssize_t steps) {
  if (steps < 0 || steps > std::numeric_limits<int>::max() - 1) throw InputError(message("steps is ", steps, "; it must not be negative, and fit into 31 bits"));
  return static_cast<int>(steps);
}

KeptStates kept_states(py::ssize_t steps, py::ssize_t interval) {
  if (interval < 1) throw InputError(message("interval is ", interval, "; it must be at least 1, which keeps every state"));
  return {checked_steps(steps), static_cast<int>(std::min<py::ssize_t>(interval, std::numeric_limits<int>::max()))};
}

// A simulator for each thread that `count` rollouts can use.
class Crew {
 public:
  Crew(BoundSimulation& s, py::ssize_t count, py::ssize_t threads) {
    const py::ssize_t n = std::min<py::ssize_t>(threads > 0 ? std::min<py::ssize_t>(threads, thread_limit()) : thread_limit(), count);
    for (py::ssize_t i = 0; i < std::max<py::ssize_t>(1, n); ++i) leases_.push_back(std::make_unique<BoundSimulation::Lease>(s));
    for (const auto& lease : leases_) simulators_.push_back(lease->get());
  }
  std::span<Simulator* const> simulators() const { return simulators_; }

 private:
  std::vector<std::unique_ptr<BoundSimulation::Lease>> leases_;
  std::vector<Simulator*> simulators_;
};

// The drive of m rollouts: arrays of (steps, n) for all alike, or of (m, steps, n).
struct ManyDrives {
  Drive drive;
  ManyControls controls;

  ManyDrives(const Model& model, py::ssize_t m, py::ssize_t steps, bool is_shared, const py::handle& tau, const py::handle& q_target, const py::handle& v_target)
      : drive(model, tau, q_target, v_target, is_shared ? Shape2{steps} : Shape2{m, steps}), controls{drive.rows(), is_shared} {}
};

// q: (m, n_q), v: (m, n_v). Returns q (m, rows, n_q) of the states that are kept, v, and of each rollout its report and first unsolved step.
using RunsTuple = std::tuple<Array, Array, std::vector<std::pair<ReportTuple, std::optional<int>>>>;
RunsTuple run(BoundSimulation& s, const py::handle& q, const py::handle& v, py::ssize_t steps, py::ssize_t interval, bool is_shared, const py::handle& tau,
              const py::handle& q_target, const py::handle& v_target, py::ssize_t threads, const py::object& progress) {
  const KeptStates kept = kept_states(steps, interval);
  const Model& model = s.model();
  const Array q0 = sized(q, {-1, model.n_q}, "q");
  const py::ssize_t m = q0.shape(0);
  const int count = checked_steps(m);
  const Array v0 = real_array(v, {m, model.n_v}, "v");
  const ManyDrives drives(model, m, steps, is_shared, tau, q_target, v_target);
  Array qs = fresh_array({m, kept.rows(), model.n_q}), vs = fresh_array({m, kept.rows(), model.n_v});
  double *const to_q = qs.mutable_data(), *const to_v = vs.mutable_data();
  for (py::ssize_t r = 0; r < m; ++r) {
    std::copy_n(q0.data() + r * model.n_q, model.n_q, to_q + r * kept.rows() * model.n_q);
    std::copy_n(v0.data() + r * model.n_v, model.n_v, to_v + r * kept.rows() * model.n_v);
  }
  std::vector<RolloutReport> reports(static_cast<std::size_t>(m));
  int taken = 0;
  {
    const Crew crew(s, m, threads);
    const auto go_on = [&](int done) { return may_go_on(progress, done); };
    const py::gil_scoped_release release;
    taken = rollouts(crew.simulators(), count, kept, to_q, to_v, drives.controls, reports.data(), go_on);
  }
  if (taken < kept.steps) throw py::error_already_set();
  RunsTuple out{qs, vs, {}};
  for (const RolloutReport& r : reports)
    std::get<2>(out).emplace_back(report_tuple(r), r.first_unsolved < 0 ? std::nullopt : std::optional(r.first_unsolved));
  return out;
}

// q and q_bar: (m, rows, n_q) and (m, rows, n_v). Of each rollout its gradient.
std::vector<GradientTuple> run_vjp(BoundSimulation& s, const py::handle& q, const py::handle& v, const py::handle& q_bar, const py::handle& v_bar,
                                   py::ssize_t steps, py::ssize_t interval, bool is_shared, const py::handle& tau, const py::handle& q_target,
                                   const py::handle& v_target, py::ssize_t threads, const py::object& progress, const std::array<bool, 3>& by) {
  const Model& model = s.model();
  const KeptStates kept = kept_states(steps, interval);
  const py::ssize_t rows = kept.rows();
  const Array qs = sized(q, {-1, rows, model.n_q}, "q");
  const py::ssize_t m = qs.shape(0);
  const int count = checked_steps(m);
  const Array vs = real_array(v, {m, rows, model.n_v}, "v"), to_q = real_array(q_bar, {m, rows, model.n_v}, "q_bar"),
              to_v = real_array(v_bar, {m, rows, model.n_v}, "v_bar");
  const ManyDrives drives(model, m, steps, is_shared, tau, q_target, v_target);
  std::vector<StepGradient> g(static_cast<std::size_t>(m));
  // Of what nobody asks for there are no rows.
  Array tau_to = fresh_array({m, by[0] ? steps : 0, model.n_v}), q_to = fresh_array({m, by[1] ? steps : 0, model.n_q}), v_to = fresh_array({m, by[2] ? steps : 0, model.n_v});
  const auto to = [](bool is_wanted, Array& array) { return is_wanted ? array.mutable_data() : nullptr; };
  double *const tau_bar = to(by[0], tau_to), *const q_target_bar = to(by[1], q_to), *const v_target_bar = to(by[2], v_to);
  int taken = 0;
  {
    const Crew crew(s, m, threads);
    const auto go_on = [&](int done) { return may_go_on(progress, done); };
    const py::gil_scoped_release release;
    taken = rollouts_vjp(crew.simulators(), count, kept, qs.data(), vs.data(), drives.controls, to_q.data(), to_v.data(), g.data(), tau_bar, q_target_bar,
                         v_target_bar, go_on);
  }
  if (taken < kept.steps) throw py::error_already_set();
  std::vector<GradientTuple> out;
  for (py::ssize_t r = 0; r < m; ++r) {
    const auto own = [&](const Array& x, py::ssize_t width) { return Array(Shape2{x.shape(1), width}, x.data() + r * x.shape(1) * width, x); };  // a view
    out.push_back(gradient_tuple(s.world(), g[static_cast<std::size_t>(r)], own(tau_to, model.n_v), own(q_to, model.n_q), own(v_to, model.n_v)));
  }
  return out;
}

// q: (rows, n_q), v: (rows, n_v), drives with a row per step. The Jacobians of each step; one_sided (steps,).
std::tuple<Array, Array, Array, Array, Array, py::array_t<bool>> run_jacobians(BoundSimulation& s, const py::handle& q, const py::handle& v, py::ssize_t steps,
                                                                               py::ssize_t interval, const py::handle& tau, const py::handle& q_target,
                                                                               const py::handle& v_target, py::ssize_t threads, const py::object& progress,
                                                                               const std::array<bool, 5>& by) {
  const Model& model = s.model();
  const KeptStates kept = kept_states(steps, interval);
  const Array qs = real_array(q, {kept.rows(), model.n_q}, "q"), vs = real_array(v, {kept.rows(), model.n_v}, "v");
  const Drive drive(model, tau, q_target, v_target, {steps});
  JacobianArrays j(model, {steps}, by);
  py::array_t<bool> one_sided(Shape2{steps});
  bool* const flags = one_sided.mutable_data();
  int taken = 0;
  {
    const Crew crew(s, kept.rows() - 1, threads);
    const auto go_on = [&](int done) { return may_go_on(progress, done); };
    const py::gil_scoped_release release;
    taken = rollout_jacobians(crew.simulators(), kept, qs.data(), vs.data(), drive.rows(), j.blocks, flags, go_on);
  }
  if (taken < kept.steps) throw py::error_already_set();
  return {j.q, j.v, j.tau, j.q_target, j.v_target, one_sided};
}

}  // namespace

void bind_simulation(py::module_& m) {
  const char* about_drive = "tau, q_target and v_target are None or arrays; see robosim.simulation.Control.";
  const char* about_many = "Of many rollouts; tau, q_target and v_target are None or arrays, each with a row per step, shared or of each rollout its own. "
                           "progress is None or called with the steps taken.";
  py::class_<BoundSimulation>(m, "Simulation", "Time steps of a scene with materials and motors; see robosim.simulation.")
      .def(py::init(&make_simulation), py::arg("scene"), py::arg("materials"), py::arg("motors"), py::arg("closures"),
           py::arg("equalities"), py::arg("dt"), py::arg("solver"), py::arg("sweeps"),
           py::arg("erp"), py::arg("margin"), py::arg("limit_margin"), py::arg("restitution_threshold"), py::arg("bounce"),
           py::arg("complementarity_aware"), py::arg("substeps"), py::keep_alive<1, 2>())
      .def_property_readonly("meshes", &meshes, "Number and name of the object, first row in a gradient, shape: of each that has vertices.")
      .def("step", &step, py::arg("q"), py::arg("v"), py::arg("tau") = py::none(), py::arg("q_target") = py::none(), py::arg("v_target") = py::none(),
           about_drive)
      .def("details", &details, py::arg("q"), py::arg("v"), py::arg("tau") = py::none(), py::arg("q_target") = py::none(),
           py::arg("v_target") = py::none(), about_drive)
      .def("signature", &signature, py::arg("q"), py::arg("v"), py::arg("tau") = py::none(), py::arg("q_target") = py::none(),
           py::arg("v_target") = py::none(), about_drive)
      .def("vjp", &step_vjp, py::arg("q"), py::arg("v"), py::arg("q_bar"), py::arg("v_bar"), py::arg("tau") = py::none(), py::arg("q_target") = py::none(),
           py::arg("v_target") = py::none(), about_drive)
      .def("jacobians", &jacobians, py::arg("q"), py::arg("v"), py::arg("tau"), py::arg("q_target"), py::arg("v_target"), py::arg("by"), about_drive)
      .def("jvp", &step_jvp, py::arg("q"), py::arg("v"), py::arg("direction"), py::arg("tau") = py::none(), py::arg("q_target") = py::none(),
           py::arg("v_target") = py::none(), about_drive)
      .def("hvp", &step_hvp, py::arg("q"), py::arg("v"), py::arg("q_bar"), py::arg("v_bar"), py::arg("direction"), py::arg("tau") = py::none(),
           py::arg("q_target") = py::none(), py::arg("v_target") = py::none(), about_drive)
      .def("run_vjp", &run_vjp, py::arg("q"), py::arg("v"), py::arg("q_bar"), py::arg("v_bar"), py::arg("steps"), py::arg("interval"), py::arg("is_shared"),
           py::arg("tau"), py::arg("q_target"), py::arg("v_target"), py::arg("threads"), py::arg("progress"), py::arg("by"), about_many)
      .def("run_jacobians", &run_jacobians, py::arg("q"), py::arg("v"), py::arg("steps"), py::arg("interval"), py::arg("tau"), py::arg("q_target"),
           py::arg("v_target"), py::arg("threads"), py::arg("progress"), py::arg("by"), "Of one rollout; see run.")
      .def("run", &run, py::arg("q"), py::arg("v"), py::arg("steps"), py::arg("interval"), py::arg("is_shared"), py::arg("tau"), py::arg("q_target"), py::arg("v_target"),
           py::arg("threads"), py::arg("progress"), about_many);
}

}  // namespace robosim
