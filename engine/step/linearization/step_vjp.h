// The gradient of a step that was taken, by one transposed solve (step_vjp.cpp), and the rows that
// other derivatives are made of. Derivatives that all share must be there
// (SharedRates::has_everything; for impulse_vjp without parameters is_there).
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

  // Adds the gradient of a loss that changes by next_bar with the next state to one that is zero.
  void next_state_vjp(const StepInput& in, const TangentView& next_bar, StepGradient& gradient);
  // The same of one entry of the velocity u at the end, or of u with the corrections of positions;
  // no impulse may act late in the step.
  void velocity_vjp(const StepInput& in, int entry, bool of_way, StepGradient& gradient);
  // Adds the gradient of a sum of the channels' impulses at fixed u, and leaves that by the
  // channels' own velocities in island.gradient.y_free. seed: channels. Without parameters their
  // part is not complete.
  void impulse_vjp(StepIsland& island, const double* seed, const StepInput& in,
                   bool with_parameters, StepGradient& gradient);
  // Adds the gradient of what dependences of an island's rows miss (class_factor.h).
  void dependence_vjp(StepIsland& island, const StepInput& in, StepGradient& gradient);

  // The gradient by the velocity at the end, the position with it, if nothing answered; after
  // next_state_vjp.
  const std::vector<double>& velocity_bar() const { return whole_bar_; }

 private:
  void reset();
  // A covector on an island's channels, and the velocity of the joints that these have it of.
  struct Look {
    const std::vector<double>* covector;
    const double* rates;
  };
  // An impact's adjoint, kept until the residual's part is there.
  struct ImpactAdjoint {
    const Impact* met = nullptr;
    std::vector<double> lambda;  // n_v: of its impulses
    // n_v: velocities, and what impulses before it, times their shares, add to them.
    std::vector<double> before, after, late;
    std::vector<double> work_bar;                       // channels: of both velocities, by its work
    std::vector<double> part_lambda[2], part_after[2];  // n_v: of its parts, if it is divided
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
  std::vector<double> v_bar_, way_bar_;      // n_v: of the loss
  std::vector<double> whole_bar_;            // n_v: of both
  std::vector<double> corrected_bar_;        // n_v: of the loss, by u with corrections
  std::span<StepIsland> corrected_;          // corrections whose part is to be added
  std::vector<double> corrected_lambda_;     // n_v: A^-T of corrected_bar_
  std::vector<double> impulse_bar_, f_bar_;  // of an island: channels, rows
  std::vector<double> lambda_;               // n_v: A^-T of these
  std::vector<double> pushed_;               // n_v: rates of joints
  // n_v: of the sum of late impulses' velocities, and of the velocity at rest; room.
  std::vector<double> late_bar_, rested_bar_, whole_;
  std::vector<double> loss_bar_;        // channels: room of an impact
  std::vector<ImpactAdjoint> impacts_;  // the first n_impacts_ are in use
  std::size_t n_impacts_ = 0;
  // Of an island's blocks, of single points: of where the channels are.
  std::vector<Vec3d> center_bar_;
  std::vector<double> beyond_, responses_, units_, by_coordinate_;  // of add_delassus_vjp
};

}  // namespace robosim
