// Shapes: constructors, sizes and bounds. Errors of input are robosim.errors.GeometryError.
#include "geometry/shape.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pybind11/typing.h>

#include "bindings/module.h"
#include "bindings/shape_arguments.h"

namespace py = pybind11;

namespace robosim {
namespace {

std::array<Sizes, n_shape_types> sizes;  // filled in below

[[noreturn]] void no_attribute(const Shape& s, const char* what) {
  const std::string name = name_of(s.type);
  const bool vowel = std::string("aeiou").find(name[0]) != std::string::npos;
  throw py::attribute_error((vowel ? "an " : "a ") + name + " has no " + what);
}

Shape convex(const py::object& vertices, const py::object& faces, double rounding) {
  const std::vector<Vec3d> points = read_points(vertices, "convex: vertices");
  if (faces.is_none())
    return Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(points)), rounding);
  return Shape::convex(
      std::make_shared<ConvexMesh>(convex_mesh(points, read_triangles(faces, "convex: faces"))),
      rounding);
}

Shape triangle(const py::object& vertices, double rounding) {
  const std::vector<Vec3d> points = read_points(vertices, "triangle: vertices");
  if (points.size() != 3)
    throw InputError(message("triangle: ", points.size(), " vertices; it has 3"));
  return Shape::triangle(points[0], points[1], points[2], rounding);
}

std::string describe(const Shape& s) {
  std::string text = message("Shape.", name_of(s.type), "(");
  const char* separator = "";
  for (const Size& size : sizes_of(s.type)) {
    text += separator;
    separator = ", ";
    if (const auto* number = std::get_if<0>(&size.of)) {
      text += message(size.name, "=", (*number)(s));
    } else if (const auto* vector = std::get_if<1>(&size.of)) {
      const Vec3d v = (*vector)(s);
      text += message(size.name, "=(", v.x, ", ", v.y, ", ", v.z, ")");
    } else {
      text += message(std::get<2>(size.of)(s).size(), " ", size.name);
    }
  }
  return text + ")";
}

// A constructor argument for a size; an Optional size defaults to zero.
py::arg argument(const Size& size) { return py::arg(size.name); }
struct Optional {
  Size size;
};
py::arg_v argument(const Optional& optional) { return py::arg(optional.size.name) = 0.0; }
const Size& named(const Size& size) { return size; }
const Size& named(const Optional& optional) { return optional.size; }

// Define one constructor, with sizes in the order of its arguments.
template <class... Arguments, class... Names>
void def_shape(py::class_<Shape>& c, ShapeType type, Shape (*make)(Arguments...), const char* doc,
               const Names&... size) {
  static_assert(sizeof...(Arguments) == sizeof...(Names), "every argument is a size");
  sizes[static_cast<std::size_t>(type)] = Sizes{named(size)...};
  c.def_static(
      name_of(type),
      [make](Arguments... arguments) { return checked([&] { return make(arguments...); }); },
      argument(size)..., doc);
}

// Define the attribute `size.name` for all types of shapes that have this size. Others raise an
// error.
void def_attribute(py::class_<Shape>& c, const Size& size) {
  std::string whose = "Of";
  for (int t = 0; t < n_shape_types; ++t)
    for (const Size& other : sizes[t])
      if (std::string_view(other.name) == size.name) {
        if (other.of.index() != size.of.index())
          throw std::logic_error(message(size.name, " means two kinds of sizes"));
        whose += message(whose.size() > 2 ? ", " : " ", shape_type_names[t]);
      }
  std::visit(
      [&](auto getter) {
        using Value = decltype(getter(std::declval<const Shape&>()));
        const auto value = [name = size.name](const Shape& s) -> Value {
          for (const Size& own : sizes_of(s.type))
            if (std::string_view(own.name) == name) return std::get<decltype(getter)>(own.of)(s);
          no_attribute(s, name);
        };
        if constexpr (std::is_same_v<Value, double>) {
          c.def_property_readonly(size.name, value, (whose + " [m].").c_str());
        } else if constexpr (std::is_same_v<Value, Vec3d>) {
          c.def_property_readonly(
              size.name, [value](const Shape& s) { return vec3_array(value(s)); },
              (whose + ": along x, y, z [m], shape (3,).").c_str());
        } else {
          c.def_property_readonly(
              size.name, [value](const Shape& s) { return points_array(value(s)); },
              (whose + " [m], shape (n, 3).").c_str());
        }
      },
      size.of);
}

}  // namespace

