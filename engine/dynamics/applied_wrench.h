// External wrenches on links.
#pragma once

#include <span>
#include <type_traits>

#include "dynamics/kinematics.h"

namespace robosim {

// Wrench at the origin of Model::frames[frame], in world axes, as in the public arrays.
template <class S>
struct AppliedWrench {
  int frame = 0;
  Force<S> F;  // moment [N m], force [N]
};

// Contiguous list of wrenches; S is deduced from the other arguments.
template <class S>
using Wrenches = std::type_identity_t<std::span<const AppliedWrench<S>>>;

// Sum the wrenches per body, in G. Requires motion_subspaces. Fills data.external.
template <class S>
void sum_wrenches(const Model& model, Data<S>& data, Wrenches<S> wrenches) {
  for (Force<S>& F : data.external) F = Force<S>();
  for (const AppliedWrench<S>& wrench : wrenches) {
    const Frame& frame = model.frames[wrench.frame];
    const Vec3<S> p = detail::frame_offset(data, frame);
    data.external[frame.body] +=
        Force<S>{cross_add(p, wrench.F.linear, wrench.F.angular), wrench.F.linear};
  }
}

}  // namespace robosim
