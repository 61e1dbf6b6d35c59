// The signed distances of all pairs of a scene at as many configurations as a register has lanes.
//
// Forward kinematics and GJK in lanes (lane_placement.h, geometry/distance/lane_gjk.h), to the same
// gap between its bounds as for one pair. What overlaps, touches, has curved or unbounded shapes,
// or shapes that stand for bodies, is left to the code for one pair.
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
  // Of the configurations q[0] to q[count - 1], n_q entries each, 1 <= count <= lanes(): one number
  // per pair of scene.pairs() to out[0] to out[count - 1], NaN for pairs that are left. Returns the
  // bits of configurations that have some.
  virtual std::uint32_t distances(int count, const double* const* q, double* const* out) = 0;

 protected:
  LaneDistances() = default;
};

// For the instruction set that this process uses (base/cpu.h). The scene must outlive it.
std::unique_ptr<LaneDistances> make_lane_distances(const CollisionScene& scene);

namespace detail {

// Of all objects, in their order; out of line as it takes memory. of_exact: without those of shapes
// that stand for bodies.
std::vector<LaneCore> lane_cores(const CollisionScene& scene, bool of_exact = false);

template <Isa isa>
std::unique_ptr<LaneDistances> make_lane_distances(const CollisionScene& scene);

}  // namespace detail

}  // namespace robosim
