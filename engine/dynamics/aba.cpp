// Instance of aba for double.
#include "dynamics/aba.h"

namespace robosim {

template void aba(const Model&, Data<double>&, const double*, const double*, const double*, double*,
                  Wrenches<double>);

}  // namespace robosim
