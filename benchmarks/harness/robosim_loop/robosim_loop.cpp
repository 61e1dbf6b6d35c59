// The engine's dynamics over prepared states, in plain loops: one state at a time, as a caller from C++ has it.
//
// The engine is built from the checkout's sources as for the wheel, and the model is put together by its ModelBuilder from
// the same parts that `robosim.load_robot` hands over. A plain C interface, compiled when a benchmark first needs it (see
// robosim_loop.py).
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/lanes.h"
#include "dynamics/forward_dynamics_derivatives.h"
#include "model/builder.h"

using namespace robosim;

namespace {

using S = Lanes<1, own_isa>;  // a plain number
static_assert(sizeof(S) == sizeof(double));

struct Robot {
  ModelBuilder builder;
  std::optional<Model> model;
  std::optional<Data<S>> data;
  int n_states = 0;
  std::vector<S> q, v, a, tau;  // states one after the other
  std::vector<S> out;           // of the operation that ran last
  std::string error;
};

// One state and where its results go, one after the other.
struct Call {
  const S *q, *v, *a, *tau;
  S* out;
};

struct Operation {
  const char* name;
  void (*run)(const Model&, Data<S>&, const Call&);
};

#define OPERATION(name, ...) \
  { name, [](const Model& m, Data<S>& d, const Call& x) { __VA_ARGS__; } }

const Operation operations[] = {
    OPERATION("forward_kinematics", (void)x.out; forward_kinematics(m, d, x.q)),
    OPERATION("joint_jacobians", forward_kinematics(m, d, x.q); motion_subspaces(m, d)),
    OPERATION("rnea", rnea(m, d, x.q, x.v, x.a, x.out)),
    OPERATION("crba", crba(m, d, x.q, x.out)),
    OPERATION("aba", aba(m, d, x.q, x.v, x.tau, x.out)),
    OPERATION("mass_matrix_inverse", crba(m, d, x.q, d.M.data()); mass_factor(m, d.M.data(), d.L.data());
              mass_inverse(m, d.L.data(), x.out)),
    OPERATION("rnea_derivatives", const int n2 = m.n_v * m.n_v;
              rnea_derivatives(m, d, x.q, x.v, x.a, x.out, x.out + n2, x.out + 2 * n2)),
    OPERATION("aba_derivatives", const int n2 = m.n_v * m.n_v;
              forward_dynamics_derivatives(m, d, x.q, x.v, x.tau, x.out + 3 * n2, x.out, x.out + n2, x.out + 2 * n2)),
};

Vec3d vec3_from(const double* x) { return {x[0], x[1], x[2]}; }
Mat3d mat3_from(const double* m, int stride) { return {vec3_from(m), vec3_from(m + stride), vec3_from(m + 2 * stride)}; }
SE3d pose_from(const double* X) { return {mat3_from(X, 4), {X[3], X[7], X[11]}}; }

Call call_of(Robot& robot, int i) {
  const int n_q = robot.model->n_q, n_v = robot.model->n_v;
  return {robot.q.data() + i * n_q, robot.v.data() + i * n_v, robot.a.data() + i * n_v, robot.tau.data() + i * n_v, robot.out.data()};
}

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

// Throws for an unknown name.
const Operation& find(const char* name) {
  for (const Operation& operation : operations)
    if (!std::strcmp(operation.name, name)) return operation;
  throw std::invalid_argument(std::string("the loops have no ") + name);
}

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT Robot* robot_new(int floating_base) {
  return new Robot{.builder = ModelBuilder("robot", floating_base != 0)};
}
EXPORT void robot_delete(Robot* robot) { delete robot; }
EXPORT const char* robot_error(const Robot* robot) { return robot->error.c_str(); }

EXPORT int robot_add_link(Robot* robot, const char* name, double mass, const double* com, const double* I_com) {
  return guarded(*robot, [&] { robot->builder.add_link(name, {mass, vec3_from(com), mat3_from(I_com, 3)}); });
}

EXPORT int robot_add_joint(Robot* robot, const char* name, const char* kind, const char* parent, const char* child,
                           const double* X_PJ, const double* axis, double armature) {
  return guarded(*robot, [&] {
    JointSpec joint;
    joint.name = name, joint.kind = kind, joint.parent = parent, joint.child = child;
    joint.X_PJ = pose_from(X_PJ), joint.axis = vec3_from(axis), joint.armature = armature;
    robot->builder.add_joint(std::move(joint));
  });
}

EXPORT int robot_build(Robot* robot, const double* gravity) {
  return guarded(*robot, [&] {
    robot->model = robot->builder.build({});
    robot->model->gravity = vec3_from(gravity);
    robot->data.emplace(*robot->model);
  });
}

// Takes n states, rows of q (n, n_q) and of v, a, tau (n, n_v), once the model is built.
EXPORT void robot_set_states(Robot* robot, int n, const double* q, const double* v, const double* a, const double* tau) {
  const int n_q = robot->model->n_q, n_v = robot->model->n_v;
  robot->n_states = n;
  robot->q.assign(q, q + n * n_q), robot->v.assign(v, v + n * n_v);
  robot->a.assign(a, a + n * n_v), robot->tau.assign(tau, tau + n * n_v);
  robot->out.assign(3 * n_v * n_v + n_v, S(0));
}

// Runs an operation on every state, `passes` times over. This is what is timed.
EXPORT int robot_run(Robot* robot, const char* name, int passes) {
  return guarded(*robot, [&] {
    const Operation& operation = find(name);
    for (int pass = 0; pass < passes; ++pass)
      for (int i = 0; i < robot->n_states; ++i) operation.run(*robot->model, *robot->data, call_of(*robot, i));
  });
}

// The results of an operation for one state: 3 n_v^2 + n_v numbers, those of the operation first.
EXPORT int robot_result(Robot* robot, const char* name, int state, double* out) {
  return guarded(*robot, [&] {
    find(name).run(*robot->model, *robot->data, call_of(*robot, state));
    std::memcpy(out, robot->out.data(), sizeof(double) * robot->out.size());
  });
}

}  // extern "C"
