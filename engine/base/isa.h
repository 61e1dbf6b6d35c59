// Instruction sets that kernels are compiled for, and their numbers of doubles per register. A
// translation unit is compiled for exactly one set, `own_isa`, which its build target defines by
// a macro.
#pragma once

#include <cstdint>

namespace robosim {

// x86-64: SSE2, AVX2 with FMA, AVX-512. Other processors: baseline only.
enum class Isa : std::uint8_t { baseline, v3, v4 };

constexpr const char* name_of(Isa isa) {
  return isa == Isa::v4 ? "v4" : isa == Isa::v3 ? "v3" : "baseline";
}

constexpr int lanes_of(Isa isa) { return isa == Isa::v4 ? 8 : isa == Isa::v3 ? 4 : 2; }

// Expand f(name) for each instruction set that this build has kernels for.
#if defined(ROBOSIM_WITH_V3)
#define ROBOSIM_IF_V3(f) f(v3)
#else
#define ROBOSIM_IF_V3(f)
#endif
#if defined(ROBOSIM_WITH_V4)
#define ROBOSIM_IF_V4(f) f(v4)
#else
#define ROBOSIM_IF_V4(f)
#endif
#define ROBOSIM_FOR_EACH_ISA(f) f(baseline) ROBOSIM_IF_V3(f) ROBOSIM_IF_V4(f)

#ifdef ROBOSIM_ISA
inline constexpr Isa own_isa = Isa::ROBOSIM_ISA;
#endif

}  // namespace robosim
