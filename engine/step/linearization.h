// Linearization: the derivatives of a step that was taken, from what it has left in StepData.
//
// Gradients go backwards by one transposed solve (linearization_vjp.cpp), tangents forwards (linearization_jvp.cpp), matrices forwards for all columns at once
// (linearization_jacobians.cpp, impulse_jacobians.cpp). What all of them share, as how the contacts' geometry moves, is made once for a step.
#pragma once

#include <cstdint>
#include <vector>

#include "contact/impulse_rates.h"
#include "geometry/manifolds/manifold_derivatives.h"
#include "step/integrators/integrator.h"
#include "step/motion_adjoint.h"
#include "step/parameters.h"
#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

// Where Jacobians of the next state go: of each of q (tangent space, body side) and v, n_v rows; row-major. Null for what nobody asks for.
struct JacobianBlocks {
  double *q = nullptr, *v = nullptr, *tau = nullptr, *q_target = nullptr, *v_target = nullptr;  // 2 n_v rows: q_next, then v_next; n_v, n_v, n_v, n_q, n_v columns
  double* parameters = nullptr;  // a column for each of the selection
  const ParameterSelection* selection = nullptr;

  JacobianBlocks of(const Model& model, int step) const;  // of many, one behind the other
};

// Room for them.
struct StepJacobians {
  std::vector<double> q, v, tau, q_target, v_target;

  JacobianBlocks resize(const Model& model);  // for all
};

class Linearization {
 public:
  Linearization(StepData& step, Integrator& integrator) : step_(step), integrator_(integrator) {}

  // After each step: nothing is known of it yet.
  void reset() { is_derived_ = is_derived_by_everything_ = false; }

  // See Stepper.
  void vjp(const StepInput& in, const double* q_next_bar, const double* v_next_bar, StepGradient& gradient);
  void exact_vjp(const StepInput& in, const double* q_next_bar, const double* v_next_bar, StepGradient& gradient);
  bool jacobians(const StepInput& in, const JacobianBlocks& out);
  bool jvp(const StepInput& in, const StepGradient& direction, double* q_next, double* v_next);

 private:
  // What all derivatives of one step share.
  void derive(const StepInput& in, bool by_everything);
  bool pushes(const StepIsland& island, const double* z, int stride) const;
  bool is_torn(int island, const StepInput& in);
  bool is_torn_by(const StepIsland& island, const double* multipliers, int stride, const double* by_q, const double* by_v) const;

  // Gradients.
  void resize_adjoint();
  void add_row_adjoint(StepIsland& island, StepGradient& gradient, bool of_dependences = false);
  void pull_back_velocity(const StepInput& in, StepGradient& gradient);
  void pull_back(int first_island, int last_island, const StepInput& in, StepGradient& gradient);
  void add_row_vjp(const StepIsland& island, const StepInput& in, const double* lambda, StepGradient& gradient);
  void add_turned_channels(const StepIsland& island, std::size_t block, const double* covector, const double* rates);
  void add_impact_vjp(const StepIsland& island, StepGradient& gradient);
  void add_delassus_vjp(const StepIsland& island, StepGradient& gradient);
  bool choose_classes(StepIsland& island);
  void take_other_classes(StepIsland& island);

  // Tangents.
  void add_impulses_jvp(const StepGradient& direction, double* change);
  Vec3d point_jvp(const StepIsland::Block& block, const StepGradient& direction);

  // Jacobians.
  struct Columns {  // where each begins in a row of them, -1 where nobody asks
    int q, v, tau, q_target, v_target, stride;
  };
  void free_jacobians(const StepInput& in);
  void carry_impulses();
  void add_turning_of_impulses(double* by_q);
  void add_moving_of_impulses(const StepIsland& island, std::size_t block, double* by_q);
  void add_impulse_jacobians(int island, const StepInput& in);
  const double* ask_for_moving(const StepIsland& island);
  bool has_rates(StepIsland& island);
  void add_adjoints(StepIsland& island, const StepInput& in);
  void add_rates(const StepIsland& island, const StepInput& in);
  void fill_twists();
  const double* twists_by(int manifold, int side) const;
  void add_contact_rates(const StepIsland& island, std::size_t block, int first_row, int last_row);
  void add_coordinate_rates(const StepIsland& island, std::size_t block, const StepInput& in);
  void add_turning_of_channels(const StepIsland& island, std::size_t block);
  void parameter_jacobian(const StepInput& in, const JacobianBlocks& out);
  void jacobians_by_gradients(const StepInput& in, const JacobianBlocks& out);

  StepData& step_;
  Integrator& integrator_;

  // Of a step, however many derivatives are asked for. Computed by derive.
  bool is_derived_ = false, is_derived_by_everything_ = false, is_one_sided_ = false;
  std::vector<ManifoldDerivatives> manifold_rates_;  // the first are those of the manifolds

  // Of a gradient.
  MotionAdjoint bodies_;
  std::vector<double> v_bar_, way_bar_;                     // n_v: of the loss
  std::vector<double> impulse_bar_, late_bar_, f_bar_;      // of an island: channels, channels, rows
  std::vector<double> lambda_, lambda_way_;                 // n_v: M^^-1 of these
  std::vector<double> virtual_, pushed_;                    // n_v: rates of joints
  std::vector<double> beyond_, responses_, units_, by_coordinate_;  // of add_delassus_vjp
  std::vector<Vec3d> centre_bar_;                           // of an island's blocks, of single points: of where the channels are
  StepGradient of_impulse_, of_rows_;

  // Of a tangent.
  std::vector<Motion<double>> displaced_;  // bodies
  std::vector<double> change_;             // n_v

  // Of Jacobians.
  Columns columns_{};
  std::vector<double> moved_by_, channels_by_, impulses_by_;  // the new velocity (n_v rows), channels and impulses by all columns
  std::vector<double> unasked_, point_by_, per_point_, unit_, zero_, tangent_;
  std::vector<double> twists_by_;  // of both shapes of each manifold, 6 x padded(n_v)
  ImpulseRates impulse_rates_;
  std::vector<double> moving_Y_;                                // of an island, n_v x what impulse_rates_ asks for
  std::vector<double> twist_rates_, row_rates_, target_rates_;  // of one manifold: impulses by one shape's twist; its rows

  // Of complementarity-aware gradients.
  RowProblem probe_;
  std::vector<RowClass> wanted_;
  std::vector<std::uint8_t> keeps_;  // rows: whether they clamp whatever the loss wants
  std::vector<int> others_;          // islands with other classes
  std::vector<double> true_u_, true_way_;
  StepGradient aware_;
};

}  // namespace robosim
