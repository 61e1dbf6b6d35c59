// Counts allocations, of all threads, by replacing all forms of the global operator new. Include in
// one translation unit of a program.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

inline std::atomic<long> allocations = 0;

#if defined(__SANITIZE_THREAD__)
#define ROBOSIM_COUNT_BY_HOOK
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROBOSIM_COUNT_BY_HOOK
#endif
#endif

#ifdef ROBOSIM_COUNT_BY_HOOK
// ThreadSanitizer has its own operator new, which cannot be replaced (clang 14). It calls this
// hook.
extern "C" void __sanitizer_malloc_hook(const volatile void*, std::size_t);
extern "C" [[gnu::visibility("default")]] void __sanitizer_malloc_hook(const volatile void*,
                                                                       std::size_t) {
  ++allocations;
}
#else
// Never inlined: a compiler that sees malloc behind new warns of the mismatch with delete.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size ? size : 1);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* p = operator new(size, std::nothrow)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }

// Forms for types with a stronger alignment than malloc guarantees.
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  ++allocations;
  void* p = nullptr;
  return posix_memalign(&p, static_cast<std::size_t>(alignment), size ? size : 1) == 0 ? p
                                                                                       : nullptr;
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* p = operator new(size, alignment, std::nothrow)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
  return operator new(size, alignment);
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment,
                                       const std::nothrow_t& tag) noexcept {
  return operator new(size, alignment, tag);
}
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t,
                                         const std::nothrow_t&) noexcept {
  std::free(p);
}
#endif

// Number of allocations in a second run of f.
template <class F>
long allocations_when_repeated(F&& f) {
  f();
  const long before = allocations;
  f();
  return allocations - before;
}
