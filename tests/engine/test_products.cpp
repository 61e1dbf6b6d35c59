// Products with derivatives against dual numbers through the recursions that they differentiate,
// over the battery, with and without wrenches. The tolerance is 1e-12 relative to the largest entry
// as in test_dynamics.cpp, and 1e-10 where the condition of M amplifies rounding. Second-order
// products are also compared with Ridders' differences of the first-order ones.
#include <doctest/doctest.h>

#include <functional>

#include "base/lanes.h"
#include "checks.h"
#include "count_allocations.h"
#include "dynamics/forward_dynamics_products.h"
#include "dynamics/rnea_derivatives.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

using Applied = std::vector<AppliedWrench<double>>;
using DualApplied = std::vector<AppliedWrench<Dual>>;
constexpr double amplified = 1e-10;

DualApplied with_rate(const Applied& wrenches, const Applied& rates) {
  DualApplied out;
  const auto pair = [](const Vec3d& x, const Vec3d& r) {
    return Vec3<Dual>{{x.x, r.x}, {x.y, r.y}, {x.z, r.z}};
  };
  for (std::size_t k = 0; k < wrenches.size(); ++k) {
    const Force<double>& F = wrenches[k].F;
    const Force<double> dF = rates.empty() ? Force<double>() : rates[k].F;
    out.push_back({wrenches[k].frame, {pair(F.angular, dF.angular), pair(F.linear, dF.linear)}});
  }
  return out;
}

// Call f over the battery, once without wrenches and once with wrenches and their rates.
template <class F>
void over_loads(F&& f) {
  over_battery([&](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                   const Numbers& a) {
    f(model, random, q, v, a, Applied(), Applied());
    const Applied wrenches = random_wrenches<double>(random, model),
                  rates = random_wrenches<double>(random, model);
    f(model, random, q, v, a, wrenches, rates);
  });
}

double dot_of(const Numbers& x, const Numbers& y) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

// J^T x for a square matrix.
Numbers transpose_times(const Numbers& J, const Numbers& x) {
  const std::size_t n = x.size();
  Numbers out(n);
  for (std::size_t k = 0; k < n * n; ++k) out[k % n] += J[k] * x[k / n];
  return out;
}

// Product of the wrenches' rates with their cotangents.
double dot_of(const std::vector<Motion<double>>& bar, const Applied& rates) {
  double sum = 0;
  for (std::size_t k = 0; k < bar.size(); ++k) sum += dot(bar[k], rates[k].F);
  return sum;
}

}  // namespace

TEST_CASE("Jacobian-vector products are the rates that dual numbers find") {
  over_loads([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                const Numbers& a, const Applied& wrenches, const Applied& dwrenches) {
    const Numbers dq = random.numbers(model.n_v), dv = random.numbers(model.n_v),
                  da = random.numbers(model.n_v);
    const Duals q_dual = moving(model, q, dq), v_dual = with_rate(v, dv), a_dual = with_rate(a, da);
    const DualApplied dual_wrenches = with_rate(wrenches, dwrenches);
    Data<double> data(model);
    Data<Dual> dual(model);
    Duals reference(v.size());
    Numbers tangent(v.size()), acceleration(v.size());
    rnea_jvp(model, data, q.data(), v.data(), a.data(), dq.data(), dv.data(), da.data(),
             tangent.data(), wrenches, dwrenches);
    rnea(model, dual, q_dual.data(), v_dual.data(), a_dual.data(), reference.data(), dual_wrenches);
    check_close(tangent, rates(reference));

    forward_dynamics_jvp(model, data, q.data(), v.data(), a.data(), dq.data(), dv.data(), da.data(),
                         acceleration.data(), tangent.data(), wrenches, dwrenches);
    forward_dynamics(model, dual, q_dual.data(), v_dual.data(), a_dual.data(), reference.data(),
                     dual_wrenches);
    Numbers values;
    for (const Dual& x : reference) values.push_back(x.value);
    check_close(acceleration, values, amplified);
    check_close(tangent, rates(reference), amplified);
  });
}

