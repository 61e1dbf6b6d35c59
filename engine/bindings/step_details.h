// Forces and rows of a step, for Python: structs whose fields have the names of those of robosim/simulation/details.py.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bindings/bound_scene.h"
#include "bindings/shape_arguments.h"
#include "step/step.h"

namespace robosim {

struct ContactDetail {
  std::string A, B;
  Array point, normal;
  double gap;
  Array force, moment;  // on B
  const char* mode;
  PartTuple feature_A, feature_B;
  double slide;
};

struct JointDetail {
  int coordinate;  // entry of v
  const char* source;
  double force;
};

struct ClosureDetail {
  std::string name;
  Array point, force, moment;  // on the second link
};

struct RowDetail {
  const char* source;
  int of;  // number of its contact, joint force or closure
  std::optional<Array> direction;
  const char *law, *mode;
  double impulse, velocity, target;
  double switch_distance;  // to another mode
  double share;            // of the step, after which it acts
};

struct IslandDetail {
  std::vector<RowDetail> rows, way;
  Array admittance;
};

struct StepDetails {
  std::vector<ContactDetail> contacts;
  std::vector<JointDetail> joints;
  std::vector<ClosureDetail> closures;
  std::vector<IslandDetail> islands;
  Array taken_back;  // n_v

  // Of the last step, which had so many islands.
  StepDetails(const BoundScene& scene, const Stepper& stepper, int n_islands);

 private:
  void add_contact(const BoundScene& scene, const Stepper& stepper, const StepIsland& island, int first_row, int last_row, int point);
  std::size_t add_closure(const Stepper& stepper, const StepIsland& island, std::size_t block);
  void add_joint(const Stepper& stepper, const StepIsland& island, std::size_t block, int row);
};

void bind_step_details(pybind11::module_& m);

}  // namespace robosim
