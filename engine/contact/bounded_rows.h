// Slightly compliant rows with given bounds of friction: one convex problem with a unique solution.
// From a start near the solution, bounds may also follow the normals.
//
// Every row has, besides its own compliance, a small part of an admittance as compliance:
//   R_i = compliance_i + part mean_j d_j . L d_j    (j: i; both axes of a disc; a block's normals)
// Linearly dependent rows thus share their impulses in a unique way. The normals of two bodies are
// equally compliant. Friction is a hundred times as compliant, so it carries a hundredth of the
// impulse that a normal in its place would. The velocities minimize
//   1/2 |a|^2 + sum_i potential_i(d_i . y - t_i),   y = y_free + F a,  F F^T = L
//                                                   (row_potential.h, channel_factor.h)
// by Newton's method with an exact line search. With f the impulses of the rows, and f + pushed the
// impulses that the row potentials require at the velocities due to f, a step is
//   (1 + F^T H F) da = F^T D^T pushed,   df = pushed - H D F da,   H = sum_i d_i (-df_i/du_i) d_i^T
// The method iterates on impulses, which are thus accurate to rounding, redundant rows included.
// The lack of impulse, `pushed`, is computed in twice the precision, as it is divided by R. The
// factor is kept while no row changes its state.
//
// Bounds may follow the normals instead, at mu f_n. H then includes the effect of normals on
// friction at its bound. It is not symmetric, and there is no potential. Newton's method without a
// line search finds impulses and bounds together if it starts near them.
//
// After the first pass, rows are compliant around the impulses f' that they have,
//   w + compliance f + (R - compliance) (f - f') = 0
// Three such passes follow the first one. Each pass is a problem with bounds of its own that begins
// at the solution of the previous pass (the proximal point method: Rockafellar, SIAM J. Control
// Optim. 14, 1976). What remains of `part` is how rows share impulses, and the compliance of nearly
// dependent rows. Where that compliance is large, more passes with smaller compliance follow. An
// example is a light body between heavy ones, whose rows are compliant in proportion to the
// admittance of the light body. A change in the number of passes changes velocities by less than
// 1e-7 of the velocities without impulses.
#pragma once

#include <vector>

#include "base/index.h"
#include "base/linalg/envelope.h"
#include "base/linalg/zeros.h"
#include "contact/channel_factor.h"
#include "contact/row_potential.h"
#include "contact/rows.h"

namespace robosim {

class BoundedRows {
 public:
  // Number of passes, and the largest number for rows that remain very compliant. Rows are
  // compliant around zero impulse in the first pass, and then around the impulses that they have.
  static constexpr int passes = 4, most_passes = 12;
  // Factor of the compliance in the first stage of a search by stages, and its decrease from stage
  // to stage.
  static constexpr double most_given = 1e4, less_in_stage = 0.3;

  // Set the problem, whose sizes are measured, with all impulses zero.
  void begin(const RowProblem& problem, const RowSizes& sizes);
  // Set the address of the same problem, which may have moved in memory.
  void look_at(const RowProblem& problem) {
    problem_ = &problem;
    F_ = has_own_F_ ? &own_F_ : &problem.F;
  }
  // Move to the impulses at which all likely rows are active: approaching unilateral rows, rows
  // between their bounds, and friction. The next minimization reverts the move unless it decreases
  // the potential. before: states with other bounds, if known; then the rows active there are
  // active here.
  void start_holding(const std::vector<RowPush>* before);
  // Set the compliance of the current first pass to `share` times its regular value, and move to
  // the balance of impulses at unchanged states.
  void let_give(double share);
  // Find the minimum of the current pass, from the present impulses. Return false if it is not
  // found. A rough minimum only guides the search, and may be any iterate.
  bool minimize(bool is_rough = false);
  // Find the minimum of the first pass by stages of decreasing compliance.
  bool minimize_by_stages();
  // Find the minimum with bounds that follow the normals, by Newton steps without a line search,
  // and set `bound` to the bounds there. If a few steps do not converge, restore everything and
  // return false.
  bool follow_normals();
  // Compute the first-order change of impulses as bounds move to mu f_n of the normals: the bounds
  // of sliding friction, and of the sticking friction rows `holding`. The latter count as sliding
  // until the next `minimize`, at bounds equal to their present impulses. The change is zero if the
  // normals agree with other bounds as well.
  void aim_at_normals(const std::vector<int>& holding, std::vector<double>& change);
  // Begin the next pass. Return false if rows are stiff enough, or after most_passes.
  bool begin_pass();

