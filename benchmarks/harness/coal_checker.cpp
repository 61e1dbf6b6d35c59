// State validity by coal, as fast as coal allows: the peer of robosim's own checks, and an
// independent check of its trajectories.
//
// Forward kinematics of a fixed-base tree of one-degree-of-freedom joints, X_WC = X_WP X_PJ
// exp(axis q), are followed by coal's narrow phase with one collision functor per pair. There are
// two broad phases:
//
//   trees   coal's broad phase: a refitted dynamic AABB tree of the robot's objects, against itself
//           and against a tree of the obstacles
//   boxes   a plain loop that skips pairs whose boxes are separated: faster than the trees for
//           scenes this small
//
// GJK starts from coal's default guess. Started from the pair's last answer or from the bounding
// volumes it is up to a third faster (checker_guess). However, coal 3.0.3 then reports some
// overlaps of large hulls as free: 2 in 1500 random states of a UR5, 1.6 mm deep. Shapes,
// placements and pairs are given by the caller, so that both sides of a comparison have the same
// geometry. This is a plain C interface, compiled when a benchmark first needs it (see
// coal_checker.py).
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <coal/broadphase/broadphase_callbacks.h>
#include <coal/broadphase/broadphase_dynamic_AABB_tree.h>
#include <coal/collision.h>
#include <coal/distance.h>

#include "coal_shapes.h"

using coal::Matrix3s;
using coal::Vec3s;

namespace {

struct Pose {
  Matrix3s R = Matrix3s::Identity();
  Vec3s p = Vec3s::Zero();
};

Pose operator*(const Pose& A, const Pose& B) { return {A.R * B.R, A.R * B.p + A.p}; }

Pose pose_from(const double* X) {  // row-major 4x4
  Pose pose;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) pose.R(i, j) = X[4 * i + j];
    pose.p[i] = X[4 * i + 3];
  }
  return pose;
}

struct Joint {
  int parent;  // joint index, -1 for the world
  bool prismatic;
  Pose X_PJ;
  Vec3s axis;
};

struct Object {
  int joint;  // -1 if fixed in the world
  Pose X_JO;
  std::unique_ptr<coal::CollisionObject> body;
};

struct Pair {
  int a, b;
  std::unique_ptr<coal::ComputeCollision> collide;
  std::unique_ptr<coal::ComputeDistance> distance;
  coal::CollisionRequest request{coal::NO_REQUEST, 1};
  coal::DistanceRequest distance_request{true, true};  // with nearest points, signed
};

enum class Way { trees, boxes };

}  // namespace

struct Checker : coal::CollisionCallBackBase {
  std::vector<Joint> joints;
  std::vector<Object> objects;
  std::vector<Pair> pairs;
  std::vector<Pose> X_WJ;
  std::vector<int> pair_of;  // index of the pair of two objects, -1 if not checked
  coal::DynamicAABBTreeCollisionManager robot, obstacles;
  coal::CollisionResult result;
  Way way = Way::trees;
  bool ready = false;
  int hit = -1;

  void place_object(Object& object) {
    const Pose X = object.joint < 0 ? object.X_JO : X_WJ[object.joint] * object.X_JO;
    object.body->setTransform(X.R, X.p);
    object.body->computeAABB();
  }

  void place(const double* q) {
    X_WJ.resize(joints.size());
    for (std::size_t i = 0; i < joints.size(); ++i) {
      const Joint& joint = joints[i];
      Pose X_J;
      if (joint.prismatic)
        X_J.p = q[i] * joint.axis;
      else
        X_J.R = Eigen::AngleAxisd(q[i], joint.axis).toRotationMatrix();
      X_WJ[i] = (joint.parent < 0 ? joint.X_PJ : X_WJ[joint.parent] * joint.X_PJ) * X_J;
    }
    for (Object& object : objects)
      if (object.joint >= 0) place_object(object);
  }

  // Build the trees and the table of pairs, once all objects are known.
  void prepare() {
    if (ready) return;
    ready = true;
    const std::size_t n = objects.size();
    pair_of.assign(n * n, -1);
    for (std::size_t i = 0; i < pairs.size(); ++i)
      pair_of[pairs[i].a * n + pairs[i].b] = pair_of[pairs[i].b * n + pairs[i].a] =
          static_cast<int>(i);
    for (std::size_t i = 0; i < n; ++i) {
      objects[i].body->setUserData(reinterpret_cast<void*>(i));
      (objects[i].joint < 0 ? obstacles : robot).registerObject(objects[i].body.get());
    }
    robot.setup();
    obstacles.setup();
  }

  bool overlap(Pair& pair) {
    result.clear();
    (*pair.collide)(objects[pair.a].body->getTransform(), objects[pair.b].body->getTransform(),
                    pair.request, result);
    pair.request.updateGuess(result);
    return result.isCollision();
  }

  // Called by the trees for two objects whose boxes overlap. Returning true ends the traversal.
  bool collide(coal::CollisionObject* a, coal::CollisionObject* b) override {
    const auto i = reinterpret_cast<std::size_t>(a->getUserData()),
               j = reinterpret_cast<std::size_t>(b->getUserData());
    const int pair = pair_of[i * objects.size() + j];
    if (pair < 0 || !overlap(pairs[pair])) return false;
    hit = pair;
    return true;
  }

