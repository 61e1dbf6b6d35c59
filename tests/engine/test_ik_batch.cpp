// Inverse kinematics of many poses: reachable poses are solved for all joint types, poses are
// independent of each other, and bounds are valid.
#include <doctest/doctest.h>

#include <cmath>

#include "dynamics/kinematics.h"
#include "planning/ik_batch.h"
#include "planning/ik_reach.h"
#include "planning/ik_residual.h"
#include "random_models.h"
#include "scale.h"
#include "spatial/lie.h"

using namespace robosim;

namespace {

// A chain of these joint kinds. Continuous joints have no limits, the others are within 1.5 of
// zero.
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
    if (kinds[i] == "helical") spec.pitch = 0.1;
    if (kinds[i] == "planar") {
      spec.lower = {-1.5, -1.5, -1.5};
      spec.upper = {1.5, 1.5, 1.5};
    } else if (kinds[i] != "continuous") {
      spec.lower = {-1.5};
      spec.upper = {1.5};
    }
    builder.add_joint(spec);
  }
  return builder.build({});
}

const std::vector<std::vector<std::string>> mechanisms{
    {"revolute", "revolute", "revolute", "revolute", "revolute", "revolute", "revolute"},
    {"prismatic", "revolute", "continuous", "prismatic", "revolute", "revolute", "revolute"},
    {"planar", "revolute", "helical", "revolute", "continuous", "revolute"},
    {"prismatic", "prismatic", "prismatic", "revolute"},
    {"prismatic", "prismatic"},
};

IkOptions all_columns(const Model& model) {
  IkOptions options;
  for (int i = 0; i < model.n_q; ++i) options.columns.push_back(i);
  options.lower = model.limits.q_lower;
  options.upper = model.limits.q_upper;
  return options;
}

SE3d end_pose(const Model& model, Data<double>& data, const std::vector<double>& q) {
  forward_kinematics(model, data, q.data());
  return frame_placement(model, data, model.frames.back());
}

}  // namespace

TEST_CASE(
    "poses of configurations are met, whatever the joints, and the answers are those of one pose "
    "at a time") {
  testing::Random random(11);
  for (const auto& kinds : mechanisms) {
    const Model model = chain(random, kinds);
    Data<double> data(model);
    IkGoal goal;
    goal.frame = static_cast<int>(model.frames.size()) - 1;
    const int n = testing::repeats(60, 600);
    std::vector<SE3d> poses;
    std::vector<double> starts;
    for (int i = 0; i < n; ++i) {
      poses.push_back(end_pose(model, data, random.configuration(model)));
      const std::vector<double> start = random.configuration(model);
      starts.insert(starts.end(), start.begin(), start.end());
    }
    IkBatchOptions options;
    options.ik = all_columns(model);
    options.threads = 2;
    const IkBatchResult found =
        inverse_kinematics_many(model, goal, n, poses.data(), starts.data(), false, options);
    int solved = 0;
    for (int i = 0; i < n; ++i) {
      const std::size_t k = static_cast<std::size_t>(i), n_q = static_cast<std::size_t>(model.n_q);
      const double* own = found.q.data() + k * n_q;
      const std::vector<double> q(own, own + n_q);
      CHECK(found.status[k] != IkStatus::out_of_reach);
      if (found.status[k] != IkStatus::solved) continue;
      ++solved;
      const Motion<double> error = log_pose(poses[k].inverse() * end_pose(model, data, q));
      CHECK(norm(error.linear) <= 1e-8);  // attempts end at 1e-9
      CHECK(norm(error.angular) <= 1e-8);
      for (std::size_t j = 0; j < n_q; ++j) {
        CHECK(q[j] >= model.limits.q_lower[j]);
        CHECK(q[j] <= model.limits.q_upper[j]);
      }
    }
    CHECK(solved >= 0.98 * n);
    // Some poses alone: the same bits, as the first start is the same.
    for (int i = 0; i < n; i += 17) {
      std::vector<double> two(starts.begin(), starts.begin() + model.n_q);
      two.insert(two.end(), starts.begin() + i * model.n_q, starts.begin() + (i + 1) * model.n_q);
      const SE3d both[2] = {poses[0], poses[i]};
      const IkBatchResult alone =
          inverse_kinematics_many(model, goal, 2, both, two.data(), false, options);
      for (int j = 0; j < model.n_q; ++j)
        CHECK(alone.q[model.n_q + j] == found.q[i * model.n_q + j]);
    }
  }
}

