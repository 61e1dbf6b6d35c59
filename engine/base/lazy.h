// A value that is worked out when it is first asked for, from any thread. Copies start without one,
// so that what it depends on may change.
#pragma once

#include <atomic>
#include <utility>

namespace robosim {

template <class T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy&) {}
  Lazy& operator=(const Lazy&) = delete;
  ~Lazy() { delete value_.load(); }

  // Null before it is there.
  const T* get() const { return value_.load(std::memory_order_acquire); }
  // make(): the value; of threads that make it at the same time all get the first one's.
  template <class Make>
  const T& of(Make&& make) const {
    if (const T* value = get()) return *value;
    const T *own = new T(std::forward<Make>(make)()), *first = nullptr;
    if (value_.compare_exchange_strong(first, own, std::memory_order_acq_rel)) return *own;
    delete own;
    return *first;
  }

 private:
  mutable std::atomic<const T*> value_{nullptr};
};

}  // namespace robosim
