// When and how what approaches is met: the laws of the normals, impacts within a step, and what both add to its gradient.
//
//   t of recovery.h: what is apart by up to `margin` keeps a part of it, and what touches stands still. What has restitution and approaches faster than the threshold comes as near as it will, t = -gap/dt, and when it would touch within the step,
//       t = -restitution w(v) if that is more; or it is met within the step, see below.
//   What has a compliance c and a relaxation time tau gives: force (-gap - tau w) / c where that is positive, of gap and velocity at the end of the step, a
//       row of compliance c / (dt (dt + tau)) with t = -gap / (dt + tau) (Castro et al., IEEE Trans. Robotics 39(2), 2023)
//
// Bounces by their time of impact. A bounce of the plain step happens wherever within `margin` the step finds it, so that where a ball is later depends on
// the steps' phase, and the derivative by where it was is wrong at any dt (two equal balls: 0 for 1). With `time_of_impact` a point that is apart by phi
// and approaches faster than the threshold is met within the step at the share
//   s = phi / (-dt w*),   w* = J v_free,   0 < s < 1           (what is farther keeps apart: t = -phi / dt)
// Velocities of this scheme are those in the middles of steps, so with the change D = w* - w(v) that forces make in one, w* - (1/2 - s) D is the velocity at
// the impact, and after a flight from there to the middle
//   t = -restitution (w* - (1/2 - s) D) + (1/2 - s) D;         0 where restitution is, or this is not above 0: it stays
// Friction acts where what moves is then, not where the gap leaves it before. All impulses of the point act from the impact on,
//   q+ = q advanced by dt (v+ - sum_i s_i M^-1 J_i^T f_i),     the way is  v+ - M^^-1 X^T z_late,  z_late = sum_i s_i d_i f_i
// A ball with restitution 1 keeps its height over any number of bounces. One bounce, and several that do not feel each other, err by the square of dt, so
// that gradients are those of continuous time up to dt; such as do feel each other happen at once (Newton's law with the rows above), and are counted as
// coupled, since no law of rigid bodies orders them.
//
// s and the target see the velocities without rows, y_free. Adjoints go from the way and the targets back to the rows' impulses f_i, to s_i, and from these
// to gaps, coefficients, y_free and the velocities before the step; then through X and M as for all rows (linearization/step_vjp.cpp).
#pragma once

#include <vector>

#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

// Of a point along whose normal things are apart by `gap` and approach at the speed `approach`, without rows at `closing` in the end. `impact` stands for
// `landing`, too.
NormalLaw law_of(const StepData& step, double gap, double approach, double closing, const PairMaterial& material);
// Of what is compliant, whose target is -gap over this.
inline double time_to_give(const StepOptions& options, const PairMaterial& material) { return options.dt + material.relaxation_time; }

void set_normal_target(const StepData& step, StepIsland& island, std::size_t block, int row);
// Of the frictions of a point: at rest, from when it is met.
void follow_normal(const StepData& step, StepIsland& island, std::size_t block, int row);
void add_normal_vjp(const StepData& step, StepIsland& island, std::size_t block, int row, StepGradient& gradient);

// How far apart two things may be and yet meet within the step; and whether they are within the margin of each other, or will be within the step.
double reach(const StepData& step);
bool is_met(const StepData& step, const SceneQuery::PairManifold& pair);

// The way that q goes: by the velocity and its corrections, less what impulses take from it that act late in the step.
void fill_way(StepData& step);
// For the loss's way_bar: f_bar, and in the island what is of their rows and of when they act.
void add_late_vjp(StepIsland& island, const std::vector<double>& way_bar, std::vector<double>& late_bar, std::vector<double>& f_bar);

// How many normals that bounce push while another pushes that feels them.
int coupled_bounces(const StepIsland& island);

}  // namespace robosim
