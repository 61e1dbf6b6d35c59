// The instruction sets that kernels are compiled for, and how many doubles one of their registers
// holds. A translation unit is compiled for exactly one; `own_isa` says which (from the macro that
// its build target defines).
#pragma once

#include <cstdint>

namespace robosim {

// Of x86-64: SSE2, AVX2 with FMA, AVX-512; elsewhere baseline only.
enum class Isa : std::uint8_t { baseline, v3, v4 };

constexpr const char* name_of(Isa isa) {
  return isa == Isa::v4 ? "v4" : isa == Isa::v3 ? "v3" : "baseline";
}

constexpr int lanes_of(Isa isa) { return isa == Isa::v4 ? 8 : isa == Isa::v3 ? 4 : 2; }

// f(name) for each instruction set that this build has kernels for.
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
