// Closures: constraints that close kinematic loops, which a tree of joints cannot have. Frames of
// two bodies can be held together, and a joint can follow another by a polynomial.
#pragma once

#include <string>
#include <vector>

#include "spatial/se3.h"

namespace robosim {

// Frame F of body a and frame G of body b. G's origin stays at F's origin along the held axes of F:
// a point that both bodies share in space, in the plane or along a line. In a weld F and G also
// keep the same orientation.
struct FrameClosure {
  std::string name;
  int a = 0, b = 0;  // body indices; 0: the world
  SE3d X_AF, X_BG;
  bool is_held[3] = {true, true, true};
  bool is_weld = false;
};

// q_b = sum_k coefficients[k] q_a^k, for joints with one position each, given by their entries of
// v. Without a, q_b = coefficients[0].
struct JointEquality {
  static constexpr int terms = 5;
  std::string name;
  int a = -1, b = 0;
  double coefficients[terms] = {0, 1, 0, 0, 0};

  // Value, slope and second derivative of the polynomial.
  struct Value {
    double value = 0, slope = 0, curvature = 0;
  };
  Value at(double q_a) const {
    Value p;
    for (int k = terms - 1; k >= 0; --k) {  // Horner's rule, and its derivatives
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
