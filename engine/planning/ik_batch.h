// Inverse kinematics of many poses of one frame: for each one configuration, free of collisions
// where a scene is given.
//
// Poses that IkReach proves out of reach cost nothing. The others go through lanes and threads
// (ik_lanes.h), first from their start and the seeds of a few blocks, then, those that are left,
// from as many as are asked for. Each answer is turned to the nearest of those a whole turn apart.
// With a scene answers are looked at together (scene/batch_check.h), seeds that collide are left
// out, and poses whose answer collides make their next attempts. The answer to a pose is a function
// of it, its start, the options and the instruction set, not of the number of threads or of the
// other poses; but for the first start, about which joints without limits are sampled.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "planning/ik.h"
#include "scene/batch_check.h"

namespace robosim {

enum class IkStatus : std::uint8_t { solved, out_of_reach, in_collision, not_found };

struct IkBatchOptions {
  // Columns, limits, seed and tolerances, at which a configuration is an answer.
  IkOptions ik;
  double position_aim = 1e-9, rotation_aim = 1e-9;  // at which an attempt ends: [m], [rad]
  int attempts = 101;                               // per pose at most, the start included
  int max_iterations = 40;                          // per attempt
  BatchCheck* scene = nullptr;
  int threads = 0;  // 0: as many as the pool has
  // Asked in between: false ends it, and the poses that are left are not_found.
  std::function<bool(int done)> go_on;
};

struct IkBatchResult {
  std::vector<double> q;  // (n, n_q) solution, or the closest; out of reach the start
  // (n) what is missing to the box [m], [rad]; NaN where nothing was tried
  std::vector<double> position_error, rotation_error;
  std::vector<IkStatus> status;  // (n)
  std::vector<int> attempts;     // (n) made
  // (n) of IkReach, where it says out of reach; else zero.
  std::vector<double> distance, least, most;
  std::string first, last;  // the joints that these are about
};

// goal: what all have in common, X_WG being one of n for each; start: n times n_q, or n_q where it
// is shared.
IkBatchResult inverse_kinematics_many(const Model& model, const IkGoal& goal, int n,
                                      const SE3d* X_WG, const double* start, bool shared_start,
                                      const IkBatchOptions& options);

}  // namespace robosim
