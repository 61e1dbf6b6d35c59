// Signed distances of all pairs of a scene at as many configurations as a register has lanes.
//
// Forward kinematics and GJK run in lanes (lane_placement.h, geometry/distance/lane_gjk.h), to the
// same gap between the bounds of GJK as for one pair. Pairs that overlap or touch are left to the
// code for one pair, as are curved or unbounded shapes and shapes that stand for bodies.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/isa.h"
#include "geometry/distance/lane_core.h"
#include "scene/collision_scene.h"

namespace robosim {

class LaneDistances {
 public:
  virtual ~LaneDistances() = default;
  virtual int lanes() const = 0;
  // Compute the distances at the configurations q[0] to q[count - 1], n_q entries each, 1 <= count
  // <= lanes(). out[0] to out[count - 1] get one number per pair of scene.pairs(), NaN for pairs
  // that are left. Return the bit mask of the configurations that have such pairs.
  virtual std::uint32_t distances(int count, const double* const* q, double* const* out) = 0;

 protected:
  LaneDistances() = default;
};

// Make the distances for the instruction set that this process uses (base/cpu.h). The scene must
// outlive them.
std::unique_ptr<LaneDistances> make_lane_distances(const CollisionScene& scene);

namespace detail {

// Cores of all objects, in their order. Not inline, since it allocates. of_exact: leave out shapes
// that stand for bodies.
std::vector<LaneCore> lane_cores(const CollisionScene& scene, bool of_exact = false);

template <Isa isa>
std::unique_ptr<LaneDistances> make_lane_distances(const CollisionScene& scene);

}  // namespace detail

}  // namespace robosim
