// The thread pool: every chunk runs once, for all sizes; workers are unique; nested, concurrent and
// failing loops; fork and exit; limits. Tests that need a process of their own (fork, limits of the
// system, the environment) run in children, and SIGALRM ends a deadlock.
#include <doctest/doctest.h>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <ctime>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "count_allocations.h"

using namespace robosim;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

// By default ThreadSanitizer ends every child that starts threads.
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

using Clock = std::chrono::steady_clock;

// Wait until a condition is true. Returns false after 30 s, so that a missing thread fails the test
// instead of blocking it.
bool eventually(const std::function<bool()>& until) {
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (!until()) {
    if (Clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Run a loop whose n bodies all wait for each other. Returns true if n threads run at once, each
// with its own worker in [0, n).
bool runs_at_once(int n) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
  std::atomic<int> arrived{0}, met{0};
  parallel_for(n, n, [&](int, int worker) {
    ++calls.at(static_cast<std::size_t>(worker));
    ++arrived;
    met += eventually([&] { return arrived == n; });
  });
  return met == n && std::all_of(calls.begin(), calls.end(), [](const auto& c) { return c == 1; });
}

// Return the result of a function in a child process; a signal, an exception or another exit is
// false.
bool in_child(const std::function<bool()>& says) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    try {
      _exit(says() ? 0 : 1);
    } catch (...) {
      _exit(2);
    }
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

bool sums(int n_chunks, int threads) {
  std::atomic<long> sum{0};
  parallel_for(n_chunks, threads, [&](int chunk, int) { sum += chunk + 1; });
  return sum == static_cast<long>(n_chunks) * (n_chunks + 1) / 2;
}

// The limit is read once per process, so these children are forked before main().
const bool environment_is_used =
    in_child([] { return setenv("ROBOSIM_THREADS", "7", 1) == 0 && thread_limit() == 7; });
const bool environment_is_checked = in_child([] {
  setenv("ROBOSIM_THREADS", "many", 1);
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      parallel_for(3, 2, [](int, int) {});
      return false;
    } catch (const InputError& error) {
      if (std::string(error.what()).find("ROBOSIM_THREADS is 'many'") == std::string::npos)
        return false;
    }
  }
  set_thread_limit(2);  // recovers from the error
  return sums(100, 2);
});
const bool default_counts_usable_processors = in_child([] {
  unsetenv("ROBOSIM_THREADS");
  int expected = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __linux__
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return false;
  CPU_ZERO(&one);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu)
    if (CPU_ISSET(cpu, &all) && CPU_COUNT(&one) == 0) CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return false;
  expected = 1;
#endif
  return thread_limit() == expected;
});

// These children end by exit(), which must not destroy doctest's objects.
const bool ends_with_sleepers = in_child([] {
  set_thread_limit(4);
  std::exit(runs_at_once(4) ? 0 : 1);
  return false;
});
const bool ends_in_a_loop = in_child([] {
  set_thread_limit(4);
  static std::atomic<bool> running{false};
  std::thread([] {
    for (;;) parallel_for(1000, 4, [](int, int) { running = true; });
  }).detach();
  std::exit(eventually([] { return running.load(); }) ? 0 : 1);
  return false;
});

#ifndef SANITIZED  // a sanitizer needs the address space
// Before main(), because stacks of earlier threads would be reused.
const bool works_without_threads = in_child([] {
  set_thread_limit(6);
  const rlimit none{1, 1};
  return setrlimit(RLIMIT_AS, &none) == 0 && sums(100, 6) && sums(100, 6);
});
#endif

struct Limit {  // for one test
  int before = thread_limit();
  explicit Limit(int n) { set_thread_limit(n); }
  ~Limit() { set_thread_limit(before); }
};

}  // namespace

TEST_CASE("the limit comes from the environment, else from the processors") {
  CHECK(environment_is_used);
  CHECK(environment_is_checked);
  CHECK(default_counts_usable_processors);
  CHECK(parse_thread_limit("1") == 1);
  CHECK(parse_thread_limit("16") == 16);
  CHECK(parse_thread_limit("1024") == max_thread_limit);
  for (const char* text : {"", "0", "-1", "+2", " 2", "2 ", "2.0", "1e1", "0x2", "two", "1025",
                           "99999999999999999999", "2;3"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_thread_limit(text), InputError);
  }
  CHECK_THROWS_WITH(
      parse_thread_limit("-3"),
      "the environment variable ROBOSIM_THREADS is '-3'; valid is a whole number from 1 to 1024");
}