TEST_CASE("vector-Jacobian products are the transposes of the matrices that dual numbers find") {
  over_loads([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                const Numbers& a, const Applied& wrenches, const Applied& dwrenches) {
    const std::size_t n = v.size();
    const Numbers bar = random.numbers(model.n_v), zero(n);
    const DualApplied fixed = with_rate(wrenches, {}), moved = with_rate(wrenches, dwrenches);
    const Duals q_fixed(q.begin(), q.end()), v_fixed(v.begin(), v.end()),
        a_fixed(a.begin(), a.end());
    Data<double> data(model);
    Data<Dual> dual(model);
    Numbers q_bar(n), v_bar(n), last_bar(n), acceleration(n);
    std::vector<Motion<double>> wrenches_bar(wrenches.size());
    {
      const auto inverse = [&](const Duals& q_, const Duals& v_, const Duals& a_,
                               const DualApplied& w_) {
        Duals out(n);
        rnea(model, dual, q_.data(), v_.data(), a_.data(), out.data(), w_);
        return out;
      };
      const Derivatives D =
          differentiate(model, q, v, a, n, [&](const auto&... x) { return inverse(x..., fixed); });
      rnea_vjp(model, data, q.data(), v.data(), a.data(), bar.data(), q_bar.data(), v_bar.data(),
               last_bar.data(), wrenches, wrenches_bar.data());
      check_close(q_bar, transpose_times(D.dq, bar));
      check_close(v_bar, transpose_times(D.dv, bar));
      check_close(last_bar, transpose_times(D.da, bar));
      const Numbers by_wrenches = rates(inverse(q_fixed, v_fixed, a_fixed, moved));
      // Sum of a hundred terms of order one.
      check_close(dot_of(wrenches_bar, dwrenches), dot_of(bar, by_wrenches), 100);
    }
    {
      const auto forward = [&](const Duals& q_, const Duals& v_, const Duals& a_,
                               const DualApplied& w_) {
        Duals out(n);
        forward_dynamics(model, dual, q_.data(), v_.data(), a_.data(), out.data(), w_);
        return out;
      };
      const Derivatives D =
          differentiate(model, q, v, a, n, [&](const auto&... x) { return forward(x..., fixed); });
      forward_dynamics_vjp(model, data, q.data(), v.data(), a.data(), bar.data(),
                           acceleration.data(), q_bar.data(), v_bar.data(), last_bar.data(),
                           wrenches, wrenches_bar.data());
      check_close(q_bar, transpose_times(D.dq, bar), amplified);
      check_close(v_bar, transpose_times(D.dv, bar), amplified);
      check_close(last_bar, transpose_times(D.da, bar), amplified);
      const Numbers by_wrenches = rates(forward(q_fixed, v_fixed, a_fixed, moved));
      check_close(dot_of(wrenches_bar, dwrenches), dot_of(bar, by_wrenches), 100, amplified);
    }
  });
}

TEST_CASE(
    "products leave nothing behind: in any order they give the same bits, and outputs may be "
    "inputs where allowed") {
  over_loads([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                const Numbers& a, const Applied& wrenches, const Applied& dwrenches) {
    const std::size_t n = v.size();
    const Numbers x = random.numbers(model.n_v), y = random.numbers(model.n_v),
                  z = random.numbers(model.n_v);
    using Product = std::function<Numbers(Data<double>&)>;
    const Product products[] = {
        [&](Data<double>& data) {
          Numbers out(n);
          rnea_jvp(model, data, q.data(), v.data(), a.data(), x.data(), y.data(), z.data(),
                   out.data(), wrenches, dwrenches);
          return out;
        },
        [&](Data<double>& data) {
          Numbers out(3 * n);
          rnea_vjp(model, data, q.data(), v.data(), a.data(), x.data(), &out[0], &out[n],
                   &out[2 * n], wrenches);
          return out;
        },
        [&](Data<double>& data) {
          Numbers out(n), da = z;
          forward_dynamics_jvp(model, data, q.data(), v.data(), a.data(), x.data(), y.data(),
                               da.data(), out.data(), da.data(), wrenches, dwrenches);
          return da;
        },
        [&](Data<double>& data) {
          Numbers out(3 * n), acceleration(n);
          std::copy(x.begin(), x.end(), out.begin());
          forward_dynamics_vjp(model, data, q.data(), v.data(), a.data(), &out[0],
                               acceleration.data(), &out[n], &out[2 * n], &out[0], wrenches);
          return out;
        }};
    Data<double> used(model);
    for (const Product& first : products)
      for (const Product& second : products) {
        Data<double> fresh(model);
        const Numbers expected = second(fresh);
        first(used);
        CHECK(second(used) == expected);
      }
  });
}

