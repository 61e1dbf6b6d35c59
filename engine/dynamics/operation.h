// Registry of operations: all quantities computed from one state of a model. Each operation has a
// name, inputs and outputs with shapes, and one kernel. Calls for one state, batches, bindings and
// tests are written once, for all operations of the list.
//
// To add an operation: write a struct as in operations/ (name, inputs, outputs, run<S>) and add it
// to the list at the end of its file.
#pragma once

#include <cstddef>
#include <span>

#include "dynamics/applied_wrench.h"

namespace robosim {

// Extent of an argument's shape: a number, or one of these.
enum Dim : int {
  dim_q = -1,
  dim_v = -2,
  dim_frames = -3,
  dim_wrenches = -4,
  dim_bodies = -5,  // those that joints move
  dim_joints = -6,
  dim_inertial = -7,  // ten parameters per body, regressor.h
  dim_columns = -8,   // of a matrix with any number of columns
};

// Part of a square matrix over the coordinates that kernels fill (tree_matrix.h). Callers of the
// operation receive the full matrix.
enum class Pattern {
  full,
  upper,  // the upper triangle of a symmetric matrix
  // Entries of related coordinates, Model::rows: both triangles and the diagonal.
  tree,
  tree_lower,  // the lower triangle of these, of a symmetric matrix
};
constexpr bool on_tree(Pattern pattern) {
  return pattern == Pattern::tree || pattern == Pattern::tree_lower;
}

struct Argument {
  const char* name;
  int rank;
  int dims[3];
  Pattern pattern = Pattern::full;  // of an output
};

// Options of a call besides its arrays. `axes` and `frames` belong to operations about frames.
struct Options {
  std::span<const int> frames;         // indices into Model::frames
  std::span<const int> wrench_frames;  // where the applied wrenches act
  Axes axes = Axes::world;
  bool joint_forces = false;  // include the joints' own springs and friction
  int columns = 1;            // of arguments with any number of columns
};

// Last input of operations with wrenches: (wrenches, 6), linear and angular part at the frame's
// origin, in world axes.
inline constexpr Argument wrench_argument{"wrenches", 2, {dim_wrenches, 6, 0}};
inline constexpr int max_arguments = 12;

inline int extent(const Model& model, const Options& options, int dim) {
  switch (dim) {
    case dim_q:
      return model.n_q;
    case dim_v:
      return model.n_v;
    case dim_frames:
      return static_cast<int>(options.frames.size());
    case dim_wrenches:
      return static_cast<int>(options.wrench_frames.size());
    case dim_bodies:
      return model.n_bodies() - 1;  // the world does not count
    case dim_joints:
      return model.n_bodies() - 1;
    case dim_inertial:
      return 10 * (model.n_bodies() - 1);
    case dim_columns:
      return options.columns;
    default:
      return dim;
  }
}

// Number of values per state.
inline int size_of(const Model& model, const Options& options, const Argument& argument) {
  int size = 1;
  for (int i = 0; i < argument.rank; ++i) size *= extent(model, options, argument.dims[i]);
  return size;
}

struct OperationInfo {
  const char* name;
  std::span<const Argument> inputs, outputs;
  bool takes_wrenches, takes_frames;
  bool uses_inertia;
  bool solves;  // with the mass matrix; if it is singular, results are not finite
};

// Arguments of a kernel.
template <class S>
struct Call {
  const S* const* in;
  S* const* out;
  Wrenches<S> wrenches;
  const Options& options;
};

// List of operations, and properties of each.
template <class... Ops>
struct OperationList {
  static constexpr int size = sizeof...(Ops);
};

template <class Op>
constexpr OperationInfo operation_info() {
  OperationInfo info{Op::name, Op::inputs, Op::outputs, false, false, true, false};
  if constexpr (requires { Op::takes_wrenches; }) info.takes_wrenches = Op::takes_wrenches;
  if constexpr (requires { Op::takes_frames; }) info.takes_frames = Op::takes_frames;
  if constexpr (requires { Op::uses_inertia; }) info.uses_inertia = Op::uses_inertia;
  if constexpr (requires { Op::solves; }) info.solves = Op::solves;
  return info;
}

}  // namespace robosim
