// The regressor and the derivatives with respect to the model's parameters. tau is linear in the
// inertial parameters, which checks the regressor without any derivative. Center of mass and
// moments are moved by a floating joint that carries the body's mass. Joint placements are moved by
// a massless floating joint before the joint. Both have a dual q, so the comparison is exact to
// rounding: 1e-12 of the largest entry as in test_dynamics.cpp. Forward dynamics is compared with
// Ridders' differences over changed models, accurate to 1e-8 of the largest entry.
#include <doctest/doctest.h>

#include "base/lanes.h"
#include "checks.h"
#include "count_allocations.h"
#include "dynamics/parameter_derivatives.h"
#include "model/structure.h"
#include "ridders.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

using Applied = std::vector<AppliedWrench<double>>;
using DualApplied = std::vector<AppliedWrench<Dual>>;

DualApplied dual_of(const Applied& wrenches) {
  DualApplied out;
  for (const auto& w : wrenches)
    out.push_back({w.frame, {Vec3<Dual>(w.F.angular), Vec3<Dual>(w.F.linear)}});
  return out;
}

// Number of values of each parameter kind, and memory for gradients (rows = 1) or matrices (rows =
// n_v).
template <class S>
struct ResultsOf {
  int bodies, rows;
  std::vector<S> mass, com, inertia, placement, armature;

  ResultsOf(const Model& model, int rows_) : bodies(model.n_bodies() - 1), rows(rows_) {
    const auto room = [&](std::vector<S>& x, int width) {
      x.resize(static_cast<std::size_t>(rows * width));
    };
    room(mass, bodies);
    room(com, 3 * bodies);
    room(inertia, 6 * bodies);
    room(placement, 6 * bodies);
    room(armature, model.n_v);
  }
  ParameterOutputs<S> outputs() {
    return {mass.data(), com.data(), inertia.data(), placement.data(), armature.data()};
  }
};
using Results = ResultsOf<double>;

Numbers column(const Numbers& matrix, int rows, int k) {
  const int width = static_cast<int>(matrix.size()) / rows;
  Numbers out;
  for (int row = 0; row < rows; ++row) out.push_back(matrix[row * width + k]);
  return out;
}

Numbers rows_times(const Numbers& matrix, const Numbers& bar, double sign) {
  const std::size_t width = matrix.size() / bar.size();
  Numbers out(width);
  for (std::size_t k = 0; k < matrix.size(); ++k)
    out[k % width] += sign * matrix[k] * bar[k / width];
  return out;
}

// Append a floating joint whose coordinates are behind the existing ones.
Joint appended_floating_joint(Model& model, int parent, const SE3d& X_PJ) {
  Joint joint;
  joint.type = JointType::floating;
  joint.parent = parent;
  joint.X_PJ = X_PJ;
  joint.q_index = model.n_q;
  joint.n_q = 7;
  joint.v_index = model.n_v;
  joint.n_v = 6;
  joint.prepare();
  model.n_q += 7;
  model.n_v += 6;
  model.armature.resize(model.n_v);
  return joint;
}

// Insert a massless floating joint before joint i.
Model with_free_placement(Model model, int i) {
  const Joint before = appended_floating_joint(model, model.joints[i].parent, model.joints[i].X_PJ);
  for (Joint& joint : model.joints)
    if (joint.parent >= i) ++joint.parent;
  for (Frame& frame : model.frames)
    if (frame.body >= i) ++frame.body;
  model.joints[i].parent = i;
  model.joints[i].X_PJ = SE3d();
  model.joints[i].prepare();
  model.joints.insert(model.joints.begin() + i, before);
  model.inertias.insert(model.inertias.begin() + i, Inertia());
  number_columns(model);
  return model;
}

// Put the mass of body i on a floating joint that the body carries.
Model with_free_inertia(Model model, int i) {
  model.joints.push_back(appended_floating_joint(model, i, SE3d()));
  model.inertias.push_back(model.inertias[i]);
  model.inertias[i] = Inertia();
  number_columns(model);
  return model;
}

// Derivative of tau, first n coordinates, along entry k of the appended floating joint's velocity.
Numbers appended_rate(const Model& extended, const Numbers& q, const Numbers& v, const Numbers& a,
                      int k, const Applied& wrenches) {
  Numbers q_all = q, v_all = v, a_all = a;
  q_all.insert(q_all.end(), {0, 0, 0, 0, 0, 0, 1});
  v_all.resize(extended.n_v);
  a_all.resize(v_all.size());
  Numbers unit(v_all.size());
  unit[v.size() + k] = 1;
  Data<Dual> dual(extended);
  Duals out(v_all.size());
  rnea(extended, dual, moving(extended, q_all, unit).data(),
       Duals(v_all.begin(), v_all.end()).data(), Duals(a_all.begin(), a_all.end()).data(),
       out.data(), dual_of(wrenches));
  out.resize(v.size());
  return rates(out);
}

