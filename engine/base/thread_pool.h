// Loops over independent chunks, on several threads. One pool of workers serves the whole process:
// it starts at the first loop that wants company, grows to what the loops ask for, and sleeps when
// nothing runs. It never changes a result: chunks are independent, every chunk is computed once,
// under the caller's floating-point environment, and who computes it does not matter.
//
// Threads: several callers may run loops at once; the workers are shared between them, each loop is
// worked through by its own
//   caller in any case, so no loop waits for another.
// fork(): the child starts workers of its own at its first loop, also when another thread was
// within a loop; only a child that
//   is forked inside a body must leave by exec or _exit, as threads that its loop needs are not
//     there.
// Cost of an empty loop on two threads (measured, Linux in a virtual machine): 0.5 us while the
// workers are awake, which they stay
//   for 20 us after a loop; up to 10 us when they sleep, most of it the system's call that wakes
//     one.
#pragma once

#include <string>

#include "base/function_ref.h"

namespace robosim {

inline constexpr int max_thread_limit = 1024;

// How many threads a loop may use, the caller's included. Unless set: the environment variable
// ROBOSIM_THREADS, else the number of processors that this process may run on; looked up at the
// first call, which throws InputError where the variable is not a whole number from 1 to
// max_thread_limit.
int thread_limit();

// For the loops that start from now on. Throws InputError unless 1 <= n <= max_thread_limit.
void set_thread_limit(int n);

// The number that ROBOSIM_THREADS stands for; throws InputError, see thread_limit.
int parse_thread_limit(const std::string& text);

// Calls body(chunk, worker) once for each chunk = 0 .. n_chunks - 1, in any order, on at most
// `threads` and thread_limit() threads at once, one of them the caller's; returns when all are
// done. Among the calls of this loop that run at the same time `worker`, in [0, threads), is
// unique, so each can own a workspace. Inside a body, a loop runs on the thread of that body alone.
// No allocation, once the workers run. Where the system gives no threads, fewer do the work. A body
// had better not throw. When some do, all other chunks are still computed, then the exception of
// the lowest of the chunks that threw is thrown here. Throws InputError for n_chunks < 0 or threads
// < 1.
void parallel_for(int n_chunks, int threads, FunctionRef<void(int chunk, int worker)> body);

}  // namespace robosim
