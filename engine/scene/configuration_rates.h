// How the closest points of two objects of a scene move with the configuration: derivatives of shapes, chained through kinematics.
//
// Object O on body B moves with the motion (w, v) that column c of a joint above B has in frame G (data.h): taken at O's origin p,
// linear = v + w x p, in O's axes the twist R_WO^T (linear; angular). With dx/dtwist of contact_derivatives.h for both objects,
//
//   dx/dv_c = dx/dtwist_A twist_A,c + dx/dtwist_B twist_B,c.
//
// The distance alone needs no curvature, as points that slide do not change it: dphi/dv_c = n . (velocity of p_B - that of p_A).
// Derivatives are along v: of joints whose v is not dq/dt (planar, floating) in the directions of v. Cost O(depth).
#pragma once

#include "dynamics/kinematics.h"
#include "geometry/contact_derivatives.h"
#include "scene/collision_scene.h"

namespace robosim {

// After motion_subspaces; body 0 is the world. rate: n_v entries.
void distance_rate(const Model& model, const Data<double>& data, int body_A, int body_B, const Witness& witness, double* rate);

// The same for distance, normal and both points: n_v entries. A and B are posed where the witness was found.
void witness_rates(const Model& model, const Data<double>& data, const SceneObject& A, const SceneObject& B,
                   const WitnessDerivatives& derivatives, WitnessRate* rates);

}  // namespace robosim
