// Which points of a cloud lie on the robot, or on what it holds: what a depth camera sees of its
// own arm is no obstacle.
//
// Every collider of the robot counts, those that are fixed to the world too, and every attached
// object; by its exact body. Boxes and covers of objects leave out most points; the others go to
// exact shapes. Cost: some 20 ns for a point away from the robot, up to 1 us for one near a mesh.
#pragma once

#include <span>
#include <vector>

#include "scene/scene_query.h"

namespace robosim {

// Of each point in W whether it is within `margin` [m] of the robot as the query is placed. On at
// most `threads` threads, which change nothing.
std::vector<char> near_robot(SceneQuery& query, std::span<const Vec3d> points, double margin,
                             int threads);

}  // namespace robosim
