#include "contact/convex_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/index.h"
#include "base/linalg/cholesky.h"
#include "base/linalg/lu.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"

namespace robosim {

namespace {

using State = RowPush::State;

// A whole step of Newton's method beside what it goes on from: then the next one is below rounding; where rows
// hold by very little, once more.
constexpr double converged[] = {1e-7, 1e-9, 1e-11};
constexpr double in_bounds = 1e-6;  // impulses beside their bounds
// The slope where a line search ends beside that at its start.
constexpr double searched = 1e-8;
constexpr double rounding = 1e-14;  // and beside the sum of what it is made of
constexpr int most_searches = 60;
constexpr double singular = 1e-12;  // of bounds that follow normals
// Impulses that move more than this, beside all velocities at play, are of rows that contradict each other.
constexpr double most_scale = 1e7;

double squared(const std::vector<double>& x) { return dot(x.data(), x.data(), static_cast<int>(x.size())); }

// use(block, row, rows): of each row, or the two of a disc.
template <class Use>
void for_each_push(const RowProblem& problem, const Use& use) {
  for (std::size_t b = 0; b < problem.blocks.size(); ++b)
    for (int i = problem.blocks[b].first_row; i < problem.blocks[b].last_row; ++i) {
      const bool is_disc = problem.rows[at(i)].is_disc;
      use(b, i, is_disc ? 2 : 1);
      i += is_disc;
    }
}

// z = sum d_i f_i.
void add_up(const RowProblem& problem, const double* f, std::vector<double>& z) {
  make_zeros(z, at(problem.channels));
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i)
      if (f[i] != 0) add_scaled(f[i], problem.rows[at(i)].d, block.width, &z[at(block.first_channel)]);
}

// The rows' part of velocities of channels.
void along_rows(const RowProblem& problem, const double* y, std::vector<double>& w) {
  w.resize(problem.rows.size());
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i)
      w[at(i)] = dot(problem.rows[at(i)].d, y + block.first_channel, block.width);
}

// to = A x, A: n x m, row by row; or its transpose.
void multiply(const std::vector<double>& A, int n, int m, const double* x, std::vector<double>& to) {
  to.resize(at(n));
  for (int i = 0; i < n; ++i) to[at(i)] = dot(&A[at(i * m)], x, m);
}
void multiply_transposed(const std::vector<double>& A, int n, int m, const double* x, std::vector<double>& to) {
  make_zeros(to, at(m));
  for (int i = 0; i < n; ++i)
    if (x[i] != 0) add_scaled(x[i], &A[at(i * m)], m, to.data());
}

// sum + rest += a b, to twice the precision.
void add_product(double a, double b, double& sum, double& rest) {
  const double product = a * b;
  rest += std::fma(a, b, -product);
  add_exactly(product, sum, rest);
}

// -df of a push for a change of its velocity.
void give(const RowPush& push, int rows, const double* dw, double* df) {
  if (rows == 1)
    df[0] = push.gives[0] * dw[0];
  else
    df[0] = push.gives[0] * dw[0] + push.gives[1] * dw[1], df[1] = push.gives[1] * dw[0] + push.gives[2] * dw[1];
}

}  // namespace

void ConvexSolver::push(const RowProblem& problem, const std::vector<double>& w, Stage& stage) const {
  stage.pushes.resize(problem.rows.size()), stage.f.resize(problem.rows.size());
  for_each_push(problem, [&](std::size_t, int i, int rows) {
    const RowPush& push = stage.pushes[at(i)] =
        row_push(problem.rows[at(i)], &w[at(i)], R_[at(i)], stage.bound[at(i)]);
    for (int k = 0; k < rows; ++k) stage.f[at(i + k)] = push.f[k];
  });
}

