// Kinematics of frames, compiled for one instruction set.
#include "dynamics/compiled/compile.h"
#include "dynamics/compiled/groups.h"
#include "dynamics/operations/frames.h"

namespace robosim::detail {

template <>
void group_kernels<FrameOperations, own_isa>(Kernel* to) {
  add_kernels<own_isa>(FrameOperations(), to);
}

}  // namespace robosim::detail
