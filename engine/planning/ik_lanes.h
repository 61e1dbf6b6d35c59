// Inverse kinematics of many poses, one per lane: what the batch (ik_batch.h) runs on each thread.
//
// A lane belongs to one task, a pose with some of its attempts, until it is solved or out of
// attempts; then it takes the next task, so that all lanes have work to the end. An attempt is the
// method of ik.h, its steps in lockstep:
//   place the chain, residual r and Jacobian J of the trial; where |r| has fallen the trial is
//     taken, else mu rises;
//   J J^T + lambda I over the columns not held at a limit, Cholesky, the next trial.
// The rotation's residual is 2 sin(angle/2) times the axis, twice the vector part of the unit
// quaternion (w, v), whose derivative by a body-side rotation is (w + [v]) omega: no series and no
// arc tangent. Where a range of angles is given it is the rotation vector of ik.h instead, for its
// bounds are on that. The first attempt starts from the start of the task, each other one from that
// of 64 random configurations whose pose is nearest to the goal: a block of a table that all tasks
// share. After eight of these every second one starts from any. What a lane computes does not
// depend on the others, nor does the order of tasks change anything. Cost: 0.15 us per step of an
// arm with six or seven joints and AVX-512, 4 to 8 steps per attempt.
#pragma once

#include <memory>
#include <vector>

#include "base/aligned.h"
#include "base/isa.h"
#include "planning/ik.h"

namespace robosim {

// What all tasks have in common.
struct IkChain {
  const Model* model = nullptr;
  IkGoal goal;                 // X_WG is not looked at
  SE3d X_BE;                   // E on the body of its frame
  std::vector<int> path;       // bodies from the root to that one
  std::vector<int> columns;    // entries of q that may move
  std::vector<int> column_of;  // per entry of q its place among them, or -1
  std::vector<double> lower, upper;
  int max_iterations = 0;   // per attempt
  bool is_patient = false;  // whether an attempt goes on where steps take away little
  double position_tolerance = 0, rotation_tolerance = 0;  // at which an attempt is done [m], [rad]
};

// Configurations to start from, and the poses of E there; of neighboring ones the numbers lie side
// by side.
struct IkSeeds {
  static constexpr int block = 64;
  int blocks = 0;
  std::vector<double> q;          // (64 blocks, columns)
  AlignedVector<double> pose[7];  // position and quaternion x y z w
};

struct IkTask {
  const double* start = nullptr;  // (n_q): of the first attempt, and where all but the columns stay
  SE3d X_WG;
  // Attempts to be made; 0 is the start itself, k one of block k - 1.
  int attempt = 0, end = 1;
  // Results.
  double* q = nullptr;  // (n_q): the solution, or the closest so far
  // Weighted square of what is missing there; attempts that are no better leave no trace.
  double error = 0;
  double position_error = 0, rotation_error = 0;
  bool is_solved = false;  // `attempt` is then the next one
};

class IkLanes {
 public:
  virtual ~IkLanes() = default;
  // Fills the poses of seeds [first, first + count) from their q; start: (n_q) of the other
  // entries.
  virtual void place(IkSeeds& seeds, int first, int count, const double* start) = 0;
  virtual void solve(IkTask* tasks, int count, const IkSeeds& seeds) = 0;

 protected:
  IkLanes() = default;
};

// For the instruction set that this process uses (base/cpu.h). The chain must outlive it.
std::unique_ptr<IkLanes> make_ik_lanes(const IkChain& chain);

namespace detail {

template <Isa isa>
std::unique_ptr<IkLanes> make_ik_lanes(const IkChain& chain);

}  // namespace detail

}  // namespace robosim
