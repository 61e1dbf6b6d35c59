// Pinocchio's algorithms over prepared states, in plain loops: the peer of robosim's dynamics.
//
// The caller adds the model joint by joint, as Pinocchio itself read it from the URDF, with the
// joint types that Pinocchio chose (a joint along a coordinate axis has its own, faster type). All
// algorithms are compiled here from the headers, so that the compiler's flags can be chosen.
// Nothing is linked, and no Eigen types of this file are visible outside. This is a plain C
// interface, compiled when a benchmark first needs it (see pinocchio_loop.py).
#include <cstring>
#include <string>
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Eigen::Vector3d;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

struct State {
  VectorXd q, v, a, tau;
};

using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic>;

struct Robot {
  pinocchio::Model model;
  pinocchio::Data data;
  Jacobian J;
  std::vector<State> states;
};

// Jacobian of the last joint's frame, at its origin in world axes.
void last_jacobian(const pinocchio::Model& model, pinocchio::Data& data, const State& state,
                   Jacobian& J) {
  pinocchio::computeJointJacobians(model, data, state.q);
  pinocchio::getJointJacobian(model, data, model.njoints - 1, pinocchio::LOCAL_WORLD_ALIGNED, J);
}

// One algorithm on one state. Its results stay in data and J.
using Function = void (*)(const pinocchio::Model&, pinocchio::Data&, const State&, Jacobian&);

struct Algorithm {
  const char* name;
  Function run;
};

#define ALGORITHM(name, call)                                               \
  {                                                                         \
    name, [](const pinocchio::Model& m, pinocchio::Data& d, const State& s, \
             [[maybe_unused]] Jacobian& J) { call; }                        \
  }

using pinocchio::Convention;
constexpr Algorithm algorithms[] = {
    ALGORITHM("forward_kinematics", pinocchio::forwardKinematics(m, d, s.q)),
    ALGORITHM("jacobian", last_jacobian(m, d, s, J)),
    ALGORITHM("rnea", pinocchio::rnea(m, d, s.q, s.v, s.a)),
    ALGORITHM("crba local", pinocchio::crba(m, d, s.q, Convention::LOCAL)),
    ALGORITHM("crba world", pinocchio::crba(m, d, s.q, Convention::WORLD)),
    ALGORITHM("aba local", pinocchio::aba(m, d, s.q, s.v, s.tau, Convention::LOCAL)),
    ALGORITHM("aba world", pinocchio::aba(m, d, s.q, s.v, s.tau, Convention::WORLD)),
    ALGORITHM("mass_matrix_inverse", pinocchio::computeMinverse(m, d, s.q)),
    ALGORITHM("rnea_derivatives", pinocchio::computeRNEADerivatives(m, d, s.q, s.v, s.a)),
    ALGORITHM("aba_derivatives", pinocchio::computeABADerivatives(m, d, s.q, s.v, s.tau)),
};

const Algorithm* find(const char* name) {
  for (const Algorithm& algorithm : algorithms)
    if (!std::strcmp(algorithm.name, name)) return &algorithm;
  return nullptr;
}

pinocchio::SE3 pose_from(const double* X) {  // row-major 4x4
  const Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> M(X);
  return {M.topLeftCorner<3, 3>(), M.topRightCorner<3, 1>()};
}

// Create the joint type that Pinocchio calls `kind`; false for a type that no robot of the
// benchmark has.
bool joint_from(const std::string& kind, const Vector3d& axis, pinocchio::JointModel& joint) {
  if (kind == "JointModelFreeFlyer")
    joint = pinocchio::JointModelFreeFlyer();
  else if (kind == "JointModelRX")
    joint = pinocchio::JointModelRX();
  else if (kind == "JointModelRY")
    joint = pinocchio::JointModelRY();
  else if (kind == "JointModelRZ")
    joint = pinocchio::JointModelRZ();
  else if (kind == "JointModelRUBX")
    joint = pinocchio::JointModelRUBX();
  else if (kind == "JointModelRUBY")
    joint = pinocchio::JointModelRUBY();
  else if (kind == "JointModelRUBZ")
    joint = pinocchio::JointModelRUBZ();
  else if (kind == "JointModelPX")
    joint = pinocchio::JointModelPX();
  else if (kind == "JointModelPY")
    joint = pinocchio::JointModelPY();
  else if (kind == "JointModelPZ")
    joint = pinocchio::JointModelPZ();
  else if (kind == "JointModelRevoluteUnaligned")
    joint = pinocchio::JointModelRevoluteUnaligned(axis);
  else if (kind == "JointModelRevoluteUnboundedUnaligned")
    joint = pinocchio::JointModelRevoluteUnboundedUnaligned(axis);
  else if (kind == "JointModelPrismaticUnaligned")
    joint = pinocchio::JointModelPrismaticUnaligned(axis);
  else
    return false;
  return true;
}

