// Arrays aligned to cache lines, so that loads of whole registers do not cross lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace robosim {

template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT: required of allocators

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), alignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }

  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

// Memory for intermediate results that only some callers need. Allocated at the first request,
// kept, and replaced when a request is larger.
template <class T>
class Scratch {
 public:
  // Return memory for n entries, with arbitrary contents.
  T* take(std::size_t n) {
    if (memory_.size() < n) memory_ = AlignedVector<T>(n);
    return memory_.data();
  }
  // Memory of the last request.
  T* data() { return memory_.data(); }
  const T* data() const { return memory_.data(); }

 private:
  AlignedVector<T> memory_;
};

}  // namespace robosim