const Sizes& sizes_of(ShapeType type) { return sizes[static_cast<std::size_t>(type)]; }

// Read a pose whose rotation must be orthonormal, as the queries assume.
SE3d rigid(const py::object& value, const char* name) {
  const SE3d X = read_pose(value, name);
  const Mat3d defect = X.R * transpose(X.R) - Mat3d::identity();
  const double worst = std::sqrt(squared_norm(defect.row[0]) + squared_norm(defect.row[1]) +
                                 squared_norm(defect.row[2]));
  if (!(worst < 1e-6) || !(dot(X.R.row[0], cross(X.R.row[1], X.R.row[2])) > 0))
    throw InputError(message(
        name,
        " is not a pose: its rotation must be right-handed and orthonormal to 1e-6, and is off by ",
        worst));
  if (!(norm(X.p) <= 1e9))
    throw InputError(
        message(name, " is ", norm(X.p), " m from the origin; at most 1e9 m is allowed"));
  return X;
}

py::array_t<double> points_array(std::span<const Vec3d> points) {
  py::array_t<double> out({static_cast<py::ssize_t>(points.size()), py::ssize_t{3}});
  for (std::size_t i = 0; i < points.size(); ++i)
    for (int k = 0; k < 3; ++k) out.mutable_at(i, k) = points[i][k];
  return out;
}

std::vector<Vec3d> read_points(const py::object& value, const char* name, bool finite) {
  const py::array any = py::array::ensure(value);
  if (!any || any.ndim() != 2) {
    PyErr_Clear();
    throw InputError(message(name, " must be numbers of shape (n, 3)"));
  }
  const Array array = real_array(any, {any.shape(0), 3}, name, finite);
  std::vector<Vec3d> points(static_cast<std::size_t>(array.shape(0)));
  for (std::size_t i = 0; i < points.size(); ++i)
    for (int k = 0; k < 3; ++k) points[i][k] = array.at(i, k);
  return points;
}

std::vector<std::array<int, 3>> read_triangles(const py::object& value, const char* name) {
  const py::array indices = py::array::ensure(value);
  const char kind = indices ? indices.dtype().kind() : ' ';
  if ((kind != 'i' && kind != 'u') || indices.ndim() != 2 || indices.shape(1) != 3) {
    PyErr_Clear();
    throw InputError(message(name, " must be integers of shape (m, 3)"));
  }
  const auto index =
      py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(indices);
  std::vector<std::array<int, 3>> triangles(static_cast<std::size_t>(index.shape(0)));
  for (std::size_t i = 0; i < triangles.size(); ++i)
    for (int k = 0; k < 3; ++k)  // a number that does not fit into an int is no vertex either
      triangles[i][k] = static_cast<int>(
          std::clamp<std::int64_t>(index.at(i, k), -1, std::numeric_limits<int>::max()));
  return triangles;
}

py::array_t<int> triangles_array(const std::vector<std::array<int, 3>>& triangles) {
  py::array_t<int> out({static_cast<py::ssize_t>(triangles.size()), py::ssize_t{3}});
  for (std::size_t i = 0; i < triangles.size(); ++i)
    for (int k = 0; k < 3; ++k) out.mutable_at(i, k) = triangles[i][k];
  return out;
}

