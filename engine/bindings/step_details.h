// Forces and rows of a step, for Python. The fields of the structs have the names of those in
// robosim/simulation/details.py.
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
  int of;  // index of its contact, joint force or closure
  std::optional<Array> direction;
  const char *law, *mode;
  double impulse, velocity, target;
  double switch_distance;  // distance to the switch to another mode
};

struct ImpactDetail {
  double share;     // fraction of the step after which the impact acts
  double restored;  // fraction of the restitution that is applied
  Array before;     // velocity of each row at the impact, and at its end
  Array after;
  std::vector<RowDetail> rows, landed;
};

struct IslandDetail {
  std::vector<RowDetail> rows, way;
  std::vector<ImpactDetail> impacts;
  Array admittance;
};

struct StepDetails {
  std::vector<ContactDetail> contacts;
  std::vector<JointDetail> joints;
  std::vector<ClosureDetail> closures;
  std::vector<IslandDetail> islands;
  Array taken_back;  // n_v

  // Details of the last step, which had `n_islands` islands.
  StepDetails(const BoundScene& scene, const Stepper& stepper, int n_islands);

 private:
  // Index of the contact, joint force or closure of a row; complete after `add_parts` of its
  // island.
  struct Numbers {
    std::vector<std::size_t> first_contact;  // of each manifold
    // Per block of the island: the first joint force, or the closure.
    std::vector<std::size_t> of_block;
  };
  void add_parts(const BoundScene& scene, const Stepper& stepper, const StepIsland& whole,
                 const StepIsland& island, Numbers& numbers);
  void add_contact(const BoundScene& scene, const SceneQuery::PairManifold& pair, int point);
  void add_forces(const Stepper& stepper, const StepIsland& solved, const Numbers& numbers);
  std::vector<RowDetail> details_of(const Stepper& stepper, const StepIsland& solved,
                                    const Numbers& numbers) const;
  std::size_t number_of(const StepIsland& solved, std::size_t block, int row,
                        const Numbers& numbers) const;
};

void bind_step_details(pybind11::module_& m);

}  // namespace robosim
