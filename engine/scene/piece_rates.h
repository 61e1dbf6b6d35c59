// The rates of configuration_rates.h where an object of the scene is a body of many pieces: from
// the derivatives of its closest pieces, which are in the twists of the bodies
// (compound_derivatives.h), as ways out of surfaces have them.
//
// Object O on body B moves with the twist V_O,c = [R_WO^T v, R_WO^T omega] that column c of a joint
// above B has at O's origin, so dx/dv_c = sum over the six of dx/dtwist_k V_O,c,k, object by
// object. Cost O(depth).
#pragma once

#include "geometry/contact_derivatives.h"
#include "scene/scene_query.h"

namespace robosim {

// After place_motions(), of the contact found there. rates: n_v entries.
WitnessDerivatives piece_rates(SceneQuery& query, const SceneQuery::Contact& contact,
                               WitnessRate* rates);

}  // namespace robosim