void bind_shapes(py::module_& m) {
  py::class_<Shape> c(m, "Shape",
                      "A convex collision shape in its own frame, immutable. Sizes are full sizes "
                      "in meters; radii are radii.");
  const Size radius{"radius", [](const Shape& s) { return s.radius; }};
  const Size length{"length", [](const Shape& s) { return 2 * s.half_length; }};
  const Size size{"size", [](const Shape& s) { return 2.0 * s.half_extents; }};
  const Size radii{"radii", [](const Shape& s) { return s.half_extents; }};
  const Size vertices{"vertices", [](const Shape& s) -> std::span<const Vec3d> {
                        if (s.mesh) return s.mesh->vertices;
                        return s.vertex;
                      }};
  const Size rounding{"rounding", [](const Shape& s) { return s.rounding; }};

  def_shape(c, ShapeType::sphere, &Shape::sphere, "A ball of this radius [m] about the origin.",
            radius);
  def_shape(
      c, ShapeType::box,
      +[](const py::object& full, double r) {
        return Shape::box(0.5 * read_vec3(full, "box: size"), r);
      },
      "A box about the origin, its full size along x, y and z [m]; with a rounding, all points "
      "within that distance [m] of it.",
      size, Optional{rounding});
  def_shape(
      c, ShapeType::capsule, +[](double r, double full) { return Shape::capsule(r, full / 2); },
      "A ball of this radius [m] swept along z; length [m] of the straight part, without the caps.",
      radius, length);
  def_shape(
      c, ShapeType::cylinder, +[](double r, double full) { return Shape::cylinder(r, full / 2); },
      "A cylinder about z with flat ends: radius and full length [m].", radius, length);
  def_shape(
      c, ShapeType::ellipsoid,
      +[](const py::object& a) { return Shape::ellipsoid(read_vec3(a, "ellipsoid: radii")); },
      "An ellipsoid about the origin, its semi-axes along x, y and z [m].", radii);
  def_shape(
      c, ShapeType::cone, +[](double r, double full) { return Shape::cone(r, full / 2); },
      "A solid cone about z: base of this radius [m] at z = -length / 2, apex at z = length / 2.",
      radius, length);
  def_shape(c, ShapeType::half_space, &Shape::half_space, "All points with z <= 0, without end.");
  // Listed by hand: the faces are no size of the shape, as the vertices alone determine it.
  sizes[static_cast<std::size_t>(ShapeType::convex)] = {vertices, rounding};
  c.def_static(
      "convex",
      [](const py::object& points, const py::object& faces, double r) {
        return checked([&] { return convex(points, faces, r); });
      },
      py::arg("vertices"), py::arg("faces") = py::none(), py::arg("rounding") = 0.0,
      "The convex hull of vertices (n, 3) [m]. With faces (m, 3), refuses those that are not the "
      "closed outward surface\n"
      "of the hull. Flat point sets are refused too (thinner than 1e-9 of their extent). With a "
      "rounding, all points within\n"
      "that distance [m] of the hull.");
  def_shape(c, ShapeType::triangle, &triangle,
            "A flat triangle of vertices (3, 3) [m]; with a rounding, all points within that "
            "distance [m] of it.",
            vertices, Optional{rounding});

  std::set<std::string_view> defined;
  for (const Sizes& row : sizes)
    for (const Size& s : row)
      if (defined.insert(s.name).second) def_attribute(c, s);
  c.def_property_readonly(
      "faces",
      [](const Shape& s) {
        if (!s.mesh) no_attribute(s, "faces");
        return triangles_array(s.mesh->faces);
      },
      "Triangles of a convex shape, counter-clockwise from outside: indices into vertices, shape "
      "(m, 3).");
  c.def_property_readonly(
      "type", [](const Shape& s) { return name_of(s.type); }, "The name of its constructor.");
  c.def(
      "support",
      [](const Shape& s, const py::object& directions) {
        return checked([&] {
          std::vector<Vec3d> points = read_points(directions, "support: directions");
          for (Vec3d& d : points) d = support(s, d);
          return points_array(points);
        });
      },
      py::arg("directions"),
      "The points (n, 3) [m] of the shape that lie farthest in directions (n, 3) of any length. "
      "GeometryError for a\n"
      "half-space, which is unbounded.");
  c.def("__repr__", &describe);

  m.def(
      "shape_sizes",
      [] {
        py::typing::Dict<py::str, py::typing::Dict<py::str, py::str>> table;
        for (int t = 0; t < n_shape_types; ++t) {
          py::dict row;
          for (const Size& s : sizes[t]) row[s.name] = s.kind();
          table[shape_type_names[t]] = row;
        }
        return table;
      },
      "The sizes of every type of shape; see robosim.geometry.shape_sizes.");
}

}  // namespace robosim
