// The registry of operations: for one state and for batches, through one function each.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>

#include "bindings/arrays.h"
#include "bindings/module.h"
#include "dynamics/batch.h"

namespace py = pybind11;

namespace robosim {

namespace {

// The kernels' memory for one model, for calls of one state.
struct OperationData {
  std::unique_ptr<Workspace> workspace;
  explicit OperationData(const Model& model) : workspace(kernels().make_workspace(model)) {}
};

const OperationInfo& info_of(int operation) {
  if (operation < 0 || static_cast<std::size_t>(operation) >= all_operations().size())
    throw InputError(message("there is no operation ", operation));
  return all_operations()[static_cast<std::size_t>(operation)];
}

Shape2 shape_of(const Model& model, const Options& options, const Argument& argument) {
  Shape2 shape;
  for (int i = 0; i < argument.rank; ++i) shape.push_back(extent(model, options, argument.dims[i]));
  return shape;
}

// Frame indices and choices of one call; keeps the lists that Options points to.
struct Choices {
  std::vector<int> frames, wrench_frames;
  Options options;

  Choices(const Model& model, std::vector<int> frames_, std::vector<int> wrench_frames_, bool local, bool joint_forces)
      : frames(std::move(frames_)), wrench_frames(std::move(wrench_frames_)) {
    for (const std::vector<int>* list : {&frames, &wrench_frames})
      for (const int frame : *list)
        if (frame < 0 || static_cast<std::size_t>(frame) >= model.frames.size())
          throw InputError(message("there is no frame ", frame, "; the model has ", model.frames.size()));
    options = {frames, wrench_frames, local ? Axes::local : Axes::world, joint_forces};
  }
  Choices(const Choices&) = delete;
  Choices& operator=(const Choices&) = delete;
};

// The operation's inputs and, where wrenches act, these.
std::vector<Argument> inputs_of(const OperationInfo& info, const Options& options) {
  std::vector<Argument> inputs(info.inputs.begin(), info.inputs.end());
  if (!options.wrench_frames.empty()) {
    if (!info.takes_wrenches) throw InputError(message(info.name, " takes no wrenches"));
    inputs.push_back(wrench_argument);
  }
  return inputs;
}

[[noreturn]] void raise_count(const OperationInfo& info, std::size_t expected, std::size_t given, const char* what) {
  throw InputError(message(info.name, " has ", expected, " ", what, ", not ", given));
}

bool overlap(const Array& a, const Array& b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

// Where results go: the arrays in `out`, or fresh ones.
std::vector<Array> results_for(const OperationInfo& info, const py::object& out, const std::vector<Shape2>& shapes) {
  std::vector<Array> results;
  if (out.is_none()) {
    for (const Shape2& shape : shapes) results.emplace_back(shape);
  } else if (py::isinstance<py::tuple>(out)) {
    const py::tuple all = py::reinterpret_borrow<py::tuple>(out);
    if (all.size() != shapes.size()) raise_count(info, shapes.size(), all.size(), "results");
    for (std::size_t i = 0; i < shapes.size(); ++i) results.push_back(result_array(all[i], shapes[i]));
  } else {
    if (shapes.size() != 1) raise_count(info, shapes.size(), 1, "results");
    results.push_back(result_array(out, shapes[0]));
  }
  return results;
}

py::object packed(const std::vector<Array>& results) {
  if (results.size() == 1) return results[0];
  py::tuple all(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) all[i] = results[i];
  return all;
}

[[noreturn]] void raise_singular(const Model& model, const std::string& where) {
  throw InputError(message("the mass matrix of model '", model.name, "' is singular", where,
                           ": nothing with mass moves along with some joint"));
}

py::object evaluate(int operation, const Model& model, OperationData& data, const py::tuple& inputs, const py::object& out,
                    std::vector<int> frames, std::vector<int> wrench_frames, bool local, bool joint_forces) {
  const OperationInfo& info = info_of(operation);
  const Choices choices(model, std::move(frames), std::move(wrench_frames), local, joint_forces);
  const Options& options = choices.options;
  const std::vector<Argument> expected = inputs_of(info, options);
  if (inputs.size() != expected.size()) raise_count(info, expected.size(), inputs.size(), "inputs");
  std::vector<Array> in;
  std::array<const double*, max_arguments> in_data{};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    in.push_back(real_array(inputs[i], shape_of(model, options, expected[i]), expected[i].name));
    in_data[i] = in[i].data();
  }
  std::vector<Shape2> shapes;
  for (const Argument& output : info.outputs) shapes.push_back(shape_of(model, options, output));
  std::vector<Array> results = results_for(info, out, shapes), written = results;
  std::array<double*, max_arguments> out_data{};
  for (std::size_t i = 0; i < results.size(); ++i) {
    // A result may be one of the arguments: it is written last.
    const bool shared = std::any_of(in.begin(), in.end(), [&](const Array& a) { return overlap(a, results[i]); });
    if (shared) written[i] = Array(shapes[i]);
    out_data[i] = written[i].mutable_data();
  }
  kernels().operations[static_cast<std::size_t>(operation)].one(model, *data.workspace, options, in_data.data(), out_data.data());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (info.solves)
      for (py::ssize_t k = 0; k < written[i].size(); ++k)
        if (!std::isfinite(out_data[i][k])) raise_singular(model, " at this q");
    if (written[i].ptr() != results[i].ptr())
      std::copy(out_data[i], out_data[i] + written[i].size(), results[i].mutable_data());
  }
  return packed(results);
}

// An input of a batch: one array for all states, or with one more axis in front.
struct BatchInput {
  Array array;
  bool shared;
};

BatchInput batch_input(const py::handle& value, const Shape2& shape, const char* name, std::ptrdiff_t& n) {
  const py::array any = py::array::ensure(value);
  if (!any) {
    PyErr_Clear();
    throw InputError(message(name, " is not an array of numbers"));
  }
  if (static_cast<std::size_t>(any.ndim()) != shape.size() + 1) return {real_array(value, shape, name), true};
  Shape2 whole{any.shape(0)};
  whole.insert(whole.end(), shape.begin(), shape.end());
  if (n >= 0 && whole[0] != n) throw InputError(message(name, " holds ", whole[0], " states, what comes before it ", n));
  n = whole[0];
  return {real_array(any, whole, name), false};
}

py::object evaluate_batch(int operation, const Model& model, Batch& batch, const py::tuple& inputs, const py::object& out,
                          std::vector<int> frames, std::vector<int> wrench_frames, bool local, bool joint_forces, int threads) {
  const OperationInfo& info = info_of(operation);
  const Choices choices(model, std::move(frames), std::move(wrench_frames), local, joint_forces);
  const Options& options = choices.options;
  const std::vector<Argument> expected = inputs_of(info, options);
  if (inputs.size() != expected.size()) raise_count(info, expected.size(), inputs.size(), "inputs");
  std::ptrdiff_t n = -1;
  std::vector<BatchInput> in;
  std::array<const double*, max_arguments> in_data{};
  std::array<std::ptrdiff_t, max_arguments> stride{};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    in.push_back(batch_input(inputs[i], shape_of(model, options, expected[i]), expected[i].name, n));
    in_data[i] = in[i].array.data();
    stride[i] = in[i].shared ? 0 : size_of(model, options, expected[i]);
  }
  if (n < 0) throw InputError(message(info.name, ": no input has a batch axis in front of its own"));
  std::vector<Shape2> shapes;
  for (const Argument& output : info.outputs) {
    Shape2 shape{n};
    for (const auto extent : shape_of(model, options, output)) shape.push_back(extent);
    shapes.push_back(shape);
  }
  std::vector<Array> results = results_for(info, out, shapes), written = results;
  std::array<double*, max_arguments> out_data{};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool shared = std::any_of(in.begin(), in.end(), [&](const BatchInput& a) { return overlap(a.array, results[i]); });
    if (shared) written[i] = Array(shapes[i]);
    out_data[i] = written[i].mutable_data();
  }
  {
    const py::gil_scoped_release release;
    batch.run(model, operation, options, n, in_data.data(), stride.data(), out_data.data(), threads);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (info.solves)
      for (py::ssize_t k = 0; k < written[i].size(); ++k)
        if (!std::isfinite(out_data[i][k])) raise_singular(model, message(" at state ", k / (written[i].size() / n), " of the batch"));
    if (written[i].ptr() != results[i].ptr())
      std::copy(out_data[i], out_data[i] + written[i].size(), results[i].mutable_data());
  }
  return packed(results);
}