// Of 1 + F^T H F, where the pushes are.
bool ConvexSolver::factor(const RowProblem& problem, Stage& stage) {
  const int k = problem.channels;
  make_zeros(HF_, at(k * r_));
  double H[most_block_channels * most_block_channels];
  for (const RowBlock& block : problem.blocks) {
    const int n = block.width;
    std::fill_n(H, n * n, 0.0);
    bool any = false;
    const auto add = [&](double by, const double* x, const double* y) {
      if (by == 0) return;
      any = true;
      for (int r = 0; r < n; ++r) add_scaled(by * x[r], y, n, H + r * n);
    };
    for (int i = block.first_row; i < block.last_row; ++i) {
      const RowPush& push = stage.pushes[at(i)];
      const double* const d = problem.rows[at(i)].d;
      add(push.gives[0], d, d);
      if (!problem.rows[at(i)].is_disc) continue;
      const double* const e = problem.rows[at(++i)].d;
      add(push.gives[1], d, e), add(push.gives[1], e, d), add(push.gives[2], e, e);
    }
    for (int r = 0; r < n && any; ++r)
      for (int c = 0; c < n; ++c)
        add_scaled(H[r * n + c], &F_[at((block.first_channel + c) * r_)], r_,
                   &HF_[at((block.first_channel + r) * r_)]);
  }
  make_zeros(stage.factor, at(r_ * r_));
  for (int i = 0; i < r_; ++i) stage.factor[at(i * (r_ + 1))] = 1;
  for (int c = 0; c < k; ++c)
    for (int i = 0; i < r_; ++i)
      if (const double x = F_[at(c * r_ + i)]; x != 0)
        add_scaled(x, &HF_[at(c * r_)], i + 1, &stage.factor[at(i * r_)]);
  return cholesky_factor(stage.factor.data(), r_);
}

// The potential at `a` with its velocities.
double ConvexSolver::potential(const RowProblem& problem, const std::vector<double>& a, const std::vector<double>& y,
                               const Stage& stage) {
  along_rows(problem, y.data(), trial_);
  double sum = 0.5 * squared(a);
  for_each_push(problem, [&](std::size_t, int i, int rows) {
    double w[2] = {};
    for (int k = 0; k < rows; ++k) w[k] = trial_[at(i + k)] - problem.rows[at(i + k)].target;
    sum += row_potential(problem.rows[at(i)], w, R_[at(i)], stage.bound[at(i)]);
  });
  return sum;
}

// Moves a_ and y_ to where all that is likely to hold does, if that is nearer to the minimum: what comes nearer, what
// is between bounds, and friction of what pushed before. From what slides a little the way to where it holds is long,
// by one row after the other.
void ConvexSolver::start_holding(const RowProblem& problem, const std::vector<RowPush>* before, Stage& stage) {
  along_rows(problem, problem.y_free.data(), stage.w);
  make_zeros(trial_, problem.rows.size());
  stage.pushes.assign(problem.rows.size(), RowPush());
  for_each_push(problem, [&](std::size_t, int i, int rows) {
    const ConstraintRow& row = problem.rows[at(i)];
    const auto w = [&](int k) { return stage.w[at(i + k)] - problem.rows[at(i + k)].target; };
    bool holds = R_[at(i)] > 0;
    if (row.kind == RowKind::friction)
      holds &= stage.bound[at(i)] > 0;
    else if (before)
      holds &= (*before)[at(i)].state == State::linear;
    else if (row.kind == RowKind::unilateral)
      holds &= w(0) < 0;
    if (before && !holds && row.kind == RowKind::box) trial_[at(i)] = (*before)[at(i)].f[0];
    if (!holds) return;
    for (int k = 0; k < rows; ++k) trial_[at(i + k)] = -w(k) / R_[at(i)];
    stage.pushes[at(i)].state = State::linear,
    stage.pushes[at(i)].gives[0] = stage.pushes[at(i)].gives[2] = 1 / R_[at(i)];
  });
  if (!factor(problem, stage)) return;
  add_up(problem, trial_.data(), z_);
  multiply_transposed(F_, problem.channels, r_, z_.data(), g_);
  cholesky_solve(stage.factor.data(), r_, g_.data());
  multiply(F_, problem.channels, r_, g_.data(), dy_);
  for (std::size_t c = 0; c < dy_.size(); ++c) dy_[c] += problem.y_free[c];
  if (potential(problem, g_, dy_, stage) < potential(problem, a_, y_, stage)) a_ = g_, y_ = dy_;
}

