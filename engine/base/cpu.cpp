#include "base/cpu.h"

#include <cstdlib>
#include <string>

#include "base/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace robosim {

namespace {

constexpr Isa all_isas[] = {Isa::baseline, Isa::v3, Isa::v4};

#if defined(__x86_64__)
// Features of the levels v3 and v4 of the System V ABI for x86-64 (section 3.1.1,
// micro-architecture levels). The compiler's test includes that the operating system saves the
// registers. Features that it does not cover are read from the processor.
bool has_v3() {
  unsigned a, b, c = 0, d, extended = 0;
  __get_cpuid(1, &a, &b, &c, &d);
  __get_cpuid(0x80000001, &a, &b, &extended, &d);
  constexpr unsigned cx16 = 1u << 13, movbe = 1u << 22, f16c = 1u << 29, lahf = 1u << 0,
                     lzcnt = 1u << 5;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("sse4.2") && (c & cx16) &&
         (c & movbe) && (c & f16c) && (extended & lahf) && (extended & lzcnt);
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
bool has_v3() { return false; }
bool has_v4() { return false; }
#endif

}  // namespace

bool is_built(Isa isa) {
#define ROBOSIM_IS_THIS_ISA(name) \
  if (isa == Isa::name) return true;
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_IS_THIS_ISA)
#undef ROBOSIM_IS_THIS_ISA
  return false;
}

bool is_supported(Isa isa) {
  static const bool v3 = has_v3(), v4 = has_v4();
  return isa == Isa::v4 ? v4 : isa == Isa::v3 ? v3 : true;
}

Isa best_isa() {
  Isa best = Isa::baseline;
  for (Isa isa : all_isas)
    if (is_built(isa) && is_supported(isa)) best = isa;
  return best;
}

Isa isa_named(std::string_view name) {
  std::string valid;
  const char* fault = "is no instruction set";
  for (Isa isa : all_isas) {
    const bool usable = is_built(isa) && is_supported(isa);
    if (name == name_of(isa)) {
      if (usable) return isa;
      fault = is_built(isa) ? "is an instruction set that this processor does not have"
                            : "is an instruction set that this build was not compiled for";
    }
    if (usable) valid += (valid.empty() ? "" : ", ") + std::string(name_of(isa));
  }
  throw InputError(message("ROBOSIM_ISA: '", name, "' ", fault, "; valid here: ", valid));
}

Isa kernel_isa() {
  static const Isa isa = [] {
    const char* name = std::getenv("ROBOSIM_ISA");
    return name && *name ? isa_named(name) : best_isa();
  }();
  return isa;
}

}  // namespace robosim
