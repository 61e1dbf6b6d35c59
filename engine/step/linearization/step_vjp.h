// Gradient of the last step, by one transposed solve (step_vjp.cpp), and the gradients of single
// entries from which other derivatives are assembled. Requires SharedRates::has_everything;
// impulse_vjp without parameters requires only SharedRates::is_there.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "step/integrators/integrator.h"
#include "step/linearization/shared_rates.h"
#include "step/motion_adjoint.h"
#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

class StepVjp {
 public:
  StepVjp(StepData& step, Integrator& integrator, const SharedRates& shared)
      : step_(step), integrator_(integrator), shared_(shared) {}

  // Add the gradient of a loss to `gradient`, which must be zero. next_bar: gradient of the loss
  // with respect to the next state.
  void next_state_vjp(const StepInput& in, const TangentView& next_bar, StepGradient& gradient);
  // Add the gradient of one entry of the velocity u at the end to `gradient`, which must be zero.
  // If `of_way`, u includes the position corrections. The step must have no impacts.
  void velocity_vjp(const StepInput& in, int entry, bool of_way, StepGradient& gradient);
  // Add the gradient of a weighted sum of the channels' impulses at fixed u. Leaves the gradient
  // with respect to the channels' own velocities in island.gradient.y_free. seed: weights of the
  // channels. Without parameters, the gradient with respect to them is incomplete.
  void impulse_vjp(StepIsland& island, const double* seed, const StepInput& in,
                   bool with_parameters, StepGradient& gradient);
  // Add the gradient of the inconsistency of an island's linearly dependent rows (class_factor.h).
  void dependence_vjp(StepIsland& island, const StepInput& in, StepGradient& gradient);

  // Gradient with respect to the velocity at the end, which also moves the position, at fixed
  // impulses. Call after next_state_vjp.
  const std::vector<double>& velocity_bar() const { return whole_bar_; }

 private:
  void reset();
  // Covector on an island's channels, and the joint velocity that these channels measure.
  struct Look {
    const std::vector<double>* covector;
    const double* rates;
  };
  // Adjoint of an impact, kept until the adjoint of the residual is computed.
  struct ImpactAdjoint {
    const Impact* met = nullptr;
    std::vector<double> lambda;  // n_v: A^-T of the covector on its impulses
    // Velocities (n_v) before and after the impact, and the velocity changes of earlier impacts,
    // each times its share.
    std::vector<double> before, after, late;
    // Channels: gradient of both velocities, through the work.
    std::vector<double> work_bar;
    // For the parts of a divided impact (n_v).
    std::vector<double> part_lambda[2], part_after[2];
  };

  void add_row_adjoint(StepIsland& island, StepGradient& gradient, bool of_dependences = false);
  void pull_back_impacts(StepGradient& gradient);
  void pull_back_impacts(int island, int count, const StepIsland* missed, StepGradient& gradient);
  void add_impacts(const StepInput& in, StepGradient& gradient);
  void add_held_dependence(const StepIsland& island, const StepInput& in, StepGradient& gradient);
  const double* seen_by(const StepIsland& island) const;
  void fill_impulse_bar(const StepIsland& island, const std::vector<double>& bar);
  void pull_back_corrections(StepGradient& gradient);
  void pull_back_corrections(std::span<StepIsland> all);
  void add_corrections(const StepInput& in, StepGradient& gradient);
  void pull_back_velocity(const StepInput& in, StepGradient& gradient);
  void pull_back_rested(int first_island, int last_island, const StepInput& in,
                        StepGradient& gradient);
  void pull_back(int first_island, int last_island, const StepInput& in, StepGradient& gradient);
  void add_looks(const StepIsland& island, std::initializer_list<Look> looks);
  void add_row_vjp(const StepIsland& island, const StepInput& in, std::initializer_list<Look> looks,
                   StepGradient& gradient);
  void add_turned_channels(const StepIsland& island, std::size_t block, const double* covector,
                           const double* rates);
  void add_delassus_vjp(const StepIsland& island, StepGradient& gradient);

  StepData& step_;
  Integrator& integrator_;
  const SharedRates& shared_;

  MotionAdjoint bodies_;
  std::vector<double> v_bar_, way_bar_;      // n_v: gradient of the loss
  std::vector<double> whole_bar_;            // n_v: sum of both
  std::vector<double> corrected_bar_;        // n_v: gradient with respect to u with corrections
  std::span<StepIsland> corrected_;          // corrections that add_corrections has to add
  std::vector<double> corrected_lambda_;     // n_v: A^-T of corrected_bar_
  std::vector<double> impulse_bar_, f_bar_;  // of one island: channels, rows
  std::vector<double> lambda_;               // n_v: A^-T of v_bar_ and the rows' adjoints
  std::vector<double> pushed_;               // n_v: joint velocities
  // Gradients (n_v) with respect to `late`, the sum of impact velocities times their shares, and to
  // the velocity before impacts; workspace.
  std::vector<double> late_bar_, rested_bar_, whole_;
  std::vector<double> loss_bar_;        // channels: workspace of an impact
  std::vector<ImpactAdjoint> impacts_;  // the first n_impacts_ are in use
  std::size_t n_impacts_ = 0;
  // Per block of a single point: gradient with respect to the position of its channels.
  std::vector<Vec3d> center_bar_;
  std::vector<double> beyond_, responses_, units_, by_coordinate_;  // workspace of add_delassus_vjp
};

}  // namespace robosim