void copy_symmetric(const RowMajor& upper, double*& out) {
  const auto n = upper.rows();
  Eigen::Map<RowMajor>(out, n, n) = upper.selfadjointView<Eigen::Upper>();
  out += n * n;
}

void copy_matrix(const RowMajor& matrix, double*& out) {
  Eigen::Map<RowMajor>(out, matrix.rows(), matrix.cols()) = matrix;
  out += matrix.size();
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) Robot* robot_new(const double* gravity) {
  auto* robot = new Robot;
  robot->model.gravity.linear() = Eigen::Map<const Vector3d>(gravity);
  return robot;
}

__attribute__((visibility("default"))) void robot_delete(Robot* robot) { delete robot; }

// Append a joint with its body. inertia is (3, 3) about the center of mass, armature has one number
// per degree of freedom. Returns the joint's index, or -1 for an unknown kind.
__attribute__((visibility("default"))) int robot_add_joint(Robot* robot, int parent,
                                                           const char* kind, const double* axis,
                                                           const double* X_PJ, double mass,
                                                           const double* com, const double* inertia,
                                                           const double* armature) {
  pinocchio::JointModel joint;
  if (!joint_from(kind, Eigen::Map<const Vector3d>(axis), joint)) return -1;
  pinocchio::Model& model = robot->model;
  const auto index =
      model.addJoint(parent, joint, pose_from(X_PJ), "joint " + std::to_string(model.njoints));
  model.appendBodyToJoint(index, pinocchio::Inertia(mass, Eigen::Map<const Vector3d>(com),
                                                    Eigen::Map<const Eigen::Matrix3d>(inertia)));
  const auto& added = model.joints[index];
  model.armature.segment(added.idx_v(), added.nv()) =
      Eigen::Map<const VectorXd>(armature, added.nv());
  return static_cast<int>(index);
}

// Set n states, rows of q (n, n_q) and of v, a, tau (n, n_v), after all joints have been added.
__attribute__((visibility("default"))) void robot_set_states(Robot* robot, int n, const double* q,
                                                             const double* v, const double* a,
                                                             const double* tau) {
  const int n_q = robot->model.nq, n_v = robot->model.nv;
  robot->data = pinocchio::Data(robot->model);
  robot->J.setZero(6, n_v);
  robot->states.clear();
  for (int i = 0; i < n; ++i, q += n_q, v += n_v, a += n_v, tau += n_v)
    robot->states.push_back({Eigen::Map<const VectorXd>(q, n_q), Eigen::Map<const VectorXd>(v, n_v),
                             Eigen::Map<const VectorXd>(a, n_v),
                             Eigen::Map<const VectorXd>(tau, n_v)});
}

// Run an algorithm on every state, `passes` times; -1 for an unknown name. This function is timed.
__attribute__((visibility("default"))) int robot_run(Robot* robot, const char* name, int passes) {
  const Algorithm* algorithm = find(name);
  if (!algorithm) return -1;
  for (int pass = 0; pass < passes; ++pass)
    for (const State& state : robot->states)
      algorithm->run(robot->model, robot->data, state, robot->J);
  return 0;
}

// Write all results for one state in sequence, row by row: the pose (4, 4) of every joint's frame,
// the Jacobian (6, n_v) of the last, tau (rnea), M, ddq (aba), M^-1, then of rnea d tau / d (q, v),
// then of aba d ddq / d (q, v). `world` selects the convention of crba and aba.
__attribute__((visibility("default"))) void robot_results(Robot* robot, int state, int world,
                                                          double* out) {
  const pinocchio::Model& model = robot->model;
  pinocchio::Data& data = robot->data;
  const State& s = robot->states[state];
  const Convention convention = world ? Convention::WORLD : Convention::LOCAL;
  last_jacobian(model, data, s, robot->J);
  for (int i = 1; i < model.njoints; ++i) copy_matrix(data.oMi[i].toHomogeneousMatrix(), out);
  copy_matrix(robot->J, out);
  Eigen::Map<VectorXd>(out, model.nv) = pinocchio::rnea(model, data, s.q, s.v, s.a),
                            out += model.nv;
  data.M.setZero();
  copy_symmetric(pinocchio::crba(model, data, s.q, convention), out);
  Eigen::Map<VectorXd>(out, model.nv) = pinocchio::aba(model, data, s.q, s.v, s.tau, convention),
                            out += model.nv;
  copy_symmetric(pinocchio::computeMinverse(model, data, s.q), out);
  pinocchio::computeRNEADerivatives(model, data, s.q, s.v, s.a);
  copy_matrix(data.dtau_dq, out);
  copy_matrix(data.dtau_dv, out);
  pinocchio::computeABADerivatives(model, data, s.q, s.v, s.tau);
  copy_matrix(data.ddq_dq, out);
  copy_matrix(data.ddq_dv, out);
}

}  // extern "C"
