// Gradients of steps as arrays for Python, and directions from such arrays.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.h"
#include "step/step_gradient.h"

namespace robosim {

// One kind of parameter: name, kind of owner, owners, shape per owner, unit, meaning, least and greatest value; index of its first number
// among all of a world, and the stride from one owner to the next.
using ParameterKindTuple = std::tuple<std::string, const char*, int, std::vector<int>, std::string, std::string, double, double, int, int>;
std::vector<ParameterKindTuple> parameter_kind_tuples(const World& world);

// q, v, tau, q_target, v_target; numbers of all parameters, and of vertices (n, 3); one_sided.
using GradientTuple = std::tuple<Array, Array, Array, Array, Array, Array, Array, bool>;

// The gradients of controls are given, as those of a run have a row for each step.
GradientTuple gradient_tuple(const World& world, const StepGradient& g, Array tau, Array q_target, Array v_target);
// Of one step.
GradientTuple gradient_tuple(const World& world, const StepGradient& g);

// A direction from arrays by name: q, v, tau, q_target, v_target, parameters, vertices. What is not there is zero.
StepGradient direction_of(const World& world, const pybind11::dict& given);

// Combinations of numbers: where each begins in the lists behind, and where the last one ends; their numbers, of vertices 3 each behind all others; how
// often each counts.
using SelectionTuple = std::tuple<std::vector<int>, std::vector<int>, std::vector<double>>;
ParameterSelection selection_of(const World& world, const SelectionTuple& given);

// (n, 3) of all rows.
Array vertices_array(int rows, const VertexGradient& vertices);

}  // namespace robosim