// What the registry knows, for the Python side: per operation its index, arguments with shapes, and what it takes.
py::dict operation_rows() {
  const auto dims = [](const Argument& argument) {
    py::tuple shape(static_cast<std::size_t>(argument.rank));
    for (int i = 0; i < argument.rank; ++i) {
      switch (argument.dims[i]) {
        case dim_q: shape[static_cast<std::size_t>(i)] = "n_q"; break;
        case dim_v: shape[static_cast<std::size_t>(i)] = "n_v"; break;
        case dim_frames: shape[static_cast<std::size_t>(i)] = "frames"; break;
        case dim_wrenches: shape[static_cast<std::size_t>(i)] = "wrenches"; break;
        case dim_bodies: shape[static_cast<std::size_t>(i)] = "bodies"; break;
        case dim_joints: shape[static_cast<std::size_t>(i)] = "joints"; break;
        default: shape[static_cast<std::size_t>(i)] = argument.dims[i];
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
    row["solves"] = info.solves;
    all[info.name] = row;
  }
  return all;
}

}  // namespace

void bind_operations(py::module_& m) {
  py::class_<OperationData>(m, "OperationData", "Memory of the operations on one state of one model; not state. One per thread.")
      .def(py::init<const Model&>(), py::arg("model"));
  py::class_<Batch>(m, "Batch", "Memory of the operations on batches of one model; not state.").def(py::init<>());
  m.def("operations", &operation_rows);
  m.def("evaluate", &evaluate, py::arg("operation"), py::arg("model"), py::arg("data"), py::arg("inputs"),
        py::arg("out") = py::none(), py::arg("frames") = std::vector<int>(), py::arg("wrench_frames") = std::vector<int>(),
        py::arg("local") = false, py::arg("joint_forces") = false);
  m.def("evaluate_batch", &evaluate_batch, py::arg("operation"), py::arg("model"), py::arg("batch"), py::arg("inputs"),
        py::arg("out") = py::none(), py::arg("frames") = std::vector<int>(), py::arg("wrench_frames") = std::vector<int>(),
        py::arg("local") = false, py::arg("joint_forces") = false, py::arg("threads") = 0);
}

}  // namespace robosim
