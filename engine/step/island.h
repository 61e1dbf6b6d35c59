// Islands: coupled constraint rows of a step, their origin, and the results of solving them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "contact/row_gradient.h"
#include "contact/row_solver.h"
#include "contact/rows.h"
#include "spatial/vec3.h"

namespace robosim {

// Law of a contact normal (constraints/normal_law.h).
enum class NormalLaw : std::uint8_t {
  rest,     // t = -(erp/dt) gap
  bounce,   // rebounds, from the velocity at the start of the step
  impact,   // rebounds, at its time of impact within the step
  landing,  // no rebound, at its time of impact within the step
  held,     // t = 0: touches while another contact collides
  ahead,    // t = -gap/dt: no collision in this step
  soft      // compliant
};

// Branch of the law from a gap or error to the target of a row (constraints/recovery.h).
enum class Keeping : std::uint8_t {
  none,     // no such law, and no target for positions
  still,    // touches: t = 0
  part,     // t = -erp/dt x
  fastest,  // limited by the largest speed
};

// Coupled rows: those of trees that constraints connect.
struct StepIsland {
  // Kind of blocks that several kinds of coordinate constraints share.
  static constexpr std::uint8_t of_coordinate = 255;

  // Channels of rows: one or two coordinates, or the relative twist of two bodies.
  struct Block {
    // Kind of constraint that owns the block: its index in constraint_kinds.h.
    std::uint8_t kind = of_coordinate;
    // Index within that kind: the first manifold of the two bodies, or the index of a closure or
    // equality in the world's list.
    int item = -1;
    int v = -1, q = -1;  // coordinates: index in v, and in q if it has a position
    int v_of = -1;       // coordinates: index in v of the second channel, which v follows
    int a = -1, b = -1;  // bodies: the channels are the twist of b relative to a
    Vec3d center;        // reference point of the twist in W: mean of the contact points
    double size = 1;     // [m] factor of the twist's angular part
    // True if the block has angular channels. Contacts of a single point without moments have only
    // linear channels, at the point itself.
    bool turns = true;

    bool is_of_bodies() const { return a >= 0; }
    int linear() const { return turns ? 3 : 0; }  // first channel of the linear part
    int width() const { return linear() + 3; }    // number of channels, for bodies
  };
  struct Row {
    std::uint8_t kind = 0;  // kind of constraint: its index in constraint_kinds.h
    std::uint8_t role = 0;  // role among that kind's rows
    double on[2] = {};      // friction, rolling: components along the two friction axes
    int manifold = -1;      // contact: its manifold
    // Contact: index of the point in the manifold. Closure: component that the row holds, of e,
    // then of theta.
    int point = -1;
    NormalLaw law = NormalLaw::rest;  // law of its point
    // Collision: share of the step after which the contact touches.
    double impact = 0;
    // Collision: true if the gap determines this share. Otherwise it is the share of the previous
    // impact.
    bool is_timed = false;
    Keeping keeping = Keeping::none;
    int corrects = -1;  // correction: row of the velocity that it corrects
    // Friction: distance of its point from the manifold's point along the normal, per gap
    // (constraints/impacts.h).
    double lever = 0;
  };
  // Call use(first_row, last_row) for each manifold of a block of contacts.
  template <class Use>
  void for_each_manifold(std::size_t block, const Use& use) const {
    const RowBlock& all = problem.blocks[block];
    for (int first = all.first_row, i = first; i < all.last_row; first = i) {
      const int manifold = rows[first].manifold;
      while (i < all.last_row && rows[i].manifold == manifold) ++i;
      use(first, i);
    }
  }

  std::vector<Block> blocks;  // parallel to problem.blocks
  std::vector<Row> rows;      // parallel to problem.rows
  RowProblem problem;
  RowSizes sizes;  // of problem, once solved
  RowSolution solution;
  bool is_relaxed = false;
  bool is_left_out = false;            // corrections: excluded from gradients for other active sets
  std::unique_ptr<SolvedRows> solved;  // state of the solver for derivatives
  RowGradient gradient;                // workspace of vjp
  RowSolution other;                   // solution of complementarity-aware gradients
  std::unique_ptr<SolvedRows> other_solved;
  // n_v x channels: the channels' Jacobian transposed, and A^-1 times it, with A the integrator's
  // operator. Empty until requested if problem has the factor F.
  std::vector<double> X, Y;
  std::vector<int> entries;    // indices in v that impulses may change: the columns of F, if any
  std::vector<double> change;  // per entry: velocity change by the impulses
  std::vector<double> before;  // channels: velocity before the step
  std::vector<double> gap_bar, before_bar;  // vjp: gradients of each row's gap and of `before`
  // Gradient with respect to the rows' own impulses, such as through the corrections that they
  // bound. Empty if there is none.
  std::vector<double> corrected_bar;

  // Copy the channels of another island, some of whose rows this island will have.
  void take_channels(const StepIsland& other) {
    blocks = other.blocks;
    before = other.before;
    entries = other.entries;
    problem.channels = other.problem.channels;
    problem.F = other.problem.F;
    take_matrices(other);
  }
  void take_matrices(const StepIsland& other) {
    X = other.X;
    Y = other.Y;
    problem.L = other.problem.L;
  }
  // Fill `change` from Y.
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
  // Add share times the velocity change by the impulses: u += share * change.
  void add_change(double share, std::vector<double>& u) const {
    for (std::size_t i = 0; i < entries.size(); ++i) u[entries[i]] += share * change[i];
  }
};

// Rows of contacts that collide at one time within a step, and of all constraints that hold then
// (constraints/impacts.h). problem.y_free is the velocity before the impact.
struct Impact : StepIsland {
  double share = 0;  // share of the step after which its impulses act
  // Channels: velocity changes of earlier impacts, each times its share.
  std::vector<double> late;
  std::vector<double> rested;  // channels: velocity before all impacts
  // Applied share of the restitution; below one if all of it would gain energy.
  double restored = 1;
  // Rows with restitution and without, if only a share of it is applied. The impact itself then has
  // only the solution.
  std::vector<StepIsland> parts;
  // Gradients of vjp through targets and time, with respect to y_free, `late` and `rested`.
  std::vector<double> seen_bar, late_bar, rested_bar;

  bool is_limited() const { return restored < 1; }
  // Call use(rows) for the solved rows: the impact itself, or its parts.
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

// Impacts of one island within a step, in their order.
struct Impacts {
  // All rows of the island, including those of colliding contacts, which the island itself lacks.
  StepIsland all;
  std::vector<Impact> each;  // first n in use
  int n = 0;
  double share = 0;                     // share of the step at the last impact
  double still = 0;                     // velocities below this are rounding
  std::vector<double> y, late, rested;  // channels: velocity after the last impact; see Impact
};

}  // namespace robosim
