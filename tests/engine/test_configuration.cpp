// Integration on the configuration manifold, and the exponentials and logarithms that it uses.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "base/dual.h"
#include "dynamics/configuration_products.h"
#include "random_models.h"
#include "ridders.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

double distance(const Numbers& a, const Numbers& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) worst = std::max(worst, std::abs(a[k] - b[k]));
  return worst;
}

}  // namespace

TEST_CASE("difference undoes integrate, from the smallest to the largest turns") {
  for (const Case& c : battery()) {
    CAPTURE(c.label);
    Random random(1);
    for (const double size :
         {0.0, 1e-300, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 0.4999, 0.5001, 1.0, 1.8}) {
      CAPTURE(size);
      // |w| < sqrt(3) 1.8 < pi.
      const Numbers q = random.configuration(c.model), v = random.numbers(c.model.n_v, size);
      Numbers moved(q.size()), back(v.size());
      integrate(c.model, q.data(), v.data(), moved.data());
      difference(c.model, q.data(), moved.data(), back.data());
      CHECK(distance(back, v) < 2e-14 * std::max(1.0, 10 * size));  // q itself is rounded at 1e-16
      Numbers half = v, twice = q;
      for (double& x : half) x *= 0.5;
      integrate(c.model, twice.data(), half.data(), twice.data());  // in place
      integrate(c.model, twice.data(), half.data(), twice.data());
      // A constant v generates a one-parameter group.
      CHECK(distance(twice, moved) < 1e-14 * std::max(1.0, 10 * size));
    }
  }
}

TEST_CASE("integrating the difference arrives, also across half turns") {
  for (const Case& c : battery()) {
    CAPTURE(c.label);
    Random random(2);
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Numbers q0 = random.configuration(c.model), q1 = random.configuration(c.model);
      Numbers v(static_cast<std::size_t>(c.model.n_v)), q(q0.size());
      difference(c.model, q0.data(), q1.data(), v.data());
      integrate(c.model, q0.data(), v.data(), q.data());
      for (const Joint& joint : c.model.joints) {
        if (joint.mimic || joint.n_q == 0) continue;
        const SE3d X = joint_placement(joint, q.data() + joint.q_index),
                   Y = joint_placement(joint, q1.data() + joint.q_index);
        // Near |w| = pi the logarithm's direction loses a few digits.
        CHECK(norm(X.p - Y.p) < 1e-12);
        for (int i = 0; i < 3; ++i) CHECK(norm(X.R.row[i] - Y.R.row[i]) < 1e-12);
        if (joint.n_v == 6)
          CHECK(norm(Vec3d{v[joint.v_index + 3], v[joint.v_index + 4], v[joint.v_index + 5]}) <=
                pi + 1e-12);
        if (joint.n_v == 3) CHECK(std::abs(v[joint.v_index + 2]) <= pi + 1e-12);
      }
    }
  }
}

TEST_CASE("the velocity of coordinate rates is the one that integrate makes them from") {
  for (const Case& c : battery()) {
    CAPTURE(c.label);
    Random random(5);
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Numbers q = random.configuration(c.model), v = random.numbers(c.model.n_v, 2);
      // dq = d/dt integrate(q, v t) at t = 0.
      std::vector<Dual> from(q.begin(), q.end()), along(v.size()), to(q.size());
      for (std::size_t k = 0; k < v.size(); ++k) along[k] = {0, v[k]};
      integrate(c.model, from.data(), along.data(), to.data());
      Numbers rates, back(v.size());
      for (const Dual& x : to) rates.push_back(x.derivative);
      velocity(c.model, q.data(), rates.data(), back.data());
      CHECK(distance(back, v) < 1e-13);
      // A change of a quaternion's length is no motion.
      for (int k = 0; k < c.model.n_q; ++k)
        if (coordinate_of(c.model, k) == Coordinate::quaternion) rates[k] += 0.7 * q[k];
      velocity(c.model, q.data(), rates.data(), back.data());
      CHECK(distance(back, v) < 1e-13);
    }
  }
}

