// Gradients of steps as arrays for Python, and directions from such arrays.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.h"
#include "step/step_gradient.h"

namespace robosim {

// One kind of parameter, of a world.
struct BoundParameterKind {
  std::string name;
  const char* owner;
  int owners;              // how many
  std::vector<int> shape;  // of the numbers of one
  std::string unit, about;
  double least, most;  // that a value may be
  // The index of the first number among all of a world, and from one owner to the next.
  int first, stride;
};
std::vector<BoundParameterKind> bound_parameter_kinds(const World& world);
void bind_parameter_kinds(pybind11::module_& m);

using CauseArray = pybind11::array_t<std::uint8_t>;

// Gradients as arrays: of one step, or of m rollouts with an axis for them in front, and one for
// the steps in front of those of controls.
struct GradientArrays {
  Array q, v, tau, q_target, v_target;
  Array parameters, vertices;  // numbers of all parameters, and of vertices (n, 3)
  CauseArray causes;           // OneSided, of each

  GradientArrays(const World& world, const StepGradient& g);
  // The gradients of controls are given.
  GradientArrays(const World& world, const std::vector<StepGradient>& g, Array tau_,
                 Array q_target_, Array v_target_);
};

// A direction from arrays by name: q, v, tau, q_target, v_target, parameters, vertices. What is not
// there is zero.
StepGradient direction_of(const World& world, const pybind11::dict& given);

// Combinations of numbers: where each begins in the lists behind, and where the last one ends;
// their numbers, of vertices 3 each behind all others; how often each counts.
using SelectionTuple = std::tuple<std::vector<int>, std::vector<int>, std::vector<double>>;
ParameterSelection selection_of(const World& world, const SelectionTuple& given);

}  // namespace robosim