TEST_CASE("limits and arguments are checked") {
  const Limit limit(3);
  CHECK(thread_limit() == 3);
  for (const int n : {0, -1, max_thread_limit + 1})
    CHECK_THROWS_AS(set_thread_limit(n), InputError);
  CHECK(thread_limit() == 3);
  CHECK_THROWS_AS(parallel_for(-1, 1, [](int, int) {}), InputError);
  CHECK_THROWS_AS(parallel_for(1, 0, [](int, int) {}), InputError);
  int calls = 0;
  parallel_for(0, 5, [&](int, int) { ++calls; });
  CHECK(calls == 0);
}

TEST_CASE("every chunk is computed once, and workers are unique among the calls that run at once") {
  const Limit limit(6);
  std::vector<int> sizes;
  for (int n = 0; n <= 40; ++n) sizes.push_back(n);
  for (const int n : {64, 127, 1000, 20011}) sizes.push_back(n);
  for (const int threads : {1, 2, 3, 6, 50})
    for (const int n : sizes) {
      CAPTURE(threads);
      CAPTURE(n);
      const int most = std::min({threads, thread_limit(), n});
      // Not atomic: the end of a loop happens after its bodies.
      std::vector<int> calls(static_cast<std::size_t>(n));
      std::vector<std::atomic<bool>> busy(static_cast<std::size_t>(threads));
      std::atomic<int> outside{0}, shared{0};
      parallel_for(n, threads, [&](int chunk, int worker) {
        if (chunk < 0 || chunk >= n || worker < 0 || worker >= most) {
          ++outside;
          return;
        }
        auto& mine = busy[worker];
        shared += mine.exchange(true);
        ++calls[chunk];
        mine = false;
      });
      CHECK(outside == 0);
      CHECK(shared == 0);
      CHECK(std::count(calls.begin(), calls.end(), 1) == n);
    }
}

