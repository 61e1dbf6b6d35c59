// Memory, kinematics and sweeps along the tree, compiled for one instruction set.
#include "dynamics/compiled/shared.h"

namespace robosim {

ROBOSIM_SHARED_SWEEPS(, OneLane)
ROBOSIM_SHARED_SWEEPS(, AllLanes)

}  // namespace robosim
