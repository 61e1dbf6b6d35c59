// Impulse of a slightly compliant row as a function of its velocity: minus the gradient of a
// convex potential.
//
// At the velocity u = d . y - t, with the compliance R, a row requires the impulse -u / R. Its
// actual impulse is the part within its bounds:
//   equality     all of it
//   unilateral   the positive part
//   box          the part between lower and upper
//   friction     the part between -bound and bound, which is a given number here
//   disc         the nearest point of the circle with radius bound
// The potential is R (f . g - f . f / 2), with g the required impulse and f the one within bounds.
// (Castro, Permenter, Han, "An unconstrained convex formulation of compliant contact", IEEE T-RO
// 39, 2023; friction with a known bound as in Castro, Han, Masterjohn, "Irrotational contact
// fields", 2023.)
#pragma once

#include <limits>

#include "contact/rows.h"

namespace robosim {

// Impulse of one row, or of the two rows of a disc.
struct RowPush {
  enum class State : unsigned char { off, linear, lower, upper, slides };
  State state = State::off;
  double f[2] = {};
  double gives[3] = {};  // -df/du: xx, xy, yy
  double along[2] = {};  // of a sliding disc: the direction of u
};

// Push of a disc at its bound, where `asked` is longer than the bound. size: length of `asked`.
inline RowPush sliding_push(const double* asked, double size, double bound, double stiffness) {
  const double x = asked[0] / size, y = asked[1] / size, k = bound / size * stiffness;
  RowPush push;
  push.state = RowPush::State::slides;
  push.along[0] = -x;
  push.along[1] = -y;
  push.f[0] = bound * x;
  push.f[1] = bound * y;
  push.gives[0] = k * y * y;
  push.gives[1] = -k * x * y;
  push.gives[2] = k * x * x;
  return push;
}

// Push of a row that requires the impulse `asked`. stiffness: 1 / R; zero if nothing moves the row.
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
    push.f[0] = asked[0];
    push.f[1] = asked[1];
    push.gives[0] = push.gives[2] = stiffness;
    return push;
  }
  double lower = -std::numeric_limits<double>::infinity(), upper = -lower;
  if (row.kind == RowKind::unilateral) lower = 0;
  if (row.kind == RowKind::box) {
    lower = row.lower;
    upper = row.upper;
  }
  if (row.kind == RowKind::friction) {
    lower = -bound;
    upper = bound;
  }
  if (asked[0] >= upper) {
    push.state = State::upper;
    push.f[0] = upper;
  } else if (asked[0] <= lower) {
    push.state = row.kind == RowKind::unilateral ? State::off : State::lower;
    push.f[0] = lower;
  } else {
    push.state = State::linear;
    push.f[0] = asked[0];
    push.gives[0] = stiffness;
  }
  return push;
}

// Compute df = -df/du du, the decrease of a push with its velocity.
inline void give(const RowPush& push, int rows, const double* du, double* df) {
  if (rows == 1)
    df[0] = push.gives[0] * du[0];
  else {
    df[0] = push.gives[0] * du[0] + push.gives[1] * du[1];
    df[1] = push.gives[1] * du[0] + push.gives[2] * du[1];
  }
}

// Return true for friction at its bound, which may follow its normal.
inline bool is_at_bound(const ConstraintRow& row, const RowPush& push) {
  return row.kind == RowKind::friction &&
         (push.state == RowPush::State::slides || push.state == RowPush::State::upper ||
          push.state == RowPush::State::lower);
}

// Unit direction of a push that is at its bound.
struct PushDirection {
  double x[2];
  explicit PushDirection(const RowPush& push) : x{-push.along[0], -push.along[1]} {
    if (push.state != RowPush::State::slides) x[0] = push.state == RowPush::State::upper ? 1 : -1;
  }
};

// Value of the potential. rows: 2 for a disc.
inline double row_potential(const RowPush& push, const double* asked, int rows, double compliance) {
  const auto of = [&](int k) { return push.f[k] * (asked[k] - 0.5 * push.f[k]); };
  return compliance * (of(0) + (rows == 2 ? of(1) : 0));
}

}  // namespace robosim
