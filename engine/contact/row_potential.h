// The impulse of a row that gives a little, as a function of its velocity: minus the gradient of a
// convex potential.
//
// With the velocity u = d . y - t and the compliance R a row asks for the impulse -u / R, and has
// of it what is within its bounds:
//   equality     all of it
//   unilateral   what pushes
//   box          what is between lower and upper
//   friction     what is between -bound and bound, a number here
//   disc         what is within the circle of that radius
// The potential is R (f . g - f . f / 2), g what the row asks for and f what it has. (Castro,
// Permenter, Han, "An unconstrained convex formulation of compliant contact", IEEE T-RO 39, 2023;
// friction with a bound that is known as in Castro, Han, Masterjohn, "Irrotational contact fields",
// 2023.)
#pragma once

#include <limits>

#include "contact/rows.h"

namespace robosim {

// One row, or the two of a disc.
struct RowPush {
  enum class State : unsigned char { off, linear, lower, upper, slides };
  State state = State::off;
  double f[2] = {};
  double gives[3] = {};  // -df/du: xx, xy, yy
  double along[2] = {};  // of what slides: the direction of u
};

// A disc at its bound: `asked` is longer than that. size: its length.
inline RowPush sliding_push(const double* asked, double size, double bound, double stiffness) {
  const double x = asked[0] / size, y = asked[1] / size, k = bound / size * stiffness;
  RowPush push;
  push.state = RowPush::State::slides, push.along[0] = -x, push.along[1] = -y;
  push.f[0] = bound * x, push.f[1] = bound * y;
  push.gives[0] = k * y * y, push.gives[1] = -k * x * y, push.gives[2] = k * x * x;
  return push;
}

// stiffness: 1 / R; zero where nothing moves the row.
inline RowPush row_push(const ConstraintRow& row, const double* asked, double stiffness,
                        double bound) {
  using State = RowPush::State;
  RowPush push;
  if (!(stiffness > 0)) return push;
  if (row.kind == RowKind::friction && !(bound > 0)) return push;
  if (row.is_disc) {
    const double size = length(asked[0], asked[1]);
    if (!(size <= bound)) return sliding_push(asked, size, bound, stiffness);
    push.state = State::linear;
    push.f[0] = asked[0], push.f[1] = asked[1];
    push.gives[0] = push.gives[2] = stiffness;
    return push;
  }
  double lower = -std::numeric_limits<double>::infinity(), upper = -lower;
  if (row.kind == RowKind::unilateral) lower = 0;
  if (row.kind == RowKind::box) lower = row.lower, upper = row.upper;
  if (row.kind == RowKind::friction) lower = -bound, upper = bound;
  if (asked[0] >= upper)
    push.state = State::upper, push.f[0] = upper;
  else if (asked[0] <= lower)
    push.state = row.kind == RowKind::unilateral ? State::off : State::lower, push.f[0] = lower;
  else
    push.state = State::linear, push.f[0] = asked[0], push.gives[0] = stiffness;
  return push;
}

// -df of a push for a change of its velocity.
inline void give(const RowPush& push, int rows, const double* du, double* df) {
  if (rows == 1)
    df[0] = push.gives[0] * du[0];
  else
    df[0] = push.gives[0] * du[0] + push.gives[1] * du[1],
    df[1] = push.gives[1] * du[0] + push.gives[2] * du[1];
}

// True of friction at its bound, which follows its normal.
inline bool is_at_bound(const ConstraintRow& row, const RowPush& push) {
  return row.kind == RowKind::friction &&
         (push.state == RowPush::State::slides || push.state == RowPush::State::upper ||
          push.state == RowPush::State::lower);
}

// The direction of what is at its bound.
struct PushDirection {
  double x[2];
  explicit PushDirection(const RowPush& push) : x{-push.along[0], -push.along[1]} {
    if (push.state != RowPush::State::slides) x[0] = push.state == RowPush::State::upper ? 1 : -1;
  }
};

// The potential itself. rows: 2 of a disc.
inline double row_potential(const RowPush& push, const double* asked, int rows, double compliance) {
  const auto of = [&](int k) { return push.f[k] * (asked[k] - 0.5 * push.f[k]); };
  return compliance * (of(0) + (rows == 2 ? of(1) : 0));
}

}  // namespace robosim
