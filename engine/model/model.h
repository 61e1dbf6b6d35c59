// Model: an articulated mechanism as flat arrays, immutable once built.
//
// Bodies are numbered depth first, children in the document's order. Body 0 is the world, and each
// other body has exactly one parent joint with the same number. Links that fixed joints weld
// together are one body. Every link keeps its name as a Frame of its body.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "geometry/bodies/collision_geometry.h"
#include "model/joint.h"
#include "spatial/inertia.h"

namespace robosim {

struct Frame {
  std::string name;  // the link's name
  int body = 0;
  SE3d X_BF;
};

struct Collider {
  std::string name;  // unique: link name, then "/" and the collider's name or number in that link
  int frame = 0;     // index into Model::frames of its link
  int body = 0;
  SE3d X_BC;
  CollisionGeometry geometry;
};

// Limits; infinite if there is none. Position and velocity limits of a mimic joint are folded into
// its source's.
struct Limits {
  std::vector<double> q_lower, q_upper;  // per q [rad] or [m]
  std::vector<double> velocity;          // per v, of the absolute value [rad/s] or [m/s]
  std::vector<double> acceleration;      // per v [rad/s^2] or [m/s^2]
  std::vector<double> effort;            // per v [N m] or [N]
};

// Pair of links excluded from self-collision, and the reason.
struct DisabledPair {
  int frame_a = 0, frame_b = 0;  // indices into Model::frames
  std::string reason;
};

struct Model {
  std::string name;
  int n_q = 0, n_v = 0;
  std::vector<Joint> joints;      // joints[0] is a placeholder for the world
  std::vector<Inertia> inertias;  // per body, welded links summed
  std::vector<Frame> frames;      // frames[0] is the world, even without a name
  std::vector<Collider> colliders;
  // Pairs of collider indices (a < b) that are checked for self-collision.
  std::vector<std::pair<int, int>> collision_pairs;
  std::vector<DisabledPair> disabled_collisions;
  Limits limits;
  std::vector<double> damping;   // per v, viscous [N m s/rad] or [N s/m]
  std::vector<double> friction;  // per v, dry (Coulomb) [N m] or [N]
  // Per v, positive: speed [rad/s, m/s] over which dry friction changes its sign.
  std::vector<double> friction_width;
  // Per v, of a spring [N m/rad] or [N/m]; 0 for joints with several positions.
  std::vector<double> stiffness;
  std::vector<double> spring_reference;  // per v, position [rad, m] of zero spring force
  // Energy [J] left at the reference, where springs of mimic joints and of their sources oppose
  // each other.
  double spring_rest_energy = 0;
  // Per v, inertia of the drive seen at the joint, gear included [kg m^2] or [kg].
  std::vector<double> armature;
  // Joints that move no mass and no armature: the mass matrix is singular.
  std::vector<int> massless;
  bool has_mimic = false;
  Vec3d gravity{0, 0, -9.80665};  // in W [m/s^2]

  // Structure, computed by number_columns (structure.h).
  std::vector<int> column_v;      // v of each column
  std::vector<int> angle_joints;  // joints whose placement uses the sine and cosine of an angle
  // Run of neighboring columns on the path from the root to a joint.
  struct Run {
    int first = 0, count = 0;
  };
  std::vector<Run> runs;  // of all joints, root to leaf, their own columns last
  // Runs of joint i are run_begin[i] to run_begin[i + 1]; the world (0) has none.
  std::vector<int> run_begin;
  // Per v the smaller v coupled with it in the factor of the mass matrix, descending; from
  // row_begin[v] to row_begin[v + 1].
  std::vector<int> rows, row_begin;
  // Per v the larger v coupled with it, ascending; from column_begin[v] to column_begin[v + 1].
  std::vector<int> columns, column_begin;
  // Per v a bit for each 8 neighboring v that include an ancestor or a descendant (the last bit for
  // all from 504 on).
  std::vector<std::uint64_t> related;

  // Return true if every two coordinates are on one path to the root, or coupled by mimic joints.
  bool all_related() const {
    return rows.size() == static_cast<std::size_t>(n_v) * static_cast<std::size_t>(n_v - 1) / 2;
  }
  // One past the last descendant coordinate of v. Requires a tree without mimic joints.
  int behind_end(int v) const {
    return column_begin[v] < column_begin[v + 1] ? columns[column_begin[v + 1] - 1] + 1 : v + 1;
  }
  int n_columns() const { return static_cast<int>(column_v.size()); }

  int n_bodies() const { return static_cast<int>(joints.size()); }
};

}  // namespace robosim
