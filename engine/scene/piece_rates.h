// Rates of configuration_rates.h for objects of the scene that are bodies of many pieces. They
// follow from the derivatives of the closest pieces with respect to the twists of the bodies
// (compound_derivatives.h), the form in which translations out of surfaces have derivatives.
//
// Object O on body B moves with the twist V_O,c = [R_WO^T v, R_WO^T omega] that column c of a joint
// above B has at O's origin, so dx/dv_c = sum over the six of dx/dtwist_k V_O,c,k, object by
// object. Cost O(depth).
#pragma once

#include "geometry/contact_derivatives.h"
#include "scene/scene_query.h"

namespace robosim {

// Compute the rates of a contact at the present placement, after place_motions(). rates: n_v
// entries.
WitnessDerivatives piece_rates(SceneQuery& query, const SceneQuery::Contact& contact,
                               WitnessRate* rates);

}  // namespace robosim
