// Shared by all calls of operations: memory, choices, shapes of arguments, and arrays for results.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/configurations.h"
#include "dynamics/kernels.h"

namespace robosim {

// Workspace of the kernels for one model, for calls with one state.
struct OperationData {
  std::shared_ptr<const Model> model;
  std::unique_ptr<Workspace> workspace;
  explicit OperationData(std::shared_ptr<const Model> of)
      : model(std::move(of)), workspace(kernels().make_workspace(*model)) {}
};

// Check that memory belongs to this model, since its size depends on the model.
template <class Memory>
void check_memory(const Memory& memory, const Model& model) {
  if (memory.model.get() != &model)
    throw InputError(message("this memory was made for another model than '", model.name,
                             "'; each must have its own"));
}

inline const OperationInfo& info_of(int operation) {
  if (operation < 0 || static_cast<std::size_t>(operation) >= all_operations().size())
    throw InputError(message("there is no operation ", operation));
  return all_operations()[operation];
}

// One frame, whose results have no axis for frames, or several frames.
using Frames = std::variant<int, std::vector<int>>;

// Frame indices and choices of one call. Owns the lists that Options refers to. `columns` is the
// extent of arguments that may have any number of columns, -1 for vectors.
struct Choices {
  bool one_frame, vectors;
  std::vector<int> frames, wrench_frames;
  Options options;

  Choices(const Model& model, const Frames& frames_, std::vector<int> wrench_frames_, bool local,
          bool joint_forces, int columns)
      : one_frame(frames_.index() == 0),
        vectors(columns < 0),
        frames(one_frame ? std::vector<int>{std::get<int>(frames_)}
                         : std::get<std::vector<int>>(frames_)),
        wrench_frames(std::move(wrench_frames_)) {
    for (const std::vector<int>* list : {&frames, &wrench_frames})
      for (const int frame : *list)
        if (frame < 0 || static_cast<std::size_t>(frame) >= model.frames.size())
          throw InputError(
              message("there is no frame ", frame, "; the model has ", model.frames.size()));
    options = {frames, wrench_frames, local ? Axes::local : Axes::world, joint_forces,
               vectors ? 1 : columns};
  }
  Choices(const Choices&) = delete;
  Choices& operator=(const Choices&) = delete;
};

inline Shape2 shape_of(const Model& model, const Choices& choices, const Argument& argument) {
  Shape2 shape;
  for (int i = 0; i < argument.rank; ++i)
    if (!(choices.one_frame && argument.dims[i] == dim_frames) &&
        !(choices.vectors && argument.dims[i] == dim_columns))
      shape.push_back(extent(model, choices.options, argument.dims[i]));
  return shape;
}

// Return true for configurations: the inputs with one entry per entry of q, as no input is a rate
// of q.
inline bool is_configuration(const Argument& input) {
  return input.rank == 1 && input.dims[0] == dim_q;
}

// Inputs of the operation, and the wrenches if any act.
inline std::vector<Argument> inputs_of(const OperationInfo& info, const Options& options) {
  std::vector<Argument> inputs(info.inputs.begin(), info.inputs.end());
  if (!options.wrench_frames.empty()) {
    if (!info.takes_wrenches) throw InputError(message(info.name, " takes no wrenches"));
    inputs.push_back(wrench_argument);
  }
  return inputs;
}

[[noreturn]] inline void raise_count(const OperationInfo& info, std::size_t expected,
                                     std::size_t given, const char* what) {
  throw InputError(message(info.name, " has ", expected, " ", what, ", not ", given));
}

inline bool overlap(const Array& a, const Array& b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

// Arrays for results: the arrays in `out`, or fresh arrays from `made`.
inline std::vector<Array> results_for(const OperationInfo& info, const pybind11::object& out,
                                      const std::vector<Shape2>& shapes,
                                      Array (*made)(const Shape2&)) {
  std::vector<Array> results;
  if (out.is_none()) {
    for (const Shape2& shape : shapes) results.push_back(made(shape));
  } else if (pybind11::isinstance<pybind11::tuple>(out)) {
    const pybind11::tuple all = pybind11::reinterpret_borrow<pybind11::tuple>(out);
    if (all.size() != shapes.size()) raise_count(info, shapes.size(), all.size(), "results");
    for (std::size_t i = 0; i < shapes.size(); ++i)
      results.push_back(result_array(all[i], shapes[i]));
  } else {
    if (shapes.size() != 1) raise_count(info, shapes.size(), 1, "results");
    results.push_back(result_array(out, shapes[0]));
  }
  return results;
}

inline pybind11::object packed(const std::vector<Array>& results) {
  if (results.size() == 1) return results[0];
  pybind11::tuple all(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) all[i] = results[i];
  return all;
}

[[noreturn]] inline void raise_singular(const Model& model, const std::string& where) {
  throw InputError(message("the mass matrix of model '", model.name, "' is singular", where,
                           ": nothing with mass moves along with some joint"));
}

}  // namespace robosim
