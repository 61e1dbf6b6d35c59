// Gradients of steps as arrays for Python, and directions from such arrays (robosim/simulation/gradients.py has their names).
#pragma once

#include <tuple>

#include "bindings/arrays.h"
#include "step/step_gradient.h"

namespace robosim {

// mass, com, inertia, placement, armature, damping, friction, stiffness, spring_reference, q_lower, q_upper, gravity.
using ModelTuple = std::tuple<Array, Array, Array, Array, Array, Array, Array, Array, Array, Array, Array, Array>;
// poses, sizes, scales, vertices.
using ObjectsTuple = std::tuple<Array, Array, Array, Array>;
// frames (n, 2, 6), coefficients (m, 5).
using ClosuresTuple = std::tuple<Array, Array>;
// q, v, tau, q_target, v_target, materials, motors, model, objects, closures, dt, one_sided.
using GradientTuple = std::tuple<Array, Array, Array, Array, Array, Array, Array, ModelTuple, ObjectsTuple, ClosuresTuple, double, bool>;

// The gradients of controls are given, as those of a run have a row for each step.
GradientTuple gradient_tuple(const World& world, const StepGradient& g, Array tau, Array q_target, Array v_target);
// Of one step.
GradientTuple gradient_tuple(const World& world, const StepGradient& g);

// A direction from arrays by name: q, v, tau, q_target, v_target, materials, motors, the fields of ModelGradient, pose, size, scale and vertices of objects,
// frames and coefficients of closures, dt. What is not there is zero.
StepGradient direction_of(const World& world, const pybind11::dict& given);

}  // namespace robosim
