// What closes loops, which a tree of joints cannot have: frames of two bodies that stay together,
// and joints that move by a law of each other.
#pragma once

#include <string>
#include <vector>

#include "spatial/se3.h"

namespace robosim {

// Frame F of body a and frame G of body b: G's origin stays at F's along those of F's axes that are
// held (a point that two bodies share, in the plane, along a line), and of a weld F and G stay
// turned alike, too.
struct FrameClosure {
  std::string name;
  int a = 0, b = 0;  // bodies; 0: the world
  SE3d X_AF, X_BG;
  bool is_held[3] = {true, true, true};
  bool is_weld = false;
};

// q_b = sum_k coefficients[k] q_a^k, of joints with one position each, by their entries of v.
// Without a, q_b = coefficients[0].
struct JointEquality {
  static constexpr int terms = 5;
  std::string name;
  int a = -1, b = 0;
  double coefficients[terms] = {0, 1, 0, 0, 0};

  // The polynomial, its slope and what the slope changes by.
  struct Value {
    double value = 0, slope = 0, curvature = 0;
  };
  Value at(double q_a) const {
    Value p;
    for (int k = terms - 1; k >= 0; --k) {  // Horner, and his rule differentiated
      p.curvature = p.curvature * q_a + 2 * p.slope;
      p.slope = p.slope * q_a + p.value;
      p.value = p.value * q_a + coefficients[k];
    }
    return p;
  }
};

struct Closures {
  std::vector<FrameClosure> frames;
  std::vector<JointEquality> joints;
};

}  // namespace robosim
