// Comparisons and directions of differentiation for the tests of dynamics, over the battery of
// random_models.h.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/dual.h"
#include "dynamics/applied_wrench.h"
#include "random_models.h"

namespace robosim::testing {

using Duals = std::vector<Dual>;

// Direction of differentiation: q moves along v. `with_rate` moves v along a.
inline Duals moving(const Model& model, const Numbers& q, const Numbers& v) {
  Duals from(q.begin(), q.end()), along(v.size()), out(q.size());
  for (std::size_t k = 0; k < v.size(); ++k) along[k] = {0, v[k]};
  integrate(model, from.data(), along.data(), out.data());
  return out;
}

inline Duals with_rate(const Numbers& x, const Numbers& rate) {
  Duals out(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) out[k] = {x[k], rate[k]};
  return out;
}

inline void check_close(double x, double reference, double scale = 1, double tolerance = 1e-12) {
  CHECK(std::abs(x - reference) <=
        tolerance * std::max({1.0, std::abs(scale), std::abs(reference)}));
}

inline void check_close(const Vec3d& x, const Vec3d& reference) {
  const double scale = std::sqrt(squared_norm(reference));
  for (int i = 0; i < 3; ++i) check_close(x[i], reference[i], scale);
}

inline void check_close(const Numbers& x, const Numbers& reference, double tolerance = 1e-12) {
  REQUIRE(x.size() == reference.size());
  double scale = 0;
  for (double r : reference) scale = std::max(scale, std::abs(r));
  for (std::size_t k = 0; k < x.size(); ++k) check_close(x[k], reference[k], scale, tolerance);
}

inline Vec3d rate(const Vec3<Dual>& a) { return {a.x.derivative, a.y.derivative, a.z.derivative}; }

// Angular velocity of a body: R^T dR/dt is its cross-product matrix.
inline Vec3d body_rate(const Mat3<Dual>& R) {
  Mat3d value, derivative;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      value(i, j) = R(i, j).value;
      derivative(i, j) = R(i, j).derivative;
    }
  const Mat3d W = transpose(value) * derivative;
  return {W(2, 1), W(0, 2), W(1, 0)};
}

// Random wrenches on every frame, two on the last one.
template <class S>
std::vector<AppliedWrench<S>> random_wrenches(Random& random, const Model& model) {
  std::vector<AppliedWrench<S>> wrenches;
  const int n = static_cast<int>(model.frames.size());
  for (int i = 0; i <= n; ++i) {
    const Vec3d moment = random.vec3(3), force = random.vec3(5);
    wrenches.push_back({std::min(i, n - 1), Force<S>{Vec3<S>(moment), Vec3<S>(force)}});
  }
  return wrenches;
}

template <class F>
void over_battery(F&& f) {
  for (const Case& c : battery()) {
    CAPTURE(c.label);
    Random random(3);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Numbers q = random.configuration(c.model), v = random.numbers(c.model.n_v, 2),
                    a = random.numbers(c.model.n_v, 3);
      f(c.model, random, q, v, a);
    }
  }
}

inline Numbers rates(const Duals& x) {
  Numbers out;
  for (const Dual& entry : x) out.push_back(entry.derivative);
  return out;
}

// Derivatives of `rows` numbers f(q, v, a) with respect to each argument, rows x n_v in row-major
// order, one direction at a time.
struct Derivatives {
  Numbers dq, dv, da;
};
template <class F>
Derivatives differentiate(const Model& model, const Numbers& q, const Numbers& v, const Numbers& a,
                          std::size_t rows, F&& f) {
  const std::size_t n = static_cast<std::size_t>(model.n_v);
  const Numbers zero(n);
  const Duals q_fixed(q.begin(), q.end()), v_fixed(v.begin(), v.end()), a_fixed(a.begin(), a.end());
  Derivatives out{Numbers(rows * n), Numbers(rows * n), Numbers(rows * n)};
  for (std::size_t k = 0; k < n; ++k) {
    Numbers unit(n);
    unit[k] = 1;
    const auto put = [&](const Numbers& column, Numbers& to) {
      REQUIRE(column.size() == rows);
      for (std::size_t i = 0; i < rows; ++i) to[i * n + k] = column[i];
    };
    put(rates(f(moving(model, q, unit), v_fixed, a_fixed)), out.dq);
    put(rates(f(q_fixed, with_rate(v, unit), a_fixed)), out.dv);
    put(rates(f(q_fixed, v_fixed, with_rate(a, unit))), out.da);
  }
  return out;
}

// Product of a row-major matrix and a vector.
inline Numbers times(const Numbers& matrix, const Numbers& x) {
  Numbers out(matrix.size() / x.size());
  for (std::size_t k = 0; k < matrix.size(); ++k) out[k / x.size()] += matrix[k] * x[k % x.size()];
  return out;
}

}  // namespace robosim::testing
