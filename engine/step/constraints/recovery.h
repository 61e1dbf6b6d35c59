// Gaps and errors x, and the velocities that rows ask for by them: of what comes near, overlaps, is
// beyond a limit or has come apart.
//
// Positions and velocities have targets of their own. Nothing is taken back by the velocity, which
// would be left with it:
//
//   velocity   t = -erp/dt (gap - touching) of a gap beyond `touching`, of which it keeps a part;
//              else standing still, t = 0
//   position   t = -erp/dt x, of overlaps at most recovery_speed
//
// The rows are solved for the velocity u. The way that q advances by is u and what corrections of
// normals, limits and closures add, u + Y c, found from rows of these alone that see u in place of
// the velocity without rows:
//
//   w = d . (X u + L c) - t,   c = sum d_i p_i,   p_i >= -f_i of what pushes by f_i, and else >= 0
//                              (0 <= p_i + f_i _|_ w >= 0)
//
// So what overlaps goes apart and has no velocity of it; what has come to rest at a distance of
// some micrometers lies down; friction and motors are those of the velocity. Both targets are
// smooth where things rest, at x = 0. These rows are symmetric, and after relaxation c = 0
// satisfies them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "step/step_data.h"

namespace robosim {

// [m or rad] What is nearer than this, or than a part of the margin, touches: it stands still.
constexpr double touching = 1e-5, touching_share = 0.01;
inline double touching_distance(double margin) {
  return std::min(touching, touching_share * margin);
}

// The target of a row, and what it changes by with x and with dt.
struct Recovery {
  Keeping keeping = Keeping::still;
  double target = 0, rate = 0, by_dt = 0;
};

// x by its part `erp` in a step, at the most at this speed.
inline Recovery taken_back(const StepData& step, double x, double most) {
  const double rate = -step.options.erp / step.options.dt;
  if (std::abs(rate * x) > most) return {Keeping::fastest, std::copysign(most, rate * x)};
  return {Keeping::part, rate * x, rate, -rate * x / step.options.dt};
}

// Target of a row that holds x at zero from both sides.
inline Recovery take_back(const StepData& step, double x) {
  return step.takes_back ? taken_back(step, x, step.options.recovery_speed) : Recovery{};
}

// Target of a row that keeps a gap from becoming negative; margin: within which it has rows.
inline Recovery keep_apart(const StepData& step, double gap, double margin) {
  if (step.takes_back)
    return gap < 0 ? take_back(step, gap)
                   : taken_back(step, gap, std::numeric_limits<double>::infinity());
  const double beyond = gap - touching_distance(margin);
  return beyond > 0 ? taken_back(step, beyond, std::numeric_limits<double>::infinity())
                    : Recovery{};
}

}  // namespace robosim
