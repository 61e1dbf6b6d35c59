// Response of the islands' impulses, in the columns of the Jacobians (impulse_jacobians.cpp).
#pragma once

#include <vector>

#include "contact/impulse_rates.h"
#include "step/linearization/jacobian_columns.h"
#include "step/linearization/moving_channels.h"
#include "step/linearization/step_vjp.h"

namespace robosim {

class ImpulseJacobians {
 public:
  ImpulseJacobians(StepData& step, const SharedRates& shared, StepVjp& vjp)
      : step_(step), shared_(shared), vjp_(vjp) {}

  // Add Y dz of an island to moved_by, the change of the velocity u (n_v rows) at fixed impulses.
  // Return the causes for which the result is one-sided, if any.
  OneSided add(StepIsland& island, const StepInput& in, const JacobianColumns& columns,
               const ShapeTwists& twists, std::vector<double>& moved_by);

 private:
  bool has_rates(StepIsland& island);
  void add_adjoints(StepIsland& island, const StepInput& in, const JacobianColumns& columns);
  void add_rates(const StepIsland& island, const StepInput& in, const JacobianColumns& columns,
                 const ShapeTwists& twists);
  void add_turning_of_channels(const StepIsland& island, std::size_t block,
                               const JacobianColumns& columns);
  void add_contact_rates(const StepIsland& island, std::size_t block, int first_row, int last_row,
                         const JacobianColumns& columns, const ShapeTwists& twists);
  void add_coordinate_rates(const StepIsland& island, std::size_t block, const StepInput& in,
                            const JacobianColumns& columns);

  StepData& step_;
  const SharedRates& shared_;
  StepVjp& vjp_;

  ImpulseRates rates_;
  MovingChannels moving_;
  ImpulseSeeds seeds_;  // for rows without rates
  // Jacobians with all columns, for one island: of the channels' velocities, and of the impulses of
  // channels or seeds.
  std::vector<double> channels_by_, impulses_by_;
  // Derivatives by the twist of one shape, for one manifold: of impulses, rows and targets.
  std::vector<double> twist_rates_, row_rates_, target_rates_;
  StepGradient row_;  // gradient of one impulse; workspace of is_torn
};

}  // namespace robosim
