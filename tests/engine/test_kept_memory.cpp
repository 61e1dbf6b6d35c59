// Reuse of the memory of results.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/kept_memory.h"

using robosim::KeptMemory;

TEST_CASE("what was given back is the next of its size, and nobody's twice") {
  KeptMemory memory(1 << 20);
  double *const a = memory.take(5000), *const b = memory.take(5000);
  CHECK(a != b);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % 64 == 0);
  CHECK(memory.idle_bytes() == 0);
  memory.give_back(a);
  CHECK(memory.idle_bytes() == 8 * 5008);
  double* const other = memory.take(4999);
  CHECK(other != a);
  CHECK(memory.take(5000) == a);
  CHECK(memory.idle_bytes() == 0);
  double* const c = memory.take(5000);
  CHECK(c != a);
  CHECK(c != b);
  for (double* x : {a, b, c, other}) memory.give_back(x);
}

TEST_CASE("what is small is not kept") {
  KeptMemory memory(1 << 20);
  memory.give_back(memory.take(KeptMemory::least_count - 1));
  memory.give_back(memory.take(0));
  CHECK(memory.idle_bytes() == 0);
  memory.give_back(memory.take(KeptMemory::least_count));
  CHECK(memory.idle_bytes() > 0);
}

TEST_CASE("no more is kept than may be, the newest") {
  KeptMemory memory(8 * 5008 * 3);
  std::vector<double*> all;
  for (int i = 0; i < 5; ++i) all.push_back(memory.take(5000));
  for (double* x : all) memory.give_back(x);
  CHECK(memory.idle_bytes() == 8 * 5008 * 3);
  for (int i = 4; i >= 2; --i) CHECK(memory.take(5000) == all[i]);
  for (int i = 2; i < 5; ++i) memory.give_back(all[i]);
  memory.give_back(memory.take(50000));  // larger than the total that may be kept
  CHECK(memory.idle_bytes() == 8 * 5008 * 3);
}

TEST_CASE("several threads never hold the same memory") {
  KeptMemory memory(1 << 20);
  std::vector<std::thread> threads;
  std::vector<int> torn(4, 0);
  for (std::size_t t = 0; t < torn.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 500; ++round) {
        double* const x = memory.take(4096);
        std::fill_n(x, 4096, static_cast<double>(t));
        torn[t] += !std::all_of(x, x + 4096,
                                [t](double value) { return value == static_cast<double>(t); });
        memory.give_back(x);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::all_of(torn.begin(), torn.end(), [](int n) { return n == 0; }));
}