Numbers inverse_dynamics(const Model& model, const Numbers& q, const Numbers& v, const Numbers& a,
                         const Applied& wrenches = {}) {
  Data<double> data(model);
  Numbers tau(v.size());
  rnea(model, data, q.data(), v.data(), a.data(), tau.data(), wrenches);
  return tau;
}

Numbers minus(Numbers x, const Numbers& y) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] -= y[k];
  return x;
}

Mat3d symmetric_unit(int k) {  // in the order of ParameterOutputs::inertia
  constexpr int rows[] = {0, 0, 1, 0, 1, 2}, columns[] = {0, 1, 1, 2, 2, 2};
  Mat3d out;
  out(rows[k], columns[k]) = out(columns[k], rows[k]) = 1;
  return out;
}

}  // namespace

TEST_CASE("inertial parameters lead back to the inertia, and add as bodies do") {
  Random random(21);
  const auto check_same = [](const Inertia& x, const Inertia& y) {
    check_close(x.mass, y.mass);
    check_close(x.com, y.com);
    for (int i = 0; i < 3; ++i) check_close(x.I_com.row[i], y.I_com.row[i]);
  };
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Inertia x = random.inertia(), y = random.inertia();
    const auto pi_x = inertial_parameters(x), pi_y = inertial_parameters(y);
    check_same(inertia_from_parameters(pi_x.data()), x);
    auto sum = pi_x;
    for (int k = 0; k < n_inertial; ++k) sum[k] += pi_y[k];
    check_same(inertia_from_parameters(sum.data()), x + y);
  }
  check_same(inertia_from_parameters(inertial_parameters(Inertia()).data()), Inertia());
}

TEST_CASE(
    "inverse dynamics is the regressor times the inertial parameters, and armature times "
    "acceleration") {
  over_battery([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                  const Numbers& a) {
    const std::size_t width = static_cast<std::size_t>(n_inertial * (model.n_bodies() - 1));
    Data<double> data(model);
    Numbers Y(v.size() * width), parameters(width), product(v.size()), pi_bar(width);
    inertial_regressor(model, data, q.data(), v.data(), a.data(), Y.data());
    inertial_parameters(model, parameters.data());
    Numbers expected = inverse_dynamics(model, q, v, a);
    for (int k = 0; k < model.n_v; ++k) expected[k] -= model.armature[k] * a[k];
    check_close(times(Y, parameters), expected);
    const Numbers x = random.numbers(static_cast<int>(width)), bar = random.numbers(model.n_v);
    regressor_times(model, data, q.data(), v.data(), a.data(), x.data(), product.data());
    check_close(product, times(Y, x));
    regressor_transpose_times(model, data, q.data(), v.data(), a.data(), bar.data(), pi_bar.data());
    check_close(pi_bar, rows_times(Y, bar, 1));
    // Another mechanism with the same structure.
    Model other = model;
    for (int i = 1; i < model.n_bodies(); ++i) other.inertias[i] = random.inertia();
    Numbers pi_other(width);
    inertial_parameters(other, pi_other.data());
    check_close(times(Y, minus(pi_other, parameters)),
                minus(inverse_dynamics(other, q, v, a), inverse_dynamics(model, q, v, a)), 1e-11);
  });
}

TEST_CASE(
    "parameter derivatives of inverse dynamics are those of dual numbers through joints put in for "
    "them") {
  over_battery([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                  const Numbers& a) {
    const Applied wrenches = random_wrenches<double>(random, model);
    const int n = model.n_v;
    Data<double> data(model);
    Results D(model, n);
    rnea_parameter_derivatives(model, data, q.data(), v.data(), a.data(), D.outputs(), wrenches);
    for (int i = 1; i < model.n_bodies(); ++i) {
      const int b = i - 1;
      // tau is linear in mass and moments.
      const Numbers tau = inverse_dynamics(model, q, v, a);
      Model changed = model;
      changed.inertias[i].mass += 1;
      // tau loses digits by cancellation, here and below.
      check_close(column(D.mass, n, b), minus(inverse_dynamics(changed, q, v, a), tau), 1e-11);
      for (int k = 0; k < 6; ++k) {
        changed = model;
        changed.inertias[i].I_com += symmetric_unit(k);
        check_close(column(D.inertia, n, 6 * b + k), minus(inverse_dynamics(changed, q, v, a), tau),
                    1e-11);
      }
      changed = with_free_inertia(model, i);
      for (int k = 0; k < 3; ++k)
        check_close(column(D.com, n, 3 * b + k), appended_rate(changed, q, v, a, k, wrenches));
      changed = with_free_placement(model, i);
      for (int k = 0; k < 6; ++k)
        check_close(column(D.placement, n, 6 * b + k),
                    appended_rate(changed, q, v, a, k, wrenches));
    }
    for (int k = 0; k < n; ++k) {
      Model changed = model;
      changed.armature[k] += 1;
      check_close(column(D.armature, n, k),
                  minus(inverse_dynamics(changed, q, v, a), inverse_dynamics(model, q, v, a)),
                  1e-11);
    }
    // Without wrenches only the derivatives by placements are different.
    Results unloaded(model, n);
    rnea_parameter_derivatives(model, data, q.data(), v.data(), a.data(), unloaded.outputs());
    CHECK(unloaded.com == D.com);
    const int i = 1 + random.index(model.n_bodies() - 1);
    for (int k = 0; k < 6; ++k)
      check_close(column(unloaded.placement, n, 6 * i - 6 + k),
                  appended_rate(with_free_placement(model, i), q, v, a, k, {}));
  });
}

