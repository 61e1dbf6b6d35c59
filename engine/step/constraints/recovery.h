// Targets of rows from gaps and errors x: of contacts near or in penetration, of joints near or
// beyond a limit, and of closures that have drifted apart.
//
// Positions and velocities have separate targets. The velocity does not reduce errors of position,
// because it would keep the speed of the correction:
//
//   velocity   t = -erp/dt (gap - touching) for a gap beyond `touching`, which keeps a part of it;
//              otherwise at rest, t = 0
//   position   t = -erp/dt x, for penetration at most recovery_speed
//
// The rows are solved for the velocity u. The displacement per dt is u + Y c, where c are the
// corrections of normals, limits and closures. The corrections solve the rows of these constraints
// alone, with u in place of the velocity without rows:
//
//   w = d . (X u + L c) - t,   c = sum d_i p_i,   p_i >= -f_i if row i pushes by f_i, else >= 0
//                              (0 <= p_i + f_i _|_ w >= 0)
//
// Penetration is therefore reduced without adding velocity. A body at rest at a distance of some
// micrometers settles onto the surface. Friction and motors act on the velocity. Both targets are
// smooth where bodies rest, at x = 0. The rows of the corrections are symmetric, and after
// relaxation c = 0 satisfies them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "step/step_data.h"

namespace robosim {

// Gaps [m or rad] below the smaller of `touching` and a share of the margin touch: target zero.
constexpr double touching = 1e-5, touching_share = 0.01;
inline double touching_distance(double margin) {
  return std::min(touching, touching_share * margin);
}

// Target of a row, and its derivatives with respect to x and to dt.
struct Recovery {
  Keeping keeping = Keeping::still;
  double target = 0, rate = 0, by_dt = 0;
};

// Reduce x by its share `erp` per step, at most at the speed `most`.
inline Recovery taken_back(const StepData& step, double x, double most) {
  const double rate = -step.options.erp / step.options.dt;
  if (std::abs(rate * x) > most) return {Keeping::fastest, std::copysign(most, rate * x)};
  return {Keeping::part, rate * x, rate, -rate * x / step.options.dt};
}

// Target of a row that keeps x at zero from both sides.
inline Recovery take_back(const StepData& step, double x) {
  return step.takes_back ? taken_back(step, x, step.options.recovery_speed) : Recovery{};
}

// Target of a row that keeps a gap from becoming negative. margin: distance within which the gap
// has rows.
inline Recovery keep_apart(const StepData& step, double gap, double margin) {
  if (step.takes_back)
    return gap < 0 ? take_back(step, gap)
                   : taken_back(step, gap, std::numeric_limits<double>::infinity());
  const double beyond = gap - touching_distance(margin);
  return beyond > 0 ? taken_back(step, beyond, std::numeric_limits<double>::infinity())
                    : Recovery{};
}

}  // namespace robosim
