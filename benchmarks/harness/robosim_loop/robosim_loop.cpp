// The engine's dynamics over prepared states, in plain loops: one state at a time, as a caller from C++ has it.
//
// The engine is built from the checkout's sources as for the wheel, and the model is put together by its ModelBuilder from
// the same parts that `robosim.load_robot` hands over. A plain C interface, compiled when a benchmark first needs it (see
// robosim_loop.py).
#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "dynamics/forward_dynamics.h"
#include "dynamics/kinematics.h"
#include "dynamics/rnea.h"
#include "model/builder.h"

using namespace robosim;

namespace {

struct Robot {
  ModelBuilder builder;
  std::optional<Model> model;
  std::optional<Data<double>> data;
  int n_states = 0;
  std::vector<double> q, v, a, tau, out;
  std::string error;
};

Vec3d vec3_from(const double* x) { return {x[0], x[1], x[2]}; }
Mat3d mat3_from(const double* m, int stride) { return {vec3_from(m), vec3_from(m + stride), vec3_from(m + 2 * stride)}; }
SE3d pose_from(const double* X) { return {mat3_from(X, 4), {X[3], X[7], X[11]}}; }

// Runs `work`; what it throws is kept as the robot's error. 0 if all went well.
template <class Work>
int guarded(Robot& robot, Work work) {
  try {
    work();
    return 0;
  } catch (const std::exception& e) {
    robot.error = e.what();
    return -1;
  }
}

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT Robot* robot_new(int floating_base) { return new Robot{ModelBuilder("robot", floating_base != 0), {}, {}, 0, {}, {}, {}, {}, {}, {}}; }
EXPORT void robot_delete(Robot* robot) { delete robot; }
EXPORT const char* robot_error(const Robot* robot) { return robot->error.c_str(); }

EXPORT int robot_add_link(Robot* robot, const char* name, double mass, const double* com, const double* I_com) {
  return guarded(*robot, [&] { robot->builder.add_link(name, {mass, vec3_from(com), mat3_from(I_com, 3)}); });
}

EXPORT int robot_add_joint(Robot* robot, const char* name, const char* kind, const char* parent, const char* child, const double* X_PJ,
                           const double* axis, double armature) {
  return guarded(*robot, [&] {
    JointSpec spec;
    spec.name = name, spec.kind = kind, spec.parent = parent, spec.child = child;
    spec.X_PJ = pose_from(X_PJ), spec.axis = vec3_from(axis), spec.armature = armature;
    robot->builder.add_joint(std::move(spec));
  });
}

EXPORT int robot_build(Robot* robot, const double* gravity) {
  return guarded(*robot, [&] {
    robot->model = robot->builder.build({.allow_massless = true});
    robot->model->gravity = vec3_from(gravity);
    robot->data.emplace(*robot->model);
  });
}

EXPORT void robot_set_states(Robot* robot, int n, const double* q, const double* v, const double* a, const double* tau) {
  const int n_q = robot->model->n_q, n_v = robot->model->n_v;
  robot->n_states = n;
  robot->q.assign(q, q + n * n_q), robot->v.assign(v, v + n * n_v);
  robot->a.assign(a, a + n * n_v), robot->tau.assign(tau, tau + n * n_v);
  robot->out.resize(8 * n_v * n_v);
}

EXPORT int robot_run(Robot* robot, const char* name, int passes) {
  (void)name;
  const int n_q = robot->model->n_q, n_v = robot->model->n_v;
  for (int pass = 0; pass < passes; ++pass)
    for (int i = 0; i < robot->n_states; ++i)
      rnea<double>(*robot->model, *robot->data, robot->q.data() + i * n_q, robot->v.data() + i * n_v, robot->a.data() + i * n_v, robot->out.data());
  return 0;
}

}  // extern "C"
