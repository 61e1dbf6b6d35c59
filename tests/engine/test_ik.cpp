// Inverse kinematics on random mechanisms: results are solutions within limits, nearest first.
#include <doctest/doctest.h>

#include <cmath>

#include "dynamics/jacobian.h"
#include "planning/ik.h"
#include "planning/ik_residual.h"
#include "random_models.h"

using namespace robosim;

namespace {

Model chain(testing::Random& random, const std::vector<std::string>& kinds) {
  ModelBuilder builder("chain", false);
  builder.add_link("link_0", random.inertia());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string child = "link_" + std::to_string(i + 1);
    builder.add_link(child, random.inertia());
    JointSpec spec;
    spec.name = "joint_" + std::to_string(i);
    spec.kind = kinds[i];
    spec.parent = "link_" + std::to_string(i);
    spec.child = child;
    spec.X_PJ = random.pose();
    spec.axis = random.vec3();
    if (kinds[i] != "continuous") {
      spec.lower = {-1.5};
      spec.upper = {1.5};
    }
    builder.add_joint(spec);
  }
  return builder.build({});
}

IkOptions all_columns(const Model& model, const std::vector<double>& reference) {
  IkOptions options;
  for (int i = 0; i < model.n_q; ++i) options.columns.push_back(i);
  options.lower = model.limits.q_lower;
  options.upper = model.limits.q_upper;
  options.reference = reference;
  return options;
}

const std::vector<std::string> kinds{"revolute",  "planar",     "revolute",
                                     "prismatic", "continuous", "revolute"};

}  // namespace

TEST_CASE("solutions are at the goal, within limits, nearest first") {
  testing::Random random(1);
  int solved = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Model model = chain(random, kinds);
    Data<double> data(model);
    const std::vector<double> target = random.configuration(model);
    IkGoal goal;
    goal.frame = static_cast<int>(model.frames.size()) - 1;
    forward_kinematics(model, data, target.data());
    goal.X_WG = frame_placement(model, data, model.frames.back());
    IkOptions options = all_columns(model, random.configuration(model));
    options.max_solutions = 3;
    const IkResult result = inverse_kinematics(model, goal, options);
    solved += !result.solutions.empty();
    double distance = 0;
    for (const IkSolution& s : result.solutions) {
      forward_kinematics(model, data, s.q.data());
      const Motion<double> error =
          log_pose(goal.X_WG.inverse() * frame_placement(model, data, model.frames.back()));
      CHECK(norm(error.linear) <= 1.1e-6);
      CHECK(norm(error.angular) <= 1.1e-6);
      CHECK(s.distance >= distance);
      distance = s.distance;
      for (std::size_t i = 0; i < s.q.size(); ++i) {
        CHECK(s.q[i] >= model.limits.q_lower[i]);
        CHECK(s.q[i] <= model.limits.q_upper[i]);
      }
    }
  }
  CHECK(solved >= 39);
}

TEST_CASE("the residual's Jacobian is its derivative") {
  testing::Random random(2);
  for (int trial = 0; trial < 20; ++trial) {
    const Model model = chain(random, kinds);
    IkGoal goal;
    goal.frame = static_cast<int>(model.frames.size()) - 1;
    goal.X_WG = random.pose();
    std::vector<int> columns;
    for (int i = 0; i < model.n_q; ++i) columns.push_back(i);
    IkResidual residual(model, goal, columns);
    std::vector<double> q = random.configuration(model);
    residual.evaluate(q.data());
    if (residual.rotation_error() > 2.8) continue;  // the rotation vector jumps at pi
    residual.differentiate();
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const std::vector<double> column(residual.column(j), residual.column(j) + 6);
      const double h = 1e-6, saved = q[j];
      std::vector<double> plus(6), minus(6);
      IkResidual other(model, goal, columns);
      q[j] = saved + h;
      other.evaluate(q.data());
      std::copy_n(other.value(), 6, plus.begin());
      q[j] = saved - h;
      other.evaluate(q.data());
      std::copy_n(other.value(), 6, minus.begin());
      q[j] = saved;
      // Central differences: error of about 1e-10 times second derivatives of order 10, plus
      // rounding / h.
      for (std::size_t i = 0; i < 6; ++i)
        CHECK(column[i] == doctest::Approx((plus[i] - minus[i]) / (2 * h)).epsilon(1e-6).scale(1));
    }
  }
}
