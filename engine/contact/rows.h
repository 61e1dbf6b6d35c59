// Constraint rows of one time step, and what solves them.
//
// Rows look at the motion through channels: the six components of the relative twist of two bodies
// that touch, three where they do so at one point, one velocity of a joint. With the channels'
// Jacobian X, mass matrix M and row impulses f
//   y+ = y_free + L z,   L = X M^-1 X^T,   z = sum_i d_i f_i            (k channels; y_free = X (v
//                        + dt M^-1 (tau - h)))
//   w_i = d_i . y+ + R_i f_i - t_i,   y+ = X v+                         (row i: coefficients d_i,
//                                     compliance R_i, target t_i)
// so v+ = v_free + M^-1 X^T z. Thirty-two contacts of two feet are 96 rows on 12 channels, and no
// solver here ever needs more of the bodies than these. By its kind a row asks for
//   equality     w = 0
//   unilateral   f >= 0, w >= 0, f w = 0                                (contact normals, joint
//                limits)
//   box          lower <= f <= upper; w = 0 between, w <= 0 at the upper bound, w >= 0 at the lower
//                one  (motors, dry friction)
//   friction     the same with the bounds -mu f_n and mu f_n, n a unilateral row of the same block
//                (also torsion and rolling)
//   disc         two friction rows, one after the other, as the axes of a vector: |f| <= mu f_n; w
//                = 0 within, f = -mu f_n w/|w| at the bound
// (Anitescu and Potra, Nonlinear Dynamics 14, 1997; a box per contact as in Werling et al., RSS
// 2021, eq. 5 to 9.)
//
// The channels of a block should be in like units: a pair's twist about the middle of its contacts,
// its angular part times their spread. Which rows depend on each other is judged by that.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "contact/channel_factor.h"

namespace robosim {

enum class RowKind : std::uint8_t { equality, unilateral, box, friction };

inline constexpr int most_block_channels = 6;

struct ConstraintRow {
  RowKind kind = RowKind::unilateral;
  double d[most_block_channels] = {};  // on the channels of its block
  double target = 0;                   // t [the unit of w]
  double compliance = 0;               // R >= 0 [unit of w per unit of f]
  double lower = 0, upper = 0;         // of a box
  double mu = 0;                       // of friction
  // Of friction: its unilateral row, before it and in the same block.
  int normal = -1;
  // Of friction: with the next row, of like mu, normal and compliance, the two axes of a disc.
  bool is_disc = false;
};

// True of friction, which creeps while it clamps, so that springs carry what they can
// (row_basis.h).
inline bool creeps(const ConstraintRow& row) { return row.kind == RowKind::friction; }

// Rows [first_row, last_row) look at channels [first_channel, first_channel + width).
struct RowBlock {
  int first_channel = 0, width = 0;
  int first_row = 0, last_row = 0;
  // Rows that depend on each other do so wherever they are moved to, targets included: as contacts
  // of one plane along one normal, without rolling friction.
  bool is_of_one_plane = true;
};

// Calls f with a block's width as a constant, of which there are few.
template <class F>
void with_width(int width, F&& f) {
  switch (width) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    default:
      return f(std::integral_constant<int, most_block_channels>());
  }
}

struct RowProblem {
  int channels = 0;
  // Channels x channels, symmetric, positive semidefinite; empty where it is told by F.
  std::vector<double> L;
  ChannelFactor F;             // used where L is empty: L = F F^T
  std::vector<double> y_free;  // channels
  std::vector<RowBlock> blocks;
  std::vector<ConstraintRow> rows;  // by block
  // Velocities at play besides those of the rows: rounding is of these, too.
  double at_play = 0;

  int size() const { return static_cast<int>(rows.size()); }
};

// What a row does at the solution. A friction row whose normal does not push is separating,
// whatever its w. The two of a disc at its bound are `upper` and separating, as its axes would be
// if the first were turned along its impulse.
enum class RowClass : std::uint8_t {
  clamping,    // w = 0, f inside its bounds
  separating,  // f = 0
  lower,       // f at its lower bound
  upper,       // f at its upper bound
};

inline bool at_bound(RowClass c) { return c == RowClass::upper || c == RowClass::lower; }
inline double bound_sign(RowClass c) { return c == RowClass::upper ? 1.0 : -1.0; }

// Relative to the velocities at play (row_scale): below it a row counts as at rest. Above what
// rounding leaves of a row that others imply.
inline constexpr double tied_velocity = 1e-11;

struct RowSolution {
  std::vector<double> f, w;       // rows
  std::vector<double> z, y;       // channels: impulse, and velocity after it
  std::vector<double> moved;      // room of apply_impulses
  std::vector<RowClass> classes;  // rows

  void resize(const RowProblem& problem);
};

// Bounds of row i beside the impulses f: infinite where there is none.
struct RowBounds {
  double lower, upper;
};
inline RowBounds row_bounds(const RowProblem& problem, int i, const double* f) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const ConstraintRow& row = problem.rows[static_cast<std::size_t>(i)];
  switch (row.kind) {
    case RowKind::equality:
      return {-inf, inf};
    case RowKind::unilateral:
      return {0, inf};
    case RowKind::box:
      return {row.lower, row.upper};
    case RowKind::friction:
      break;
  }
  const double bound = row.mu * std::max(f[row.normal], 0.0);
  return {-bound, bound};
}

// Of the two components of a disc's velocity or impulse. Their squares are numbers: no need of
// std::hypot, which takes as long as a row of a sweep.
inline double length(double x, double y) { return std::sqrt(x * x + y * y); }

// Whether row i is one of the two of a disc.
inline bool is_of_disc(const RowProblem& problem, int i) {
  const auto row = [&](int k) -> const ConstraintRow& {
    return problem.rows[static_cast<std::size_t>(k)];
  };
  return row(i).is_disc || (i > 0 && row(i - 1).is_disc);
}

// z, y and w of the impulses in solution.f.
void apply_impulses(const RowProblem& problem, RowSolution& solution);

// y += L z, of channels. moved: room.
void add_motion(const RowProblem& problem, const double* z, double* y, std::vector<double>& moved);
// d . L e of a row of block a and one of block b.
double row_product(const RowProblem& problem, std::size_t a, const ConstraintRow& row,
                   std::size_t b, const ConstraintRow& other);
// d_i . L d_i + R_i, of a row of a block.
double row_admittance(const RowProblem& problem, std::size_t block, const ConstraintRow& row);

// What of a problem velocities are measured by, for as long as it is not changed.
struct RowSizes {
  double still = 0;                // the largest of |t_i|, |d_i| . |y_free| and RowProblem::at_play
  std::vector<double> admittance;  // rows

  void measure(const RowProblem& problem);
};

// How far a solution (f, w) is from the conditions: the largest |f - clamp(f - w / a, bounds)| a, a
// the row's admittance (of a disc the larger of its axes', and the nearest point of the disc),
// relative to the largest of |t_i|, |d_i| . |y_free| and a |f_i|: zero exactly at a solution, and
// then relative to the velocities at play.
double row_residual(const RowProblem& problem, const RowSizes& sizes, const RowSolution& solution);
// What counts as solved.
inline constexpr double solved_residual = 1e-12;
// The velocity that row_residual is relative to; zero where nothing moves and nothing is asked.
double row_scale(const RowSizes& sizes, const RowSolution& solution);
// The same of a problem that is looked at once.
double row_residual(const RowProblem& problem, const RowSolution& solution);
double row_scale(const RowProblem& problem, const RowSolution& solution);

}  // namespace robosim
