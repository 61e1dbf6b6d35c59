// Repetitions of tests: a small number in the gate, the whole campaign in .ci/full, which sets the
// environment variable ROBOSIM_TEST_SCALE to `full`. tests/scale.py is the counterpart for tests in
// Python.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace robosim::testing {

inline bool full_scale() {
  const char* set = std::getenv("ROBOSIM_TEST_SCALE");
  const std::string scale = set && *set ? set : "gate";
  if (scale != "gate" && scale != "full")
    throw std::invalid_argument("ROBOSIM_TEST_SCALE is '" + scale + "' and has to be gate or full");
  return scale == "full";
}

// Number of repetitions, in the gate and in full.
inline int repeats(int gate, int full) { return full_scale() ? full : gate; }

// Stride through a grid of cases: every case in full, one of several in the gate. The stride has no
// divisor in common with the lengths of the grid's axes, so that all values of each axis occur.
class Slice {
 public:
  explicit Slice(int every) : every_(full_scale() ? 1 : every) {}

  bool takes_next() { return n_++ % every_ == 0; }

 private:
  int every_, n_ = 0;
};

}  // namespace robosim::testing
