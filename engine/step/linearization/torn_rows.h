// Test for rows that are linearly dependent at this state only, such as limits and contacts that
// leave a body no motion at all. The rows contradict each other as soon as something moves, and the
// solution of the step is not differentiable there.
#pragma once

#include "step/step_data.h"
#include "step/step_gradient.h"
#include "step/linearization/step_vjp.h"

namespace robosim {

// True if these impulses of an island's channels, `stride` apart, sum to more than rounding.
bool pushes(const StepData& step, const StepIsland& island, const double* z, int stride);

// True if linearly dependent rows become inconsistent as q or v changes. multipliers: one per row,
// `stride` apart. by_q, by_v (n_v each): derivatives of the inconsistency. The threshold is
// relative to the sum of the rows' own derivatives, without regard to sign.
bool is_torn_by(const StepData& step, const StepIsland& island, const double* multipliers,
                int stride, const double* by_q, const double* by_v);

// True if the rows of an island are linearly dependent at this state only. vjp: adjoint of the
// step. room: workspace.
bool is_torn(const StepData& step, StepIsland& island, const StepInput& in, StepVjp& vjp,
             StepGradient& room);

}  // namespace robosim
