// The registry of operations: one function for calls with one state, and one for batches.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>

#include "bindings/arrays.h"
#include "bindings/module.h"
#include "bindings/operation_call.h"
#include "dynamics/batch.h"

namespace py = pybind11;

namespace robosim {

namespace {

py::object evaluate(int operation, const Model& model, OperationData& data, const py::tuple& inputs,
                    const py::object& out, const Frames& frames, std::vector<int> wrench_frames,
                    bool local, bool joint_forces, int columns) {
  const OperationInfo& info = info_of(operation);
  check_memory(data, model);
  const Choices choices(model, frames, std::move(wrench_frames), local, joint_forces, columns);
  const Options& options = choices.options;
  const std::vector<Argument> expected = inputs_of(info, options);
  if (inputs.size() != expected.size()) raise_count(info, expected.size(), inputs.size(), "inputs");
  std::vector<Array> in;
  std::array<const double*, max_arguments> in_data{};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    in.push_back(real_array(inputs[i], shape_of(model, choices, expected[i]), expected[i].name));
    in_data[i] = in[i].data();
    if (is_configuration(expected[i])) check_quaternions(model, in_data[i], 1, expected[i].name);
  }
  std::vector<Shape2> shapes;
  for (const Argument& output : info.outputs) shapes.push_back(shape_of(model, choices, output));
  std::vector<Array> results =
      results_for(info, out, shapes, [](const Shape2& shape) { return Array(shape); });
  std::vector<Array> written = results;
  std::array<double*, max_arguments> out_data{};
  for (std::size_t i = 0; i < results.size(); ++i) {
    // A result may overlap an argument: such a result is computed in a separate array and copied
    // last.
    const bool shared =
        std::any_of(in.begin(), in.end(), [&](const Array& a) { return overlap(a, results[i]); });
    if (shared) written[i] = Array(shapes[i]);
    out_data[i] = written[i].mutable_data();
  }
  kernels().operations[operation].one(model, *data.workspace, options, in_data.data(),
                                      out_data.data());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (info.solves && !all_finite(out_data[i], written[i].size()))
      raise_singular(model, " at this q");
    if (written[i].ptr() != results[i].ptr())
      std::copy(out_data[i], out_data[i] + written[i].size(), results[i].mutable_data());
  }
  return packed(results);
}

// Memory of a batch, bound to one model by the first call.
struct BoundBatch {
  Batch batch;
  std::shared_ptr<const Model> model;
};

// Input of a batch: one array for all states, or an array with an additional leading axis.
struct BatchInput {
  Array array;
  bool shared;
};

BatchInput batch_input(const py::handle& value, const Shape2& shape, const char* name,
                       std::ptrdiff_t& n) {
  const py::array any = py::array::ensure(value);
  if (!any) {
    PyErr_Clear();
    throw InputError(message(name, " is not an array of numbers"));
  }
  if (static_cast<std::size_t>(any.ndim()) != shape.size() + 1)
    return {real_array(value, shape, name), true};
  Shape2 whole{any.shape(0)};
  whole.insert(whole.end(), shape.begin(), shape.end());
  if (n >= 0 && whole[0] != n)
    throw InputError(message(name, " holds ", whole[0], " states, what comes before it ", n));
  n = whole[0];
  return {real_array(any, whole, name), false};
}