// From a_ and y_, which are where the problem before ended.
bool ConvexSolver::minimize(const RowProblem& problem, double converged, Stage& stage, SolverReport& report) {
  const auto targets = [&](std::vector<double>& w) {
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= problem.rows[i].target;
  };
  const double at_play = std::sqrt(squared(a_));
  for (int iteration = 0; iteration < parameters_.max_iterations; ++iteration) {
    along_rows(problem, y_.data(), stage.w), targets(stage.w);
    push(problem, stage.w, stage);
    if (!factor(problem, stage)) return false;
    add_up(problem, stage.f.data(), z_);
    multiply_transposed(F_, problem.channels, r_, z_.data(), g_);
    for (int i = 0; i < r_; ++i) g_[at(i)] -= a_[at(i)];
    da_ = g_;
    cholesky_solve(stage.factor.data(), r_, da_.data());
    multiply(F_, problem.channels, r_, da_.data(), dy_);
    along_rows(problem, dy_.data(), dw_);

    // Along da: the slope of the potential rises; where it is zero.
    double least = 0, most = -1, t = 1;
    const double slope_at_start = -dot(g_.data(), da_.data(), r_);
    probe_.bound = stage.bound;
    for (int search = 0; search < most_searches && slope_at_start < 0; ++search) {
      trial_ = stage.w;
      add_scaled(t, dw_.data(), problem.size(), trial_.data());
      push(problem, trial_, probe_);
      double slope = t * squared(da_), curvature = squared(da_), noise = 0;
      const auto add = [&](double x) { slope += x, noise += std::abs(x); };
      for (int i = 0; i < r_; ++i) add(a_[at(i)] * da_[at(i)]);
      for (int i = 0; i < problem.size(); ++i) add(-probe_.f[at(i)] * dw_[at(i)]);
      for_each_push(problem, [&](std::size_t, int i, int rows) {
        double df[2];
        give(probe_.pushes[at(i)], rows, &dw_[at(i)], df);
        for (int k = 0; k < rows; ++k) curvature += df[k] * dw_[at(i + k)];
      });
      if (std::abs(slope) <= searched * std::abs(slope_at_start) + rounding * noise) break;
      (slope > 0 ? most : least) = t;
      const double next = t - slope / curvature;
      if (most < 0)
        t = std::max(next, 2 * t);
      else
        t = next > least && next < most ? next : 0.5 * (least + most);
    }
    for (int i = 0; i < r_; ++i) a_[at(i)] += t * da_[at(i)];
    multiply(F_, problem.channels, r_, a_.data(), y_);
    for (std::size_t c = 0; c < y_.size(); ++c) y_[c] += problem.y_free[c];
    report.class_changes += iteration > 0;
    const double size = std::max(std::sqrt(squared(a_)), at_play);
    if (!(slope_at_start < -converged * converged * size * size)) return std::isfinite(slope_at_start);
  }
  return false;
}

// w = d . y - t with y = y_free + L z, z = sum d_i f_i, and what rounding takes from it: of rows that depend on each
// other only that tells how they share.
void ConvexSolver::velocities(const RowProblem& problem, const std::vector<double>& f, const double* y_free,
                              bool with_targets, std::vector<double>& w, std::vector<double>& low) {
  const int k = problem.channels;
  add_up(problem, f.data(), z_);
  if (y_free)
    Ly_.assign(y_free, y_free + k);
  else
    make_zeros(Ly_, at(k));
  make_zeros(y_low_, at(k));
  for (int c = 0; c < k; ++c)
    for (int e = 0; e < k && z_[at(c)] != 0; ++e)
      add_product(z_[at(c)], problem.L[at(c * k + e)], Ly_[at(e)], y_low_[at(e)]);
  w.resize(f.size()), low.resize(f.size());
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[at(i)];
      double sum = with_targets ? -row.target : 0, rest = 0;
      for (int c = block.first_channel; c < block.first_channel + block.width; ++c) {
        add_product(row.d[c - block.first_channel], Ly_[at(c)], sum, rest);
        rest += row.d[c - block.first_channel] * y_low_[at(c)];
      }
      w[at(i)] = sum, low[at(i)] = rest;
    }
}

// The change of impulses where these are pushed in addition: less by what then moves otherwise.
void ConvexSolver::respond(const RowProblem& problem, const Stage& stage, const std::vector<double>& pushed,
                           std::vector<double>& change) {
  add_up(problem, pushed.data(), z_);
  multiply_transposed(F_, problem.channels, r_, z_.data(), g_);
  cholesky_solve(stage.factor.data(), r_, g_.data());
  multiply(F_, problem.channels, r_, g_.data(), dy_);
  along_rows(problem, dy_.data(), dw_);
  change.resize(pushed.size());
  for_each_push(problem, [&](std::size_t, int i, int rows) {
    double df[2] = {};
    give(stage.pushes[at(i)], rows, &dw_[at(i)], df);
    change[at(i)] = pushed[at(i)] - df[0];
    if (rows == 2) change[at(i + 1)] = pushed[at(i + 1)] - df[1];
  });
}

