// Metric of the search: Euclidean in q, each entry weighted by the motion it causes.
//
// The weight of an entry of q that turns an axis is the largest distance of any object of the robot
// from that axis, bounded from above by the lengths of the links between them. The weight of a
// translation is 1 m. Where one entry does both, the weight is the root of the sum of squares. All
// weights are then divided by the largest, so the unit is a radian of the joint with the longest
// reach.
#pragma once

#include <vector>

#include "scene/collision_scene.h"

namespace robosim {

// Weight per entry of q [m per rad, or m per m], before the division. Nothing moves farther than
// the sum of these times the changes of the entries.
std::vector<double> reaches(const CollisionScene& scene);

// Weight per column, in (0, 1].
std::vector<double> reach_weights(const CollisionScene& scene, const std::vector<int>& columns);

}  // namespace robosim
