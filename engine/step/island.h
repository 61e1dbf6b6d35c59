// Islands: the rows of a step that see each other, what they stand for, and what solving them has
// left.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "contact/row_gradient.h"
#include "contact/row_solver.h"
#include "contact/rows.h"
#include "spatial/vec3.h"

namespace robosim {

// What a normal asks for.
enum class NormalLaw : std::uint8_t {
  rest,     // t = -(erp/dt) gap
  bounce,   // what comes back, at the start of the step
  impact,   // what comes back, when it is met within the step
  landing,  // nothing comes back, when it is met within the step
  held,     // t = 0 of what touches, while something else is met
  ahead,    // t = -gap/dt: not met in this step
  soft      // it gives
};

// Branches of the law from a gap or error to the target of a row (constraints/recovery.h).
enum class Keeping : std::uint8_t {
  none,     // it does not, nor has its position a target of its own
  still,    // it touches: t = 0
  part,     // t = -erp/dt x
  fastest,  // as fast as it may
};

// Rows that see each other: those of trees that contacts connect.
struct StepIsland {
  // Of blocks that several kinds of constraints share.
  static constexpr std::uint8_t of_coordinate = 255;

  // Channels that rows look at: one or two coordinates, or the twist of two bodies.
  struct Block {
    // Of constraint, whose block it is: its place in constraint_kinds.h.
    std::uint8_t kind = of_coordinate;
    // Which of that kind: the first of the manifolds of two bodies, or the place of a closure or of
    // an equality in the world's.
    int item = -1;
    int v = -1, q = -1;  // of coordinates: the entry of v, and of q where it has one
    int v_of = -1;       // and that of the second channel: what v follows
    int a = -1, b = -1;  // of bodies: the channels are the twist of b against a
    Vec3d center;        // where they take it, in W: the middle of the contacts' points
    double size = 1;     // [m] that the twist's angular part is times
    // Has angular channels; contacts of a single point that nothing acts about have linear ones
    // alone, at the point itself.
    bool turns = true;

    bool is_of_bodies() const { return a >= 0; }
    int linear() const { return turns ? 3 : 0; }  // the first channel of the linear part
    int width() const { return linear() + 3; }    // of channels of bodies
  };
  struct Row {
    std::uint8_t kind = 0;  // of constraint: its place in constraint_kinds.h
    std::uint8_t role = 0;  // which of that kind's rows
    double on[2] = {};      // of friction and rolling: on the two axes of friction (contact_axes.h)
    int manifold = -1;      // of a contact
    // Of the manifold; of a closure the component that it holds: of e, then of theta.
    int point = -1;
    NormalLaw law = NormalLaw::rest;  // of its point
    // Of what is met: the share of the step after which it touches.
    double impact = 0;
    // And whether its gap tells that; else it touches at the impact before.
    bool is_timed = false;
    Keeping keeping = Keeping::none;
    int corrects = -1;  // of a correction: the row of the velocity that it corrects
    // Of friction: how far along the normal its point is from the manifold's, per gap
    // (constraints/normal_law.h).
    double lever = 0;
  };
  // use(first_row, last_row) of each manifold of a block of contacts.
  template <class Use>
  void for_each_manifold(std::size_t block, const Use& use) const {
    const RowBlock& all = problem.blocks[block];
    for (int first = all.first_row, i = first; i < all.last_row; first = i) {
      const int manifold = rows[static_cast<std::size_t>(first)].manifold;
      while (i < all.last_row && rows[static_cast<std::size_t>(i)].manifold == manifold) ++i;
      use(first, i);
    }
  }

  std::vector<Block> blocks;  // as problem.blocks
  std::vector<Row> rows;      // as problem.rows
  RowProblem problem;
  RowSizes sizes;  // of problem, once it is solved
  RowSolution solution;
  bool is_relaxed = false;
  bool is_left_out = false;            // of corrections: of gradients for other classes
  std::unique_ptr<SolvedRows> solved;  // what the solver keeps for derivatives
  RowGradient gradient;                // of vjp
  RowSolution other;                   // of complementarity-aware gradients
  std::unique_ptr<SolvedRows> other_solved;
  // n_v x channels: the channels' Jacobian, transposed, and A^-1 times it, A the integrator's
  // operator; empty until asked for, where problem has F.
  std::vector<double> X, Y;
  std::vector<int> entries;    // of v, that impulses may move: columns of F, where there is F
  std::vector<double> change;  // of these: by the impulses
  std::vector<double> before;  // channels: their velocity before the step
  std::vector<double> gap_bar, before_bar;  // of vjp: of each row's gap; of `before`
  // Of its rows' impulses by themselves, as by the corrections that they bound; empty where there
  // are none.
  std::vector<double> corrected_bar;

  // The channels of another island, of whose rows some will be its own.
  void take_channels(const StepIsland& other) {
    blocks = other.blocks, before = other.before, entries = other.entries;
    problem.channels = other.problem.channels, problem.F = other.problem.F;
    take_matrices(other);
  }
  void take_matrices(const StepIsland& other) {
    X = other.X, Y = other.Y, problem.L = other.problem.L;
  }
  // By Y.
  void fill_change() {
    const std::size_t k = static_cast<std::size_t>(problem.channels);
    change.resize(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      double sum = 0;
      for (std::size_t c = 0; c < k; ++c)
        sum += Y[static_cast<std::size_t>(entries[i]) * k + c] * solution.z[c];
      change[i] = sum;
    }
  }
  // u += share times the change by its impulses.
  void add_change(double share, std::vector<double>& u) const {
    for (std::size_t i = 0; i < entries.size(); ++i)
      u[static_cast<std::size_t>(entries[i])] += share * change[i];
  }
};

// Rows of contacts that are met at one time within a step, and of all that holds then
// (constraints/impacts.h). problem.y_free is the velocity before.
struct Impact : StepIsland {
  double share = 0;  // of the step after which its impulses act
  // Channels: what impulses before it, times their shares, add to the velocity.
  std::vector<double> late;
  std::vector<double> rested;  // channels: the velocity before all impacts
  // Share of its restitution; less where that would gain energy.
  double restored = 1;
  // Its rows with restitution and without, where it has a part of it; of itself then the solution
  // alone.
  std::vector<StepIsland> parts;
  // Of vjp, by its targets and its time: of y_free, `late` and `rested`.
  std::vector<double> seen_bar, late_bar, rested_bar;

  bool is_limited() const { return restored < 1; }
  // use(rows) of what has been solved.
  template <class Use>
  void for_each_solved(const Use& use) {
    if (!is_limited()) return void(use(static_cast<StepIsland&>(*this)));
    for (StepIsland& part : parts) use(part);
  }
  template <class Use>
  void for_each_solved(const Use& use) const {
    if (!is_limited()) return void(use(static_cast<const StepIsland&>(*this)));
    for (const StepIsland& part : parts) use(part);
  }
};

// The impacts of one island within a step, in their order.
struct Impacts {
  // The island's rows with those that are to be met, which the island is without.
  StepIsland all;
  std::vector<Impact> each;  // the first n are in use
  int n = 0;
  double share = 0;                     // of the step: the time of the last
  double still = 0;                     // velocities that are rounding
  std::vector<double> y, late, rested;  // channels: the velocity after it; see Impact
};

}  // namespace robosim