// The change of impulses by which they have no error: of linear rows w + R f, of those that slide f less what they
// should push.
void ConvexSolver::correct(const RowProblem& problem, const Stage& stage, const std::vector<double>& error,
                           std::vector<double>& change) {
  make_zeros(pushed_, error.size());
  for_each_push(problem, [&](std::size_t, int i, int rows) {
    const RowPush& push = stage.pushes[at(i)];
    const double by = push.state == State::linear ? push.gives[0] : push.state == State::slides ? 1 : 0;
    pushed_[at(i)] = -by * error[at(i)];
    if (rows == 2) pushed_[at(i + 1)] = -by * error[at(i + 1)];
  });
  respond(problem, stage, pushed_, change);
}

// Fills what linear rows lack: w_ + R f, in twice the precision, less what is given and what the rows' own part of
// R has given from.
void ConvexSolver::fill_lack(const std::vector<double>& f, const double* from, const double* given) {
  error_.resize(f.size());
  for (std::size_t i = 0; i < f.size(); ++i) {
    double sum = w_[i], rest = low_[i];
    add_product(R_[i], f[i], sum, rest);
    if (from) add_product(-own_R_[i], from[i], sum, rest);
    if (given) add_exactly(-given[i], sum, rest);
    error_[i] = sum + rest;
  }
}

// Sets what slides to push by the velocities that the impulses make. False where nothing slides.
bool ConvexSolver::slide_again(const RowProblem& problem, Stage& stage) {
  bool any = false;
  velocities(problem, stage.f, problem.y_free.data(), true, stage.w, low_);
  for_each_push(problem, [&](std::size_t, int i, int) {
    if (stage.pushes[at(i)].state != State::slides) return;
    const RowPush push = row_push(problem.rows[at(i)], &stage.w[at(i)], R_[at(i)], stage.bound[at(i)]);
    if (push.state == State::slides) stage.pushes[at(i)] = push, any = true;
  });
  return any && factor(problem, stage);
}

// The pushes are those of velocities that are near the minimum, stage.w. The impulses become those of one step more
// of Newton's method from there: what slides pushes as it does there, and less by what it then moves otherwise. Then
// rows give again, from the impulses that they have.
void ConvexSolver::refine(const RowProblem& problem, Stage& stage) {
  const auto give_in_passes = [&] {
    for (int pass = 0; pass < passes; ++pass) {
      if (pass > 0) stage.from[pass - 1] = stage.f;
      const double* const from = pass > 0 ? stage.from[pass - 1].data() : nullptr;
      for (int round = 0; round < parameters_.refinements; ++round) {
        velocities(problem, stage.f, problem.y_free.data(), true, w_, low_);
        fill_lack(stage.f, from, nullptr);
        for_each_push(problem, [&](std::size_t, int i, int) {
          const RowPush& push = stage.pushes[at(i)];
          if (push.state != State::slides) return;
          double moved[2], given[2];
          for (const int k : {0, 1}) moved[k] = w_[at(i + k)] - stage.w[at(i + k)] + low_[at(i + k)];
          give(push, 2, moved, given);
          for (const int k : {0, 1}) error_[at(i + k)] = stage.f[at(i + k)] - push.f[k] + given[k];
        });
        correct(problem, stage, error_, change_);
        for (std::size_t i = 0; i < change_.size(); ++i) stage.f[i] += change_[i];
      }
    }
  };
  give_in_passes();
  if (slide_again(problem, stage)) give_in_passes();
  velocities(problem, stage.f, problem.y_free.data(), true, stage.w, low_);
}

