// Derivatives of a step's free motion: kernels for a single state, compiled for each instruction
// set.
#include "checks.h"
#include "dynamics/rnea_derivatives.h"
#include "step/columns.h"
#include "step/inverse_dynamics_rates.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE(
    "rates of inverse dynamics are its derivatives, in rows of any stride, on top of nothing "
    "else") {
  for (const Case& one : battery()) {
    CAPTURE(one.label);
    const Model& model = one.model;
    Random random(5);
    const int n = model.n_v, stride = 2 * n + 3;
    const Numbers q = random.configuration(model), v = random.numbers(n), a = random.numbers(n);
    const double scale = -0.37;
    Data<double> data(model);
    const auto size = static_cast<std::size_t>(n * n);
    Numbers dq(size), dv(size), M(size), both(static_cast<std::size_t>(n * stride)), expected(both);
    rnea_derivatives(model, data, q.data(), v.data(), a.data(), dq.data(), dv.data(), M.data());
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < n; ++c) {
        const auto from = static_cast<std::size_t>(i * n + c),
                   to = static_cast<std::size_t>(i * stride + c);
        expected[to] = scale * dq[from];
        expected[to + static_cast<std::size_t>(n)] = scale * dv[from];
      }
    Data<double> fresh(model);
    inertia_stage(model, fresh, q.data());
    composite_inertias(model, fresh);
    detail::derivatives_outward<true>(model, fresh, v.data(), a.data(), model.gravity);
    inverse_dynamics_rates().fill(model, fresh, scale, both.data(), both.data() + n, stride);
    check_close(both, expected);
  }
}

TEST_CASE("velocities on to the next state are those times dt, and themselves") {
  Random random(3);
  for (const int count : {1, 2, 3, 5, 8, 11, 21}) {
    const int rows = 4, stride = count + 5;
    const Numbers u = random.numbers(rows * stride);
    Numbers both(static_cast<std::size_t>(2 * rows * count + 1), 7.0), expected(both);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < count; ++c) {
        const double x = u[r * stride + c];
        expected[r * count + c] = 0.01 * x;
        expected[(rows + r) * count + c] = x;
      }
    columns().advance(u.data(), stride, rows, count, 0.01, both.data(), both.data() + rows * count);
    CHECK(both == expected);
  }
}

TEST_CASE(
    "rows of a joint whose axes turn are sums in order, whatever the registers, and nothing beyond "
    "them") {
  Random random(4);
  for (const int n : {3, 6})
    for (const int count : {1, 2, 3, 5, 8, 11, 21}) {
      const int stride = count + 3;
      const Numbers by_u = random.numbers(2 * n * n), u = random.numbers(n * stride);
      Numbers both(static_cast<std::size_t>(2 * n * count + 1), 7.0), expected(both);
      for (int r = 0; r < 2 * n; ++r)
        for (int c = 0; c < count; ++c) {
          double sum = 0;
          for (int i = 0; i < n; ++i) sum += by_u[r * n + i] * u[i * stride + c];
          expected[r * count + c] = sum;
        }
      columns().advance_turning(by_u.data(), n, u.data(), stride, count, both.data(),
                                both.data() + n * count);
      CHECK(both == expected);
    }
}
