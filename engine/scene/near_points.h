// Points of a cloud that lie on the robot, or on objects that it holds: a robot's own arm in the
// view of a depth camera is no obstacle.
//
// Every collider of the robot counts by its exact body, also if it is fixed to the world, and so
// does every attached object. Boxes and covers of objects exclude most points; the others are
// tested against exact shapes. Cost: about 20 ns for a point away from the robot, up to 1 us for
// one near a mesh.
#pragma once

#include <span>
#include <vector>

#include "scene/scene_query.h"

namespace robosim {

// Mark each point in W that is within `margin` [m] of the robot as the query is placed. Uses at
// most `threads` threads; their number does not change the result.
std::vector<char> near_robot(SceneQuery& query, std::span<const Vec3d> points, double margin,
                             int threads);

}  // namespace robosim
