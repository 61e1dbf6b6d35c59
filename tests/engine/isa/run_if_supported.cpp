// run_if_supported ISA PROGRAM [ARGUMENT...]: run a program that is compiled for an instruction
// set. If this machine lacks the set, print that and exit with status 77, which ctest reports as
// skipped. This program itself is compiled for every processor. If programs run in an emulator,
// PROGRAM is the emulator.
#include <unistd.h>

#include <cstdio>

#include "base/cpu.h"

int main(int argc, char** argv) {
  if (argc < 3)
    return std::fprintf(stderr, "usage: run_if_supported ISA PROGRAM [ARGUMENT...]\n"), 2;
  try {
    robosim::isa_named(argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "skipped: %s\n", e.what());
    return 77;
  }
  execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 2;
}
