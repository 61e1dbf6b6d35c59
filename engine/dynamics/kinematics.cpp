// Instances of forward_kinematics and of velocities and accelerations for double.
#include "dynamics/kinematics.h"

namespace robosim {

template void forward_kinematics(const Model&, Data<double>&, const double*);
template void motion_subspaces(const Model&, Data<double>&);
template void forward_velocities(const Model&, Data<double>&, const double*);
template void forward_accelerations(const Model&, Data<double>&, const double*, const double*);

}  // namespace robosim
