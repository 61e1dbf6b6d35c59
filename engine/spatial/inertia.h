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

// The same body seen from frame A: com and axes of A.
Inertia transformed(const SE3d& X_AB, const Inertia& inertia_B);

// Two bodies of the same frame welded to one.
Inertia operator+(const Inertia& a, const Inertia& b);

// Whether any entry of I_com is other than zero.
bool has_moments(const Inertia& inertia);

// Eigenvalues of I_com, ascending [kg m^2].
std::array<double, 3> principal_moments(const Inertia& inertia);

// Whether all numbers are, and small enough to compute with.
bool is_finite(const Inertia& inertia);

// Moments in files are rounded to a few digits, so that a rod or a flat plate, which lies on the
// border of the triangle inequality, can fall just outside: this much of the largest moment is
// forgiven.
inline constexpr double inertia_tolerance = 1e-3;

// What is physically impossible about it, in words, or an empty string. Valid is a mass >= 0 with
// symmetric, non-negative principal moments each at most the sum of the other two, within
// inertia_tolerance of the largest. So are the two limits: a point mass (no moments), and moments
// without mass (a rotor whose mass is counted elsewhere).
std::string inertia_fault(const Inertia& inertia);

}  // namespace robosim
