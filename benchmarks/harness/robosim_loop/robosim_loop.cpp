// The engine's dynamics over prepared states, in plain loops: one state at a time, and in batches,
// as a C++ caller would use it.
//
// The engine is built from the checkout's sources as for the wheel. The ModelBuilder builds the
// model from the same parts that `robosim.load_robot` passes to it. This is a plain C interface,
// compiled when a benchmark first needs it (see robosim_loop.py).
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "dynamics/batch.h"
#include "model/builder.h"
#include "numbers.h"

using namespace robosim;

namespace {

struct Robot {
  ModelBuilder builder;
  std::optional<Model> model;
  std::unique_ptr<Workspace> workspace;
  Batch batch;
  std::vector<int> frames;
  int n_states = 0;
  // By the argument's name, all states in sequence.
  std::map<std::string, std::vector<double>> states;
  // Outputs of the last operation. Those of a batch have all states in sequence and start at a
  // cache line, like those of robosim.batch.
  std::vector<AlignedVector<double>> out;
  std::string error;
};

// An operation with the addresses and sizes [numbers] of its arguments.
struct Prepared {
  int operation;
  Options options;
  int n_in, n_out;
  const double* in[max_arguments];
  std::ptrdiff_t in_size[max_arguments];
  double* out[max_arguments];
};

// Throws for an unknown operation, or one with inputs other than q, v, a, tau and points of frames.
// Jacobians are of the last frame, all other results of frames are of all frames.
Prepared prepare(Robot& robot, const char* name) {
  const Model& model = *robot.model;
  Prepared p{};
  p.operation = operation_index(name);
  if (p.operation < 0) throw std::invalid_argument(std::string("no operation ") + name);
  p.options.frames = robot.frames;
  if (!std::strcmp(name, "frame_jacobians")) p.options.frames = p.options.frames.last(1);
  const OperationInfo& info = all_operations()[p.operation];
  for (const Argument& input : info.inputs) {
    p.in_size[p.n_in] = size_of(model, p.options, input);
    if (!std::strcmp(input.name, "point"))  // of frames: their origins
      robot.states["point"].assign(static_cast<std::size_t>(robot.n_states * p.in_size[p.n_in]),
                                   0.0);
    p.in[p.n_in++] = robot.states.at(input.name).data();
  }
  robot.out.resize(info.outputs.size());
  for (const Argument& output : info.outputs) {
    AlignedVector<double>& to = robot.out[p.n_out];
    to.resize(static_cast<std::size_t>(robot.n_states * size_of(model, p.options, output)));
    p.out[p.n_out++] = to.data();
  }
  return p;
}

// Run the operation on one state. Results always go to the same memory, as in Pinocchio's Data.
void run_one(Robot& robot, const Kernel& kernel, Prepared& p, int state) {
  const double* in[max_arguments];
  for (int k = 0; k < p.n_in; ++k) in[k] = p.in[k] + state * p.in_size[k];
  kernel.one(*robot.model, *robot.workspace, p.options, in, p.out);
}

// Run `work` and keep its exception's message as the robot's error. Returns 0 on success.
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

EXPORT Robot* robot_new(int floating_base) {
  return new Robot{.builder = ModelBuilder("robot", floating_base != 0)};
}
EXPORT void robot_delete(Robot* robot) { delete robot; }
EXPORT const char* robot_error(const Robot* robot) { return robot->error.c_str(); }

// Number of states that the selected kernels process at once.
EXPORT int robot_lanes() { return kernels().lanes; }

EXPORT int robot_add_link(Robot* robot, const char* name, double mass, const double* com,
                          const double* I_com) {
  return guarded(*robot, [&] {
    robot->builder.add_link(name, {mass, vec3_from(com), mat3_from(I_com, 3)});
  });
}

EXPORT int robot_add_joint(Robot* robot, const char* name, const char* kind, const char* parent,
                           const char* child, const double* X_PJ, const double* axis,
                           double armature) {
  return guarded(*robot, [&] {
    JointSpec joint;
    joint.name = name;
    joint.kind = kind;
    joint.parent = parent;
    joint.child = child;
    joint.X_PJ = pose_from(X_PJ);
    joint.axis = vec3_from(axis);
    joint.armature = armature;
    robot->builder.add_joint(std::move(joint));
  });
}

EXPORT int robot_build(Robot* robot, const double* gravity) {
  return guarded(*robot, [&] {
    robot->model = robot->builder.build({});
    robot->model->gravity = vec3_from(gravity);
    robot->workspace = kernels().make_workspace(*robot->model);
  });
}

// Append a link to the frames of operations about frames.
EXPORT int robot_add_frame(Robot* robot, const char* link) {
  return guarded(*robot, [&] {
    for (std::size_t i = 0; i < robot->model->frames.size(); ++i)
      if (robot->model->frames[i].name == link) return robot->frames.push_back(static_cast<int>(i));
    throw std::invalid_argument(std::string("no link ") + link);
  });
}

// Set n states, rows of q (n, n_q) and of v, a, tau (n, n_v), after the model has been built.
EXPORT void robot_set_states(Robot* robot, int n, const double* q, const double* v, const double* a,
                             const double* tau) {
  const int n_q = robot->model->n_q, n_v = robot->model->n_v;
  robot->n_states = n;
  robot->states["q"].assign(q, q + n * n_q);
  robot->states["v"].assign(v, v + n * n_v);
  robot->states["a"].assign(a, a + n * n_v);
  robot->states["tau"].assign(tau, tau + n * n_v);
}

// Run an operation on every state separately, `passes` times. This function is timed.
EXPORT int robot_run(Robot* robot, const char* name, int passes) {
  return guarded(*robot, [&] {
    Prepared p = prepare(*robot, name);
    const Kernel& kernel = kernels().operations[p.operation];
    for (int pass = 0; pass < passes; ++pass)
      for (int i = 0; i < robot->n_states; ++i) run_one(*robot, kernel, p, i);
  });
}

// Run an operation on all states as one batch, `passes` times. This function is timed, too.
EXPORT int robot_run_batch(Robot* robot, const char* name, int threads, int passes) {
  return guarded(*robot, [&] {
    const Prepared p = prepare(*robot, name);
    for (int pass = 0; pass < passes; ++pass)
      robot->batch.run(*robot->model, p.operation, p.options, robot->n_states, p.in, p.in_size,
                       p.out, threads);
  });
}

// Run an operation on one state; its results are the first in the outputs.
EXPORT int robot_run_one(Robot* robot, const char* name, int state) {
  return guarded(*robot, [&] {
    Prepared p = prepare(*robot, name);
    run_one(*robot, kernels().operations[p.operation], p, state);
  });
}

// Return an output of the last operation.
EXPORT const double* robot_output(const Robot* robot, int output) {
  return robot->out.at(static_cast<std::size_t>(output)).data();
}

}  // extern "C"
