// Derivatives of the closest points of two objects of a scene with respect to the configuration:
// derivatives of shapes, chained through the kinematics.
//
// Object O on body B moves with the motion (omega, v) that column c of a joint above B has in frame
// G (data.h). At O's witness point p, its surface moves by u = v + omega x p, and w = omega x n
// turns the surface's normal. The factors of contact_factors.h multiply (u, w), object by object:
//
//   dx/dv_c = rate_A(u_A,c, w_A,c) + rate_B(u_B,c, w_B,c).
//
// The distance alone needs no curvature, as points that slide do not change it: dphi/dv_c =
// n . (velocity of p_B - velocity of p_A). Derivatives are along v: for joints whose v is not dq/dt
// (planar, floating), in the directions of v. Cost O(depth).
#pragma once

#include "dynamics/kinematics.h"
#include "geometry/contact_factors.h"

namespace robosim {

// Derivative of the distance, after motion_subspaces; body 0 is the world. rate: n_v entries.
void distance_rate(const Model& model, const Data<double>& data, int body_A, int body_B,
                   const Witness& witness, double* rate);

// Derivatives of distance, normal and both points: n_v entries.
void witness_rates(const Model& model, const Data<double>& data, int body_A, int body_B,
                   const WitnessFactors& factors, WitnessRate* rates);

}  // namespace robosim
