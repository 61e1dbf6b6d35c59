// What -sum_a x_a . dM^ y_a adds to the gradient of a step, for pairs of joint rates x_a and y_a.
//
// By x_a and y_a body i moves with W_a and P_a, and a pair's term is the sum of W_a . I_i P_a over
// bodies: inverse dynamics of the accelerations y_a at rest, contracted with x_a. All that is asked
// of a body is linear in
//   C_i = sum_a P_a W_a^T      6 x 6
// so what its parameters get is made once of that, however many pairs there are; seen at its center
// of mass in its axes,
//   mass: the trace of C's linear part,   com: m sum_a (W_lin x P_ang + P_lin x W_ang),   moments:
//                                         C's angular part
// and what turns with joint i, whose subtree's forces are F (of y) and G (of x), gets  sum_a P_p x*
// G + W_p x* F,  p the joint's parent: of products of the same kind.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/linalg/zeros.h"
#include "step/motion_adjoint.h"

namespace robosim {

struct MassVjp {
  using Spatial = std::array<double, 6>;  // [angular; linear], of motions and of forces

  std::vector<double> inertia_bar;  // n_v: on the diagonal of M^

  void reset(int n_v) { make_zeros(inertia_bar, static_cast<std::size_t>(n_v)); }
  // x and y: n_v x count.
  void add(const StepData& step, const double* x, const double* y, std::size_t count,
           MotionAdjoint& bodies, StepGradient& gradient);

 private:
  std::vector<Spatial> V_virtual_, V_pushed_, subtree_force_, subtree_bar_;  // per body and pair
};

}  // namespace robosim
