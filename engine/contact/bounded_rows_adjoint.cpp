// Derivative of slightly compliant rows through all passes (bounded_rows.h).
#include <vector>

#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"
#include "contact/bounded_rows.h"

namespace robosim {

namespace {

using State = RowPush::State;

constexpr int refinements = 2;  // of adjoints

}  // namespace

bool BoundedRows::linearize(bool bounds_follow) {
  bool is_regular = true;
  for (int pass = 0; pass < passes_; ++pass) {
    Linearized& here = pass == passes_ - 1 ? now_ : kept_[pass];
    bool is_stale = false;  // sliding directions have turned since
    for_each_push([&](const RowBlock&, int i, int) {
      const RowPush& push = here.pushes[i];
      is_stale |= push.state == State::slides ||
                  (bounds_follow != here.bounds_follow && is_at_bound(problem_->rows[i], push));
    });
    here.bounds_follow = bounds_follow;
    if (is_stale) {
      set_share(shares_[pass]);
      factor(here);
    }
    is_regular &= here.regularity > least_regularity;
  }
  set_share(shares_[passes_ - 1]);
  return is_regular;
}

// Solve mu = H^T (f_hat - A mu), A = D L D^T. For rows that do not slide: R mu + A mu = f_hat.
void BoundedRows::solve_adjoint(const Linearized& here, const std::vector<double>& f_hat,
                                std::vector<double>& mu) {
  make_zeros(mu, f_hat.size());
  for (int round = 0; round <= refinements; ++round) {
    velocities(mu, u_, error_);
    for_each_push([&](const RowBlock&, int i, int rows) {
      const RowPush& push = here.pushes[i];
      double left[2], df[2] = {};
      for (int k = 0; k < rows; ++k) {
        double sum = u_[i + k], rest = error_[i + k];
        if (push.state == State::linear) add_product(R_[i + k], mu[i + k], sum, rest);
        add_exactly(-f_hat[i + k], sum, rest);
        left[k] = sum + rest;
      }
      give(push, rows, left, df);
      for (int k = 0; k < rows; ++k)
        pushed_[i + k] = -df[k] - (push.state == State::slides ? mu[i + k] : 0);
      if (const double by = drawn(here, i); by != 0) {
        const PushDirection along(push);
        for (int k = 0; k < rows; ++k)
          pushed_[problem_->rows[i].normal] -= by * along.x[k] * left[k];
      }
    });
    respond(here, pushed_, df_, true);
    for (std::size_t i = 0; i < mu.size(); ++i) mu[i] += df_[i];
  }
}

// Backward over the passes: each one depends on the previous one through its impulses `given_`.
void BoundedRows::add_adjoint(const std::vector<double>& f_hat, Adjoint& adjoint) {
  f_bar_ = f_hat;
  for (int pass = passes_; pass-- > 0;) {
    const Linearized& here = of_pass(pass);
    set_share(shares_[pass]);
    solve_adjoint(here, f_bar_, mu_);
    velocities(mu_, u_, error_);
    const std::vector<double>& f = f_of_pass(pass);
    for_each_push([&](const RowBlock&, int i, int rows) {
      const ConstraintRow& row = problem_->rows[i];
      const RowPush& push = here.pushes[i];
      const auto lambda = [&](int k) { return f_bar_[k] - u_[k]; };
      if (is_at_bound(row, push)) {
        const PushDirection along(push);
        for (int k = 0; k < rows && here.bounds_follow; ++k)
          adjoint.friction_bar[i] += f[row.normal] * along.x[k] * lambda(i + k);
      } else if (push.state == State::upper || push.state == State::lower) {
        adjoint.bound_bar[i] += PushDirection(push).x[0] * lambda(i);
      }
      const bool is_linear = push.state == State::linear;
      for (int k = i; k < i + rows; ++k) {
        const double mu = mu_[k], own = is_linear ? f[k] : 0,
                     given = pass > 0 ? from_[pass - 1][k] : 0;
        adjoint.mu[pass][k] += mu;
        adjoint.compliance_bar[k] -= own * mu;
        adjoint.own_bar[k] -= shares_[pass] * (own - given) * mu;
      }
    });
    for (std::size_t i = 0; i < mu_.size(); ++i) f_bar_[i] = own_R_[i] * mu_[i];
  }
  set_share(shares_[passes_ - 1]);
}

}  // namespace robosim
