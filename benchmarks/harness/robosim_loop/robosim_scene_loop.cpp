// The engine's CollisionScene of one robot, queried in plain loops over configurations.
//
// The ModelBuilder builds the model from the same parts that `robosim.load_robot` passes to it.
// This is a plain C interface, compiled when a benchmark first needs it (see scene_loop.py).
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/builder.h"
#include "numbers.h"
#include "scene/batch_check.h"
#include "scene/scene_query.h"

using namespace robosim;

namespace {

struct Robot {
  ModelBuilder builder{"robot", false};
  std::vector<std::pair<int, int>> pairs;
  std::optional<Model> model;
  std::optional<CollisionScene> scene;
  std::optional<SceneQuery> query;
  std::optional<BatchCheck> batch;
};

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

EXPORT Robot* scene_new() { return new Robot; }
EXPORT void scene_delete(Robot* robot) { delete robot; }

EXPORT void scene_add_link(Robot* robot, const char* name) {
  // Collision checks do not use inertia, but every body must have one.
  robot->builder.add_link(name, {1, Vec3d(), Mat3d::identity()});
}

EXPORT void scene_add_joint(Robot* robot, const char* name, const char* kind, const char* parent,
                            const char* child, const double* X_PJ, const double* axis) {
  JointSpec joint;
  joint.name = name;
  joint.kind = kind;
  joint.parent = parent;
  joint.child = child;
  joint.X_PJ = pose_from(X_PJ);
  joint.axis = vec3_from(axis);
  robot->builder.add_joint(std::move(joint));
}

// Add collider `number`, a shape with the types of numbers.h.
EXPORT void scene_add_collider(Robot* robot, const char* link, int number, const double* X_LC,
                               int type, const double* size, int n_vertices,
                               const double* vertices) {
  robot->builder.add_collider(link, shape_from(type, size, n_vertices, vertices), pose_from(X_LC),
                              std::to_string(number));
}

// pairs: (n_pairs, 2) numbers of colliders. Returns the number of coordinates of the robot.
EXPORT int scene_build(Robot* robot, int n_pairs, const int* pairs) {
  robot->model = robot->builder.build({});
  std::map<int, int> index_of;  // index by number, as the model sorts colliders by link
  for (std::size_t i = 0; i < robot->model->colliders.size(); ++i) {
    const std::string& name = robot->model->colliders[i].name;  // link, "/", number
    index_of[std::stoi(name.substr(name.rfind('/') + 1))] = static_cast<int>(i);
  }
  for (int i = 0; i < n_pairs; ++i)
    robot->pairs.push_back({index_of.at(pairs[2 * i]), index_of.at(pairs[2 * i + 1])});
  robot->scene.emplace(*robot->model, std::vector<ExtraObject>(), robot->pairs);
  robot->query.emplace(*robot->scene);
  robot->batch.emplace(*robot->scene);
  return robot->model->n_q;
}

// Count the configurations, of n, that are free of self-collision.
EXPORT int scene_count_free(Robot* robot, int n, const double* q) {
  int free = 0;
  for (int i = 0; i < n; ++i) {
    robot->query->place(q + i * robot->model->n_q);
    free += !robot->query->collides();
  }
  return free;
}

// Compute signed distances of all pairs at n configurations: out (n, pairs).
EXPORT void scene_distances(Robot* robot, int n, const double* q, double* out) {
  for (int i = 0; i < n; ++i) {
    robot->query->place(q + i * robot->model->n_q);
    robot->query->distances(out + static_cast<std::size_t>(i) * robot->pairs.size());
  }
}

// Compute the same signed distances with several configurations at once.
EXPORT void scene_distances_many(Robot* robot, int n, const double* q, double* out) {
  robot->batch->distances(n, q, out, 1);
}

}  // extern "C"
