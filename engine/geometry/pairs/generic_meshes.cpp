#include "geometry/pairs/generic_meshes.h"

namespace robosim {

ROBOSIM_MESH_PAIRS()

}  // namespace robosim
