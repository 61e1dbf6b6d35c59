// For the small operations of the spatial floor: compilers leave some of them as calls, with their
// results through memory, which makes the recursions of the dynamics 1.3 to 1.7 times slower
// (measured, gcc 12, 6 and 32 joints).
#pragma once

// With sanitizers every operation is checked; inlined without measure, such code takes compilers
// minutes.
#ifdef ROBOSIM_SANITIZED
#define ROBOSIM_INLINE inline
#else
#define ROBOSIM_INLINE __attribute__((always_inline)) inline
#endif
