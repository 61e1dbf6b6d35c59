// The pool's state is one object of static storage with a constant initializer and no destructor.
// It exists before any other static object is constructed and after all are destroyed, and a thread
// that still waits in it at the end of the process does no harm. After fork() the child's copy may
// be in any state: its threads do not exist, and its mutex may be locked forever. The child
// constructs a new pool in its place.
//
// A loop lives on its caller's stack. It is *open* while a worker may join it: from post() until
// its places are taken or its chunks are handed out. A worker joins and leaves under the mutex, and
// takes chunks by atomic counters.
#include "base/thread_pool.h"

#include <pthread.h>
#include <signal.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <type_traits>

#include "base/error.h"

namespace robosim {
namespace {

// Neighboring chunks that one thread processes, until other threads finish theirs and help. Data
// that a thread wrote in the last loop over the same arrays are thus still in its cache. Each share
// is on a cache line of its own. 64 bits, because every thread counts once beyond the end.
struct alignas(64) Share {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};
constexpr int max_shares = 16;  // more threads share shares

struct Loop {
  FunctionRef<void(int, int)> body;
  int places;  // for workers besides the caller
  int n_shares;

  // Written under the pool's mutex, except `environment`, which is constant once the loop is open.
  std::fenv_t environment = {};
  Loop* next_open = nullptr;
  bool open = false;
  bool caller_sleeps = false;
  int joined = 0;
  int failed_chunk = 0;
  std::exception_ptr failure = nullptr;

  // Number of workers that joined and did not leave; increased only under the mutex. On a cache
  // line of its own, which the caller watches.
  alignas(64) std::atomic<int> running{0};
  Share shares[max_shares];  // partition of the chunks, one share per possible thread

