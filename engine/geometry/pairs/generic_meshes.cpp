#include "geometry/pairs/generic_pairs.h"

namespace robosim {

ROBOSIM_MESH_PAIRS()

}  // namespace robosim
