// Common members of joints with one coordinate that moves like a number: v is dq/dt.
#pragma once

#include "model/joint.h"
#include "model/joints/sampling.h"

namespace robosim {

template <Coordinate kind>
struct ScalarJoint {
  static constexpr int n_q = 1, n_v = 1;
  static constexpr const char *q_names[] = {""}, *v_names[] = {""};
  static constexpr Coordinate coordinates[] = {kind};
  static constexpr unsigned angular = kind == Coordinate::length ? 0b0 : 0b1;
  static constexpr bool has_axis = true;

  template <class S>
  static void integrate(const S* q, const S* v, S* out) {
    out[0] = q[0] + v[0];
  }

  // Not wrapped: angles 2 pi apart are different coordinates.
  template <class S>
  static void difference(const S* q0, const S* q1, S* v) {
    v[0] = q1[0] - q0[0];
  }

  template <class S>
  static void velocity(const S*, const S* dq, S* v) {
    v[0] = dq[0];
  }

  static void sample(const double* u, const double* lower, const double* upper, double* q) {
    q[0] =
        sample_between(u[0], lower[0], upper[0], kind == Coordinate::length ? unbounded_reach : pi);
  }
};

}  // namespace robosim
