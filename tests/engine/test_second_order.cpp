// Second-order products against Ridders' differences of the first-order products, accurate to 1e-8
// of the largest entry, over the battery. The symmetry of the Hessian is checked as well, with Lie
// brackets for joints that are not vector spaces.
#include <doctest/doctest.h>

#include "base/lanes.h"
#include "checks.h"
#include "count_allocations.h"
#include "dynamics/second_order_products.h"
#include "ridders.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

using Applied = std::vector<AppliedWrench<double>>;
using DualApplied = std::vector<AppliedWrench<Dual>>;

Numbers plus(Numbers x, double t, const Numbers& y) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] += t * y[k];
  return x;
}

Numbers moved(const Model& model, const Numbers& q, double t, const Numbers& dq) {
  Numbers out(q.size());
  integrate(model, q.data(), plus(Numbers(dq.size()), t, dq).data(), out.data());
  return out;
}

Applied moved(const Applied& wrenches, double t, const Applied& rates) {
  Applied out = wrenches;
  for (std::size_t k = 0; k < out.size(); ++k) out[k].F += t * rates[k].F;
  return out;
}

DualApplied with_rate(const Applied& wrenches, const Applied& rates) {
  DualApplied out;
  const auto pair = [](const Vec3d& x, const Vec3d& r) {
    return Vec3<Dual>{{x.x, r.x}, {x.y, r.y}, {x.z, r.z}};
  };
  for (std::size_t k = 0; k < wrenches.size(); ++k)
    out.push_back({wrenches[k].frame,
                   {pair(wrenches[k].F.angular, rates[k].F.angular),
                    pair(wrenches[k].F.linear, rates[k].F.linear)}});
  return out;
}

// A point (q, x, y) with x = v and y = a or tau, and a direction; n_v entries each except q.
struct Point {
  Numbers q, x, y;
};
struct Direction {
  Numbers q, x, y;

  Direction(Random& random, int n)
      : q(random.numbers(n)), x(random.numbers(n)), y(random.numbers(n)) {}
};

// Gradients (q_bar, x_bar, y_bar) in sequence, and their second-order product.
struct Inverse {
  static Numbers gradient(const Model& model, Data<double>& data, const Point& p,
                          const Numbers& bar, const Applied& wrenches) {
    const std::size_t n = bar.size();
    Numbers out(3 * n);
    rnea_vjp(model, data, p.q.data(), p.x.data(), p.y.data(), bar.data(), &out[0], &out[n],
             &out[2 * n], wrenches);
    return out;
  }
  template <class S>
  static void hvp(const Model& model, Data<DualOf<S>>& data, const S* q, const S* v, const S* a,
                  const S* bar, const S* dq, const S* dv, const S* da, S* out,
                  Wrenches<DualOf<S>> wrenches, const S* dbar) {
    rnea_hvp(model, data, q, v, a, bar, dq, dv, da, out, out + model.n_v, out + 2 * model.n_v,
             wrenches, dbar);
  }
};
struct Forward {
  static Numbers gradient(const Model& model, Data<double>& data, const Point& p,
                          const Numbers& bar, const Applied& wrenches) {
    const std::size_t n = bar.size();
    Numbers out(3 * n), acceleration(n);
    forward_dynamics_vjp(model, data, p.q.data(), p.x.data(), p.y.data(), bar.data(),
                         acceleration.data(), &out[0], &out[n], &out[2 * n], wrenches);
    return out;
  }
  template <class S>
  static void hvp(const Model& model, Data<DualOf<S>>& data, const S* q, const S* v, const S* tau,
                  const S* bar, const S* dq, const S* dv, const S* dtau, S* out,
                  Wrenches<DualOf<S>> wrenches, const S* dbar) {
    forward_dynamics_hvp(model, data, q, v, tau, bar, dq, dv, dtau, out, out + model.n_v,
                         out + 2 * model.n_v, wrenches, dbar);
  }
};

template <class Kind>
Numbers hvp(const Model& model, const Point& p, const Numbers& bar, const Direction& d,
            const DualApplied& wrenches = {}, const Numbers* dbar = nullptr) {
  Data<Dual> data(model);
  Numbers out(3 * bar.size());
  Kind::template hvp<double>(model, data, p.q.data(), p.x.data(), p.y.data(), bar.data(),
                             d.q.data(), d.x.data(), d.y.data(), out.data(), wrenches,
                             dbar ? dbar->data() : nullptr);
  return out;
}

double along(const Direction& d, const Numbers& product) {
  const std::size_t n = d.q.size();
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k)
    sum += d.q[k] * product[k] + d.x[k] * product[n + k] + d.y[k] * product[2 * n + k];
  return sum;
}

// Lie bracket ad_x y joint by joint: the spatial product of the two velocities in the joint's
// frame, in the basis of its columns, which are orthonormal.
Numbers bracket(const Model& model, const Numbers& x, const Numbers& y) {
  Numbers out(x.size());
  for (int i = 1; i < model.n_bodies(); ++i) {
    const Joint& joint = model.joints[i];
    if (joint.mimic) continue;
    visit_joint(joint.type, [&]<class J>(J) {
      const auto full = [&](int k) {
        return Motion<double>() + J::template column<double>(joint, k);
      };
      Motion<double> X, Y;
      for (int k = 0; k < J::n_v; ++k) {
        X += x[joint.v_index + k] * full(k);
        Y += y[joint.v_index + k] * full(k);
      }
      const Motion<double> product = cross(X, Y);
      for (int k = 0; k < J::n_v; ++k) {
        const Motion<double> column = full(k);
        out[joint.v_index + k] =
            dot(column.angular, product.angular) + dot(column.linear, product.linear);
      }
    });
  }
  return out;
}

