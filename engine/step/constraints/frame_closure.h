// Closures of frames of two bodies (closures.h): equalities, with position correction of their
// errors (recovery.h).
//
// For two frames F and G the channels are size omega and v of b relative to a at G's origin, as for
// a contact. With e = R_F^T (p_G - p_F) and theta = log(R_F^T R_G)
//   de/dt = R_F^T v(p_G),   d theta/dt = Jl^-1(theta) R_F^T omega        (v, omega: of b relative
//                           to a; Jl as in spatial/lie.h)
// so the rows are F's axes. For e this is exact at any distance of the frames. For theta the rows
// use R_F^T omega, and a velocity along -theta rotates the frames back.
#pragma once

#include <string>

#include "step/constraints/constraint.h"

namespace robosim {

struct ClosureOfFrames {
  enum Role : std::uint8_t { held };
  // The `point` of a row is the component that it holds: of e, then of theta.
  static constexpr const char* roles[] = {"closure"};

  static constexpr bool repeats = true;

  static const std::string& name(const World& world, int item) {
    return world.closures().frames[item].name;
  }

  static void join(RowAssembly& rows);
  static void add_blocks(RowAssembly& rows, const StepInput& in);
  static void set_targets(const StepData& step, const StepInput& in, StepIsland& island,
                          std::size_t block);
  static void add_vjp(const StepIsland& island, std::size_t block, const StepAdjoint& to);
};

}  // namespace robosim