TEST_CASE("errors of boxes are those that one at a time tells") {
  testing::Random random(12);
  const double inf = std::numeric_limits<double>::infinity();
  const double boxes[][6] = {{0, 0, 0, 0, 0, inf},     {0, 0, 0, inf, 0, 0},
                             {0, 0, 0, inf, inf, inf}, {0.1, inf, 0, 0, 0, 0},
                             {0, 0, 0, 0.2, 0.5, 0.1}, {0.1, 0, 0.2, 0, 0, 0.3},
                             {0, 0, 0, inf, inf, 0.2}};
  for (const auto& box : boxes) {
    const Model model = chain(random, mechanisms[0]);
    Data<double> data(model);
    IkGoal goal;
    goal.frame = static_cast<int>(model.frames.size()) - 1;
    for (int i = 0; i < 6; ++i) {
      goal.lower[i] = -box[i];
      goal.upper[i] = box[i];
    }
    IkBatchOptions options;
    options.ik = all_columns(model);
    options.attempts = 1;  // so that many poses are not solved
    const int n = 40;
    std::vector<SE3d> poses;
    for (int i = 0; i < n; ++i) poses.push_back(end_pose(model, data, random.configuration(model)));
    const std::vector<double> start = random.configuration(model);
    const IkBatchResult found =
        inverse_kinematics_many(model, goal, n, poses.data(), start.data(), true, options);
    for (int i = 0; i < n; ++i) {
      const std::size_t k = static_cast<std::size_t>(i);
      goal.X_WG = poses[k];
      IkResidual residual(model, goal, options.ik.columns);
      residual.evaluate(found.q.data() + i * model.n_q);
      CHECK(found.position_error[k] ==
            doctest::Approx(residual.position_error()).epsilon(1e-6).scale(1e-3));
      CHECK(found.rotation_error[k] ==
            doctest::Approx(residual.rotation_error()).epsilon(1e-6).scale(1e-3));
    }
  }
}

TEST_CASE("no configuration's pose is beyond the bound, and what is clearly beyond is") {
  testing::Random random(13);
  int proven = 0, asked = 0;
  for (int trial = 0; trial < testing::repeats(40, 400); ++trial) {
    const Model model =
        chain(random, mechanisms[static_cast<std::size_t>(trial) % mechanisms.size()]);
    Data<double> data(model);
    IkGoal goal;
    goal.frame = static_cast<int>(model.frames.size()) - 1;
    goal.X_FE = random.pose();
    IkOptions options = all_columns(model);
    const std::vector<double> reference = random.configuration(model);
    const IkReach reach(model, goal, options, reference.data());
    double farthest = 0;
    SE3d far;
    for (int i = 0; i < 200; ++i) {
      std::vector<double> q = random.configuration(model);
      // Joints at their limits reach farthest.
      for (std::size_t j = 0; j < q.size(); ++j)
        if (random.uniform(0, 1) < 0.3 && std::isfinite(model.limits.q_lower[j]))
          q[j] = random.uniform(0, 1) < 0.5 ? model.limits.q_lower[j] : model.limits.q_upper[j];
      const SE3d X = end_pose(model, data, q) * goal.X_FE;
      CHECK_FALSE(reach(X).is_beyond);
      if (norm(X.p) > farthest) {
        farthest = norm(X.p);
        far = X;
      }
    }
    far.p = 10.0 * far.p;
    ++asked;
    proven += reach(far).is_beyond;
  }
  CHECK(proven == asked);
}
