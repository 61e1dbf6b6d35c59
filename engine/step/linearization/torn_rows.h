// Rows that depend on each other, as those of limits and contacts that leave a body no motion at
// all, and that contradict each other as soon as something moves: the derivative of their solution
// is then none of the step's.
#pragma once

#include "step/step_data.h"
#include "step/step_gradient.h"
#include "step/linearization/step_vjp.h"

namespace robosim {

// True where these impulses of an island's channels, a stride apart, come to more than rounding.
bool pushes(const StepData& step, const StepIsland& island, const double* z, int stride);

// True where dependences with these multipliers, a stride apart, miss more by q and v (n_v each)
// than what their rows come to by themselves, without regard to sign, allows for.
bool is_torn_by(const StepData& step, const StepIsland& island, const double* multipliers,
                int stride, const double* by_q, const double* by_v);

// True where an island's rows are torn. vjp: of the step; room: a gradient to work in.
bool is_torn(const StepData& step, StepIsland& island, const StepInput& in, StepVjp& vjp,
             StepGradient& room);

}  // namespace robosim
