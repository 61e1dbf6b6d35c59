// Parallel loops over independent chunks. One pool of workers serves the whole process: it starts
// at the first loop that may use more than one thread, grows to the largest number of threads
// requested, and sleeps when no loop runs. The pool never changes a result: chunks are independent,
// and every chunk is computed once, in the caller's floating-point environment, by any thread.
//
// * Threads: several callers may run loops at once, and share the workers. Each caller works on its
//   own loop in any case, so no loop waits for another.
// * fork(): the child starts its own workers at its first loop, even if another thread was inside a
//   loop. Only a child that is forked inside a body must leave by exec or _exit, as threads that
//   its loop needs do not exist there.
// * Cost of an empty loop on two threads (measured, Linux in a virtual machine): 0.5 us while the
//   workers are awake, which they stay for 20 us after a loop; up to 10 us when they sleep, mostly
//   for the system call that wakes one.
#pragma once

#include <string>

#include "base/function_ref.h"

namespace robosim {

inline constexpr int max_thread_limit = 1024;

// Largest number of threads of a loop, including the caller's. Unless set, it is the environment
// variable ROBOSIM_THREADS, else the number of processors that this process may run on. It is
// determined at the first call, which throws InputError if the variable is not an integer from 1
// to max_thread_limit.
int thread_limit();

// Set the limit of loops that start later. Throws InputError unless 1 <= n <= max_thread_limit.
void set_thread_limit(int n);

// Parse the value of ROBOSIM_THREADS; throws InputError, see thread_limit.
int parse_thread_limit(const std::string& text);

// Call body(chunk, worker) once for each chunk = 0 .. n_chunks - 1, in any order, on at most
// `threads` and thread_limit() threads at once, including the caller's. Returns when all chunks
// are done. `worker`, in [0, threads), is unique among the calls of this loop that run at the
// same time, so that each can own a workspace. A loop inside a body runs on the thread of that
// body alone. Does not allocate once the workers run. If the system refuses threads, fewer do the
// work. Bodies should not throw. If some do, all other chunks are still computed, and then the
// exception of the lowest chunk that threw is rethrown here. Throws InputError for n_chunks < 0
// or threads < 1.
void parallel_for(int n_chunks, int threads, FunctionRef<void(int chunk, int worker)> body);

}  // namespace robosim
