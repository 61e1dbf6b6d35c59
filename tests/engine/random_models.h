// Seeded random mechanisms: the battery on which every kernel is tested. It iterates over
// joint_types, so that an additional type is covered once it is in that list.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "dynamics/configuration.h"
#include "model/builder.h"
#include "model/joint_layout.h"
#include "spatial/lie.h"

namespace robosim::testing {

using Numbers = std::vector<double>;

// All kinds of moving joints.
inline std::vector<std::string> moving_kinds() {
  std::vector<std::string> kinds = joint_kinds();
  std::erase(kinds, "fixed");
  return kinds;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low = -1, double high = 1) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  int index(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }
  Vec3d vec3(double size = 1) {
    const double x = uniform(-size, size), y = uniform(-size, size), z = uniform(-size, size);
    return {x, y, z};
  }
  Numbers numbers(int n, double size = 1) {
    Numbers out(static_cast<std::size_t>(n));
    for (double& x : out) x = uniform(-size, size);
    return out;
  }
  SE3d pose() {
    const Vec3d w = vec3(2), v = vec3(0.5);
    return exp_motion(Motion<double>{w, v});
  }
  // Inertia of a box with random axes, so physically valid.
  Inertia inertia() {
    const double m = uniform(0.5, 3), a = uniform(0.1, 0.6), b = uniform(0.1, 0.6),
                 c = uniform(0.1, 0.6);
    const Mat3d box = Mat3d::diagonal(m / 12 * (b * b + c * c), m / 12 * (a * a + c * c),
                                      m / 12 * (a * a + b * b));
    const Mat3d R = pose().R;
    Mat3d I = R * box * transpose(R);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j) I(i, j) = I(j, i);
    return {m, vec3(0.3), I};
  }
  Numbers configuration(const Model& model) {
    Numbers u(static_cast<std::size_t>(model.n_q)), q(u.size());
    for (double& x : u) x = uniform(0, 1);
    sample_configuration(model, u.data(), q.data());
    return q;
  }

 private:
  std::mt19937 engine_;
};

struct Case {
  std::string label;
  Model model;
};

// Tree of `n` links whose joints have the given kinds in turn. Every third link also carries a
// welded link.
inline ModelBuilder random_tree(const std::string& name, Random& random,
                                const std::vector<std::string>& kinds, int n, bool chain,
                                bool floating_base) {
  ModelBuilder builder(name, floating_base);
  builder.add_link("l0", random.inertia());
  for (int i = 1; i <= n; ++i) {
    const std::string link = message("l", i);
    builder.add_link(link, random.inertia());
    JointSpec joint;
    joint.name = message("j", i);
    joint.kind = kinds[static_cast<std::size_t>(i) % kinds.size()];
    joint.parent = message("l", chain ? i - 1 : random.index(i));
    joint.child = link;
    joint.X_PJ = random.pose();
    joint.axis = random.vec3();
    if (joint_layout(*moving_type(joint.kind)).has_pitch) joint.pitch = random.uniform(-0.3, 0.3);
    joint.armature = i % 2 ? 0 : random.uniform(0.01, 0.2);
    joint.damping = random.uniform(0, 1);
    joint.friction = random.uniform(0, 1);
    joint.friction_width = random.uniform(0.01, 2);
    joint.rotor_inertia = random.uniform(0, 1e-4);
    joint.gear_ratio = random.uniform(-50, 50);
    const std::vector<std::string> springy = one_position_kinds();
    if (std::find(springy.begin(), springy.end(), joint.kind) != springy.end()) {
      joint.stiffness = random.uniform(0, 20);
      joint.spring_reference = random.uniform();
    }
    builder.add_joint(joint);
    if (i % 3) continue;
    builder.add_link(message(link, "_tool"), random.inertia());
    JointSpec weld;
    weld.name = message(joint.name, "_weld");
    weld.parent = link;
    weld.child = message(link, "_tool");
    weld.X_PJ = random.pose();
    builder.add_joint(weld);
  }
  return builder;
}

