// Selection of the kernels' instruction set: built and supported sets, and the environment variable
// that forces one.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/cpu.h"
#include "base/error.h"

using namespace robosim;

namespace {

constexpr Isa all_isas[] = {Isa::baseline, Isa::v3, Isa::v4};

std::string refusal(const char* name) {
  try {
    isa_named(name);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every usable instruction set is found by its name, every other one is refused by it") {
  std::string valid = "valid here: baseline";
  for (Isa isa : {Isa::v3, Isa::v4})
    if (is_built(isa) && is_supported(isa)) valid += std::string(", ") + name_of(isa);
  for (Isa isa : all_isas) {
    const std::string name = name_of(isa), text = refusal(name.c_str());
    if (is_built(isa) && is_supported(isa)) {
      CHECK(isa_named(name) == isa);
    } else {
      CHECK(text.starts_with("ROBOSIM_ISA: '" + name + "' is an instruction set that"));
      CHECK(text.ends_with(valid));
    }
  }
  for (const char* name : {"avx2", "V3", "v5", " v3", ""})
    CHECK(refusal(name) ==
          "ROBOSIM_ISA: '" + std::string(name) + "' is no instruction set; " + valid);
}

TEST_CASE("the best is usable and nothing above it is; levels hold the lower ones") {
  CHECK(is_built(Isa::baseline));
  CHECK(is_supported(Isa::baseline));
  CHECK((is_supported(Isa::v3) || !is_supported(Isa::v4)));
  const Isa best = best_isa();
  CHECK(is_built(best));
  CHECK(is_supported(best));
  for (Isa isa : all_isas)
    if (isa > best) CHECK(!(is_built(isa) && is_supported(isa)));
}

#if defined(__linux__) && defined(__x86_64__)
// The Linux kernel lists only enabled features, so that this covers the operating system's part,
// too. Its name of lzcnt is "abm". Features of System V ABI for x86-64, table 3.1.
TEST_CASE("detection agrees with the operating system's list") {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line, flags;
  while (std::getline(cpuinfo, line))
    if (line.starts_with("flags")) {
      flags = " " + line + " ";
      break;
    }
  REQUIRE(!flags.empty());
  const auto has_all = [&](const char* names) {
    std::istringstream in(names);
    for (std::string name; in >> name;)
      if (flags.find(" " + name + " ") == std::string::npos) return false;
    return true;
  };
  const bool v3 =
      has_all("cx16 lahf_lm popcnt sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave");
  CHECK(is_supported(Isa::v3) == v3);
  CHECK(is_supported(Isa::v4) == (v3 && has_all("avx512f avx512bw avx512cd avx512dq avx512vl")));
}
#endif

TEST_CASE(
    "the environment variable is read at the first call and kept; a wrong one is refused each "
    "time") {
  setenv("ROBOSIM_ISA", "sse9", 1);
  CHECK_THROWS_AS(kernel_isa(), InputError);
  CHECK_THROWS_AS(kernel_isa(), InputError);
  setenv("ROBOSIM_ISA", "baseline", 1);
  CHECK(kernel_isa() == Isa::baseline);
  setenv("ROBOSIM_ISA", "sse9", 1);
  CHECK(kernel_isa() == Isa::baseline);
}
