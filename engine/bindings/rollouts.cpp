// Many time steps: rollouts, their gradients and their Jacobians.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "base/thread_pool.h"
#include "bindings/bound_simulation.h"
#include "bindings/step_gradients.h"

namespace py = pybind11;

namespace robosim {
namespace {

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

  ManyDrives(const Model& model, py::ssize_t m, py::ssize_t steps, bool is_shared, const ControlObjects& given)
      : drive(model, given, is_shared ? Shape2{steps} : Shape2{m, steps}), controls{drive.view(), is_shared} {}
};

// States of m rollouts. Returns (m, rows) states that are kept, and of each rollout its report and first unsolved step.
using RunsTuple = std::tuple<StateArrays, std::vector<std::pair<ReportTuple, std::optional<int>>>>;
RunsTuple run_rollouts(BoundSimulation& s, const StateObjects& state, py::ssize_t steps, py::ssize_t interval, bool is_shared, const ControlObjects& control,
                       py::ssize_t threads, const py::object& progress) {
  const KeptStates kept = kept_states(steps, interval);
  const Model& model = s.model();
  const StateLayout layout = StateLayout::of(model);
  const BoundStates first = BoundStates::configurations(model, state, {-1});
  const py::ssize_t m = first.count();
  const int count = checked_steps(m);
  const ManyDrives drives(model, m, steps, is_shared, control);
  BoundStates states = BoundStates::room(layout, {m, kept.rows()});
  const StateSpan to = states.span();
  for (py::ssize_t r = 0; r < m; ++r) copy(row(first.view(), layout, r), layout, row(to, layout, r * kept.rows()));
  std::vector<RolloutReport> reports(static_cast<std::size_t>(m));
  int taken = 0;
  {
    const Crew crew(s, m, threads);
    const auto go_on = [&](int done) { return may_go_on(progress, done); };
    const py::gil_scoped_release release;
    taken = rollouts(crew.simulators(), count, kept, to, drives.controls, reports.data(), go_on);
  }
  if (taken < kept.steps) throw py::error_already_set();
  RunsTuple out{states.arrays(), {}};
  for (const RolloutReport& r : reports)
    std::get<1>(out).emplace_back(report_tuple(r, s.options().solver), r.first_unsolved < 0 ? std::nullopt : std::optional(r.first_unsolved));
  return out;
}

// (m, rows) states and what the loss changes by with them. Of each rollout its gradient.
std::vector<GradientTuple> run_vjp(BoundSimulation& s, const StateObjects& state, const StateObjects& bar, py::ssize_t steps, py::ssize_t interval, bool is_shared,
                                   const ControlObjects& control, py::ssize_t threads, const py::object& progress, const std::array<bool, 3>& by) {
  const Model& model = s.model();
  const KeptStates kept = kept_states(steps, interval);
  const py::ssize_t rows = kept.rows();
  const BoundStates states = BoundStates::configurations(model, state, {-1, rows});
  const py::ssize_t m = states.count();
  const int count = checked_steps(m);
  const BoundStates bars = BoundStates::tangents(model, bar, {m, rows});
  const ManyDrives drives(model, m, steps, is_shared, control);
  std::vector<StepGradient> g(static_cast<std::size_t>(m));
  // A gradient that is not asked for has zero rows.
  Array tau_to = fresh_array({m, by[0] ? steps : 0, model.n_v}), q_to = fresh_array({m, by[1] ? steps : 0, model.n_q}), v_to = fresh_array({m, by[2] ? steps : 0, model.n_v});
  const auto to = [](bool is_wanted, Array& array) { return is_wanted ? array.mutable_data() : nullptr; };
  const ControlSpan controls_bar{to(by[0], tau_to), to(by[1], q_to), to(by[2], v_to)};
  int taken = 0;
  {
    const Crew crew(s, m, threads);
    const auto go_on = [&](int done) { return may_go_on(progress, done); };
    const py::gil_scoped_release release;
    taken = rollouts_vjp(crew.simulators(), count, kept, states.view(), drives.controls, bars.view(), g.data(), controls_bar, go_on);
  }
  if (taken < kept.steps) throw py::error_already_set();
  std::vector<GradientTuple> out;
  for (py::ssize_t r = 0; r < m; ++r) {
    const auto own = [&](const Array& x, py::ssize_t width) { return Array(Shape2{x.shape(1), width}, x.data() + r * x.shape(1) * width, x); };  // a view
    out.push_back(gradient_tuple(s.world(), g[static_cast<std::size_t>(r)], own(tau_to, model.n_v), own(q_to, model.n_q), own(v_to, model.n_v)));
  }
  return out;
}

// Rows of states, drives with a row per step. The Jacobians of each step; one_sided (steps,).
std::tuple<Array, Array, Array, Array, Array, Array, py::array_t<bool>> run_jacobians(BoundSimulation& s, const StateObjects& state, py::ssize_t steps, py::ssize_t interval,
                                                                               const ControlObjects& control, py::ssize_t threads, const py::object& progress,
                                                                               const std::array<bool, 5>& by, const std::optional<SelectionTuple>& parameters) {
  const KeptStates kept = kept_states(steps, interval);
  const BoundStates states = BoundStates::configurations(s.model(), state, {kept.rows()});
  const Drive drive(s.model(), control, {steps});
  JacobianArrays j(s.world(), {steps}, by, parameters);
  py::array_t<bool> one_sided(Shape2{steps});
  bool* const flags = one_sided.mutable_data();
  int taken = 0;
  {
    const Crew crew(s, kept.rows() - 1, threads);
    const auto go_on = [&](int done) { return may_go_on(progress, done); };
    const py::gil_scoped_release release;
    taken = rollout_jacobians(crew.simulators(), kept, states.view(), drive.view(), j.blocks, flags, go_on);
  }
  if (taken < kept.steps) throw py::error_already_set();
  return {j.q, j.v, j.tau, j.q_target, j.v_target, j.parameters, one_sided};
}

}  // namespace

void bind_rollouts(py::class_<BoundSimulation>& simulation) {
  const char* about_many = "Of many rollouts; the arrays of a control each with a row per step, shared or of each rollout its own. "
                           "progress is None or called with the steps taken.";
  simulation
      .def("run_vjp", &run_vjp, py::arg("states"), py::arg("bars"), py::arg("steps"), py::arg("interval"), py::arg("is_shared"), py::arg("control"), py::arg("threads"),
           py::arg("progress"), py::arg("by"), about_many)
      .def("run_jacobians", &run_jacobians, py::arg("states"), py::arg("steps"), py::arg("interval"), py::arg("control"), py::arg("threads"), py::arg("progress"),
           py::arg("by"), py::arg("parameters") = py::none(), "Of one rollout; see run.")
      .def("run", &run_rollouts, py::arg("states"), py::arg("steps"), py::arg("interval"), py::arg("is_shared"), py::arg("control"), py::arg("threads"),
           py::arg("progress"), about_many);
}

}  // namespace robosim
