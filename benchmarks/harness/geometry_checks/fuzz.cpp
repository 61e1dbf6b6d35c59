// Hostile scenes by the million: a plain C interface (geometry_checks.py). Every scene depends on
// the seed and its number alone.
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "manifold_certificate.h"

using namespace robosim;
using namespace robosim::testing;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void* fuzz_new(std::uint64_t seed, std::uint64_t vertices_of_large) {
  return new HostileScenes(seed, static_cast<std::size_t>(vertices_of_large));
}
EXPORT void fuzz_delete(void* scenes) { delete static_cast<HostileScenes*>(scenes); }

// Return the number of the first scene in [begin, end) that violates a law, with the law in `text`,
// or `end`. slowest: the longest time of all queries about one scene [s], and slowest_number that
// scene; both are updated.
EXPORT std::uint64_t fuzz_run(const void* scenes, std::uint64_t begin, std::uint64_t end,
                              double tolerance, double* slowest, std::uint64_t* slowest_number,
                              char* text, int size) {
  using Clock = std::chrono::steady_clock;
  RandomShapes random;
  for (std::uint64_t i = begin; i < end; ++i) {
    const Scene s = static_cast<const HostileScenes*>(scenes)->scene(i);
    random.engine.seed(i);
    const Clock::time_point start = Clock::now();
    const Verdict verdict = certify_all(s, random, tolerance);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (seconds > *slowest) {
      *slowest = seconds;
      *slowest_number = i;
    }
    if (!verdict.broken) continue;
    std::snprintf(text, static_cast<std::size_t>(size), "%s and %s, %s: %s by %.2g",
                  name_of(s.A.type), name_of(s.B.type), Scene::names[static_cast<int>(s.kind)],
                  verdict.broken, verdict.by);
    return i;
  }
  return end;
}
