// Many states of one model at once: lanes inside, threads outside.
//
// Every state goes through the same operations on the same bits whatever its place, its neighbors
// and the number of threads: a group of states shares registers, never numbers, and lanes that are
// missing at the end repeat the last state.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "dynamics/kernels.h"

namespace robosim {

// Runs batches of one model; keeps the workspaces of all threads. Calls from several threads take
// turns.
class Batch {
 public:
  // Operation `operation` of all_operations() for n states. in[i] points to input i's numbers,
  // those of successive states stride[i] apart (0: one for all), wrenches last; out[i] to room for
  // n times the output's size, one state after another, apart from all inputs. At most `threads`
  // threads, 0 for as many as the pool has. Allocates only when an operation, more threads or
  // larger arguments are new; then each thread's memory is taken, whichever of them come to work.
  void run(const Model& model, int operation, const Options& options, std::ptrdiff_t n,
           const double* const* in, const std::ptrdiff_t* stride, double* const* out, int threads);

 private:
  std::mutex busy_;
  struct Place {
    std::unique_ptr<Workspace> workspace;
    std::vector<int> reached;  // per operation, the most numbers that one state had
  };
  std::vector<Place> places_;  // one per thread
};

}  // namespace robosim
