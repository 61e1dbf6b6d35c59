#include "planning/curve.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "model/joint_layout.h"

namespace robosim {
Line::Line(const Model& model) : q0_(at(model.n_q)), q1_(q0_), speed_(q0_) {
  for (const Joint& joint : model.joints) {
    const int k = joint_layout(joint.type).quaternion();
    if (joint.n_q > 0 && !joint.mimic && k >= 0) quaternions_.push_back(at(joint.q_index + k));
  }
}

void Line::set(const double* q0, const double* q1) {
  for (std::size_t k = 0; k < size(); ++k) {
    q0_[k] = q0[k];
    q1_[k] = q1[k];
    speed_[k] = std::abs(q1[k] - q0[k]);
  }
  for (const std::size_t first : quaternions_) {
    // Unit quaternions a and b: the chord is closest to the origin at its middle, so scaling to
    // unit length speeds its points up by 1 / |(a + b) / 2| at most.
    double *a = &q0_[first], *b = &q1_[first], dot = 0, aa = 0, bb = 0;
    for (int k = 0; k < 4; ++k) {
      aa += a[k] * a[k];
      bb += b[k] * b[k];
    }
    for (int k = 0; k < 4; ++k) {
      a[k] /= std::sqrt(aa);
      b[k] /= std::sqrt(bb);
    }
    for (int k = 0; k < 4; ++k) dot += a[k] * b[k];
    if (dot < 0)
      for (int k = 0; k < 4; ++k) b[k] = -b[k];
    const double middle = std::sqrt(0.5 * (1 + std::abs(dot)));
    for (int k = 0; k < 4; ++k) speed_[first + at(k)] = std::abs(b[k] - a[k]) / middle;
  }
}

void Line::position(double t, double* q) const {
  for (std::size_t k = 0; k < size(); ++k) q[k] = q0_[k] + t * (q1_[k] - q0_[k]);
}

void Line::spread(double t0, double t1, Spread& out) const {
  const double half = 0.5 * (t1 - t0);
  for (std::size_t k = 0; k < size(); ++k) {
    out.span[k] = half * speed_[k];
    out.step[k] = half * (q1_[k] - q0_[k]);
    out.bend[k] = 0;
  }
}

PiecewisePolynomial::PiecewisePolynomial(const double* breaks, int pieces,
                                         const double* coefficients, int order, const int* columns,
                                         int n_columns, const double* q_rest, int n_q)
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
      whole_[i * n_columns + c] = derivative_bound(1, i, c, 0, breaks[i + 1] - breaks[i]);
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

double PiecewisePolynomial::derivative_bound(int m, int i, int column, double u0, double u1) const {
  // Coefficients of the derivative about u0, in units of the interval's length L: p(u0 + s L) =
  // sum_j a_j s^j.
  const double* c = coefficients_ + at(i) * at(order_) * at(n_columns_) + column;
  const int degree = order_ - 1 - m;
  if (degree < 0) return 0;
  double a[max_order];
  for (int j = 0; j <= degree; ++j)
    a[j] = (m == 1 ? j + 1 : (j + 1) * (j + 2)) * c[(j + m) * n_columns_];
  for (int k = 0; k < degree; ++k)  // Taylor shift by repeated synthetic division
    for (int j = degree - 1; j >= k; --j) a[j] += u0 * a[j + 1];
  double scale = 1;
  for (int j = 1; j <= degree; ++j) a[j] *= (scale *= u1 - u0);
  // Bernstein coefficient b_l = sum_{j <= l} binomial(l, j) / binomial(degree, j) a_j.
  double largest = 0;
  for (int l = 0; l <= degree; ++l) {
    double b = 0, ratio = 1;
    for (int j = 0; j <= l; ++j) {
      b += ratio * a[j];
      ratio *= static_cast<double>(l - j) / static_cast<double>(std::max(degree - j, 1));
    }
    largest = std::max(largest, std::abs(b));
  }
  return largest;
}

void PiecewisePolynomial::spread(double t0, double t1, Spread& out) const {
  std::fill(out.span.begin(), out.span.end(), 0.0);
  std::fill(out.step.begin(), out.step.end(), 0.0);
  std::fill(out.bend.begin(), out.bend.end(), 0.0);
  const double half = 0.5 * (t1 - t0), middle = t0 + half;
  const int first = piece_at(t0), last = t1 <= breaks_[first + 1] ? first : piece_at(t1),
            center = piece_at(middle);
  // Spans: bounds of the speed over all pieces in the interval.
  for (int i = first; i <= last; ++i) {
    const double u0 = std::max(t0 - breaks_[i], 0.0),
                 u1 = std::max(std::min(t1, breaks_[i + 1]) - breaks_[i], u0);
    const bool is_whole = u0 == 0 && u1 == breaks_[i + 1] - breaks_[i];
    for (int c = 0; c < n_columns_; ++c) {
      double& span = out.span[columns_[c]];
      const double whole = half * whole_[i * n_columns_ + c];
      if (whole > span)
        span = std::max(span, is_whole ? whole : half * derivative_bound(1, i, c, u0, u1));
    }
  }
  // Bend: Taylor's remainder within one piece, and at most what the span allows. Over several
  // pieces the derivative may jump, so the span alone bounds it.
  const double u = middle - breaks_[center];
  const double* coefficients = coefficients_ + at(center) * at(order_) * at(n_columns_);
  for (int c = 0; c < n_columns_; ++c) {
    double slope = 0;
    for (int j = order_ - 1; j >= 1; --j) slope = slope * u + j * coefficients[j * n_columns_ + c];
    const std::size_t k = at(columns_[c]);
    out.step[k] = half * slope;
    out.bend[k] = out.span[k] + std::abs(out.step[k]);
    if (first == last)
      out.bend[k] = std::min(
          out.bend[k], 0.5 * half * half *
                           derivative_bound(2, first, c, t0 - breaks_[first], t1 - breaks_[first]));
  }
}

}  // namespace robosim
