// Impacts within a step, solved one after the other in the order of their times.
//
// Contacts that approach fast have no rows in the first solve of their island. That solve covers
// all constraints that act over the whole step, and yields the velocity y of the channels. Each
// impact is then a small solve of its own, at its share s of the step. Between impacts everything
// moves at y. Along a normal with coefficients d
//
//   gap(s) = gap + dt d . (s y - late),    late = sum s_k L z_k over the impacts before
//   gap(s) = 0  at  s = (gap/dt - d . late) / -(d . y)
//
// The next impact is the earliest one. Its rows are
//
//   - contacts that touch at that time (recovery.h) and approach fast; simultaneous contacts are
//     one solve, at the mean of their s
//   - contacts that touch at that time and have no restitution or approach slowly: they are held at
//     t = 0
//   - limits and closures, which are held as well
//
// Contacts with restitution that touch but do not approach are left out. The next impact hits them,
// at the same s. A ball that hits a row of balls therefore stops, and the last ball leaves, whether
// the balls touch or not. Motors, dry friction and compliant contacts exert finite forces and are
// left out of impacts.
//
// Two rules separate the times from rounding. After an impact, every contact that touches and
// approaches is hit at the same s. At the start of a step, a penetration below the touching
// distance counts as an impact shortly before, s < 0, as if the previous step had found the impact.
//
// Velocities of the integrator are those at the middle of a step. Let D = d . (y_rested - y_before)
// be the velocity change that forces cause in a step, and c = (1/2 - s) D. The velocity at the
// impact is w - c. After a flight from the impact to the middle of the step the target is
//
//   t = -restitution (w - c) + c            or 0 if that is not positive: the contact lands
//
// Friction acts at the point where the two surfaces touch, not at the points that the gap separates
// before. Impulses act from s on:
//
//   u+ = u_rested + sum Y z_k,    way = u+ - sum s_k Y z_k
//
// After the last impact, one more solve holds the contacts that still approach slowly and would
// touch within the step. There are at most `most_impacts` impacts, because a ball that rattles
// under another ball hits the floor without end. The last of these impacts solves all contacts that
// are fast or touch at once, by Newton's law. Coupled contacts of one solve are counted and
// reported, because no law of rigid bodies orders them.
//
// Newton's law with friction can gain energy (Kane and Levinson, Dynamics: Theory and Applications,
// 1985). With the part r of its restitution the work of an impact is
//
//   W(r) = z . (y + y+) / 2 - r sum f_i c_i        i over normals that bounce: their velocities
//                                                  are taken at the impact
//
// W(0) is at most zero: normals do not push contacts that separate, and friction opposes sliding.
// If W(1) is positive, the impulses are interpolated between the solutions for r = 0 and r = 1, at
// the largest r = `restored` with W(r) = 0. Both solutions satisfy the bounds of all rows, so the
// interpolated solution does as well.
//
// A ball with restitution 1 keeps its height over any number of bounces. The error of one bounce is
// of order dt^2, so the gradients are those of continuous time up to order dt.
//
// Adjoints run from the last impact to the first (linearization/step_vjp.cpp): from u+ and the sum
// of s_k Y z_k to the impulses, to targets and shares, and from these to gaps, coefficients, y,
// late, y_rested and y_before.
#pragma once

#include <vector>

#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

inline constexpr int most_impacts = 16;  // per island and step

// Remove the rows of fast contacts from an island. `impacts` keeps all rows of the island. Targets
// must be set.
void set_apart(StepIsland& island, Impacts& impacts);
// Start at s = 0. Call after the island is solved.
void begin_impacts(const StepIsland& island, Impacts& impacts);
// Make the rows of the next impact. Return null if no further contact touches within the step.
Impact* next_impact(const StepData& step, Impacts& impacts);
// Return c of a row: its velocity minus its velocity at the impact.
double until_impact(const Impact& met, const RowBlock& block, int row);
// Return W(1) of a solved impact if it exceeds rounding, otherwise 0.
double gained(const Impact& met);
// Split a solved impact into its parts with and without restitution. Return the part without
// restitution, which must then be solved.
StepIsland& divide(Impact& met);
// Set `restored` and the impulses that belong to it. Both parts must be solved.
void limit(Impact& met);
// Advance to a solved impact: its s, and the velocity after it.
void take_impact(const Impact& met, Impacts& impacts);

// Count the normals of an impact that push while another colliding normal, coupled to them, pushes.
int coupled_bounces(const StepIsland& met);

// Return the gradient with respect to W, on which `restored` depends. impulse_bar: gradient with
// respect to the impulses of the channels. Zero unless the impact is limited.
double work_bar(const Impact& met, const std::vector<double>& impulse_bar);
// Fill the derivative of W with respect to the impulse of each row, at fixed impulses of the
// channels.
void fill_work_rates(const Impact& met, std::vector<double>& rates);
// Add the gradients with respect to gaps, coefficients and velocities, from those with respect to
// targets and s. Call after the adjoint of the rows, or of the part with restitution if the impact
// is divided. share_bar: gradient with respect to s. Return the gradient with respect to the s of
// the previous impact.
double add_impact_vjp(const StepData& step, Impact& met, double share_bar, double work_bar,
                      StepGradient& gradient);

}  // namespace robosim
