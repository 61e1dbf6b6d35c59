// The instruction sets that kernels are compiled for, and how many doubles one of their registers holds. A translation unit
// is compiled for exactly one; `own_isa` says which (from the macro that its build target defines).
#pragma once

#include <cstdint>

namespace robosim {

enum class Isa : std::uint8_t { baseline, v3, v4 };  // of x86-64: SSE2, AVX2 with FMA, AVX-512; elsewhere baseline only

inline constexpr int lanes_of(Isa isa) { return isa == Isa::v4 ? 8 : isa == Isa::v3 ? 4 : 2; }

#ifdef ROBOSIM_ISA
inline constexpr Isa own_isa = Isa::ROBOSIM_ISA;
#endif

}  // namespace robosim
