// The workspace over plain numbers.
#include "model/data.h"

namespace robosim {

template struct Data<double>;

}  // namespace robosim