  int iterations() const { return iterations_; }
  double scale() const { return scale_; }  // velocities at play, at the present impulses
  double admittance(int row) const { return sizes_->admittance[row]; }
  const std::vector<double>& f() const { return f_; }  // rows
  // Push of a row, or of a disc by its first row.
  const RowPush& push(int row) const { return now_.pushes[row]; }
  const std::vector<RowPush>& pushes() const { return now_.pushes; }
  const std::vector<RowPush>& pushes_of_pass(int pass) const { return of_pass(pass).pushes; }
  double part(int row) const;
  // Call use(rows, count) for each group of rows of a block that are equally compliant, by the mean
  // of their admittances.
  template <class Use>
  void for_each_alike(const RowBlock& block, const Use& use) {
    const RowProblem& problem = *problem_;
    std::vector<int>& normals = alike_;
    normals.clear();
    for (int i = block.first_row; i < block.last_row; ++i) {
      if (problem.rows[i].kind == RowKind::unilateral) {
        normals.push_back(i);
        continue;
      }
      const int alike[] = {i, i + 1}, count = problem.rows[i].is_disc ? 2 : 1;
      use(alike, count);
      i += count - 1;
    }
    if (!normals.empty()) use(normals.data(), static_cast<int>(normals.size()));
  }

  // Update the factors to the solution, as `add_adjoint` requires. bounds_follow: bounds follow the
  // normals. Return false if the normals agree with other bounds as well.
  bool linearize(bool bounds_follow);

  // Gradient of a loss. With respect to the velocities of rows it is -mu in each pass. The
  // others are sums over all passes: with respect to compliances, to the part of R that acts
  // around earlier impulses, to the active bounds of boxes (as distance from zero), and to
  // friction coefficients.
  struct Adjoint {
    std::vector<double> mu[most_passes];                                   // of each pass, by rows
    std::vector<double> bound_bar, compliance_bar, own_bar, friction_bar;  // rows

    void set_zero(std::size_t rows) {
      for (std::vector<double>& each : mu) make_zeros(each, rows);
      for (std::vector<double>* each : {&bound_bar, &compliance_bar, &own_bar, &friction_bar})
        make_zeros(*each, rows);
    }
  };
  // Passes of the last solution, and the impulses of each.
  int n_passes() const { return passes_; }
  const std::vector<double>& f_of_pass(int pass) const {
    return pass == passes_ - 1 ? f_ : from_[pass];
  }
  // Add the gradient of a loss that changes by f_hat with the impulses at fixed velocities.
  void add_adjoint(const std::vector<double>& f_hat, Adjoint& adjoint);
  // Compute w = d . L sum_i d_i f_i. With `low` it has twice the precision, except for one rounding
  // of each number of columns and channels, which all rows of a block share (add_motion).
  void velocities(const std::vector<double>& f, std::vector<double>& w, std::vector<double>& low);

  // Call use(block, row, rows) for each row, or once for the two rows of a disc.
  template <class Use>
  void for_each_push(const Use& use) const {
    for (const RowBlock& block : problem_->blocks)
      for (int i = block.first_row; i < block.last_row; ++i) {
        const bool is_disc = problem_->rows[i].is_disc;
        use(block, i, is_disc ? 2 : 1);
        i += is_disc;
      }
  }

  std::vector<double> bound;  // rows: bounds of friction

