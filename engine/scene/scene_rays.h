// Ray casts at a scene in one configuration: depth cameras, lidars, lines of sight.
//
// Objects fixed to the world are in one tree, built once. Moving objects go into a small tree of
// their own at each configuration. Both are descended along the ray (ray_descent.h), as are the
// trees of bodies of many pieces. Cost: about 10 us for a configuration and 30 moving objects, then
// O(log n) for a ray, about 1 us. Casting allocates nothing and is thread-safe.
#pragma once

#include <vector>

#include "geometry/bodies/broadphase.h"
#include "geometry/casts/ray_cast.h"
#include "scene/scene_query.h"

namespace robosim {

struct SceneRayHit {
  RayHit hit;
  int object = -1;  // -1 without a hit; the lowest number of several at the same t
};

class SceneRays {
 public:
  // The scene must outlive it.
  explicit SceneRays(const CollisionScene& scene);

  // Scene at one configuration.
  class Placed {
   public:
    // Find the first point of the ray, with t <= max_t, that belongs to an object.
    SceneRayHit cast(const Ray& ray, double max_t) const;

   private:
    friend class SceneRays;
    const SceneRays* rays_ = nullptr;
    std::vector<SE3d> X_WO_;    // per object
    std::vector<char> passed_;  // per object: true if rays pass through it
    AabbTree moving_;
  };

  // Place the objects as the query is placed. Rays pass through the objects that are marked in
  // `passed`, one entry per object.
  Placed at(SceneQuery& query, std::vector<char> passed) const;

 private:
  const CollisionScene* scene_;
  AabbTree fixed_;  // in W; items are objects
};

}  // namespace robosim