py::object evaluate_batch(int operation, const std::shared_ptr<Model>& model_owner,
                          BoundBatch& memory, const py::tuple& inputs, const py::object& out,
                          const Frames& frames, std::vector<int> wrench_frames, bool local,
                          bool joint_forces, int columns, int threads) {
  const OperationInfo& info = info_of(operation);
  const Model& model = *model_owner;
  if (!memory.model) memory.model = model_owner;
  check_memory(memory, model);
  const Choices choices(model, frames, std::move(wrench_frames), local, joint_forces, columns);
  const Options& options = choices.options;
  const std::vector<Argument> expected = inputs_of(info, options);
  if (inputs.size() != expected.size()) raise_count(info, expected.size(), inputs.size(), "inputs");
  std::ptrdiff_t n = -1;
  std::vector<BatchInput> in;
  std::array<const double*, max_arguments> in_data{};
  std::array<std::ptrdiff_t, max_arguments> stride{};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    in.push_back(
        batch_input(inputs[i], shape_of(model, choices, expected[i]), expected[i].name, n));
    in_data[i] = in[i].array.data();
    stride[i] = in[i].shared ? 0 : size_of(model, options, expected[i]);
    if (is_configuration(expected[i]))
      check_quaternions(model, in_data[i], in[i].shared ? 1 : n, expected[i].name);
  }
  if (n < 0)
    throw InputError(message(info.name, ": no input has a batch axis in front of its own"));
  std::vector<Shape2> shapes;
  for (const Argument& output : info.outputs) {
    Shape2 shape{n};
    for (const auto extent : shape_of(model, choices, output)) shape.push_back(extent);
    shapes.push_back(shape);
  }
  std::vector<Array> results = results_for(info, out, shapes, aligned_array), written = results;
  std::array<double*, max_arguments> out_data{};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool shared = std::any_of(
        in.begin(), in.end(), [&](const BatchInput& a) { return overlap(a.array, results[i]); });
    if (shared) written[i] = Array(shapes[i]);
    out_data[i] = written[i].mutable_data();
  }
  {
    const py::gil_scoped_release release;
    memory.batch.run(model, operation, options, n, in_data.data(), stride.data(), out_data.data(),
                     threads);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (info.solves && !all_finite(out_data[i], written[i].size())) {
      const std::ptrdiff_t bad = first_not_finite(out_data[i], written[i].size());
      raise_singular(model, message(" at state ", bad / (written[i].size() / n), " of the batch"));
    }
    if (written[i].ptr() != results[i].ptr())
      std::copy(out_data[i], out_data[i] + written[i].size(), results[i].mutable_data());
  }
  return packed(results);
}

// Contents of the registry for Python: per operation its index, its arguments with their shapes,
// and its options.
py::dict operation_rows() {
  const auto dims = [](const Argument& argument) {
    py::tuple shape(static_cast<std::size_t>(argument.rank));
    for (int i = 0; i < argument.rank; ++i) {
      switch (argument.dims[i]) {
        case dim_q:
          shape[i] = "n_q";
          break;
        case dim_v:
          shape[i] = "n_v";
          break;
        case dim_frames:
          shape[i] = "frames";
          break;
        case dim_wrenches:
          shape[i] = "wrenches";
          break;
        case dim_bodies:
          shape[i] = "bodies";
          break;
        case dim_joints:
          shape[i] = "joints";
          break;
        case dim_inertial:
          shape[i] = "inertial";
          break;
        case dim_columns:
          shape[i] = "columns";
          break;
        default:
          shape[i] = argument.dims[i];
      }
    }
    return shape;
  };
  const auto rows = [&](std::span<const Argument> arguments) {
    py::dict out;
    for (const Argument& argument : arguments) out[argument.name] = dims(argument);
    return out;
  };
  py::dict all;
  int index = 0;
  for (const OperationInfo& info : all_operations()) {
    py::dict row;
    row["index"] = index++;
    row["inputs"] = rows(info.inputs);
    row["outputs"] = rows(info.outputs);
    row["takes_wrenches"] = info.takes_wrenches;
    row["takes_frames"] = info.takes_frames;
    row["uses_inertia"] = info.uses_inertia;
    row["solves"] = info.solves;
    all[info.name] = row;
  }
  return all;
}

}  // namespace

void bind_operations(py::module_& m) {
  py::class_<OperationData, std::shared_ptr<OperationData>>(
      m, "OperationData",
      "Memory of the operations on one state of one model; not state. One per thread.")
      .def(py::init([](const std::shared_ptr<Model>& model) {
             return std::make_shared<OperationData>(model);
           }),
           py::arg("model").none(false));
  py::class_<BoundBatch>(m, "Batch", "Memory of the operations on batches of one model; not state.")
      .def(py::init<>());
  bind_bound_operation(m);
  m.def("operations", &operation_rows);
  m.def("evaluate", &evaluate, py::arg("operation"), py::arg("model"), py::arg("data"),
        py::arg("inputs"), py::arg("out") = py::none(),
        py::arg("frames") = Frames(std::vector<int>()),
        py::arg("wrench_frames") = std::vector<int>(), py::arg("local") = false,
        py::arg("joint_forces") = false, py::arg("columns") = -1);
  m.def("evaluate_batch", &evaluate_batch, py::arg("operation"), py::arg("model").none(false),
        py::arg("batch"), py::arg("inputs"), py::arg("out") = py::none(),
        py::arg("frames") = Frames(std::vector<int>()),
        py::arg("wrench_frames") = std::vector<int>(), py::arg("local") = false,
        py::arg("joint_forces") = false, py::arg("columns") = -1, py::arg("threads") = 0);
}

}  // namespace robosim
