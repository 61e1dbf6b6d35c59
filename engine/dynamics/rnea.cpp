// Instances of rnea and its special cases for double.
#include "dynamics/rnea.h"

namespace robosim {

template void rnea(const Model&, Data<double>&, const double*, const double*, const double*,
                   double*, Wrenches<double>);
template void nonlinear_effects(const Model&, Data<double>&, const double*, const double*, double*,
                                Wrenches<double>);
template void gravity_forces(const Model&, Data<double>&, const double*, double*);

}  // namespace robosim