// True where the impulses by which a stage holds rows are within their bounds.
bool ConvexSolver::is_within_bounds(const RowProblem& problem, const Stage& stage) const {
  bool is_so = true;
  double largest = 0;
  for (const double f : stage.f) largest = std::max(largest, std::abs(f));
  for_each_push(problem, [&](std::size_t, int i, int rows) {
    if (stage.pushes[at(i)].state != State::linear) return;
    const ConstraintRow& row = problem.rows[at(i)];
    const double f = stage.f[at(i)], size = rows == 2 ? length(f, stage.f[at(i + 1)]) : std::abs(f),
                 slack = in_bounds * largest;
    if (row.kind == RowKind::unilateral) is_so &= f >= -slack;
    if (row.kind == RowKind::box) is_so &= f >= row.lower - slack && f <= row.upper + slack;
    if (row.kind == RowKind::friction) is_so &= size <= stage.bound[at(i)] + slack;
  });
  return is_so;
}

// The problem of the bounds that the stage has; false where rounding is more than what rows hold by.
bool ConvexSolver::solve_stage(const RowProblem& problem, SolverReport& report) {
  for (const double to : converged) {
    if (!minimize(problem, to, stage_, report)) return false;
    // As they are where it ended.
    along_rows(problem, y_.data(), stage_.w);
    for (std::size_t i = 0; i < stage_.w.size(); ++i) stage_.w[i] -= problem.rows[i].target;
    push(problem, stage_.w, stage_);
    if (!factor(problem, stage_)) return false;
    refine(problem, stage_);
    if (is_within_bounds(problem, stage_)) return true;
  }
  return false;
}

// Fills what slides, and how far its bounds are from mu f_n. Returns the largest such difference, of what holds what
// it holds by beyond mu f_n, beside the largest mu f_n.
double ConvexSolver::bounds_lack(const RowProblem& problem) {
  sliding_.clear(), lack_.clear();
  double off = 0, most = 0;
  for_each_push(problem, [&](std::size_t, int i, int rows) {
    const ConstraintRow& row = problem.rows[at(i)];
    if (row.kind != RowKind::friction) return;
    const double asked = row.mu * std::max(stage_.f[at(row.normal)], 0.0), lack = asked - stage_.bound[at(i)];
    most = std::max(most, asked);
    const State state = stage_.pushes[at(i)].state;
    const bool is_at_bound = state == State::slides || state == State::upper || state == State::lower;
    const double held = rows == 2 ? length(stage_.f[at(i)], stage_.f[at(i + 1)]) : std::abs(stage_.f[at(i)]);
    if (state == State::off)
      off = std::max(off, asked);
    else if (is_at_bound)
      off = std::max(off, std::abs(lack)), sliding_.push_back(i), lack_.push_back(lack);
    else
      off = std::max(off, held - asked);
  });
  return most > 0 ? off / most : off > 0 ? 1 : 0;
}

// 1 - S. False where it is singular: normals agree with other bounds as well.
bool ConvexSolver::couple(const RowProblem& problem) {
  const int n = static_cast<int>(sliding_.size());
  couplings_.resize(at(n * n));
  for (int j = 0; j < n; ++j) {
    const int i = sliding_[at(j)];
    const RowPush& push = stage_.pushes[at(i)];
    make_zeros(change_, stage_.f.size());
    for (int pass = 0; pass < passes; ++pass) {
      trial_ = change_;  // from which linear rows give
      for_each_push(problem, [&](std::size_t, int r, int rows) {
        const double part = stage_.pushes[at(r)].state == State::linear ? own_R_[at(r)] / R_[at(r)] : 0;
        trial_[at(r)] *= part;
        if (rows == 2) trial_[at(r + 1)] *= part;
      });
      if (push.state == State::slides)
        trial_[at(i)] = -push.along[0], trial_[at(i + 1)] = -push.along[1];
      else
        trial_[at(i)] = push.state == State::upper ? 1 : -1;
      respond(problem, stage_, trial_, change_);
    }
    for (int k = 0; k < n; ++k) {
      const ConstraintRow& row = problem.rows[at(sliding_[at(k)])];
      couplings_[at(k * n + j)] = (k == j) - row.mu * change_[at(row.normal)];
    }
  }
  pivots_.resize(at(n)), row_sizes_.resize(at(n));
  return lu_factor(couplings_.data(), n, pivots_.data(), row_sizes_.data()) > singular;
}

