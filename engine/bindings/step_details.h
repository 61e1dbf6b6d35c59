// What acted in a step, as tuples for Python (robosim/simulation/details.py has their names).
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/bound_scene.h"
#include "bindings/shape_arguments.h"
#include "step/step.h"

namespace robosim {

// Names, point, normal, gap, force on the second, moment on it, mode, features of both, slide.
using ContactTuple = std::tuple<std::string, std::string, Array, Array, double, Array, Array, const char*, PartTuple, PartTuple, double>;
// Index into v, source, force.
using JointTuple = std::tuple<int, const char*, double>;
// Name, point, force on the second there, moment on it.
using ClosureTuple = std::tuple<std::string, Array, Array, Array>;
// Source, number of its contact, joint force or closure, direction (3,), law, class, impulse, velocity, target, distance to the next switch, share
// of the step after which it acts.
using RowTuple = std::tuple<const char*, int, std::optional<Array>, const char*, const char*, double, double, double, double, double>;
// Rows, and their admittances.
using IslandTuple = std::tuple<std::vector<RowTuple>, Array>;

struct StepDetailTuples {
  std::vector<ContactTuple> contacts;
  std::vector<JointTuple> joints;
  std::vector<ClosureTuple> closures;
  std::vector<IslandTuple> islands;

  // Of the last step, which had so many islands.
  StepDetailTuples(const BoundScene& scene, const Stepper& stepper, int n_islands);

 private:
  void add_contact(const BoundScene& scene, const Stepper& stepper, const StepIsland& island, int first_row, int last_row, int point);
  std::size_t add_closure(const Stepper& stepper, const StepIsland& island, std::size_t block);
  void add_joint(const Stepper& stepper, const StepIsland& island, std::size_t block, int row);
};

}  // namespace robosim
