// World: a Model with its colliders among obstacles (CollisionScene), the materials of the pairs
// that may touch, the motors of the joints, and the closures. Immutable, so threads can share it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scene/collision_scene.h"
#include "step/closures.h"
#include "step/parameter_kinds.h"
#include "step/vertex_rows.h"

namespace robosim {

class ParameterLayout;

class World {
 public:
  // Joint with one position, given by its indices in q and v.
  struct Coordinate {
    int q = -1, v = 0;
  };

  // materials: one for all pairs of the scene, or one per pair. motors: none, or one per entry of
  // v. The scene must outlive the world. Throws InputError that names the invalid argument.
  World(const CollisionScene& scene, std::vector<PairMaterial> materials, std::vector<Motor> motors,
        Closures closures = {});

  const CollisionScene& scene() const { return *scene_; }
  const Model& model() const { return scene_->model(); }
  // Material of two objects that are a pair of the scene, in either order.
  const PairMaterial& material(int a, int b) const { return materials_[pair(a, b)]; }
  int pair(int a, int b) const;  // index in scene().pairs()
  // Materials, parallel to scene().pairs().
  const std::vector<PairMaterial>& materials() const { return materials_; }
  // True if any material has restitution.
  bool has_restitution() const { return has_restitution_; }
  const std::vector<Motor>& motors() const { return motors_; }  // one per entry of v
  const Motor& motor(int v) const { return motors_[v]; }
  const Closures& closures() const { return closures_; }
  const VertexRows& vertices() const { return vertices_; }  // of the scene's shapes
  const ParameterLayout& parameters() const { return *parameters_; }
  // Joints whose position has a limit, a motor or dry friction are looked up here: all joints with
  // one position.
  const std::vector<Coordinate>& coordinates() const { return coordinates_; }
  const Coordinate& coordinate(int v) const { return coordinates_[coordinate_of_v_[v]]; }
  // Index of the tree at the world's root that a body, or an entry of v, belongs to; -1 for the
  // world. Trees without a connection do not affect each other.
  int tree_of_body(int body) const { return tree_of_body_[body]; }
  int tree_of_v(int v) const { return tree_of_v_[v]; }
  int n_trees() const { return n_trees_; }

 private:
  std::string name_of_v(int v) const;
  void check() const;
  void check_closures() const;

  const CollisionScene* scene_;
  std::vector<PairMaterial> materials_;
  std::vector<Motor> motors_;
  Closures closures_;
  bool has_restitution_ = false;
  VertexRows vertices_;
  std::vector<Coordinate> coordinates_;
  std::vector<int> coordinate_of_v_;  // -1: none
  struct PairIndex {
    int a, b, index;
  };
  std::vector<PairIndex> pair_index_;  // sorted by (a, b), a < b
  std::vector<int> tree_of_body_, tree_of_v_;
  int n_trees_ = 0;
  std::shared_ptr<const ParameterLayout> parameters_;
};

}  // namespace robosim
