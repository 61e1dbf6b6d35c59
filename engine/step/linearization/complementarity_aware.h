// Gradients for active sets other than the one that the step found (complementarity_aware.cpp).
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "step/step_data.h"
#include "step/step_gradient.h"

namespace robosim {

class ComplementarityAwareVjp {
 public:
  explicit ComplementarityAwareVjp(StepData& step) : step_(step) {}

  // Replace the gradient of the step by that of another active set if the latter is larger. v_bar:
  // gradient of the loss with respect to the velocity at the end. vjp: fills the gradient of the
  // step as StepData describes it.
  void choose(const std::vector<double>& v_bar, const std::function<void(StepGradient&)>& vjp,
              StepGradient& gradient);

 private:
  bool find_wishes(StepIsland& island, const std::vector<double>& v_bar);
  bool wants_apart(StepIsland& met, const std::vector<double>& v_bar);
  bool choose_classes(StepIsland& island, const std::vector<double>& v_bar);
  static void add_change(const StepIsland& island, std::vector<double>& u);
  void exchange_others();

  StepData& step_;
  RowProblem probe_;
  std::vector<RowClass> wanted_;
  std::vector<std::uint8_t> keeps_;  // per row: active whatever the loss wants
  // Islands and impacts with another active set, each with the number of its island.
  std::vector<std::pair<int, StepIsland*>> others_;
  std::vector<double> true_u_, true_corrected_, true_rested_;
  StepGradient other_;
};

}  // namespace robosim