TEST_CASE("a loop runs on as many threads as it may, and on no more") {
  const Limit limit(8);
  for (const int n : {2, 5, 8}) CHECK(runs_at_once(n));
  const auto most_at_once = [](int n_chunks, int threads) {
    std::atomic<int> now{0}, most{0};
    parallel_for(n_chunks, threads, [&](int, int) {
      const int running = ++now;
      for (int seen = most; running > seen && !most.compare_exchange_weak(seen, running);) {
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      --now;
    });
    return most.load();
  };
  CHECK(most_at_once(100, 3) <= 3);
  CHECK(most_at_once(2, 8) <= 2);
  set_thread_limit(2);
  CHECK(most_at_once(100, 8) <= 2);

  set_thread_limit(1);
  std::set<std::thread::id> threads;
  parallel_for(100, 8, [&](int, int) { threads.insert(std::this_thread::get_id()); });
  CHECK(threads == std::set{std::this_thread::get_id()});
}

TEST_CASE("inside a body a loop runs on the body's thread alone") {
  const Limit limit(4);
  CHECK(runs_at_once(4));
  std::vector<int> calls(2 * 30);
  std::atomic<int> strayed{0};
  parallel_for(2, 2, [&](int outer, int) {  // two idle workers, with time to join
    const auto here = std::this_thread::get_id();
    parallel_for(30, 4, [&](int inner, int worker) {
      strayed += worker != 0 || std::this_thread::get_id() != here;
      ++calls[30 * outer + inner];
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  CHECK(strayed == 0);
  CHECK(std::count(calls.begin(), calls.end(), 1) == 60);
  CHECK(runs_at_once(4));  // and afterwards on several threads again
}

TEST_CASE("several callers at once") {
  const Limit limit(4);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 5; ++c)
    callers.emplace_back([&, c] {
      for (int i = 0; i < 300; ++i) wrong += !sums((7 * i + 13 * c) % 90, 1 + (i + c) % 5);
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);

  // No loop waits for another: a loop that occupies all workers may be waiting for another caller's
  // loop.
  std::atomic<bool> other_is_done{false};
  std::atomic<int> inside{0}, in_vain{0};
  std::thread other([&] {
    in_vain += !eventually([&] { return inside == 4; });
    wrong += !sums(50, 4);
    other_is_done = true;
  });
  parallel_for(4, 4, [&](int, int) {
    ++inside;
    in_vain += !eventually([&] { return other_is_done.load(); });
  });
  other.join();
  CHECK(wrong == 0);
  CHECK(in_vain == 0);

  // Workers that one loop does not need serve another: two loops of two, each of which keeps its
  // threads until all four run.
  std::atomic<int> met{0}, arrived{0};
  const auto pair = [&] {
    parallel_for(2, 2, [&](int, int) {
      ++arrived;
      met += eventually([&] { return arrived == 4; });
    });
  };
  std::thread second(pair);
  pair();
  second.join();
  CHECK(met == 4);
}

TEST_CASE("the exception of the lowest chunk that threw arrives, after all other chunks") {
  const Limit limit(4);
  for (const int threads : {1, 4})
    for (int repetition = 0; repetition < 50; ++repetition) {
      std::vector<int> calls(100);
      std::atomic<int> begun{0};
      const auto loop = [&] {
        parallel_for(100, threads, [&](int chunk, int) {
          ++calls[chunk];
          ++begun;
          // Chunk 7 is the last to throw of the first few.
          if (chunk == 7 && threads > 1) eventually([&] { return begun > 50; });
          if (chunk % 10 == 7) throw InputError(message("chunk ", chunk));
        });
      };
      CHECK_THROWS_WITH_AS(loop(), "chunk 7", InputError);
      CHECK(std::count(calls.begin(), calls.end(), 1) == 100);
    }
  for (int repetition = 0; repetition < 50; ++repetition) {  // all at the same time
    std::atomic<int> arrived{0};
    const auto loop = [&] {
      parallel_for(4, 4, [&](int chunk, int) {
        ++arrived;
        eventually([&] { return arrived == 4; });
        throw InputError(message("chunk ", chunk));
      });
    };
    CHECK_THROWS_WITH_AS(loop(), "chunk 0", InputError);
  }
  std::atomic<int> caught{0};
  parallel_for(8, 4, [&](int, int) {
    try {
      parallel_for(3, 4, [](int chunk, int) { throw chunk; });
    } catch (const int chunk) {
      caught += chunk == 0;
    }
  });
  CHECK(caught == 8);
  CHECK(runs_at_once(4));
}

TEST_CASE("all chunks are computed under the caller's floating-point environment") {
  const Limit limit(4);
  CHECK(runs_at_once(4));  // the workers exist before the mode changes
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TONEAREST}) {
    std::atomic<int> arrived{0};
    std::vector<double> third(4);
    std::fesetround(mode);
    const volatile double one = 1, three = 3;
    const double expected = one / three;
    parallel_for(4, 4, [&](int chunk, int) {
      third[chunk] = one / three;
      ++arrived;
      eventually([&] { return arrived == 4; });
    });
    std::fesetround(FE_TONEAREST);
    CHECK(std::count(third.begin(), third.end(), expected) == 4);
    CHECK((expected > 0.333333333333333314) == (mode == FE_UPWARD));
  }
}

TEST_CASE("a loop allocates nothing once the workers run") {
  const Limit limit(4);
  CHECK(runs_at_once(4));
  std::vector<long> of_chunk(1000);
  const long before = allocations;
  for (int i = 0; i < 200; ++i)
    parallel_for(1000, 4, [&](int chunk, int) { of_chunk[chunk] += chunk; });
  CHECK(allocations == before);
  CHECK(of_chunk[999] == 999 * 200);
}

TEST_CASE("workers sleep when nothing runs, and leave signals to the program") {
  const Limit limit(4);
  std::atomic<int> arrived{0}, wrong{0};
  parallel_for(4, 4, [&](int, int worker) {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    wrong += sigismember(&blocked, SIGINT) != (worker > 0) || sigismember(&blocked, SIGSEGV) != 0;
    ++arrived;
    eventually([&] { return arrived == 4; });
  });
  CHECK(wrong == 0);
  // Sleeping workers use no processor time. Three busy ones would use up to 0.9 s, less if other
  // programs need the processors.
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.02);
}

TEST_CASE("a child after fork has a pool of its own, and the parent keeps its") {
  const Limit limit(4);
  CHECK(runs_at_once(4));
  CHECK(in_child([] { return runs_at_once(4) && sums(1000, 4); }));
  CHECK(in_child([] { return in_child([] { return runs_at_once(3); }) && runs_at_once(4); }));
  CHECK(runs_at_once(4));
}

TEST_CASE("a child forked while loops run in other threads does not lock up") {
  const Limit limit(4);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 2; ++c)
    callers.emplace_back([&] {
      while (!stop) wrong += !sums(20, 4);
    });
  int failed = 0;
  for (int i = 0; i < 60; ++i) failed += !in_child([] { return sums(100, 4) && runs_at_once(4); });
  CHECK(runs_at_once(4));
  stop = true;
  for (std::thread& caller : callers) caller.join();
  CHECK(failed == 0);
  CHECK(wrong == 0);
}

TEST_CASE("a process ends cleanly while workers sleep, and while they work") {
  CHECK(ends_with_sleepers);
  CHECK(ends_in_a_loop);
}

#ifndef SANITIZED
TEST_CASE("where the system gives no threads, the caller does the work") {
  CHECK(works_without_threads);
}
#endif