TEST_CASE("products with the derivatives of integrate and difference are those of differences") {
  for (const Case& c : battery()) {
    CAPTURE(c.label);
    Random random(6);
    for (const double size : {0.0, 1e-5, 0.3, 1.5}) {
      const Numbers q = random.configuration(c.model), v = random.numbers(c.model.n_v, size),
                    bar = random.numbers(c.model.n_v), along = random.numbers(c.model.n_v);
      Numbers moved(q.size()), back(bar.size());
      integrate(c.model, q.data(), v.data(), moved.data());
      const auto product = [&](const Numbers& x) {
        return std::inner_product(x.begin(), x.end(), bar.begin(), 0.0);
      };
      const auto way = [&](const Numbers& from, double h) {
        Numbers out(from);
        for (std::size_t k = 0; k < out.size(); ++k) out[k] += h * along[k];
        return out;
      };
      const auto compare = [&](const Numbers& gradient, auto&& at) {
        const double expected = ridders([&](double h) { return Numbers{at(h)}; })[0];
        CHECK(std::inner_product(gradient.begin(), gradient.end(), along.begin(), 0.0) ==
              doctest::Approx(expected).epsilon(1e-9));
      };
      integrate_vjp(c.model, q.data(), v.data(), bar.data(), back.data());
      compare(back, [&](double h) {
        Numbers there(q.size()), apart(v.size());
        integrate(c.model, q.data(), way(v, h).data(), there.data());
        difference(c.model, moved.data(), there.data(), apart.data());
        return product(apart);
      });
      back = bar;
      difference_vjp(c.model, q.data(), moved.data(), back.data(), back.data());  // in place
      compare(back, [&](double h) {
        Numbers there(q.size()), apart(v.size());
        integrate(c.model, moved.data(), way(Numbers(v.size()), h).data(), there.data());
        difference(c.model, q.data(), there.data(), apart.data());
        return product(apart);
      });
    }
  }
}

TEST_CASE("no joint moves its child farther than it says, and small motions reach nearly that") {
  for (const std::string& kind : moving_kinds()) {
    CAPTURE(kind);
    Random random(12);
    const Model model = random_tree(kind, random, {kind}, 1, true, false).build({});
    const Joint& joint = model.joints[1];
    double closest_turn = 0, closest_slide = 0;
    for (int repeat = 0; repeat < 300; ++repeat) {
      const double size = repeat % 2 ? 1e-3 : 0.4;
      const Numbers q0 = random.configuration(model), step = random.numbers(model.n_v, size);
      Numbers q1(q0.size()), dq(q0.size());
      integrate(model, q0.data(), step.data(), q1.data());
      for (std::size_t k = 0; k < dq.size(); ++k) dq[k] = std::abs(q1[k] - q0[k]);
      visit_joint(joint.type, [&]<class J>(J) {
        const Travel travel = J::travel(joint, dq.data());
        const SE3d X = J::placement(joint, q0.data()), Y = J::placement(joint, q1.data());
        const double turn = norm(log_rotation(transpose(X.R) * Y.R)), slide = norm(Y.p - X.p);
        // The chord between two quaternions is shorter than the arc, by one part in 24 angle^2 / 4.
        CHECK(turn <= travel.turn * (1 + 0.02 * size) + 1e-12);
        CHECK(slide <= travel.slide + 1e-12);
        if (travel.turn > 1e-5) closest_turn = std::max(closest_turn, turn / travel.turn);
        if (travel.slide > 1e-5) closest_slide = std::max(closest_slide, slide / travel.slide);
        if (J::angular == 0) CHECK(travel.turn == 0);
      });
    }
    const JointLayout layout = joint_layout(joint.type);
    if (layout.angular) CHECK(closest_turn > 0.999);
    if (layout.coordinates[0] == Coordinate::length || layout.has_pitch)
      CHECK(closest_slide > 0.999);
  }
}

TEST_CASE("types say of themselves what their kernels do") {
  for (const std::string& kind : moving_kinds()) {
    CAPTURE(kind);
    Random random(13);
    const Model model = random_tree(kind, random, {kind}, 1, true, false).build({});
    const Joint& joint = model.joints[1];
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Numbers q = random.configuration(model);
      visit_joint(joint.type, [&]<class J>(J) {
        const SE3d X = joint_placement(joint, q.data()),
                   Y = joint.X_PJ * J::placement(joint, q.data());
        CHECK(norm(X.p - Y.p) < 1e-14);
        for (int i = 0; i < 3; ++i) CHECK(norm(X.R.row[i] - Y.R.row[i]) < 1e-14);
        for (int k = 0; k < J::n_v; ++k) {
          Motion<double> column;
          const auto given = J::template column<double>(joint, k);
          if constexpr (requires { given.angular; }) column.angular = given.angular;
          if constexpr (requires { given.linear; }) column.linear = given.linear;
          CHECK((norm(column.angular) > 0) == ((J::angular >> k & 1u) != 0));
          if (J::has_axis) CHECK(norm(cross(column.angular, joint.axis)) < 1e-15);
        }
        for (int k = 0; k < J::n_q; ++k) {
          if (J::coordinates[k] == Coordinate::quaternion) continue;
          // A full turn leads to the same pose exactly if the type declares it periodic.
          Numbers turned = q;
          turned[k] += 2 * pi;
          const SE3d Z = joint_placement(joint, turned.data());
          const double off =
              norm(X.p - Z.p) + norm(X.R.row[0] - Z.R.row[0]) + norm(X.R.row[1] - Z.R.row[1]);
          CHECK((off < 1e-12) == (J::coordinates[k] == Coordinate::periodic_angle));
        }
      });
    }
  }
}

