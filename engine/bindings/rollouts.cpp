// Many time steps: rollouts, their gradients and their Jacobians.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
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

// Report the number of steps taken to `progress` and return true to continue. If `progress` raises
// or a signal arrives, the Python error is set and the result is false.
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
  if (steps < 0 || steps > std::numeric_limits<int>::max() - 1)
    throw InputError(
        message("steps is ", steps, "; it must not be negative, and fit into 31 bits"));
  return static_cast<int>(steps);
}

KeptStates kept_states(py::ssize_t steps, py::ssize_t interval) {
  if (interval < 1)
    throw InputError(
        message("interval is ", interval, "; it must be at least 1, which keeps every state"));
  return {checked_steps(steps),
          static_cast<int>(std::min<py::ssize_t>(interval, std::numeric_limits<int>::max()))};
}

// Steps per thread that are worth waking a thread for, with Jacobians: a thread wakes in tens of
// microseconds, and a step of the smallest robots takes 3.
constexpr py::ssize_t steps_of_thread = 16;

// Number of threads that `count` rollouts can use. `threads` = 0 means as many as allowed.
int crew(py::ssize_t count, py::ssize_t threads) {
  const py::ssize_t most =
      threads > 0 ? std::min<py::ssize_t>(threads, thread_limit()) : thread_limit();
  return static_cast<int>(std::clamp<py::ssize_t>(count, 1, most));
}

// Controls of m rollouts: arrays (steps, n) that all rollouts share, or (m, steps, n).
struct ManyDrives {
  Drive drive;
  ManyControls controls;

  ManyDrives(const Model& model, py::ssize_t m, py::ssize_t steps, bool is_shared,
             const ControlObjects& given)
      : drive(model, given, is_shared ? Shape2{steps} : Shape2{m, steps}),
        controls{drive.view(), is_shared} {}
};

// Reports of m rollouts.
struct RolloutReports {
  std::vector<RolloutReport> of_each;
  SolverId solver;

  template <class T, class Field>
  py::array_t<T> all(const Field& field) const {
    py::array_t<T> out(static_cast<py::ssize_t>(of_each.size()));
    std::transform(of_each.begin(), of_each.end(), out.mutable_data(), field);
    return out;
  }
  std::vector<std::string> attempts() const {
    std::vector<std::string> out;
    for (const RolloutReport& r : of_each) out.push_back(BoundReport::name_of_attempt(r, solver));
    return out;
  }
};

// Simulate m rollouts from m states. Returns the kept states (m, rows) and a report for each
// rollout.
std::tuple<StateArrays, RolloutReports> run_rollouts(BoundSimulation& s, const StateObjects& state,
                                                     py::ssize_t steps, py::ssize_t interval,
                                                     bool is_shared, const ControlObjects& control,
                                                     py::ssize_t threads,
                                                     const py::object& progress) {
  const KeptStates kept = kept_states(steps, interval);
  const Model& model = s.model();
  const StateLayout layout = StateLayout::of(model);
  const BoundStates first = BoundStates::configurations(model, state, {-1});
  const py::ssize_t m = first.count();
  const int count = checked_steps(m);
  const ManyDrives drives(model, m, steps, is_shared, control);
  BoundStates states = BoundStates::room(layout, {m, kept.rows()});
  const StateSpan to = states.span();
  for (py::ssize_t r = 0; r < m; ++r)
    copy(row(first.view(), layout, r), layout, row(to, layout, r * kept.rows()));
  RolloutReports reports{std::vector<RolloutReport>(static_cast<std::size_t>(m)),
                         s.options().solver};
  int taken = 0;
  {
    const SimulatorPool::Borrowed simulators(s.pool(), crew(m, threads));
    const auto go_on = [&](int done) { return may_go_on(progress, done); };
    const py::gil_scoped_release release;
    taken =
        rollouts(simulators.all(), count, kept, to, drives.controls, reports.of_each.data(), go_on);
  }
  if (taken < kept.steps) throw py::error_already_set();
  return {states.arrays(), std::move(reports)};
}

