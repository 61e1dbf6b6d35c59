#include "geometry/pairs/generic_pairs.h"

namespace robosim {

ROBOSIM_PRIMITIVE_PAIRS()

}  // namespace robosim