SolverReport ConvexSolver::solve(const RowProblem& problem, RowSolution& s, RowSizes& sizes) {
  SolverReport report;
  const std::size_t m = problem.rows.size();
  sizes.measure(problem);
  R_.resize(m), own_R_.resize(m);
  for_each_push(problem, [&](std::size_t, int i, int rows) {
    double a = sizes.admittance[at(i)] - problem.rows[at(i)].compliance;
    if (rows == 2) a = std::max(a, sizes.admittance[at(i + 1)] - problem.rows[at(i + 1)].compliance);
    own_R_[at(i)] = part(problem.rows[at(i)]) * a;
    if (rows == 2) own_R_[at(i + 1)] = own_R_[at(i)];
    for (int k = i; k < i + rows; ++k) R_[at(k)] = problem.rows[at(k)].compliance + own_R_[at(k)];
  });
  r_ = semidefinite_factor(problem.L.data(), problem.channels, F_);
  make_zeros(a_, at(r_)), y_ = problem.y_free;
  is_coupled_ = false, sliding_.clear();

  // Without friction.
  make_zeros(stage_.bound, m);
  start_holding(problem, nullptr, stage_);
  bool is_solved = solve_stage(problem, report);
  const bool any_friction = std::any_of(problem.rows.begin(), problem.rows.end(), [](const ConstraintRow& row) {
    return row.kind == RowKind::friction && row.mu > 0;
  });

  double last = std::numeric_limits<double>::infinity(), off = 0;
  const auto set_bounds = [&](bool by_newton) {
    for (std::size_t i = 0; i < m; ++i) {
      const ConstraintRow& row = problem.rows[i];
      if (row.kind != RowKind::friction) continue;
      const double asked = row.mu * std::max(stage_.f[at(row.normal)], 0.0), bound = stage_.bound[i];
      stage_.bound[i] = by_newton ? asked : bound + parameters_.bound_step * (asked - bound);
    }
    for (std::size_t j = 0; j < sliding_.size() && by_newton; ++j) {
      const int i = sliding_[j];
      stage_.bound[at(i)] =
          std::max(stage_.bound[at(i)] - lack_[j] + steps_[j], parameters_.least_bound * stage_.bound[at(i)]);
      if (problem.rows[at(i)].is_disc) stage_.bound[at(i + 1)] = stage_.bound[at(i)];
    }
  };
  for (int n = 0; n < parameters_.problems && any_friction && is_solved; ++n) {
    // Bounds.
    if (n == 0) {
      set_bounds(true);
    } else if (n == parameters_.problems_from_holding) {
      for (std::size_t i = 0; i < m; ++i)
        if (problem.rows[i].kind == RowKind::friction)
          stage_.bound[i] = problem.rows[i].mu > 0 ? std::numeric_limits<double>::max() : 0;
    } else {
      double lack = 0;
      for (const double x : lack_) lack += x * x;
      steps_ = lack_;
      const bool is_regular = couple(problem);
      if (is_regular) lu_solve(couplings_.data(), static_cast<int>(sliding_.size()), pivots_.data(), steps_.data());
      set_bounds(is_regular && lack < 0.25 * last);
      last = sliding_.empty() ? std::numeric_limits<double>::infinity() : lack;
    }
    // The problem.
    if (n == 0 || n == parameters_.problems_from_holding) {
      held_ = stage_.pushes;
      start_holding(problem, &held_, stage_);
    }
    is_solved = solve_stage(problem, report);
    const double before = std::exchange(off, is_solved ? bounds_lack(problem) : 1);
    if (off <= parameters_.rounding_of_cone || (off <= parameters_.cone_error && off > 0.25 * before)) break;
  }

  s.resize(problem);
  s.f = is_solved ? stage_.f : std::vector<double>(m, 0.0);
  apply_impulses(problem, s);
  for_each_push(problem, [&](std::size_t, int i, int rows) {
    static constexpr RowClass classes[] = {RowClass::separating, RowClass::clamping, RowClass::lower, RowClass::upper,
                                           RowClass::upper};
    s.classes[at(i)] = is_solved ? classes[static_cast<int>(stage_.pushes[at(i)].state)] : RowClass::separating;
    if (rows == 2)
      s.classes[at(i + 1)] = s.classes[at(i)] == RowClass::clamping ? RowClass::clamping : RowClass::separating;
  });
  report.residual = row_residual(problem, sizes, s);
  if (!is_solved || !(row_scale(sizes, s) <= most_scale * sizes.still))
    report.status = SolverStatus::inconsistent;
  else if (off > parameters_.cone_error)
    report.status = SolverStatus::rough;
  is_rough_ = report.status != SolverStatus::solved;
  return report;
}

