// The impulse of a row that gives a little, as a function of its velocity: minus the gradient of a convex potential.
//
// With w = d . y - t and the compliance R (what is below is zero outside of what is told):
//   equality     f = -w / R
//   unilateral   f = max(-w / R, 0)
//   box          f = clamp(-w / R, lower, upper)
//   friction     the same within -bound and bound, a number here; of a disc f = -w / R where |w| <= bound R, else
//   -bound w / |w|
// (Castro, Permenter, Han, "An unconstrained convex formulation of compliant contact", IEEE T-RO 39, 2023; friction
// with a bound that is known as in Castro, Han, Masterjohn, "Irrotational contact fields", 2023.)
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/rows.h"

namespace robosim {

// One row, or the two of a disc.
struct RowPush {
  enum class State : unsigned char { off, linear, lower, upper, slides };
  State state = State::off;
  double f[2] = {};
  double gives[3] = {};  // -df/dw: xx, xy, yy
  double along[2] = {};  // of what slides: the direction of w
};

inline RowPush row_push(const ConstraintRow& row, const double* w, double compliance, double bound) {
  using State = RowPush::State;
  RowPush push;
  if (!(compliance > 0)) return push;  // nothing moves it
  const double stiffness = 1 / compliance;
  if (row.is_disc) {
    const double speed = length(w[0], w[1]);
    if (!(bound > 0)) return push;
    if (speed <= bound * compliance) {
      push.state = State::linear;
      push.f[0] = -w[0] * stiffness, push.f[1] = -w[1] * stiffness;
      push.gives[0] = push.gives[2] = stiffness;
    } else {
      const double x = w[0] / speed, y = w[1] / speed, k = bound / speed;
      push.state = State::slides, push.along[0] = x, push.along[1] = y;
      push.f[0] = -bound * x, push.f[1] = -bound * y;
      push.gives[0] = k * y * y, push.gives[1] = -k * x * y, push.gives[2] = k * x * x;
    }
    return push;
  }
  const double free = -w[0] * stiffness;
  double lower = -std::numeric_limits<double>::infinity(), upper = -lower;
  if (row.kind == RowKind::unilateral) lower = 0;
  if (row.kind == RowKind::box) lower = row.lower, upper = row.upper;
  if (row.kind == RowKind::friction) lower = -bound, upper = bound;
  if (row.kind == RowKind::friction && !(bound > 0)) return push;
  if (free > upper)
    push.state = State::upper, push.f[0] = upper;
  else if (free < lower)
    push.state = row.kind == RowKind::unilateral ? State::off : State::lower, push.f[0] = lower;
  else
    push.state = State::linear, push.f[0] = free, push.gives[0] = stiffness;
  return push;
}

// The potential itself.
inline double row_potential(const ConstraintRow& row, const double* w, double compliance, double bound) {
  const RowPush push = row_push(row, w, compliance, bound);
  const double speed = row.is_disc ? length(w[0], w[1]) : std::abs(w[0]);
  switch (push.state) {
    case RowPush::State::off: return 0;
    case RowPush::State::linear: return 0.5 * speed * speed / compliance;
    case RowPush::State::slides: return bound * (speed - 0.5 * bound * compliance);
    default: return -push.f[0] * (w[0] + 0.5 * push.f[0] * compliance);
  }
}

}  // namespace robosim
