// Inertia of a rigid body B: mass, centre of mass in the body frame, rotational inertia about the centre of mass.
#pragma once

#include "spatial/mat3.h"

namespace robosim {

struct Inertia {
  double mass = 0;    // [kg]
  Vec3d com;          // p_BoBcm_B [m]
  Mat3d I_com;        // about Bcm, axes of B, symmetric [kg m^2]
};

}  // namespace robosim