OneSided ConvexSolver::differentiate(const RowProblem& problem, const RowSizes& sizes, const RowSolution& s) {
  const double slack = tied_velocity * row_scale(sizes, s);
  bool is_tied = false;
  for_each_push(problem, [&](std::size_t, int i, int) {
    const ConstraintRow& row = problem.rows[at(i)];
    const double a = sizes.admittance[at(i)];
    if (!(a > 0)) return;
    const auto is_near = [&](double f, double bound) { return a * std::abs(f - bound) <= slack; };
    const double f = stage_.f[at(i)], w = stage_.w[at(i)],
                 speed = row.is_disc ? length(w, stage_.w[at(i + 1)]) : std::abs(w);
    switch (stage_.pushes[at(i)].state) {
      case State::linear:
        if (row.kind == RowKind::unilateral) is_tied |= is_near(f, 0);
        if (row.kind == RowKind::box) is_tied |= is_near(f, row.lower) || is_near(f, row.upper);
        if (row.kind == RowKind::friction)
          is_tied |=
              is_near(row.is_disc ? length(f, stage_.f[at(i + 1)]) : std::abs(f), row.mu * stage_.f[at(row.normal)]);
        break;
      case State::off:
        if (row.kind == RowKind::unilateral) is_tied |= w <= slack;
        break;
      default: is_tied |= speed <= slack;
    }
  });
  is_coupled_ = couple(problem);
  return one_sided_if(is_tied, OneSided::tie) | one_sided_if(!is_coupled_, OneSided::undetermined) |
         one_sided_if(is_rough_, OneSided::unsolved);
}

// mu with R mu + d . L sum d_i mu_i = f_hat of linear rows, mu = gives (f_hat - d . L sum d_i mu_i) of those that
// slide, and else zero.
void ConvexSolver::solve_adjoint(const RowProblem& problem, const Stage& stage, const std::vector<double>& f_hat,
                                 std::vector<double>& mu) {
  make_zeros(mu, f_hat.size());
  for (int round = 0; round <= parameters_.refinements; ++round) {
    velocities(problem, mu, nullptr, false, w_, low_);
    fill_lack(mu, nullptr, f_hat.data());
    for_each_push(problem, [&](std::size_t, int i, int) {
      const RowPush& push = stage.pushes[at(i)];
      if (push.state != State::slides) return;
      double left[2], given[2];
      for (const int k : {0, 1}) left[k] = w_[at(i + k)] - f_hat[at(i + k)] + low_[at(i + k)];
      give(push, 2, left, given);
      for (const int k : {0, 1}) error_[at(i + k)] = mu[at(i + k)] + given[k];
    });
    correct(problem, stage, error_, change_);
    for (std::size_t i = 0; i < change_.size(); ++i) mu[i] += change_[i];
  }
}

