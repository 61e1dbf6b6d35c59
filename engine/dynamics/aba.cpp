// aba, compiled for double.
#include "dynamics/aba.h"

namespace robosim {

template void aba(const Model&, Data<double>&, const double*, const double*, const double*, double*, const Force<double>*);

}  // namespace robosim
