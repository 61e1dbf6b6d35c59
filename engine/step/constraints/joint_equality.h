// Laws between two joints (closures.h): an equality of the two coordinates, with position
// correction of its error (recovery.h).
//
// The channels are the two coordinates, and the row is (1, -slope).
#pragma once

#include "step/constraints/constraint.h"
#include "step/constraints/recovery.h"

namespace robosim {

struct EqualityOfJoints {
  enum Role : std::uint8_t { law };
  static constexpr const char* roles[] = {"equality"};

  static constexpr bool repeats = true;

  static JointEquality::Value value(const StepData& step, const JointEquality& closure,
                                    const double* q) {
    return closure.at(closure.a < 0 ? 0.0 : q[step.world->coordinate(closure.a).q]);
  }

  static double error(const StepData& step, const JointEquality& closure, const double* q) {
    return q[step.world->coordinate(closure.b).q] - value(step, closure, q).value;
  }

  static void join(RowAssembly& rows) {
    const World& world = *rows.step().world;
    for (const JointEquality& closure : world.closures().joints)
      if (closure.a >= 0) rows.join(world.tree_of_v(closure.a), world.tree_of_v(closure.b));
  }

  static void add_blocks(RowAssembly& rows, const StepInput& in) {
    const StepData& step = rows.step();
    for (std::size_t c = 0; c < step.world->closures().joints.size(); ++c) {
      const JointEquality& closure = step.world->closures().joints[c];
      StepIsland& island = rows.island_of(step.world->tree_of_v(closure.b));
      StepIsland::Block block;
      block.item = static_cast<int>(c);
      block.v = closure.b;
      block.v_of = closure.a;
      RowAssembly::add_block<EqualityOfJoints>(island, block, closure.a < 0 ? 1 : 2);
      ConstraintRow& row = RowAssembly::add_row<EqualityOfJoints>(island, law);
      row.kind = RowKind::equality;
      row.d[0] = 1;
      if (closure.a >= 0) row.d[1] = -value(step, closure, in.q).slope;
    }
  }

  static void set_targets(const StepData& step, const StepInput& in, StepIsland& island,
                          std::size_t b) {
    const JointEquality& closure = step.world->closures().joints[island.blocks[b].item];
    const std::size_t i = static_cast<std::size_t>(island.problem.blocks[b].first_row);
    const Recovery taken = take_back(step, error(step, closure, in.q));
    island.problem.rows[i].target = taken.target;
    island.rows[i].keeping = taken.keeping;
  }

  static void add_vjp(const StepIsland& island, std::size_t b, const StepAdjoint& to) {
    const int i = island.problem.blocks[b].first_row;
    const int number = island.blocks[b].item;
    const JointEquality& closure = to.step.world->closures().joints[number];
    const double apart = error(to.step, closure, to.in.q);
    const Recovery taken = take_back(to.step, apart);
    const double target_bar = is_clipped(island, i) ? 0 : island.gradient.target[i],
                 error_bar = taken.rate * target_bar;
    *to.of("dt") += taken.by_dt * target_bar;
    std::vector<double>& q_bar = to.gradient.q;
    double* const bar = to.of("coefficients", number);
    q_bar[closure.b] += error_bar;
    bar[0] -= error_bar;
    if (closure.a < 0) return;
    const double q_a = to.in.q[to.step.world->coordinate(closure.a).q],
                 slope_bar =
                     -island.gradient.d[static_cast<std::size_t>(i * most_block_channels) + 1];
    const JointEquality::Value p = value(to.step, closure, to.in.q);
    q_bar[closure.a] += p.curvature * slope_bar - p.slope * error_bar;
    double power = 1;  // q_a^(k-1)
    for (int k = 1; k < JointEquality::terms; ++k, power *= q_a)
      bar[k] += k * power * slope_bar - power * q_a * error_bar;
  }
};

}  // namespace robosim
