// Depth buffers and lighting, for pictures.
#include "geometry/casts/depth_buffer.h"

#include "base/thread_pool.h"
#include "bindings/bound_scene.h"
#include "bindings/module.h"
#include "bindings/shape_arguments.h"

namespace py = pybind11;

namespace robosim {
namespace {

using Floats = py::array_t<float, py::array::c_style>;
using Ints = py::array_t<std::int32_t, py::array::c_style>;

// Largest coordinate. Products of two are then finite and accurate enough.
constexpr double largest = 1e15;

// Read finite numbers within range as vectors: (n, 3), or triangles (n, 3, 3).
std::vector<Vec3d> vectors(const py::handle& value, bool triangles, const char* name) {
  const Array array = sized(value, triangles ? Shape2{-1, 3, 3} : Shape2{-1, 3}, name);
  const double* x = array.data();
  std::vector<Vec3d> out(static_cast<std::size_t>(array.size() / 3));
  for (std::size_t i = 0; i < out.size(); ++i, x += 3) {
    out[i] = {x[0], x[1], x[2]};
    for (int k = 0; k < 3; ++k)
      if (!(std::abs(x[k]) <= largest))
        throw InputError(
            message(name, " holds ", x[k], "; numbers up to ", largest, " are needed"));
  }
  return out;
}

std::vector<double> radii_of(const py::handle& value, std::size_t n) {
  const Array array = real_array(value, {static_cast<py::ssize_t>(n)}, "radii");
  for (py::ssize_t i = 0; i < array.size(); ++i)
    if (!(array.data()[i] >= 0 && array.data()[i] <= largest))
      throw InputError(message("radius ", i, " is ", array.data()[i], "; it must be at least 0"));
  return {array.data(), array.data() + array.size()};
}

// Read finite numbers of this shape in single precision. An array of this type is not copied.
Floats floats(const py::handle& value, const Shape2& shape, const char* name) {
  using Cast = py::array_t<float, py::array::c_style | py::array::forcecast>;
  const Floats array = py::isinstance<Floats>(value)
                           ? py::reinterpret_borrow<Floats>(value)
                           : Floats(Cast::ensure(real_array(value, shape, name)));
  if (!std::equal(shape.begin(), shape.end(), array.shape(), array.shape() + array.ndim()))
    throw InputError(message(name, " has shape ",
                             shape_text(array.shape(), static_cast<std::size_t>(array.ndim())),
                             "; expected ", shape_text(shape.data(), shape.size())));
  for (py::ssize_t i = 0; i < array.size(); ++i)
    if (!std::isfinite(array.data()[i]))
      throw InputError(message(name, " holds ", array.data()[i], " at index ", i,
                               "; finite numbers are needed"));
  return array;
}

// Read integers in [0, end).
std::vector<std::uint8_t> groups_of(const py::handle& value, py::ssize_t n, int end) {
  if (end < 1 || end > 256)
    throw InputError(message("n_groups is ", end, "; it must lie between 1 and 256"));
  const Array array = real_array(value, {n}, "groups");
  std::vector<std::uint8_t> groups(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!(array.data()[i] >= 0 && array.data()[i] < end))
      throw InputError(
          message("groups holds ", array.data()[i], " at index ", i, "; there are ", end));
    groups[i] = static_cast<std::uint8_t>(array.data()[i]);
  }
  return groups;
}

std::vector<Vec3d> directions_of(const py::handle& value) {
  std::vector<Vec3d> directions = vectors(value, false, "lights");
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const double length = norm(directions[i]);
    if (!(length > 0))
      throw InputError(message("light ", i, ": its direction is zero; any other length will do"));
    directions[i] *= 1 / length;
  }
  return directions;
}

int number_of_threads(int threads) {
  if (threads < 0) throw InputError(message("threads is ", threads, "; it must not be negative"));
  return threads > 0 ? std::min(threads, thread_limit()) : thread_limit();
}

std::tuple<Ints, Floats> arrays_of(const DepthBuffer& buffer) {
  const std::vector<py::ssize_t> shape{buffer.height, buffer.width};
  return {Ints(shape, buffer.number.data()), Floats(shape, buffer.nearness.data())};
}

}  // namespace

void bind_drawing(py::module_& m) {
  m.def(
      "draw_picture",
      [](const py::object& corners, const py::object& centers, const py::object& radii, int width,
         int height, double focal, double near) {
        const std::vector<Vec3d> given = vectors(corners, true, "corners"),
                                 middles = vectors(centers, false, "centers");
        const std::vector<double> sizes = radii_of(radii, middles.size());
        if (!(near > 0 && focal > 0 && focal <= largest))
          throw InputError(
              message("near is ", near, " m and focal ", focal, " pixels; both must be positive"));
        std::vector<PixelTriangle> triangles(given.size() / 3);
        for (std::size_t i = 0; i < triangles.size(); ++i)
          triangles[i] = {{given[3 * i], given[3 * i + 1], given[3 * i + 2]}};
        DepthBuffer buffer(width, height);
        {
          const py::gil_scoped_release release;
          draw_triangles(triangles, 0, buffer);
          draw_balls({middles, sizes}, focal, near, static_cast<int>(triangles.size()), buffer);
        }
        return arrays_of(buffer);
      },
      py::arg("corners"), py::arg("centers"), py::arg("radii"), py::arg("width"), py::arg("height"),
      py::arg("focal"), py::arg("near"),
      "What each pixel sees of triangles (m, 3, 3), corners in pixels with their nearness, and of "
      "balls (k, 3) in the camera's frame [m]:\n"
      "numbers (height, width), -1 for nothing, balls after triangles, and nearness (height, "
      "width), 0 for nothing.");
  m.def(
      "gather_light",
      [](const py::object& corners, const py::object& centers, const py::object& radii,
         const py::object& positions, const py::object& normals, const py::object& groups,
         const py::object& lights, int n_groups, int side, int threads) {
        const std::vector<Vec3d> given = vectors(corners, true, "corners"),
                                 middles = vectors(centers, false, "centers");
        const std::vector<Vec3d> directions = directions_of(lights);
        const std::vector<double> sizes = radii_of(radii, middles.size());
        const Floats p = floats(positions, extents_of(positions, {-1, 3}), "positions");
        const py::ssize_t n = p.shape(0);
        const Floats d = floats(normals, {n, 3}, "normals");
        const std::vector<std::uint8_t> of = groups_of(groups, n, n_groups);
        const auto length = static_cast<std::size_t>(3 * n);
        const LitPoints points{{p.data(), length}, {d.data(), length}, of};
        const int workers = number_of_threads(threads);
        Floats out({n, py::ssize_t(3)});
        float* const sums = out.mutable_data();
        {
          const py::gil_scoped_release release;
          gather_light({given, {middles, sizes}}, points, directions, n_groups, side, workers,
                       sums);
        }
        return out;
      },
      py::arg("corners"), py::arg("centers"), py::arg("radii"), py::arg("positions"),
      py::arg("normals"), py::arg("groups"), py::arg("lights"), py::arg("n_groups"),
      py::arg("side"), py::arg("threads"),
      "Of points (n, 3) with normals, float32, the sums (n, 3) over the lights of their group that "
      "they see past triangles (m, 3, 3) and balls\n"
      "(k, 3) in W: of max(n . l, 0), of l_z times that, and of 1. Lights (d, 3) are directions; "
      "every n_groups-th is of a group. The `side`\n"
      "of a light's buffer is in pixels.");
}

}  // namespace robosim