TEST_CASE("one stage of forward dynamics serves many directions") {
  over_battery([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                  const Numbers& tau) {
    const std::size_t n = v.size();
    Data<double> data(model), fresh(model);
    Numbers a(n), da(n), expected(n), q_bar(n), v_bar(n), tau_bar(n), expected_q(n), expected_v(n),
        expected_tau(n);
    detail::forward_dynamics_stage(model, data, q.data(), v.data(), tau.data(), a.data(), {});
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Numbers x = random.numbers(model.n_v), y = random.numbers(model.n_v),
                    z = random.numbers(model.n_v);
      detail::forward_dynamics_jvp_sweep(model, data, v.data(), x.data(), y.data(), z.data(),
                                         da.data(), {}, {});
      forward_dynamics_jvp(model, fresh, q.data(), v.data(), tau.data(), x.data(), y.data(),
                           z.data(), a.data(), expected.data());
      CHECK(da == expected);
      detail::forward_dynamics_vjp_sweep(model, data, x.data(), q_bar.data(), v_bar.data(),
                                         tau_bar.data(), {}, static_cast<Motion<double>*>(nullptr));
      forward_dynamics_vjp(model, fresh, q.data(), v.data(), tau.data(), x.data(), a.data(),
                           expected_q.data(), expected_v.data(), expected_tau.data());
      CHECK(q_bar == expected_q);
      CHECK(v_bar == expected_v);
      CHECK(tau_bar == expected_tau);
    }
  });
}

TEST_CASE("Jacobian-vector products in lanes: two states side by side give what each gives alone") {
  // The other direction is tested in lanes with the second-order products.
  using L = Lanes<2, Isa::baseline>;
  over_battery(
      [](const Model& model, Random& random, const Numbers&, const Numbers&, const Numbers&) {
        constexpr int n_inputs = 6;  // q, v, a or tau, and their directions
        Numbers inputs[2][n_inputs];
        for (auto& state : inputs) {
          state[0] = random.configuration(model);
          for (int k = 1; k < n_inputs; ++k) state[k] = random.numbers(model.n_v);
        }
        std::vector<L> packed[n_inputs];
        for (int i = 0; i < n_inputs; ++i)
          for (std::size_t k = 0; k < inputs[0][i].size(); ++k) {
            L x(inputs[0][i][k]);
            x.set(1, inputs[1][i][k]);
            packed[i].push_back(x);
          }
        const auto both = [&]<class S>(Data<S>& data, const std::vector<S>(&x)[n_inputs]) {
          std::vector<S> out(3 * x[1].size());
          S *dtau = out.data(), *a = dtau + model.n_v, *da = a + model.n_v;
          rnea_jvp(model, data, x[0].data(), x[1].data(), x[2].data(), x[3].data(), x[4].data(),
                   x[5].data(), dtau);
          forward_dynamics_jvp(model, data, x[0].data(), x[1].data(), x[2].data(), x[3].data(),
                               x[4].data(), x[5].data(), a, da);
          return out;
        };
        Data<L> lanes(model);
        const std::vector<L> side_by_side = both(lanes, packed);
        for (int lane = 0; lane < 2; ++lane) {
          Data<double> data(model);
          Numbers own;
          for (const L& x : side_by_side) own.push_back(x[lane]);
          check_close(own, both(data, inputs[lane]), amplified);
        }
      });
}

TEST_CASE("products allocate nothing after the first call") {
  for (const Case& c : battery()) {
    const Model& model = c.model;
    CAPTURE(c.label);
    Random random(4);
    const Applied wrenches = random_wrenches<double>(random, model);
    const Numbers q = random.configuration(model), v = random.numbers(model.n_v),
                  x = random.numbers(model.n_v);
    Numbers a(v.size()), out1(v.size()), out2(v.size()), out3(v.size());
    std::vector<Motion<double>> wrenches_bar(wrenches.size());
    Data<double> data(model);
    CHECK(allocations_when_repeated([&] {
            rnea_jvp(model, data, q.data(), v.data(), v.data(), x.data(), x.data(), x.data(),
                     out1.data(), wrenches, wrenches);
            rnea_vjp(model, data, q.data(), v.data(), v.data(), x.data(), out1.data(), out2.data(),
                     out3.data(), wrenches, wrenches_bar.data());
            forward_dynamics_jvp(model, data, q.data(), v.data(), v.data(), x.data(), x.data(),
                                 x.data(), a.data(), out1.data(), wrenches, wrenches);
            forward_dynamics_vjp(model, data, q.data(), v.data(), v.data(), x.data(), a.data(),
                                 out1.data(), out2.data(), out3.data(), wrenches,
                                 wrenches_bar.data());
          }) == 0);
  }
}
