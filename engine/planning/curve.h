// Curves q(t) in configuration space for the edge check: positions, and bounds of speed over
// intervals.
#pragma once

#include <vector>

#include "model/model.h"

namespace robosim {

// Bounds on the deviation of q(t) from its value at the middle t_m of an interval of half-width h,
// per entry of q, for |t - t_m| <= h:
//   |q_k(t) - q_k(t_m)| <= span_k |t - t_m| / h
//   q_k(t) - q_k(t_m) = step_k (t - t_m) / h + e,  |e| <= bend_k |t - t_m| / h
// For quaternion entries, span is that of the quaternion scaled to unit length; step and bend are
// unused.
struct Spread {
  std::vector<double> span, step, bend;
};

class Curve {
 public:
  virtual ~Curve() = default;
  // Write the n_q entries of q(t).
  virtual void position(double t, double* q) const = 0;
  // Compute the spread over [t0, t1].
  virtual void spread(double t0, double t1, Spread& out) const = 0;
  // True if spans are valid for all t, also outside the interval for which they are computed.
  virtual bool is_steady() const { return false; }
};

// Straight line q(t) = q0 + t (q1 - q0), t in [0, 1]. A quaternion takes the shorter way around,
// and kinematics scale it to unit length: the great arc between the two.
class Line final : public Curve {
 public:
  explicit Line(const Model& model);
  void set(const double* q0, const double* q1);
  void position(double t, double* q) const override;
  void spread(double t0, double t1, Spread& out) const override;
  bool is_steady() const override { return true; }

 private:
  std::size_t size() const { return q0_.size(); }
  std::vector<double> q0_, q1_, speed_;
  std::vector<std::size_t> quaternions_;  // index in q of the first entry of each
};

// Piecewise polynomial in powers of (t - breaks[i]) on each piece: q_k(t) = sum_j c[i][j][k'] (t -
// breaks[i])^j for the entries of q in `columns`; the rest stay at q_rest. Derivatives are bounded
// by their Bernstein coefficients on the interval. A polynomial stays within the range of its
// Bernstein coefficients, and the bound is exact in the limit of short intervals.
class PiecewisePolynomial final : public Curve {
 public:
  static constexpr int max_order = 8;  // coefficients per piece, so degree 7

  // breaks: (k + 1), strictly increasing; coefficients: (k, order, n_columns) in row-major order.
  // All outlive the curve.
  PiecewisePolynomial(const double* breaks, int pieces, const double* coefficients, int order,
                      const int* columns, int n_columns, const double* q_rest, int n_q);
  void position(double t, double* q) const override;
  void spread(double t0, double t1, Spread& out) const override;
  double start() const { return breaks_[0]; }
  double end() const { return breaks_[pieces_]; }

 private:
  int piece_at(double t) const;
  // Bound on |d^m q / dt^m|, m = 1 or 2, in column c of piece i over local times [u0, u1].
  double derivative_bound(int m, int i, int c, double u0, double u1) const;

  const double *breaks_, *coefficients_, *q_rest_;
  const int* columns_;
  int pieces_, order_, n_columns_, n_q_;
  std::vector<double> whole_;  // bounds on |dq/dt| over whole pieces, (k, n_columns)
};

}  // namespace robosim
