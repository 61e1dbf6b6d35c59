// How the closest points of two objects of a scene move with the configuration: derivatives of
// shapes, chained through kinematics.
//
// Object O on body B moves with the motion (omega, v) that column c of a joint above B has in frame
// G (data.h): taken at O's witness point p, u = v + omega x p moves its surface there and w = omega
// x n turns the surface's normal. The factors of contact_factors.h multiply (u, w), object by
// object:
//
//   dx/dv_c = rate_A(u_A,c, w_A,c) + rate_B(u_B,c, w_B,c).
//
// The distance alone needs no curvature, as points that slide do not change it: dphi/dv_c = n .
// (velocity of p_B - that of p_A). Derivatives are along v: of joints whose v is not dq/dt (planar,
// floating) in the directions of v. Cost O(depth).
#pragma once

#include "dynamics/kinematics.h"
#include "geometry/contact_factors.h"

namespace robosim {

// After motion_subspaces; body 0 is the world. rate: n_v entries.
void distance_rate(const Model& model, const Data<double>& data, int body_A, int body_B,
                   const Witness& witness, double* rate);

// The same for distance, normal and both points: n_v entries.
void witness_rates(const Model& model, const Data<double>& data, int body_A, int body_B,
                   const WitnessFactors& factors, WitnessRate* rates);

}  // namespace robosim
