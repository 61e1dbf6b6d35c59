// Where rays first meet a scene at a configuration: depth cameras, lidars, lines of sight.
//
// What is fixed to the world is in one tree, built once; what moves goes into a small tree of its
// own at each configuration. Both are descended along the ray (ray_descent.h), bodies of many
// pieces down their own. Cost: some 10 us for a configuration and 30 objects that move, then O(log
// n) for a ray, about 1 us. Casting allocates nothing and may be done from several threads at once.
#pragma once

#include <vector>

#include "geometry/bodies/broadphase.h"
#include "geometry/casts/ray_cast.h"
#include "scene/scene_query.h"

namespace robosim {

struct SceneRayHit {
  RayHit hit;
  int object = -1;  // -1 without a hit; of several at the same t the one with the lowest number
};

class SceneRays {
 public:
  // The scene must outlive it.
  explicit SceneRays(const CollisionScene& scene);

  // The scene at one configuration.
  class Placed {
   public:
    // The first point of the ray, with t <= max_t, that belongs to an object.
    SceneRayHit cast(const Ray& ray, double max_t) const;

   private:
    friend class SceneRays;
    const SceneRays* rays_ = nullptr;
    std::vector<SE3d> X_WO_;    // per object
    std::vector<char> passed_;  // per object: whether rays go through it
    AabbTree moving_;
  };

  // Where the query is placed; rays go through the objects that are marked in `passed`, one entry
  // per object.
  Placed at(SceneQuery& query, std::vector<char> passed) const;

 private:
  const CollisionScene* scene_;
  AabbTree fixed_;  // in W; items are objects
};

}  // namespace robosim