  // Return the index of an overlapping pair, or -1.
  int first_overlap(const double* q) {
    prepare();
    place(q);
    hit = -1;
    if (way == Way::trees) {
      robot.update();
      robot.collide(this);
      if (hit < 0) robot.collide(&obstacles, this);
      return hit;
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Pair& pair = pairs[i];
      const bool near = objects[pair.a].body->getAABB().overlap(objects[pair.b].body->getAABB());
      if (near && overlap(pair)) return static_cast<int>(i);
    }
    return -1;
  }
};

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT Checker* checker_new(int n, const int* parents, const int* prismatic, const double* X_PJ,
                            const double* axes) {
  auto* checker = new Checker;
  for (int i = 0; i < n; ++i)
    checker->joints.push_back({parents[i], prismatic[i] != 0, pose_from(X_PJ + 16 * i),
                               Vec3s(axes[3 * i], axes[3 * i + 1], axes[3 * i + 2]).normalized()});
  return checker;
}

EXPORT void checker_delete(Checker* checker) { delete checker; }

// Add a shape, with type numbers of coal_shapes.h, or 9 for a mesh. Returns the object's index, or
// -1 for an unknown type.
EXPORT int checker_add(Checker* checker, int joint, const double* X_JO, int type,
                       const double* size, int n_vertices, const double* vertices, int n_faces,
                       const int* faces) {
  std::shared_ptr<coal::CollisionGeometry> shape =
      coal_shape(type, size, n_vertices, vertices, n_faces, faces);
  if (type == 9) shape = coal_mesh(n_vertices, vertices, n_faces, faces);
  if (!shape) return -1;
  checker->objects.push_back(
      {joint, pose_from(X_JO), std::make_unique<coal::CollisionObject>(shape)});
  if (joint < 0) checker->place_object(checker->objects.back());
  return static_cast<int>(checker->objects.size()) - 1;
}

EXPORT void checker_pair(Checker* checker, int a, int b) {
  const coal::CollisionGeometry *A = checker->objects[a].body->collisionGeometryPtr(),
                                *B = checker->objects[b].body->collisionGeometryPtr();
  Pair pair{a, b, std::make_unique<coal::ComputeCollision>(A, B),
            std::make_unique<coal::ComputeDistance>(A, B)};
  checker->pairs.push_back(std::move(pair));
}

// Select the broad phase: 0 for trees, 1 for boxes.
EXPORT void checker_way(Checker* checker, int way) { checker->way = static_cast<Way>(way); }

EXPORT int checker_first_overlap(Checker* checker, const double* q) {
  return checker->first_overlap(q);
}

// Count the free ones of n configurations, in one call so that no Python is timed.
EXPORT int checker_count_free(Checker* checker, int n, const double* q) {
  int free = 0;
  for (int i = 0; i < n; ++i) free += checker->first_overlap(q + i * checker->joints.size()) < 0;
  return free;
}

// Select the initial guess of GJK: 0 default, 1 bounding volumes, 2 the pair's last answer.
EXPORT void checker_guess(Checker* checker, int kind) {
  const coal::GJKInitialGuess kinds[] = {coal::GJKInitialGuess::DefaultGuess,
                                         coal::GJKInitialGuess::BoundingVolumeGuess,
                                         coal::GJKInitialGuess::CachedGuess};
  for (Pair& pair : checker->pairs)
    pair.request.gjk_initial_guess = pair.distance_request.gjk_initial_guess = kinds[kind];
}

// Compute signed distances, with nearest points, of all pairs at n configurations: out (n, pairs).
EXPORT void checker_distances(Checker* checker, int n, const double* q, double* out) {
  coal::DistanceResult result;
  for (int i = 0; i < n; ++i) {
    checker->place(q + i * checker->joints.size());
    for (Pair& pair : checker->pairs) {
      result.clear();
      *out++ = (*pair.distance)(checker->objects[pair.a].body->getTransform(),
                                checker->objects[pair.b].body->getTransform(),
                                pair.distance_request, result);
      pair.distance_request.updateGuess(result);
    }
  }
}

// motion[i] is the largest displacement between configurations i and i + 1 of a corner of a box
// around a moving object. No point of the object has a longer chord.
EXPORT void checker_motion(Checker* checker, int n, const double* q, double* motion) {
  std::vector<Vec3s> before, now;
  for (int i = 0; i < n; ++i) {
    checker->place(q + i * checker->joints.size());
    now.clear();
    for (const Object& object : checker->objects) {
      if (object.joint < 0) continue;
      const coal::AABB& box = object.body->collisionGeometryPtr()->aabb_local;
      for (int c = 0; c < 8; ++c)
        now.push_back(object.body->getTransform().transform(
            Vec3s((c & 1 ? box.max_ : box.min_)[0], (c & 2 ? box.max_ : box.min_)[1],
                  (c & 4 ? box.max_ : box.min_)[2])));
    }
    if (i > 0) {
      double largest = 0;
      for (std::size_t k = 0; k < now.size(); ++k)
        largest = std::max(largest, (now[k] - before[k]).squaredNorm());
      motion[i - 1] = std::sqrt(largest);
    }
    before.swap(now);
  }
}

// Signed distance of one pair at q, by coal.
EXPORT double checker_distance(Checker* checker, const double* q, int pair) {
  checker->place(q);
  const Pair& p = checker->pairs[pair];
  const Object &a = checker->objects[p.a], &b = checker->objects[p.b];
  coal::DistanceRequest request;
  request.enable_signed_distance = true;
  coal::DistanceResult result;
  return coal::distance(a.body->collisionGeometryPtr(), a.body->getTransform(),
                        b.body->collisionGeometryPtr(), b.body->getTransform(), request, result);
}

}  // extern "C"
