#include "contact/bounded_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/linalg/small_matrices.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"

namespace robosim {

namespace {

using State = RowPush::State;

// Compliance of rows relative to their admittance: as small as rounding allows. Friction is more
// compliant, so that springs carry the load.
constexpr double part_of_rows = 1e-6, part_of_friction = 1e-4;
constexpr int max_iterations = 50;
// Steps with bounds that follow the normals: largest number, and largest length relative to
// the first.
constexpr int most_following = 8;
constexpr double farther = 4;
constexpr int direct_iterations = 16;  // of a minimum in the first pass
// Velocities due to compliance in the last pass, relative to those without impulses; decrease of
// compliance from pass to pass after the regular ones, and its lower limit.
constexpr double given_at_last = 1e-7, less_in_each = 1e-2, least_given = 1e-4;
constexpr double local = 1e-9;       // steps below it need no line search
constexpr int most_small_steps = 4;  // of size `local`: rounding still changes states
// Lack of a row, relative to the velocities at play, below which its state is that of its impulse.
constexpr double at_rest = 4e-15;
// Final slope of a line search, relative to the slope at its start.
constexpr double searched = 1e-8;
constexpr double rounding = 1e-14;  // and relative to the sum of the terms' magnitudes
constexpr int most_searches = 60;

double squared(const std::vector<double>& x) {
  return dot(x.data(), x.data(), static_cast<int>(x.size()));
}

// z = sum d_i f_i.
void add_up(const RowProblem& problem, const double* f, std::vector<double>& z) {
  make_zeros(z, problem.channels);
  for (const RowBlock& block : problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i)
      if (f[i] != 0) add_scaled(f[i], problem.rows[i].d, block.width, &z[block.first_channel]);
}

}  // namespace

double BoundedRows::part(int row) const {
  return creeps(problem_->rows[row]) ? part_of_friction : part_of_rows;
}

// Set compliances: `share` times those of the first pass, plus the rows' own.
void BoundedRows::set_share(double share) {
  for (std::size_t i = 0; i < R_.size(); ++i) {
    own_R_[i] = share * first_R_[i];
    R_[i] = problem_->rows[i].compliance + own_R_[i];
    stiffness_[i] = R_[i] > 0 ? 1 / R_[i] : 0;
  }
}

void BoundedRows::begin(const RowProblem& problem, const RowSizes& sizes) {
  problem_ = &problem;
  sizes_ = &sizes;
  const std::size_t m = problem.rows.size();
  R_.resize(m);
  stiffness_.resize(m);
  own_R_.resize(m);
  first_R_.resize(m);
  df_.resize(m);
  pushed_.resize(m);
  u_.resize(m);
  error_.resize(m);
  for (const RowBlock& block : problem.blocks)
    for_each_alike(block, [&](const int* alike, int count) {
      double a = 0;
      for (int n = 0; n < count; ++n)
        a += sizes.admittance[alike[n]] - problem.rows[alike[n]].compliance;
      for (int n = 0; n < count; ++n) {
        const std::size_t i = at(alike[n]);
        first_R_[i] = part(alike[n]) * (a / count);
      }
    });
  passes_ = 1;
  set_share(shares_[0] = 1);
  has_own_F_ = !problem.L.empty();
  if (has_own_F_) own_F_.factor(problem.L, problem.channels, problem.blocks);
  look_at(problem);
  // Build the envelope: all coordinates of one block are coupled.
  shape_.reset(F_->columns);
  for (std::size_t b = 0; b < problem.blocks.size(); ++b)
    for (int k = 0; k < F_->parts[b].count; ++k)
      shape_.reach(F_->places_of(b)[k], F_->places_of(b)[0]);
  shape_.finish();
  by_channels_.clear();
  first_by_channels_.clear();
  for (const RowBlock& block : problem.blocks) {
    first_by_channels_.push_back(by_channels_.size());
    for (int c = 0; c < block.width; ++c)
      for (int i = block.first_row; i < block.last_row; ++i)
        by_channels_.push_back(problem.rows[i].d[c]);
  }
  make_zeros(f_, m);
  make_zeros(bound, m);
  now_.pushes.assign(m, RowPush());
  now_.factored = now_.pushes;
  now_.bounds_follow = now_.is_any_at_bound = bounds_follow_ = false;
  given_ = nullptr;
  is_evaluated_ = is_factored_ = slides_ = is_held_ = false;
  iterations_ = 0;
}

// Compute w = D y, the velocities of rows due to those of channels.
void BoundedRows::along_rows(const double* y, std::vector<double>& w) const {
  make_zeros(w, problem_->rows.size());
  for (std::size_t b = 0; b < problem_->blocks.size(); ++b) {
    const RowBlock& block = problem_->blocks[b];
    const int rows = block.last_row - block.first_row;
    const double* d = by_channels_.data() + first_by_channels_[b];
    for (int c = 0; c < block.width; ++c, d += rows)
      add_scaled(y[block.first_channel + c], d, rows, w.data() + block.first_row);
  }
}

// Add D (y + F a) to w + low, in twice the precision except for one rounding of each channel. That
// rounding moves all rows of a block as one motion does. A rounding of each row would be divided
// by R.
void BoundedRows::add_motion(const std::vector<double>& a, std::vector<double>& w,
                             std::vector<double>& low) {
  const SmallMatrices& matrices = small_matrices();
  make_zeros(y_low_, y_.size());
  for (std::size_t b = 0; b < problem_->blocks.size(); ++b) {
    const RowBlock& block = problem_->blocks[b];
    const int count = F_->parts[b].count, rows = block.last_row - block.first_row;
    const int* const places = F_->places_of(b);
    double* const y = y_.data() + block.first_channel;
    a_of_block_.resize(count);
    for (int k = 0; k < count; ++k) a_of_block_[k] = a[places[k]];
    matrices.add_doubled(F_->values_of(b), count, block.width, a_of_block_.data(), y,
                         y_low_.data() + block.first_channel);
    for (int c = 0; c < block.width; ++c) y[c] += y_low_[block.first_channel + c];
    matrices.add_doubled(by_channels_.data() + first_by_channels_[b], block.width, rows, y,
                         w.data() + block.first_row, low.data() + block.first_row);
  }
}

// Velocities of rows due to impulses alone.
void BoundedRows::velocities(const std::vector<double>& f, std::vector<double>& w,
                             std::vector<double>& low) {
  add_up(*problem_, f.data(), z_);
  F_->gather(problem_->blocks, z_.data(), g_);
  make_zeros(y_, problem_->channels);
  make_zeros(w, f.size());
  make_zeros(low, f.size());
  add_motion(g_, w, low);
}

// Compute the velocities at f_, and the velocities at play.
void BoundedRows::evaluate() {
  if (is_evaluated_) return;
  const RowProblem& problem = *problem_;
  add_up(problem, f_.data(), z_);
  F_->gather(problem.blocks, z_.data(), a_);
  y_ = problem.y_free;
  w_.resize(f_.size());
  make_zeros(low_, f_.size());
  scale_ = sizes_->still;
  for (std::size_t i = 0; i < f_.size(); ++i) {
    w_[i] = -problem.rows[i].target;
    scale_ = std::max(scale_, sizes_->admittance[i] * std::abs(f_[i]));
  }
  add_motion(a_, w_, low_);
  is_evaluated_ = true;
}

// Compute the pushes of rows at the velocities of f_, and the lack of f_. Friction comes last, as
// its bounds may follow the normals: at f_ plus its lack, which is more accurate than the impulse
// from the velocities. Return true if there is no factor, or its states differ.
bool BoundedRows::set_pushes() {
  bool is_new = !is_factored_;
  is_met_ = true;
  slides_ = false;
  slowest_ = std::numeric_limits<double>::infinity();
  for (const bool is_friction : {false, true})
    for_each_push([&](const RowBlock&, int i, int rows) {
      const ConstraintRow& row = problem_->rows[i];
      if ((row.kind == RowKind::friction) != is_friction) return;
      if (is_friction && bounds_follow_)
        for (int k = i; k < i + rows; ++k)
          bound[k] = row.mu * std::max(f_[row.normal] + pushed_[row.normal], 0.0);
      set_push(i, rows, is_new);
    });
  return is_new;
}

void BoundedRows::set_push(int i, int rows, bool& is_new) {
  // Velocity u_ of the row, and the lack R f + u in twice the precision.
  const double slack = at_rest * scale_;
  double asked[2], lacks[2];
  bool lacks_any = false;
  for (int k = 0; k < rows; ++k) {
    double sum = w_[i + k], rest = low_[i + k];
    if (given_) add_product(-own_R_[i + k], given_[i + k], sum, rest);
    u_[i + k] = sum + rest;
    add_product(R_[i + k], f_[i + k], sum, rest);
    lacks[k] = sum + rest;
    lacks_any |= std::abs(lacks[k]) > slack;
  }
  const bool can_move = stiffness_[i] > 0;
  for (int k = 0; k < rows; ++k)
    asked[k] = lacks_any && can_move ? -u_[i + k] * stiffness_[i + k] : f_[i + k];
  // Friction that leaves a bound following its normal by rounding alone stays there, for example
  // after other rows have brought it to rest.
  if (bounds_follow_ && can_move && is_at_bound(problem_->rows[i], now_.factored[i])) {
    const double size = rows == 2 ? length(asked[0], asked[1]) : std::abs(asked[0]);
    const double rounding_of_asked = slack * stiffness_[i];
    for (int k = 0; k < rows && size > 0; ++k) asked[k] *= 1 + rounding_of_asked / size;
  }
  const RowPush& push = now_.pushes[i] =
      row_push(problem_->rows[i], asked, stiffness_[i], bound[i]);
  is_new = is_new || push.state != now_.factored[i].state;
  if (push.state == State::slides) {
    slides_ = true;
    slowest_ = std::min(slowest_, length(u_[i], u_[i + 1]));
  }
  for (int k = 0; k < rows; ++k) {
    pushed_[i + k] =
        push.state == State::linear ? -lacks[k] * push.gives[0] : push.f[k] - f_[i + k];
    is_met_ &= pushed_[i + k] == 0;
  }
}

double BoundedRows::drawn(const Linearized& here, int i) const {
  const ConstraintRow& row = problem_->rows[i];
  if (!here.bounds_follow || !is_at_bound(row, here.factored[i])) return 0;
  return row.mu * here.factored[row.normal].gives[0];
}

// Add F^T H F of a block to the rows and columns of its coordinates.
template <int width>
void BoundedRows::add_hessian(std::size_t b, Linearized& here) {
  // H of the block.
  const RowBlock& block = problem_->blocks[b];
  double H[width][width] = {};
  bool any = false, is_symmetric = true;
  for (int i = block.first_row; i < block.last_row; ++i) {
    const double *const gives = here.pushes[i].gives, *const d = problem_->rows[i].d;
    const bool is_disc = problem_->rows[i].is_disc;
    const double by = drawn(here, i);
    if (gives[0] == 0 && gives[2] == 0 && by == 0) {
      i += is_disc;
      continue;
    }
    any = true;
    const double* const e = problem_->rows[i + is_disc].d;
    if (by != 0) {  // effect of the normal on the bound
      is_symmetric = false;
      const PushDirection along(here.pushes[i]);
      const double* const normal = problem_->rows[problem_->rows[i].normal].d;
      for (int r = 0; r < width; ++r) {
        const double pushed = by * (along.x[0] * d[r] + (is_disc ? along.x[1] * e[r] : 0));
        for (int c = 0; c < width; ++c) H[r][c] += pushed * normal[c];
      }
    }
    if (!is_disc) {
      for (int r = 0; r < width; ++r)
        for (int c = 0; c < width; ++c) H[r][c] += gives[0] * d[r] * d[c];
      continue;
    }
    ++i;
    for (int r = 0; r < width; ++r) {
      const double of_d = gives[0] * d[r] + gives[1] * e[r],
                   of_e = gives[1] * d[r] + gives[2] * e[r];
      for (int c = 0; c < width; ++c) H[r][c] += of_d * d[c] + of_e * e[c];
    }
  }
  if (!any) return;
  // Columns of H F, and their products with F.
  const int count = F_->parts[b].count;
  const int* const places = F_->places_of(b);
  const double* const F = F_->values_of(b);
  HF_.resize(at(width * count));
  for (int k = 0; k < count; ++k)
    for (int r = 0; r < width; ++r) {
      double sum = 0;
      for (int c = 0; c < width; ++c) sum += H[r][c] * F[k * width + c];
      HF_[k * width + r] = sum;
    }
  const bool has_upper = !here.upper.empty();
  for (int i = 0; i < count; ++i) {
    const int first = shape_.first(places[i]);
    double* const row = shape_.row(here.factor.data(), places[i]) - first;
    for (int k = 0; k <= i; ++k) row[places[k]] += dot(F + i * width, &HF_[k * width], width);
    if (!has_upper) continue;
    double* const column = shape_.row(here.upper.data(), places[i]) - first;
    for (int k = 0; k < i; ++k)
      column[places[k]] += is_symmetric ? dot(F + i * width, &HF_[k * width], width)
                                        : dot(F + k * width, &HF_[i * width], width);
  }
}

// Factor 1 + F^T H F at the present pushes.
bool BoundedRows::factor(Linearized& here) {
  const RowProblem& problem = *problem_;
  here.factored = here.pushes;
  here.is_any_at_bound = false;
  bool is_symmetric = true;
  for_each_push([&](const RowBlock&, int i, int) {
    here.is_any_at_bound |= is_at_bound(problem.rows[i], here.pushes[i]);
    is_symmetric &= drawn(here, i) == 0;
  });
  std::vector<double>& A = here.factor;
  make_zeros(A, shape_.size());
  make_zeros(here.upper, is_symmetric ? 0 : shape_.size());
  for (int i = 0; i < shape_.rows(); ++i) shape_.row(A.data(), i)[i - shape_.first(i)] = 1;
  for (std::size_t b = 0; b < problem.blocks.size(); ++b)
    with_width(problem.blocks[b].width, [&](auto width) { add_hessian<width>(b, here); });
  here.regularity =
      is_symmetric ? shape_.factor(A.data()) : shape_.factor(A.data(), here.upper.data());
  return here.regularity > 0;
}

// Also computes da_ and dw_.
void BoundedRows::respond(const Linearized& here, const std::vector<double>& pushed,
                          std::vector<double>& change, bool is_transposed) {
  add_up(*problem_, pushed.data(), z_);
  F_->gather(problem_->blocks, z_.data(), g_);
  da_ = g_;
  const double *const lower = here.factor.data(), *const upper = here.upper.data();
  if (here.upper.empty())
    shape_.solve(lower, da_.data());
  else if (is_transposed)
    shape_.solve_transposed(lower, upper, da_.data());
  else
    shape_.solve(lower, upper, da_.data());
  make_zeros(dy_, z_.size());
  F_->add_motion(problem_->blocks, da_.data(), dy_.data());
  along_rows(dy_.data(), dw_);

  change.resize(pushed.size());
  for_each_push([&](const RowBlock&, int i, int rows) {
    double df[2] = {};
    give(here.factored[i], rows, &dw_[i], df);
    if (const double by = drawn(here, i); by != 0) {  // its normal precedes it
      const PushDirection along(here.factored[i]);
      const std::size_t normal = at(problem_->rows[i].normal);
      for (int k = 0; k < rows; ++k)
        if (is_transposed)
          change[normal] -= by * along.x[k] * dw_[i + k];
        else
          df[k] += along.x[k] * (by * dw_[normal]);
    }
    for (int k = 0; k < rows; ++k) change[i + k] = pushed[i + k] - df[k];
  });
}

// Value of the potential at `a`, where rows have the velocities u.
double BoundedRows::potential(const std::vector<double>& a, const std::vector<double>& u) const {
  double sum = 0.5 * squared(a);
  for_each_push([&](const RowBlock&, int i, int rows) {
    if (!(stiffness_[i] > 0)) return;
    double asked[2];
    for (int k = 0; k < rows; ++k) asked[k] = -u[i + k] * stiffness_[i + k];
    const RowPush push = row_push(problem_->rows[i], asked, stiffness_[i], bound[i]);
    sum += row_potential(push, asked, rows, R_[i]);
  });
  return sum;
}

// Many small steps would lead from sliding to sticking, one row after the other.
void BoundedRows::start_holding(const std::vector<RowPush>* before) {
  is_held_ = false;
  // Velocities of rows without impulses.
  along_rows(problem_->y_free.data(), there_);
  for (std::size_t i = 0; i < there_.size(); ++i) there_[i] -= problem_->rows[i].target;
  f_before_ = f_;
  for_each_push([&](const RowBlock&, int i, int rows) {
    const ConstraintRow& row = problem_->rows[i];
    const double stiffness = stiffness_[i];
    bool holds = stiffness > 0;
    double pushes = 0;
    if (row.kind == RowKind::friction)
      holds &= bound[i] > 0;
    else if (before)
      holds &= (*before)[i].state == State::linear;
    else if (row.kind == RowKind::unilateral)
      holds &= there_[i] < 0;
    if (before && !holds && row.kind == RowKind::box) pushes = (*before)[i].f[0];
    RowPush& push = now_.pushes[i] = RowPush();
    if (holds) {
      push.state = State::linear;
      push.gives[0] = push.gives[2] = stiffness;
    }
    for (int k = 0; k < rows; ++k) pushed_[i + k] = holds ? -there_[i + k] * stiffness : pushes;
  });
  if (!factor()) return;
  respond(now_, pushed_, f_);
  is_evaluated_ = false;
  is_held_ = true;
}

// Compare the potential at the impulses of start_holding, which are evaluated, with that at the
// impulses before. Return true if the former is lower; else restore the latter.
bool BoundedRows::is_nearer_held() {
  const double of_held = potential(a_, u_);
  std::swap(f_, f_before_);
  is_evaluated_ = false;
  evaluate();
  if (!(of_held < potential(a_, w_))) return is_factored_ = false;
  std::swap(f_, f_before_);
  is_evaluated_ = false;
  evaluate();
  return true;
}

// Exact line search: return the step along da_ at which the slope of the potential vanishes. u_
// moves by dw_.
double BoundedRows::search() {
  double least = 0, most = -1, t = 1;
  const double slope_at_start = -dot(g_.data(), da_.data(), F_->columns),
               curvature_of_a = squared(da_);
  double of_a = 0, size_of_a = 0;
  for (std::size_t i = 0; i < a_.size(); ++i) {
    of_a += a_[i] * da_[i];
    size_of_a += std::abs(a_[i] * da_[i]);
  }
  for (int n = 0; n < most_searches && slope_at_start < 0; ++n) {
    double slope = t * curvature_of_a + of_a, curvature = curvature_of_a, noise = size_of_a;
    for_each_push([&](const RowBlock&, int i, int rows) {
      if (!(stiffness_[i] > 0)) return;
      double asked[2], df[2];
      for (int k = 0; k < rows; ++k) asked[k] = -(u_[i + k] + t * dw_[i + k]) * stiffness_[i + k];
      const RowPush push = row_push(problem_->rows[i], asked, stiffness_[i], bound[i]);
      give(push, rows, &dw_[i], df);
      for (int k = 0; k < rows; ++k) {
        const double by = push.f[k] * dw_[i + k];
        slope -= by;
        curvature += df[k] * dw_[i + k];
        noise += std::abs(by) +
                 at_rest / rounding * scale_ * push.gives[k == 0 ? 0 : 2] * std::abs(dw_[i + k]);
      }
    });
    if (std::abs(slope) <= searched * std::abs(slope_at_start) + rounding * noise) break;
    (slope > 0 ? most : least) = t;
    const double next = t - slope / curvature;
    if (most < 0)
      t = std::max(next, 2 * t);
    else
      t = next > least && next < most ? next : 0.5 * (least + most);
  }
  return t;
}

const BoundedRows::Ends& BoundedRows::ends(bool is_rough) const {
  if (is_rough) return on_the_way;
  return passes_ < passes ? before_pass : at_rounding;
}

bool BoundedRows::minimize(bool is_rough) {
  let_bounds_follow(false);
  turned_ = std::numeric_limits<double>::infinity();  // bounds may have changed
  return settle(ends(is_rough), passes_ == 1 ? direct_iterations : max_iterations);
}

// The states of many discs may oscillate. High compliance smooths the transition from sliding
// to sticking.
bool BoundedRows::minimize_by_stages() {
  for (double share = most_given; share > 1; share *= less_in_stage) {
    let_give(share);
    minimize(true);  // an unconverged minimum is a worse start for the next
  }
  let_give(1);
  return settle(before_pass, max_iterations);
}

void BoundedRows::let_give(double share) {
  R_before_ = R_;
  set_share(shares_[0] = share);
  for_each_push([&](const RowBlock&, int i, int rows) {
    RowPush& push = now_.pushes[i];
    for (int k = i; k < i + rows; ++k) pushed_[k] = 0;
    if (push.state != State::linear || !(stiffness_[i] > 0)) return;
    push.gives[0] = stiffness_[i];
    if (rows == 2) push.gives[2] = stiffness_[i];
    for (int k = i; k < i + rows; ++k) pushed_[k] = (R_before_[k] / R_[k] - 1) * f_[k];
  });
  is_evaluated_ = false;
  if (!factor()) return;
  respond(now_, pushed_, df_);
  if (!std::all_of(df_.begin(), df_.end(), [](double df) { return std::isfinite(df); })) return;
  for (std::size_t i = 0; i < f_.size(); ++i) f_[i] += df_[i];
}

// Newton's method from the present impulses, with rows compliant around `given_`.
bool BoundedRows::settle(const Ends& ends, int most_iterations) {
  int small_steps = 0;
  double unlearned = 1, first_step = 0;
  // Size of the last step, relative to the velocities at play, if it was a full step. After
  // start_holding the impulses are exact up to rounding of the factor.
  const bool is_held = std::exchange(is_held_, false);
  double step = is_held ? ends.step : 1;
  for (int n = 0; n < most_iterations; ++n) {
    evaluate();
    bool is_new = set_pushes();
    if (is_new && n == 0 && is_held && !is_nearer_held()) {
      is_new = set_pushes();
      step = 1;
    }
    // Stop if converged, or if only rounding still changes states.
    const bool is_last = step <= ends.step && !is_new &&
                         (!slides_ || (step * turned_ <= ends.left && unlearned <= ends.unlearned));
    small_steps += step <= local;
    if (is_last || is_met_ || step <= at_rest || small_steps == most_small_steps)
      return !is_new || factor();
    if (is_new) unlearned = 1;
    // Factor if states or sliding directions have changed, and compute the Newton step.
    if ((is_new || (slides_ && turned_ > ends.turned)) && !factor()) return false;
    respond(now_, pushed_, df_);
    ++iterations_;
    double largest = 0;
    for (std::size_t i = 0; i < f_.size(); ++i) {
      const double move = sizes_->admittance[i] * std::abs(df_[i]);
      if (!std::isfinite(move)) return false;
      largest = std::max(largest, move);
    }
    step = largest / std::max(scale_, std::numeric_limits<double>::min());
    if (n == 0) first_step = step;
    if (bounds_follow_ && step > farther * first_step) return false;
    // Shorten the step by a line search, except near the solution and with bounds that follow
    // the normals.
    if (step > local && !bounds_follow_) {
      const double t = search();
      if (std::abs(t - 1) > 1e-3) step = 1;
      for (double& df : df_) df *= t;
    }
    if (slides_) {
      turned_ += step * scale_ / slowest_;
      unlearned *= std::min(turned_, 1.0);
    }
    for (std::size_t i = 0; i < f_.size(); ++i) f_[i] += df_[i];
    is_evaluated_ = false;
  }
  return false;
}

bool BoundedRows::begin_pass() {
  double share = 1;
  if (passes_ >= passes) {
    bool gives_much = false;
    for (std::size_t i = 0; i < f_.size(); ++i)
      gives_much |= own_R_[i] * std::abs(f_[i] - given_[i]) > given_at_last * sizes_->still;
    if (!gives_much || passes_ == most_passes) return false;
    share = std::max(less_in_each * shares_[passes_ - 1], least_given);
  }
  from_[passes_ - 1] = f_;
  kept_[passes_ - 1] = now_;
  given_ = from_[passes_ - 1].data();
  shares_[passes_] = share;
  if (share != shares_[passes_ - 1]) {
    set_share(share);
    is_factored_ = false;
  }
  ++passes_;
  return true;
}

// The factor of friction at its bound depends on `follow`.
void BoundedRows::let_bounds_follow(bool follow) {
  bounds_follow_ = follow;
  if (now_.bounds_follow != follow && now_.is_any_at_bound) is_factored_ = false;
  now_.bounds_follow = follow;
}

bool BoundedRows::follow_normals() {
  f_before_ = f_;
  bound_before_ = bound;
  pushes_before_ = now_.pushes;
  let_bounds_follow(true);
  const bool is_found = settle(ends(shares_[0] > 1), most_following);
  bounds_follow_ = false;
  if (is_found) return true;
  f_ = f_before_;
  bound = bound_before_;
  now_.pushes = pushes_before_;
  is_evaluated_ = is_factored_ = false;
  return false;
}

void BoundedRows::aim_at_normals(const std::vector<int>& holding, std::vector<double>& change) {
  // Let friction that sticks too much slide at its present impulse.
  for (const int i : holding) {
    RowPush& push = now_.pushes[i];
    const bool is_disc = problem_->rows[i].is_disc;
    const double size = is_disc ? length(f_[i], f_[i + 1]) : std::abs(f_[i]);
    bound[i] = size;
    if (is_disc) bound[i + 1] = size;
    if (push.state != State::linear || !(size > 0)) continue;
    push = RowPush();
    if (is_disc)
      push = sliding_push(&f_[i], size, size, stiffness_[i]);
    else
      push.state = f_[i] > 0 ? State::upper : State::lower;
  }
  // Distance of the bounds from mu f_n, and the response to it.
  make_zeros(pushed_, f_.size());
  bool any = false;
  for_each_push([&](const RowBlock&, int i, int rows) {
    const ConstraintRow& row = problem_->rows[i];
    if (!is_at_bound(row, now_.pushes[i])) return;
    any = true;
    const PushDirection along(now_.pushes[i]);
    const double lack = row.mu * std::max(f_[row.normal], 0.0) - bound[i];
    for (int k = 0; k < rows; ++k) pushed_[i + k] = along.x[k] * lack;
  });
  make_zeros(change, f_.size());
  if (!any) return;
  now_.bounds_follow = true;
  if (!factor() || now_.regularity <= least_regularity) return void(is_factored_ = false);
  respond(now_, pushed_, change);
}

}  // namespace robosim
