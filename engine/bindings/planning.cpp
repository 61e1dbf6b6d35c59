// Collision scenes, edge checks, search, inverse kinematics and timing.
#include "bindings/module.h"
#include "dynamics/kinematics.h"

namespace robosim {

void bind_planning(pybind11::module_&) {}

}  // namespace robosim
