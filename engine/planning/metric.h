// The metric of the search: Euclidean in q, each entry weighted by how far it moves things.
//
// The weight of an entry of q is the largest distance, over the robot's objects, that an object can
// have from the axis that the entry turns about, bounded from above by the lengths of the links
// between them; of a translation it is 1 m; where one entry does both, the root of the sum of
// squares. All are then divided by the largest: the unit is a radian of the joint with the longest
// reach.
#pragma once

#include <vector>

#include "scene/collision_scene.h"

namespace robosim {

// Per entry of q [m per rad, or m per m], before the division: nothing moves farther than the sum
// of these times the entries' changes.
std::vector<double> reaches(const CollisionScene& scene);

// One weight per column, in (0, 1].
std::vector<double> reach_weights(const CollisionScene& scene, const std::vector<int>& columns);

}  // namespace robosim
