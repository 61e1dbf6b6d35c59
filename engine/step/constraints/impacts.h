// Impacts within a step, in their order.
//
// What is fast, and has a time of impact, is not of the rows that hold over the step. These are solved first, for the velocity y of the channels. Then what is
// fast is met one after the other, at shares s of the step. Between impacts all moves on at y, so that along a normal with coefficients d
//
//   gap(s) = gap + dt d . (s y - late),   late = sum_k s_k L z_k of impacts so far,   met at  s = (gap/dt - d . late) / -(d . y)
//
// The next impact is that of the earliest. With it is met what touches then (recovery.h) and comes near as fast: one solve for what is simultaneous, at the mean of
// their shares. What overlaps by less than it may touch at the start of the step has been met a moment before, s < 0: as if the step before had found it. After an impact what touches and comes near is hit at its share: times within times of touching would be chaos. What holds takes part: limits and closures; of contacts what touches and has no restitution, or comes near slowly. Contacts with restitution that
// only touch do not: they are hit next, at the same time. So a ball that hits a row of balls stops, and the last one leaves, whether they touch or not.
//
// Velocities of this scheme are those in the middles of steps, so with the change D = d . (y_rested - y_before) that forces make in one, w - c is the velocity at
// the impact, c = (1/2 - s) D, and after a flight from there to the middle
//
//   t = -restitution (w - c) + c                0 where restitution is, or this is not above 0: it stays ("landing")
//
// Frictions act where things touch, not where the gap leaves them before. Impulses of an impact act from its share on,
//
//   u+ = u_rested + sum_k Y z_k,     way = u+ - sum_k s_k Y z_k
//
// After the last impact what still comes near slowly, and would be met, is held by one more solve. Impacts are at most `most_impacts`: a ball that rattles under
// another meets the floor without end. In the last of them all that is fast or touches is met at once by Newton's law, and counted as coupled; so is what is
// simultaneous and feels each other, since no law of rigid bodies orders it. Motors, dry friction and what gives push with finite forces, and take no part.
//
// Newton's law with friction can gain energy (Kane and Levinson, Dynamics: Theory and Applications, 1985). The work of an impact with the share r of its restitution is
//
//   W(r) = z . (y + y+) / 2 - r sum f_i c_i,      i of normals that bounce: their velocities are those at the impact
//
// W(0) is at most zero: no normal pushes what parts, and friction pushes against what slides. Where W(1) is above zero the impulses are those between both
// with the largest `restored` = r at which W is zero. Both satisfy the bounds of all rows, so these do, too.
//
// A ball with restitution 1 keeps its height over any number of bounces. One bounce errs by the square of dt, so gradients are those of continuous time
// up to dt.
//
// Adjoints go back from impact to impact: from what the loss changes by with u+ and the sum of s_k Y z_k to the impulses, to targets and shares, and from these
// to gaps, coefficients, y, late and the velocities at rest and before the step (linearization/step_vjp.cpp).
#pragma once

#include <vector>

#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

inline constexpr int most_impacts = 16;  // of one island in one step

// Takes from the rows of an island what is to be met, and keeps all of them in its impacts. Its targets must be there.
void set_apart(StepIsland& island, Impacts& impacts);
// Once the island is solved: nothing has been met.
void begin_impacts(const StepIsland& island, Impacts& impacts);
// The rows of the next impact, or null where nothing more is met.
Impact* next_impact(const StepData& step, Impacts& impacts);
// What lies between the velocity of a row as the scheme has it and that at the impact: a part of its change by forces, c.
double until_impact(const Impact& met, const RowBlock& block, int row);
// Once it is solved: the work of its impulses where that is above rounding, or zero.
double gained(const Impact& met);
// Makes of a solved impact its parts, of which the second is to be solved.
StepIsland& divide(Impact& met);
// Once that is solved: the largest share of restitution that gains nothing, and the impulses of that.
void limit(Impact& met);
// Once it is solved: what it makes of velocities.
void take_impact(const Impact& met, Impacts& impacts);

// How many normals of an impact push beside another that is met with it and feels them.
int coupled_bounces(const StepIsland& met);

// What the loss changes by with the work of an impact, as that limits its impulses: from impulse_bar, that with its impulses; zero where nothing is limited.
double work_bar(const Impact& met, const std::vector<double>& impulse_bar);
// And with the impulses of its rows by themselves, per unit of that.
void fill_work_rates(const Impact& met, std::vector<double>& rates);
// After the adjoint of its rows, those with restitution if it is divided, for the loss's share_bar: from targets and shares to gaps, coefficients and velocities.
// Returns what the loss changes by with the share of the impact before it.
double add_impact_vjp(const StepData& step, Impact& met, double share_bar, double work_bar, StepGradient& gradient);

}  // namespace robosim
