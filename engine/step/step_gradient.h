// Gradient of a loss with respect to the arguments of a step and all parameters of its world.
#pragma once

#include <vector>

#include "base/linalg/zeros.h"
#include "contact/one_sided.h"
#include "step/parameters.h"
#include "step/world.h"

namespace robosim {

struct StepGradient {
  std::vector<double> q, v;                     // n_v each; q in the tangent space, body side
  std::vector<double> tau, q_target, v_target;  // n_v, n_q, n_v
  ParameterVector parameters;
  bool wants_vertices = true;  // false: gradients of vertices are not computed
  OneSided one_sided = OneSided::no;

  void set_zero(const World& world) {
    const Model& m = world.model();
    const auto n_v = static_cast<std::size_t>(m.n_v), n_q = static_cast<std::size_t>(m.n_q);
    for (std::vector<double>* x : {&q, &v, &tau, &v_target}) make_zeros(*x, n_v);
    make_zeros(q_target, n_q);
    parameters.set_zero(world.parameters());
    wants_vertices = true;
    one_sided = OneSided::no;
  }
};

// Call f with each number of one or several gradients of the same world, in parallel. Vertices are
// those of the first gradient's rows.
template <class F, class... Gradients>
void for_each_number(F&& f, Gradients&... gradients) {
  const auto arrays = [&](auto... of) {
    const auto first = [](auto& x, auto&...) -> auto& { return x; };
    for (std::size_t i = 0; i < first(*of...).size(); ++i) f((*of)[i]...);
  };
  arrays(&gradients.q...);
  arrays(&gradients.v...);
  arrays(&gradients.tau...);
  arrays(&gradients.q_target...);
  arrays(&gradients.v_target...);
  for_each_parameter(f, gradients.parameters...);
}

// Add one gradient to another of the same world.
inline void add(const StepGradient& gradient, StepGradient& to) {
  for (const VertexGradient::Row& x : gradient.parameters.vertices.rows())
    to.parameters.vertices.add(x.row, Vec3d());
  for_each_number([](double& sum, double x) { sum += x; }, to, gradient);
}

// Directional derivative of a loss with this gradient. The direction has the layout of a gradient:
// one number per argument. Entries whose direction is zero are skipped, even if their gradient is
// NaN.
inline double along(const StepGradient& gradient, const StepGradient& direction) {
  double sum = 0;
  for_each_number([&](double by, double step) { sum += step != 0 ? by * step : 0; }, gradient,
                  direction);
  return sum;
}

}  // namespace robosim
