// Inertia of a rigid body B: mass, center of mass in the body frame, rotational inertia about the
// center of mass.
//
// Moving the reference point and summing bodies follow the parallel-axis theorem, I_Bo = I_Bcm + m
// (c.c 1 - c c^T); see Featherstone, "Rigid Body Dynamics Algorithms" (2008), section 2.13.
#pragma once

#include <array>
#include <string>

#include "spatial/se3.h"

namespace robosim {

struct Inertia {
  double mass = 0;  // [kg]
  Vec3d com;        // p_BoBcm_B [m]
  Mat3d I_com;      // about Bcm, axes of B, symmetric [kg m^2]
};

// Inertia of the same body in frame A: com and axes of A.
Inertia transformed(const SE3d& X_AB, const Inertia& inertia_B);

// Sum of two bodies welded to one, in a common frame.
Inertia operator+(const Inertia& a, const Inertia& b);

// Return true if any entry of I_com is nonzero.
bool has_moments(const Inertia& inertia);

// Eigenvalues of I_com, ascending [kg m^2].
std::array<double, 3> principal_moments(const Inertia& inertia);

// Return true if all numbers are finite, and small enough for computations.
bool is_finite(const Inertia& inertia);

// Relative violation of the triangle inequality that is accepted, as a part of the largest moment.
// Moments in files are rounded to a few digits, so that those of a rod or a flat plate, which
// satisfy it with equality, can violate it slightly.
inline constexpr double inertia_tolerance = 1e-3;

// Describe why an inertia is physically impossible; empty if it is valid. Valid is a mass >= 0 with
// symmetric, non-negative principal moments each at most the sum of the other two, within
// inertia_tolerance of the largest. Two limits are valid as well: a point mass (no moments), and
// moments without mass (a rotor whose mass is counted elsewhere).
std::string inertia_fault(const Inertia& inertia);

}  // namespace robosim
