// Loop over pairs of shapes with prepared poses that times each query: the same loop for both sides
// of bench_collision.py. A side is a class `Side` with
//
//   void add(const ShapeData& A, const ShapeData& B)     add a pair of shapes
//   void place(std::size_t n, const double* X_WA, const double* X_WB)   set n poses, each a
//                                                        row-major 4x4 matrix
//   Memory memory(std::size_t pair)                      return the cache of the pair's queries
//   void restore(std::size_t pair, const Memory&)        restore the cache; Memory{} empties it
//   Answer distance(std::size_t pair, std::size_t pose)  signed distance with witness points
//   bool overlap(std::size_t pair, std::size_t pose)
//   double factors(std::size_t pair, std::size_t pose)   factors of the derivatives of the witness
//                                                        from the last `distance` at this pose
//   double dense(std::size_t pair, std::size_t pose)     the same derivatives as 120 numbers
//   double plane(std::size_t pair, std::size_t pose, const double* normal)   distance of the planes
//                                                        with this normal in W that support the
//                                                        shapes from within the gap: a lower bound
//   void guess(int)                                      set the initial guess of queries
//
// Pose k belongs to pair k / n_per_pair. Each pose is queried several times in a row from the same
// memory, as the counters of some processors advance by 10 ns. Times are differences of two reads
// of the counter, minus the difference of two reads in immediate succession.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace pair_loop {

// Types: 0 sphere (radius), 1 box (three full sizes), 2 capsule, 3 cylinder (radius, length), 4
// half-space z <= 0, 5 convex (n_vertices x 3 vertices, n_faces x 3 indices), 6 ellipsoid (three
// radii), 7 cone (radius, length), 8 triangle (vertices).
struct ShapeData {
  int type;
  const double* size;
  int n_vertices;
  const double* vertices;
  int n_faces;
  const int* faces;
};

struct Answer {
  double distance, p_WA[3], p_WB[3], normal[3];
};

enum Operation { distance, overlap, factors, dense };

// Fenced, so that the counter is read strictly before and after the timed code.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

inline double ticks_per_second() {
#if defined(__x86_64__)
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t first = ticks();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(20)) {
  }
  const std::uint64_t last = ticks();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(last - first) / spent.count();
#else
  using Period = std::chrono::steady_clock::period;
  return static_cast<double>(Period::den) / static_cast<double>(Period::num);
#endif
}

inline double empty_ticks() {
  std::vector<std::uint64_t> spent(201);
  for (std::uint64_t& s : spent) {
    const std::uint64_t begin = ticks();
    s = ticks() - begin;
  }
  std::nth_element(spent.begin(), spent.begin() + 100, spent.end());
  return static_cast<double>(spent[100]);
}

template <class Side>
struct Loop {
  Side side;
  std::size_t n_pairs = 0, n_poses = 0;
  double sink = 0;  // sum of results, so that no query is optimized away

  static constexpr int repeats = 16;

  double query(Operation operation, std::size_t pair, std::size_t k) {
    if (operation == distance) return side.distance(pair, k).distance;
    if (operation == overlap) return side.overlap(pair, k);
    return operation == factors ? side.factors(pair, k) : side.dense(pair, k);
  }
  // Run once over all poses. cold: memories are emptied before each query, else only before the
  // first query of a pair.
  void run(Operation operation, bool cold, double* seconds) {
    static const double per_second = ticks_per_second(), empty = empty_ticks();
    const std::size_t n_per_pair = n_poses / n_pairs;
    for (std::size_t k = 0; k < n_poses; ++k) {
      const std::size_t pair = k / n_per_pair;
      if (cold || k % n_per_pair == 0) side.restore(pair, {});
      const auto memory = side.memory(pair);
      const std::uint64_t begin = ticks();
      for (int i = 0; i < repeats; ++i) {
        side.restore(pair, memory);
        sink += query(operation, pair, k);
      }
      seconds[k] =
          std::max(0.0, static_cast<double>(ticks() - begin) - empty) / (repeats * per_second);
    }
  }
};

}  // namespace pair_loop

#define PAIR_LOOP_EXPORT __attribute__((visibility("default")))

// C interface for pair_loop.py.
#define PAIR_LOOP_OF(Side)                                                                       \
  extern "C" {                                                                                   \
  using pair_loop::ShapeData;                                                                    \
  PAIR_LOOP_EXPORT void* pairs_new() { return new pair_loop::Loop<Side>; }                       \
  PAIR_LOOP_EXPORT void pairs_delete(void* loop) {                                               \
    delete static_cast<pair_loop::Loop<Side>*>(loop);                                            \
  }                                                                                              \
  PAIR_LOOP_EXPORT void pairs_add(void* loop, const ShapeData* A, const ShapeData* B) {          \
    static_cast<pair_loop::Loop<Side>*>(loop)->side.add(*A, *B);                                 \
    ++static_cast<pair_loop::Loop<Side>*>(loop)->n_pairs;                                        \
  }                                                                                              \
  PAIR_LOOP_EXPORT void pairs_place(void* loop, std::size_t n, const double* X_WA,               \
                                    const double* X_WB) {                                        \
    static_cast<pair_loop::Loop<Side>*>(loop)->side.place(n, X_WA, X_WB);                        \
    static_cast<pair_loop::Loop<Side>*>(loop)->n_poses = n;                                      \
  }                                                                                              \
  PAIR_LOOP_EXPORT void pairs_guess(void* loop, int kind) {                                      \
    static_cast<pair_loop::Loop<Side>*>(loop)->side.guess(kind);                                 \
  }                                                                                              \
  PAIR_LOOP_EXPORT void pairs_run(void* loop, int operation, int cold, double* seconds) {        \
    static_cast<pair_loop::Loop<Side>*>(loop)->run(static_cast<pair_loop::Operation>(operation), \
                                                   cold != 0, seconds);                          \
  }                                                                                              \
  PAIR_LOOP_EXPORT void pairs_answer(void* loop, std::size_t pair, std::size_t pose,             \
                                     pair_loop::Answer* answer) {                                \
    static_cast<pair_loop::Loop<Side>*>(loop)->side.restore(pair, {});                           \
    *answer = static_cast<pair_loop::Loop<Side>*>(loop)->side.distance(pair, pose);              \
  }                                                                                              \
  PAIR_LOOP_EXPORT int pairs_overlap(void* loop, std::size_t pair, std::size_t pose) {           \
    static_cast<pair_loop::Loop<Side>*>(loop)->side.restore(pair, {});                           \
    return static_cast<pair_loop::Loop<Side>*>(loop)->side.overlap(pair, pose);                  \
  }                                                                                              \
  PAIR_LOOP_EXPORT double pairs_plane(void* loop, std::size_t pair, std::size_t pose,            \
                                      const double* normal) {                                    \
    return static_cast<pair_loop::Loop<Side>*>(loop)->side.plane(pair, pose, normal);            \
  }                                                                                              \
  }
