// Rows that give a little, with bounds of friction that are known: one convex problem, whose
// solution is unique. And with bounds that follow the normals, from near the solution.
//
// Every row gives a little beside its own compliance, by a part of an admittance,
//   R_i = compliance_i + part mean_j d_j . L d_j    (j: i; both axes of a disc; a block's normals)
// so that rows that depend on each other share what they push in one way alone: normals of two
// bodies alike, and friction, which gives a hundred times as much, carries a hundredth of what a
// normal in its place would. The velocities minimize
//   1/2 |a|^2 + sum_i potential_i(d_i . y - t_i),   y = y_free + F a,  F F^T = L
//                                                   (row_potential.h, channel_factor.h)
// by Newton's method with an exact line search: with the impulses f that rows have, and f + pushed
// those that they should have at the velocities that f makes,
//   (1 + F^T H F) da = F^T D^T pushed,   df = pushed - H D F da,   H = sum_i d_i (-df_i/du_i) d_i^T
// Impulses are what is iterated, as each is told to rounding so, redundant rows included; what rows
// lack is told in twice the precision, as it is divided by R. Where no row changes its state, the
// factor stays.
//
// Bounds may follow the normals instead, at mu f_n: H then has what normals do to friction at its
// bound, is not symmetric, and belongs to no potential. Without a search Newton's method finds
// impulses and bounds together, from where it is near to them.
//
// Then rows give again, from the impulses f' that they have,
//   w + compliance f + (R - compliance) (f - f') = 0
// three times, each a problem with bounds of its own that begins where the last one ended: a pass.
// Nothing is left then of `part` but how rows share, and what rows give that all but depend on each
// other (the proximal point method: Rockafellar, SIAM J. Control Optim. 14, 1976). Where that is
// much, as of a light body between heavy ones, whose rows give by the light one's admittance, more
// passes follow in which rows give less. Where their number changes, velocities change by less than
// 1e-7 of those without impulses.
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
  // Rows give from no impulse, then from those that they have: in so many passes, and in more
  // where they give much.
  static constexpr int passes = 4, most_passes = 12;
  // By how much more rows give in the first stage of a search by stages, and by how much less in
  // each from then on.
  static constexpr double most_given = 1e4, less_in_stage = 0.3;

  // Takes a problem whose sizes are measured; no row pushes.
  void begin(const RowProblem& problem, const RowSizes& sizes);
  // The same problem, which may have moved in memory since.
  void look_at(const RowProblem& problem) {
    problem_ = &problem, F_ = has_own_F_ ? &own_F_ : &problem.F;
  }
  // Goes on from where all does that is likely to hold, if that is nearer to the solution: what
  // comes nearer, what is between bounds, and friction. before: the pushes of other bounds, if
  // known: what pushed is what holds.
  void start_holding(const std::vector<RowPush>* before);
  // Lets rows give by so many times what they give in the first pass, which is under way; from
  // where they balance then, if none changes its state.
  void let_give(double share);
  // The minimum of the pass under way, from the impulses that rows have; false where it is not
  // found. A rough one only shows the way, and may be any point on it.
  bool minimize(bool is_rough = false);
  // That of the first pass, by rows that give much, and then less and less.
  bool minimize_by_stages();
  // The same where bounds follow the normals, in steps of Newton's method without a search: false,
  // and all is as it was, where a few of these do not end. `bound` is that of the minimum.
  bool follow_normals();
  // Fills the change of impulses, to first order, with bounds that go to mu f_n of the normals, of
  // what slides and of these rows of friction, which hold: they count as sliding until the next
  // `minimize`, and their bounds are what they hold by. Zero where normals agree with other bounds
  // as well.
  void aim_at_normals(const std::vector<int>& holding, std::vector<double>& change);
  // The next pass begins; false where rows have given enough.
  bool begin_pass();

  int iterations() const { return iterations_; }
  double scale() const { return scale_; }  // velocities at play, at the impulses
  double admittance(int row) const { return sizes_->admittance[at(row)]; }
  const std::vector<double>& f() const { return f_; }  // rows
  // Push of a row, or of the disc of which it is the first.
  const RowPush& push(int row) const { return now_.pushes[at(row)]; }
  const std::vector<RowPush>& pushes() const { return now_.pushes; }
  const std::vector<RowPush>& pushes_of_pass(int pass) const { return of_pass(pass).pushes; }
  double part(int row) const;
  // use(rows, count): of a block's rows those that give alike, by the mean of their admittances.
  template <class Use>
  void for_each_alike(const RowBlock& block, const Use& use) {
    const RowProblem& problem = *problem_;
    std::vector<int>& normals = alike_;
    normals.clear();
    for (int i = block.first_row; i < block.last_row; ++i) {
      if (problem.rows[at(i)].kind == RowKind::unilateral) {
        normals.push_back(i);
        continue;
      }
      const int alike[] = {i, i + 1}, count = problem.rows[at(i)].is_disc ? 2 : 1;
      use(alike, count);
      i += count - 1;
    }
    if (!normals.empty()) use(normals.data(), static_cast<int>(normals.size()));
  }

  // Makes the factors those of the solution, as `add_adjoint` needs them. bounds_follow: the
  // normals. False where normals agree with other bounds as well.
  bool linearize(bool bounds_follow);

  // Gradient of a loss: -mu by the velocities of rows in each pass; of all passes together by
  // compliances, by the part of R from which rows give again, by the bounds at which boxes are (how
  // far these are from zero), and by coefficients of friction.
  struct Adjoint {
    std::vector<double> mu[most_passes];                                   // of each pass: rows
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
  // Adds those of a loss that changes by f_hat with impulses at fixed velocities.
  void add_adjoint(const std::vector<double>& f_hat, Adjoint& adjoint);
  // w = d . L sum_i d_i f_i, to twice the precision with `low` but for one rounding of each number
  // of columns and channels, which all rows of a block share (add_motion).
  void velocities(const std::vector<double>& f, std::vector<double>& w, std::vector<double>& low);

  // use(block, row, rows): of each row, or the two of a disc.
  template <class Use>
  void for_each_push(const Use& use) const {
    for (const RowBlock& block : problem_->blocks)
      for (int i = block.first_row; i < block.last_row; ++i) {
        const bool is_disc = problem_->rows[at(i)].is_disc;
        use(block, i, is_disc ? 2 : 1);
        i += is_disc;
      }
  }

  std::vector<double> bound;  // rows: of friction

 private:
  // The minimum of a pass: what its rows push, and the factor of 1 + F^T H F of what they pushed
  // when it was made: what slides has turned a little since. Where bounds follow the normals H has
  // what these do to friction, too, and an upper factor belongs to it.
  struct Linearized {
    std::vector<RowPush> pushes, factored;
    bool bounds_follow = false, is_any_at_bound = false;  // of friction
    std::vector<double> factor, upper;
    double regularity = 1;  // its smallest pivot beside what that comes from
  };
  static constexpr double least_regularity = 1e-10;
  const Linearized& of_pass(int pass) const { return pass == passes_ - 1 ? now_ : kept_[pass]; }
  // The change of impulses, at fixed states, where these are pushed in addition: less by what then
  // moves otherwise. Or the product of `pushed` with the transposed of that.
  void respond(const Linearized& here, const std::vector<double>& pushed,
               std::vector<double>& change, bool is_transposed = false);
  void add_motion(const std::vector<double>& a, std::vector<double>& w, std::vector<double>& low);
  void evaluate();
  // Where Newton's method ends: after a whole step of this size beside the velocities at play. By
  // the same factor each step leaves 1e-8 of the one before, so that the next one is below
  // rounding. Where discs slide, a step leaves of itself, and of what impulses lack in their
  // derivative, as much as these have turned by since the factor was made: `left` and `unlearned`
  // of both; and the factor is made anew where it is more than `turned`. Looser where another pass
  // comes, of which rows take a part of 1e-4, and on the way.
  struct Ends {
    double step, left, unlearned, turned;
  };
  static constexpr Ends at_rounding{1e-7, 1e-15, 1e-9, 1e-6}, before_pass{1e-3, 1e-11, 1e-6, 1e-3},
      on_the_way{1e-2, 1e-4, 1, 1e-3}, before_stage{1e-1, 1e100, 1, 1e-3};
  const Ends& ends(bool is_rough) const;  // of a minimum of the pass under way
  bool settle(const Ends& ends, int most_iterations);
  void set_share(double share);
  bool set_pushes();
  void set_push(int i, int rows, bool& is_new);
  void let_bounds_follow(bool follow);
  // By how much the impulse of friction at its bound grows as its normal gives; zero of others, and
  // where bounds are given.
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
  // Coefficients of each block's rows, channel by channel, and where they begin.
  std::vector<double> by_channels_;
  std::vector<std::size_t> first_by_channels_;
  std::vector<double> R_;             // rows: compliances
  std::vector<double> stiffness_;     // their reciprocals; zero where nothing moves the row
  std::vector<double> own_R_;         // and of these the part from which rows give again
  std::vector<double> first_R_;       // the same of the first pass
  double shares_[most_passes] = {1};  // of it, in each
  double scale_ = 0;                  // velocities at play
  int iterations_ = 0;

  std::vector<double> f_, w_, low_;  // rows
  bool is_evaluated_ = false;        // w_ is of f_
  std::vector<double> z_, a_, a_of_block_, y_, y_low_;
  int passes_ = 1;
  std::vector<double> from_[most_passes - 1];  // the impulses from which rows have given last
  const double* given_ = nullptr;              // those of the pass under way; null in the first
  std::vector<double> u_;                      // rows: w less what they have given
  Linearized now_, kept_[most_passes - 1];
  std::vector<RowPush> pushes_before_;
  std::vector<double> pushed_;  // what impulses lack at the velocities that they make
  bool bounds_follow_ = false;  // normals
  bool is_met_ = false;         // nothing
  bool slides_ = false;         // any disc does
  double slowest_ = 0;          // of these
  // By how much what slides has turned since the factor was made, beside 1, at most.
  double turned_ = 0;
  std::vector<double> HF_;  // of a block
  std::vector<int> alike_;
  bool is_factored_ = false;
  bool is_held_ = false;  // impulses are those of start_holding; f_before_ are those before
  std::vector<double> g_, da_, dy_, dw_, df_, error_, mu_, there_, f_before_, bound_before_,
      R_before_, f_bar_;
};

}  // namespace robosim
