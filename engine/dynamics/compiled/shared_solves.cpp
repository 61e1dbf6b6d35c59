// Mass matrix, its factor and articulated bodies, compiled for one instruction set.
#include "dynamics/compiled/shared.h"

namespace robosim {

ROBOSIM_SHARED_SOLVES(, OneLane)
ROBOSIM_SHARED_SOLVES(, AllLanes)

}  // namespace robosim
