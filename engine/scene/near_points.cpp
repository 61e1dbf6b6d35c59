#include "scene/near_points.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace robosim {
namespace {

struct NearObject {
  const SceneObject* object;
  SE3d X_WO;
  Aabb box;  // in W, grown by the margin
};

constexpr double point_radius = 1e-9;  // of the ball that represents a point [m]

bool is_near(const NearObject& near, const Vec3d& point, double margin) {
  if (squared_distance(near.box, point) > 0) return false;
  const double bound = distance(near.object->cover, near.X_WO.inverse_times(point));
  if (bound > margin || near.object->is_cover) return bound <= margin;
  const CollisionGeometry ball(Shape::sphere(point_radius));
  return closer_than(margin, near.object->geometry, near.X_WO, ball,
                     SE3d(Mat3d::identity(), point));
}

}  // namespace

std::vector<char> near_robot(SceneQuery& query, std::span<const Vec3d> points, double margin,
                             int threads) {
  const CollisionScene& scene = query.scene();
  std::vector<NearObject> objects;
  for (std::size_t i = 0; i < scene.objects().size(); ++i) {
    const SceneObject& object = scene.objects()[i];
    if (i >= scene.model().colliders.size() && object.body == 0) continue;
    const SE3d X_WO = query.X_WO(static_cast<int>(i));
    objects.push_back({&object, X_WO, grown(bounding_box(object.geometry, X_WO), margin)});
  }
  std::vector<char> near(points.size(), 0);
  constexpr std::size_t chunk = 1024;
  const int chunks = static_cast<int>((points.size() + chunk - 1) / chunk);
  const auto body = [&](int c, int) {
    const std::size_t first = static_cast<std::size_t>(c) * chunk;
    for (std::size_t i = first; i < std::min(points.size(), first + chunk); ++i)
      near[i] = std::any_of(objects.begin(), objects.end(), [&](const NearObject& object) {
        return is_near(object, points[i], margin);
      });
  };
  if (threads <= 1 || chunks <= 1)
    for (int c = 0; c < chunks; ++c) body(c, 0);
  else
    parallel_for(chunks, std::min(threads, chunks), body);
  return near;
}

}  // namespace robosim
