// Forced inlining of small operations on spatial vectors. Compilers leave some of them as calls
// that return through memory, which makes the recursions of the dynamics 1.3 to 1.7 times slower
// (measured, gcc 12, 6 and 32 joints).
#pragma once

// Sanitizers instrument every operation. With forced inlining, such code takes minutes to compile.
#ifdef ROBOSIM_SANITIZED
#define ROBOSIM_INLINE inline
#else
#define ROBOSIM_INLINE __attribute__((always_inline)) inline
#endif