// Gradients of a loss for all rollouts, from states (m, rows) and the gradients of the loss with
// respect to these states.
GradientArrays run_vjp(BoundSimulation& s, const StateObjects& state, const StateObjects& bar,
                       py::ssize_t steps, py::ssize_t interval, bool is_shared,
                       const ControlObjects& control, py::ssize_t threads,
                       const py::object& progress, const std::array<bool, 3>& by) {
  const Model& model = s.model();
  const KeptStates kept = kept_states(steps, interval);
  const py::ssize_t rows = kept.rows();
  const BoundStates states = BoundStates::configurations(model, state, {-1, rows});
  const py::ssize_t m = states.count();
  const int count = checked_steps(m);
  const BoundStates bars = BoundStates::tangents(model, bar, {m, rows});
  const ManyDrives drives(model, m, steps, is_shared, control);
  std::vector<StepGradient> g(static_cast<std::size_t>(m));
  // A gradient that is not requested has zero rows.
  Array tau_to = fresh_array({m, by[0] ? steps : 0, model.n_v}),
        q_to = fresh_array({m, by[1] ? steps : 0, model.n_q}),
        v_to = fresh_array({m, by[2] ? steps : 0, model.n_v});
  const auto to = [](bool is_wanted, Array& array) {
    return is_wanted ? array.mutable_data() : nullptr;
  };
  const ControlSpan controls_bar{to(by[0], tau_to), to(by[1], q_to), to(by[2], v_to)};
  int taken = 0;
  {
    const SimulatorPool::Borrowed simulators(s.pool(), crew(m, threads));
    const auto go_on = [&](int done) { return may_go_on(progress, done); };
    const py::gil_scoped_release release;
    taken = rollouts_vjp(simulators.all(), count, kept, states.view(), drives.controls, bars.view(),
                         g.data(), controls_bar, go_on);
  }
  if (taken < kept.steps) throw py::error_already_set();
  return {s.world(), g, std::move(tau_to), std::move(q_to), std::move(v_to)};
}

// Jacobians of each step from states (m, rows): blocks (m, steps, 2, n_v, columns), causes (m,
// steps).
std::unique_ptr<JacobianArrays> run_jacobians(BoundSimulation& s, const StateObjects& state,
                                              py::ssize_t steps, py::ssize_t interval,
                                              bool is_shared, const ControlObjects& control,
                                              py::ssize_t threads, const py::object& progress,
                                              const std::array<bool, 5>& by,
                                              const std::optional<SelectionTuple>& parameters) {
  const KeptStates kept = kept_states(steps, interval);
  const BoundStates states = BoundStates::configurations(s.model(), state, {-1, kept.rows()});
  const py::ssize_t m = states.count();
  const int count = checked_steps(m);
  checked_steps(m * (kept.rows() - 1));
  const ManyDrives drives(s.model(), m, steps, is_shared, control);
  auto j = std::make_unique<JacobianArrays>(s.world(), Shape2{m, steps}, by, parameters);
  OneSided* const one_sided = j->one_sided();
  int taken = 0;
  {
    // Each thread has enough steps to be worth waking.
    const py::ssize_t parts = m * (kept.rows() - 1),
                      worthwhile = (m * kept.steps + steps_of_thread - 1) / steps_of_thread;
    const SimulatorPool::Borrowed simulators(s.pool(), crew(std::min(parts, worthwhile), threads));
    const auto go_on = [&](int done) { return may_go_on(progress, done); };
    const py::gil_scoped_release release;
    taken = rollouts_jacobians(simulators.all(), count, kept, states.view(), drives.controls,
                               j->blocks, one_sided, go_on);
  }
  if (taken < kept.steps) throw py::error_already_set();
  return j;
}

}  // namespace

void bind_rollouts(py::module_& m, py::class_<BoundSimulation>& simulation) {
  py::class_<RolloutReports> reports(
      m, "RolloutReports",
      "How each of several rollouts was solved, as arrays of StepReport's numbers.");
  const auto field = [&]<class T>(const char* name, T RolloutReport::*member) {
    using Number =
        std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>::type;
    reports.def_property_readonly(name, [member](const RolloutReports& r) {
      return r.all<Number>([&](const RolloutReport& x) { return static_cast<Number>(x.*member); });
    });
  };
  field("status", &RolloutReport::status);
  field("residual", &RolloutReport::residual);
  field("contacts", &RolloutReport::contacts);
  field("rows", &RolloutReport::rows);
  field("islands", &RolloutReport::islands);
  field("class_changes", &RolloutReport::class_changes);
  field("pivots", &RolloutReport::pivots);
  field("coupled_bounces", &RolloutReport::coupled_bounces);
  field("untimed_bounces", &RolloutReport::untimed_bounces);
  field("first_unsolved", &RolloutReport::first_unsolved);
  reports.def_property_readonly("attempt", &RolloutReports::attempts);
  const char* about_many =
      "Of many rollouts; the arrays of a control each with a row per step, shared or of each "
      "rollout its own. "
      "progress is None or called with the steps taken.";
  simulation
      .def("run_vjp", &run_vjp, py::arg("states"), py::arg("bars"), py::arg("steps"),
           py::arg("interval"), py::arg("is_shared"), py::arg("control"), py::arg("threads"),
           py::arg("progress"), py::arg("by"), about_many)
      .def("run_jacobians", &run_jacobians, py::arg("states"), py::arg("steps"),
           py::arg("interval"), py::arg("is_shared"), py::arg("control"), py::arg("threads"),
           py::arg("progress"), py::arg("by"), py::arg("parameters") = py::none(), about_many)
      .def("run", &run_rollouts, py::arg("states"), py::arg("steps"), py::arg("interval"),
           py::arg("is_shared"), py::arg("control"), py::arg("threads"), py::arg("progress"),
           about_many);
}

}  // namespace robosim
