// Memory of large results, kept for later results of the same size. The system zeroes new pages
// at their first write. That takes as long as filling them, and several times as long in a
// virtual machine.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace robosim {

class KeptMemory {
 public:
  // Smallest number of doubles that is kept; this limits the list that is searched.
  static constexpr std::size_t least_count = 4096;

  // Keep at most `most_idle` bytes of unused memory; the oldest is released first.
  explicit KeptMemory(std::size_t most_idle) : most_idle_(most_idle) {
    idle_.reserve(most_idle / (least_count * sizeof(double)) + 1);
  }
  ~KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  // Return memory for `count` numbers, aligned to a cache line, with arbitrary
  // contents. Thread-safe.
  double* take(std::size_t count);
  void give_back(double* data) noexcept;  // a result of take

  std::size_t idle_bytes() const;

 private:
  struct Idle {
    std::size_t count;
    double* data;
  };

  std::size_t most_idle_, idle_bytes_ = 0;
  std::vector<Idle> idle_;  // in the order of their return
  mutable std::mutex mutex_;
};

}  // namespace robosim
