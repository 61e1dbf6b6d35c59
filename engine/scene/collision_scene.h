// CollisionScene: the colliders of a Model, extra objects, and the exact list of pairs that must
// stay apart.
//
// A scene is immutable once built, so threads share it. A SceneQuery holds what a query changes.
// Objects 0 .. n_colliders - 1 are the model's colliders. The extras follow: obstacles fixed to the
// world (body 0) and objects attached to a moving body. A body of many pieces, such as a mesh, is
// one object: bounds use its box, and exact queries descend its own tree.
//
// Before exact shapes, queries use cheap lower bounds from simple sets that contain an object:
//   ball   a point and a radius; also one about all objects of a body together
//   rod    all points within a radius of a segment along the object's longest side; also one about
//          all objects of a body
//   balls  a row of smaller balls along the same side
//   cover  all points within `radius` of a box: exact for sphere, box and capsule
// Most objects that collide overlap deeply. Smaller balls about the same centers that lie within an
// object (cores) prove this against a cover that is exact. A distance between a ball's center and a
// cover costs about 5 ns, an exact distance 100 ns to 1 us.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "geometry/bodies/broadphase.h"
#include "geometry/bodies/collision_geometry.h"
#include "model/model.h"
#include "scene/turn_table.h"

namespace robosim {

// Points within `radius` of the box |x - center| <= half_extents, in the object's frame O.
struct Cover {
  Vec3d center, half_extents;
  double radius = 0;
};

// Points within `radius` of the segment from center - half to center + half.
struct Rod {
  Vec3d center, half;
  double radius = 0;
};

struct SceneObject {
  std::string name;
  CollisionGeometry geometry;
  int body = 0;  // body that the object is fixed to; 0 is the world
  SE3d X_BO;
  Vec3d p_BC;               // center of the ball, in the body frame
  double ball_radius = 0;   // [m]; infinite for a half-space
  Rod rod;                  // in the body frame
  std::vector<Ball> balls;  // in the body frame
  // Radius of a ball about the rod's center that lies within the object, and radii of such balls
  // about the centers of `balls`; -infinity for none.
  double core = -std::numeric_limits<double>::infinity();
  std::vector<double> cores;
  double slack = 0;  // how far the balls extend beyond the cover at most, about [m]
  Cover cover;
  bool is_cover = false;  // true if the cover is the object itself
};

// Object that the caller adds to the model's colliders.
struct ExtraObject {
  std::string name;
  CollisionGeometry geometry;
  int body = 0;
  SE3d X_BO;
};

class CollisionScene {
 public:
  // Pair (a, b) of objects; `index` is its place in the list that the scene was built with.
  struct Pair {
    int a = 0, b = 0, index = 0;
  };
  // All single pairs [first, first + count) between two bodies, or between a body and one obstacle
  // `b` (body_b = 0). The first `touchable` of the pairs may touch somewhere, the others never do.
  struct Cluster {
    int body_a = 0, body_b = 0, b = -1, first = 0, count = 0, touchable = 0;
  };
  // One moving object and all obstacles of a tree.
  struct Group {
    int object = 0, bvh = 0;
  };

  using Tables = std::vector<std::shared_ptr<const TurnTable>>;

  // The model must outlive the scene. tables: for each pair, where it is known to be apart
  // (turn_table.h), or null; empty if nothing is known. Throws std::invalid_argument naming the
  // wrong object or pair.
  CollisionScene(const Model& model, std::vector<ExtraObject> extras,
                 std::vector<std::pair<int, int>> pairs, Tables tables = {});

  const Model& model() const { return *model_; }
  const std::vector<SceneObject>& objects() const { return objects_; }
  const SceneObject& object(int i) const { return objects_[i]; }
  const std::vector<std::pair<int, int>>& pairs() const { return pairs_; }

  // Pairs sorted by how queries treat them. single: moving pairs tested one by one, in clusters.
  // groups: moving objects with more obstacles than `group_threshold`, tested through a tree.
  // fixed: pairs that never move relative to each other (both on one body).
  const std::vector<Pair>& single_pairs() const { return single_; }
  const std::vector<Cluster>& clusters() const { return clusters_; }
  // Table of where a single pair is known to be apart; null if nothing is known.
  const TurnTable* table_of(int single) const {
    return tables_.empty() ? nullptr : tables_[single_[single].index].get();
  }
  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<Pair>& fixed_pairs() const { return fixed_; }
  // Ball about all objects of a body, in its frame; the radius is negative if there are none.
  const Ball& body_ball(int body) const { return body_balls_[body]; }
  const Rod& body_rod(int body) const { return body_rods_[body]; }
  // Box of all objects of a body, in its frame.
  const Aabb& body_box(int body) const { return body_boxes_[body]; }
  const AabbTree& bvh(int i) const { return trees_[i]; }
  // True if the shape of an object stands for a body within it (collision_geometry.h).
  bool has_exact() const { return has_exact_; }
  // Index into pairs() of the first fixed pair that overlaps, or -1. If there is one, every
  // configuration collides.
  int overlapping_fixed_pair() const { return overlapping_fixed_pair_; }

  static constexpr int group_threshold = 48;

 private:
  void add_object(const std::string& name, const CollisionGeometry& geometry, int body,
                  const SE3d& X_BO);
  void bound_bodies();
  bool is_apart(int index) const { return apart_[index] != 0; }
  void sort_pairs();
  void make_clusters();

  const Model* model_;
  std::vector<SceneObject> objects_;
  std::vector<std::pair<int, int>> pairs_;
  Tables tables_;            // of each pair; empty if there are none
  std::vector<char> apart_;  // per pair: true if it is apart everywhere
  std::vector<Pair> single_, fixed_;
  std::vector<Cluster> clusters_;
  std::vector<Group> groups_;
  std::vector<Ball> body_balls_;
  std::vector<Rod> body_rods_;
  std::vector<Aabb> body_boxes_;
  std::vector<AabbTree> trees_;
  bool has_exact_ = false;
  int overlapping_fixed_pair_ = -1;
};

}  // namespace robosim
