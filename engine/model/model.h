// Model: an articulated mechanism as flat arrays, immutable once built.
//
// Bodies are numbered depth first, children in the document's order; body 0 is the world, and each other body hangs from
// its parent by exactly one joint with the same number. Links that fixed joints weld together are one body; every link
// keeps its name as a Frame of the body that carries it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "geometry/shape.h"
#include "spatial/inertia.h"
#include "spatial/se3.h"

namespace robosim {

enum class JointType : std::uint8_t { revolute, prismatic, planar, floating };

// Joint i carries body i. Its placement: X_PC(q) = X_PJ * X_J(q), with P the parent body's frame, J the joint frame fixed in P, C
// the child body's frame, equal to J at q = 0.
struct Joint {
  std::string name;
  JointType type = JointType::revolute;
  int parent = 0;            // body index of P
  SE3d X_PJ;
  Vec3d axis{0, 0, 1};       // unit, in J: of rotation or translation; of a planar joint the plane's normal
  int q_index = 0, n_q = 0;  // this joint's part of q
  int v_index = 0, n_v = 0;  // and of v
  bool continuous = false;   // a revolute joint without limits, on which angles 2 pi apart are the same pose
  // A mimic joint has no q of its own: q_index and v_index are the source's, and its position is ratio * q + offset. The
  // source is the joint that moves by itself, also where the description chains mimics.
  bool mimic = false;
  double ratio = 1, offset = 0;
};

struct Frame {
  std::string name;  // the link's name
  int body = 0;
  SE3d X_BF;
};

struct Collider {
  std::string name;  // unique: link name, then "/" and the collider's name or number in that link
  int frame = 0;     // index into Model::frames of the link it belongs to
  int body = 0;
  SE3d X_BC;
  Shape shape;
};

// Limits; infinite where there is none. Those of a mimic joint are folded into its source's.
struct Limits {
  std::vector<double> q_lower, q_upper;  // per q [rad] or [m]
  std::vector<double> velocity;          // per v, of the absolute value [rad/s] or [m/s]
  std::vector<double> acceleration;      // per v [rad/s^2] or [m/s^2]
  std::vector<double> effort;            // per v [N m] or [N]
};

// A pair of links that self-collision leaves out, and why.
struct DisabledPair {
  int frame_a = 0, frame_b = 0;  // indices into Model::frames
  std::string reason;
};

struct Model {
  std::string name;
  int n_q = 0, n_v = 0;
  std::vector<Joint> joints;      // joints[0] is a placeholder for the world
  std::vector<Inertia> inertias;  // per body, welded links summed
  std::vector<Frame> frames;      // frames[0] is the world, also where it has no name
  std::vector<Collider> colliders;
  std::vector<std::pair<int, int>> collision_pairs;  // collider indices (a < b) that self-collision checks
  std::vector<DisabledPair> disabled_collisions;
  Limits limits;
  std::vector<double> damping;   // per v, viscous [N m s/rad] or [N s/m]
  std::vector<double> friction;  // per v, dry (Coulomb) [N m] or [N]
  std::vector<double> armature;  // per v, inertia of the drive seen at the joint [kg m^2] or [kg]
  std::vector<int> massless;     // joints that move no mass and no armature: the mass matrix is singular
  bool has_mimic = false;
  Vec3d gravity{0, 0, -9.80665};                    // in W [m/s^2]

  int n_bodies() const { return static_cast<int>(joints.size()); }
};

}  // namespace robosim