// Tree with mimic joints: along one branch, across branches, through a chain, of another type,
// backwards. With `free` the same tree has independent joints only.
inline Model mimic_tree(bool free) {
  Random random(11);
  ModelBuilder builder("mimic", true);
  const auto link = [&](int i) { builder.add_link(message("l", i), random.inertia()); };
  link(0);
  struct Row {
    int parent;
    const char* kind;
    const char* source;
    double ratio, offset;
  };
  const Row rows[] = {{0, "revolute", "", 0, 0},      {1, "revolute", "j1", -0.7, 0.2},
                      {2, "prismatic", "j1", 0.3, 0}, {0, "revolute", "j6", 1.5, -0.1},
                      {4, "planar", "", 0, 0},        {5, "prismatic", "", 0, 0},
                      {6, "revolute", "j2", 2, 0.5},  {7, "continuous", "", 0, 0}};
  int i = 0;
  for (const Row& row : rows) {
    link(++i);
    JointSpec joint;
    joint.name = message("j", i);
    joint.kind = row.kind;
    joint.parent = message("l", row.parent);
    joint.child = message("l", i);
    joint.X_PJ = random.pose();
    joint.axis = random.vec3();
    if (joint_layout(*moving_type(joint.kind)).n_q == 1) {
      joint.stiffness = random.uniform(1, 20);
      joint.spring_reference = random.uniform();
      joint.friction = random.uniform(0, 1);
      joint.damping = random.uniform(0, 1);
      joint.armature = random.uniform(0, 0.1);
      joint.rotor_inertia = random.uniform(0, 1e-4);
      joint.gear_ratio = 30;
    }
    if (*row.source && !free) joint.mimic = MimicSpec{row.source, row.ratio, row.offset};
    builder.add_joint(joint);
  }
  return builder.build({});
}

// Joints as in most robot descriptions, for which kernels have shortcuts: along and against each
// axis of their frames, with frames rotated about no axis, about each axis, and about the same
// coordinate axis.
inline Model aligned_tree() {
  Random random(19);
  ModelBuilder builder("aligned", true);
  builder.add_link("l0", random.inertia());
  const auto turn = [&](int k, double angle) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    Mat3d R = Mat3d::identity();
    R(a, a) = R(b, b) = std::cos(angle);
    R(b, a) = std::sin(angle);
    R(a, b) = -R(b, a);
    return R;
  };
  const char* const kinds[] = {"revolute",  "revolute", "continuous", "revolute",
                               "prismatic", "helical",  "revolute"};
  for (int i = 1; i <= 21; ++i) {
    const int k = i % 3, fixed = i % 4;  // all pairs of axis and rotation
    builder.add_link(message("l", i), random.inertia());
    JointSpec joint;
    joint.name = message("j", i);
    joint.parent = message("l", i % 6 == 1 ? 0 : i - 1 - (i % 5 == 0));
    joint.child = message("l", i);
    joint.kind = i <= 12 ? "revolute" : kinds[i % 7];
    joint.X_PJ =
        SE3d(fixed == 3 ? Mat3d::identity() : turn(fixed, i == 4 ? pi : random.uniform(-3, 3)),
             random.vec3());
    joint.axis = Vec3d();
    joint.axis[k] = i % 5 < 3 ? 1 : -1;
    if (joint.kind == "helical") joint.pitch = 0.2;
    joint.damping = random.uniform(0, 1);
    joint.armature = random.uniform(0, 0.1);
    if (i == 17) joint.mimic = MimicSpec{"j11", -0.8, 0.3};
    builder.add_joint(joint);
  }
  return builder.build({});
}

inline std::vector<Case> battery() {
  std::vector<Case> cases;
  Random random(7);
  const std::vector<std::string> all = moving_kinds();
  for (const std::string& kind : all)
    cases.push_back({kind, random_tree(kind, random, {kind}, 3, true, false).build({})});
  cases.push_back({"chain", random_tree("chain", random, {"revolute"}, 7, true, false).build({})});
  cases.push_back({"tree", random_tree("tree", random, all, 13, false, false).build({})});
  cases.push_back({"aligned", aligned_tree()});
  cases.push_back(
      {"free-flying tree", random_tree("flying", random, all, 12, false, true).build({})});
  cases.push_back({"mimic", mimic_tree(false)});
  return cases;
}

}  // namespace robosim::testing