TEST_CASE("derivatives of difference are exact at and near zero") {
  // d/de difference(q, integrate(q, e v)) = v at e = 0: the series branch must propagate
  // derivatives, too.
  for (const Case& c : battery()) {
    CAPTURE(c.label);
    Random random(4);
    const Numbers q = random.configuration(c.model), v = random.numbers(c.model.n_v);
    for (const double start : {0.0, 1e-9, 1e-3}) {
      std::vector<Dual> from(q.begin(), q.end()), along(v.size()), to(q.size()), back(v.size());
      for (std::size_t k = 0; k < v.size(); ++k) along[k] = {start * v[k], v[k]};
      integrate(c.model, from.data(), along.data(), to.data());
      difference(c.model, from.data(), to.data(), back.data());
      for (std::size_t k = 0; k < v.size(); ++k) CHECK(std::abs(back[k].derivative - v[k]) < 1e-12);
    }
  }
}

TEST_CASE("rotation series meet their closed forms") {
  for (const double angle : {0.3, 0.4999999, 0.5, 0.5000001, 0.8, 2.0}) {
    const RotationSeries<double> f(angle * angle);
    CHECK(f.A == doctest::Approx(std::sin(angle) / angle).epsilon(1e-15));
    // The reference formulas lose digits by cancellation.
    CHECK(f.B == doctest::Approx((1 - std::cos(angle)) / (angle * angle)).epsilon(1e-14));
    CHECK(f.C == doctest::Approx((angle - std::sin(angle)) / std::pow(angle, 3)).epsilon(1e-13));
    CHECK(f.D ==
          doctest::Approx((1 - angle / 2 / std::tan(angle / 2)) / (angle * angle)).epsilon(1e-13));
  }
  const double below = 0.25 * (1 - 1e-15), above = 0.25;
  const RotationSeries<double> a(below), b(above);
  for (const auto& [x, y] : {std::pair{a.A, b.A}, {a.B, b.B}, {a.C, b.C}, {a.D, b.D}})
    CHECK(std::abs(x - y) < 5e-15);
}

TEST_CASE("logarithm of a pose, up to half turns about any axis") {
  Random random(6);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const double size = repeat % 4 == 0 ? pi - 1e-9 * repeat : random.uniform(0, pi);
    Vec3d axis = random.vec3();
    axis *= 1 / norm(axis);
    const Motion<double> V{size * axis, random.vec3()};
    const SE3d X = exp_motion(V), Y = exp_motion(log_pose(X));
    CHECK(norm(X.p - Y.p) < 1e-13);
    for (int i = 0; i < 3; ++i) CHECK(norm(X.R.row[i] - Y.R.row[i]) < 1e-14);
    if (size < 3.1) CHECK(norm(log_pose(X).angular - V.angular) < 1e-13);
  }
}

TEST_CASE("samples keep the limits and rotations are unbiased") {
  ModelBuilder builder("sampled", true);
  builder.add_link("base", {1, {}, Mat3d::identity()});
  builder.add_link("slider", {1, {}, Mat3d::identity()});
  JointSpec joint;
  joint.name = "slide";
  joint.kind = "prismatic";
  joint.parent = "base";
  joint.child = "slider";
  joint.lower = {0.2};
  joint.upper = {0.3};
  builder.add_joint(joint);
  const Model model = builder.build({});
  Random random(8);
  const int n = 20000;
  Mat3d mean;
  for (int repeat = 0; repeat < n; ++repeat) {
    const Numbers q = random.configuration(model);
    CHECK_MESSAGE((q[7] >= 0.2 && q[7] <= 0.3), q[7]);
    mean += (1.0 / n) * quaternion_rotation(q.data() + 3);
  }
  // Each entry of a uniform rotation has mean 0 and variance 1/3: five standard deviations of the
  // mean.
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) CHECK(std::abs(mean(i, j)) < 5 * std::sqrt(1. / 3 / n));
}
