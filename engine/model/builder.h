// ModelBuilder: assembly of a Model, in flat arrays, from the links and joints that a robot
// description names.
//
// * Checks the parts and the tree.
// * Welds links that fixed joints connect to one body (inertias summed, colliders and frames
//   moved along).
// * Numbers the bodies depth first, children in the order their joints were added.
// * Assigns parts of q and v to every moving joint.
// * Resolves mimic joints to the joint that moves them.
// * Excludes from self-collision the pairs that cannot collide or need no check.
//
// Every method throws InputError naming the link or joint. Cost: linear in links and joints,
// quadratic in colliders.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/model.h"

namespace robosim {

// Return the joint type of a kind: the name of a type, or "continuous" for a revolute joint without
// limits; none for "fixed". Throws for any other name.
std::optional<JointType> moving_type(const std::string& kind);
// Return the names of all kinds, and of those with one position, which can mimic another joint or
// be mimicked.
std::vector<std::string> joint_kinds();
std::vector<std::string> one_position_kinds();

// Default acceleration limits, as robot descriptions have no place for these. The angular value is
// that of MoveIt's configuration for the UR arms.
inline constexpr double default_angular_acceleration = 5;  // [rad/s^2]
inline constexpr double default_linear_acceleration = 2;   // [m/s^2]
// Default speed over which dry friction changes its sign.
inline constexpr double default_friction_width = 1e-2;  // [rad/s, m/s]

// Name of the joint of a floating base ("floating_base_2" and so on if the description has such a
// joint), and of frame 0 (empty if another link has that name).
inline constexpr const char* floating_base_name = "floating_base";
inline constexpr const char* world_name = "world";

struct MimicSpec {
  std::string source;
  double ratio = 1, offset = 0;  // q = ratio * q_source + offset
};

// Description of a joint. Limits: empty for none (accelerations: the default), else one number per
// q (positions) or per v, or a single number for all.
struct JointSpec {
  std::string name;
  std::string kind = "fixed";
  std::string parent, child;  // link names
  // Joint frame in the parent link; the child link's frame is the joint frame at q = 0.
  SE3d X_PJ;
  Vec3d axis{0, 0, 1};          // in the joint frame; scaled to unit length
  std::optional<double> pitch;  // [m/rad], required for helical joints only
  std::vector<double> lower, upper, velocity, acceleration, effort;
  double damping = 0, friction = 0, friction_width = default_friction_width;  // per v, as in Model
  double stiffness = 0, spring_reference = 0;  // for joints with one position
  double armature = 0;                         // inertia seen at the joint
  // Inertia of a rotor that turns gear_ratio times as fast.
  double rotor_inertia = 0, gear_ratio = 1;
  std::optional<MimicSpec> mimic;

  // Rotor inertia at the joint, from the kinetic energy 1/2 rotor_inertia (gear_ratio v)^2,
  // plus armature.
  double reflected_armature() const { return armature + gear_ratio * gear_ratio * rotor_inertia; }
};

struct BuildOptions {
  // Accept bodies whose joints move no mass; forward dynamics is then undefined.
  bool allow_massless = false;
  bool filter_adjacent = true;  // exclude links that a joint connects directly from self-collision
};

class ModelBuilder {
 public:
  ModelBuilder(std::string name, bool floating_base);

  void add_link(const std::string& name, const Inertia& inertia);
  void add_joint(JointSpec spec);
  void add_collider(const std::string& link, const CollisionGeometry& geometry, const SE3d& X_LC,
                    const std::string& name);
  void disable_collision(const std::string& link_a, const std::string& link_b,
                         const std::string& reason);
  Model build(const BuildOptions& options) const;

 private:
  struct Link {
    std::string name;
    Inertia inertia;
  };
  struct ColliderSpec {
    int link;
    std::string name;
    SE3d X_LC;
    CollisionGeometry geometry;
  };
  struct Disabled {
    int a, b;
    std::string reason;
  };
  friend class ModelAssembly;

  int link_index(const std::string& name, const std::string& asker) const;

  std::string name_;
  bool floating_base_;
  std::vector<Link> links_;
  std::vector<JointSpec> joints_;
  std::vector<ColliderSpec> colliders_;
  std::vector<Disabled> disabled_;
  std::unordered_map<std::string, int> link_of_, joint_of_;
};

}  // namespace robosim
