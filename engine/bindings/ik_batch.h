// Bindings of inverse kinematics for many poses, called by bind_motion.
#pragma once

#include <pybind11/pybind11.h>

namespace robosim {

void bind_ik_batch(pybind11::module_& m);

}  // namespace robosim
