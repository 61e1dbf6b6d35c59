// Functions that several groups of operations call, compiled once for each instruction set and
// scalar in shared_*.cpp. Without this list every group would compile its own copy, which doubles
// the build time.
//
// `linkage` is `extern` for declarations, and empty where the functions are compiled.
#pragma once

#include "dynamics/aba.h"
#include "dynamics/crba.h"
#include "dynamics/mass_factor.h"
#include "dynamics/rnea_derivatives.h"
#include "dynamics/rnea_products.h"

// Memory, kinematics and sweeps along the tree.
#define ROBOSIM_SHARED_SWEEPS(linkage, S)                                                       \
  linkage template struct Data<S>;                                                              \
  linkage template void joint_angles(const Model&, Data<S>&, const S*);                         \
  linkage template void forward_kinematics(const Model&, Data<S>&, const S*);                   \
  linkage template void position_stage(const Model&, Data<S>&, const S*);                       \
  linkage template void forward_velocities(const Model&, Data<S>&, const S*);                   \
  linkage template void forward_accelerations(const Model&, Data<S>&, const S*, const S*);      \
  linkage template void sum_wrenches(const Model&, Data<S>&, Wrenches<S>);                      \
  linkage template void detail::inertia_stage(const Model&, Data<S>&, const S*,                 \
                                              std::vector<CompositeInertia<S>>&);               \
  linkage template void detail::gather_joint_forces(const Model&, const Data<S>&,               \
                                                    std::vector<Force<S>>&, S*);                \
  linkage template void detail::rnea_sweep<true, false, true>(const Model&, Data<S>&, const S*, \
                                                              const S*, S*, Wrenches<S>);       \
  linkage template void detail::derivatives_outward<false>(const Model&, Data<S>&, const S*,    \
                                                           const S*, const Vec3<S>&);           \
  linkage template void detail::rnea_vjp_sweep(                                                 \
      const Model&, Data<S>&, const std::vector<Motion<S>>&, S*, S*, S*, Wrenches<S>, Motion<S>*);

// Mass matrix, its factor and solves; articulated bodies.
#define ROBOSIM_SHARED_SOLVES(linkage, S)                                                   \
  linkage template void detail::mass_matrix_sweep<true>(const Model&, Data<S>&, S*);        \
  linkage template void detail::mass_matrix_sweep<false>(const Model&, Data<S>&, S*);       \
  linkage template void detail::crba_sweep<true>(const Model&, Data<S>&, const S*, S*);     \
  linkage template void detail::crba_sweep<false>(const Model&, Data<S>&, const S*, S*);    \
  linkage template void articulated_factor(const Model&, Data<S>&);                         \
  linkage template void articulated_solve(const Model&, Data<S>&, const S*, S*);            \
  linkage template void detail::bias_forces(const Model&, Data<S>&, const S*, Wrenches<S>); \
  linkage template void mass_factor(const Model&, S*);                                      \
  linkage template void mass_inverse(const Model&, const S*, Scratch<S>&, S*);              \
  linkage template void detail::solve_blocks(const Model&, const S*, S*, int, int, int, bool, bool);

namespace robosim {

using OneLane = Lanes<1, own_isa>;
using AllLanes = Lanes<lanes_of(own_isa), own_isa>;

}  // namespace robosim
