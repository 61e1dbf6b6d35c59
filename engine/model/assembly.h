// A single run of ModelBuilder::build, in steps.
#pragma once

#include <string>
#include <vector>

#include "model/builder.h"

namespace robosim {

class ModelAssembly {
 public:
  ModelAssembly(const ModelBuilder& builder, const BuildOptions& options);
  Model run();

 private:
  void find_root();
  void walk_tree();
  void place_link(int link, int body, const SE3d& X_BL);
  int open_body(const JointSpec& spec, int parent_body, const SE3d& X_BP);
  void number_coordinates();
  void resolve_mimic(int joint);
  void fold_forces(int joint);
  void fold_limits(int joint);
  void find_massless();
  void place_colliders();
  void select_collision_pairs();

  const ModelBuilder& in_;
  const BuildOptions& options_;
  JointSpec base_;  // joint of a floating base
  Model model_;
  int root_ = -1;
  // Per link: index of its parent joint, -1 for the root.
  std::vector<int> parent_joint_;
  // Per link: its child joints, in the order they were added.
  std::vector<std::vector<int>> children_;
  std::vector<int> frame_of_;                   // per link
  std::vector<const JointSpec*> spec_of_;       // of each body's joint
  std::vector<std::vector<int>> colliders_of_;  // per link: colliders in model order
};

}  // namespace robosim
