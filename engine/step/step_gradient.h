// What a loss changes by with each argument of a step, and with everything that its world is made of.
#pragma once

#include <limits>
#include <vector>

#include "geometry/contact_derivatives.h"
#include "step/vertex_gradient.h"
#include "step/world.h"

namespace robosim {

// By the model's numbers; bodies 1 to n_b - 1 and the joints that carry them as in dynamics/parameter_derivatives.h.
struct ModelGradient {
  std::vector<double> mass, com, inertia, placement;                              // 1, 3, 6, 6 per body
  std::vector<double> armature, damping, friction, stiffness, spring_reference;  // n_v each
  std::vector<double> q_lower, q_upper;                                           // n_q each; zero where there is no limit
  Vec3d gravity;

  void set_zero(const Model& m) {
    const auto bodies = static_cast<std::size_t>(m.n_bodies() - 1), n_v = static_cast<std::size_t>(m.n_v), n_q = static_cast<std::size_t>(m.n_q);
    mass.assign(bodies, 0.0), com.assign(3 * bodies, 0.0), inertia.assign(6 * bodies, 0.0), placement.assign(6 * bodies, 0.0);
    for (std::vector<double>* x : {&armature, &damping, &friction, &stiffness, &spring_reference}) x->assign(n_v, 0.0);
    for (std::vector<double>* x : {&q_lower, &q_upper}) x->assign(n_q, 0.0);
    gravity = Vec3d();
  }
};

// By what an object of the scene is made of.
struct ObjectGradient {
  double pose[6] = {};                               // of a twist in the object's frame, [linear; angular]
  double size[WitnessDerivatives::max_sizes] = {};   // as there; not a number for objects of many pieces, here and below
  double scale = 0;                                  // growing as a whole about its origin, per unit of a factor at 1

  static ObjectGradient zero(const SceneObject& object) {
    ObjectGradient g;
    if (object.geometry.compound) {
      for (double& x : g.size) x = std::numeric_limits<double>::quiet_NaN();
      g.scale = std::numeric_limits<double>::quiet_NaN();
    }
    return g;
  }
};

// By the frames of a closure, of a twist in each frame, [linear; angular].
struct ClosureGradient {
  double F[6] = {}, G[6] = {};
};
struct JointEqualityGradient {
  double coefficients[JointEquality::terms] = {};
};

struct StepGradient {
  std::vector<double> q, v;                      // n_v each; of q in the tangent space, body side
  std::vector<double> tau, q_target, v_target;   // n_v, n_q, n_v
  std::vector<PairMaterial> materials;           // per pair of the scene
  std::vector<Motor> motors;                     // per entry of v
  std::vector<ObjectGradient> objects;           // of the scene
  VertexGradient vertices;                       // of their shapes, by the world's rows
  bool wants_vertices = true;                    // else they are left out, for who does not look at them
  std::vector<ClosureGradient> closures;         // of the world, as the next
  std::vector<JointEqualityGradient> equalities;
  ModelGradient model;
  double dt = 0;
  // Whether the derivative holds on one side only, or not at all: the impulses are not those of the selection rule, some row changes class or
  // features of a contact change right here, or bounces are coupled.
  bool is_one_sided = false;

