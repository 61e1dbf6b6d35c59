// How often each pair of a model's colliders touches at random configurations: what self-collision filtering rests on.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/model.h"

namespace robosim {

// For each pair the number of `samples` configurations, uniform within the joint limits (unlimited: [-pi, pi], or [-1, 1] m), at
// which the shapes overlap. Seeded.
std::vector<std::int64_t> sample_self_collisions(const Model& model, const std::vector<std::pair<int, int>>& pairs,
                                                 std::uint64_t seed, std::int64_t samples);

}  // namespace robosim
