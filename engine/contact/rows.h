// Constraint rows of one time step: the problem, its solution and their residual.
//
// Rows act on relative-twist coordinates, called channels here: the six components of the relative
// twist of two bodies in contact, three components where the bodies touch at one point, or the
// velocity of one joint. With the Jacobian X of the channels, the mass matrix M and the row
// impulses f
//   y+ = y_free + L z,   L = X M^-1 X^T,   z = sum_i d_i f_i
//   w_i = d_i . y+ + R_i f_i - t_i,   y+ = X v+
// where y_free = X (v + dt M^-1 (tau - h)) has k channels, L is the Delassus operator, and row i
// has coefficients d_i, compliance R_i and target t_i. So v+ = v_free + M^-1 X^T z. Thirty-two
// contacts of two feet are 96 rows on 12 channels, and no solver here needs more of the bodies than
// these channels. The condition on a row depends on its kind:
//   equality     w = 0
//   unilateral   f >= 0, w >= 0, f w = 0  (contact normals, joint limits)
//   box          lower <= f <= upper; w = 0 between, w <= 0 at the upper bound, w >= 0 at the lower
//                bound  (motors, dry friction)
//   friction     a box with the bounds -mu f_n and mu f_n, n a unilateral row of the same block
//                (also torsional and rolling friction)
//   disc         two consecutive friction rows, the axes of a vector: |f| <= mu f_n; w = 0 within,
//                f = -mu f_n w/|w| at the bound
// (Anitescu and Potra, Nonlinear Dynamics 14, 1997; a box per contact as in Werling et al., RSS
// 2021, eq. 5 to 9.)
//
// The channels of a block should have like units: a pair's twist about the middle of its contacts,
// with the angular part times their spread. Linear dependence of rows is judged in these units.
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
  double d[most_block_channels] = {};  // coefficients on the channels of its block
  double target = 0;                   // t [the unit of w]
  double compliance = 0;               // R >= 0 [unit of w per unit of f]
  double lower = 0, upper = 0;         // bounds of a box row
  double mu = 0;                       // friction coefficient
  // Friction only: index of its unilateral row, which precedes it in the same block.
  int normal = -1;
  // Friction only: true if this row and the next one, of equal mu, normal and compliance, are the
  // axes of a disc.
  bool is_disc = false;
};

// Return true for friction rows. Active friction rows creep, so that springs carry what they
// can (row_basis.h).
inline bool creeps(const ConstraintRow& row) { return row.kind == RowKind::friction; }

// Rows [first_row, last_row), which act on channels [first_channel, first_channel + width).
struct RowBlock {
  int first_channel = 0, width = 0;
  int first_row = 0, last_row = 0;
  // True if linear dependences of the rows, targets included, persist as the bodies move: contacts
  // in one plane along one normal, without rolling friction.
  bool is_of_one_plane = true;
};

// Call f with the width of a block as a compile-time constant.
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
  // Channels x channels, symmetric, positive semidefinite; empty if the problem has F instead.
  std::vector<double> L;
  ChannelFactor F;             // used where L is empty: L = F F^T
  std::vector<double> y_free;  // channels
  std::vector<RowBlock> blocks;
  std::vector<ConstraintRow> rows;  // by block
  // Largest velocity involved besides those of the rows. Rounding errors scale with it, too.
  double at_play = 0;

  int size() const { return static_cast<int>(rows.size()); }
};

// Mode of a row at the solution. A friction row whose normal has no impulse is separating, whatever
// its w. The two rows of a disc at its bound are `upper` and separating, as they would be with the
// first axis along the impulse.
enum class RowClass : std::uint8_t {
  clamping,    // active: w = 0, f within its bounds
  separating,  // f = 0
  lower,       // f at its lower bound
  upper,       // f at its upper bound
};

inline bool at_bound(RowClass c) { return c == RowClass::upper || c == RowClass::lower; }
inline double bound_sign(RowClass c) { return c == RowClass::upper ? 1.0 : -1.0; }

// Velocity, relative to row_scale, below which a row counts as at rest. It exceeds the rounding
// error of a row that other rows imply.
inline constexpr double tied_velocity = 1e-11;

struct RowSolution {
  std::vector<double> f, w;       // rows
  std::vector<double> z, y;       // channels: impulse, and velocity after the step
  std::vector<double> moved;      // workspace of apply_impulses
  std::vector<RowClass> classes;  // rows

  void resize(const RowProblem& problem);
};

// Bounds of row i at the impulses f; infinite where there is none.
struct RowBounds {
  double lower, upper;
};
inline RowBounds row_bounds(const RowProblem& problem, int i, const double* f) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const ConstraintRow& row = problem.rows[i];
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

// Length of a disc's velocity or impulse. The squares do not overflow, so std::hypot, which takes
// as long as a row of a sweep, is not needed.
inline double length(double x, double y) { return std::sqrt(x * x + y * y); }

// Return true if row i is one of the two rows of a disc.
inline bool is_of_disc(const RowProblem& problem, int i) {
  const auto row = [&](int k) -> const ConstraintRow& { return problem.rows[k]; };
  return row(i).is_disc || (i > 0 && row(i - 1).is_disc);
}

// Compute z, y and w from the impulses in solution.f.
void apply_impulses(const RowProblem& problem, RowSolution& solution);

// Add the motion of channel impulses: y += L z. moved: workspace.
void add_motion(const RowProblem& problem, const double* z, double* y, std::vector<double>& moved);
// Return d . L e, for row d of block a and row e of block b.
double row_product(const RowProblem& problem, std::size_t a, const ConstraintRow& row,
                   std::size_t b, const ConstraintRow& other);
// Return d_i . L d_i + R_i for a row of a block.
double row_admittance(const RowProblem& problem, std::size_t block, const ConstraintRow& row);

// Velocity scale and admittances of a problem, valid while the problem does not change.
struct RowSizes {
  double still = 0;                // the largest of |t_i|, |d_i| . |y_free| and RowProblem::at_play
  std::vector<double> admittance;  // rows

  void measure(const RowProblem& problem);
};

// Residual of a solution (f, w): the largest |f - clamp(f - w / a, bounds)| a, with a the row's
// admittance, relative to the largest of |t_i|, |d_i| . |y_free| and a |f_i|. For a disc, a is the
// larger admittance of its axes, and clamp returns the nearest point of the disc. The residual is
// zero exactly at a solution, and otherwise relative to the velocities at play.
double row_residual(const RowProblem& problem, const RowSizes& sizes, const RowSolution& solution);
// Largest residual that counts as solved.
inline constexpr double solved_residual = 1e-12;
// Velocity that row_residual is relative to; zero if nothing moves and all targets are zero.
double row_scale(const RowSizes& sizes, const RowSolution& solution);
// Residual and scale of a problem that is evaluated only once.
double row_residual(const RowProblem& problem, const RowSolution& solution);
double row_scale(const RowProblem& problem, const RowSolution& solution);

}  // namespace robosim
