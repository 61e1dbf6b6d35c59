// Memory of large results, kept for the next one of the same size: pages that the system hands out
// anew are zeroed when they are first written to, which takes as long as filling them, and in a
// virtual machine several times as long.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace robosim {

class KeptMemory {
 public:
  // Of numbers: less is not kept, so that there are few to look through.
  static constexpr std::size_t least_count = 4096;

  // Of what nobody holds, at most this many bytes are kept; the oldest goes first.
  explicit KeptMemory(std::size_t most_idle) : most_idle_(most_idle) {
    idle_.reserve(most_idle / (least_count * sizeof(double)) + 1);
  }
  ~KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  // Room for `count` numbers that begins at a cache line; what it holds is whatever was left there.
  // From any thread.
  double* take(std::size_t count);
  void give_back(double* data) noexcept;  // of take

  std::size_t idle_bytes() const;

 private:
  struct Idle {
    std::size_t count;
    double* data;
  };

  std::size_t most_idle_, idle_bytes_ = 0;
  std::vector<Idle> idle_;  // in the order in which they came back
  mutable std::mutex mutex_;
};

}  // namespace robosim
