// Batches of states of one model: lanes inside, threads outside.
//
// Every state undergoes the same operations on the same bits, whatever its place, its neighbors and
// the number of threads. The states of a group share registers, but no numbers, and missing lanes
// of the last group repeat the last state.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "dynamics/kernels.h"

namespace robosim {

// Runner of batches for one model, with the workspaces of all threads. Calls from several threads
// are serialized.
class Batch {
 public:
  // Run operation `operation` of all_operations() for n states. in[i] points to the numbers of
  // input i, stride[i] apart for successive states (0: shared), wrenches last. out[i] points to
  // memory for n times the output's size, one state after another, disjoint from all inputs. Uses
  // at most `threads` threads, or as many as the pool has for 0. Allocates only for a first
  // operation, more threads or larger arguments. It then allocates for every thread, whether or not
  // the thread takes part.
  void run(const Model& model, int operation, const Options& options, std::ptrdiff_t n,
           const double* const* in, const std::ptrdiff_t* stride, double* const* out, int threads);

 private:
  std::mutex busy_;
  struct Place {
    std::unique_ptr<Workspace> workspace;
    std::vector<int> reached;  // per operation, the largest number of values of a state
  };
  std::vector<Place> places_;  // one per thread
};

}  // namespace robosim
