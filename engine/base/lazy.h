// Value that is computed on first use, from any thread. Copies start without a value, as the data
// that it depends on may change.
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

  // Return the value, or null before it is computed.
  const T* get() const { return value_.load(std::memory_order_acquire); }
  // Return the value, computed by make() on first use. If several threads compute it at the same
  // time, all receive the first one's value.
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