template <class Kind>
void check_against_differences(double tolerance) {
  over_battery([&](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                   const Numbers& y) {
    const Point p{q, v, y};
    const Numbers bar = random.numbers(model.n_v), dbar = random.numbers(model.n_v);
    const Direction d(random, model.n_v);
    Data<double> data(model);
    const auto at = [&](double t) {
      return Point{moved(model, q, t, d.q), plus(v, t, d.x), plus(y, t, d.y)};
    };
    check_close(hvp<Kind>(model, p, bar, d),
                ridders([&](double t) { return Kind::gradient(model, data, at(t), bar, {}); }),
                tolerance);
    const Applied wrenches = random_wrenches<double>(random, model),
                  dwrenches = random_wrenches<double>(random, model);
    check_close(hvp<Kind>(model, p, bar, d, with_rate(wrenches, dwrenches), &dbar),
                ridders([&](double t) {
                  return Kind::gradient(model, data, at(t), plus(bar, t, dbar),
                                        moved(wrenches, t, dwrenches));
                }),
                tolerance);
  });
}

template <class Kind>
void check_symmetry(double tolerance) {
  over_battery([&](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                   const Numbers& y) {
    const Point p{q, v, y};
    const Numbers bar = random.numbers(model.n_v);
    const Direction d(random, model.n_v), e(random, model.n_v);
    Data<double> data(model);
    const Numbers gradient = Kind::gradient(model, data, p, bar, {}),
                  turned = bracket(model, d.q, e.q);
    double expected = 0, scale = 0;
    for (std::size_t k = 0; k < turned.size(); ++k) expected += gradient[k] * turned[k];
    const Numbers Hd = hvp<Kind>(model, p, bar, d), He = hvp<Kind>(model, p, bar, e);
    for (double x : Hd) scale += std::abs(x);
    for (double x : He) scale += std::abs(x);
    check_close(along(e, Hd) - along(d, He), expected, scale, tolerance);
  });
}

// Check that two states in lanes have the results of single states.
template <class Kind>
void check_lanes() {
  using L = Lanes<2, Isa::baseline>;
  over_battery([&](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                   const Numbers& y) {
    const Point points[] = {
        {q, v, y},
        {random.configuration(model), random.numbers(model.n_v), random.numbers(model.n_v)}};
    const Numbers bars[] = {random.numbers(model.n_v), random.numbers(model.n_v)};
    const Direction directions[] = {Direction(random, model.n_v), Direction(random, model.n_v)};
    const auto pack = [](const Numbers& a, const Numbers& b) {
      std::vector<L> out(a.size());
      for (std::size_t k = 0; k < a.size(); ++k) {
        out[k].set(0, a[k]);
        out[k].set(1, b[k]);
      }
      return out;
    };
    Data<DualOf<L>> data(model);
    std::vector<L> out(3 * v.size());
    Kind::template hvp<L>(model, data, pack(q, points[1].q).data(), pack(v, points[1].x).data(),
                          pack(y, points[1].y).data(), pack(bars[0], bars[1]).data(),
                          pack(directions[0].q, directions[1].q).data(),
                          pack(directions[0].x, directions[1].x).data(),
                          pack(directions[0].y, directions[1].y).data(), out.data(), {}, nullptr);
    for (int lane = 0; lane < 2; ++lane) {
      Numbers own;
      for (const L& x : out) own.push_back(x[lane]);
      // Sines differ in the last place.
      check_close(own, hvp<Kind>(model, points[lane], bars[lane], directions[lane]), 1e-10);
    }
  });
}

}  // namespace

TEST_CASE("second-order products of inverse dynamics are the differences of its gradients") {
  check_against_differences<Inverse>(1e-8);
}

// The condition of M enters twice.
TEST_CASE("second-order products of forward dynamics are the differences of its gradients") {
  check_against_differences<Forward>(1e-7);
}

TEST_CASE("the Hessian of inverse dynamics is symmetric up to brackets") {
  check_symmetry<Inverse>(1e-12);
}

TEST_CASE("the Hessian of forward dynamics is symmetric up to brackets") {
  check_symmetry<Forward>(1e-9);
}

TEST_CASE("second-order products in lanes") {
  check_lanes<Inverse>();
  check_lanes<Forward>();
}

TEST_CASE("second-order products allocate nothing after the first call") {
  for (const Case& c : battery()) {
    const Model& model = c.model;
    CAPTURE(c.label);
    Random random(4);
    const Numbers q = random.configuration(model), v = random.numbers(model.n_v),
                  bar = random.numbers(model.n_v);
    const Direction d(random, model.n_v);
    Numbers out(3 * v.size());
    Data<Dual> data(model);
    CHECK(allocations_when_repeated([&] {
            Inverse::hvp<double>(model, data, q.data(), v.data(), v.data(), bar.data(), d.q.data(),
                                 d.x.data(), d.y.data(), out.data(), {}, bar.data());
            Forward::hvp<double>(model, data, q.data(), v.data(), v.data(), bar.data(), d.q.data(),
                                 d.x.data(), d.y.data(), out.data(), {}, bar.data());
          }) == 0);
  }
}
