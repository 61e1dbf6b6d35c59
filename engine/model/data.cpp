// Instance of the workspace for double.
#include "model/data.h"

namespace robosim {

template struct Data<double>;

}  // namespace robosim
