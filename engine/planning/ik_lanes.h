// Inverse kinematics of many poses, one per lane: the kernel of the batch (ik_batch.h) on each
// thread.
//
// A lane runs one task, a pose with some of its attempts, until the task is solved or out of
// attempts. It then takes the next task, so that all lanes are busy to the end. An attempt is the
// method of ik.h, with steps in lockstep:
//
// - Place the chain; compute residual r and Jacobian J of the trial. Accept the trial where |r| has
//   decreased, else increase mu.
// - Factor J J^T + lambda I over the columns not held at a limit, by Cholesky, and compute the next
//   trial.
//
// The residual of the rotation is 2 sin(angle/2) times the axis. It is twice the vector part of the
// unit quaternion (w, v), whose derivative by a body-side rotation is (w + [v]) omega: no series
// and no arc tangent. With a range of angles it is the rotation vector of ik.h instead, to which
// the bounds apply.
//
// The first attempt begins at the start of the task. Each later attempt begins at that one of 64
// random configurations whose pose is nearest to the goal: a block of a table that all tasks share.
// After eight of these attempts, every second one begins at an arbitrary configuration. The result
// of a lane does not depend on the other lanes or on the order of tasks. Cost: 0.15 us per step of
// an arm with six or seven joints and AVX-512, 4 to 8 steps per attempt.
#pragma once

#include <memory>
#include <vector>

#include "base/aligned.h"
#include "base/isa.h"
#include "planning/ik.h"

namespace robosim {

// Data common to all tasks.
struct IkChain {
  const Model* model = nullptr;
  IkGoal goal;                 // X_WG is not used
  SE3d X_BE;                   // E in the body of its frame
  std::vector<int> path;       // bodies from the root to the body of the frame
  std::vector<int> columns;    // entries of q that may move
  std::vector<int> column_of;  // per entry of q its index in `columns`, or -1
  std::vector<double> lower, upper;
  int max_iterations = 0;   // per attempt
  bool is_patient = false;  // true: continue attempts even if steps reduce the error little
  double position_tolerance = 0, rotation_tolerance = 0;  // that end an attempt [m], [rad]
};

// Random configurations and the poses of E there. The numbers of neighboring configurations are
// adjacent in memory.
struct IkSeeds {
  static constexpr int block = 64;
  int blocks = 0;
  std::vector<double> q;          // (64 blocks, columns)
  AlignedVector<double> pose[7];  // position and quaternion x y z w
};

struct IkTask {
  const double* start = nullptr;  // (n_q): first configuration, and the other entries of q
  SE3d X_WG;
  // Next attempt, and end of the attempts; 0 is the start itself, k one from block k - 1.
  int attempt = 0, end = 1;
  // Results.
  double* q = nullptr;  // (n_q): solution, or the closest configuration so far
  // Weighted squared distance of q from the box. Only attempts with a smaller error change the
  // results.
  double error = 0;
  double position_error = 0, rotation_error = 0;
  bool is_solved = false;  // `attempt` is then the next attempt
};

class IkLanes {
 public:
  virtual ~IkLanes() = default;
  // Compute the poses of seeds [first, first + count) from their q. start: (n_q), for the other
  // entries.
  virtual void place(IkSeeds& seeds, int first, int count, const double* start) = 0;
  virtual void solve(IkTask* tasks, int count, const IkSeeds& seeds) = 0;

 protected:
  IkLanes() = default;
};

// Kernel for the instruction set of this process (base/cpu.h). The chain must outlive it.
std::unique_ptr<IkLanes> make_ik_lanes(const IkChain& chain);

namespace detail {

template <Isa isa>
std::unique_ptr<IkLanes> make_ik_lanes(const IkChain& chain);

}  // namespace detail

}  // namespace robosim