  Loop(FunctionRef<void(int, int)> body_, int n_chunks, int threads)
      : body(body_), places(threads - 1), n_shares(std::clamp(threads, 1, max_shares)) {
    const auto bound = [&](int i) { return static_cast<std::int64_t>(n_chunks) * i / n_shares; };
    for (int i = 0; i < n_shares; ++i) {
      shares[i].next.store(bound(i), std::memory_order_relaxed);
      shares[i].end = bound(i + 1);
    }
  }
};

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// std::mutex and std::condition_variable have, on some systems, nontrivial destructors and
// initializers. The mutex is held for about 10 ns at a time, so a thread that finds it locked tries
// again before it sleeps, which takes microseconds.
struct Mutex {
  pthread_mutex_t handle = PTHREAD_MUTEX_INITIALIZER;
  void lock() {
    for (int i = 0; i < 100; ++i, pause())
      if (pthread_mutex_trylock(&handle) == 0) return;
    pthread_mutex_lock(&handle);
  }
  void unlock() { pthread_mutex_unlock(&handle); }
};

struct Condition {
  pthread_cond_t handle = PTHREAD_COND_INITIALIZER;
  void wait(Mutex& mutex) { pthread_cond_wait(&handle, &mutex.handle); }
};

struct Pool {
  Mutex mutex;
  Condition work;                   // some loop is open
  Condition done;                   // no workers run in some loop whose caller sleeps
  int workers = 0;                  // threads started
  int sleepers = 0;                 // threads that wait for `work`
  bool exhausted = false;           // the system refused a thread
  Loop* first_open = nullptr;       // oldest first
  std::atomic<unsigned> posted{0};  // number of loops, readable without the mutex
};

constinit Pool pool;
static_assert(std::is_trivially_destructible_v<Pool>);

constinit std::atomic<int> limit{0};  // 0: not determined yet
thread_local bool inside_body = false;

// Registered when the library is loaded, as a guard of std::call_once could itself be locked during
// a fork. Neither the parent nor the time before the fork needs a handler.
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { new (&pool) Pool; });

// Spin for about as long as it takes to sleep and to be woken. Return false if the condition did
// not become true. With `yields`, let other ready threads run: an idle worker may have been woken
// on the processor of the caller that it serves.
template <class Predicate>
bool spin_until(Predicate holds, bool yields) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  do {
    for (int i = 0; i < 16; ++i) {
      if (holds()) return true;
      pause();
    }
    if (yields) std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Process chunks until none are left, beginning with the worker's own share.
void run_chunks(Loop& loop, int worker) {
  for (int i = 0; i < loop.n_shares; ++i) {
    Share& share = loop.shares[(worker + i) % loop.n_shares];
    for (std::int64_t next;
         (next = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;) {
      const int chunk = static_cast<int>(next);
      try {
        loop.body(chunk, worker);
      } catch (...) {
        const std::lock_guard lock(pool.mutex);
        if (loop.failure && loop.failed_chunk < chunk) continue;
        loop.failed_chunk = chunk;
        loop.failure = std::current_exception();
      }
    }
  }
}

// Close the loop to workers that have not joined. Requires the mutex.
void close(Loop& loop) {
  if (!loop.open) return;
  Loop** link = &pool.first_open;
  while (*link != &loop) link = &(*link)->next_open;
  *link = loop.next_open;
  loop.open = false;
}

// Number of sleeping workers that this thread should wake. Requires the mutex. Two at most, each of
// which wakes two more: waking may take longer than a chunk, and the caller thus soon works on its
// own chunks.
int to_wake() {
  const Loop* loop = pool.first_open;
  return loop ? std::min({2, pool.sleepers, loop->places - loop->joined}) : 0;
}

void wake(int n) {
  for (int i = 0; i < n; ++i) pthread_cond_signal(&pool.work.handle);
}

// Main loop of a worker: join the oldest open loop, process chunks until all are handed out, leave,
// and look for the next loop. If none is posted for some time, sleep.
void* work(void*) {
  inside_body = true;
  for (bool awake = true;;) {
    const unsigned known = pool.posted.load(std::memory_order_relaxed);
    std::unique_lock lock(pool.mutex);
    while (!pool.first_open && !awake) {
      ++pool.sleepers;
      pool.work.wait(pool.mutex);
      --pool.sleepers;
    }
    if (!pool.first_open) {
      lock.unlock();
      awake =
          spin_until([&] { return pool.posted.load(std::memory_order_relaxed) != known; }, true);
      continue;
    }
    awake = true;
    Loop& loop = *pool.first_open;
    const int worker = ++loop.joined;
    loop.running.fetch_add(1, std::memory_order_relaxed);
    if (loop.joined == loop.places) close(loop);
    const int n = to_wake();
    lock.unlock();
    wake(n);

    std::fesetenv(&loop.environment);
    run_chunks(loop, worker);

    // Once `running` is 0, the caller may return and destroy the loop.
    lock.lock();
    close(loop);
    const bool caller_sleeps = loop.caller_sleeps;
    const bool last = loop.running.fetch_sub(1, std::memory_order_release) == 1;
    lock.unlock();
    if (last && caller_sleeps) pthread_cond_broadcast(&pool.done.handle);
  }
}

// Start threads until there are n. Requires the mutex. The threads block signals, which belong to
// the program's threads (an interrupt must end the main thread's sleep, not a worker's), except for
// those that a fault in the thread itself raises.
void start_workers(int n) {
  if (pool.workers >= n || pool.exhausted) return;
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // The size of the main thread's stack; the default of macOS is 512 KiB.
  pthread_attr_setstacksize(&attributes, std::size_t{8} << 20);
  for (pthread_t thread; pool.workers < n && !pool.exhausted;) {
    if (pthread_create(&thread, &attributes, work, nullptr) == 0)
      ++pool.workers;
    else
      pool.exhausted = true;
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Publish a loop, and wake workers for it.
void post(Loop& loop) {
  std::fegetenv(&loop.environment);
  std::unique_lock lock(pool.mutex);
  start_workers(loop.places);
  Loop** link = &pool.first_open;
  while (*link) link = &(*link)->next_open;
  *link = &loop;
  loop.open = true;
  pool.posted.fetch_add(1, std::memory_order_relaxed);
  const int n = to_wake();
  lock.unlock();
  wake(n);
}

// Close the loop and wait for the workers that joined.
void finish(Loop& loop) {
  const auto alone = [&] { return loop.running.load(std::memory_order_acquire) == 0; };
  {
    const std::lock_guard lock(pool.mutex);
    close(loop);
  }
  if (spin_until(alone, false)) return;
  const std::lock_guard lock(pool.mutex);
  loop.caller_sleeps = true;
  while (!alone()) pool.done.wait(pool.mutex);
}

int default_thread_limit() {
  if (const char* text = std::getenv("ROBOSIM_THREADS")) return parse_thread_limit(text);
  int processors = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __linux__
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) processors = CPU_COUNT(&usable);
#endif
  return std::clamp(processors, 1, max_thread_limit);
}

}  // namespace

int parse_thread_limit(const std::string& text) {
  int n = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, n);
  if (status != std::errc() || stop != end || n < 1 || n > max_thread_limit)
    throw InputError(message("the environment variable ROBOSIM_THREADS is '", text,
                             "'; valid is a whole number from 1 to ", max_thread_limit));
  return n;
}

int thread_limit() {
  int n = limit.load(std::memory_order_relaxed);
  if (n == 0) {
    const int fresh = default_thread_limit();
    n = limit.compare_exchange_strong(n, fresh, std::memory_order_relaxed) ? fresh : n;
  }
  return n;
}

void set_thread_limit(int n) {
  if (n < 1 || n > max_thread_limit)
    throw InputError(
        message("the thread limit cannot be ", n, "; valid is 1 to ", max_thread_limit));
  limit.store(n, std::memory_order_relaxed);
}

void parallel_for(int n_chunks, int threads, FunctionRef<void(int chunk, int worker)> body) {
  if (n_chunks < 0)
    throw InputError(message("parallel_for: there cannot be ", n_chunks, " chunks"));
  if (threads < 1)
    throw InputError(message("parallel_for: needs at least 1 thread, not ", threads));
  const int together = inside_body ? 1 : std::min({threads, thread_limit(), n_chunks});
  Loop loop(body, n_chunks, together);
  const bool nested = inside_body;
  if (loop.places > 0) post(loop);
  inside_body = true;
  run_chunks(loop, 0);
  inside_body = nested;
  if (loop.places > 0) finish(loop);
  if (loop.failure) std::rethrow_exception(std::move(loop.failure));
}

}  // namespace robosim
