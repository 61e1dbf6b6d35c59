// Gradient of -sum_a x_a . dM^ y_a for pairs of joint velocities x_a and y_a.
//
// With x_a and y_a body i moves by W_a and P_a. The term of a pair is the sum of W_a . I_i P_a over
// bodies: inverse dynamics for the accelerations y_a at rest, contracted with x_a. This sum is
// linear in
//   C_i = sum_a P_a W_a^T      6 x 6
// so the gradients with respect to the parameters of body i are computed once from C_i, for any
// number of pairs. At the body's center of mass and in its axes,
//   mass:     trace of C's linear part
//   com:      m sum_a (W_lin x P_ang + P_lin x W_ang)
//   moments:  C's angular part
// Let F (of y) and G (of x) be the forces of the subtree of joint i, and p the joint's parent. The
// rotation with joint i has the gradient sum_a P_p x* G + W_p x* F, from products of the same kind.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/linalg/zeros.h"
#include "step/motion_adjoint.h"

namespace robosim {

struct MassVjp {
  using Spatial = std::array<double, 6>;  // [angular; linear], for motions and forces

  std::vector<double> inertia_bar;  // n_v: gradient with respect to the diagonal of M^

  void reset(int n_v) { make_zeros(inertia_bar, n_v); }
  // Add the gradient for `count` pairs. x and y: n_v x count.
  void add(const StepData& step, const double* x, const double* y, std::size_t count,
           MotionAdjoint& bodies, StepGradient& gradient);

 private:
  std::vector<Spatial> V_virtual_, V_pushed_, subtree_force_, subtree_bar_;  // per body and pair
};

}  // namespace robosim