TEST_CASE(
    "gradients in parameters are the transposes of the matrices, of inverse and forward dynamics") {
  over_battery([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                  const Numbers& a) {
    for (const bool loaded : {false, true}) {
      Applied wrenches;
      if (loaded) wrenches = random_wrenches<double>(random, model);
      const Numbers bar = random.numbers(model.n_v);
      Data<double> data(model);
      Results D(model, model.n_v), gradient(model, 1);
      Numbers acceleration(v.size()), again(v.size()), tau_bar(v.size());
      const auto check_transposed = [&](double tolerance) {
        check_close(gradient.mass, rows_times(D.mass, bar, 1), tolerance);
        check_close(gradient.com, rows_times(D.com, bar, 1), tolerance);
        check_close(gradient.inertia, rows_times(D.inertia, bar, 1), tolerance);
        check_close(gradient.placement, rows_times(D.placement, bar, 1), tolerance);
        check_close(gradient.armature, rows_times(D.armature, bar, 1), tolerance);
      };
      rnea_parameter_derivatives(model, data, q.data(), v.data(), a.data(), D.outputs(), wrenches);
      rnea_parameter_vjp(model, data, q.data(), v.data(), a.data(), bar.data(), gradient.outputs(),
                         wrenches);
      check_transposed(1e-12);
      const Numbers& tau = a;
      forward_dynamics_parameter_derivatives(model, data, q.data(), v.data(), tau.data(),
                                             acceleration.data(), D.outputs(), wrenches);
      forward_dynamics_parameter_vjp(model, data, q.data(), v.data(), tau.data(), bar.data(),
                                     again.data(), tau_bar.data(), gradient.outputs(), wrenches);
      CHECK(again == acceleration);
      check_transposed(1e-10);  // the condition of M amplifies rounding
    }
  });
}

TEST_CASE(
    "parameter derivatives of forward dynamics are those of differences over changed models") {
  int at = 0;
  over_battery([&](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                   const Numbers& tau) {
    const Applied wrenches = random_wrenches<double>(random, model);
    const int n = model.n_v, i = 1 + at++ % (model.n_bodies() - 1), b = i - 1;
    Data<double> data(model);
    Results D(model, n);
    Numbers a(v.size());
    forward_dynamics_parameter_derivatives(model, data, q.data(), v.data(), tau.data(), a.data(),
                                           D.outputs(), wrenches);
    const auto check = [&](const Numbers& derivative, auto&& change, double step = 0.02) {
      const auto changed = [&](double t) {
        Model other = model;
        change(other, t);
        Data<double> own(other);
        Numbers out(v.size());
        forward_dynamics(other, own, q.data(), v.data(), tau.data(), out.data(), wrenches);
        return out;
      };
      check_close(derivative, ridders(changed, step), 1e-8);
    };
    check(column(D.mass, n, b), [&](Model& other, double t) { other.inertias[i].mass += t; });
    for (int k = 0; k < 3; ++k)
      check(column(D.com, n, 3 * b + k),
            [&](Model& other, double t) { other.inertias[i].com[k] += t; });
    for (int k = 0; k < 6; ++k) {
      // The smallest principal moments are 8e-4: moments must stay positive, here and with
      // armature.
      check(
          column(D.inertia, n, 6 * b + k),
          [&](Model& other, double t) { other.inertias[i].I_com += t * symmetric_unit(k); }, 2e-4);
      check(column(D.placement, n, 6 * b + k), [&](Model& other, double t) {
        Motion<double> twist;
        (k < 3 ? twist.linear[k] : twist.angular[k - 3]) = t;
        other.joints[i].X_PJ = other.joints[i].X_PJ * exp_motion(twist);
        other.joints[i].prepare();
      });
    }
    const int k = model.joints[i].v_index;
    check(
        column(D.armature, n, k), [&](Model& other, double t) { other.armature[k] += t; }, 2e-4);
  });
}

