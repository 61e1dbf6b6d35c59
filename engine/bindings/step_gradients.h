// Gradients of steps as arrays for Python, and directions from such arrays.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.h"
#include "step/step_gradient.h"

namespace robosim {

// One kind of parameter of a world.
struct BoundParameterKind {
  std::string name;
  const char* owner;
  int owners;              // number of owners
  std::vector<int> shape;  // of the numbers of one owner
  std::string unit, about;
  double least, most;  // bounds of a value
  // Index of the first number among all parameters of a world, and stride from one owner to the
  // next.
  int first, stride;
};
std::vector<BoundParameterKind> bound_parameter_kinds(const World& world);
void bind_parameter_kinds(pybind11::module_& m);

using CauseArray = pybind11::array_t<std::uint8_t>;

// Gradients as arrays, of one step or of m rollouts. Rollouts add a leading axis of m, and the
// gradients of controls then have an axis of the steps behind it.
struct GradientArrays {
  Array q, v, tau, q_target, v_target;
  Array parameters, vertices;  // of the numbers of all parameters, and of vertices (n, 3)
  CauseArray causes;           // a OneSided for each

  GradientArrays(const World& world, const StepGradient& g);
  // The gradients of controls are passed in.
  GradientArrays(const World& world, const std::vector<StepGradient>& g, Array tau_,
                 Array q_target_, Array v_target_);
};

// Direction from arrays by name: q, v, tau, q_target, v_target, parameters, vertices. Missing parts
// are zero.
StepGradient direction_of(const World& world, const pybind11::dict& given);

// Linear combinations of numbers: the begin of each combination in the two lists behind, and the
// end of the last; indices of the numbers, where vertices come last with 3 numbers each; weights.
using SelectionTuple = std::tuple<std::vector<int>, std::vector<int>, std::vector<double>>;
ParameterSelection selection_of(const World& world, const SelectionTuple& given);

}  // namespace robosim
