// The laws of the normals, and what they add to the step's gradient.
//
//   t of recovery.h: what is apart by up to `margin` keeps a part of it, and what touches stands
//     still. What is farther apart, and meets within the step,
//       comes as near as it will, t = -gap/dt (contact_search.h). What has restitution and
//         approaches faster than the
//       threshold comes as near as it will, t = -gap/dt, and when it would touch within the step, t
//         = -restitution w(v) if that is more.
//   What has a compliance c and a relaxation time tau gives: force (-gap - tau w) / c where that is
//     positive, of gap and velocity at the end of the step, a
//       row of compliance c / (dt (dt + tau)) with t = -gap / (dt + tau) (Castro et al., IEEE
//         Trans. Robotics 39(2), 2023)
//
// A bounce of this step happens wherever within `margin` the step finds it, so that where a ball is
// later depends on the steps' phase, and the derivative by where it was is wrong at any dt (two
// equal balls: 0 for 1). With a time of impact what is fast is met within the step instead
// (impacts.h).
#pragma once

#include <vector>

#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

// Returns the law of a point, from its gap, its approach speed before the step, and its closing
// speed without rows. `impact` stands for whatever is to be met.
NormalLaw law_of(const StepData& step, double gap, double approach, double closing,
                 const PairMaterial& material);
// Of what is compliant, whose target is -gap over this.
inline double time_to_give(const StepOptions& options, const PairMaterial& material) {
  return options.dt + material.relaxation_time;
}

void set_normal_target(const StepData& step, StepIsland& island, std::size_t block, int row);
// Gives frictions the law of their point's normal.
void follow_normal(StepIsland& island, int row);
void add_normal_vjp(const StepData& step, StepIsland& island, std::size_t block, int row,
                    StepGradient& gradient);

// Returns the largest distance at which two things may still meet within the step [m].
double reach(const StepData& step);
// Takes from the manifolds what is out of the margin and does not meet within the step; nothing
// where anything is fast, after whose impact others may be.
void leave_out_far(StepData& step);

// The way that q goes: by the velocity and its corrections, less what impulses take from it that
// act late in the step.
void fill_way(StepData& step);

}  // namespace robosim