void ConvexSolver::add_vjp(const RowProblem& problem, const RowSolution&, const double* f_bar, const double* z_bar,
                           RowGradient& g) {
  const int m = problem.size(), k = problem.channels;
  f_hat_.assign(f_bar, f_bar + m);
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i)
      f_hat_[at(i)] += dot(problem.rows[at(i)].d, z_bar + block.first_channel, block.width);
  // lambda: what the loss changes by with what is pushed, f_hat less what moves by it. From pass to pass it goes on
  // by what rows have given from.
  const auto solve = [&] {
    make_zeros(all_mu_, at(m)), make_zeros(R_bar_, at(m)), make_zeros(own_R_bar_, at(m));
    f_bar_ = f_hat_;
    for (int pass = passes; pass-- > 0;) {
      solve_adjoint(problem, stage_, f_bar_, mu_);
      const std::vector<double>& own = pass == passes - 1 ? stage_.f : stage_.from[pass];
      for (std::size_t i = 0; i < all_mu_.size(); ++i) {
        all_mu_[i] += mu_[i];
        R_bar_[i] -= own[i] * mu_[i];
        own_R_bar_[i] -= (own[i] - (pass > 0 ? stage_.from[pass - 1][i] : 0)) * mu_[i];
        f_bar_[i] = own_R_[i] * mu_[i];
      }
      for_each_push(problem, [&](std::size_t, int i, int rows) {
        if (stage_.pushes[at(i)].state == State::linear) return;
        f_bar_[at(i)] = 0;
        if (rows == 2) f_bar_[at(i + 1)] = 0;
      });
    }
    mu_ = all_mu_;
    velocities(problem, mu_, nullptr, false, w_, low_);
  };
  const auto bound_bar = [&](int i) {
    const RowPush& push = stage_.pushes[at(i)];
    const auto lambda = [&](int j) { return f_hat_[at(j)] - w_[at(j)]; };
    if (push.state == State::slides) return -(push.along[0] * lambda(i) + push.along[1] * lambda(i + 1));
    return push.state == State::upper ? lambda(i) : push.state == State::lower ? -lambda(i) : 0.0;
  };
  solve();
  // Bounds follow the normals.
  if (!sliding_.empty() && is_coupled_) {
    steps_.resize(sliding_.size());
    for (std::size_t j = 0; j < sliding_.size(); ++j) steps_[j] = bound_bar(sliding_[j]);
    lu_solve_transposed(couplings_.data(), static_cast<int>(sliding_.size()), pivots_.data(), steps_.data());
    for (std::size_t j = 0; j < sliding_.size(); ++j) {
      const ConstraintRow& row = problem.rows[at(sliding_[j])];
      f_hat_[at(row.normal)] += row.mu * steps_[j];
      g.mu[at(sliding_[j])] += steps_[j] * stage_.f[at(row.normal)];
    }
    solve();
  }

  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[at(i)];
      const int first = i, rows = row.is_disc ? 2 : 1;
      i += rows - 1;
      const State state = stage_.pushes[at(first)].state;
      if (row.kind == RowKind::box && state == State::upper) g.upper[at(first)] += bound_bar(first);
      if (row.kind == RowKind::box && state == State::lower) g.lower[at(first)] -= bound_bar(first);
      if (state != State::linear) continue;
      // The compliance; of a disc by the larger of its axes' admittances.
      for (int r = first; r < first + rows; ++r) g.compliance[at(r)] += R_bar_[at(r)];
      const auto of_L = [&](int j) {
        return row_admittance(problem, block, problem.rows[at(j)]) - problem.rows[at(j)].compliance;
      };
      const int larger = rows == 2 && of_L(first + 1) > of_L(first) ? first + 1 : first;
      const double* const d = problem.rows[at(larger)].d;
      const double by = part(row) * (own_R_bar_[at(first)] + (rows == 2 ? own_R_bar_[at(first + 1)] : 0));
      for (int c = 0; c < block.width; ++c) {
        const std::ptrdiff_t place = (block.first_channel + c) * k + block.first_channel;
        for (int e = 0; e < block.width; ++e) {
          g.L[at(static_cast<int>(place) + e)] += by * d[c] * d[e];
          g.d[at(larger * most_block_channels + c)] += 2 * by * problem.L[at(static_cast<int>(place) + e)] * d[e];
        }
      }
    }
  }
  // By velocities, -mu each, at fixed impulses; and by z.
  std::vector<double> z;
  add_up(problem, stage_.f.data(), z);
  Ly_ = problem.y_free;
  for (int c = 0; c < k; ++c)
    if (z[at(c)] != 0) add_scaled(z[at(c)], &problem.L[at(c * k)], k, Ly_.data());
  add_up(problem, mu_.data(), y_bar_);  // minus that of y
  make_zeros(change_, at(k));           // L y_bar
  for (int c = 0; c < k; ++c) {
    const double y_bar = -y_bar_[at(c)];
    g.y_free[at(c)] += y_bar;
    for (int e = 0; e < k; ++e) g.L[at(c * k + e)] += y_bar * z[at(e)];
    add_scaled(y_bar, &problem.L[at(c * k)], k, change_.data());
  }
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i) {
      g.target[at(i)] += mu_[at(i)];
      for (int c = 0; c < block.width; ++c) {
        const std::size_t channel = at(block.first_channel + c);
        g.d[at(i * most_block_channels + c)] +=
            stage_.f[at(i)] * (change_[channel] + z_bar[channel]) - mu_[at(i)] * Ly_[channel];
      }
    }
}

}  // namespace robosim
