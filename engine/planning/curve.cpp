#include "planning/curve.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void Line::set(const double* q0, const double* q1) {
  for (std::size_t k = 0; k < size(); ++k) {
    q0_[k] = q0[k];
    q1_[k] = q1[k];
    rate_[k] = std::abs(q1[k] - q0[k]);
  }
  for (const Joint& joint : model_->joints) {
    if (joint.type != JointType::floating || joint.n_q < 7) continue;
    // Unit quaternions a and b: the chord's middle is its closest point to the origin, so that scaling to unit length speeds a
    // point of it up by 1 / |(a + b) / 2| at most.
    double *a = &q0_[at(joint.q_index + 3)], *b = &q1_[at(joint.q_index + 3)], dot = 0, aa = 0, bb = 0;
    for (int k = 0; k < 4; ++k) aa += a[k] * a[k], bb += b[k] * b[k];
    for (int k = 0; k < 4; ++k) a[k] /= std::sqrt(aa), b[k] /= std::sqrt(bb);
    for (int k = 0; k < 4; ++k) dot += a[k] * b[k];
    if (dot < 0)
      for (int k = 0; k < 4; ++k) b[k] = -b[k];
    const double middle = std::sqrt(0.5 * (1 + std::abs(dot)));
    for (int k = 0; k < 4; ++k) rate_[at(joint.q_index + 3 + k)] = std::abs(b[k] - a[k]) / middle;
  }
}

void Line::position(double t, double* q) const {
  for (std::size_t k = 0; k < size(); ++k) q[k] = q0_[k] + t * (q1_[k] - q0_[k]);
}

void Line::speed(double, double, double* rate) const { std::copy(rate_.begin(), rate_.end(), rate); }

PiecewisePolynomial::PiecewisePolynomial(const double* breaks, int pieces, const double* coefficients, int order,
                                         const int* columns, int n_columns, const double* q_rest, int n_q)
    : breaks_(breaks),
      coefficients_(coefficients),
      q_rest_(q_rest),
      columns_(columns),
      pieces_(pieces),
      order_(order),
      n_columns_(n_columns),
      n_q_(n_q),
      whole_(at(pieces * n_columns)) {
  for (int i = 0; i < pieces; ++i)
    for (int c = 0; c < n_columns; ++c)
      whole_[at(i * n_columns + c)] = speed_of_piece(i, c, 0, breaks[i + 1] - breaks[i]);
}

int PiecewisePolynomial::piece_at(double t) const {
  const int i = static_cast<int>(std::upper_bound(breaks_, breaks_ + pieces_ + 1, t) - breaks_) - 1;
  return std::clamp(i, 0, pieces_ - 1);
}

void PiecewisePolynomial::position(double t, double* q) const {
  std::copy(q_rest_, q_rest_ + n_q_, q);
  const int i = piece_at(t);
  const double u = t - breaks_[i];
  const double* c = coefficients_ + at(i) * at(order_) * at(n_columns_);
  for (int k = 0; k < n_columns_; ++k) {
    double value = 0;
    for (int j = order_ - 1; j >= 0; --j) value = value * u + c[j * n_columns_ + k];
    q[columns_[k]] = value;
  }
}

double PiecewisePolynomial::speed_of_piece(int i, int column, double u0, double u1) const {
  // The derivative's coefficients about u0, in units of the interval's length: p(u0 + s L) = sum_j a_j s^j.
  const double* c = coefficients_ + at(i) * at(order_) * at(n_columns_) + column;
  const int degree = order_ - 2;
  if (degree < 0) return 0;
  double a[max_order];
  for (int j = 0; j <= degree; ++j) a[j] = (j + 1) * c[(j + 1) * n_columns_];
  for (int k = 0; k < degree; ++k)  // Taylor shift by repeated synthetic division
    for (int j = degree - 1; j >= k; --j) a[j] += u0 * a[j + 1];
  double scale = 1;
  for (int j = 1; j <= degree; ++j) a[j] *= (scale *= u1 - u0);
  // Bernstein coefficient b_m = sum_{j <= m} binomial(m, j) / binomial(degree, j) a_j.
  double largest = 0;
  for (int m = 0; m <= degree; ++m) {
    double b = 0, ratio = 1;
    for (int j = 0; j <= m; ++j) {
      b += ratio * a[j];
      ratio *= static_cast<double>(m - j) / static_cast<double>(std::max(degree - j, 1));
    }
    largest = std::max(largest, std::abs(b));
  }
  return largest;
}

void PiecewisePolynomial::speed(double t0, double t1, double* rate) const {
  std::fill(rate, rate + n_q_, 0.0);
  const int first = piece_at(t0), last = piece_at(t1);
  for (int i = first; i <= last; ++i) {
    const double u0 = std::max(t0 - breaks_[i], 0.0), u1 = std::min(t1, breaks_[i + 1]) - breaks_[i];
    const bool is_whole = u0 == 0 && u1 == breaks_[i + 1] - breaks_[i];
    for (int c = 0; c < n_columns_; ++c) {
      double& largest = rate[columns_[c]];
      if (whole_[at(i * n_columns_ + c)] <= largest) continue;
      largest = std::max(largest, is_whole ? whole_[at(i * n_columns_ + c)] : speed_of_piece(i, c, u0, std::max(u1, u0)));
    }
  }
}

}  // namespace robosim
