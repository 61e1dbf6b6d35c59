// Configurations from Python: finite numbers, with quaternions that represent a rotation.
#pragma once

#include "bindings/arrays.h"
#include "model/joint_layout.h"

namespace robosim {

// Range of lengths from which a quaternion can be scaled to 1. The square of the length and
// quotients by it are normal numbers in this range.
inline constexpr double shortest_quaternion = 1e-140, longest_quaternion = 1e140;

inline bool can_be_scaled(const double* x) {
  constexpr double least = shortest_quaternion * shortest_quaternion,
                   most = longest_quaternion * longest_quaternion;
  const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
  return square >= least && square <= most;
}

// Indices of the first entry of each quaternion in a configuration.
inline std::vector<int> quaternions_of(const Model& model) {
  std::vector<int> first;
  for (const Joint& joint : model.joints)
    if (joint.n_q != joint.n_v && !joint.mimic)
      first.push_back(joint.q_index + joint_layout(joint.type).quaternion());
  return first;
}

// Reject quaternions whose length is outside the range in any of `count` consecutive
// configurations.
inline void check_quaternions(const Model& model, const double* q, std::ptrdiff_t count,
                              const char* name) {
  // A quaternion has one number more than its angular velocity, so equal counts mean no
  // quaternions.
  if (model.n_q == model.n_v) return;
  for (const int k : quaternions_of(model)) {
    const double* x = q + k;
    for (std::ptrdiff_t i = 0; i < count; ++i, x += model.n_q) {
      if (can_be_scaled(x)) continue;
      const std::string where = count > 1 ? message(" in configuration ", i) : std::string();
      throw InputError(message(name, " holds the quaternion (", x[0], ", ", x[1], ", ", x[2], ", ",
                               x[3], ") of joint '", joint_of_position(model, k).name,
                               "' at index ", k, where, "; its length must be between ",
                               shortest_quaternion, " and ", longest_quaternion,
                               ", so that it can be scaled to 1"));
    }
  }
}

// Like real_array, for configurations: the last extent is n_q.
inline Array configuration_array(const pybind11::handle& value, const Model& model,
                                 const Shape2& shape, const char* name) {
  Array array = real_array(value, shape, name);
  if (model.n_q > 0) check_quaternions(model, array.data(), array.size() / model.n_q, name);
  return array;
}

}  // namespace robosim
