// Instance of crba for double.
#include "dynamics/crba.h"

namespace robosim {

template void crba(const Model&, Data<double>&, const double*, double*);

}  // namespace robosim
