// Shared by the bindings of scenes and of planning: a scene with its workspaces, and checked
// conversion of arguments from Python.
#pragma once

#include <cmath>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bindings/configurations.h"
#include "model/joint_layout.h"
#include "planning/edge_check.h"
#include "scene/batch_check.h"
#include "scene/scene_rays.h"

namespace robosim {

// Replace each extent of -1 in `shape`, which may have any value, by the extent of `value`.
inline Shape2 extents_of(const pybind11::handle& value, Shape2 shape) {
  const pybind11::array given = pybind11::array::ensure(value);
  if (!given) PyErr_Clear();
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < 0)
      shape[i] = given && given.ndim() == static_cast<pybind11::ssize_t>(shape.size())
                     ? given.shape()[i]
                     : 1;
  return shape;
}

// Like real_array and configuration_array, but an extent of -1 may have any value.
inline Array sized(const pybind11::handle& value, const Shape2& shape, const char* name) {
  return real_array(value, extents_of(value, shape), name);
}
inline Array sized_configurations(const pybind11::handle& value, const Model& model,
                                  const Shape2& shape, const char* name) {
  return configuration_array(value, model, extents_of(value, shape), name);
}

// A scene with one workspace for each concurrent call from Python.
class BoundScene {
 public:
  const CollisionScene scene;

  BoundScene(const Model& model, std::vector<ExtraObject> extras,
             std::vector<std::pair<int, int>> pairs, CollisionScene::Tables tables)
      : scene(model, std::move(extras), std::move(pairs), std::move(tables)), batch(scene) {
    idle_.push_back(std::make_unique<EdgeChecker>(scene));
  }

  // An edge checker for the duration of one call, returned to the scene at the end.
  class Lease {
   public:
    explicit Lease(BoundScene& scene) : scene_(scene), checker_(scene.take()) {}
    ~Lease() { scene_.give_back(std::move(checker_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    EdgeChecker& operator*() const { return *checker_; }
    EdgeChecker* operator->() const { return checker_.get(); }
    // Place the query at q and return it.
    SceneQuery& at(const Array& q) const {
      checker_->query().place(q.data());
      return checker_->query();
    }

   private:
    BoundScene& scene_;
    std::unique_ptr<EdgeChecker> checker_;
  };

  BatchCheck batch;
  // Built on first use.
  const SceneRays& rays() {
    const std::lock_guard lock(mutex_);
    if (!rays_) rays_ = std::make_unique<SceneRays>(scene);
    return *rays_;
  }

  Array configuration(const pybind11::handle& q, const char* name = "q") const {
    return configuration_array(q, scene.model(), {scene.model().n_q}, name);
  }
  // Read configurations (n, n_q), for any n.
  Array configurations(const pybind11::handle& q, const char* name = "q") const {
    return sized_configurations(q, scene.model(), {-1, scene.model().n_q}, name);
  }
  const std::string& name(int object) const { return scene.object(object).name; }
  pybind11::object pair_names(int a, int b) const {
    return a < 0 ? pybind11::object(pybind11::none()) : pybind11::make_tuple(name(a), name(b));
  }

 private:
  std::unique_ptr<EdgeChecker> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<EdgeChecker> checker = std::move(idle_.back());
        idle_.pop_back();
        return checker;
      }
    }
    return std::make_unique<EdgeChecker>(scene);
  }
  void give_back(std::unique_ptr<EdgeChecker> checker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(checker));
  }

  std::unique_ptr<SceneRays> rays_;
  std::vector<std::unique_ptr<EdgeChecker>> idle_;
  std::mutex mutex_;
};

inline double checked_resolution(double resolution) {
  if (!(resolution > 0 && std::isfinite(resolution)))
    throw InputError("resolution is " + std::to_string(resolution) + " m; it must be positive");
  return resolution;
}

inline std::vector<int> checked_columns(const Model& model, const std::vector<int>& columns) {
  std::vector<char> seen(static_cast<std::size_t>(model.n_q), 0);
  for (const int c : columns) {
    if (c < 0 || c >= model.n_q)
      throw InputError("column " + std::to_string(c) + " is not an entry of q, which has " +
                       std::to_string(model.n_q));
    if (seen[c]++) throw InputError("column " + std::to_string(c) + " is given twice");
    if (coordinate_of(model, c) == Coordinate::quaternion)
      throw InputError("column " + std::to_string(c) + " belongs to the quaternion of joint '" +
                       joint_of_position(model, c).name + "', which has no straight lines in q");
  }
  return columns;
}

// Read waypoints (p, n_q), at least one.
inline std::vector<double> path_from(const pybind11::handle& value, const Model& model) {
  if (model.n_q == 0)
    throw InputError(message("model '", model.name, "' has nothing that moves, and so no path"));
  const Array a = sized_configurations(value, model, {-1, model.n_q}, "path");
  if (a.shape(0) == 0) throw InputError("path holds no waypoint");
  return {a.data(), a.data() + a.size()};
}

inline Array path_array(const std::vector<double>& path, int n_q) {
  Array out(Shape2{static_cast<pybind11::ssize_t>(path.size()) / std::max(n_q, 1), n_q});
  std::copy(path.begin(), path.end(), out.mutable_data());
  return out;
}

// Read lower and upper limits (n,) of the columns; infinite if there is none.
inline std::pair<std::vector<double>, std::vector<double>> limits_from(
    const pybind11::handle& lower, const pybind11::handle& upper, const std::vector<int>& columns) {
  const pybind11::ssize_t n = static_cast<pybind11::ssize_t>(columns.size());
  const Array lo = real_array(lower, {n}, "lower", false),
              hi = real_array(upper, {n}, "upper", false);
  for (pybind11::ssize_t k = 0; k < n; ++k)
    if (!(lo.data()[k] <= hi.data()[k]))
      throw InputError(message("limits of column ", columns[k], " are ", lo.data()[k], " and ",
                               hi.data()[k], "; lower must not exceed upper"));
  return {{lo.data(), lo.data() + n}, {hi.data(), hi.data() + n}};
}

inline double checked_deadline(double seconds) {
  if (!(seconds >= 0))
    throw InputError(message("deadline_s is ", seconds, "; it must not be negative"));
  return seconds;
}

}  // namespace robosim
