// Laws of the contact normals, and their part in the gradient of a step.
//
//   rest    t of recovery.h: a gap of up to `margin` keeps a part of it, and a contact that touches
//           stays at rest
//   ahead   t = -gap/dt: a point beyond the margin that would touch within the step may close its
//           gap, but not overrun it (contact_search.h)
//   bounce  with restitution, faster than the threshold: the contact may close its gap,
//           t = -gap/dt. If it would touch within the step, t = -restitution w(v) if that is larger
//   soft    with compliance c and relaxation time tau: force (-gap - tau w) / c where that is
//           positive, with gap and velocity at the end of the step. This is a row of compliance
//           c / (dt (dt + tau)) with t = -gap / (dt + tau) (Castro et al., IEEE Trans. Robotics
//           39(2), 2023)
//
// A bounce of this kind happens wherever within `margin` the step finds the contact. The later
// position of a ball then depends on the phase of the steps, and the derivative with respect to its
// initial position is wrong at any dt (two equal balls: 0 instead of 1). With times of impact, fast
// contacts collide within the step instead (impacts.h).
#pragma once

#include <vector>

#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

// Return the law of a point, from its gap, its approach speed before the step, and its closing
// speed without rows. `impact` stands for all contacts that are to collide.
NormalLaw law_of(const StepData& step, double gap, double approach, double closing,
                 const PairMaterial& material);
// Time dt + tau over which a compliant contact closes its penetration: its target is -gap over
// this.
inline double time_to_give(const StepOptions& options, const PairMaterial& material) {
  return options.dt + material.relaxation_time;
}

void set_normal_target(const StepData& step, StepIsland& island, std::size_t block, int row);
// Copy the law of a point's normal to another row of the point.
void follow_normal(StepIsland& island, int row);
void add_normal_vjp(const StepData& step, StepIsland& island, std::size_t block, int row,
                    StepGradient& gradient);

// Return the largest distance at which two bodies may still touch within the step [m].
double reach(const StepData& step);
// Remove the manifolds beyond the margin that do not touch within the step. Removes none if any
// contact is fast, because other contacts may touch after its impact.
void leave_out_far(StepData& step);

// Fill `way`, the displacement per dt: the velocity with its corrections, less the part of the
// impulses that act late in the step.
void fill_way(StepData& step);

}  // namespace robosim
