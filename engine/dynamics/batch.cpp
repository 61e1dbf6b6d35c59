// Batches: groups of lanes in chunks, chunks over threads.
#include "dynamics/batch.h"

#include <algorithm>
#include <span>

#include "base/streaming.h"
#include "base/thread_pool.h"

namespace robosim {

namespace {

// Results with more numbers than this (32 MiB) do not stay in the caches until they are read.
constexpr std::ptrdiff_t cached_results = std::ptrdiff_t{1} << 22;

// Total size of the arguments of one state.
int numbers_of(const Model& model, const Options& options, std::span<const Argument> arguments) {
  int n = 0;
  for (const Argument& argument : arguments) n += size_of(model, options, argument);
  return n;
}

}  // namespace

void Batch::run(const Model& model, int operation, const Options& options, std::ptrdiff_t n,
                const double* const* in, const std::ptrdiff_t* stride, double* const* out,
                int threads) {
  if (n <= 0) return;
  const Kernels& set = kernels();
  const Kernel& kernel = set.operations[operation];
  const std::ptrdiff_t groups = (n + set.lanes - 1) / set.lanes;
  threads = threads > 0 ? std::min(threads, thread_limit()) : thread_limit();
  threads = static_cast<int>(std::min<std::ptrdiff_t>(threads, groups));

  // Enough chunks to balance the threads, and few enough that their distribution costs nothing.
  const std::ptrdiff_t chunk = std::clamp<std::ptrdiff_t>(groups / (8 * threads), 1, 64);
  const std::ptrdiff_t chunks = (groups + chunk - 1) / chunk;
  const std::lock_guard<std::mutex> lock(busy_);
  while (places_.size() < static_cast<std::size_t>(threads))
    places_.push_back({set.make_workspace(model), std::vector<int>(set.operations.size())});
  const auto run_group = [&](std::ptrdiff_t g, Workspace& workspace) {
    const std::ptrdiff_t first = g * set.lanes;
    const int count = static_cast<int>(std::min<std::ptrdiff_t>(set.lanes, n - first));
    kernel.lanes(model, workspace, options, first, count, in, stride, out);
  };
  const OperationInfo& info = all_operations()[operation];
  const int results = numbers_of(model, options, info.outputs);
  const int size =
      size_of(model, options, wrench_argument) + numbers_of(model, options, info.inputs) + results;
  const bool streams = n * results > cached_results;
  // Grow the workspaces on this thread, by a first group of states.
  for (int k = 0; k < threads; ++k) {
    Place& place = places_[k];
    place.workspace->streams = streams;
    if (int& reached = place.reached[operation]; reached < size) {
      run_group(0, *place.workspace);
      reached = size;
    }
  }
  const auto body = [&](int c, int worker) {
    const std::ptrdiff_t last = std::min(groups, (c + 1) * chunk);
    for (std::ptrdiff_t g = c * chunk; g < last; ++g) run_group(g, *places_[worker].workspace);
    if (streams) end_streaming();
  };
  if (threads == 1) {
    for (int c = 0; c < chunks; ++c) body(c, 0);
  } else {
    parallel_for(static_cast<int>(chunks), threads, body);
  }
}

}  // namespace robosim
