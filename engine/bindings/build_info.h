// Build options of this extension module and instruction sets of the processor, for `robosim
// check`.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "base/cpu.h"

namespace robosim {

#ifndef ROBOSIM_BUILD_FLAGS
#define ROBOSIM_BUILD_FLAGS "unknown"
#endif
#define ROBOSIM_STRING_OF(x) #x
#define ROBOSIM_STRING(x) ROBOSIM_STRING_OF(x)

inline std::string compiler_version() {
#if defined(__clang__)
  return std::string("clang ") + __clang_version__;
#elif defined(__GNUC__)
  return std::string("gcc ") + __VERSION__;
#else
  return "unknown";
#endif
}

// Instruction set that the module requires: the one that the compiler was allowed to use
// everywhere.
inline std::string compiled_instruction_set() {
#if defined(__x86_64__) && defined(__AVX512F__)
  return "x86-64-v4";
#elif defined(__x86_64__) && defined(__AVX2__)
  return "x86-64-v3";
#elif defined(__x86_64__) && defined(__SSE4_2__)
  return "x86-64-v2";
#elif defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64 (NEON)";
#else
  return "other";
#endif
}

// Instruction sets that this module has kernels for and that the processor supports.
inline std::vector<std::string> usable_kernels() {
  std::vector<std::string> found;
  for (Isa isa : {Isa::baseline, Isa::v3, Isa::v4})
    if (is_built(isa) && is_supported(isa)) found.emplace_back(name_of(isa));
  return found;
}

// Highest instruction set of the processor if this module has no kernels for that set, for example
// because it was compiled on an older machine; else empty.
inline std::string missing_kernels() {
  const Isa highest = is_supported(Isa::v4)   ? Isa::v4
                      : is_supported(Isa::v3) ? Isa::v3
                                              : Isa::baseline;
  return highest > best_isa() ? name_of(highest) : "";
}

// Vector extensions of the processor in use.
inline std::vector<std::string> cpu_features() {
  std::vector<std::string> found;
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  if (__builtin_cpu_supports("sse4.2")) found.emplace_back("sse4.2");
  if (__builtin_cpu_supports("avx")) found.emplace_back("avx");
  if (__builtin_cpu_supports("avx2")) found.emplace_back("avx2");
  if (__builtin_cpu_supports("fma")) found.emplace_back("fma");
  if (__builtin_cpu_supports("avx512f")) found.emplace_back("avx512f");
#elif defined(__aarch64__)
  found.emplace_back("neon");
#endif
  return found;
}

inline std::string eigen_version() {
  return ROBOSIM_STRING(EIGEN_WORLD_VERSION) "." ROBOSIM_STRING(
      EIGEN_MAJOR_VERSION) "." ROBOSIM_STRING(EIGEN_MINOR_VERSION);
}

inline bool assertions_enabled() {
#ifdef NDEBUG
  return false;
#else
  return true;
#endif
}

}  // namespace robosim
