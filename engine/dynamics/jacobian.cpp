// Instance of frame_jacobian for double.
#include "dynamics/jacobian.h"

namespace robosim {

template void frame_jacobian(const Model&, const Data<double>&, const Frame&, Axes, double*,
                             const Vec3<double>&);

}  // namespace robosim
