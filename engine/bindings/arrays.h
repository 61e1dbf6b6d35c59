// Conversion of NumPy arrays to and from the engine, with a clear error for an argument that does
// not fit.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/finite.h"
#include "base/kept_memory.h"
#include "spatial/se3.h"

namespace robosim {

using Array = pybind11::array_t<double, pybind11::array::c_style>;
using Shape2 = std::vector<pybind11::ssize_t>;

inline std::string shape_text(const pybind11::ssize_t* shape, std::size_t n) {
  std::string text = "(";
  for (std::size_t i = 0; i < n; ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (n == 1 ? ",)" : ")");
}

// Null handle in place of an array. A default-constructed array is a real, empty one and takes 0.1
// us to create.
inline Array no_array() { return pybind11::reinterpret_steal<Array>(pybind11::handle()); }

// Convert any array-like of real numbers to a contiguous float64 array of exactly this shape. An
// argument that already is such an array is not copied.
inline Array real_array(const pybind11::handle& value, const Shape2& shape, const char* name,
                        bool finite = true) {
  namespace py = pybind11;
  Array array = no_array();
  if (py::isinstance<Array>(value)) {
    array = py::reinterpret_borrow<Array>(value);
  } else {
    const py::array any = py::array::ensure(value);
    if (!any) {
      PyErr_Clear();
      throw InputError(message(name, " is not an array of numbers"));
    }
    const char kind = any.dtype().kind();
    if (kind != 'f' && kind != 'i' && kind != 'u' && !(kind == 'b'))
      throw InputError(message(name, " has dtype ", std::string(py::str(any.dtype())),
                               "; real numbers are needed"));
    array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(any);
  }
  const std::size_t rank = static_cast<std::size_t>(array.ndim());
  bool same = rank == shape.size();
  for (std::size_t i = 0; same && i < rank; ++i) same = array.shape()[i] == shape[i];
  if (!same)
    throw InputError(message(name, " has shape ", shape_text(array.shape(), rank), "; expected ",
                             shape_text(shape.data(), shape.size())));
  if (finite)
    if (const std::ptrdiff_t i = first_not_finite(array.data(), array.size()); i < array.size())
      throw InputError(message(name, " holds ", array.data()[i], " at index ", i,
                               "; finite numbers are needed"));
  return array;
}

// Create an array that begins at a cache line. NumPy's own arrays begin 16 bytes behind one, so
// that every other store of a row crosses into the next line. The memory of large arrays is kept
// for reuse.
inline Array aligned_array(const Shape2& shape) {
  // Never destroyed: arrays may outlive static objects.
  static KeptMemory& memory = *new KeptMemory(std::size_t{64} << 20);
  std::size_t size = 1;
  for (const auto extent : shape) size *= static_cast<std::size_t>(extent);
  double* const data = memory.take(size);
  return Array(shape, data,
               pybind11::capsule(data, [](void* p) { memory.give_back(static_cast<double*>(p)); }));
}

// Create an array: a NumPy array if it is small, as NumPy allocates small arrays faster.
inline Array fresh_array(const Shape2& shape) {
  constexpr auto large = static_cast<pybind11::ssize_t>(KeptMemory::least_count);
  pybind11::ssize_t size = 1;
  for (const auto extent : shape) size *= extent;
  return size < large ? Array(shape) : aligned_array(shape);
}

// Array for a result: a fresh array, or `out`, which must be writable contiguous float64 of exactly
// this shape.
inline Array result_array(const pybind11::handle& out, const Shape2& shape) {
  namespace py = pybind11;
  if (out.is_none()) return fresh_array(shape);
  if (!py::isinstance<Array>(out)) throw InputError("out must be a C-contiguous float64 array");
  Array array = real_array(out, shape, "out", false);
  if (!array.writeable()) throw InputError("out is read-only");
  return array;
}

// Write a pose as a 4x4 homogeneous matrix.
inline void write_pose(const SE3d& X, double* out) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) out[4 * i + j] = X.R(i, j);
    out[4 * i + 3] = X.p[i];
  }
  for (int j = 0; j < 4; ++j) out[12 + j] = j == 3;
}

inline Array pose_array(const SE3d& X) {
  Array out(Shape2{4, 4});
  write_pose(X, out.mutable_data());
  return out;
}

inline SE3d read_pose(const pybind11::handle& value, const char* name) {
  const Array array = real_array(value, {4, 4}, name);
  const double* m = array.data();
  if (m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1)
    throw InputError(message(name, " is not a pose: its last row must be 0 0 0 1"));
  return {{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}, {m[3], m[7], m[11]}};
}

inline Vec3d read_vec3(const pybind11::handle& value, const char* name) {
  const Array array = real_array(value, {3}, name);
  return {array.data()[0], array.data()[1], array.data()[2]};
}

inline Mat3d read_mat3(const pybind11::handle& value, const char* name) {
  const Array array = real_array(value, {3, 3}, name);
  const double* m = array.data();
  return {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}};
}

inline Array vec3_array(const Vec3d& v) {
  Array out(Shape2{3});
  for (int i = 0; i < 3; ++i) out.mutable_data()[i] = v[i];
  return out;
}

inline Array mat3_array(const Mat3d& m) {
  Array out(Shape2{3, 3});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out.mutable_data()[3 * i + j] = m(i, j);
  return out;
}

inline Array vector_array(const std::vector<double>& v) {
  Array out(Shape2{static_cast<pybind11::ssize_t>(v.size())});
  for (std::size_t i = 0; i < v.size(); ++i) out.mutable_data()[i] = v[i];
  return out;
}

}  // namespace robosim
