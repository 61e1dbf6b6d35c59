// Shared by the bindings of steps and of rollouts: a world with its simulators, states and controls
// read from Python, reports, and arrays for Jacobians.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bound_scene.h"
#include "bindings/step_gradients.h"
#include "rollout/rollouts.h"
#include "rollout/taken_step.h"

namespace robosim {

// A World and its simulators.
class BoundSimulation {
 public:
  BoundSimulation(BoundScene& scene, std::vector<PairMaterial> materials, std::vector<Motor> motors,
                  Closures closures, const StepOptions& options, int substeps)
      : scene_(scene),
        world_(scene.scene, std::move(materials), std::move(motors), std::move(closures)),
        pool_(world_, options, substeps) {}

  const Model& model() const { return world_.model(); }
  const World& world() const { return world_; }
  const BoundScene& scene() const { return scene_; }
  const StepOptions& options() const { return pool_.options(); }
  SimulatorPool& pool() { return pool_; }
  const SimulatorPool& pool() const { return pool_; }

 private:
  BoundScene& scene_;
  World world_;
  SimulatorPool pool_;
};

// Arguments from Python: a state (q, v), and a control (tau, q_target, v_target) whose parts may be
// None.
using StateObjects = std::tuple<pybind11::object, pybind11::object>;
using ControlObjects = std::tuple<pybind11::object, pybind11::object, pybind11::object>;
// State returned to Python.
using StateArrays = std::tuple<Array, Array>;

// States read from Python or to be written for Python. Owns the arrays that its pointers refer to.
struct BoundStates {
  Array q, v;

  // `shape` precedes the extent of each part. -1 stands for any extent, which all parts must share.
  static BoundStates configurations(const Model& model, const StateObjects& given,
                                    Shape2 shape = {}) {
    shape.push_back(model.n_q);
    Array q = sized_configurations(std::get<0>(given), model, shape, "q");
    Shape2 of_v(q.shape(), q.shape() + q.ndim());
    of_v.back() = model.n_v;
    return {q, real_array(std::get<1>(given), of_v, "v")};
  }
  static BoundStates tangents(const Model& model, const StateObjects& given, Shape2 shape = {}) {
    shape.push_back(model.n_v);
    return {real_array(std::get<0>(given), shape, "q_bar"),
            real_array(std::get<1>(given), shape, "v_bar")};
  }
  static BoundStates room(const StateLayout& layout, Shape2 shape = {}) {
    Shape2 of_q = shape, of_v = shape;
    of_q.push_back(layout.q);
    of_v.push_back(layout.v);
    return {fresh_array(of_q), fresh_array(of_v)};
  }
  StateView view() const { return {q.data(), v.data()}; }
  StateSpan span() { return {q.mutable_data(), v.mutable_data()}; }
  StateArrays arrays() const { return {q, v}; }
  pybind11::ssize_t count() const { return q.shape(0); }
};

// Controls of one step or of several steps, read from Python. Owns the arrays that its pointers
// refer to.
struct Drive {
  Array tau = no_array(), q_target = no_array(), v_target = no_array();
  std::array<bool, 3> is_there{};

  // Each part is None, an array of shape `shape` + (extent,), or one row (extent,) for all steps.
  Drive(const Model& model, const ControlObjects& given, Shape2 shape = {}) {
    const auto& [tau_, q_target_, v_target_] = given;
    const auto read = [&](const pybind11::object& value, int extent, const char* name, Array& to) {
      if (value.is_none()) return false;
      Shape2 whole = shape;
      whole.push_back(extent);
      const pybind11::array array = pybind11::array::ensure(value);
      if (!array) PyErr_Clear();
      if (shape.size() != 1 || !array || array.ndim() != 1) {
        to = real_array(value, whole, name);
        return true;
      }
      const Array row = real_array(array, {extent}, name);
      to = Array(whole);
      for (pybind11::ssize_t i = 0; i < shape[0]; ++i)
        std::copy_n(row.data(), extent, to.mutable_data() + i * extent);
      return true;
    };
    is_there = {read(tau_, model.n_v, "tau", tau), read(q_target_, model.n_q, "q_target", q_target),
                read(v_target_, model.n_v, "v_target", v_target)};
  }
  ControlView view() const {
    return {is_there[0] ? tau.data() : nullptr, is_there[1] ? q_target.data() : nullptr,
            is_there[2] ? v_target.data() : nullptr};
  }
};

// Report of a step, with the name of the solver's last attempt.
struct BoundReport {
  RolloutReport report;
  const char* attempt;  // the last attempt that the solver needed

  BoundReport(const RolloutReport& r, SolverId solver)
      : report(r), attempt(name_of_attempt(r, solver)) {}
  static const char* name_of_attempt(const RolloutReport& r, SolverId solver) {
    return r.attempt < 0 || !solver.kind().attempt_name ? ""
                                                        : solver.kind().attempt_name(r.attempt);
  }
};

// Jacobians with respect to q, v, tau, q_target, v_target, and selected parameters. `extents` is
// empty for one step, {steps} for several. A block that is not requested has zero columns.
struct JacobianArrays {
  Array q = no_array(), v = no_array(), tau = no_array(), q_target = no_array(),
        v_target = no_array(), parameters = no_array();
  CauseArray causes;  // a OneSided for each step
  ParameterSelection selection;
  JacobianBlocks blocks;

  OneSided* one_sided() { return reinterpret_cast<OneSided*>(causes.mutable_data()); }

  JacobianArrays(const JacobianArrays&) = delete;
  JacobianArrays& operator=(const JacobianArrays&) = delete;
  JacobianArrays(const World& world, Shape2 extents, const std::array<bool, 5>& by,
                 const std::optional<SelectionTuple>& parameters_)
      : causes(extents),
        selection(parameters_ ? selection_of(world, *parameters_) : ParameterSelection()) {
    const Model& model = world.model();
    extents.insert(extents.end(), {2, model.n_v, 0});
    const auto make = [&](Array& array, double*& block, int columns, bool is_wanted) {
      extents.back() = is_wanted ? columns : 0;
      array = fresh_array(extents);
      block = is_wanted ? array.mutable_data() : nullptr;
    };
    make(q, blocks.q, model.n_v, by[0]);
    make(v, blocks.v, model.n_v, by[1]);
    make(tau, blocks.tau, model.n_v, by[2]);
    make(q_target, blocks.q_target, model.n_q, by[3]);
    make(v_target, blocks.v_target, model.n_v, by[4]);
    make(parameters, blocks.parameters, selection.size(), parameters_.has_value());
    blocks.selection = &selection;
  }
};

// Bind the methods of Simulation that take many steps: run, run_vjp and run_jacobians.
void bind_rollouts(pybind11::module_& m, pybind11::class_<BoundSimulation>& simulation);

}  // namespace robosim