 private:
  // State of a pass at its minimum: the pushes of its rows, and the factor of 1 + F^T H F at
  // the pushes when it was computed. Sliding directions have turned a little since. If bounds
  // follow the normals, H includes the effect of normals on friction, and there is an upper
  // factor as well.
  struct Linearized {
    std::vector<RowPush> pushes, factored;
    bool bounds_follow = false, is_any_at_bound = false;  // of friction; any friction at its bound
    std::vector<double> factor, upper;
    double regularity = 1;  // smallest pivot, relative to the terms of its sum
  };
  static constexpr double least_regularity = 1e-10;
  const Linearized& of_pass(int pass) const { return pass == passes_ - 1 ? now_ : kept_[pass]; }
  // Compute the change of impulses at fixed states as `pushed` is added to them, reduced by the
  // response to the resulting motion. is_transposed: multiply by the transpose of that map instead.
  void respond(const Linearized& here, const std::vector<double>& pushed,
               std::vector<double>& change, bool is_transposed = false);
  void add_motion(const std::vector<double>& a, std::vector<double>& w, std::vector<double>& low);
  void evaluate();
  // Tolerances at which Newton's method ends: after a full step of at most `step`, relative to the
  // velocities at play. With an unchanged factor each step leaves 1e-8 of the one before, so the
  // next one is below rounding. Where discs slide, a step leaves a fraction of itself, and of the
  // error in the derivative of the impulses. That fraction is the rotation of slip directions since
  // the factorization. `left` and `unlearned` bound the two remainders. The factor is recomputed
  // after a rotation of more than `turned`. Tolerances are looser before another pass, in which
  // rows keep a part of 1e-4, and for rough minima.
  struct Ends {
    double step, left, unlearned, turned;
  };
  static constexpr Ends at_rounding{1e-7, 1e-15, 1e-9, 1e-6}, before_pass{1e-3, 1e-11, 1e-6, 1e-3},
      on_the_way{1e-2, 1e-4, 1, 1e-3}, before_stage{1e-1, 1e100, 1, 1e-3};
  const Ends& ends(bool is_rough) const;  // for a minimum of the current pass
  bool settle(const Ends& ends, int most_iterations);
  void set_share(double share);
  bool set_pushes();
  void set_push(int i, int rows, bool& is_new);
  void let_bounds_follow(bool follow);
  // Return mu (-df_n/du_n) for friction at a bound that follows its normal: the rate of the bound
  // with the normal's velocity. Zero for other rows, and for given bounds.
  double drawn(const Linearized& here, int row) const;
  template <int width>
  void add_hessian(std::size_t block, Linearized& here);
  bool factor(Linearized& here);
  bool factor() {
    turned_ = 0;
    return is_factored_ = factor(now_);
  }
  double search();
  bool is_nearer_held();
  void along_rows(const double* y, std::vector<double>& w) const;
  void solve_adjoint(const Linearized& here, const std::vector<double>& f_hat,
                     std::vector<double>& mu);
  double potential(const std::vector<double>& a, const std::vector<double>& u) const;

  const RowProblem* problem_ = nullptr;
  const RowSizes* sizes_ = nullptr;
  const ChannelFactor* F_ = nullptr;
  ChannelFactor own_F_;  // of a problem that has L instead
  bool has_own_F_ = false;
  Envelope shape_;  // of 1 + F^T H F
  // Coefficients of each block's rows, channel by channel, and their offsets.
  std::vector<double> by_channels_;
  std::vector<std::size_t> first_by_channels_;
  std::vector<double> R_;             // rows: total compliances
  std::vector<double> stiffness_;     // their reciprocals; zero where nothing moves the row
  std::vector<double> own_R_;         // the part of R that acts around given_
  std::vector<double> first_R_;       // own_R_ of the first pass
  double shares_[most_passes] = {1};  // own_R_ / first_R_ of each pass
  double scale_ = 0;                  // velocities at play
  int iterations_ = 0;

  std::vector<double> f_, w_, low_;  // rows
  bool is_evaluated_ = false;        // w_ belongs to f_
  std::vector<double> z_, a_, a_of_block_, y_, y_low_;
  int passes_ = 1;
  std::vector<double> from_[most_passes - 1];  // impulses around which rows were compliant last
  const double* given_ = nullptr;              // those of the current pass; null in the first
  std::vector<double> u_;                      // rows: w less the part due to given_
  Linearized now_, kept_[most_passes - 1];
  std::vector<RowPush> pushes_before_;
  std::vector<double> pushed_;  // lack of impulses at the velocities due to them
  bool bounds_follow_ = false;  // bounds follow the normals
  bool is_met_ = false;         // no impulse lacks anything
  bool slides_ = false;         // any disc slides
  double slowest_ = 0;          // lowest slip speed of discs
  // Largest rotation of a sliding direction since the factorization [rad].
  double turned_ = 0;
  std::vector<double> HF_;  // of one block
  std::vector<int> alike_;
  bool is_factored_ = false;
  bool is_held_ = false;  // f_ is from start_holding; f_before_ is from before
  std::vector<double> g_, da_, dy_, dw_, df_, error_, mu_, there_, f_before_, bound_before_,
      R_before_, f_bar_;
};

}  // namespace robosim
