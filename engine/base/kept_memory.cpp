#include "base/kept_memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/aligned.h"

namespace robosim {
namespace {

constexpr std::size_t line = 64 / sizeof(double);  // before the data, for their count

std::size_t count_of(const double* data) {
  std::size_t count;
  std::memcpy(&count, data - line, sizeof(count));
  return count;
}

std::size_t bytes_of(std::size_t count) { return (line + count) * sizeof(double); }

void release(double* data) { CacheLineAllocator<double>().deallocate(data - line, 0); }

}  // namespace

KeptMemory::~KeptMemory() {
  for (const Idle& idle : idle_) release(idle.data);
}

double* KeptMemory::take(std::size_t count) {
  {
    const std::lock_guard lock(mutex_);
    // The newest one, which is most likely still in a cache.
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                    [count](const Idle& idle) { return idle.count == count; });
    if (found != idle_.rend()) {
      double* const data = found->data;
      idle_.erase(std::next(found).base());
      idle_bytes_ -= bytes_of(count);
      return data;
    }
  }
  double* const data = CacheLineAllocator<double>().allocate(line + count) + line;
  std::memcpy(data - line, &count, sizeof(count));
  return data;
}

void KeptMemory::give_back(double* data) noexcept {
  const std::size_t count = count_of(data);
  if (count < least_count || bytes_of(count) > most_idle_) return release(data);
  const std::lock_guard lock(mutex_);
  idle_.push_back({count, data});
  idle_bytes_ += bytes_of(count);  // within what is reserved
  auto kept = idle_.begin();
  for (; idle_bytes_ > most_idle_; ++kept) {
    idle_bytes_ -= bytes_of(kept->count);
    release(kept->data);
  }
  idle_.erase(idle_.begin(), kept);
}

std::size_t KeptMemory::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  return idle_bytes_;
}

}  // namespace robosim