TEST_CASE(
    "regressor and parameter derivatives in lanes: two states side by side give what each gives "
    "alone") {
  using L = Lanes<2, Isa::baseline>;
  over_battery([](const Model& model, Random& random, const Numbers& q, const Numbers& v,
                  const Numbers& a) {
    const int n = model.n_v;
    const Numbers qs[] = {q, random.configuration(model)}, vs[] = {v, random.numbers(n)},
                  as[] = {a, random.numbers(n)};
    const Numbers bars[] = {random.numbers(n), random.numbers(n)};
    const auto pack = [](const Numbers(&x)[2]) {
      std::vector<L> out(x[0].size());
      for (std::size_t k = 0; k < out.size(); ++k) {
        out[k].set(0, x[0][k]);
        out[k].set(1, x[1][k]);
      }
      return out;
    };
    // All results of this file, in sequence.
    const auto all = [&]<class S>(Data<S>& data, const std::vector<S>& q_, const std::vector<S>& v_,
                                  const std::vector<S>& a_, const std::vector<S>& bar) {
      const std::size_t width = static_cast<std::size_t>(n_inertial * (model.n_bodies() - 1));
      std::vector<S> out(v.size() * width), product(width), tau(v.size()), acceleration(v.size());
      const auto append = [&](const std::vector<S>& x) {
        out.insert(out.end(), x.begin(), x.end());
      };
      const auto append_results = [&](const ResultsOf<S>& r) {
        append(r.mass);
        append(r.com);
        append(r.inertia);
        append(r.placement);
        append(r.armature);
      };
      inertial_regressor(model, data, q_.data(), v_.data(), a_.data(), out.data());
      regressor_transpose_times(model, data, q_.data(), v_.data(), a_.data(), bar.data(),
                                product.data());
      append(product);
      regressor_times(model, data, q_.data(), v_.data(), a_.data(), product.data(), tau.data());
      append(tau);
      ResultsOf<S> D(model, n), gradient(model, 1);
      rnea_parameter_derivatives(model, data, q_.data(), v_.data(), a_.data(), D.outputs());
      append_results(D);
      rnea_parameter_vjp(model, data, q_.data(), v_.data(), a_.data(), bar.data(),
                         gradient.outputs());
      append_results(gradient);
      forward_dynamics_parameter_derivatives(model, data, q_.data(), v_.data(), a_.data(),
                                             acceleration.data(), D.outputs());
      append_results(D);
      forward_dynamics_parameter_vjp(model, data, q_.data(), v_.data(), a_.data(), bar.data(),
                                     acceleration.data(), tau.data(), gradient.outputs());
      append_results(gradient);
      return out;
    };
    Data<L> lanes(model);
    const std::vector<L> both = all(lanes, pack(qs), pack(vs), pack(as), pack(bars));
    for (int lane = 0; lane < 2; ++lane) {
      Data<double> data(model);
      Numbers own;
      for (const L& x : both) own.push_back(x[lane]);
      // Sines differ in the last place; the condition of M amplifies this.
      check_close(own, all(data, qs[lane], vs[lane], as[lane], bars[lane]), 1e-10);
    }
  });
}

TEST_CASE("regressor and parameter derivatives allocate nothing after the first call") {
  for (const Case& c : battery()) {
    const Model& model = c.model;
    CAPTURE(c.label);
    Random random(4);
    const Applied wrenches = random_wrenches<double>(random, model);
    const Numbers q = random.configuration(model), v = random.numbers(model.n_v),
                  x = random.numbers(model.n_v);
    const std::size_t width = static_cast<std::size_t>(n_inertial * (model.n_bodies() - 1));
    Numbers Y(v.size() * width), parameters(width), a(v.size()), tau_bar(v.size());
    Results D(model, model.n_v), gradient(model, 1);
    Data<double> data(model);
    const ParameterOutputs<double> matrices = D.outputs(), gradients = gradient.outputs();
    CHECK(allocations_when_repeated([&] {
            inertial_parameters(model, parameters.data());
            inertial_regressor(model, data, q.data(), v.data(), v.data(), Y.data());
            regressor_times(model, data, q.data(), v.data(), v.data(), parameters.data(), a.data());
            regressor_transpose_times(model, data, q.data(), v.data(), v.data(), x.data(),
                                      parameters.data());
            rnea_parameter_derivatives(model, data, q.data(), v.data(), v.data(), matrices,
                                       wrenches);
            rnea_parameter_vjp(model, data, q.data(), v.data(), v.data(), x.data(), gradients,
                               wrenches);
            forward_dynamics_parameter_derivatives(model, data, q.data(), v.data(), v.data(),
                                                   a.data(), matrices, wrenches);
            forward_dynamics_parameter_vjp(model, data, q.data(), v.data(), v.data(), x.data(),
                                           a.data(), tau_bar.data(), gradients, wrenches);
          }) == 0);
  }
}