  void set_zero(const World& world) {
    const Model& m = world.model();
    const auto n_v = static_cast<std::size_t>(m.n_v), n_q = static_cast<std::size_t>(m.n_q);
    for (std::vector<double>* x : {&q, &v, &tau, &v_target}) x->assign(n_v, 0.0);
    q_target.assign(n_q, 0.0);
    materials.assign(world.scene().pairs().size(), PairMaterial{0, 0, 0, 0, 0, 0});
    motors.assign(n_v, Motor{0, 0, 0});
    objects.clear();
    for (const SceneObject& object : world.scene().objects()) objects.push_back(ObjectGradient::zero(object));
    vertices.clear(), wants_vertices = true;
    closures.assign(world.closures().frames.size(), ClosureGradient());
    equalities.assign(world.closures().joints.size(), JointEqualityGradient());
    model.set_zero(m);
    dt = 0;
    is_one_sided = false;
  }
};

// Calls f with each number of one or several gradients, the same of all of them; they are of one world. Of vertices with those of the first's rows: of the
// other gradients by value.
template <class F, class... Gradients>
void for_each_number(F&& f, Gradients&... gradients) {
  const auto vertices = [&](auto& of_first, const auto&... of_others) {
    for (auto& x : of_first.vertices.rows())
      for (int k = 0; k < 3; ++k) f(x.by[k], of_others.vertices.of(x.row)[k]...);
  };
  const auto arrays = [&](auto array_of) {
    const auto first = [](auto& x, auto&...) -> auto& { return x; };
    for (std::size_t i = 0; i < first(array_of(gradients)...).size(); ++i) f(array_of(gradients)[i]...);
  };
  const auto lists = [&](auto list_of, auto each) {
    const auto first = [](auto& x, auto&...) -> auto& { return x; };
    for (std::size_t i = 0; i < first(list_of(gradients)...).size(); ++i) each([&, i](auto number_of) { f(number_of(list_of(gradients)[i])...); });
  };
  arrays([](auto& g) -> auto& { return g.q; }), arrays([](auto& g) -> auto& { return g.v; });
  arrays([](auto& g) -> auto& { return g.tau; }), arrays([](auto& g) -> auto& { return g.q_target; }), arrays([](auto& g) -> auto& { return g.v_target; });
  lists([](auto& g) -> auto& { return g.materials; }, [](auto number) {
    number([](auto& x) -> auto& { return x.friction; }), number([](auto& x) -> auto& { return x.restitution; });
    number([](auto& x) -> auto& { return x.torsional_friction; }), number([](auto& x) -> auto& { return x.rolling_friction; });
    number([](auto& x) -> auto& { return x.compliance; }), number([](auto& x) -> auto& { return x.relaxation_time; });
  });
  lists([](auto& g) -> auto& { return g.motors; }, [](auto number) {
    number([](auto& x) -> auto& { return x.position_gain; }), number([](auto& x) -> auto& { return x.velocity_gain; });
    number([](auto& x) -> auto& { return x.limit; });
  });
  lists([](auto& g) -> auto& { return g.objects; }, [](auto number) {
    for (int k = 0; k < 6; ++k) number([k](auto& x) -> auto& { return x.pose[k]; });
    for (int k = 0; k < WitnessDerivatives::max_sizes; ++k) number([k](auto& x) -> auto& { return x.size[k]; });
    number([](auto& x) -> auto& { return x.scale; });
  });
  vertices(gradients...);
  lists([](auto& g) -> auto& { return g.closures; }, [](auto number) {
    for (int k = 0; k < 6; ++k) number([k](auto& x) -> auto& { return x.F[k]; }), number([k](auto& x) -> auto& { return x.G[k]; });
  });
  lists([](auto& g) -> auto& { return g.equalities; }, [](auto number) {
    for (int k = 0; k < JointEquality::terms; ++k) number([k](auto& x) -> auto& { return x.coefficients[k]; });
  });
  arrays([](auto& g) -> auto& { return g.model.mass; }), arrays([](auto& g) -> auto& { return g.model.com; });
  arrays([](auto& g) -> auto& { return g.model.inertia; }), arrays([](auto& g) -> auto& { return g.model.placement; });
  arrays([](auto& g) -> auto& { return g.model.armature; }), arrays([](auto& g) -> auto& { return g.model.damping; });
  arrays([](auto& g) -> auto& { return g.model.friction; }), arrays([](auto& g) -> auto& { return g.model.stiffness; });
  arrays([](auto& g) -> auto& { return g.model.spring_reference; });
  arrays([](auto& g) -> auto& { return g.model.q_lower; }), arrays([](auto& g) -> auto& { return g.model.q_upper; });
  for (int k = 0; k < 3; ++k) f(gradients.model.gravity[k]...);
  f(gradients.dt...);
}

// What a loss with this gradient changes by along a direction, told as a gradient is: one number per argument. What is zero there is not looked at.
inline double along(const StepGradient& gradient, const StepGradient& direction) {
  double sum = 0;
  for_each_number([&](double by, double step) { sum += step != 0 ? by * step : 0; }, gradient, direction);
  return sum;
}

}  // namespace robosim
