// Small worlds for tests of the step: bodies over a floor.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "random_models.h"
#include "step/parameters.h"
#include "step/step.h"

namespace robosim::testing {

// A model, its scene over a half-space z <= 0, and its world.
struct StepWorld {
  Model model;
  std::unique_ptr<CollisionScene> scene;
  std::unique_ptr<World> world;

  // `ground` replaces the half-space. All colliders collide with the floor. With `among_each_other`
  // they also collide with those of other bodies that no joint connects directly.
  StepWorld(Model m, const PairMaterial& material, bool among_each_other = true,
            std::vector<Motor> motors = {}, const CollisionGeometry& ground = Shape::half_space(),
            Closures closures = {})
      : model(std::move(m)) {
    std::vector<std::pair<int, int>> pairs;
    const int n = static_cast<int>(model.colliders.size());
    for (int a = 0; a < n; ++a) pairs.emplace_back(a, n);
    if (among_each_other)
      pairs.insert(pairs.end(), model.collision_pairs.begin(), model.collision_pairs.end());
    std::vector<ExtraObject> floor{{"floor", ground, 0, SE3d()}};
    scene = std::make_unique<CollisionScene>(model, std::move(floor), pairs);
    world = std::make_unique<World>(*scene, std::vector<PairMaterial>{material}, std::move(motors),
                                    std::move(closures));
  }
  // World from changed parts. dt is not part of a world.
  explicit StepWorld(WorldParts parts) : model(std::move(parts.model)) {
    scene =
        std::make_unique<CollisionScene>(model, std::move(parts.extras), std::move(parts.pairs));
    world = std::make_unique<World>(*scene, std::move(parts.materials), std::move(parts.motors),
                                    std::move(parts.closures));
  }
  StepWorld(const StepWorld&) = delete;
  StepWorld& operator=(const StepWorld&) = delete;
};

// Inertia of a homogeneous box.
inline Inertia box_inertia(double mass, const Vec3d& half) {
  const double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
  return {mass, Vec3d(),
          Mat3d::diagonal(mass / 3 * (y + z), mass / 3 * (x + z), mass / 3 * (x + y))};
}

// A free body: q has seven entries for each, v six.
struct FreeBody {
  Shape shape;
  Inertia inertia;
};
inline Model free_bodies(const std::vector<FreeBody>& bodies) {
  ModelBuilder builder("bodies", false);
  builder.add_link("base", Inertia());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::string name = message("body", i);
    builder.add_link(name, bodies[i].inertia);
    JointSpec joint;
    joint.name = message("free", i);
    joint.kind = "floating";
    joint.parent = "base";
    joint.child = name;
    builder.add_joint(joint);
    builder.add_collider(name, bodies[i].shape, SE3d(), "shape");
  }
  return builder.build({});
}

inline FreeBody free_box(double mass, const Vec3d& half) {
  return {Shape::box(half), box_inertia(mass, half)};
}
inline FreeBody free_ball(double mass, double radius) {
  const double moment = 0.4 * mass * radius * radius;
  return {Shape::sphere(radius), {mass, Vec3d(), Mat3d::diagonal(moment, moment, moment)}};
}

// Select every number of every parameter with a derivative, as separate columns, vertices last.
inline ParameterSelection all_parameters(const World& world) {
  ParameterSelection selection;
  const std::vector<double>& zeros = world.parameters().zeros();
  const int before_vertices = static_cast<int>(zeros.size());
  for (int i = 0; i < before_vertices + 3 * world.vertices().size(); ++i) {
    if (i < before_vertices && std::isnan(zeros[i])) continue;
    selection.number.push_back(i);
    selection.weight.push_back(1);
    selection.begin.push_back(static_cast<int>(selection.number.size()));
  }
  return selection;
}

// Read the same numbers from a gradient.
inline Numbers numbers_of(const ParameterSelection& selection, const StepGradient& g) {
  Numbers numbers(static_cast<std::size_t>(selection.size()));
  selection.read(g.parameters, numbers.data());
  return numbers;
}

}  // namespace robosim::testing
