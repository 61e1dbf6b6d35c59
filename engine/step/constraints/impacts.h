// Impacts within a step, one after the other in the order in which things meet.
//
// Contacts that approach fast have no rows in the island's first solve, which is of all that holds
// over the step. It gives the velocity y of the channels. Then each impact is a small solve of its
// own, at its share s of the step. Between impacts everything moves at y, so that along a normal
// with coefficients d
//
//   gap(s) = gap + dt d . (s y - late),    late = sum s_k L z_k over the impacts before
//   gap(s) = 0  at  s = (gap/dt - d . late) / -(d . y)
//
// The next impact is the earliest. Its rows are
//
//   - contacts that then touch (recovery.h) and close fast: simultaneous ones are one solve, at the
//     mean of their s
//   - contacts that then touch and have no restitution, or close slowly: they hold, t = 0
//   - limits and closures, which hold
//
// Contacts with restitution that touch and do not close take no part: they are hit next, at the
// same s. So a ball that hits a row of balls stops and the last one leaves, whether the balls touch
// or not. Motors, dry friction and compliant contacts push with finite forces, and take no part.
//
// Two rules keep times apart from rounding. After an impact, whatever touches and closes is hit at
// the same s. At the start of a step an overlap below the touching distance counts as met a moment
// before, s < 0, as if the step before had found it.
//
// Velocities of the integrator are those in the middles of steps. With the change D = d . (y_rested
// - y_before) that forces make in a step, w - c is the velocity at the impact, c = (1/2 - s) D.
// After a flight from there to the middle
//
//   t = -restitution (w - c) + c            or 0, where that is not above 0: it stays ("landing")
//
// Friction acts where the two surfaces meet, not where the gap leaves them before. Impulses act
// from s on:
//
//   u+ = u_rested + sum Y z_k,    way = u+ - sum s_k Y z_k
//
// After the last impact one more solve holds what still closes slowly and would be met. There are
// at most `most_impacts`, as a ball that rattles under another one meets the floor without end. The
// last of them solves everything that is fast or touches at once, by Newton's law. Contacts of one
// solve that feel each other are counted as coupled, since no law of rigid bodies orders them.
//
// Newton's law with friction can gain energy (Kane and Levinson, Dynamics: Theory and Applications,
// 1985). With the part r of its restitution the work of an impact is
//
//   W(r) = z . (y + y+) / 2 - r sum f_i c_i        i over normals that bounce, whose velocities are
//                                                  those at the impact
//
// W(0) is at most zero: no normal pushes what parts, and friction pushes against what slides. Where
// W(1) is above zero, the impulses lie between the solutions for r = 0 and r = 1, at the largest r
// = `restored` with W(r) = 0. Both solutions keep the bounds of all rows, so this one does.
//
// A ball with restitution 1 keeps its height over any number of bounces. One bounce errs by dt^2,
// so that gradients are those of continuous time up to dt.
//
// Adjoints go back from the last impact to the first (linearization/step_vjp.cpp): from u+ and the
// sum of s_k Y z_k to the impulses, to targets and shares, and from these to gaps, coefficients, y,
// late, y_rested and y_before.
#pragma once

#include <vector>

#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

inline constexpr int most_impacts = 16;  // of one island in one step

// Takes the rows of fast contacts out of an island, and keeps all of its rows in its impacts.
// Targets must be set.
void set_apart(StepIsland& island, Impacts& impacts);
// Starts at s = 0, after the island is solved.
void begin_impacts(const StepIsland& island, Impacts& impacts);
// Makes the rows of the next impact; null where nothing more is met.
Impact* next_impact(const StepData& step, Impacts& impacts);
// Returns c of a row.
double until_impact(const Impact& met, const RowBlock& block, int row);
// Returns W(1) of a solved impact where that is above rounding, else 0.
double gained(const Impact& met);
// Splits a solved impact into its parts with and without restitution. Returns the latter, which is
// to be solved.
StepIsland& divide(Impact& met);
// Sets `restored`, and the impulses that belong to it, after both parts are solved.
void limit(Impact& met);
// Moves on to a solved impact: its s, and the velocity after it.
void take_impact(const Impact& met, Impacts& impacts);

// Counts normals of an impact that push beside another one that is met with them and feels them.
int coupled_bounces(const StepIsland& met);

// Returns the gradient by W, which `restored` depends on, from impulse_bar, that by the channels'
// impulses. Zero unless the impact is limited.
double work_bar(const Impact& met, const std::vector<double>& impulse_bar);
// Fills what W changes by with the impulse of each row, at fixed impulses of the channels.
void fill_work_rates(const Impact& met, std::vector<double>& rates);
// Goes back from targets and s to gaps, coefficients and velocities, after the adjoint of the rows
// (of those with restitution, if the impact is divided). share_bar: gradient by its s. Returns that
// by the s of the impact before.
double add_impact_vjp(const StepData& step, Impact& met, double share_bar, double work_bar,
                      StepGradient& gradient);

}  // namespace robosim
