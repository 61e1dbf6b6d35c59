// What a loss changes by with each argument of a step, and with the parameters of its world.
#pragma once

#include <vector>

#include "step/world.h"

namespace robosim {

struct StepGradient {
  std::vector<double> q, v;                    // n_v each; of q in the tangent space, body side
  std::vector<double> tau, q_target, v_target;  // n_v, n_q, n_v
  std::vector<PairMaterial> materials;         // per pair of the scene
  std::vector<Motor> motors;                   // per entry of v
  // Whether the derivative holds on one side only, or not at all: the impulses are not those of the selection rule, or features of a contact
  // change right here.
  bool is_one_sided = false;

  void set_zero(const World& world) {
    const Model& m = world.model();
    const auto n_v = static_cast<std::size_t>(m.n_v), n_q = static_cast<std::size_t>(m.n_q);
    for (std::vector<double>* x : {&q, &v, &tau, &v_target}) x->assign(n_v, 0.0);
    q_target.assign(n_q, 0.0);
    materials.assign(world.scene().pairs().size(), PairMaterial{0, 0, 0, 0});
    motors.assign(n_v, Motor{0, 0, 0});
    is_one_sided = false;
  }
};

}  // namespace robosim
