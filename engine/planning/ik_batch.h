// Inverse kinematics of many poses of one frame: one configuration per pose, free of collision if a
// scene is given.
//
// Poses that IkReach proves out of reach cost nothing. The others run in lanes and threads
// (ik_lanes.h). They are first tried from their start and the seeds of a few blocks, and the
// unsolved ones then from all attempts. Each solution is moved by whole turns to be nearest to its
// start. With a scene, solutions are checked together (scene/batch_check.h), seeds in collision are
// skipped, and poses whose solution collides continue with their next attempts.
//
// The solution of a pose is a function of the pose, its start, the options and the instruction set.
// It does not depend on the number of threads or on the other poses, except for the first start,
// about which joints without limits are sampled.
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
  // Columns, limits and seed, and the tolerances at which a configuration is a solution.
  IkOptions ik;
  double position_aim = 1e-9, rotation_aim = 1e-9;  // at which an attempt ends [m], [rad]
  int attempts = 101;                               // per pose at most, including the start
  int max_iterations = 40;                          // per attempt
  BatchCheck* scene = nullptr;
  int threads = 0;  // 0: all of the pool
  // Called between slices. If it returns false, the batch ends, and the remaining poses are
  // not_found.
  std::function<bool(int done)> go_on;
};

struct IkBatchResult {
  std::vector<double> q;  // (n, n_q) solution or closest configuration; the start if out of reach
  // (n) distances from the box [m], [rad]; NaN where nothing was tried
  std::vector<double> position_error, rotation_error;
  std::vector<IkStatus> status;  // (n)
  std::vector<int> attempts;     // (n) attempts made
  // (n) distances of IkReach if out of reach, else zero.
  std::vector<double> distance, least, most;
  std::string first, last;  // joints between which these distances are
};

// Solve for many poses. goal: common to all poses, except X_WG, which is one of n. start: n times
// n_q, or n_q if shared.
IkBatchResult inverse_kinematics_many(const Model& model, const IkGoal& goal, int n,
                                      const SE3d* X_WG, const double* start, bool shared_start,
                                      const IkBatchOptions& options);

}  // namespace robosim
